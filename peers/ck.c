/* SPDX-License-Identifier: Apache-2.0
 *
 * ck: Concurrency Kit's ck_ring, items by value, in the variant that each work calls for.
 *
 * Threads   as peers.h says.
 * Owns      a ring and its buffer for each way.
 */
#include <ck_ring.h>
#include <stdlib.h>

#include "peers/peers.h"
#include "peers/tables.h"

CK_RING_PROTOTYPE(item8, peers_item8)
CK_RING_PROTOTYPE(item64, peers_item64)

typedef struct ring8 {
    _Alignas(128) ck_ring_t ring;
    _Alignas(128) peers_item8 buffer[PEERS_CAPACITY];
} ring8;

typedef struct ring64 {
    _Alignas(128) ck_ring_t ring;
    _Alignas(128) peers_item64 buffer[PEERS_CAPACITY];
} ring64;

static void *ring8_create(void)
{
    ring8 *r = aligned_alloc(128, sizeof *r);

    if (r)
        ck_ring_init(&r->ring, PEERS_CAPACITY);
    return r;
}

static void *ring64_create(void)
{
    ring64 *r = aligned_alloc(128, sizeof *r);

    if (r)
        ck_ring_init(&r->ring, PEERS_CAPACITY);
    return r;
}

/* The four functions of one variant for one size; ck's own names are made in the same way. */
#define VARIANT(size, variant, VARIANT_NAME)                                                       \
    static inline bool variant##size##_push(void *state, uint32_t producer,                        \
                                            const peers_item##size *item)                          \
    {                                                                                              \
        ring##size *const r = state;                                                               \
        peers_item##size copy = *item;                                                             \
                                                                                                   \
        (void)producer;                                                                            \
        return CK_RING_ENQUEUE_##VARIANT_NAME(item##size, &r->ring, r->buffer, &copy);             \
    }                                                                                              \
    static inline bool variant##size##_pop(void *state, peers_item##size *item)                    \
    {                                                                                              \
        ring##size *const r = state;                                                               \
                                                                                                   \
        return CK_RING_DEQUEUE_##VARIANT_NAME(item##size, &r->ring, r->buffer, item);              \
    }

VARIANT(8, spsc, SPSC)
VARIANT(64, spsc, SPSC)
VARIANT(8, mpmc, MPMC)
VARIANT(64, mpmc, MPMC)
VARIANT(64, mpsc, MPSC)

#define WAY spsc8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY spsc64
#define ITEM peers_item64
#include "peers/loops.h"

#define WAY mpmc8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY mpmc64
#define ITEM peers_item64
#include "peers/loops.h"

#define WAY mpsc64
#define ITEM peers_item64
#include "peers/loops.h"

static const peers_way ways[] = {
    {"spsc_cycle_8", "ck_ring spsc", "1023", "retry", "1", true, NULL, ring8_create, spsc8_cycle,
     spsc8_stream, NULL, free},
    {"spsc_cycle_64", "ck_ring spsc", "1023", "retry", "1", true, NULL, ring64_create, spsc64_cycle,
     spsc64_stream, NULL, free},
    {"mpmc_cycle_8", "ck_ring mpmc", "1023", "retry", "1", true, NULL, ring8_create, mpmc8_cycle,
     mpmc8_stream, NULL, free},
    {"mpmc_cycle_64", "ck_ring mpmc", "1023", "retry", "1", true, NULL, ring64_create, mpmc64_cycle,
     mpmc64_stream, NULL, free},
    {"stream_1p1c_64", "ck_ring spsc", "1023", "retry", "1023", true, NULL, ring64_create,
     spsc64_stream, spsc64_stream, NULL, free},
    {"stream_4p1c_64", "ck_ring mpsc", "1023", "retry", "1023", true, NULL, ring64_create,
     mpsc64_stream, mpsc64_stream, NULL, free},
    {"stream_4p1c_64", "ck_ring mpmc", "1023", "retry", "1023", true, NULL, ring64_create,
     mpmc64_stream, mpmc64_stream, NULL, free},
};

const peers_library peers_ck = {"Concurrency Kit", PEERS_VERSION, PEERS_PEER, ways,
                                sizeof ways / sizeof ways[0]};
