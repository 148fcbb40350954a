/* SPDX-License-Identifier: Apache-2.0
 *
 * slot_sse2: a slot of quarters, read and written without a copy in between.
 *
 * A load gets what was just stored without waiting only if it lies in one store; else it waits
 * until that is in the cache, behind all stores before it, and some of those wait for a line of
 * another core. So what is read is put down in pieces of 16 bytes, the body of a message from its
 * beginning at 8, and any aligned field lies in one of them. And what is written is picked up by
 * words of 4 bytes, since nobody knows in what pieces behaviours and callers put it down.
 *
 * Threads   as flow/ring_abi.h, whose accesses these are.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_SLOT_SSE2_H
#define GYRE_ACTOR_SLOT_SSE2_H

#include <emmintrin.h>

#include "actor/mailbox_abi.h"

static inline __m128i gyre_slot_load_quarter(const gyre_ring_quarter *from)
{
    __m128i quarter;

    __asm__ volatile("movdqa %1, %0" : "=x"(quarter) : "m"(*from));
    return quarter;
}

static inline void gyre_slot_store_quarter(gyre_ring_quarter *to, __m128i quarter)
{
    __asm__ volatile("movdqa %1, %0" : "=m"(*to) : "x"(quarter));
}

/* Two words, each by a load of its own. */
static inline __m128i gyre_slot_load_words(const gyre_abi_u32 *from)
{
    return _mm_unpacklo_epi32(_mm_cvtsi32_si128((int)from[0]), _mm_cvtsi32_si128((int)from[1]));
}

/* The lower half of one, the upper of another. */
static inline __m128i gyre_slot_blend(__m128i lower, __m128i upper)
{
    return _mm_castpd_si128(_mm_move_sd(_mm_castsi128_pd(upper), _mm_castsi128_pd(lower)));
}

/* As gyre_ring_read. */
static inline int gyre_slot_read_quarters(const gyre_ring_slot *slot, gyre_abi_u32 stamp,
                                          gyre_brief *out_brief)
{
    unsigned char *const out = (unsigned char *)out_brief;
    __m128i q0, q1, q2, q3, upper01, upper23, fours, stamps;

    /* relaxed: a glance. At the last, because it is written last: where it is there the others are,
     * and a look that comes between them would take the line away for nothing. */
    if (__atomic_load_n(&slot->quarter[3].stamp, __ATOMIC_RELAXED) != stamp)
        return GYRE_RING_NOT_YET;
    q0 = gyre_slot_load_quarter(&slot->quarter[0]);
    q1 = gyre_slot_load_quarter(&slot->quarter[1]);
    q2 = gyre_slot_load_quarter(&slot->quarter[2]);
    q3 = gyre_slot_load_quarter(&slot->quarter[3]);
    upper01 = _mm_unpackhi_epi32(q0, q1); /* four, four, stamp, stamp */
    upper23 = _mm_unpackhi_epi32(q2, q3);
    fours = _mm_unpacklo_epi64(upper01, upper23);
    stamps = _mm_unpackhi_epi64(upper01, upper23);
    if (_mm_movemask_epi8(_mm_cmpeq_epi32(stamps, _mm_set1_epi32((int)stamp))) != 0xffff)
        return GYRE_RING_NOT_YET;
    gyre_ring_order();
    _mm_storel_epi64((__m128i *)(void *)out, q0);
    _mm_storeu_si128((__m128i *)(void *)(out + 8), _mm_unpacklo_epi64(q1, q2));
    _mm_storeu_si128((__m128i *)(void *)(out + 24), _mm_unpacklo_epi64(q3, fours));
    _mm_storel_epi64((__m128i *)(void *)(out + 40), _mm_unpackhi_epi64(fours, fours));
    return GYRE_RING_READY;
}

/* A message as its quarters. */
typedef struct gyre_slot_quarters {
    __m128i q0, q1, q2, q3;
} gyre_slot_quarters;

static inline gyre_slot_quarters gyre_slot_make_quarters(gyre_abi_u32 stamp, gyre_abi_u64 head,
                                                         const gyre_brief *brief)
{
    const gyre_abi_u32 *const body = brief->body.words;
    const __m128i stamps = _mm_set1_epi32((int)stamp);
    const __m128i upper01 = _mm_unpacklo_epi32(gyre_slot_load_words(&body[6]), stamps);
    const __m128i upper23 = _mm_unpacklo_epi32(gyre_slot_load_words(&body[8]), stamps);

    return (gyre_slot_quarters){
        _mm_unpacklo_epi64(_mm_cvtsi64_si128((long long)head), upper01),
        gyre_slot_blend(gyre_slot_load_words(&body[0]), upper01),
        _mm_unpacklo_epi64(gyre_slot_load_words(&body[2]), upper23),
        gyre_slot_blend(gyre_slot_load_words(&body[4]), upper23),
    };
}

static inline void gyre_slot_put_quarters(gyre_ring_slot *slot, gyre_slot_quarters quarters)
{
    gyre_ring_order();
    gyre_slot_store_quarter(&slot->quarter[0], quarters.q0);
    gyre_slot_store_quarter(&slot->quarter[1], quarters.q1);
    gyre_slot_store_quarter(&slot->quarter[2], quarters.q2);
    gyre_slot_store_quarter(&slot->quarter[3], quarters.q3);
}

/* As gyre_ring_write. */
static inline void gyre_slot_write_quarters(gyre_ring_slot *slot, gyre_abi_u32 stamp,
                                            gyre_abi_u64 head, const gyre_brief *brief)
{
    gyre_slot_put_quarters(slot, gyre_slot_make_quarters(stamp, head, brief));
}

/* The same of a brief that was put down long enough ago to be picked up in pieces of 16 bytes: one
 * of many. */
static inline void gyre_slot_write_one_quarters(gyre_ring_slot *slot, gyre_abi_u32 stamp,
                                                gyre_abi_u64 head, const gyre_brief *brief)
{
    const __m128i *const parts = (const __m128i *)(const void *)brief;
    const __m128i stamps = _mm_set1_epi32((int)stamp);
    const __m128i first = _mm_loadu_si128(parts), second = _mm_loadu_si128(parts + 1);
    const __m128i fours = _mm_loadu_si128(parts + 2);
    const __m128i upper01 = _mm_unpacklo_epi32(fours, stamps);
    const __m128i upper23 = _mm_unpackhi_epi32(fours, stamps);

    gyre_ring_order();
    gyre_slot_store_quarter(&slot->quarter[0],
                            _mm_unpacklo_epi64(_mm_cvtsi64_si128((long long)head), upper01));
    gyre_slot_store_quarter(&slot->quarter[1], _mm_unpackhi_epi64(first, upper01));
    gyre_slot_store_quarter(&slot->quarter[2], _mm_unpacklo_epi64(second, upper23));
    gyre_slot_store_quarter(&slot->quarter[3], _mm_unpackhi_epi64(second, upper23));
}

#endif
