/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics that are read while others send, receive, subscribe and leave. What is taken out may
 * be seen a little before or after it is, but every attempt is counted once, no account of sends
 * ever sinks, and when all calls have returned everything is exact.
 */
#include "flow/channel_fake.h"

enum { RUN_NS = 30 * MILLISECOND };

/* Counted by the threads around their calls: begun before, ended after; seq_cst. */
typedef struct tally {
    gyre_channel *channel;
    uint64_t sends_begun, sends_ended;
    uint64_t taken;
    uint32_t over;
} tally;

static bool is_over(tally *t)
{
    return __atomic_load_n(&t->over, __ATOMIC_SEQ_CST);
}

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

static uint64_t counted(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

static void *keep_sending(void *arg)
{
    tally *t = arg;
    fake_random random = {1};

    while (!is_over(t)) {
        const uint64_t item = 7;

        count(&t->sends_begun);
        (void)!gyre_channel_try_send(t->channel, fake_below(&random, 256), &item, sizeof item);
        count(&t->sends_ended);
    }
    return NULL;
}

static void *keep_receiving(void *arg)
{
    tally *t = arg;
    uint64_t item;

    while (!is_over(t)) {
        if (gyre_channel_try_receive(t->channel, &item, NULL) == GYRE_OK)
            count(&t->taken);
    }
    return NULL;
}

static void *keep_subscribing(void *arg)
{
    tally *t = arg;
    fake_random random = {2};
    uint64_t item;

    while (!is_over(t)) {
        gyre_subscriber *subscriber;

        CHECK(gyre_subscriber_create(t->channel, &subscriber) == GYRE_OK);
        for (uint32_t i = fake_below(&random, 30); i > 0; i--)
            if (gyre_subscriber_try_receive(subscriber, &item, NULL) == GYRE_OK)
                count(&t->taken);
        gyre_subscriber_destroy(subscriber);
    }
    return NULL;
}

static void read_along(tally *t)
{
    const uint64_t end_ns = gyre_clock_after_ns(RUN_NS);
    gyre_channel_statistics last = {.struct_size = sizeof last};

    while (gyre_clock_now_ns() < end_ns) {
        const uint64_t ended = counted(&t->sends_ended);
        const gyre_channel_statistics s = fake_describe(t->channel);

        CHECK(s.attempts == s.accepted + s.rejected);
        CHECK(s.attempts >= ended && s.attempts <= counted(&t->sends_begun));
        CHECK(s.accepted >= last.accepted && s.rejected >= last.rejected);
        last = s;
    }
}

static void run(const gyre_channel_options *options, void *(*taker)(void *))
{
    tally t = {.channel = fake_channel(*options, NULL)};
    gyre_channel_statistics s;
    pthread_t threads[4];

    REQUIRE(t.channel != NULL);
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, i < 2 ? keep_sending : taker, &t) == 0);
    read_along(&t);
    __atomic_store_n(&t.over, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    s = fake_describe(t.channel);
    CHECK(s.attempts == t.sends_ended && s.delivered == t.taken);
    CHECK(options->delivery == GYRE_DELIVER_ALL || fake_accounts_hold(t.channel));
    gyre_channel_destroy(t.channel);
}

static void run_all(gyre_delivery delivery, void *(*taker)(void *))
{
    for (int shape = 0; shape < 8; shape++)
        run(&(gyre_channel_options){.delivery = delivery,
                                    .when_full = (gyre_when_full)(shape & 3),
                                    .capacity = 5,
                                    .item_bytes = 8,
                                    .banded = shape >> 2},
            taker);
}

static void every_attempt_at_a_queue_is_counted_once(void)
{
    run_all(GYRE_DELIVER_ONE, keep_receiving);
}

static void every_attempt_at_a_broadcast_is_counted_once(void)
{
    run_all(GYRE_DELIVER_ALL, keep_subscribing);
}

static const test_case cases[] = {
    TEST(every_attempt_at_a_queue_is_counted_once),
    TEST(every_attempt_at_a_broadcast_is_counted_once),
};
TEST_MAIN(cases)
