/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_line: stamped lines by hand, for the floors of actors: what the host does to put 48 bytes
 * where a device polls, and to find them there.
 *
 * A line is four quarters of 12 bytes and a stamp, each moved by one access of 16 bytes; where a
 * device has none such, twelve words of four bytes and a stamp, on two lines.
 *
 * Threads   one writer of a line.
 * Owns      nothing.
 * Not here  the slots of Gyre's own rings, which are alike.
 */
#ifndef GYRE_SUITES_BARE_LINE_H
#define GYRE_SUITES_BARE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/common.h"

typedef struct __attribute__((aligned(16))) gyre_bare_quarter {
    uint64_t eight;
    uint32_t four, stamp;
} gyre_bare_quarter;

typedef struct __attribute__((aligned(64))) gyre_bare_line {
    gyre_bare_quarter quarter[4];
} gyre_bare_line;

typedef struct __attribute__((aligned(64))) gyre_bare_words {
    uint64_t word[16]; /* twelve are used */
} gyre_bare_words;

enum {
    GYRE_BARE_WORDS = 12,
    GYRE_BARE_READY = 512, /* words behind the reply */
    GYRE_BARE_FORM = 528,  /* likewise: one of the next, from a kernel of OpenCL */
};

enum { GYRE_BARE_UNKNOWN = 0, GYRE_BARE_IN_WORDS = 1, GYRE_BARE_IN_QUARTERS = 2 };

/* Tells the other side to end. */
#define GYRE_BARE_QUIT UINT32_MAX

/* One access of 16 bytes, which is what the stamp in it relies on. */
GYRE_INLINE void gyre_bare_store(gyre_bare_quarter *to, uint64_t eight, uint32_t stamp)
{
    const uint64_t high = (uint64_t)stamp << 32;

#if defined(__x86_64__)
    __asm__ volatile("movq %1, %%xmm0\n\tmovq %2, %%xmm1\n\tpunpcklqdq %%xmm1, %%xmm0\n\t"
                     "movdqa %%xmm0, %0"
                     : "=m"(*to)
                     : "r"(eight), "r"(high)
                     : "xmm0", "xmm1");
#else
    __asm__ volatile("stp %1, %2, %0" : "=Q"(*to) : "r"(eight), "r"(high));
#endif
}

/* The eight bytes of a quarter; false when it has another stamp. */
GYRE_INLINE bool gyre_bare_load(const gyre_bare_quarter *from, uint32_t stamp, uint64_t *out_eight)
{
    uint64_t high;

#if defined(__x86_64__)
    __asm__ volatile("movdqa %2, %%xmm0\n\tmovq %%xmm0, %0\n\tpunpckhqdq %%xmm0, %%xmm0\n\t"
                     "movq %%xmm0, %1"
                     : "=r"(*out_eight), "=r"(high)
                     : "m"(*from)
                     : "xmm0");
#else
    __asm__ volatile("ldp %0, %1, %2" : "=r"(*out_eight), "=r"(high) : "Q"(*from));
#endif
    return high >> 32 == stamp;
}

/* Says that a payload is written, on the reply's page, before its request: what kernels poll is
 * stored after it, and a thread of this process finds the words that it reads there. */
GYRE_INLINE void gyre_bare_publish(void *reply, uint32_t number)
{
    uint32_t *const ready = (uint32_t *)reply + GYRE_BARE_READY;

    /* release [bare-payload]: pairs with the acquire in gyre_bare_is_published; the words of the
     * payload are there */
    __atomic_store_n(ready, number, __ATOMIC_RELEASE);
#if defined(__x86_64__)
    __asm__ volatile("" : : : "memory"); /* stores stay in their order */
#else
    __asm__ volatile("dmb oshst" : : : "memory");
#endif
}

GYRE_INLINE bool gyre_bare_is_published(const void *reply, uint32_t number)
{
    const uint32_t *const ready = (const uint32_t *)reply + GYRE_BARE_READY;

    /* acquire [bare-payload]: pairs with the release in gyre_bare_publish */
    return __atomic_load_n(ready, __ATOMIC_ACQUIRE) == number;
}

GYRE_INLINE uint32_t gyre_bare_form(const void *reply)
{
    /* relaxed: it says all there is */
    return __atomic_load_n((const uint32_t *)reply + GYRE_BARE_FORM, __ATOMIC_RELAXED);
}

/* A message: its number, and at the end the inverse of it. */
GYRE_INLINE void gyre_bare_write(gyre_bare_line *line, uint64_t number, uint32_t stamp)
{
    gyre_bare_store(&line->quarter[0], number, stamp);
    gyre_bare_store(&line->quarter[1], 0, stamp);
    gyre_bare_store(&line->quarter[2], 0, stamp);
    gyre_bare_store(&line->quarter[3], ~number, stamp);
}

/* Whether all four quarters have come; the first and the last eight bytes. */
GYRE_INLINE bool gyre_bare_read(const gyre_bare_line *line, uint32_t stamp, uint64_t *out_front,
                                uint64_t *out_back)
{
    uint64_t ignored;

    return gyre_bare_load(&line->quarter[3], stamp, out_back) &&
           gyre_bare_load(&line->quarter[0], stamp, out_front) &&
           gyre_bare_load(&line->quarter[1], stamp, &ignored) &&
           gyre_bare_load(&line->quarter[2], stamp, &ignored);
}

/* The stamp at the end, which is written last: a glance. */
GYRE_INLINE uint32_t gyre_bare_stamp(const gyre_bare_line *line)
{
    return __atomic_load_n(&line->quarter[3].stamp, __ATOMIC_RELAXED); /* it says enough itself */
}

/* The same in words. relaxed: each says itself what it belongs to. */
GYRE_INLINE void gyre_bare_write_words(gyre_bare_words *line, uint64_t number, uint32_t stamp)
{
    const uint64_t upper = (uint64_t)stamp << 32;

    for (int i = 0; i < GYRE_BARE_WORDS; i++) {
        const uint64_t part = i < 2 ? number >> 32 * i : i < 10 ? 0 : ~number >> 32 * (i - 10);

        __atomic_store_n(&line->word[i], upper | (uint32_t)part, __ATOMIC_RELAXED);
    }
}

GYRE_INLINE bool gyre_bare_read_words(const gyre_bare_words *line, uint32_t stamp,
                                      uint64_t *out_front, uint64_t *out_back)
{
    uint64_t word[GYRE_BARE_WORDS];

    for (int i = GYRE_BARE_WORDS - 1; i >= 0; i--) {
        word[i] = __atomic_load_n(&line->word[i], __ATOMIC_RELAXED);
        if (word[i] >> 32 != stamp)
            return false;
    }
    *out_front = word[1] << 32 | (uint32_t)word[0];
    *out_back = word[11] << 32 | (uint32_t)word[10];
    return true;
}

#endif
