/* SPDX-License-Identifier: Apache-2.0
 *
 * gyre_queues: the works on queues, with gyre_spsc and gyre_mpmc, as their users would.
 *
 * Copies in and out, as the peers do; the slot size is a constant, as the headers recommend.
 *
 * Threads   as peers.h says.
 * Owns      a queue and its storage for each way.
 */
#include <stdlib.h>

#include "gyre/mpmc.h"
#include "gyre/spsc.h"
#include "peers/gyre_step.h"
#include "peers/peers.h"

typedef struct spsc {
    gyre_spsc queue;
    unsigned char slots[];
} spsc;

static void *spsc_create(size_t item_bytes)
{
    spsc *s = aligned_alloc(128, (sizeof *s + PEERS_CAPACITY * item_bytes + 127) / 128 * 128);

    if (s && gyre_spsc_init(&s->queue, s->slots, item_bytes, PEERS_CAPACITY) == GYRE_OK)
        return s;
    free(s);
    return NULL;
}

static void *spsc8_create(void)
{
    return spsc_create(sizeof(peers_item8));
}

static void *spsc64_create(void)
{
    return spsc_create(sizeof(peers_item64));
}

static inline bool spsc8_push(void *state, uint32_t producer, const peers_item8 *item)
{
    (void)producer;
    return gyre_spsc_push(&((spsc *)state)->queue, item, sizeof *item);
}

static inline bool spsc8_pop(void *state, peers_item8 *item)
{
    return gyre_spsc_pop(&((spsc *)state)->queue, item, sizeof *item);
}

static inline bool spsc64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    (void)producer;
    return gyre_spsc_push(&((spsc *)state)->queue, item, sizeof *item);
}

static inline bool spsc64_pop(void *state, peers_item64 *item)
{
    return gyre_spsc_pop(&((spsc *)state)->queue, item, sizeof *item);
}

static inline uint32_t spsc64_push_bulk(void *state, uint32_t producer, const peers_item64 *items,
                                        uint32_t count)
{
    (void)producer;
    return (uint32_t)gyre_spsc_push_bulk(&((spsc *)state)->queue, items, sizeof *items, count);
}

static inline uint32_t spsc64_pop_bulk(void *state, peers_item64 *items, uint32_t count)
{
    return (uint32_t)gyre_spsc_pop_bulk(&((spsc *)state)->queue, items, sizeof *items, count);
}

#define WAY spsc8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY spsc64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

typedef struct mpmc {
    gyre_mpmc queue;
    unsigned char storage[];
} mpmc;

static void *mpmc_create(size_t item_bytes)
{
    size_t bytes;
    mpmc *m;

    if (gyre_mpmc_storage_bytes(item_bytes, PEERS_CAPACITY, &bytes) != GYRE_OK)
        return NULL;
    m = aligned_alloc(128, (sizeof *m + bytes + 127) / 128 * 128);
    if (m && gyre_mpmc_init(&m->queue, m->storage, item_bytes, PEERS_CAPACITY) == GYRE_OK)
        return m;
    free(m);
    return NULL;
}

static void *mpmc8_create(void)
{
    return mpmc_create(sizeof(peers_item8));
}

static void *mpmc64_create(void)
{
    return mpmc_create(sizeof(peers_item64));
}

static inline bool mpmc8_push(void *state, uint32_t producer, const peers_item8 *item)
{
    (void)producer;
    return gyre_mpmc_push(&((mpmc *)state)->queue, item, sizeof *item);
}

static inline bool mpmc8_pop(void *state, peers_item8 *item)
{
    return gyre_mpmc_pop(&((mpmc *)state)->queue, item, sizeof *item);
}

static inline uint32_t mpmc8_push_bulk(void *state, uint32_t producer, const peers_item8 *items,
                                       uint32_t count)
{
    (void)producer;
    return (uint32_t)gyre_mpmc_push_bulk(&((mpmc *)state)->queue, items, sizeof *items, count);
}

static inline uint32_t mpmc8_pop_bulk(void *state, peers_item8 *items, uint32_t count)
{
    return (uint32_t)gyre_mpmc_pop_bulk(&((mpmc *)state)->queue, items, sizeof *items, count);
}

static inline bool mpmc64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    (void)producer;
    return gyre_mpmc_push(&((mpmc *)state)->queue, item, sizeof *item);
}

static inline bool mpmc64_pop(void *state, peers_item64 *item)
{
    return gyre_mpmc_pop(&((mpmc *)state)->queue, item, sizeof *item);
}

#define WAY mpmc8
#define ITEM peers_item8
#define BULK
#include "peers/loops.h"

#define WAY mpmc64
#define ITEM peers_item64
#include "peers/loops.h"

static const char another[] = "another of Gyre's queues";

static const peers_way ways[] = {
    {"spsc_cycle_8", "gyre_spsc", "1024", "retry", "1", true, NULL, spsc8_create, spsc8_cycle,
     spsc8_stream, NULL, free},
    {"spsc_cycle_64", "gyre_spsc", "1024", "retry", "1", true, NULL, spsc64_create, spsc64_cycle,
     spsc64_stream, NULL, free},
    {"mpmc_cycle_8", "gyre_mpmc", "1024", "retry", "1", true, NULL, mpmc8_create, mpmc8_cycle,
     mpmc8_stream, NULL, free},
    {"mpmc_cycle_64", "gyre_mpmc", "1024", "retry", "1", true, NULL, mpmc64_create, mpmc64_cycle,
     mpmc64_stream, NULL, free},
    {"mpmc_bulk32_cycle_8", "gyre_mpmc bulk", "1024", "retry", "32", true, NULL, mpmc8_create,
     mpmc8_cycle_bulk, mpmc8_stream_bulk, NULL, free},
    {"stream_1p1c_64", "gyre_spsc", "1024", "retry", "1024", true, NULL, spsc64_create,
     spsc64_stream, spsc64_stream, NULL, free},
    {"stream_1p1c_64", "gyre_mpmc", "1024", "retry", "1024", true, another, mpmc64_create,
     mpmc64_stream, mpmc64_stream, NULL, free},
    {"stream_1p1c_64_bulk32", "gyre_spsc bulk", "1024", "retry", "1024", true, NULL, spsc64_create,
     spsc64_stream_bulk, spsc64_stream_bulk, NULL, free},
    {"stream_4p1c_64", "gyre_mpmc", "1024", "retry", "1024", true, NULL, mpmc64_create,
     mpmc64_stream, mpmc64_stream, NULL, free},
};

const peers_library peers_gyre_queues = {"Gyre", PEERS_GYRE_VERSION, PEERS_GYRE, ways,
                                         sizeof ways / sizeof ways[0]};
