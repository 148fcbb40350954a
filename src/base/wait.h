/* SPDX-License-Identifier: Apache-2.0
 *
 * wait: the two halves of waiting, for those that sleep in their own way. See gyre/park.h.
 *
 * Threads   any.
 * Owns      nothing.
 */
#ifndef GYRE_BASE_WAIT_H
#define GYRE_BASE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/park.h"

/* Tells the core that this is a spin loop. */
static inline void gyre_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("isb" ::: "memory"); /* yield does nothing on most cores; isb waits a little */
#endif
}

/* Whether GYRE_SPIN allows to spin at all. */
bool gyre_may_spin(void);

/* Asks `ready` again and again for as long as spinning pays, and no longer than the deadline. True
 * when it said so; false when it is time to sleep, or too late. */
GYRE_MUST_USE bool gyre_spin_until(gyre_spin *spin, bool (*ready)(void *arg), void *arg,
                                   uint64_t deadline_ns);

/* Sleeps while *word is `value`, at most until the deadline; may return early for no reason. */
void gyre_futex_sleep(const uint32_t *word, uint32_t value, uint64_t deadline_ns);

/* Wakes up to `count` threads of this process that sleep on the word. */
void gyre_futex_wake(const uint32_t *word, uint32_t count);

#endif
