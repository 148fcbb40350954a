/* SPDX-License-Identifier: Apache-2.0
 *
 * arena: see arena.h.
 *
 * Each piece is one allocation with a header that links it to the others: there are few of them.
 */
#include "bench/arena.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

typedef struct gyre_arena_block {
    struct gyre_arena_block *next;
    size_t size; /* of all, this header included */
    _Alignas(64) char bytes[];
} gyre_arena_block;

void *gyre_arena_array(gyre_arena *arena, size_t count, size_t size)
{
    gyre_arena_block *header;
    size_t bytes;
    void *block;

    if (!gyre_size_multiply(count, size, &bytes) || !gyre_size_add(bytes, sizeof *header, &bytes) ||
        gyre_alloc(NULL, 1, bytes, &block) != GYRE_OK) {
        arena->exhausted = true;
        return NULL;
    }
    header = block;
    header->size = bytes;
    header->next = arena->blocks;
    arena->blocks = header;
    return header->bytes;
}

const char *gyre_arena_bytes(gyre_arena *arena, const char *text, size_t length)
{
    char *copy = gyre_arena_array(arena, length + 1, 1);

    if (!copy)
        return "";
    memcpy(copy, text, length);
    return copy;
}

const char *gyre_arena_text(gyre_arena *arena, const char *text)
{
    return text ? gyre_arena_bytes(arena, text, strlen(text)) : NULL;
}

const char *gyre_arena_vprint(gyre_arena *arena, const char *format, va_list values)
{
    char text[512];

    if (vsnprintf(text, sizeof text, format, values) < 0)
        return "";
    return gyre_arena_text(arena, text);
}

const char *gyre_arena_print(gyre_arena *arena, const char *format, ...)
{
    const char *text;
    va_list values;

    va_start(values, format);
    text = gyre_arena_vprint(arena, format, values);
    va_end(values);
    return text;
}

void gyre_arena_fini(gyre_arena *arena)
{
    while (arena->blocks) {
        gyre_arena_block *block = arena->blocks;

        arena->blocks = block->next;
        gyre_free(NULL, block, 1, block->size);
    }
    arena->exhausted = false;
}
