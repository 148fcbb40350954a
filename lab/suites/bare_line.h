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
#include "suites/actor_message.h"

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

/* A quarter in a register: the eight, and the stamp above the four. */
typedef gyre_message_pair gyre_bare_pair;

/* A message that is to be written, or has come: lines of both kinds carry the same. */
typedef struct gyre_bare_body {
    gyre_bare_pair quarter[4]; /* the first eight is the number, the last the inverse of it */
} gyre_bare_body;

enum {
    GYRE_BARE_WORDS = 12,
    GYRE_BARE_READY = 512, /* words behind the reply */
    GYRE_BARE_FORM = 528,  /* likewise: one of the next, from a kernel of OpenCL */
};

enum { GYRE_BARE_UNKNOWN = 0, GYRE_BARE_IN_WORDS = 1, GYRE_BARE_IN_QUARTERS = 2 };

/* Tells the other side to end. */
#define GYRE_BARE_QUIT UINT32_MAX

/* One access of 16 bytes, which is what the stamp in it relies on. */
GYRE_INLINE void gyre_bare_store(gyre_bare_quarter *to, gyre_bare_pair pair)
{
#if defined(__x86_64__)
    __asm__ volatile("movdqa %1, %0" : "=m"(*to) : "x"(pair));
#else
    __asm__ volatile("stp %1, %2, %0" : "=Q"(*to) : "r"(pair[0]), "r"(pair[1]));
#endif
}

/* False when it has another stamp. */
GYRE_INLINE bool gyre_bare_load(const gyre_bare_quarter *from, uint32_t stamp,
                                gyre_bare_pair *out_pair)
{
    gyre_bare_pair pair = {0, 0};

#if defined(__x86_64__)
    __asm__ volatile("movdqa %1, %0" : "=x"(pair) : "m"(*from));
#else
    uint64_t low, high;

    __asm__ volatile("ldp %0, %1, %2" : "=r"(low), "=r"(high) : "Q"(*from));
    pair = (gyre_bare_pair){low, high};
#endif
    *out_pair = pair;
    return pair[1] >> 32 == stamp;
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

GYRE_INLINE gyre_bare_body gyre_bare_make(uint64_t number, uint32_t stamp)
{
    const gyre_bare_pair plain = {number, (uint64_t)stamp << 32 | (uint32_t)number};

    return (gyre_bare_body){{
        plain,
        plain ^ (gyre_bare_pair){gyre_message_long(0, 1), 0},
        plain ^ (gyre_bare_pair){gyre_message_long(0, 2), 0},
        plain ^ (gyre_bare_pair){gyre_message_long(0, GYRE_MESSAGE_LONGS - 1), 0},
    }};
}

/* Whether it is what gyre_bare_make makes. */
GYRE_INLINE bool gyre_bare_is(const gyre_bare_body *body, uint64_t number, uint32_t stamp)
{
    const gyre_bare_body made = gyre_bare_make(number, stamp);
    gyre_bare_pair wrong = body->quarter[0] ^ made.quarter[0];

    for (int i = 1; i < 4; i++)
        wrong |= body->quarter[i] ^ made.quarter[i];
    return (wrong[0] | wrong[1]) == 0;
}

GYRE_INLINE void gyre_bare_put(gyre_bare_line *line, const gyre_bare_body *body)
{
    for (int i = 0; i < 4; i++)
        gyre_bare_store(&line->quarter[i], body->quarter[i]);
}

/* Whether all four quarters have come; what they carry. */
GYRE_INLINE bool gyre_bare_take(const gyre_bare_line *line, uint32_t stamp,
                                gyre_bare_body *out_body)
{
    return gyre_bare_load(&line->quarter[3], stamp, &out_body->quarter[3]) &&
           gyre_bare_load(&line->quarter[0], stamp, &out_body->quarter[0]) &&
           gyre_bare_load(&line->quarter[1], stamp, &out_body->quarter[1]) &&
           gyre_bare_load(&line->quarter[2], stamp, &out_body->quarter[2]);
}

/* A message by its number. */
GYRE_INLINE void gyre_bare_write(gyre_bare_line *line, uint64_t number, uint32_t stamp)
{
    const gyre_bare_body body = gyre_bare_make(number, stamp);

    gyre_bare_put(line, &body);
}

/* The first and the last eight bytes of one that has come. */
GYRE_INLINE bool gyre_bare_read(const gyre_bare_line *line, uint32_t stamp, uint64_t *out_front,
                                uint64_t *out_back)
{
    gyre_bare_body body;

    if (!gyre_bare_take(line, stamp, &body))
        return false;
    *out_front = body.quarter[0][0];
    *out_back = body.quarter[3][0];
    return true;
}

/* The stamp at the end, which is written last: a glance. */
GYRE_INLINE uint32_t gyre_bare_stamp(const gyre_bare_line *line)
{
    return __atomic_load_n(&line->quarter[3].stamp, __ATOMIC_RELAXED); /* it says enough itself */
}

/* The same in words. relaxed: each says itself what it belongs to. */
GYRE_INLINE void gyre_bare_write_words(gyre_bare_words *line, uint64_t number, uint32_t stamp)
{
    const gyre_bare_body body = gyre_bare_make(number, stamp);
    const uint64_t upper = (uint64_t)stamp << 32;

    for (int i = 0; i < GYRE_BARE_WORDS; i++) {
        const uint64_t part =
            i < 8 ? body.quarter[i / 2][0] >> 32 * (i % 2) : body.quarter[i - 8][1];

        __atomic_store_n(&line->word[i], upper | (uint32_t)part, __ATOMIC_RELAXED);
    }
}

GYRE_INLINE bool gyre_bare_take_words(const gyre_bare_words *line, uint32_t stamp,
                                      gyre_bare_body *out_body)
{
    uint64_t word[GYRE_BARE_WORDS];

    for (int i = GYRE_BARE_WORDS - 1; i >= 0; i--) {
        word[i] = __atomic_load_n(&line->word[i], __ATOMIC_RELAXED);
        if (word[i] >> 32 != stamp)
            return false;
    }
    for (int i = 0; i < 4; i++)
        out_body->quarter[i] =
            (gyre_bare_pair){word[2 * i + 1] << 32 | (uint32_t)word[2 * i], word[8 + i]};
    return true;
}

GYRE_INLINE bool gyre_bare_read_words(const gyre_bare_words *line, uint32_t stamp,
                                      uint64_t *out_front, uint64_t *out_back)
{
    gyre_bare_body body;

    if (!gyre_bare_take_words(line, stamp, &body))
        return false;
    *out_front = body.quarter[0][0];
    *out_back = body.quarter[3][0];
    return true;
}

#endif
