/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_step: does the instructions of a warp.
 *
 * Lanes that are at the same instruction do it together. Those that are furthest back go first, so
 * that they meet the others again; but now and then any lane goes, because one may wait in a loop
 * for what another one does (each makes progress, as on a GPU since Volta).
 *
 * Not here  memory (ptx_memory.c), what lanes do together (ptx_sync.c).
 */
#include "ptx_warp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx_ops.h"

void ptx_fault(ptx_job *job, int fault, const ptx_instruction *i, const char *format, ...)
{
    char text[160];
    va_list args;

    if (job->fault)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    job->fault = fault;
    snprintf(job->why, job->why_size, "%s, line %u: %s", job->launch->function->name,
             i ? i->line : 0, text);
}

/* --- registers -------------------------------------------------------------------------------- */

static uint64_t special(const ptx_job *job, int32_t reg)
{
    const uint64_t now = ptx_now_ns();

    switch (job->module->registers[reg].origin) {
    case PTX_CLOCK:
    case PTX_GLOBALTIMER_LO:
        return (uint32_t)now;
    case PTX_GLOBALTIMER_HI:
        return now >> 32;
    default:
        return now;
    }
}

/* These lanes get new values. */
static void give(const ptx_warp *warp, int32_t reg, const uint64_t *values, uint32_t lanes)
{
    uint64_t *const to = ptx_value(warp, reg);

    if (lanes == UINT32_MAX)
        memmove(to, values, PTX_LANES * sizeof *to);
    else
        PTX_EACH (lane, lanes)
            to[lane] = values[lane];
}

static void move(const ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    const uint32_t bits = i->count > 1 ? i->size * 8u / i->count : 0;
    const uint64_t mask = bits == 64 || bits == 0 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t now = i->operation == PTX_OP_read_special ? special(job, i->from[0]) : 0;

    PTX_EACH (lane, lanes) {
        uint64_t whole = 0;

        switch (i->operation) {
        case PTX_OP_read_special:
            ptx_value(warp, i->to[0])[lane] = now;
            break;
        case PTX_OP_move_wide:
        case PTX_OP_pack_wide:
            whole = ptx_value(warp,
                              i->operation == PTX_OP_move_wide ? i->from[0] + 1 : i->from[1])[lane];
            ptx_value(warp, i->to[0])[lane] = ptx_value(warp, i->from[0])[lane];
            ptx_value(warp, i->to[0] + 1)[lane] = whole;
            break;
        case PTX_OP_unpack_wide:
            for (int n = 0; n < 2; n++)
                if (i->to[n] >= 0)
                    ptx_value(warp, i->to[n])[lane] = ptx_value(warp, i->from[0] + n)[lane];
            break;
        case PTX_OP_pack:
            for (uint32_t n = 0; n < i->count; n++)
                whole |= (ptx_value(warp, i->from[n])[lane] & mask) << n * bits;
            ptx_value(warp, i->to[0])[lane] = whole;
            break;
        default:
            whole = ptx_value(warp, i->from[0])[lane];
            for (uint32_t n = 0; n < i->count; n++)
                if (i->to[n] >= 0)
                    ptx_value(warp, i->to[n])[lane] = whole >> n * bits & mask;
            break;
        }
    }
}

/* Between an address of a space, which begins at 0, and one that is good everywhere. */
static void convert_address(const ptx_job *job, ptx_warp *warp, const ptx_instruction *i,
                            uint32_t lanes)
{
    PTX_EACH (lane, lanes) {
        const uint64_t from = ptx_value(warp, i->from[0])[lane];
        const uint8_t *const base = i->space == PTX_SHARED ? warp->block->shared
                                    : i->space == PTX_LOCAL
                                        ? warp->local + (size_t)lane * job->module->local_bytes
                                    : i->space == PTX_ENTRY ? job->launch->parameters
                                                            : NULL;
        const uint64_t at = (uint64_t)(uintptr_t)base;

        ptx_value(warp, i->to[0])[lane] = i->operation == PTX_OP_to_generic ? from + at : from - at;
    }
}

/* What ptx_ops.h has rows for. */
/* NOLINTNEXTLINE(readability-function-size): a case for each */
static void compute(ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    static const uint64_t none[PTX_LANES];
    const uint64_t *const as = i->from[0] >= 0 ? ptx_value(warp, i->from[0]) : none;
    const uint64_t *const bs = i->from[1] >= 0 ? ptx_value(warp, i->from[1]) : none;
    const uint64_t *const cs = i->from[2] >= 0 ? ptx_value(warp, i->from[2]) : none;
    const uint64_t *const ds = i->from[3] >= 0 ? ptx_value(warp, i->from[3]) : none;
    uint64_t made[PTX_LANES];

    switch (i->operation) {
#define ROW(name, type, expression)                                                                \
    case PTX_OP_##name:                                                                            \
        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {                                        \
            const uint64_t a = as[lane], b = bs[lane], c = cs[lane], d = ds[lane];                 \
                                                                                                   \
            (void)a, (void)b, (void)c, (void)d;                                                    \
            made[lane] = (type)(expression);                                                       \
        }                                                                                          \
        break;
        PTX_ROWS(ROW)
#undef ROW
    default:
        return;
    }
    give(warp, i->to[0], made, lanes);
}

static void compare(ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    const uint64_t *const as = ptx_value(warp, i->from[0]);
    const uint64_t *const bs = ptx_value(warp, i->from[1]);
    uint32_t holds = 0;

    switch (i->operation) {
#define ROW(name, expression)                                                                      \
    case PTX_OP_##name:                                                                            \
        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {                                        \
            const uint64_t a = as[lane], b = bs[lane];                                             \
                                                                                                   \
            holds |= (uint32_t)((expression) ? 1 : 0) << lane;                                     \
        }                                                                                          \
        break;
        PTX_COMPARE_ROWS(ROW)
#undef ROW
    default:
        break;
    }
    warp->predicates[i->to[0]] = (warp->predicates[i->to[0]] & ~lanes) | (holds & lanes);
}

/* A predicate, or a constant in its place. */
static uint32_t said(const ptx_job *job, const ptx_warp *warp, int32_t reg)
{
    if (reg < 0)
        return 0;
    if (job->module->registers[reg].origin == PTX_CONSTANT)
        return job->module->registers[reg].value ? UINT32_MAX : 0;
    return warp->predicates[reg];
}

static void combine(const ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    const uint32_t a = said(job, warp, i->from[0]), b = said(job, warp, i->from[1]);
    uint32_t made = 0;

    switch (i->operation) {
#define ROW(name, expression)                                                                      \
    case PTX_OP_##name:                                                                            \
        made = (expression);                                                                       \
        break;
        PTX_PREDICATE_ROWS(ROW)
#undef ROW
    default:
        break;
    }
    (void)b;
    warp->predicates[i->to[0]] = (warp->predicates[i->to[0]] & ~lanes) | (made & lanes);
}

static void choose(const ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    const uint32_t which = said(job, warp, i->from[2]);

    PTX_EACH (lane, lanes)
        ptx_value(warp, i->to[0])[lane] = ptx_value(warp, i->from[which >> lane & 1 ? 0 : 1])[lane];
}

/* --- the way through the code ----------------------------------------------------------------- */

static void copy_between_calls(const ptx_job *job, ptx_warp *warp, const ptx_copy *copy,
                               uint32_t lanes)
{
    PTX_EACH (lane, lanes) {
        uint8_t *const memory = warp->call + (size_t)lane * job->module->call_bytes;

        memmove(memory + copy->to, memory + copy->from, copy->bytes);
    }
}

static void call(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    const ptx_call *const it = &job->module->calls[i->target];

    for (uint32_t n = 0; n < it->count; n++)
        copy_between_calls(job, warp, &it->arguments[n], lanes);
    PTX_EACH (lane, lanes) {
        if (warp->calls[lane] == PTX_CALLS) {
            ptx_fault(job, PTX_LAUNCH_FAILED, i, "calls that are %d deep", PTX_CALLS);
            return;
        }
        warp->returns[lane][warp->calls[lane]++] = warp->at[lane] + 1;
        warp->at[lane] = it->target;
    }
}

static void end(ptx_job *job, ptx_warp *warp, uint32_t lanes, bool for_good)
{
    uint32_t over = 0;

    PTX_EACH (lane, lanes)
        if (warp->calls[lane] == 0 || for_good)
            over |= 1u << lane;
        else
            warp->at[lane] = warp->returns[lane][--warp->calls[lane]];
    if (!over)
        return;
    ptx_flush(warp, over);
    ptx_sync_end(job, warp, over);
}

static void nap(ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    const uint64_t now = ptx_now_ns();

    PTX_EACH (lane, lanes) {
        warp->wake_ns[lane] = now + (uint32_t)ptx_value(warp, i->from[0])[lane];
        warp->at[lane]++;
    }
    warp->asleep |= lanes;
}

/* Instructions after which lanes may be anywhere. `at` is right for all of them before and after;
 * lanes that the guard leaves out have gone on already. */
static void turn(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    switch (i->operation) {
    case PTX_OP_branch:
        PTX_EACH (lane, lanes)
            warp->at[lane] = i->target;
        break;
    case PTX_OP_call:
        call(job, warp, i, lanes);
        break;
    case PTX_OP_ret:
    case PTX_OP_exit:
        end(job, warp, lanes, i->operation == PTX_OP_exit);
        break;
    case PTX_OP_trap:
        ptx_fault(job, PTX_LAUNCH_FAILED, i, "a trap");
        break;
    case PTX_OP_nap:
        nap(warp, i, lanes);
        break;
    case PTX_OP_barrier:
    case PTX_OP_barrier_reduce:
    case PTX_OP_barrier_arrive:
        ptx_barrier_wait(job, warp, lanes);
        break;
    default:
        ptx_sync_wait(job, warp, lanes);
        break;
    }
}

static void set_at(ptx_warp *warp, uint32_t lanes, uint32_t at)
{
    PTX_EACH (lane, lanes)
        warp->at[lane] = at;
}

/* Whether all who belong to it are here: the usual case. */
static bool are_all_here(const ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    uint32_t wanted;

    if (lanes == 0)
        return false;
    wanted = (uint32_t)ptx_value(warp, i->from[3])[__builtin_ctz(lanes)];
    if ((wanted & warp->alive) != lanes)
        return false;
    PTX_EACH (lane, lanes)
        if ((uint32_t)ptx_value(warp, i->from[3])[lane] != wanted)
            return false;
    return true;
}

/* Does one after which all go on to the next; false: it is another. */
static bool work(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    switch (i->operation) {
    case PTX_OP_and_pred:
    case PTX_OP_or_pred:
    case PTX_OP_xor_pred:
    case PTX_OP_not_pred:
    case PTX_OP_mov_pred:
        combine(job, warp, i, lanes);
        return true;
    case PTX_OP_move:
        give(warp, i->to[0], ptx_value(warp, i->from[0]), lanes);
        return true;
    case PTX_OP_move_wide:
    case PTX_OP_pack:
    case PTX_OP_pack_wide:
    case PTX_OP_unpack:
    case PTX_OP_unpack_wide:
    case PTX_OP_read_special:
        move(job, warp, i, lanes);
        return true;
    case PTX_OP_select:
        choose(job, warp, i, lanes);
        return true;
    case PTX_OP_load:
        ptx_load(job, warp, i, lanes);
        return true;
    case PTX_OP_store:
        ptx_store(job, warp, i, lanes);
        return true;
    case PTX_OP_atomic:
        ptx_atomic(job, warp, i, lanes);
        return true;
    case PTX_OP_to_generic:
    case PTX_OP_from_generic:
        convert_address(job, warp, i, lanes);
        return true;
    case PTX_OP_result:
        copy_between_calls(job, warp, &job->module->calls[i->target].result, lanes);
        return true;
    case PTX_OP_fence:
        ptx_flush(warp, lanes);
        ptx_acquire(warp, lanes);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        return true;
    case PTX_OP_active:
        PTX_EACH (lane, lanes)
            ptx_value(warp, i->to[0])[lane] = lanes;
        return true;
    default:
        return false;
    }
}

/* Does one instruction for `group`, who are all at it. False: they may be anywhere now. */
static bool step(ptx_job *job, ptx_warp *warp, uint32_t group, uint32_t at)
{
    const ptx_instruction *const i = &job->module->code[at];
    uint32_t lanes = group;

    if (i->guard >= 0)
        lanes &= i->negated ? ~warp->predicates[i->guard] : warp->predicates[i->guard];
    if (i->operation < PTX_OP_setp_eq_s16) {
        compute(warp, i, lanes);
        return true;
    }
    if (i->operation < PTX_OP_and_pred) {
        compare(warp, i, lanes);
        return true;
    }
    if (work(job, warp, i, lanes) || lanes == 0)
        return true;
    if (i->operation >= PTX_OP_shuffle && i->operation <= PTX_OP_warp_barrier &&
        are_all_here(warp, i, lanes)) {
        set_at(warp, lanes, at);
        ptx_sync(job, warp, lanes, i);
        return true;
    }
    set_at(warp, group & ~lanes, at + 1);
    set_at(warp, lanes, at);
    turn(job, warp, i, lanes);
    return false;
}

/* The lanes that go on, where they are, and how far until they meet others who are ready. */
static uint32_t gather(ptx_job *job, const ptx_warp *warp, uint32_t ready, uint32_t *out_at,
                       uint32_t *out_meet)
{
    uint32_t group = 0;

    *out_at = *out_meet = UINT32_MAX;
    if (ptx_chance(job) % 16 == 0) { /* any of them */
        uint32_t lane = (uint32_t)(ptx_chance(job) % PTX_LANES);

        while (!(ready >> lane & 1))
            lane = (lane + 1) % PTX_LANES;
        *out_at = warp->at[lane];
        PTX_EACH (other, ready)
            group |= (uint32_t)(warp->at[other] == *out_at) << other;
        return group;
    }
    PTX_EACH (lane, ready)
        if (warp->at[lane] < *out_at)
            *out_at = warp->at[lane];
    PTX_EACH (lane, ready)
        if (warp->at[lane] == *out_at)
            group |= 1u << lane;
        else if (warp->at[lane] < *out_meet)
            *out_meet = warp->at[lane];
    return group;
}

void ptx_warp_step(ptx_job *job, ptx_warp *warp, uint32_t budget)
{
    while (budget > 0 && !job->fault) {
        const uint32_t ready = warp->alive & ~warp->held & ~warp->asleep;
        uint32_t at, meet, group;
        bool together = true;

        if (!ready)
            return;
        group = gather(job, warp, ready, &at, &meet);
        while (together && budget > 0 && !job->fault && at != meet) {
            const ptx_instruction *const i = &job->module->code[at];

            budget--;
            /* a branch that all take, or none, keeps them together */
            if (i->operation == PTX_OP_branch) {
                const uint32_t said_so = i->guard < 0
                                             ? group
                                             : group & (i->negated ? ~warp->predicates[i->guard]
                                                                   : warp->predicates[i->guard]);

                if (said_so == group || said_so == 0) {
                    at = said_so ? i->target : at + 1;
                    together = meet == UINT32_MAX || at < meet;
                    if (!together)
                        set_at(warp, group, at);
                    continue;
                }
            }
            together = step(job, warp, group, at);
            at++;
        }
        if (together)
            set_at(warp, group, at);
    }
}
