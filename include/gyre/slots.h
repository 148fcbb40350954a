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

#include <stdbool.h>
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

GYRE_INLINE uint64_t gyre_slots_word_of_(uint8_t mark)
{
    return mark * UINT64_C(0x0101010101010101);
}

GYRE_INLINE uint64_t gyre_slots_load_word_(const uint8_t *marks)
{
    return __atomic_load_n((const gyre_slots_word_ *)(const void *)marks, __ATOMIC_ACQUIRE);
}

GYRE_INLINE void gyre_slots_store_word_(uint8_t *marks, uint64_t word)
{
    __atomic_store_n((gyre_slots_word_ *)(void *)marks, word, __ATOMIC_RELEASE);
}

/* Whether all of `count` marks, which are whole words, are `mark`. Acquires them. */
GYRE_INLINE bool gyre_slots_all_marked(const uint8_t *marks, uint8_t mark, uint64_t count)
{
    const uint64_t word = gyre_slots_word_of_(mark);
    uint64_t differ = 0;

    for (; count >= 32; marks += 32, count -= 32) /* once for 32, and folds */
        differ |=
            (gyre_slots_load_word_(marks) ^ word) | (gyre_slots_load_word_(marks + 8) ^ word) |
            (gyre_slots_load_word_(marks + 16) ^ word) | (gyre_slots_load_word_(marks + 24) ^ word);
    for (; count > 0; marks += 8, count -= 8)
        differ |= gyre_slots_load_word_(marks) ^ word;
    return differ == 0;
}

/* Sets `count` marks, which are whole words, in no particular order. Releases. */
GYRE_INLINE void gyre_slots_mark_all(uint8_t *marks, uint8_t mark, uint64_t count)
{
    const uint64_t word = gyre_slots_word_of_(mark);

    for (; count >= 32; marks += 32, count -= 32) {
        gyre_slots_store_word_(marks, word);
        gyre_slots_store_word_(marks + 8, word);
        gyre_slots_store_word_(marks + 16, word);
        gyre_slots_store_word_(marks + 24, word);
    }
    for (; count > 0; marks += 8, count -= 8)
        gyre_slots_store_word_(marks, word);
}

GYRE_END_DECLS

#endif
