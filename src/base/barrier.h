/* SPDX-License-Identifier: Apache-2.0
 *
 * barrier: two barriers of unequal weight, for two sides of which one is in a hurry.
 *
 * Each side stores something and then reads what the other stored, and they must not both miss the
 * other's store. The side that comes by often puts the light barrier in between, which is nothing
 * but an instruction to the compiler; the side that comes by rarely the heavy one, which makes
 * every running thread of the process pass a full barrier. Either the store before the light one is
 * seen after the heavy one, or the store before the heavy one is seen after the light one.
 *
 * Threads   any.
 * Owns      the process's registration for membarrier(2).
 */
#ifndef GYRE_BASE_BARRIER_H
#define GYRE_BASE_BARRIER_H

#include <stdbool.h>

/* Whether the system has the heavy barrier; the first call registers for it. Without it, both sides
 * need another way. */
bool gyre_barrier_is_there(void);

/* A system call that interrupts the CPUs of the process; 1 ms where a sandbox has forbidden it.
 * Only where gyre_barrier_is_there. */
void gyre_barrier_heavy(void);

static inline void gyre_barrier_light(void)
{
    __asm__ volatile("" ::: "memory");
}

#endif
