// SPDX-License-Identifier: Apache-2.0
//
// moodycamel: ConcurrentQueue with tokens, which its author recommends where speed matters.
//
// It grows without end unless told not to. try_enqueue never allocates, but a producer keeps the
// blocks that it got, so that one of several may leave none to the others, and it is several times
// slower than letting the queue grow. So where producers can run ahead, each counts what it has on
// its way, no more than its share of 1024, and the consumer tells it every 32 items how far it is.
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

// What producers and their consumer tell each other, on lines of their own.
template <uint32_t Producers> struct credited {
    enum : uint64_t { SHARE = PEERS_CAPACITY / Producers };
    bounded<peers_item64> tokens;
    struct alignas(128) {
        uint64_t pushed = 0, known = 0; // the producer's: how many it sent, and knows to be gone
    } producer[Producers];
    struct alignas(128) {
        std::atomic<uint64_t> gone{0}; // the consumer's
    } consumer[Producers];
    alignas(128) uint64_t popped[Producers] = {};

    // How many of `wanted` this producer may send.
    uint32_t room(uint32_t which, uint32_t wanted)
    {
        auto &own = producer[which];

        if (own.pushed - own.known + wanted > SHARE)
            // acquire [camel-credit]: pairs with the release in arrived
            own.known = consumer[which].gone.load(std::memory_order_acquire);
        const uint64_t left = SHARE - (own.pushed - own.known);
        return left < wanted ? static_cast<uint32_t>(left) : wanted;
    }

    void arrived(const peers_item64 *item)
    {
        const uint64_t which = (item->word[0] >> PEERS_PRODUCER_SHIFT) % Producers;

        // release [camel-credit]: pairs with the acquire in room
        if (++popped[which] % PEERS_BULK == 0)
            consumer[which].gone.store(popped[which], std::memory_order_release);
    }

    bool push(uint32_t which, const peers_item64 *item)
    {
        if (room(which, 1) == 0)
            return false;
        producer[which].pushed++;
        return tokens.queue.enqueue(tokens.producer[which], *item);
    }

    bool pop(peers_item64 *item)
    {
        if (!tokens.queue.try_dequeue(tokens.consumer, *item))
            return false;
        arrived(item);
        return true;
    }
};

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
    return static_cast<credited<1> *>(state)->push(producer, item);
}

static inline bool credit64_pop(void *state, peers_item64 *item)
{
    return static_cast<credited<1> *>(state)->pop(item);
}

static inline uint32_t credit64_push_bulk(void *state, uint32_t producer, const peers_item64 *items,
                                          uint32_t count)
{
    auto *const c = static_cast<credited<1> *>(state);
    const uint32_t some = c->room(producer, count);

    c->producer[producer].pushed += some;
    return some > 0 && c->tokens.queue.enqueue_bulk(c->tokens.producer[producer], items, some)
               ? some
               : 0;
}

static inline uint32_t credit64_pop_bulk(void *state, peers_item64 *items, uint32_t count)
{
    auto *const c = static_cast<credited<1> *>(state);
    const uint32_t some = try_pop_bulk(&c->tokens, items, count);

    for (uint32_t i = 0; i < some; i++)
        c->arrived(&items[i]);
    return some;
}

static inline bool shared64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    return static_cast<credited<PEERS_PRODUCERS> *>(state)->push(producer, item);
}

static inline bool shared64_pop(void *state, peers_item64 *item)
{
    return static_cast<credited<PEERS_PRODUCERS> *>(state)->pop(item);
}

#define WAY credit64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

#define WAY shared64
#define ITEM peers_item64
#include "peers/loops.h"

#define WAY fixed8
#define ITEM peers_item8
#define BULK
#include "peers/loops.h"

#define WAY fixed64
#define ITEM peers_item64
#include "peers/loops.h"

#define WAY grow64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

#define STATE(item) way_create<bounded<item>>
#define END(item) way_destroy<bounded<item>>

static const char unbounded[] = "it grows, so nothing bounds what is on its way";

static const peers_way ways[] = {
    {"mpmc_cycle_8", "ConcurrentQueue, tokens", "1024", "retry", "1", true, nullptr,
     STATE(peers_item8), fixed8_cycle, fixed8_stream, nullptr, END(peers_item8)},
    {"mpmc_cycle_64", "ConcurrentQueue, tokens", "1024", "retry", "1", true, nullptr,
     STATE(peers_item64), fixed64_cycle, fixed64_stream, nullptr, END(peers_item64)},
    {"mpmc_bulk32_cycle_8", "ConcurrentQueue bulk, tokens", "1024", "retry", "32", true, nullptr,
     STATE(peers_item8), fixed8_cycle_bulk, fixed8_stream_bulk, nullptr, END(peers_item8)},
    {"stream_1p1c_64", "ConcurrentQueue, tokens", "none", "retry", "1024", true, nullptr,
     way_create<credited<1>>, credit64_stream, credit64_stream, nullptr, way_destroy<credited<1>>},
    {"stream_1p1c_64", "ConcurrentQueue, try_enqueue", "1024", "retry", "1024", true, nullptr,
     STATE(peers_item64), fixed64_stream, fixed64_stream, nullptr, END(peers_item64)},
    {"stream_1p1c_64", "ConcurrentQueue, unbounded", "none", "grow", "all", true, unbounded,
     STATE(peers_item64), grow64_stream, grow64_stream, nullptr, END(peers_item64)},
    {"stream_1p1c_64_bulk32", "ConcurrentQueue bulk, tokens", "none", "retry", "1024", true,
     nullptr, way_create<credited<1>>, credit64_stream_bulk, credit64_stream_bulk, nullptr,
     way_destroy<credited<1>>},
    {"stream_1p1c_64_bulk32", "ConcurrentQueue bulk, unbounded", "none", "grow", "all", true,
     unbounded, STATE(peers_item64), grow64_stream_bulk, grow64_stream_bulk, nullptr,
     END(peers_item64)},
    {"stream_4p1c_64", "ConcurrentQueue, tokens", "none", "retry", "1024", true, nullptr,
     way_create<credited<PEERS_PRODUCERS>>, shared64_stream, shared64_stream, nullptr,
     way_destroy<credited<PEERS_PRODUCERS>>},
    {"stream_4p1c_64", "ConcurrentQueue, unbounded", "none", "grow", "all", true, unbounded,
     STATE(peers_item64), grow64_stream, grow64_stream, nullptr, END(peers_item64)},
};

const peers_library peers_moodycamel = {"moodycamel", PEERS_VERSION, PEERS_PEER, ways,
                                        sizeof ways / sizeof ways[0]};
