/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_memory: loads, stores and atomic operations of lanes.
 *
 * Each is a single access of an element, sixteen bytes too where PTX says b128: a vector is
 * several, between which others write. It must lie inside a block of memory that devices reach, or
 * that is the block's or the lane's own.
 */
#include "ptx_warp.h"

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

/* What one of the lanes loads is for all of `to`. */
static void load_for(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lane,
                     uint32_t to)
{
    const uint8_t *const from = place(job, warp, i, lane);

    if (!from)
        return;
    if (i->size == 16) {
        uint64_t wide[2];

        load_wide(from, wide);
        for (int n = 0; n < 2; n++)
            PTX_EACH (each, to)
                ptx_value(warp, i->to[0] + n)[each] = wide[n];
        return;
    }
    for (uint32_t n = 0; n < i->count; n++) {
        uint64_t value;

        if (i->to[n] < 0)
            continue;
        value = extended(i, load_element(from + (size_t)n * i->size, i->size));
        PTX_EACH (each, to)
            ptx_value(warp, i->to[n])[each] = value;
    }
}

/* Lanes that load from one address, as when they look at a word, get the same. */
void ptx_load(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    if (lanes == 0)
        return;
    if (i->space != PTX_LOCAL && i->space != PTX_CALL && is_uniform(warp, i->from[3], lanes)) {
        load_for(job, warp, i, (uint32_t)__builtin_ctz(lanes), lanes);
        return;
    }
    PTX_EACH (lane, lanes)
        load_for(job, warp, i, lane, UINT32_C(1) << lane);
}

void ptx_store(ptx_job *job, ptx_warp *warp, const ptx_instruction *i, uint32_t lanes)
{
    warp->wrote |= lanes != 0;
    PTX_EACH (lane, lanes) {
        uint8_t *const to = place(job, warp, i, lane);

        if (!to)
            return;
        if (i->size == 16) {
            const uint64_t wide[2] = {ptx_value(warp, i->to[0])[lane],
                                      ptx_value(warp, i->to[0] + 1)[lane]};

            store_wide(to, wide);
            continue;
        }
        for (uint32_t n = 0; n < i->count; n++)
            store_element(to + (size_t)n * i->size, i->size, ptx_value(warp, i->to[n])[lane]);
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
