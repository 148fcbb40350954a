/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fake: a driver that computes nothing, for tests: what it was asked, and what it shall
 * answer.
 *
 * It is built, from cuda_fake.c, cuda_fake_work.c and cuda_fake_graph.c, as shared libraries that
 * export what libcuda.so.1 does. A test opens one through the backend, and once more itself to
 * reach the `cuda_fake` in it.
 */
#ifndef GYRE_BACKENDS_CUDA_FAKE_H
#define GYRE_BACKENDS_CUDA_FAKE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cuda_fake_state {
    /* answers */
    int stream_result; /* of cuStreamQuery */
    int launch_result; /* of cuLaunchKernel */
    int alloc_result;  /* of cuMemAlloc and cuMemHostAlloc */
    int create_result; /* of cuCtxCreate */
    int compute_mode;  /* of every device */
    int range_result;  /* of cuMemGetHandleForAddressRange */
    int range_fd;      /* what it gives, which the caller closes */
    size_t misalign;   /* blocks are that far from a multiple of 4096 */
    /* what there is */
    int contexts, destroyed, streams, events, modules, graphs, execs, blocks;
    int priority;                  /* of the last stream */
    int dynamic_shared;            /* set for the last function */
    int loaded;                    /* calls of cuFuncLoad */
    int cooperative;               /* launches and nodes */
    int boxes, rows, peers, two_d; /* copies and fills by kind */
    unsigned grid[3], block[3], shared_bytes;
    uint64_t arguments[3]; /* of the last launch of "add": two pointers and a u32 */
    int submitted_nodes;   /* by graphs */
    int written, awaited;  /* words; those that are waited for are left alone */
} cuda_fake_state;

#endif
