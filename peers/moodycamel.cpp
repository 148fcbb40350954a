// SPDX-License-Identifier: Apache-2.0
//
// moodycamel: ConcurrentQueue with tokens, which its author recommends where speed matters.
//
// It grows without end unless told not to. With one producer try_enqueue bounds it, which never
// allocates: a queue created for 1024 items is full when its blocks are. With several, one of them
// may take all blocks and keep them for itself, so there each producer counts what it has on its
// way: no more than a quarter of 1024, and the consumer tells every 32 items how far it is.
//
// Threads   as peers.h says.
// Owns      a queue and its tokens for each way.
#include <atomic>

#include <concurrentqueue.h>

#include "peers/cpp_way.hpp"
#include "peers/peers.h"
#include "peers/tables.h"

namespace
{

template <class Item> struct bounded {
    moodycamel::ConcurrentQueue<Item> queue{PEERS_CAPACITY, PEERS_PRODUCERS, 0};
    moodycamel::ProducerToken producer[PEERS_PRODUCERS] = {
        moodycamel::ProducerToken(queue), moodycamel::ProducerToken(queue),
        moodycamel::ProducerToken(queue), moodycamel::ProducerToken(queue)};
    moodycamel::ConsumerToken consumer{queue};
};

// What four producers and their consumer tell each other, on lines of their own.
struct credited {
    bounded<peers_item64> queue;
    struct alignas(128) {
        uint64_t pushed = 0, known = 0; // the producer's: how many it sent, and knows to be gone
    } producer[PEERS_PRODUCERS];
    struct alignas(128) {
        std::atomic<uint64_t> gone{0}; // the consumer's
    } consumer[PEERS_PRODUCERS];
    alignas(128) uint64_t popped[PEERS_PRODUCERS] = {};
};

enum { SHARE = PEERS_CAPACITY / PEERS_PRODUCERS };

template <class Item> bool try_push(void *state, uint32_t producer, const Item *item)
{
    auto *const q = static_cast<bounded<Item> *>(state);

    return q->queue.try_enqueue(q->producer[producer], *item);
}

template <class Item> bool try_pop(void *state, Item *item)
{
    auto *const q = static_cast<bounded<Item> *>(state);

    return q->queue.try_dequeue(q->consumer, *item);
}

template <class Item>
uint32_t try_push_bulk(void *state, uint32_t producer, const Item *items, uint32_t count)
{
    auto *const q = static_cast<bounded<Item> *>(state);

    return q->queue.try_enqueue_bulk(q->producer[producer], items, count) ? count : 0;
}

template <class Item> uint32_t try_pop_bulk(void *state, Item *items, uint32_t count)
{
    auto *const q = static_cast<bounded<Item> *>(state);

    return static_cast<uint32_t>(q->queue.try_dequeue_bulk(q->consumer, items, count));
}

} // namespace

static inline bool fixed8_push(void *state, uint32_t producer, const peers_item8 *item)
{
    return try_push(state, producer, item);
}

static inline bool fixed8_pop(void *state, peers_item8 *item)
{
    return try_pop(state, item);
}

static inline uint32_t fixed8_push_bulk(void *state, uint32_t producer, const peers_item8 *items,
                                        uint32_t count)
{
    return try_push_bulk(state, producer, items, count);
}

static inline uint32_t fixed8_pop_bulk(void *state, peers_item8 *items, uint32_t count)
{
    return try_pop_bulk(state, items, count);
}

static inline bool fixed64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    return try_push(state, producer, item);
}

static inline bool fixed64_pop(void *state, peers_item64 *item)
{
    return try_pop(state, item);
}

static inline uint32_t fixed64_push_bulk(void *state, uint32_t producer, const peers_item64 *items,
                                         uint32_t count)
{
    return try_push_bulk(state, producer, items, count);
}

static inline uint32_t fixed64_pop_bulk(void *state, peers_item64 *items, uint32_t count)
{
    return try_pop_bulk(state, items, count);
}

// The same queue, allowed to allocate.
static inline bool grow64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    auto *const q = static_cast<bounded<peers_item64> *>(state);

    return q->queue.enqueue(q->producer[producer], *item);
}

static inline bool grow64_pop(void *state, peers_item64 *item)
{
    return try_pop(state, item);
}

static inline uint32_t grow64_push_bulk(void *state, uint32_t producer, const peers_item64 *items,
                                        uint32_t count)
{
    auto *const q = static_cast<bounded<peers_item64> *>(state);

    return q->queue.enqueue_bulk(q->producer[producer], items, count) ? count : 0;
}

static inline uint32_t grow64_pop_bulk(void *state, peers_item64 *items, uint32_t count)
{
    return try_pop_bulk(state, items, count);
}

// The same, with no more than 1024 on their way.
static inline bool credit64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    auto *const c = static_cast<credited *>(state);
    auto &own = c->producer[producer];

    if (own.pushed - own.known >= SHARE) {
        // acquire [camel-credit]: pairs with the release in credit64_pop
        own.known = c->consumer[producer].gone.load(std::memory_order_acquire);
        if (own.pushed - own.known >= SHARE)
            return false;
    }
    own.pushed++;
    return c->queue.queue.enqueue(c->queue.producer[producer], *item);
}

static inline bool credit64_pop(void *state, peers_item64 *item)
{
    auto *const c = static_cast<credited *>(state);

    if (!try_pop(&c->queue, item))
        return false;
    const uint64_t producer = (item->word[0] >> PEERS_PRODUCER_SHIFT) % PEERS_PRODUCERS;
    // release [camel-credit]: pairs with the acquire in credit64_push
    if (++c->popped[producer] % PEERS_BULK == 0)
        c->consumer[producer].gone.store(c->popped[producer], std::memory_order_release);
    return true;
}

#define WAY credit64
#define ITEM peers_item64
#include "peers/loops.h"

#define WAY fixed8
#define ITEM peers_item8
#define BULK
#include "peers/loops.h"

#define WAY fixed64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

#define WAY grow64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

#define STATE(item) way_create<bounded<item>>
#define END(item) way_destroy<bounded<item>>

static const peers_way ways[] = {
    {"mpmc_cycle_8", "ConcurrentQueue, tokens", "1024", "retry", "1", true, nullptr,
     STATE(peers_item8), fixed8_cycle, fixed8_stream, nullptr, END(peers_item8)},
    {"mpmc_cycle_64", "ConcurrentQueue, tokens", "1024", "retry", "1", true, nullptr,
     STATE(peers_item64), fixed64_cycle, fixed64_stream, nullptr, END(peers_item64)},
    {"mpmc_bulk32_cycle_8", "ConcurrentQueue bulk, tokens", "1024", "retry", "32", true, nullptr,
     STATE(peers_item8), fixed8_cycle_bulk, fixed8_stream_bulk, nullptr, END(peers_item8)},
    {"stream_1p1c_64", "ConcurrentQueue, tokens", "1024", "retry", "1024", true, nullptr,
     STATE(peers_item64), fixed64_stream, fixed64_stream, nullptr, END(peers_item64)},
    {"stream_1p1c_64", "ConcurrentQueue, growing", "none", "grow", "all", true, nullptr,
     STATE(peers_item64), grow64_stream, grow64_stream, nullptr, END(peers_item64)},
    {"stream_1p1c_64_bulk32", "ConcurrentQueue bulk, tokens", "1024", "retry", "1024", true,
     nullptr, STATE(peers_item64), fixed64_stream_bulk, fixed64_stream_bulk, nullptr,
     END(peers_item64)},
    {"stream_1p1c_64_bulk32", "ConcurrentQueue bulk, growing", "none", "grow", "all", true, nullptr,
     STATE(peers_item64), grow64_stream_bulk, grow64_stream_bulk, nullptr, END(peers_item64)},
    {"stream_4p1c_64", "ConcurrentQueue, tokens", "none", "retry", "1024", true, nullptr,
     way_create<credited>, credit64_stream, credit64_stream, nullptr, way_destroy<credited>},
    {"stream_4p1c_64", "ConcurrentQueue, growing", "none", "grow", "all", true, nullptr,
     STATE(peers_item64), grow64_stream, grow64_stream, nullptr, END(peers_item64)},
};

const peers_library peers_moodycamel = {"moodycamel", PEERS_VERSION, PEERS_PEER, ways,
                                        sizeof ways / sizeof ways[0]};
