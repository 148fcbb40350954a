/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_sync: what lanes do together: shuffles, votes and barriers of a warp, barriers of a block.
 *
 * A lane that comes to such an instruction is held there until everybody has come whom it names,
 * and who has not ended. They need not be at the same instruction, only at one of its kind. A
 * shuffle from a lane that is not among the members is a fault, where a GPU gives anything.
 */
#include "ptx_warp.h"

#include "ptx_ops.h"

static const ptx_instruction *at(const ptx_job *job, const ptx_warp *warp, uint32_t lane)
{
    return &job->module->code[warp->at[lane]];
}

/* The lane that this one gets its value from, and whether it is in range. */
static uint32_t source_of(uint32_t lane, uint8_t kind, uint32_t by, uint32_t clamp, bool *out_in)
{
    const uint32_t segment = clamp >> 8 & 31, most = clamp & 31;
    const uint32_t highest = (lane & segment) | (most & ~segment), lowest = lane & segment;
    int64_t from;

    switch (kind) {
    case PTX_SHUFFLE_UP:
        from = (int64_t)lane - (by & 31);
        *out_in = from >= (int64_t)highest;
        break;
    case PTX_SHUFFLE_DOWN:
        from = (int64_t)lane + (by & 31);
        *out_in = from <= (int64_t)highest;
        break;
    case PTX_SHUFFLE_BFLY:
        from = (int64_t)(lane ^ (by & 31));
        *out_in = from <= (int64_t)highest;
        break;
    default:
        from = (int64_t)(lowest | (by & 31 & ~segment));
        *out_in = from <= (int64_t)highest;
        break;
    }
    return *out_in ? (uint32_t)from & 31 : lane;
}

/* Whether all get the value of one lane, by a constant, and nobody asks if it was in range. */
static bool is_broadcast(const ptx_job *job, const ptx_instruction *i, uint32_t lanes)
{
    const ptx_register *const by = &job->module->registers[i->from[1]];
    const ptx_register *const clamp = &job->module->registers[i->from[2]];

    return i->kind == PTX_SHUFFLE_IDX && i->to[1] < 0 && by->origin == PTX_CONSTANT &&
           clamp->origin == PTX_CONSTANT && clamp->value == 31 && (lanes >> (by->value & 31) & 1);
}

static void broadcast(const ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    const uint64_t from = job->module->registers[i->from[1]].value & 31;
    const uint64_t value = (uint32_t)ptx_value(warp, i->from[0])[from];

    PTX_EACH (lane, lanes)
        ptx_value(warp, i->to[0])[lane] = value;
}

static void shuffle(ptx_job *job, ptx_warp *warp, uint32_t lanes)
{
    uint64_t given[PTX_LANES] = {0};

    PTX_EACH (lane, lanes)
        given[lane] = ptx_value(warp, at(job, warp, lane)->from[0])[lane];
    PTX_EACH (lane, lanes) {
        const ptx_instruction *const i = at(job, warp, lane);
        const uint32_t by = (uint32_t)ptx_value(warp, i->from[1])[lane];
        const uint32_t clamp = (uint32_t)ptx_value(warp, i->from[2])[lane];
        bool inside;
        const uint32_t from = source_of(lane, i->kind, by, clamp, &inside);

        if (!(lanes >> from & 1)) {
            ptx_fault(job, PTX_LAUNCH_FAILED, i,
                      "lane %u takes from lane %u, which does not take part", lane, from);
            return;
        }
        ptx_value(warp, i->to[0])[lane] = (uint32_t)given[from];
        if (i->to[1] >= 0)
            warp->predicates[i->to[1]] =
                (warp->predicates[i->to[1]] & ~(1u << lane)) | (uint32_t)inside << lane;
    }
}

static void vote(ptx_job *job, ptx_warp *warp, uint32_t lanes)
{
    uint32_t said = 0;

    PTX_EACH (lane, lanes) {
        const ptx_instruction *const i = at(job, warp, lane);

        said |= ((warp->predicates[i->from[0]] >> lane & 1) ^ i->is_signed) << lane;
    }
    PTX_EACH (lane, lanes) {
        const ptx_instruction *const i = at(job, warp, lane);
        const bool holds = i->kind == PTX_VOTE_ALL   ? said == lanes
                           : i->kind == PTX_VOTE_ANY ? said != 0
                                                     : said == 0 || said == lanes;

        if (i->kind == PTX_VOTE_BALLOT)
            ptx_value(warp, i->to[0])[lane] = said;
        else
            warp->predicates[i->to[0]] =
                (warp->predicates[i->to[0]] & ~(1u << lane)) | (uint32_t)holds << lane;
    }
}

static uint32_t reduced(uint8_t kind, bool is_signed, uint32_t a, uint32_t b)
{
    switch (kind) {
    case PTX_ATOM_ADD:
        return a + b;
    case PTX_ATOM_MIN:
        return is_signed ? ((int32_t)a < (int32_t)b ? a : b) : (a < b ? a : b);
    case PTX_ATOM_MAX:
        return is_signed ? ((int32_t)a > (int32_t)b ? a : b) : (a > b ? a : b);
    case PTX_ATOM_AND:
        return a & b;
    case PTX_ATOM_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void reduce(ptx_job *job, ptx_warp *warp, uint32_t lanes)
{
    const ptx_instruction *const first = at(job, warp, (uint32_t)__builtin_ctz(lanes));
    uint32_t made = 0;
    bool any = false;

    PTX_EACH (lane, lanes) {
        const uint32_t one = (uint32_t)ptx_value(warp, at(job, warp, lane)->from[0])[lane];

        made = any ? reduced(first->kind, first->is_signed, made, one) : one;
        any = true;
    }
    PTX_EACH (lane, lanes)
        ptx_value(warp, at(job, warp, lane)->to[0])[lane] = made;
}

static void match(ptx_job *job, ptx_warp *warp, uint32_t lanes)
{
    uint64_t given[PTX_LANES] = {0};

    PTX_EACH (lane, lanes)
        given[lane] = ptx_value(warp, at(job, warp, lane)->from[0])[lane];
    PTX_EACH (lane, lanes) {
        uint32_t same = 0;

        PTX_EACH (other, lanes)
            same |= (uint32_t)(given[other] == given[lane]) << other;
        ptx_value(warp, at(job, warp, lane)->to[0])[lane] = same;
    }
}

void ptx_sync(ptx_job *job, ptx_warp *warp, uint32_t lanes, const ptx_instruction *same)
{
    if (same && same->operation == PTX_OP_shuffle && is_broadcast(job, same, lanes)) {
        broadcast(job, warp, same, lanes);
        return;
    }
    switch (at(job, warp, (uint32_t)__builtin_ctz(lanes))->operation) {
    case PTX_OP_shuffle:
        shuffle(job, warp, lanes);
        break;
    case PTX_OP_vote:
        vote(job, warp, lanes);
        break;
    case PTX_OP_reduce:
        reduce(job, warp, lanes);
        break;
    case PTX_OP_match:
        match(job, warp, lanes);
        break;
    default: /* a barrier: they have met */
        ptx_flush(warp, lanes);
        ptx_acquire(warp, lanes);
        break;
    }
}

/* Whether everybody is there for whom this lane waits; then they go on. */
static void settle(ptx_job *job, ptx_warp *warp, uint32_t lane)
{
    const uint32_t members = warp->members[lane], wanted = members & warp->alive;
    const uint16_t operation = at(job, warp, lane)->operation;

    PTX_EACH (other, wanted)
        if (warp->waits[other] != PTX_WAITS_WARP || warp->members[other] != members)
            return;
    PTX_EACH (other, wanted)
        if (at(job, warp, other)->operation != operation) {
            ptx_fault(job, PTX_LAUNCH_FAILED, at(job, warp, lane),
                      "lanes %u and %u do different things together", lane, other);
            return;
        }
    ptx_sync(job, warp, wanted, NULL);
    PTX_EACH (other, wanted) {
        warp->at[other]++;
        warp->waits[other] = PTX_RUNS;
    }
    warp->held &= ~wanted;
}

void ptx_sync_wait(ptx_job *job, ptx_warp *warp, uint32_t lanes)
{
    PTX_EACH (lane, lanes) {
        const ptx_instruction *const i = at(job, warp, lane);

        warp->members[lane] = (uint32_t)ptx_value(warp, i->from[3])[lane];
        warp->waits[lane] = PTX_WAITS_WARP;
        if (!(warp->members[lane] >> lane & 1)) {
            ptx_fault(job, PTX_LAUNCH_FAILED, i, "lane %u is not among its own members", lane);
            return;
        }
    }
    warp->held |= lanes;
    PTX_EACH (lane, lanes)
        if (warp->waits[lane] == PTX_WAITS_WARP && !job->fault)
            settle(job, warp, lane);
}

/* Everybody goes on who waits at this barrier, if all have come. */
static void settle_barrier(ptx_job *job, ptx_block *block, uint32_t which)
{
    ptx_barrier *const barrier = &block->barriers[which];
    const uint32_t expected = barrier->expected ? barrier->expected : block->alive;

    if (barrier->arrived == 0 || barrier->arrived < expected)
        return;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        ptx_warp *const warp = &block->warps[w];

        PTX_EACH (lane, warp->held) {
            const ptx_instruction *const i = at(job, warp, lane);

            if (warp->waits[lane] != PTX_WAITS_BLOCK || warp->barrier[lane] != which)
                continue;
            if (i->operation == PTX_OP_barrier_reduce && i->kind == PTX_VOTE_BALLOT)
                ptx_value(warp, i->to[0])[lane] = barrier->count;
            else if (i->operation == PTX_OP_barrier_reduce)
                warp->predicates[i->to[0]] = (warp->predicates[i->to[0]] & ~(1u << lane)) |
                                             (i->kind == PTX_VOTE_ALL ? barrier->all : barrier->any)
                                                 << lane;
            warp->at[lane]++;
            warp->waits[lane] = PTX_RUNS;
            warp->held &= ~(1u << lane);
        }
    }
    *barrier = (ptx_barrier){.all = 1};
}

void ptx_barrier_wait(ptx_job *job, ptx_warp *warp, uint32_t lanes)
{
    ptx_flush(warp, lanes);
    ptx_acquire(warp, lanes);
    PTX_EACH (lane, lanes) {
        const ptx_instruction *const i = at(job, warp, lane);
        const uint64_t which = ptx_value(warp, i->from[1])[lane];
        ptx_barrier *const barrier = &warp->block->barriers[which % PTX_BARRIERS];
        const uint32_t expected = i->from[2] >= 0 ? (uint32_t)ptx_value(warp, i->from[2])[lane] : 0;

        if (which >= PTX_BARRIERS || expected % PTX_LANES != 0 ||
            (barrier->arrived > 0 && barrier->expected != expected)) {
            ptx_fault(job, PTX_LAUNCH_FAILED, i, "barrier %u for %u threads, where %u are meant",
                      (uint32_t)which, expected, barrier->expected);
            return;
        }
        barrier->expected = expected;
        barrier->arrived++;
        if (i->operation == PTX_OP_barrier_reduce) {
            const uint32_t said =
                (warp->predicates[i->from[0]] >> lane & 1) ^ (uint32_t)i->is_signed;

            barrier->any |= said;
            barrier->all &= said;
            barrier->count += said;
        }
        if (i->operation == PTX_OP_barrier_arrive) {
            warp->at[lane]++;
        } else {
            warp->waits[lane] = PTX_WAITS_BLOCK;
            warp->barrier[lane] = (uint8_t)which;
            warp->held |= 1u << lane;
        }
        settle_barrier(job, warp->block, (uint32_t)which);
    }
}

void ptx_sync_end(ptx_job *job, ptx_warp *warp, uint32_t lanes)
{
    warp->alive &= ~lanes;
    warp->block->alive -= (uint32_t)__builtin_popcount(lanes);
    PTX_EACH (lane, warp->held)
        if (warp->waits[lane] == PTX_WAITS_WARP && !job->fault)
            settle(job, warp, lane);
    for (uint32_t i = 0; i < PTX_BARRIERS && warp->block->alive > 0; i++)
        settle_barrier(job, warp->block, i);
}
