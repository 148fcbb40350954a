/* SPDX-License-Identifier: Apache-2.0
 *
 * arena: texts and arrays that all go at once, with whatever they belong to.
 *
 * Running out of memory is remembered, so that many small pieces can be asked for and the question
 * be put once, at the end.
 *
 * Threads   one at a time.
 * Owns      what it gave out, until gyre_arena_fini.
 */
#ifndef GYRE_BENCH_ARENA_H
#define GYRE_BENCH_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"

/* Zero is an empty one. */
typedef struct gyre_arena {
    struct gyre_arena_block *blocks;
    bool exhausted; /* memory ran out: something is missing */
} gyre_arena;

/* Zeroed memory; NULL, and `exhausted`, when there is none. */
void *gyre_arena_array(gyre_arena *arena, size_t count, size_t size);

/* A terminated copy; NULL stays NULL; "" when memory ran out. */
const char *gyre_arena_text(gyre_arena *arena, const char *text);
const char *gyre_arena_bytes(gyre_arena *arena, const char *text, size_t length);

/* Formatted as by printf, cut at 511 bytes. */
const char *gyre_arena_print(gyre_arena *arena, const char *format, ...) GYRE_PRINTF(2, 3);
const char *gyre_arena_vprint(gyre_arena *arena, const char *format, va_list values)
    GYRE_PRINTF(2, 0);

void gyre_arena_fini(gyre_arena *arena);

#endif
