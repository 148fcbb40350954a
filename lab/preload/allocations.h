/* SPDX-License-Identifier: Apache-2.0
 *
 * allocations: what the counting library (allocations.c) shows to the program it is put in front
 * of.
 *
 * Threads   any thread adds, any thread reads.
 */
#ifndef GYRE_PRELOAD_ALLOCATIONS_H
#define GYRE_PRELOAD_ALLOCATIONS_H

#include <stdint.h>

#include "gyre/atomic.h"

#define GYRE_ALLOCATIONS_SYMBOL "gyre_allocations_made"

/* Sums since the process began; realloc counts as one allocation of its new size. */
typedef struct gyre_allocations {
    uint64_t calls, bytes;
} gyre_allocations;

#endif
