/* SPDX-License-Identifier: Apache-2.0
 *
 * dpdk: rte_ring without the environment around it, items by value.
 *
 * MP/MC are the ring's default producers and consumers; RTS and HTS are the modes that DPDK
 * recommends where threads outnumber cores.
 *
 * Threads   as peers.h says.
 * Owns      a ring for each way.
 */
#include <stdlib.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "peers/peers.h"
#include "peers/tables.h"

static void *ring_create(unsigned item_bytes, unsigned flags)
{
    const ssize_t bytes = rte_ring_get_memsize_elem(item_bytes, PEERS_CAPACITY);
    struct rte_ring *ring;

    if (bytes < 0)
        return NULL;
    ring = aligned_alloc(128, ((size_t)bytes + 127) / 128 * 128);
    if (ring && rte_ring_init(ring, "peers", PEERS_CAPACITY, flags) == 0)
        return ring;
    free(ring);
    return NULL;
}

static void *plain8_create(void)
{
    return ring_create(sizeof(peers_item8), 0);
}

static void *plain64_create(void)
{
    return ring_create(sizeof(peers_item64), 0);
}

static void *rts8_create(void)
{
    return ring_create(sizeof(peers_item8), RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ);
}

static void *rts64_create(void)
{
    return ring_create(sizeof(peers_item64), RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ);
}

static void *hts8_create(void)
{
    return ring_create(sizeof(peers_item8), RING_F_MP_HTS_ENQ | RING_F_MC_HTS_DEQ);
}

static void *hts64_create(void)
{
    return ring_create(sizeof(peers_item64), RING_F_MP_HTS_ENQ | RING_F_MC_HTS_DEQ);
}

/* The functions of one kind of producer and consumer for one size; `enqueue` and `dequeue` are what
 * stands between rte_ring_ and _elem in DPDK's names. */
#define KIND(way, size, enqueue, dequeue)                                                          \
    static inline bool way##_push(void *state, uint32_t producer, const peers_item##size *item)    \
    {                                                                                              \
        peers_item##size copy = *item;                                                             \
                                                                                                   \
        (void)producer;                                                                            \
        return rte_ring_##enqueue##_elem(state, &copy, sizeof copy) == 0;                          \
    }                                                                                              \
    static inline bool way##_pop(void *state, peers_item##size *item)                              \
    {                                                                                              \
        return rte_ring_##dequeue##_elem(state, item, sizeof *item) == 0;                          \
    }
#define KIND_BULK(way, size, enqueue, dequeue)                                                     \
    static inline uint32_t way##_push_bulk(void *state, uint32_t producer,                         \
                                           const peers_item##size *items, uint32_t count)          \
    {                                                                                              \
        (void)producer;                                                                            \
        return rte_ring_##enqueue##_burst_elem(state, items, sizeof *items, count, NULL);          \
    }                                                                                              \
    static inline uint32_t way##_pop_bulk(void *state, peers_item##size *items, uint32_t count)    \
    {                                                                                              \
        return rte_ring_##dequeue##_burst_elem(state, items, sizeof *items, count, NULL);          \
    }

KIND(sp8, 8, sp_enqueue, sc_dequeue)
KIND(sp64, 64, sp_enqueue, sc_dequeue)
KIND_BULK(sp64, 64, sp_enqueue, sc_dequeue)
KIND(mp8, 8, mp_enqueue, mc_dequeue)
KIND_BULK(mp8, 8, mp_enqueue, mc_dequeue)
KIND(mp64, 64, mp_enqueue, mc_dequeue)
KIND_BULK(mp64, 64, mp_enqueue, mc_dequeue)
KIND(any8, 8, enqueue, dequeue) /* as the ring was created */
KIND_BULK(any8, 8, enqueue, dequeue)
KIND(any64, 64, enqueue, dequeue)

#define WAY sp8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY sp64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

#define WAY mp8
#define ITEM peers_item8
#define BULK
#include "peers/loops.h"

#define WAY mp64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

#define WAY any8
#define ITEM peers_item8
#define BULK
#include "peers/loops.h"

#define WAY any64
#define ITEM peers_item64
#include "peers/loops.h"

static const peers_way ways[] = {
    {"spsc_cycle_8", "rte_ring SP/SC", "1023", "retry", "1", true, NULL, plain8_create, sp8_cycle,
     sp8_stream, NULL, free},
    {"spsc_cycle_64", "rte_ring SP/SC", "1023", "retry", "1", true, NULL, plain64_create,
     sp64_cycle, sp64_stream, NULL, free},
    {"mpmc_cycle_8", "rte_ring MP/MC", "1023", "retry", "1", true, NULL, plain8_create, mp8_cycle,
     mp8_stream, NULL, free},
    {"mpmc_cycle_8", "rte_ring RTS", "1023", "retry", "1", true, NULL, rts8_create, any8_cycle,
     any8_stream, NULL, free},
    {"mpmc_cycle_8", "rte_ring HTS", "1023", "retry", "1", true, NULL, hts8_create, any8_cycle,
     any8_stream, NULL, free},
    {"mpmc_cycle_64", "rte_ring MP/MC", "1023", "retry", "1", true, NULL, plain64_create,
     mp64_cycle, mp64_stream, NULL, free},
    {"mpmc_cycle_64", "rte_ring RTS", "1023", "retry", "1", true, NULL, rts64_create, any64_cycle,
     any64_stream, NULL, free},
    {"mpmc_cycle_64", "rte_ring HTS", "1023", "retry", "1", true, NULL, hts64_create, any64_cycle,
     any64_stream, NULL, free},
    {"mpmc_bulk32_cycle_8", "rte_ring burst MP/MC", "1023", "retry", "32", true, NULL,
     plain8_create, mp8_cycle_bulk, mp8_stream_bulk, NULL, free},
    {"mpmc_bulk32_cycle_8", "rte_ring burst RTS", "1023", "retry", "32", true, NULL, rts8_create,
     any8_cycle_bulk, any8_stream_bulk, NULL, free},
    {"mpmc_bulk32_cycle_8", "rte_ring burst HTS", "1023", "retry", "32", true, NULL, hts8_create,
     any8_cycle_bulk, any8_stream_bulk, NULL, free},
    {"stream_1p1c_64", "rte_ring SP/SC", "1023", "retry", "1023", true, NULL, plain64_create,
     sp64_stream, sp64_stream, NULL, free},
    {"stream_1p1c_64", "rte_ring MP/MC", "1023", "retry", "1023", true, NULL, plain64_create,
     mp64_stream, mp64_stream, NULL, free},
    {"stream_1p1c_64_bulk32", "rte_ring burst SP/SC", "1023", "retry", "1023", true, NULL,
     plain64_create, sp64_stream_bulk, sp64_stream_bulk, NULL, free},
    {"stream_1p1c_64_bulk32", "rte_ring burst MP/MC", "1023", "retry", "1023", true, NULL,
     plain64_create, mp64_stream_bulk, mp64_stream_bulk, NULL, free},
    {"stream_4p1c_64", "rte_ring MP/MC", "1023", "retry", "1023", true, NULL, plain64_create,
     mp64_stream, mp64_stream, NULL, free},
    {"stream_4p1c_64", "rte_ring RTS", "1023", "retry", "1023", true, NULL, rts64_create,
     any64_stream, any64_stream, NULL, free},
    {"stream_4p1c_64", "rte_ring HTS", "1023", "retry", "1023", true, NULL, hts64_create,
     any64_stream, any64_stream, NULL, free},
};

const peers_library peers_dpdk = {"DPDK", PEERS_VERSION, PEERS_PEER, ways,
                                  sizeof ways / sizeof ways[0]};
