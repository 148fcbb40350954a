/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_run: lets the blocks of a launch have their turns, warp by warp, to the end.
 *
 * As many blocks are there at once as have room, all of them if the launch says so. How long a turn
 * is depends on chance, so that warps meet each other in many ways. Where every lane sleeps, so
 * does the thread; where nobody can go on, and nobody sleeps, the kernel is at an end: a deadlock.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ptx_warp.h"

enum {
    AT_ONCE = 128,
    TURN_MOST = 512, /* instructions, */
    LOOK_MOST = 64,  /* and of a warp that looked and wrote nothing when it last had its turn */
    CALM_MOST = 4096,
};

uint64_t ptx_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t product(const uint32_t three[3])
{
    return three[0] * three[1] * three[2];
}

static uint64_t initial(const ptx_job *job, const ptx_block *block, const ptx_register *r,
                        uint32_t thread)
{
    const ptx_launch *const launch = job->launch;
    const uint32_t *const size = launch->block, lane = thread % PTX_LANES;
    const uint32_t tid[3] = {thread % size[0], thread / size[0] % size[1],
                             thread / size[0] / size[1]};

    if (r->origin >= PTX_TID && r->origin < PTX_NTID)
        return tid[r->origin - PTX_TID];
    if (r->origin >= PTX_NTID && r->origin < PTX_CTAID)
        return launch->block[r->origin - PTX_NTID];
    if (r->origin >= PTX_CTAID && r->origin < PTX_NCTAID)
        return block->index[r->origin - PTX_CTAID];
    if (r->origin >= PTX_NCTAID && r->origin < PTX_LANEID)
        return launch->grid[r->origin - PTX_NCTAID];
    switch (r->origin) {
    case PTX_CONSTANT:
        return r->value;
    case PTX_LANEID:
        return lane;
    case PTX_WARPID:
        return thread / PTX_LANES;
    case PTX_SMID:
        return block->index[0];
    case PTX_LANEMASK_EQ:
        return UINT32_C(1) << lane;
    case PTX_LANEMASK_LT:
        return (UINT32_C(1) << lane) - 1;
    case PTX_LANEMASK_LE:
        return (uint32_t)((UINT64_C(2) << lane) - 1);
    case PTX_LANEMASK_GT:
        return (uint32_t) ~((UINT64_C(2) << lane) - 1);
    case PTX_LANEMASK_GE:
        return ~((UINT32_C(1) << lane) - 1);
    case PTX_DYNAMIC_SHARED:
        return job->shared_bytes - launch->shared_bytes;
    default:
        return 0xa5a5a5a5a5a5a5a5u; /* nobody has written it */
    }
}

/* Registers have something in them that nobody expects; so has shared memory. */
static void warp_begin(ptx_job *job, ptx_block *block, uint32_t number, uint32_t threads)
{
    ptx_warp *const warp = &block->warps[number];
    const ptx_module *const m = job->module;
    const uint32_t first = number * PTX_LANES;
    const uint32_t count = threads - first < PTX_LANES ? threads - first : PTX_LANES;

    warp->block = block;
    warp->alive = count == PTX_LANES ? UINT32_MAX : (1u << count) - 1;
    warp->held = warp->asleep = warp->pending_count = 0;
    ptx_acquire(warp, UINT32_MAX);
    memset(warp->waits, 0, sizeof warp->waits);
    memset(warp->calls, 0, sizeof warp->calls);
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        warp->at[lane] = job->launch->function->first;
    for (uint32_t r = 0; r < m->value_count; r++) {
        const bool same = m->registers[r].origin <= PTX_CONSTANT;
        uint64_t value = initial(job, block, &m->registers[r], first);

        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
            if (!same)
                value = initial(job, block, &m->registers[r], first + lane);
            ptx_value(warp, (int32_t)r)[lane] = value;
        }
    }
    memset(warp->predicates, 0xa5, m->register_count * sizeof *warp->predicates);
}

static void block_begin(ptx_job *job, ptx_block *block, uint32_t number)
{
    const uint32_t threads = product(job->launch->block), *const grid = job->launch->grid;

    block->index[0] = number % grid[0];
    block->index[1] = number / grid[0] % grid[1];
    block->index[2] = number / grid[0] / grid[1];
    block->alive = threads;
    memset(block->shared, 0xa5, job->shared_bytes);
    for (uint32_t i = 0; i < PTX_BARRIERS; i++)
        block->barriers[i] = (ptx_barrier){.all = 1};
    for (uint32_t w = 0; w < block->warp_count; w++)
        warp_begin(job, block, w, threads);
}

static void block_free(ptx_block *block)
{
    for (uint32_t w = 0; block->warps && w < block->warp_count; w++) {
        free(block->warps[w].values);
        free(block->warps[w].predicates);
        free(block->warps[w].local);
        free(block->warps[w].call);
    }
    free(block->warps);
    free(block->shared);
}

static bool block_make(const ptx_job *job, ptx_block *block)
{
    const ptx_module *const m = job->module;
    const uint32_t threads = product(job->launch->block);

    block->warp_count = (threads + PTX_LANES - 1) / PTX_LANES;
    block->warps = calloc(block->warp_count, sizeof *block->warps);
    block->shared = aligned_alloc(1024, ((size_t)job->shared_bytes + 1024) / 1024 * 1024);
    if (!block->warps || !block->shared)
        return false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        ptx_warp *const warp = &block->warps[w];

        warp->values = malloc((size_t)m->value_count * PTX_LANES * sizeof *warp->values);
        warp->predicates = malloc(m->register_count * sizeof *warp->predicates);
        warp->local = aligned_alloc(16, ((size_t)m->local_bytes * PTX_LANES + 16) / 16 * 16);
        warp->call = aligned_alloc(16, ((size_t)m->call_bytes * PTX_LANES + 16) / 16 * 16);
        if (!warp->values || !warp->predicates || !warp->local || !warp->call)
            return false;
    }
    return true;
}

/* Those whose time has come go on. */
static void wake(ptx_warp *warp, uint64_t *out_next_ns)
{
    const uint64_t now = ptx_now_ns();

    PTX_EACH (lane, warp->asleep) {
        if (warp->wake_ns[lane] <= now)
            warp->asleep &= ~(1u << lane);
        else if (warp->wake_ns[lane] < *out_next_ns)
            *out_next_ns = warp->wake_ns[lane];
    }
}

/* A turn for each warp. Whether anybody did anything; *out_next_ns is when the first sleeper wakes.
 * Most of a resident kernel's warps wait for something most of the time: they look less often. */
static bool block_turn(ptx_job *job, ptx_block *block, uint64_t *out_next_ns)
{
    bool moved = false;

    for (uint32_t w = 0; w < block->warp_count && !job->fault; w++) {
        ptx_warp *const warp = &block->warps[w];
        const uint32_t most = warp->wrote ? TURN_MOST : LOOK_MOST;
        const uint32_t budget = 1 + (uint32_t)(ptx_chance(job) % most);

        if (warp->pending_count > 0) {
            ptx_drain(job, warp);
            moved = true;
        }
        if (warp->asleep)
            wake(warp, out_next_ns);
        if (!(warp->alive & ~warp->held & ~warp->asleep))
            continue;
        moved = true;
        warp->wrote = false;
        ptx_warp_step(job, warp, budget);
        job->calm = warp->wrote ? 0 : job->calm + budget;
    }
    return moved;
}

/* Naps are often shorter than the host's. */
static void sleep_until(uint64_t wake_ns)
{
    const uint64_t now = ptx_now_ns(), least = 20000, most = 1000000;
    struct timespec time = {0, 0};

    if (wake_ns <= now + least) {
        sched_yield();
        return;
    }
    time.tv_nsec = (long)(wake_ns - now < most ? wake_ns - now : most);
    nanosleep(&time, NULL);
}

static void run_blocks(ptx_job *job, ptx_block *blocks, uint32_t room)
{
    const uint32_t count = product(job->launch->grid);
    uint32_t begun = 0, over = 0;

    for (uint32_t b = 0; b < room; b++)
        block_begin(job, &blocks[b], begun++);
    while (over < count && !job->fault) {
        uint64_t next_ns = UINT64_MAX;
        bool moved = false;

        for (uint32_t b = 0; b < room && !job->fault; b++) {
            if (blocks[b].alive == 0)
                continue;
            moved |= block_turn(job, &blocks[b], &next_ns);
            if (blocks[b].alive > 0)
                continue;
            over++;
            if (begun < count)
                block_begin(job, &blocks[b], begun++);
        }
        /* acquire: pairs with the release of who stops it */
        if (__atomic_load_n(job->launch->stop, __ATOMIC_ACQUIRE)) {
            job->fault = PTX_LAUNCH_FAILED;
            snprintf(job->why, job->why_size, "%s was stopped", job->launch->function->name);
        } else if (moved && job->calm > CALM_MOST) { /* nobody wrote anything for a while */
            job->calm = 0;
            sched_yield();
        } else if (!moved && next_ns != UINT64_MAX) {
            sleep_until(next_ns);
        } else if (!moved && over < count) {
            ptx_fault(job, PTX_LAUNCH_FAILED, NULL, "all threads wait for each other");
        }
    }
}

int ptx_run(const ptx_launch *launch, char *why, size_t why_size)
{
    const uint32_t count = product(launch->grid);
    const uint32_t room = count < AT_ONCE || launch->all_at_once ? count : AT_ONCE;
    ptx_block *const blocks = calloc(room, sizeof *blocks);
    ptx_job job = {.launch = launch,
                   .module = launch->module,
                   .chance = launch->seed | 1,
                   .why = why,
                   .why_size = why_size};
    bool made = blocks != NULL;

    why[0] = '\0';
    job.shared_bytes = (launch->module->shared_bytes + 15) / 16 * 16 + launch->shared_bytes;
    for (uint32_t b = 0; made && b < room; b++)
        made = block_make(&job, &blocks[b]);
    if (made)
        run_blocks(&job, blocks, room);
    else
        job.fault = PTX_OUT_OF_MEMORY;
    for (uint32_t b = 0; blocks && b < room; b++)
        block_free(&blocks[b]);
    free(blocks);
    return job.fault;
}
