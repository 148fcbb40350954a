// SPDX-License-Identifier: Apache-2.0
//
// boost: Boost.Lockfree's spsc_queue and queue, their capacities known at compile time.
//
// Threads   as peers.h says.
// Owns      a queue for each way.
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "peers/cpp_way.hpp"
#include "peers/peers.h"
#include "peers/tables.h"

namespace
{

template <class Item>
using spsc = boost::lockfree::spsc_queue<Item, boost::lockfree::capacity<PEERS_CAPACITY>>;
template <class Item>
using mpmc = boost::lockfree::queue<Item, boost::lockfree::capacity<PEERS_CAPACITY>>;

} // namespace

static inline bool spsc8_push(void *state, uint32_t, const peers_item8 *item)
{
    return static_cast<spsc<peers_item8> *>(state)->push(*item);
}

static inline bool spsc8_pop(void *state, peers_item8 *item)
{
    return static_cast<spsc<peers_item8> *>(state)->pop(*item);
}

static inline bool spsc64_push(void *state, uint32_t, const peers_item64 *item)
{
    return static_cast<spsc<peers_item64> *>(state)->push(*item);
}

static inline bool spsc64_pop(void *state, peers_item64 *item)
{
    return static_cast<spsc<peers_item64> *>(state)->pop(*item);
}

static inline uint32_t spsc64_push_bulk(void *state, uint32_t, const peers_item64 *items,
                                        uint32_t count)
{
    return static_cast<uint32_t>(static_cast<spsc<peers_item64> *>(state)->push(items, count));
}

static inline uint32_t spsc64_pop_bulk(void *state, peers_item64 *items, uint32_t count)
{
    return static_cast<uint32_t>(static_cast<spsc<peers_item64> *>(state)->pop(items, count));
}

static inline bool mpmc8_push(void *state, uint32_t, const peers_item8 *item)
{
    return static_cast<mpmc<peers_item8> *>(state)->push(*item);
}

static inline bool mpmc8_pop(void *state, peers_item8 *item)
{
    return static_cast<mpmc<peers_item8> *>(state)->pop(*item);
}

static inline bool mpmc64_push(void *state, uint32_t, const peers_item64 *item)
{
    return static_cast<mpmc<peers_item64> *>(state)->push(*item);
}

static inline bool mpmc64_pop(void *state, peers_item64 *item)
{
    return static_cast<mpmc<peers_item64> *>(state)->pop(*item);
}

#define WAY spsc8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY spsc64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

#define WAY mpmc8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY mpmc64
#define ITEM peers_item64
#include "peers/loops.h"

static const peers_way ways[] = {
    {"spsc_cycle_8", "lockfree::spsc_queue", "1024", "retry", "1", true, nullptr,
     way_create<spsc<peers_item8>>, spsc8_cycle, spsc8_stream, nullptr,
     way_destroy<spsc<peers_item8>>},
    {"spsc_cycle_64", "lockfree::spsc_queue", "1024", "retry", "1", true, nullptr,
     way_create<spsc<peers_item64>>, spsc64_cycle, spsc64_stream, nullptr,
     way_destroy<spsc<peers_item64>>},
    {"mpmc_cycle_8", "lockfree::queue", "1024", "retry", "1", true, nullptr,
     way_create<mpmc<peers_item8>>, mpmc8_cycle, mpmc8_stream, nullptr,
     way_destroy<mpmc<peers_item8>>},
    {"mpmc_cycle_64", "lockfree::queue", "1024", "retry", "1", true, nullptr,
     way_create<mpmc<peers_item64>>, mpmc64_cycle, mpmc64_stream, nullptr,
     way_destroy<mpmc<peers_item64>>},
    {"stream_1p1c_64", "lockfree::spsc_queue", "1024", "retry", "1024", true, nullptr,
     way_create<spsc<peers_item64>>, spsc64_stream, spsc64_stream, nullptr,
     way_destroy<spsc<peers_item64>>},
    {"stream_1p1c_64_bulk32", "lockfree::spsc_queue bulk", "1024", "retry", "1024", true, nullptr,
     way_create<spsc<peers_item64>>, spsc64_stream_bulk, spsc64_stream_bulk, nullptr,
     way_destroy<spsc<peers_item64>>},
    {"stream_4p1c_64", "lockfree::queue", "1024", "retry", "1024", true, nullptr,
     way_create<mpmc<peers_item64>>, mpmc64_stream, mpmc64_stream, nullptr,
     way_destroy<mpmc<peers_item64>>},
};

const peers_library peers_boost = {"Boost", PEERS_VERSION, PEERS_PEER, ways,
                                   sizeof ways / sizeof ways[0]};
