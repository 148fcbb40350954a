/* SPDX-License-Identifier: Apache-2.0
 *
 * buffers: the table behind the ids. See gyre/buffers.h and buffers.c.
 */
#ifndef GYRE_MEM_BUFFERS_H
#define GYRE_MEM_BUFFERS_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "gyre/buffers.h"

enum {
    GYRE_BUFFERS_MOST = 1 << 24, /* places: what the index of an id can say */
    GYRE_BUFFERS_FIRST = 256,    /* in the first chunk; the others double what was there before */
    GYRE_BUFFERS_CHUNKS = 17,
};

/* The parts of a place's word, from the lowest bit on. An id is the generation and, in place of the
 * rest, the index. */
#define GYRE_BUFFER_ALONE (UINT64_C(1) << 22)  /* somebody writes; below: how many read */
#define GYRE_BUFFER_SOUGHT (UINT64_C(1) << 23) /* somebody sleeps until all have left */
#define GYRE_BUFFER_LIVE (UINT64_C(1) << 24)   /* the generation's lowest bit */
#define GYRE_BUFFER_GENERATION (~(GYRE_BUFFER_LIVE - 1))

/* A line of its own, so that those who use neighbours do not disturb each other. */
typedef struct gyre_buffer_place {
    alignas(64) _Atomic uint64_t word;
    _Atomic size_t size;
    void *block;
    _Atomic uint32_t next; /* of a free place: index + 1 of the one below, 0 for none */
} gyre_buffer_place;

struct gyre_buffers {
    gyre_pool *pool;
    gyre_pool *own_pool; /* the same, or NULL when it is the caller's */
    gyre_allocator allocator;
    uint32_t most_count;
    _Atomic(gyre_buffer_place *) chunks[GYRE_BUFFERS_CHUNKS];
    pthread_mutex_t lock; /* of what grows: chunks, made, retired */
    _Atomic uint32_t made;
    uint32_t retired;
    alignas(64) _Atomic uint64_t free; /* index + 1 of the top one, and above it a tag */
};

/* The place of an index, NULL when its chunk is not there yet. */
gyre_buffer_place *gyre_buffers_place(const gyre_buffers *buffers, uint32_t index);

#endif
