/* SPDX-License-Identifier: Apache-2.0
 *
 * word: words that a stream writes or waits for, as the host sees them.
 *
 * A word may be the upper half of eight bytes that others move as one: the stamp of a slot
 * (flow/ring_abi.h). The thread sanitizer pairs accesses by where they begin, so it is shown one of
 * all eight as well.
 *
 * Threads   any. Edge: [stream-word].
 * Owns      nothing.
 */
#ifndef GYRE_DEV_WORD_H
#define GYRE_DEV_WORD_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define GYRE_WORD_SHOW_(at, access)                                                                \
    do {                                                                                           \
        if ((uintptr_t)(at) % 8 == 4) {                                                            \
            uint64_t *const whole = (uint64_t *)(void *)((at)-1);                                  \
                                                                                                   \
            access;                                                                                \
        }                                                                                          \
    } while (0)
#else
#define GYRE_WORD_SHOW_(at, access) ((void)0)
#endif

static inline uint32_t gyre_word_load(uint32_t *at)
{
    /* acquire [stream-word]: pairs with gyre_word_store, or who else wrote it */
    const uint32_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

    GYRE_WORD_SHOW_(at, (void)__atomic_load_n(whole, __ATOMIC_ACQUIRE));
    return word;
}

static inline bool gyre_word_is(uint32_t *at, uint32_t value)
{
    return gyre_word_load(at) == value;
}

static inline void gyre_word_store(uint32_t *at, uint32_t value)
{
    GYRE_WORD_SHOW_(at, (void)__atomic_fetch_add(whole, 0, __ATOMIC_RELEASE));
    /* release [stream-word]: what was done before can be seen by who sees the word */
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

#endif
