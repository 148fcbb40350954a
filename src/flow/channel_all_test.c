/* SPDX-License-Identifier: Apache-2.0
 *
 * What a channel to ALL promises to a single thread: who sees what, when it is full, what its
 * subscribers missed, and that what items refer to is held by exactly those who will see it.
 */
#include "flow/channel_fake.h"

static fake_ledger ledger;

static gyre_channel *make(gyre_when_full when_full, uint32_t capacity, bool banded)
{
    return fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                               .when_full = when_full,
                                               .capacity = capacity,
                                               .item_bytes = 16,
                                               .banded = banded,
                                               .subscribers = 4,
                                               .metrics = true},
                        &ledger);
}

static gyre_subscriber *subscribe(gyre_channel *channel)
{
    gyre_subscriber *subscriber;

    CHECK(gyre_subscriber_create(channel, &subscriber) == GYRE_OK);
    CHECK(subscriber != NULL);
    return subscriber;
}

/* Sends items from `id` up to `end`, all of which are accepted. */
static void send_range(gyre_channel *channel, uint32_t id, uint32_t end, uint32_t priority)
{
    for (; id < end; id++)
        CHECK(fake_send(channel, &ledger, id, priority) == GYRE_OK);
}

/* Whether the subscriber hears `id` to `end`, and then nothing. */
static bool hears_range(gyre_subscriber *subscriber, uint32_t id, uint32_t end)
{
    for (; id < end; id++) {
        const int64_t heard = fake_hear(subscriber, &ledger);

        if (heard != (int64_t)id) {
            fprintf(stderr, "heard %lld, not %u\n", (long long)heard, id);
            return false;
        }
    }
    return fake_hear(subscriber, &ledger) == FAKE_NONE(GYRE_AGAIN);
}

/* accepted = delivered + dropped + queued, as they should be. */
static bool account_is(const gyre_subscriber *subscriber, uint64_t delivered, uint64_t dropped,
                       uint64_t queued)
{
    const gyre_channel_statistics s = fake_describe_subscriber(subscriber);

    if (s.delivered == delivered && s.dropped == dropped && s.queued == queued &&
        s.accepted == delivered + dropped + queued)
        return true;
    fprintf(stderr, "accepted %llu, delivered %llu, dropped %llu, queued %llu\n",
            (unsigned long long)s.accepted, (unsigned long long)s.delivered,
            (unsigned long long)s.dropped, (unsigned long long)s.queued);
    return false;
}

static void end(gyre_channel *channel)
{
    const gyre_channel_statistics s = fake_describe(channel);

    CHECK(s.attempts == s.accepted + s.rejected);
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void every_subscriber_sees_every_item(void)
{
    for (int shape = 0; shape < 8; shape++) {
        gyre_channel *channel = make((gyre_when_full)(shape & 3), 7, shape >> 2);
        gyre_subscriber *s[3];

        REQUIRE(channel != NULL);
        for (size_t i = 0; i < COUNT(s); i++)
            s[i] = subscribe(channel);
        for (uint32_t turn = 0; turn < 5; turn++) {
            send_range(channel, turn * 7, turn * 7 + 7, 0);
            for (size_t i = 0; i < COUNT(s); i++)
                CHECK(hears_range(s[i], turn * 7, turn * 7 + 7));
        }
        CHECK(fake_describe(channel).accepted == 35 && fake_describe(channel).delivered == 105);
        for (size_t i = 0; i < COUNT(s); i++) {
            CHECK(account_is(s[i], 35, 0, 0));
            gyre_subscriber_destroy(s[i]);
        }
        end(channel);
    }
}

static void subscriber_sees_what_is_sent_from_then_on(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 7, false);
    gyre_subscriber *early, *late;

    REQUIRE(channel != NULL);
    early = subscribe(channel);
    send_range(channel, 0, 3, 0);
    late = subscribe(channel);
    CHECK(fake_hear(late, &ledger) == FAKE_NONE(GYRE_AGAIN));
    send_range(channel, 3, 5, 0);
    CHECK(account_is(early, 0, 0, 5) && account_is(late, 0, 0, 2));
    CHECK(hears_range(late, 3, 5));
    CHECK(hears_range(early, 0, 5));
    gyre_subscriber_destroy(early);
    gyre_subscriber_destroy(late);
    end(channel);
}

static void items_of_nobody_go_nowhere(void)
{
    for (int policy = 0; policy < 4; policy++) {
        gyre_channel *channel = make((gyre_when_full)policy, 3, false);
        gyre_subscriber *subscriber;
        gyre_channel_statistics s;

        REQUIRE(channel != NULL);
        send_range(channel, 0, 10, 0); /* never full */
        s = fake_describe(channel);
        CHECK(s.attempts == 10 && s.accepted == 10 && s.rejected == 0);
        CHECK(s.delivered == 0 && s.queued == 0);
        subscriber = subscribe(channel);
        CHECK(fake_hear(subscriber, &ledger) == FAKE_NONE(GYRE_AGAIN));
        send_range(channel, 10, 13, 0);
        CHECK(hears_range(subscriber, 10, 13));
        gyre_subscriber_destroy(subscriber);
        send_range(channel, 13, 23, 0); /* nor when the last one has gone */
        end(channel);
    }
}

static void channel_is_full_for_its_slowest_subscriber(void)
{
    for (int policy = GYRE_FULL_BLOCK; policy <= GYRE_FULL_REJECT; policy++) {
        gyre_channel *channel = make((gyre_when_full)policy, 3, false);
        gyre_subscriber *slow, *quick;
        unsigned char item[8];

        REQUIRE(channel != NULL);
        slow = subscribe(channel);
        quick = subscribe(channel);
        send_range(channel, 0, 3, 0);
        CHECK(hears_range(quick, 0, 3));
        CHECK(fake_send(channel, &ledger, 3, 0) == GYRE_AGAIN);
        fake_item(&ledger, 4, 8, item);
        CHECK(gyre_channel_send(channel, 0, item, 8, 0) ==
              (policy == GYRE_FULL_BLOCK ? GYRE_TIMEOUT : GYRE_AGAIN));
        (void)fake_release(&ledger, item, 8);
        CHECK(fake_describe(channel).queued == 3 && fake_describe(channel).rejected == 2);
        CHECK(fake_hear(slow, &ledger) == 0);
        CHECK(fake_send(channel, &ledger, 5, 0) == GYRE_OK);
        CHECK(fake_send(channel, &ledger, 6, 0) == GYRE_AGAIN);
        CHECK(fake_hear(quick, &ledger) == 5);
        CHECK(account_is(slow, 1, 0, 3) && account_is(quick, 4, 0, 0));
        gyre_subscriber_destroy(slow); /* unread items go, and so does their claim on the room */
        send_range(channel, 7, 10, 0);
        CHECK(hears_range(quick, 7, 10));
        gyre_subscriber_destroy(quick);
        end(channel);
    }
}

static void any_capacity_holds_exactly_so_many(void)
{
    static const uint32_t capacities[] = {1, 2, 3, 7, 100};

    for (size_t i = 0; i < COUNT(capacities); i++) {
        const uint32_t n = capacities[i];
        gyre_channel *channel = make(GYRE_FULL_REJECT, n, false);
        gyre_subscriber *s;
        uint32_t next = 0, expected = 0;

        REQUIRE(channel != NULL);
        s = subscribe(channel);
        for (uint32_t turn = 0; turn < 7; turn++) {
            while (next - expected < n)
                CHECK(fake_send(channel, &ledger, next++, 0) == GYRE_OK);
            CHECK(fake_send(channel, &ledger, next, 0) == GYRE_AGAIN);
            for (uint32_t k = 0; k < (n + 1) / 2; k++)
                CHECK(fake_hear(s, &ledger) == expected++);
        }
        gyre_subscriber_destroy(s);
        end(channel);
    }
}

static void subscriber_that_fell_behind_goes_on_with_the_oldest_left(void)
{
    static const uint32_t capacities[] = {1, 3, 7, 100};

    for (size_t i = 0; i < COUNT(capacities); i++) {
        const uint32_t n = capacities[i];
        gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, n, false);
        gyre_subscriber *slow, *quick;

        REQUIRE(channel != NULL);
        slow = subscribe(channel);
        quick = subscribe(channel);
        for (uint32_t k = 0; k < 3 * n + 1; k++) {
            CHECK(fake_send(channel, &ledger, k, 0) == GYRE_OK);
            CHECK(fake_hear(quick, &ledger) == k);
        }
        CHECK(account_is(slow, 0, 2 * n + 1, n) && account_is(quick, 3 * n + 1, 0, 0));
        CHECK(fake_describe(channel).dropped == 2 * n + 1 && fake_describe(channel).queued == n);
        CHECK(fake_describe(channel).peak == n);
        CHECK(hears_range(slow, 2 * n + 1, 3 * n + 1));
        CHECK(account_is(slow, n, 2 * n + 1, 0));
        CHECK(fake_describe(channel).delivered == 4 * n + 1);
        gyre_subscriber_destroy(slow);
        gyre_subscriber_destroy(quick);
        end(channel);
    }
}

static void what_was_missed_stays_counted(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 1, false);
    gyre_subscriber *slow;

    REQUIRE(channel != NULL);
    slow = subscribe(channel);
    send_range(channel, 0, 5, 0);
    CHECK(fake_describe(channel).dropped == 4);
    gyre_subscriber_destroy(slow);
    CHECK(fake_describe(channel).dropped == 4 && fake_describe(channel).queued == 0);
    end(channel);
}

static void subscriber_that_never_reads_costs_nobody_else(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 3, false);
    gyre_subscriber *deaf, *quick;

    REQUIRE(channel != NULL);
    deaf = subscribe(channel);
    quick = subscribe(channel);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK(fake_send(channel, &ledger, i, 0) == GYRE_OK);
        CHECK(fake_hear(quick, &ledger) == i);
    }
    CHECK(account_is(deaf, 0, 997, 3));
    CHECK(fake_alive(&ledger) == fake_kept(GYRE_FULL_DROP_OLDEST, 3)); /* not all it missed */
    gyre_subscriber_destroy(deaf);
    gyre_subscriber_destroy(quick);
    end(channel);
}

static void full_dropping_channel_loses_the_newest_for_everybody(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_NEWEST, 3, false);
    gyre_subscriber *slow, *quick;

    REQUIRE(channel != NULL);
    slow = subscribe(channel);
    quick = subscribe(channel);
    send_range(channel, 0, 3, 0);
    CHECK(hears_range(quick, 0, 3));
    send_range(channel, 3, 5, 0);
    CHECK(fake_hear(quick, &ledger) == FAKE_NONE(GYRE_AGAIN));
    CHECK(account_is(slow, 0, 0, 3) && account_is(quick, 3, 0, 0)); /* which no subscriber counts */
    CHECK(fake_describe(channel).accepted == 5 && fake_describe(channel).rejected == 0);
    CHECK(fake_describe(channel).dropped == 2);
    CHECK(hears_range(slow, 0, 3));
    send_range(channel, 5, 6, 0);
    CHECK(hears_range(slow, 5, 6) && hears_range(quick, 5, 6));
    gyre_subscriber_destroy(slow);
    gyre_subscriber_destroy(quick);
    end(channel);
}

static void bands_have_their_capacity_to_themselves(void)
{
    gyre_channel *channel = make(GYRE_FULL_REJECT, 3, true);
    gyre_subscriber *s;

    REQUIRE(channel != NULL);
    s = subscribe(channel);
    for (uint32_t band = 0; band < 4; band++) {
        send_range(channel, band * 3, band * 3 + 3, band * 64);
        CHECK(fake_send(channel, &ledger, 99, band * 64 + 63) == GYRE_AGAIN);
    }
    CHECK(account_is(s, 0, 0, 12));
    CHECK(fake_describe(channel).queued == 12 && fake_describe(channel).peak == 12);
    for (uint32_t band = 4; band-- > 0;)
        for (uint32_t i = 0; i < 3; i++) {
            gyre_received received;
            uint32_t item[4];

            CHECK(gyre_subscriber_try_receive(s, item, &received) == GYRE_OK);
            CHECK(received.band == band && received.reply == 0);
            CHECK(fake_release(&ledger, item, received.size) == band * 3 + i);
        }
    CHECK(fake_hear(s, &ledger) == FAKE_NONE(GYRE_AGAIN));
    gyre_subscriber_destroy(s);
    end(channel);
}

static void dropped_oldest_is_of_the_band_that_is_full(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 2, true);
    gyre_subscriber *s;

    REQUIRE(channel != NULL);
    s = subscribe(channel);
    send_range(channel, 0, 2, GYRE_PRIORITY_LOW);
    send_range(channel, 10, 13, GYRE_PRIORITY_CRITICAL);
    CHECK(account_is(s, 0, 1, 4));
    CHECK(fake_hear(s, &ledger) == 11);
    CHECK(fake_hear(s, &ledger) == 12);
    CHECK(hears_range(s, 0, 2));
    gyre_subscriber_destroy(s);
    end(channel);
}

static void bulk_forms_do_what_single_ones_do(void)
{
    gyre_channel *channel = make(GYRE_FULL_REJECT, 7, false);
    unsigned char items[10 * 16];
    gyre_received received[10];
    const gyre_batch batch = {items, 8, 10, 0};
    gyre_subscriber *s[2];
    size_t count = 99;

    REQUIRE(channel != NULL);
    for (size_t i = 0; i < 2; i++)
        s[i] = subscribe(channel);
    CHECK(gyre_subscriber_try_receive_bulk(s[0], items, received, 10, &count) == GYRE_AGAIN);
    CHECK(count == 0);
    count = 99;
    CHECK(gyre_subscriber_receive_bulk(s[0], items, received, 10, 0, &count) == GYRE_TIMEOUT);
    CHECK(count == 0);
    CHECK(gyre_subscriber_try_receive_bulk(s[0], items, received, 0, &count) == GYRE_INVALID);
    for (uint32_t i = 0; i < 10; i++)
        fake_item(&ledger, i, 8, items + 8 * (size_t)i);
    CHECK(gyre_channel_try_send_bulk(channel, &batch, &count) == GYRE_AGAIN && count == 7);
    for (uint32_t i = 7; i < 10; i++)
        (void)fake_release(&ledger, items + 8 * (size_t)i, 8);
    for (size_t k = 0; k < 2; k++) {
        CHECK(gyre_subscriber_try_receive_bulk(s[k], items, received, 4, &count) == GYRE_OK);
        CHECK(count == 4);
        CHECK(gyre_subscriber_receive_bulk(s[k], items + 4 * (size_t)16, received + 4, 6, 0,
                                           &count) == GYRE_OK);
        CHECK(count == 3);
        for (uint32_t i = 0; i < 7; i++)
            CHECK(fake_release(&ledger, items + 16 * (size_t)i, received[i].size) == i);
        CHECK(account_is(s[k], 7, 0, 0));
        gyre_subscriber_destroy(s[k]);
    }
    end(channel);
}

static void there_are_so_many_places_and_no_more(void)
{
    static const uint32_t most[] = {0, 1, 3, 64, 1024};

    for (size_t i = 0; i < COUNT(most); i++) {
        static gyre_subscriber *s[1024];
        const uint32_t places = most[i] ? most[i] : 16;
        gyre_subscriber *more = (gyre_subscriber *)&more;
        gyre_channel *channel = fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                                                    .capacity = 3,
                                                                    .item_bytes = 16,
                                                                    .subscribers = most[i]},
                                             &ledger);

        REQUIRE(channel != NULL);
        for (uint32_t k = 0; k < places; k++)
            s[k] = subscribe(channel);
        CHECK(gyre_subscriber_create(channel, &more) == GYRE_AGAIN);
        CHECK(more == NULL);
        send_range(channel, 0, 3, 0);
        gyre_subscriber_destroy(s[places / 2]);
        s[places / 2] = subscribe(channel); /* the place is clean */
        CHECK(account_is(s[places / 2], 0, 0, 0));
        CHECK(fake_hear(s[places / 2], &ledger) == FAKE_NONE(GYRE_AGAIN));
        for (uint32_t k = 0; k < places; k++) {
            if (k != places / 2)
                CHECK(hears_range(s[k], 0, 3));
            gyre_subscriber_destroy(s[k]);
        }
        end(channel);
    }
    gyre_subscriber_destroy(NULL);
}

static void closed_channel_drains_for_everybody(void)
{
    for (int policy = 0; policy < 4; policy++) {
        gyre_channel *channel = make((gyre_when_full)policy, 3, false);
        gyre_subscriber *s[2], *late = (gyre_subscriber *)&late;
        unsigned char item[16];
        size_t count = 99;

        REQUIRE(channel != NULL);
        for (size_t i = 0; i < 2; i++)
            s[i] = subscribe(channel);
        send_range(channel, 0, 2, 0);
        CHECK(fake_hear(s[0], &ledger) == 0);
        gyre_channel_close(channel);
        CHECK(fake_send(channel, &ledger, 2, 0) == GYRE_CLOSED);
        CHECK(gyre_subscriber_create(channel, &late) == GYRE_CLOSED);
        CHECK(late == NULL);
        CHECK(fake_hear(s[0], &ledger) == 1 && fake_hear(s[1], &ledger) == 0);
        CHECK(fake_hear(s[0], &ledger) == FAKE_NONE(GYRE_CLOSED));
        CHECK(gyre_subscriber_receive(s[0], item, NULL, GYRE_NEVER) == GYRE_CLOSED);
        CHECK(gyre_subscriber_receive_bulk(s[0], item, NULL, 1, GYRE_NEVER, &count) == GYRE_CLOSED);
        CHECK(count == 0);
        CHECK(account_is(s[0], 2, 0, 0) && account_is(s[1], 1, 0, 1));
        gyre_subscriber_destroy(s[0]);
        gyre_subscriber_destroy(s[1]); /* with an item before it */
        end(channel);
    }
}

static void leaving_subscriber_drops_only_what_nobody_else_will_see(void)
{
    for (int policy = 0; policy < 4; policy++) {
        gyre_channel *channel = make((gyre_when_full)policy, 7, false);
        gyre_subscriber *leaver, *stayer;

        REQUIRE(channel != NULL);
        leaver = subscribe(channel);
        stayer = subscribe(channel);
        send_range(channel, 0, 5, 0);
        CHECK(fake_hear(stayer, &ledger) == 0);
        CHECK(fake_hear(stayer, &ledger) == 1);
        gyre_subscriber_destroy(leaver);
        for (uint32_t i = 2; i < 5; i++)
            CHECK(ledger.holders[i] > 0);
        CHECK(hears_range(stayer, 2, 5));
        gyre_subscriber_destroy(stayer);
        end(channel);
    }
}

/* As many as gyre/channel.h says, whoever has received them, and nothing older. */
static void channel_keeps_its_last_items(void)
{
    for (int policy = 0; policy < 4; policy++) {
        gyre_channel *channel = make((gyre_when_full)policy, 3, false);
        const uint32_t kept = fake_kept((gyre_when_full)policy, 3);
        gyre_subscriber *s[2];

        REQUIRE(channel != NULL && kept < 40);
        send_range(channel, 0, 2, 0); /* nobody is there */
        CHECK(fake_alive(&ledger) == 2);
        s[0] = subscribe(channel);
        s[1] = subscribe(channel);
        for (uint32_t i = 2; i < 50; i++) {
            send_range(channel, i, i + 1, 0);
            CHECK(hears_range(s[0], i, i + 1) && hears_range(s[1], i, i + 1));
            CHECK(fake_alive(&ledger) == (i < kept ? i + 1 : kept) && ledger.holders[i] == 1);
        }
        gyre_subscriber_destroy(s[0]);
        gyre_subscriber_destroy(s[1]);
        CHECK(fake_alive(&ledger) == kept);
        end(channel);
    }
}

static void subscribers_account_has_only_its_own(void)
{
    gyre_channel *channel = make(GYRE_FULL_REJECT, 2, false);
    gyre_channel_statistics s;
    gyre_subscriber *subscriber;

    REQUIRE(channel != NULL);
    send_range(channel, 0, 2, 0);
    subscriber = subscribe(channel);
    send_range(channel, 2, 4, 0);
    CHECK(fake_send(channel, &ledger, 4, 0) == GYRE_AGAIN);
    CHECK(fake_hear(subscriber, &ledger) == 2);
    s = fake_describe_subscriber(subscriber);
    CHECK(s.accepted == 2 && s.delivered == 1 && s.dropped == 0 && s.queued == 1);
    CHECK(s.attempts == 0 && s.rejected == 0 && s.peak == 0 && s.blocked_sends == 0);
    CHECK(s.blocked_ns == 0 && s.late_answers == 0);
    s.struct_size = 0;
    CHECK(gyre_subscriber_describe(subscriber, &s) == GYRE_INVALID);
    memset(&s, 0xee, sizeof s);
    s.struct_size = offsetof(gyre_channel_statistics, delivered);
    CHECK(gyre_subscriber_describe(subscriber, &s) == GYRE_OK);
    CHECK(s.accepted == 2 && s.delivered == 0xeeeeeeeeeeeeeeee);
    gyre_subscriber_destroy(subscriber);
    end(channel);
}

/* An allocator that can be told to fail. */
static bool broke;
static int blocks;

static void *maybe_allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    blocks += !broke;
    return broke ? NULL : aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
}

static void maybe_release(void *user, void *block, size_t size_bytes)
{
    (void)user, (void)size_bytes;
    blocks--;
    free(block);
}

static void subscribing_without_memory_fails_cleanly(void)
{
    const gyre_allocator maybe = {maybe_allocate, maybe_release, NULL};
    gyre_channel *channel = fake_channel((gyre_channel_options){.allocator = &maybe,
                                                                .delivery = GYRE_DELIVER_ALL,
                                                                .capacity = 3,
                                                                .item_bytes = 16,
                                                                .subscribers = 2},
                                         &ledger);
    gyre_subscriber *first = (gyre_subscriber *)&first, *second;
    gyre_status status;

    REQUIRE(channel != NULL);
    broke = true;
    status = gyre_subscriber_create(channel, &first);
    broke = false;
    CHECK(status == GYRE_OK || (status == GYRE_NO_MEMORY && first == NULL));
    if (status != GYRE_OK)
        first = subscribe(channel);
    second = subscribe(channel); /* the failure took no place */
    send_range(channel, 0, 3, 0);
    CHECK(hears_range(first, 0, 3) && hears_range(second, 0, 3));
    gyre_subscriber_destroy(first);
    gyre_subscriber_destroy(second);
    end(channel);
    CHECK(blocks == 0);
}

static const test_case cases[] = {
    TEST(every_subscriber_sees_every_item),
    TEST(subscriber_sees_what_is_sent_from_then_on),
    TEST(items_of_nobody_go_nowhere),
    TEST(channel_is_full_for_its_slowest_subscriber),
    TEST(any_capacity_holds_exactly_so_many),
    TEST(subscriber_that_fell_behind_goes_on_with_the_oldest_left),
    TEST(what_was_missed_stays_counted),
    TEST(subscriber_that_never_reads_costs_nobody_else),
    TEST(full_dropping_channel_loses_the_newest_for_everybody),
    TEST(bands_have_their_capacity_to_themselves),
    TEST(dropped_oldest_is_of_the_band_that_is_full),
    TEST(bulk_forms_do_what_single_ones_do),
    TEST(there_are_so_many_places_and_no_more),
    TEST(closed_channel_drains_for_everybody),
    TEST(leaving_subscriber_drops_only_what_nobody_else_will_see),
    TEST(channel_keeps_its_last_items),
    TEST(subscribers_account_has_only_its_own),
    TEST(subscribing_without_memory_fails_cleanly),
};
TEST_MAIN(cases)
