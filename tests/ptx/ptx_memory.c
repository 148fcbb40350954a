/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_memory: loads, stores and atomic operations of lanes.
 *
 * Each is a single access of an element, sixteen bytes too where PTX says b128: a vector is
 * several, between which others write. It must lie inside a block of memory that devices reach, or
 * that is the block's or the lane's own.
 *
 * Nobody but the lane itself sees what it stored until chance will have it, and not in the order in
 * which it did, unless it says so by a fence, a release or a barrier. And what it loads from memory
 * that is not shared may be what it has seen there before, unless it has acquired since; but for
 * sixteen bytes, which tell by a stamp whether they are right. Shared memory is one for all warps
 * of a block, which load from it in their order: on GPUs too, and kernels of ours rely on it. A
 * barrier of any kind is as strong as a fence here.
 */
#include "ptx_warp.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "ptx_ops.h"

static bool is_inside(uint64_t address, uint64_t bytes, const uint8_t *begin, uint64_t size)
{
    const uint64_t first = (uint64_t)(uintptr_t)begin;

    return begin && address >= first && bytes <= size && address - first <= size - bytes;
}

static bool reaches(ptx_job *job, uint64_t address, uint64_t bytes)
{
    uint64_t begin, end;

    for (int n = 0; n < 2; n++)
        if (address >= job->begin[n] && address < job->end[n] && bytes <= job->end[n] - address)
            return true;
    if (!ptx_reaches(address, &begin, &end) || bytes > end - address)
        return false;
    job->begin[job->next] = begin;
    job->end[job->next] = end;
    job->next ^= 1;
    return true;
}

/* Where a lane's access goes; NULL, and the kernel ends, when it may not. */
static uint8_t *place(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lane)
{
    const uint64_t address = ptx_value(warp, i->from[3])[lane] + (uint64_t)i->offset;
    const uint64_t bytes = (uint64_t)i->size * i->count;
    const uint32_t local = job->module->local_bytes, call = job->module->call_bytes;
    uint8_t *base = NULL;
    uint64_t room = 0;

    if (address % bytes != 0) {
        ptx_fault(job, PTX_MISALIGNED, i, "lane %u reaches %#llx for %llu bytes", lane,
                  (unsigned long long)address, (unsigned long long)bytes);
        return NULL;
    }
    switch (i->space) {
    case PTX_SHARED:
        base = warp->block->shared;
        room = job->shared_bytes;
        break;
    case PTX_LOCAL:
        base = warp->local + (size_t)lane * local;
        room = local;
        break;
    case PTX_CALL:
        base = warp->call + (size_t)lane * call;
        room = call;
        break;
    case PTX_ENTRY:
        base = job->launch->parameters;
        room = job->launch->function->parameter_bytes;
        break;
    default:
        if (reaches(job, address, bytes) ||
            (i->space == PTX_GENERIC &&
             (is_inside(address, bytes, warp->block->shared, job->shared_bytes) ||
              is_inside(address, bytes, warp->local + (size_t)lane * local, local))))
            return ptx_pointer(address);
        break;
    }
    if (base && bytes <= room && address <= room - bytes)
        return base + address;
    ptx_fault(job, PTX_ILLEGAL_ADDRESS, i, "lane %u reaches %#llx for %llu bytes", lane,
              (unsigned long long)address, (unsigned long long)bytes);
    return NULL;
}

static uint64_t load_element(const uint8_t *from, uint32_t size)
{
    switch (size) { /* acquire, all: never weaker than what is meant */
    case 1:
        return __atomic_load_n(from, __ATOMIC_ACQUIRE);
    case 2:
        return __atomic_load_n((const uint16_t *)(const void *)from, __ATOMIC_ACQUIRE);
    case 4:
        return __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_ACQUIRE);
    default:
        return __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_ACQUIRE);
    }
}

static void store_element(uint8_t *to, uint32_t size, uint64_t value)
{
    switch (size) { /* release, all: likewise */
    case 1:
        __atomic_store_n(to, (uint8_t)value, __ATOMIC_RELEASE);
        break;
    case 2:
        __atomic_store_n((uint16_t *)(void *)to, (uint16_t)value, __ATOMIC_RELEASE);
        break;
    case 4:
        __atomic_store_n((uint32_t *)(void *)to, (uint32_t)value, __ATOMIC_RELEASE);
        break;
    default:
        __atomic_store_n((uint64_t *)(void *)to, value, __ATOMIC_RELEASE);
        break;
    }
}

/* Sixteen bytes at once, as the host's own slots are read and written. */
static void load_wide(const uint8_t *from, uint64_t out[2])
{
#ifdef __SSE2__
    _mm_storeu_si128((__m128i *)(void *)out, *(const volatile __m128i *)(const void *)from);
#else
    out[0] = load_element(from, 8);
    out[1] = load_element(from + 8, 8);
#endif
}

static void store_wide(uint8_t *to, const uint64_t from[2])
{
#ifdef __SSE2__
    *(volatile __m128i *)(void *)to = _mm_loadu_si128((const __m128i *)(const void *)from);
#else
    store_element(to, 8, from[0]);
    store_element(to + 8, 8, from[1]);
#endif
}

/* --- loads that others have overtaken --------------------------------------------------------- */

void ptx_acquire(ptx_warp *warp, uint32_t lanes)
{
    for (uint32_t n = 0; (warp->seers & lanes) && n < PTX_SEEN; n++)
        warp->seen[n].lanes &= ~lanes;
    warp->seers &= ~lanes;
}

/* Words of a line, and the same ones of two lines beside each other, keep out of each other's way,
 * wherever the memory is: so a kernel sees as much of what was there before in each run. */
static ptx_seen *seen_at(ptx_warp *warp, const uint8_t *from)
{
    const uintptr_t word = (uintptr_t)from / 4, line = word / PTX_SEEN;

    return &warp->seen[(word ^ line) % PTX_SEEN];
}

/* Nobody sees what was there before he stored something there himself. */
static void forget(ptx_warp *warp, uint32_t lanes, const uint8_t *at, uint64_t bytes)
{
    for (uint32_t n = 0; n < PTX_SEEN; n++)
        if (warp->seen[n].from < at + bytes && at < warp->seen[n].from + warp->seen[n].size)
            warp->seen[n].lanes &= ~lanes;
}

/* --- stores on their way ---------------------------------------------------------------------- */

static void perform(const ptx_pending *it)
{
    if (it->size == 16)
        store_wide(it->to, it->value);
    else
        store_element(it->to, it->size, it->value[0]);
}

static bool overlap(const ptx_pending *it, const uint8_t *at, uint64_t bytes)
{
    return it->to < at + bytes && at < it->to + it->size;
}

void ptx_flush(ptx_warp *warp, uint32_t lanes)
{
    uint32_t left = 0;

    for (uint32_t n = 0; n < warp->pending_count; n++)
        if (lanes >> warp->pending[n].lane & 1)
            perform(&warp->pending[n]);
        else
            warp->pending[left++] = warp->pending[n];
    warp->pending_count = left;
}

void ptx_drain(ptx_job *job, ptx_warp *warp)
{
    uint32_t left = 0;

    for (uint32_t n = 0; n < warp->pending_count; n++) {
        const ptx_pending it = warp->pending[n];
        bool stays = ptx_chance(job) % 2;

        for (uint32_t k = 0; k < left && !stays; k++) /* behind an older one to that place */
            stays = overlap(&warp->pending[k], it.to, it.size);
        if (stays)
            warp->pending[left++] = it;
        else
            perform(&it);
    }
    warp->pending_count = left;
}

/* A lane sees what it has stored itself. */
static void flush_own(ptx_warp *warp, uint32_t lane, const uint8_t *at, uint64_t bytes)
{
    for (uint32_t n = 0; n < warp->pending_count; n++)
        if (warp->pending[n].lane == lane && overlap(&warp->pending[n], at, bytes)) {
            ptx_flush(warp, UINT32_C(1) << lane);
            return;
        }
}

/* Whether nobody else reaches it; whether other blocks do, and the host. */
static bool is_own(const ptx_job *job, const ptx_warp *warp, const ptx_instruction *i,
                   const uint8_t *at)
{
    return i->space == PTX_LOCAL || i->space == PTX_CALL || i->space == PTX_ENTRY ||
           (at >= warp->local && at < warp->local + (size_t)job->module->local_bytes * PTX_LANES);
}

static bool is_global(const ptx_job *job, const ptx_warp *warp, const ptx_instruction *i,
                      const uint8_t *at)
{
    return !is_own(job, warp, i, at) &&
           (at < warp->block->shared || at >= warp->block->shared + job->shared_bytes);
}

static void put(const ptx_job *job, ptx_warp *warp, const ptx_instruction *i, ptx_pending it)
{
    if (is_global(job, warp, i, it.to))
        forget(warp, UINT32_C(1) << it.lane, it.to, it.size);
    if (i->releases)
        ptx_flush(warp, UINT32_C(1) << it.lane);
    if (i->releases || is_own(job, warp, i, it.to)) {
        perform(&it);
        return;
    }
    if (warp->pending_count == PTX_STORES)
        ptx_flush(warp, UINT32_MAX);
    warp->pending[warp->pending_count++] = it;
}

/* --- loads, stores, atomic operations ----------------------------------------------------------
 */

/* `kind` is how large the register is that it goes to. */
static uint64_t extended(const ptx_instruction *i, uint64_t value)
{
    const uint32_t shift = 64 - i->size * 8;

    if (!i->is_signed)
        return value;
    value = (uint64_t)((int64_t)(value << shift) >> shift);
    return i->kind >= 8 ? value : value & ((UINT64_C(1) << i->kind * 8) - 1);
}

/* Whether a register is the same in these lanes, of which there is one. */
static bool is_uniform(const ptx_warp *warp, int32_t reg, uint32_t lanes)
{
    const uint64_t *const values = ptx_value(warp, reg), first = values[__builtin_ctz(lanes)];
    uint64_t other = 0;

    if (lanes == UINT32_MAX)
        for (uint32_t lane = 0; lane < PTX_LANES; lane++)
            other |= values[lane] ^ first;
    else
        PTX_EACH (lane, lanes)
            other |= values[lane] ^ first;
    return other == 0;
}

/* An element that is not in shared memory or the lane's own: now and then what these lanes have
 * seen there before, as if they had loaded it then. */
static uint64_t load_global(ptx_job *job, ptx_warp *warp, uint32_t lanes, const uint8_t *from,
                            uint32_t size)
{
    ptx_seen *const seen = seen_at(warp, from);
    const bool same = seen->from == from && seen->size == size;
    uint64_t value;

    if (same && (seen->lanes & lanes) == lanes && ptx_chance(job) % 8 == 0)
        return seen->value;
    value = load_element(from, size);
    if (!same || value != seen->value)
        seen->lanes = 0;
    *seen = (ptx_seen){from, value, seen->lanes | lanes, (uint8_t)size};
    warp->seers |= lanes;
    return value;
}

/* What one of the lanes loads is for all of `to`. */
static void load_for(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lane,
                     uint32_t to)
{
    const uint8_t *const from = place(job, warp, i, lane);
    const bool global = from && is_global(job, warp, i, from);

    if (!from)
        return;
    if (warp->pending_count > 0)
        PTX_EACH (each, to)
            flush_own(warp, each, from, (uint64_t)i->size * i->count);
    for (uint32_t n = 0; n < i->count; n++) {
        const uint8_t *const at = from + (size_t)n * i->size;
        uint64_t value[2] = {0};

        if (i->to[n] < 0)
            continue;
        if (i->size == 16)
            load_wide(at, value);
        else if (global)
            value[0] = load_global(job, warp, to, at, i->size);
        else
            value[0] = load_element(at, i->size);
        if (i->size < 16)
            value[0] = extended(i, value[0]);
        PTX_EACH (each, to) {
            ptx_value(warp, i->to[n])[each] = value[0];
            if (i->size == 16)
                ptx_value(warp, i->to[n] + 1)[each] = value[1];
        }
    }
}

/* Lanes that load from one address, as when they look at a word, get the same. */
void ptx_load(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    if (lanes == 0)
        return;
    if (i->acquires)
        ptx_acquire(warp, lanes);
    if (i->space != PTX_LOCAL && i->space != PTX_CALL && is_uniform(warp, i->from[3], lanes)) {
        load_for(job, warp, i, (uint32_t)__builtin_ctz(lanes), lanes);
        return;
    }
    PTX_EACH (lane, lanes)
        load_for(job, warp, i, lane, UINT32_C(1) << lane);
}

/* A vector is several stores, but in shared memory, which takes sixteen bytes at once. */
static void store_for(const ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lane,
                      uint8_t *to)
{
    const uint32_t bytes = (uint32_t)i->size * i->count;
    const bool whole = i->size == 16 || (i->space == PTX_SHARED && bytes <= 16);
    ptx_pending it = {.to = to, .lane = (uint8_t)lane};

    if (i->size == 16) {
        it.value[0] = ptx_value(warp, i->to[0])[lane];
        it.value[1] = ptx_value(warp, i->to[0] + 1)[lane];
    }
    for (uint32_t n = 0; n < i->count && i->size < 16; n++) {
        const uint64_t value = ptx_value(warp, i->to[n])[lane];

        if (whole) {
            memcpy((uint8_t *)it.value + (size_t)n * i->size, &value, i->size);
            continue;
        }
        it.size = i->size;
        it.value[0] = value;
        put(job, warp, i, it);
        it.to += i->size;
    }
    if (whole) {
        it.size = (uint8_t)bytes;
        put(job, warp, i, it);
    }
}

void ptx_store(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    warp->wrote |= lanes != 0;
    PTX_EACH (lane, lanes) {
        uint8_t *const to = place(job, warp, i, lane);

        if (!to)
            return;
        store_for(job, warp, i, lane, to);
    }
}

static uint64_t changed(const ptx_instruction *i, uint64_t was, uint64_t a, uint64_t b)
{
    const bool less = i->is_signed && i->size == 4 ? (int32_t)a < (int32_t)was
                      : i->is_signed               ? (int64_t)a < (int64_t)was
                                                   : a < was;

    switch (i->kind) {
    case PTX_ATOM_ADD:
        return was + a;
    case PTX_ATOM_MIN:
        return less ? a : was;
    case PTX_ATOM_MAX:
        return less ? was : a;
    case PTX_ATOM_AND:
        return was & a;
    case PTX_ATOM_OR:
        return was | a;
    case PTX_ATOM_XOR:
        return was ^ a;
    case PTX_ATOM_EXCH:
        return a;
    case PTX_ATOM_CAS:
        return was == a ? b : was;
    case PTX_ATOM_INC:
        return was >= a ? 0 : was + 1;
    default:
        return was == 0 || was > a ? a : was - 1;
    }
}

void ptx_atomic(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    warp->wrote |= lanes != 0;
    PTX_EACH (lane, lanes) {
        uint8_t *const to = place(job, warp, i, lane);
        const uint64_t a = ptx_value(warp, i->from[0])[lane];
        const uint64_t b = i->from[1] >= 0 ? ptx_value(warp, i->from[1])[lane] : 0;
        uint64_t was;

        if (!to)
            return;
        forget(warp, UINT32_C(1) << lane, to, i->size);
        if (i->acquires)
            ptx_acquire(warp, UINT32_C(1) << lane);
        if (i->releases)
            ptx_flush(warp, UINT32_C(1) << lane);
        else
            flush_own(warp, lane, to, i->size);
        if (i->size == 4) { /* seq_cst, both: never weaker than what is meant */
            uint32_t *const word = (uint32_t *)(void *)to;
            uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);

            while (!__atomic_compare_exchange_n(word, &seen, (uint32_t)changed(i, seen, a, b),
                                                false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
                ;
            was = seen;
        } else {
            uint64_t *const word = (uint64_t *)(void *)to;

            was = __atomic_load_n(word, __ATOMIC_SEQ_CST);
            while (!__atomic_compare_exchange_n(word, &was, changed(i, was, a, b), false,
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
                ;
        }
        if (i->to[0] >= 0)
            ptx_value(warp, i->to[0])[lane] = was;
    }
}
