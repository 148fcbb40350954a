/* SPDX-License-Identifier: Apache-2.0
 *
 * slots: runs of the fixed-size slots of a ring, copied around its end, and runs of their marks.
 *
 * What gyre/spsc.h and gyre/mpmc.h share. A ring is an array whose length is a power of two;
 * `position & mask` is a position's slot. A mark is a byte beside a slot, shared between threads.
 *
 * Threads   as memcpy: who may touch which slot is the queue's business. Marks are read with
 *           acquire and written with release; what that orders is said where they are used.
 * Owns      nothing.
 */
#ifndef GYRE_SLOTS_H
#define GYRE_SLOTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gyre/atomic.h"
#include "gyre/common.h"

GYRE_BEGIN_DECLS

/* A few hundred bytes are copied in line when their number is a constant. Otherwise by a call: gcc,
 * when it knows a bound, prefers `rep movs`, which takes longer to start than the copy. */
GYRE_INLINE void gyre_slots_copy_(void *into, const void *from, size_t bytes)
{
    if (!(__builtin_constant_p(bytes) && bytes <= 256))
        __asm__("" : "+r"(bytes));
    memcpy(into, from, bytes);
}

/* The ring's slots from `position` on are written; `count` is at most mask + 1. */
GYRE_INLINE void gyre_slots_write(unsigned char *ring, uint64_t mask, uint64_t position,
                                  const void *from, size_t slot_size, uint64_t count)
{
    const uint64_t index = position & mask, until_end = mask + 1 - index;
    unsigned char *const at = ring + index * slot_size;

    if (count <= until_end) {
        gyre_slots_copy_(at, from, count * slot_size);
    } else {
        gyre_slots_copy_(at, from, until_end * slot_size);
        gyre_slots_copy_(ring, (const unsigned char *)from + until_end * slot_size,
                         (count - until_end) * slot_size);
    }
}

/* The ring's slots from `position` on are read. */
GYRE_INLINE void gyre_slots_read(const unsigned char *ring, uint64_t mask, uint64_t position,
                                 void *into, size_t slot_size, uint64_t count)
{
    const uint64_t index = position & mask, until_end = mask + 1 - index;
    const unsigned char *const at = ring + index * slot_size;

    if (count <= until_end) {
        gyre_slots_copy_(into, at, count * slot_size);
    } else {
        gyre_slots_copy_(into, at, until_end * slot_size);
        gyre_slots_copy_((unsigned char *)into + until_end * slot_size, ring,
                         (count - until_end) * slot_size);
    }
}

/* Eight marks at once, where they are one aligned word. Others access them as bytes meanwhile, and
 * both processors keep the order of every byte of a word; ThreadSanitizer, which pairs accesses of
 * one size only, gets bytes. */
typedef uint64_t __attribute__((may_alias)) gyre_slots_word_;
#if defined(__SANITIZE_THREAD__)
#define GYRE_SLOTS_WORDS_ 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GYRE_SLOTS_WORDS_ 0
#endif
#endif
#ifndef GYRE_SLOTS_WORDS_
#define GYRE_SLOTS_WORDS_ 1
#endif

/* How many whole words there are in `count` marks. */
GYRE_INLINE uint64_t gyre_slots_words_(const uint8_t *marks, uint64_t count)
{
    return GYRE_SLOTS_WORDS_ && (uintptr_t)marks % 8 == 0 ? count / 8 : 0;
}

/* What differs in a word that should hold eight times `mark`. */
GYRE_INLINE uint64_t gyre_slots_differ_(const uint8_t *marks, uint8_t mark)
{
    return __atomic_load_n((const gyre_slots_word_ *)(const void *)marks, __ATOMIC_ACQUIRE) ^
           mark * UINT64_C(0x0101010101010101);
}

GYRE_INLINE void gyre_slots_set_word_(uint8_t *marks, uint8_t mark)
{
    __atomic_store_n((gyre_slots_word_ *)(void *)marks, mark * UINT64_C(0x0101010101010101),
                     __ATOMIC_RELEASE);
}

/* How many of `count` marks are `mark`, up to the first that is not. Acquires those. */
GYRE_INLINE uint64_t gyre_slots_marked(const uint8_t *marks, uint8_t mark, uint64_t count)
{
    uint64_t run = 0;

    while (run < count) {
        const uint8_t *const at = marks + run;
        const uint64_t words = gyre_slots_words_(at, count - run);

        if (words >= 4 &&
            (gyre_slots_differ_(at, mark) | gyre_slots_differ_(at + 8, mark) |
             gyre_slots_differ_(at + 16, mark) | gyre_slots_differ_(at + 24, mark)) == 0)
            run += 32;
        else if (words >= 1 && gyre_slots_differ_(at, mark) == 0)
            run += 8;
        else if (gyre_load_acquire8(at) == mark)
            run++;
        else
            break;
    }
    return run;
}

/* Sets `count` marks, in no particular order. Releases. */
GYRE_INLINE void gyre_slots_mark(uint8_t *marks, uint8_t mark, uint64_t count)
{
    while (count > 0) {
        const uint64_t words = gyre_slots_words_(marks, count);
        const uint64_t step = words >= 4 ? 32 : words >= 1 ? 8 : 1;

        if (step == 1)
            gyre_store_release8(marks, mark);
        for (uint64_t i = 0; i < step / 8; i++)
            gyre_slots_set_word_(marks + 8 * i, mark);
        marks += step;
        count -= step;
    }
}

GYRE_END_DECLS

#endif
