/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch: what the files of the dispatcher share. See gyre/dispatch.h for the contract.
 *
 *   dispatch.c         life, kernels, statistics
 *   dispatch_buffers.c buffers by id
 *   dispatch_run.c     the thread: takes commands, submits, looks, answers
 *   dispatch_call.c    the caller's side, which knows the channel only
 */
#ifndef GYRE_EXEC_DISPATCH_H
#define GYRE_EXEC_DISPATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gyre/dispatch.h"
#include "gyre/stream.h"
#include "gyre/thread.h"

/* A command under way. */
typedef struct gyre_dispatch_record {
    uint64_t value;   /* the ticket after which it is through */
    gyre_reply reply; /* 0: nobody asks */
    uint64_t taken_ns;
    gyre_bytes bytes; /* that the device reads or writes until then */
    uint32_t kind;    /* gyre_command_kind */
} gyre_dispatch_record;

/* A stream with its commands under way, in order: those from `head` on have their bytes still, and
 * those from `next` on are not answered. The two part only when the device stopped answering:
 * everybody was told, but what it may still touch stays. */
typedef struct gyre_dispatch_lane {
    gyre_stream *stream;
    const uint64_t *completed; /* the stream's; until the context's end */
    gyre_dispatch_record *ring;
    uint64_t head, next, tail;
    uint64_t waiting_ns; /* since when the first one that is not answered is waited for */
    bool failed;         /* its last poll said so */
} gyre_dispatch_lane;

/* A place for a buffer. */
typedef struct gyre_dispatch_buffer {
    uint64_t generation; /* odd while there is one */
    void *block;         /* not NULL: taken from the pool, by a buffer or what one left */
    size_t size;
    uint32_t next; /* index + 1 of the next place that is free, or that waits; 0: the last */
} gyre_dispatch_buffer;

struct gyre_dispatch {
    gyre_context *context; /* borrowed */
    gyre_channel *channel; /* borrowed */
    gyre_allocator allocator;
    char name[32];
    uint32_t stream_count, pending_most;
    uint64_t spin_ns;
    gyre_dispatch_lane *lanes;    /* stream_count of them */
    gyre_dispatch_record *rings;  /* theirs, in one block: pending_most each */
    gyre_stream *fills;           /* zeroes buffers */
    const uint64_t *fills_so_far; /* its `completed` */
    gyre_pool *device, *pinned;
    gyre_thread *thread;
    _Atomic bool stopping;

    /* Kernels and buffers. Held while a copy is submitted, so that a buffer which is found is not
     * deallocated before its ticket is known. */
    pthread_mutex_t lock;
    gyre_kernel **kernels; /* id - 1 is the index */
    uint32_t kernel_count, kernel_room;
    gyre_dispatch_buffer *buffers;
    uint64_t *tickets; /* of each place that waits: stream_count + 1 of them */
    uint32_t buffer_count, buffer_room;
    uint32_t free, waiting; /* first of its list, as index + 1 */
    uint32_t live;
    uint64_t live_bytes;

    /* The thread's own. A command that has been taken and finds no room stays in hand. */
    gyre_command hand;
    gyre_received hand_from;
    uint64_t hand_ns;        /* when it was taken */
    gyre_status hand_status; /* what is wrong with it, */
    gyre_error hand_error;   /* and why */
    bool has_hand, closed;
    uint64_t idle_ns; /* since when nothing happened; 0: something did */
    bool spins;       /* it is not so long ago that others should run */

    /* Written by the thread alone, by relaxed stores: only numbers. */
    _Atomic uint64_t kinds[GYRE_COMMAND_LAUNCH_SHARED + 1]; /* 0: corrupt ones */
    _Atomic uint64_t failures, unheard, late, pending, worst_ns;
};

/* The thread. */
void gyre_dispatch_run(void *arg);

/* Releases what the lane's commands referred to, as far as they are through. */
void gyre_dispatch_let_go(const gyre_dispatch *dispatch, gyre_dispatch_lane *lane);

/* The buffer of an id, whose range this is; with the lock held. GYRE_NOT_FOUND, GYRE_INVALID. */
GYRE_MUST_USE gyre_status gyre_dispatch_find(gyre_dispatch *dispatch, uint64_t id, uint64_t offset,
                                             uint64_t size, unsigned char **out_address);

/* Gives all blocks to the pool, and frees the table. */
void gyre_dispatch_end_buffers(gyre_dispatch *dispatch);

#endif
