/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting on a channel: no wait ends before its deadline, none goes on when there is no reason any
 * more, and close ends all of them. Waits that must end have a deadline far away, so that one that
 * was forgotten is a failed check instead of a hang: it would find what it waits for at its
 * deadline, and not before.
 */
#include "flow/channel_fake.h"

enum { WORKERS = 4 };

static fake_ledger ledger;

static uint64_t far_away(void)
{
    return gyre_clock_after_ns(10000ull * MILLISECOND);
}

static gyre_channel *make(gyre_delivery delivery, gyre_when_full when_full, uint32_t capacity,
                          bool banded)
{
    return fake_channel((gyre_channel_options){.delivery = delivery,
                                               .when_full = when_full,
                                               .capacity = capacity,
                                               .item_bytes = 16,
                                               .banded = banded},
                        &ledger);
}

static void fill(gyre_channel *channel, uint32_t id, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK(fake_send(channel, &ledger, id + i, 0) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, id, 0) == GYRE_AGAIN);
}

/* A thread in one call. */
typedef struct worker {
    gyre_channel *channel;
    gyre_subscriber *subscriber; /* or NULL */
    uint32_t id;                 /* of what it sends, or received */
    uint32_t priority;
    uint64_t deadline_ns;
    uint64_t ended_ns;
    gyre_status status;
    uint32_t thread;
    pthread_t native;
} worker;

static void *receive_one(void *arg)
{
    worker *w = arg;
    unsigned char item[16];
    gyre_received received;

    fake_here(&w->thread);
    w->status = w->subscriber
                    ? gyre_subscriber_receive(w->subscriber, item, &received, w->deadline_ns)
                    : gyre_channel_receive(w->channel, item, &received, w->deadline_ns);
    w->ended_ns = gyre_clock_now_ns();
    if (w->status == GYRE_OK)
        w->id = fake_release(&ledger, item, received.size);
    return NULL;
}

static void *send_one(void *arg)
{
    worker *w = arg;
    unsigned char item[16];

    fake_here(&w->thread);
    fake_item(&ledger, w->id, 8, item);
    w->status = gyre_channel_send(w->channel, w->priority, item, 8, w->deadline_ns);
    w->ended_ns = gyre_clock_now_ns();
    if (w->status != GYRE_OK)
        (void)fake_release(&ledger, item, 8);
    return NULL;
}

/* Starts a worker and returns when it sleeps. */
static void start(worker *w, void *(*body)(void *))
{
    w->thread = 0;
    w->status = GYRE_INTERNAL;
    if (w->deadline_ns == 0)
        w->deadline_ns = far_away();
    CHECK(pthread_create(&w->native, NULL, body, w) == 0);
    fake_await_sleep(&w->thread);
}

static gyre_status join(worker *w)
{
    CHECK(pthread_join(w->native, NULL) == 0);
    CHECK(w->ended_ns < w->deadline_ns); /* it was woken */
    return w->status;
}

static void no_receive_ends_before_its_deadline(void)
{
    gyre_channel *one = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, false);
    gyre_channel *bands = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, true);
    gyre_channel *all = make(GYRE_DELIVER_ALL, GYRE_FULL_DROP_OLDEST, 3, false);
    gyre_subscriber *subscriber;
    unsigned char item[16];

    REQUIRE(one && bands && all);
    REQUIRE(gyre_subscriber_create(all, &subscriber) == GYRE_OK);
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t deadline = gyre_clock_after_ns(i * MILLISECOND / 3);
        size_t count = 99;

        CHECK(gyre_channel_receive(one, item, NULL, deadline) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline);
        deadline = gyre_clock_after_ns(i * MILLISECOND / 3);
        CHECK(gyre_channel_receive_bulk(bands, item, NULL, 1, deadline, &count) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline && count == 0);
        deadline = gyre_clock_after_ns(i * MILLISECOND / 3);
        CHECK(gyre_subscriber_receive(subscriber, item, NULL, deadline) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline);
        deadline = gyre_clock_after_ns(i * MILLISECOND / 3);
        count = 99;
        CHECK(gyre_subscriber_receive_bulk(subscriber, item, NULL, 1, deadline, &count) ==
              GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline && count == 0);
    }
    gyre_subscriber_destroy(subscriber);
    gyre_channel_destroy(one);
    gyre_channel_destroy(bands);
    gyre_channel_destroy(all);
}

static void no_send_ends_before_its_deadline(void)
{
    gyre_channel *channels[] = {make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, false),
                                make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, true),
                                make(GYRE_DELIVER_ALL, GYRE_FULL_BLOCK, 3, false)};
    gyre_subscriber *subscriber;

    REQUIRE(gyre_subscriber_create(channels[2], &subscriber) == GYRE_OK);
    for (size_t c = 0; c < COUNT(channels); c++) {
        gyre_channel_statistics before, after;
        uint32_t item[2] = {50, 0};
        const gyre_batch batch = {item, 8, 1, 0};

        fill(channels[c], 0, 3);
        before = fake_describe(channels[c]);
        for (uint64_t i = 0; i < 12; i++) {
            uint64_t deadline = gyre_clock_after_ns(i * MILLISECOND / 3);
            size_t sent = 99;

            CHECK(gyre_channel_send(channels[c], 0, item, 8, deadline) == GYRE_TIMEOUT);
            CHECK(gyre_clock_now_ns() >= deadline);
            deadline = gyre_clock_after_ns(i * MILLISECOND / 3);
            CHECK(gyre_channel_send_bulk(channels[c], &batch, deadline, &sent) == GYRE_TIMEOUT);
            CHECK(gyre_clock_now_ns() >= deadline && sent == 0);
        }
        after = fake_describe(channels[c]);
        CHECK(after.attempts == before.attempts + 24 && after.rejected == before.rejected + 24);
        CHECK(after.accepted == 3 && after.queued == 3);
        CHECK(after.blocked_sends <= before.blocked_sends + 24);
    }
    gyre_subscriber_destroy(subscriber);
    for (size_t c = 0; c < COUNT(channels); c++)
        gyre_channel_destroy(channels[c]);
    CHECK(fake_alive(&ledger) == 0);
}

static void bulk_send_that_times_out_says_how_many_went(void)
{
    for (int banded = 0; banded < 2; banded++) {
        gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, banded);
        unsigned char items[5 * 8];
        const gyre_batch batch = {items, 8, 5, 0};
        const uint64_t deadline = gyre_clock_after_ns(MILLISECOND);
        size_t sent = 99;

        REQUIRE(channel != NULL);
        for (uint32_t i = 0; i < 5; i++)
            fake_item(&ledger, i, 8, items + 8 * (size_t)i);
        CHECK(gyre_channel_send_bulk(channel, &batch, deadline, &sent) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline && sent == 3);
        for (size_t i = 3; i < 5; i++)
            (void)fake_release(&ledger, items + 8 * i, 8);
        CHECK(fake_describe(channel).attempts == 5 && fake_accounts_hold(channel));
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void blocked_time_is_counted(void)
{
    gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 1, false);
    uint32_t item[2] = {50, 0};
    gyre_channel_statistics s;
    uint64_t before_ns, took_ns;

    REQUIRE(channel != NULL);
    fill(channel, 0, 1);
    CHECK(fake_describe(channel).blocked_sends == 0); /* a try does not wait */
    before_ns = gyre_clock_now_ns();
    CHECK(gyre_channel_send(channel, 0, item, 8, before_ns + 20ull * MILLISECOND) == GYRE_TIMEOUT);
    took_ns = gyre_clock_now_ns() - before_ns;
    s = fake_describe(channel);
    CHECK(s.blocked_sends == 1 && s.blocked_ns > 0 && s.blocked_ns <= took_ns);
    gyre_channel_destroy(channel);
}

static void sleeping_receiver_gets_what_is_sent(void)
{
    for (int shape = 0; shape < 8; shape++) { /* every policy, without and with bands */
        gyre_channel *channel = make(GYRE_DELIVER_ONE, (gyre_when_full)(shape & 3), 3, shape >> 2);
        worker w = {.channel = channel, .deadline_ns = shape & 1 ? GYRE_NEVER : 0};

        REQUIRE(channel != NULL);
        start(&w, receive_one);
        CHECK(fake_send(channel, &ledger, 7, (uint32_t)shape * 36) == GYRE_OK);
        CHECK(join(&w) == GYRE_OK && w.id == 7);
        gyre_channel_destroy(channel);
    }
}

static void sleeping_sender_goes_on_when_there_is_room(void)
{
    for (int banded = 0; banded < 2; banded++) {
        gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, banded);
        worker w = {.channel = channel, .id = 9, .priority = 200, .deadline_ns = GYRE_NEVER};

        REQUIRE(channel != NULL);
        fill(channel, 0, 3);
        start(&w, send_one);
        CHECK(fake_receive(channel, &ledger) == 0);
        CHECK(join(&w) == GYRE_OK);
        CHECK(fake_describe(channel).blocked_sends <= 1 && fake_accounts_hold(channel));
        CHECK(fake_receive(channel, &ledger) == (banded ? 9 : 1));
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

/* One after the other, and all at once by a bulk send, which must not wake only one. */
static void every_sleeping_receiver_gets_an_item(void)
{
    for (int shape = 0; shape < 4; shape++) {
        gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, WORKERS, shape >> 1);
        worker w[WORKERS];
        unsigned char items[WORKERS * 8];
        const gyre_batch batch = {items, 8, WORKERS, 100};
        uint32_t seen = 0;
        size_t sent;

        REQUIRE(channel != NULL);
        for (int i = 0; i < WORKERS; i++) {
            w[i] = (worker){.channel = channel};
            start(&w[i], receive_one);
        }
        if (shape & 1) {
            for (uint32_t i = 0; i < WORKERS; i++)
                fake_item(&ledger, i, 8, items + 8 * (size_t)i);
            CHECK(gyre_channel_try_send_bulk(channel, &batch, &sent) == GYRE_OK && sent == WORKERS);
        } else {
            for (uint32_t i = 0; i < WORKERS; i++)
                CHECK(fake_send(channel, &ledger, i, i * 64) == GYRE_OK);
        }
        for (int i = 0; i < WORKERS; i++) {
            CHECK(join(&w[i]) == GYRE_OK);
            seen |= 1u << w[i].id;
        }
        CHECK(seen == (1u << WORKERS) - 1);
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void every_sleeping_sender_gets_its_room(void)
{
    for (int shape = 0; shape < 4; shape++) {
        gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, WORKERS, shape >> 1);
        unsigned char items[WORKERS * 16];
        gyre_received received[WORKERS];
        worker w[WORKERS];
        size_t count = 0;

        REQUIRE(channel != NULL);
        fill(channel, 0, WORKERS);
        for (uint32_t i = 0; i < WORKERS; i++) {
            w[i] = (worker){.channel = channel, .id = 10 + i, .priority = i * 64};
            start(&w[i], send_one);
        }
        if (shape & 1) {
            CHECK(gyre_channel_try_receive_bulk(channel, items, received, WORKERS, &count) ==
                  GYRE_OK);
            CHECK(count == WORKERS);
            for (size_t i = 0; i < count; i++)
                (void)fake_release(&ledger, items + 16 * i, received[i].size);
        } else {
            for (int i = 0; i < WORKERS; i++)
                CHECK(fake_receive(channel, &ledger) >= 0);
        }
        for (int i = 0; i < WORKERS; i++)
            CHECK(join(&w[i]) == GYRE_OK);
        CHECK(fake_describe(channel).queued == WORKERS && fake_accounts_hold(channel));
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void close_frees_every_receiver(void)
{
    for (int shape = 0; shape < 4; shape++) {
        const bool all = shape & 1;
        gyre_channel *channel =
            make(all ? GYRE_DELIVER_ALL : GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, shape >> 1);
        worker w[WORKERS];

        REQUIRE(channel != NULL);
        for (int i = 0; i < WORKERS; i++) {
            w[i] = (worker){.channel = channel, .deadline_ns = GYRE_NEVER};
            if (all)
                CHECK(gyre_subscriber_create(channel, &w[i].subscriber) == GYRE_OK);
            start(&w[i], receive_one);
        }
        gyre_channel_close(channel);
        for (int i = 0; i < WORKERS; i++) {
            CHECK(join(&w[i]) == GYRE_CLOSED);
            gyre_subscriber_destroy(w[i].subscriber);
        }
        gyre_channel_destroy(channel);
    }
}

static void close_frees_every_sender(void)
{
    for (int shape = 0; shape < 4; shape++) {
        const bool all = shape & 1;
        gyre_channel *channel =
            make(all ? GYRE_DELIVER_ALL : GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, shape >> 1);
        gyre_subscriber *subscriber = NULL;
        worker w[WORKERS];

        REQUIRE(channel != NULL);
        if (all)
            CHECK(gyre_subscriber_create(channel, &subscriber) == GYRE_OK);
        fill(channel, 0, 3);
        for (uint32_t i = 0; i < WORKERS; i++) {
            w[i] = (worker){.channel = channel, .id = 10 + i, .deadline_ns = GYRE_NEVER};
            start(&w[i], send_one);
        }
        gyre_channel_close(channel);
        for (int i = 0; i < WORKERS; i++)
            CHECK(join(&w[i]) == GYRE_CLOSED);
        CHECK(fake_describe(channel).rejected == WORKERS + 1); /* and one that `fill` tried */
        CHECK(fake_describe(channel).queued == 3);
        gyre_subscriber_destroy(subscriber);
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void sender_waits_for_the_slowest_subscriber(void)
{
    gyre_channel *channel = make(GYRE_DELIVER_ALL, GYRE_FULL_BLOCK, 2, false);
    worker w = {.channel = channel, .id = 9};
    gyre_subscriber *slow, *quick;

    REQUIRE(channel != NULL);
    REQUIRE(gyre_subscriber_create(channel, &slow) == GYRE_OK);
    REQUIRE(gyre_subscriber_create(channel, &quick) == GYRE_OK);
    fill(channel, 0, 2);
    start(&w, send_one);
    CHECK(fake_hear(quick, &ledger) == 0);
    CHECK(fake_hear(quick, &ledger) == 1);
    CHECK(fake_hear(quick, &ledger) == FAKE_NONE(GYRE_AGAIN)); /* it still waits */
    CHECK(fake_hear(slow, &ledger) == 0);
    CHECK(join(&w) == GYRE_OK);
    CHECK(fake_hear(quick, &ledger) == 9);
    CHECK(fake_describe(channel).blocked_sends <= 1);
    gyre_subscriber_destroy(slow);
    gyre_subscriber_destroy(quick);
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void leaving_subscriber_lets_its_senders_go_on(void)
{
    for (int banded = 0; banded < 2; banded++) {
        gyre_channel *channel = make(GYRE_DELIVER_ALL, GYRE_FULL_BLOCK, WORKERS, banded);
        gyre_subscriber *slow;
        worker w[WORKERS];

        REQUIRE(channel != NULL);
        REQUIRE(gyre_subscriber_create(channel, &slow) == GYRE_OK);
        fill(channel, 0, WORKERS);
        for (uint32_t i = 0; i < WORKERS; i++) {
            w[i] = (worker){.channel = channel, .id = 10 + i, .deadline_ns = GYRE_NEVER};
            start(&w[i], send_one);
        }
        gyre_subscriber_destroy(slow);
        for (int i = 0; i < WORKERS; i++)
            CHECK(join(&w[i]) == GYRE_OK);
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void every_sleeping_subscriber_gets_the_item(void)
{
    for (int shape = 0; shape < 8; shape++) {
        gyre_channel *channel = make(GYRE_DELIVER_ALL, (gyre_when_full)(shape & 3), 3, shape >> 2);
        worker w[WORKERS];

        REQUIRE(channel != NULL);
        for (int i = 0; i < WORKERS; i++) {
            w[i] = (worker){.channel = channel};
            CHECK(gyre_subscriber_create(channel, &w[i].subscriber) == GYRE_OK);
            start(&w[i], receive_one);
        }
        CHECK(fake_send(channel, &ledger, 5, (uint32_t)shape * 36) == GYRE_OK);
        for (int i = 0; i < WORKERS; i++) {
            CHECK(join(&w[i]) == GYRE_OK && w[i].id == 5);
            gyre_subscriber_destroy(w[i].subscriber);
        }
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

/* Senders of all bands sleep in the same place; the room is one band's. */
static void sender_of_another_band_does_not_take_the_wake(void)
{
    gyre_channel *channel = make(GYRE_DELIVER_ALL, GYRE_FULL_BLOCK, 1, true);
    worker low = {.channel = channel, .id = 2, .priority = 0};
    worker high = {.channel = channel,
                   .id = 3,
                   .priority = 255,
                   .deadline_ns = gyre_clock_after_ns(5000ull * MILLISECOND)};
    gyre_subscriber *subscriber;

    REQUIRE(channel != NULL);
    REQUIRE(gyre_subscriber_create(channel, &subscriber) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 0, 0) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 1, 255) == GYRE_OK);
    start(&low, send_one);
    start(&high, send_one);
    CHECK(fake_hear(subscriber, &ledger) == 1); /* room for the high one */
    CHECK(join(&high) == GYRE_OK);
    while (fake_hear(subscriber, &ledger) != 0) /* 3, then 0: room for the low one */
        sched_yield();
    CHECK(join(&low) == GYRE_OK);
    gyre_subscriber_destroy(subscriber);
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

/* A slot that is being emptied, however long that takes, is no reason to drop others. */
static uint32_t drop_began, drop_may_end; /* seq_cst */

static void drop_slowly(void *user, void *item, size_t size)
{
    fake_drop(user, item, size);
    if (__atomic_exchange_n(&drop_began, 1, __ATOMIC_SEQ_CST) == 0)
        while (!__atomic_load_n(&drop_may_end, __ATOMIC_SEQ_CST))
            sched_yield();
}

static void slow_drop_costs_no_other_item(void)
{
    enum { PLACES = 8 };

    for (int banded = 0; banded < 2; banded++) {
        gyre_channel *channel =
            fake_channel((gyre_channel_options){.when_full = GYRE_FULL_DROP_OLDEST,
                                                .capacity = PLACES,
                                                .item_bytes = 16,
                                                .banded = banded,
                                                .drop = drop_slowly,
                                                .user = &ledger},
                         NULL);
        worker first = {.channel = channel, .id = PLACES, .deadline_ns = GYRE_NEVER};
        worker second = first;

        REQUIRE(channel != NULL);
        drop_began = drop_may_end = 0;
        for (uint32_t i = 0; i < PLACES; i++)
            CHECK(fake_send(channel, &ledger, i, 0) == GYRE_OK);
        second.id = PLACES + 1;
        CHECK(pthread_create(&first.native, NULL, send_one, &first) == 0);
        while (!__atomic_load_n(&drop_began, __ATOMIC_SEQ_CST))
            sched_yield();
        CHECK(pthread_create(&second.native, NULL, send_one, &second) == 0);
        usleep(20000); /* whatever it does meanwhile */
        __atomic_store_n(&drop_may_end, 1, __ATOMIC_SEQ_CST);
        CHECK(join(&first) == GYRE_OK && join(&second) == GYRE_OK);
        CHECK(fake_describe(channel).dropped == 2 && fake_describe(channel).queued == PLACES);
        for (uint32_t i = 2; i < PLACES; i++)
            CHECK(fake_receive(channel, &ledger) == i);
        CHECK(fake_accounts_hold(channel));
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

/* More than fits: the sender sleeps again and again until the receiver has made room for all. */
typedef struct flood {
    gyre_channel *channel;
    gyre_status status;
    size_t sent;
} flood;

enum { FLOOD = 1000 };

static void *send_flood(void *arg)
{
    flood *f = arg;
    static unsigned char items[FLOOD * 8];
    const gyre_batch batch = {items, 8, FLOOD, 0};

    for (uint32_t i = 0; i < FLOOD; i++)
        fake_item(&ledger, i, 8, items + 8 * (size_t)i);
    f->status = gyre_channel_send_bulk(f->channel, &batch, far_away(), &f->sent);
    return NULL;
}

static void bulk_send_of_more_than_fits_goes_through(void)
{
    for (int banded = 0; banded < 2; banded++) {
        flood f = {.channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, banded)};
        unsigned char items[2 * 16];
        gyre_received received[2];
        uint32_t next = 0;
        pthread_t sender;

        REQUIRE(f.channel != NULL);
        REQUIRE(pthread_create(&sender, NULL, send_flood, &f) == 0);
        while (next < FLOOD) {
            size_t count = 0;

            if (gyre_channel_receive_bulk(f.channel, items, received, 2, far_away(), &count) !=
                GYRE_OK)
                break;
            for (size_t i = 0; i < count; i++)
                CHECK(fake_release(&ledger, items + 16 * i, received[i].size) == next++);
        }
        pthread_join(sender, NULL);
        CHECK(next == FLOOD && f.status == GYRE_OK && f.sent == FLOOD);
        CHECK(fake_describe(f.channel).blocked_sends <= 1); /* it is one send */
        CHECK(fake_accounts_hold(f.channel));
        gyre_channel_destroy(f.channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static const test_case cases[] = {
    TEST(no_receive_ends_before_its_deadline),
    TEST(no_send_ends_before_its_deadline),
    TEST(bulk_send_that_times_out_says_how_many_went),
    TEST(blocked_time_is_counted),
    TEST(sleeping_receiver_gets_what_is_sent),
    TEST(sleeping_sender_goes_on_when_there_is_room),
    TEST(every_sleeping_receiver_gets_an_item),
    TEST(every_sleeping_sender_gets_its_room),
    TEST(close_frees_every_receiver),
    TEST(close_frees_every_sender),
    TEST(sender_waits_for_the_slowest_subscriber),
    TEST(leaving_subscriber_lets_its_senders_go_on),
    TEST(every_sleeping_subscriber_gets_the_item),
    TEST(sender_of_another_band_does_not_take_the_wake),
    TEST(slow_drop_costs_no_other_item),
    TEST(bulk_send_of_more_than_fits_goes_through),
};
TEST_MAIN(cases)
