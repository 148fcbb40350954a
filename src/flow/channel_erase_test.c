/* SPDX-License-Identifier: Apache-2.0
 *
 * A broadcast that drops its oldest, and a subscriber that stops in the middle of an item: senders
 * go on for as long as they can do without its slot, and then wait; they never overwrite it.
 */
#include <sched.h>

#include "flow/channel_fake.h"

enum {
    CAPACITY = 4,
    KEPT = 32, /* fake_kept */
    LAST = 200,
};

static struct {
    uint32_t stop_at;         /* the item in which the subscriber stops; seq_cst, all */
    uint32_t inside, goes_on; /* it has stopped; it may go on */
    uint32_t released[LAST];  /* by the channel, of each item */
    uint32_t sent;            /* items so far */
    gyre_channel *channel;    /* constant while there are threads, both */
    gyre_subscriber *subscriber;
} s;

static uint32_t get(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void set(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* A subscriber is reading the item. */
static void stop_in_share(void *user, void *item, size_t size)
{
    const uint64_t end_ns = gyre_clock_after_ns(10000ull * MILLISECOND);
    const uint32_t id = fake_id(item);

    (void)user;
    CHECK(size == sizeof id && id < LAST && !get(&s.released[id]));
    if (id != get(&s.stop_at))
        return;
    set(&s.inside, 1);
    while (!get(&s.goes_on) && gyre_clock_now_ns() < end_ns)
        sched_yield();
    CHECK(!get(&s.released[id]));
}

static void note_drop(void *user, void *item, size_t size)
{
    (void)user;
    CHECK(size == sizeof(uint32_t) && fake_id(item) < LAST);
    set(&s.released[fake_id(item) % LAST], 1);
}

static void send_next(void)
{
    CHECK(gyre_channel_try_send(s.channel, 0, &s.sent, sizeof s.sent) == GYRE_OK);
    set(&s.sent, s.sent + 1);
}

static void *send_the_rest(void *unused)
{
    while (s.sent < LAST)
        send_next();
    return unused;
}

/* Sends what goes in one call as far as it can. */
static void *send_the_rest_in_bulk(void *unused)
{
    uint32_t items[LAST];
    size_t sent;

    for (uint32_t i = s.sent; i < LAST; i++)
        items[i] = i;
    CHECK(gyre_channel_try_send_bulk(
              s.channel, &(gyre_batch){items + s.sent, sizeof(uint32_t), LAST - s.sent, 0},
              &sent) == GYRE_OK);
    set(&s.sent, LAST);
    return unused;
}

static void *receive_one(void *out_item)
{
    CHECK(gyre_subscriber_try_receive(s.subscriber, out_item, NULL) == GYRE_OK);
    return NULL;
}

static uint64_t accepted(void)
{
    return fake_describe(s.channel).accepted;
}

/* Waits until the sender waits, or is done. */
static uint64_t await_standstill(void)
{
    uint64_t before, now = accepted();

    do {
        before = now;
        usleep(1500);
        now = accepted();
    } while (now != before || now < CAPACITY + s.stop_at);
    return now;
}

static void stop_at(uint32_t position, void *(*rest)(void *))
{
    pthread_t subscriber, sender;
    uint32_t item = 0;
    uint64_t reached;

    memset(&s, 0, sizeof s);
    s.stop_at = position;
    s.channel = fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                                    .when_full = GYRE_FULL_DROP_OLDEST,
                                                    .capacity = CAPACITY,
                                                    .item_bytes = sizeof(uint32_t),
                                                    .share = stop_in_share,
                                                    .drop = note_drop},
                             NULL);
    REQUIRE(s.channel != NULL && fake_kept(GYRE_FULL_DROP_OLDEST, CAPACITY) == KEPT);
    REQUIRE(gyre_subscriber_create(s.channel, &s.subscriber) == GYRE_OK);
    while (s.sent < position) {
        send_next();
        CHECK(receive_one(&item) == NULL && item + 1 == s.sent);
    }
    send_next();
    REQUIRE(pthread_create(&subscriber, NULL, receive_one, &item) == 0);
    while (!get(&s.inside))
        sched_yield();
    REQUIRE(pthread_create(&sender, NULL, rest, NULL) == 0);
    reached = await_standstill();
    /* the slot of the item is that of the item KEPT later */
    CHECK(reached <= position + KEPT && !get(&s.released[position]));
    set(&s.goes_on, 1);
    pthread_join(subscriber, NULL);
    pthread_join(sender, NULL);
    CHECK(item == position && accepted() == LAST);
    CHECK(receive_one(&item) == NULL && item == LAST - CAPACITY);
    gyre_subscriber_destroy(s.subscriber);
    gyre_channel_destroy(s.channel);
}

/* Slots are erased in runs: the item is the last of one, the first of the next, or in between. */
static void sender_does_not_overwrite_what_is_being_read(void)
{
    for (uint32_t position = KEPT - CAPACITY - 3; position <= KEPT + 1; position++)
        stop_at(position, send_the_rest);
}

static void sender_in_bulk_does_not_either(void)
{
    for (uint32_t position = KEPT - CAPACITY - 2; position <= KEPT - CAPACITY + 2; position++)
        stop_at(position, send_the_rest_in_bulk);
}

/* Senders and a subscriber at full speed: what an item refers to is there for as long as the
 * subscriber takes to share it, which is longer than senders need for all the slots. */

enum { ITEMS = 1 << 21, SLOW_NS = 2000, RUN_MS = 150 };

static uint8_t gone[ITEMS]; /* seq_cst */

static void share_slowly(void *user, void *item, size_t size)
{
    const uint64_t end_ns = gyre_clock_after_ns(SLOW_NS);
    const uint32_t id = fake_id(item);

    (void)user;
    while (gyre_clock_now_ns() < end_ns)
        continue;
    CHECK(size == sizeof id && id < ITEMS && !__atomic_load_n(&gone[id], __ATOMIC_SEQ_CST));
}

static void note_gone(void *user, void *item, size_t size)
{
    (void)user;
    CHECK(size == sizeof(uint32_t));
    __atomic_store_n(&gone[fake_id(item)], 1, __ATOMIC_SEQ_CST);
}

static void *send_on(void *unused)
{
    for (uint32_t id = 0; id < ITEMS && !get(&s.goes_on); id++)
        CHECK(gyre_channel_try_send(s.channel, 0, &id, sizeof id) == GYRE_OK);
    set(&s.goes_on, 1);
    return unused;
}

static void item_is_kept_for_as_long_as_it_is_read(void)
{
    const uint64_t end_ns = gyre_clock_after_ns((uint64_t)RUN_MS * MILLISECOND);
    gyre_channel_statistics its;
    uint32_t next = 0, item;
    pthread_t sender;

    memset(&s, 0, sizeof s);
    memset(gone, 0, sizeof gone);
    s.channel = fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                                    .when_full = GYRE_FULL_DROP_OLDEST,
                                                    .capacity = CAPACITY,
                                                    .item_bytes = sizeof(uint32_t),
                                                    .share = share_slowly,
                                                    .drop = note_gone},
                             NULL);
    REQUIRE(s.channel != NULL);
    REQUIRE(gyre_subscriber_create(s.channel, &s.subscriber) == GYRE_OK);
    REQUIRE(pthread_create(&sender, NULL, send_on, NULL) == 0);
    while (!get(&s.goes_on)) {
        if (gyre_subscriber_try_receive(s.subscriber, &item, NULL) == GYRE_OK) {
            CHECK(item >= next);
            next = item + 1;
        }
        if (gyre_clock_now_ns() >= end_ns)
            set(&s.goes_on, 1);
    }
    pthread_join(sender, NULL);
    its = fake_describe_subscriber(s.subscriber);
    CHECK(its.accepted == its.delivered + its.dropped + its.queued);
    gyre_subscriber_destroy(s.subscriber);
    gyre_channel_destroy(s.channel);
}

static const test_case cases[] = {
    TEST(sender_does_not_overwrite_what_is_being_read),
    TEST(sender_in_bulk_does_not_either),
    TEST(item_is_kept_for_as_long_as_it_is_read),
};
TEST_MAIN(cases)
