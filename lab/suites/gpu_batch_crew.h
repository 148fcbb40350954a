/* SPDX-License-Identifier: Apache-2.0
 *
 * gpu_batch_crew: the operations of suites/gpu_batch.c by a crew of actors.
 *
 * Each operation is a message that refers to its floats on the device, and all are called with at
 * once. There are as many seats as operations, one message to each. On a GPU what counts is how
 * long a message takes, not how many at once a seat could take: every message that refers to memory
 * has a fence before it and one behind it, which wait for the reads of the host's memory that the
 * multiprocessor has under way, so messages of one seat would wait for each other. Of the widths,
 * four lanes would go 64 times around for 256 floats; a warp goes 8 times, and is the one that read
 * the message; a block goes once, behind a few barriers, and is the one for more floats.
 *
 * Threads   the case's own.
 * Owns      the actor and its port. The floats are the caller's, and stay until the close.
 */
#ifndef GYRE_SUITES_GPU_BATCH_CREW_H
#define GYRE_SUITES_GPU_BATCH_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/bench.h"
#include "gyre/context.h"
#include "gyre/port.h"

enum { GYRE_RELU_CREW_MOST = 32 }; /* operations */

/* Zero is a closed one. */
typedef struct gyre_relu_crew {
    gyre_actor *actor;
    gyre_port *port;
    uint32_t count, each; /* operations, and floats of one */
    uint32_t seats;
    gyre_brief requests[GYRE_RELU_CREW_MOST], answers[GYRE_RELU_CREW_MOST];
} gyre_relu_crew;

/* What is to be done: operation i makes `each` floats at out + i * each of those at in. Both are
 * memory that the device reaches. */
typedef struct gyre_relu_work {
    float *in, *out;
    uint32_t count, each;
    bool block; /* a block to an operation; else a warp */
} gyre_relu_work;

/* GYRE_UNSUPPORTED where there are no actors. What was opened before a failure is closed again. */
GYRE_MUST_USE gyre_status gyre_relu_crew_open(gyre_relu_crew *crew, gyre_context *context,
                                              const gyre_relu_work *work);
void gyre_relu_crew_close(gyre_relu_crew *crew);

/* All operations, once; GYRE_OK when each was answered. */
GYRE_MUST_USE gyre_status gyre_relu_crew_run(gyre_relu_crew *crew);

/* Reports how large it is, and how it waits. */
void gyre_relu_crew_tell(const gyre_relu_crew *crew, gyre_bench_facts *facts);

#endif
