/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_warp: a kernel that is under way: its blocks, their warps, and what lanes wait for.
 *
 * Threads   one for each run.
 * Owns      ptx_run.c owns all of it.
 */
#ifndef GYRE_TESTS_PTX_WARP_H
#define GYRE_TESTS_PTX_WARP_H

#include "ptx.h"

/* What a lane waits for. */
enum { PTX_RUNS, PTX_WAITS_WARP, PTX_WAITS_BLOCK };

enum { PTX_STORES = 256, PTX_SEEN = 32 };

/* A store that only its own lane knows of. */
typedef struct ptx_pending {
    uint8_t *to;
    uint64_t value[2];
    uint8_t size, lane;
} ptx_pending;

typedef struct ptx_block ptx_block;

/* What lanes have loaded from a place, and may get from there again. */
typedef struct ptx_seen {
    const uint8_t *from;
    uint64_t value;
    uint32_t lanes;
    uint8_t size;
} ptx_seen;

typedef struct ptx_warp {
    ptx_block *block;
    uint64_t *values;     /* 32 of each register */
    uint32_t *predicates; /* a bit for each lane, by the same numbers */
    uint32_t at[PTX_LANES];
    uint32_t alive;
    uint32_t held;   /* lanes that wait for others, */
    uint32_t asleep; /* or for a time: */
    uint64_t wake_ns[PTX_LANES];
    uint8_t waits[PTX_LANES];
    uint32_t members[PTX_LANES]; /* whom it waits for in its warp, */
    uint8_t barrier[PTX_LANES];  /* or which barrier of the block */
    uint8_t calls[PTX_LANES];
    uint32_t returns[PTX_LANES][PTX_CALLS];
    uint8_t *local, *call; /* one lane after the other */
    bool wrote;            /* in its last turn: it does more than look */
    uint32_t pending_count;
    ptx_pending pending[PTX_STORES]; /* in their order */
    ptx_seen seen[PTX_SEEN];         /* by the address */
    uint32_t seers;                  /* all lanes of these */
} ptx_warp;

typedef struct ptx_barrier {
    uint32_t arrived;
    uint32_t expected; /* 0: all threads of the block that have not ended */
    uint32_t any, all, count;
} ptx_barrier;

struct ptx_block {
    uint32_t index[3];
    uint8_t *shared;
    uint32_t warp_count;
    uint32_t alive; /* threads */
    ptx_barrier barriers[PTX_BARRIERS];
    ptx_warp *warps;
};

typedef struct ptx_job {
    const ptx_launch *launch;
    const ptx_module *module;
    uint32_t shared_bytes;     /* of a block, all of it */
    uint64_t begin[2], end[2]; /* memory that was reached last */
    uint32_t next;             /* of the two to forget */
    uint64_t chance;           /* the state of a generator */
    uint32_t calm;             /* instructions since somebody wrote something */
    int fault;                 /* of the driver; 0: none */
    char *why;
    size_t why_size;
} ptx_job;

/* Faults, as the driver numbers them. */
enum {
    PTX_OUT_OF_MEMORY = 2,
    PTX_ILLEGAL_ADDRESS = 700,
    PTX_MISALIGNED = 716,
    PTX_LAUNCH_FAILED = 719,
};

/* Lets a warp go on for at most so many instructions. */
void ptx_warp_step(ptx_job *job, ptx_warp *warp, uint32_t budget);

/* Do an instruction for some lanes. ptx_memory.c */
void ptx_load(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes);
void ptx_store(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes);
void ptx_atomic(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes);

/* These lanes see what all others have stored. */
void ptx_acquire(ptx_warp *warp, uint32_t lanes);

/* All see what these lanes have stored; or some of what a warp has, as chance will have it. */
void ptx_flush(ptx_warp *warp, uint32_t lanes);
void ptx_drain(ptx_job *job, ptx_warp *warp);

/* Does an instruction that lanes do together, for all of `lanes`, which are at it; `same` is that
 * instruction, or NULL when they may be at several of its kind. ptx_sync.c */
void ptx_sync(ptx_job *job, ptx_warp *warp, uint32_t lanes, const ptx_instruction *same);

/* `lanes` are at such an instruction, and wait until all are who belong to it. */
void ptx_sync_wait(ptx_job *job, ptx_warp *warp, uint32_t lanes);

/* The same for a barrier of the block. */
void ptx_barrier_wait(ptx_job *job, ptx_warp *warp, uint32_t lanes);

/* Lanes have ended: for whom others do not wait any more. */
void ptx_sync_end(ptx_job *job, ptx_warp *warp, uint32_t lanes);

__attribute__((format(printf, 4, 5))) void
ptx_fault(ptx_job *job, int fault, const ptx_instruction *i, const char *format, ...);

uint64_t ptx_now_ns(void);

static inline uint64_t *ptx_value(const ptx_warp *warp, int32_t reg)
{
    return warp->values + (size_t)(uint32_t)reg * PTX_LANES;
}

static inline uint64_t ptx_chance(ptx_job *job)
{
    job->chance ^= job->chance << 13;
    job->chance ^= job->chance >> 7;
    job->chance ^= job->chance << 17;
    return job->chance;
}

/* For each lane of a mask. */
#define PTX_EACH(lane, mask)                                                                       \
    for (uint32_t left_of_##lane = (mask), lane;                                                   \
         left_of_##lane && (lane = (uint32_t)__builtin_ctz(left_of_##lane), 1);                    \
         left_of_##lane &= left_of_##lane - 1)

#endif
