/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_fake: items that refer to something, and a ledger of who holds it, for the tests beside
 * it.
 *
 * An item is a number and a pattern that follows from it. Its sender holds it once; a channel with
 * fake_share and fake_drop says in the ledger what becomes of that. Nothing may be held by fewer
 * than nobody, and at the end nobody holds anything.
 *
 * Threads   any: the counts of the ledger are atomic.
 */
#ifndef GYRE_FLOW_CHANNEL_FAKE_H
#define GYRE_FLOW_CHANNEL_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gyre/channel.h"
#include "gyre/clock.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { FAKE_ITEMS = 1 << 15, FAKE_LEAST = sizeof(uint32_t), MILLISECOND = 1000000 };

typedef struct fake_ledger {
    int32_t holders[FAKE_ITEMS]; /* of what each item refers to */
    uint32_t size[FAKE_ITEMS];   /* of each item, as it was sent */
    int64_t alive;               /* holders of all items */
    uint64_t drops;              /* calls of fake_drop */
} fake_ledger;

static inline uint32_t fake_id(const void *item)
{
    uint32_t id;

    memcpy(&id, item, sizeof id);
    return id;
}

/* relaxed, all counts here: tallies; what joins the threads orders them before the reading */
static inline void fake_hold(fake_ledger *ledger, uint32_t id, int32_t more)
{
    const int32_t before = __atomic_fetch_add(&ledger->holders[id], more, __ATOMIC_RELAXED);

    __atomic_fetch_add(&ledger->alive, more, __ATOMIC_RELAXED);
    CHECK(before + more >= 0);
}

static inline int64_t fake_alive(const fake_ledger *ledger)
{
    return __atomic_load_n(&ledger->alive, __ATOMIC_RELAXED);
}

/* How many items a channel to ALL keeps, once so many were sent: what gyre/channel.h says. */
static inline uint32_t fake_kept(gyre_when_full when_full, uint32_t capacity)
{
    const uint32_t least = when_full == GYRE_FULL_DROP_OLDEST ? capacity + 16 : capacity;
    uint32_t kept = 1;

    while (kept < least)
        kept *= 2;
    return kept;
}

/* Writes item `id`, which the caller holds. */
static inline void fake_item(fake_ledger *ledger, uint32_t id, size_t size, void *out)
{
    unsigned char *bytes = out;

    for (size_t i = sizeof id; i < size; i++)
        bytes[i] = (unsigned char)(id * 31 + i);
    memcpy(bytes, &id, sizeof id);
    ledger->size[id] = (uint32_t)size;
    fake_hold(ledger, id, 1);
}

/* Whether this is an item of that size as fake_item made it. */
static inline bool fake_whole(const fake_ledger *ledger, const void *item, size_t size)
{
    const unsigned char *bytes = item;
    const uint32_t id = size >= FAKE_LEAST ? fake_id(item) : FAKE_ITEMS;

    if (id >= FAKE_ITEMS || ledger->size[id] != size)
        return false;
    for (size_t i = sizeof id; i < size; i++)
        if (bytes[i] != (unsigned char)(id * 31 + i))
            return false;
    return true;
}

/* Ends the hold of whoever received or kept the item; its number. */
static inline uint32_t fake_release(fake_ledger *ledger, const void *item, size_t size)
{
    CHECK(fake_whole(ledger, item, size));
    fake_hold(ledger, fake_id(item) % FAKE_ITEMS, -1);
    return fake_id(item);
}

static inline void fake_share(void *user, void *item, size_t size)
{
    fake_ledger *ledger = user;

    CHECK(fake_whole(ledger, item, size));
    CHECK(__atomic_load_n(&ledger->holders[fake_id(item) % FAKE_ITEMS], __ATOMIC_RELAXED) > 0);
    fake_hold(ledger, fake_id(item) % FAKE_ITEMS, 1);
}

static inline void fake_drop(void *user, void *item, size_t size)
{
    fake_ledger *ledger = user;

    __atomic_fetch_add(&ledger->drops, 1, __ATOMIC_RELAXED);
    (void)fake_release(ledger, item, size);
}

/* A channel, or NULL and a failed check. With a ledger its items are counted. */
static inline gyre_channel *fake_channel(gyre_channel_options options, fake_ledger *ledger)
{
    gyre_channel *channel;

    options.struct_size = sizeof options;
    if (ledger) {
        options.share = fake_share;
        options.drop = fake_drop;
        options.user = ledger;
    }
    CHECK(gyre_channel_create(&options, &channel) == GYRE_OK);
    return channel;
}

static inline gyre_channel_statistics fake_describe(const gyre_channel *channel)
{
    gyre_channel_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_channel_describe(channel, &s) == GYRE_OK);
    return s;
}

static inline gyre_channel_statistics fake_describe_subscriber(const gyre_subscriber *subscriber)
{
    gyre_channel_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_subscriber_describe(subscriber, &s) == GYRE_OK);
    return s;
}

/* Of a channel to ONE on which no call is under way. */
static inline bool fake_accounts_hold(const gyre_channel *channel)
{
    const gyre_channel_statistics s = fake_describe(channel);

    return s.attempts == s.accepted + s.rejected &&
           s.accepted == s.delivered + s.dropped + s.queued;
}

/* Sends item `id` without waiting; it stays the ledger's when it is refused. */
static inline gyre_status fake_send(gyre_channel *channel, fake_ledger *ledger, uint32_t id,
                                    uint32_t priority)
{
    unsigned char item[64];
    gyre_status status;

    fake_item(ledger, id, 8, item);
    status = gyre_channel_try_send(channel, priority, item, 8);
    if (status != GYRE_OK)
        (void)fake_release(ledger, item, 8);
    return status;
}

/* The next item's number, or -1 - status. Items of up to 64 bytes. */
static inline int64_t fake_receive(gyre_channel *channel, fake_ledger *ledger)
{
    unsigned char item[64];
    gyre_received received;
    const gyre_status status = gyre_channel_try_receive(channel, item, &received);

    return status == GYRE_OK ? (int64_t)fake_release(ledger, item, received.size)
                             : -1 - (int64_t)status;
}

static inline int64_t fake_hear(gyre_subscriber *subscriber, fake_ledger *ledger)
{
    unsigned char item[64];
    gyre_received received;
    const gyre_status status = gyre_subscriber_try_receive(subscriber, item, &received);

    return status == GYRE_OK ? (int64_t)fake_release(ledger, item, received.size)
                             : -1 - (int64_t)status;
}

/* What the two above return for a status. */
#define FAKE_NONE(status) (-1 - (int64_t)(status))

/* Numbers that a seed determines. */
typedef struct fake_random {
    uint64_t state;
} fake_random;

static inline uint64_t fake_next(fake_random *random)
{
    uint64_t x = random->state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint32_t fake_below(fake_random *random, uint32_t n)
{
    return (uint32_t)((fake_next(random) >> 32) * n >> 32);
}

/* The calling thread, for fake_await_sleep. */
static inline void fake_here(uint32_t *out_thread)
{
    __atomic_store_n(out_thread, (uint32_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
}

/* Returns when the thread that called fake_here sleeps in the kernel, or after five seconds. */
static inline void fake_await_sleep(const uint32_t *thread)
{
    const uint64_t end_ns = gyre_clock_after_ns(5000ull * MILLISECOND);
    char path[64], line[256], state = 0;

    while (gyre_clock_now_ns() < end_ns && state != 'S') {
        const uint32_t number = __atomic_load_n(thread, __ATOMIC_SEQ_CST);
        FILE *file;

        sched_yield();
        if (number == 0)
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%u/stat", number);
        file = fopen(path, "r");
        if (file) {
            const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;

            state = end && strlen(end) > 2 ? end[2] : 0;
            (void)fclose(file);
        }
    }
}

/* A stress for each delivery and policy, run by run(delivery, when_full), and their entries. */
#define FAKE_STRESS_CASE_(name, run, delivery, when_full)                                          \
    static void name(void)                                                                         \
    {                                                                                              \
        run(delivery, when_full);                                                                  \
    }
#define FAKE_STRESS_CASES(run)                                                                     \
    FAKE_STRESS_CASE_(blocking_queue_loses_nothing, run, GYRE_DELIVER_ONE, GYRE_FULL_BLOCK)        \
    FAKE_STRESS_CASE_(rejecting_queue_loses_nothing, run, GYRE_DELIVER_ONE, GYRE_FULL_REJECT)      \
    FAKE_STRESS_CASE_(queue_drops_its_oldest_once, run, GYRE_DELIVER_ONE, GYRE_FULL_DROP_OLDEST)   \
    FAKE_STRESS_CASE_(queue_drops_the_newest_once, run, GYRE_DELIVER_ONE, GYRE_FULL_DROP_NEWEST)   \
    FAKE_STRESS_CASE_(blocking_broadcast_loses_nothing, run, GYRE_DELIVER_ALL, GYRE_FULL_BLOCK)    \
    FAKE_STRESS_CASE_(rejecting_broadcast_loses_nothing, run, GYRE_DELIVER_ALL, GYRE_FULL_REJECT)  \
    FAKE_STRESS_CASE_(broadcast_counts_the_oldest_it_drops, run, GYRE_DELIVER_ALL,                 \
                      GYRE_FULL_DROP_OLDEST)                                                       \
    FAKE_STRESS_CASE_(broadcast_counts_the_newest_it_drops, run, GYRE_DELIVER_ALL,                 \
                      GYRE_FULL_DROP_NEWEST)
#define FAKE_STRESS_TESTS                                                                          \
    TEST(blocking_queue_loses_nothing), TEST(rejecting_queue_loses_nothing),                       \
        TEST(queue_drops_its_oldest_once), TEST(queue_drops_the_newest_once),                      \
        TEST(blocking_broadcast_loses_nothing), TEST(rejecting_broadcast_loses_nothing),           \
        TEST(broadcast_counts_the_oldest_it_drops), TEST(broadcast_counts_the_newest_it_drops)

#endif
