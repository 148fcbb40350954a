// SPDX-License-Identifier: Apache-2.0
//
// tbb: oneTBB's concurrent_bounded_queue, and concurrent_queue, which grows.
//
// Threads   as peers.h says.
// Owns      a queue for each way.
#include <tbb/concurrent_queue.h>

#include "peers/cpp_way.hpp"
#include "peers/peers.h"
#include "peers/tables.h"

namespace
{

template <class Item> struct fixed {
    tbb::concurrent_bounded_queue<Item> queue;

    fixed()
    {
        queue.set_capacity(PEERS_CAPACITY);
    }
};

template <class Item> struct growing {
    tbb::concurrent_queue<Item> queue;
};

} // namespace

static inline bool fixed8_push(void *state, uint32_t, const peers_item8 *item)
{
    return static_cast<fixed<peers_item8> *>(state)->queue.try_push(*item);
}

static inline bool fixed8_pop(void *state, peers_item8 *item)
{
    return static_cast<fixed<peers_item8> *>(state)->queue.try_pop(*item);
}

static inline bool fixed64_push(void *state, uint32_t, const peers_item64 *item)
{
    return static_cast<fixed<peers_item64> *>(state)->queue.try_push(*item);
}

static inline bool fixed64_pop(void *state, peers_item64 *item)
{
    return static_cast<fixed<peers_item64> *>(state)->queue.try_pop(*item);
}

static inline bool grow8_push(void *state, uint32_t, const peers_item8 *item)
{
    static_cast<growing<peers_item8> *>(state)->queue.push(*item);
    return true;
}

static inline bool grow8_pop(void *state, peers_item8 *item)
{
    return static_cast<growing<peers_item8> *>(state)->queue.try_pop(*item);
}

static inline bool grow64_push(void *state, uint32_t, const peers_item64 *item)
{
    static_cast<growing<peers_item64> *>(state)->queue.push(*item);
    return true;
}

static inline bool grow64_pop(void *state, peers_item64 *item)
{
    return static_cast<growing<peers_item64> *>(state)->queue.try_pop(*item);
}

#define WAY fixed8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY fixed64
#define ITEM peers_item64
#include "peers/loops.h"

#define WAY grow8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY grow64
#define ITEM peers_item64
#include "peers/loops.h"

static const peers_way ways[] = {
    {"mpmc_cycle_8", "concurrent_bounded_queue", "1024", "retry", "1", true, nullptr,
     way_create<fixed<peers_item8>>, fixed8_cycle, fixed8_stream, nullptr,
     way_destroy<fixed<peers_item8>>},
    {"mpmc_cycle_8", "concurrent_queue", "none", "grow", "1", true, nullptr,
     way_create<growing<peers_item8>>, grow8_cycle, grow8_stream, nullptr,
     way_destroy<growing<peers_item8>>},
    {"mpmc_cycle_64", "concurrent_bounded_queue", "1024", "retry", "1", true, nullptr,
     way_create<fixed<peers_item64>>, fixed64_cycle, fixed64_stream, nullptr,
     way_destroy<fixed<peers_item64>>},
    {"mpmc_cycle_64", "concurrent_queue", "none", "grow", "1", true, nullptr,
     way_create<growing<peers_item64>>, grow64_cycle, grow64_stream, nullptr,
     way_destroy<growing<peers_item64>>},
    {"stream_1p1c_64", "concurrent_bounded_queue", "1024", "retry", "1024", true, nullptr,
     way_create<fixed<peers_item64>>, fixed64_stream, fixed64_stream, nullptr,
     way_destroy<fixed<peers_item64>>},
    {"stream_4p1c_64", "concurrent_bounded_queue", "1024", "retry", "1024", true, nullptr,
     way_create<fixed<peers_item64>>, fixed64_stream, fixed64_stream, nullptr,
     way_destroy<fixed<peers_item64>>},
};

const peers_library peers_tbb = {"oneTBB", PEERS_VERSION, PEERS_PEER, ways,
                                 sizeof ways / sizeof ways[0]};
