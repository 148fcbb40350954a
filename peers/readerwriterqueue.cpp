// SPDX-License-Identifier: Apache-2.0
//
// readerwriterqueue: moodycamel's queue from one thread to one other, which does not allocate when
// items go in by try_enqueue.
//
// Threads   as peers.h says.
// Owns      a queue for each way.
#include <readerwriterqueue.h>

#include "peers/cpp_way.hpp"
#include "peers/peers.h"
#include "peers/tables.h"

namespace
{

template <class Item> struct fixed {
    /* one item less makes it one block of 1024, of which one stays free; with 1024 it would be four
     * blocks that hold 2044 */
    moodycamel::ReaderWriterQueue<Item> queue{PEERS_CAPACITY - 1};
};

} // namespace

static inline bool rw8_push(void *state, uint32_t, const peers_item8 *item)
{
    return static_cast<fixed<peers_item8> *>(state)->queue.try_enqueue(*item);
}

static inline bool rw8_pop(void *state, peers_item8 *item)
{
    return static_cast<fixed<peers_item8> *>(state)->queue.try_dequeue(*item);
}

static inline bool rw64_push(void *state, uint32_t, const peers_item64 *item)
{
    return static_cast<fixed<peers_item64> *>(state)->queue.try_enqueue(*item);
}

static inline bool rw64_pop(void *state, peers_item64 *item)
{
    return static_cast<fixed<peers_item64> *>(state)->queue.try_dequeue(*item);
}

#define WAY rw8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY rw64
#define ITEM peers_item64
#include "peers/loops.h"

static const peers_way ways[] = {
    {"spsc_cycle_8", "ReaderWriterQueue", "1023", "retry", "1", true, nullptr,
     way_create<fixed<peers_item8>>, rw8_cycle, rw8_stream, nullptr,
     way_destroy<fixed<peers_item8>>},
    {"spsc_cycle_64", "ReaderWriterQueue", "1023", "retry", "1", true, nullptr,
     way_create<fixed<peers_item64>>, rw64_cycle, rw64_stream, nullptr,
     way_destroy<fixed<peers_item64>>},
    {"stream_1p1c_64", "ReaderWriterQueue", "1023", "retry", "1024", true, nullptr,
     way_create<fixed<peers_item64>>, rw64_stream, rw64_stream, nullptr,
     way_destroy<fixed<peers_item64>>},
};

const peers_library peers_readerwriterqueue = {"ReaderWriterQueue", PEERS_VERSION, PEERS_PEER, ways,
                                               sizeof ways / sizeof ways[0]};
