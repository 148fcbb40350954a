/* SPDX-License-Identifier: Apache-2.0
 *
 * What a full channel to ONE does under each policy, with and without priority bands.
 */
#include "flow/channel_fake.h"

static fake_ledger ledger;

static const uint32_t band_priority[4] = {GYRE_PRIORITY_LOW, GYRE_PRIORITY_NORMAL,
                                          GYRE_PRIORITY_HIGH, GYRE_PRIORITY_CRITICAL};

static gyre_channel *make(gyre_when_full when_full, uint32_t capacity, bool banded)
{
    return fake_channel((gyre_channel_options){.when_full = when_full,
                                               .capacity = capacity,
                                               .item_bytes = 16,
                                               .banded = banded,
                                               .metrics = true},
                        &ledger);
}

/* A batch of `count` counted items from `id` on. */
static gyre_status send_bulk(gyre_channel *channel, uint32_t id, uint32_t count, uint32_t priority,
                             size_t *out_sent)
{
    unsigned char items[16 * 8];
    const gyre_batch batch = {items, 8, count, priority};
    gyre_status status;

    CHECK(count <= 16);
    for (uint32_t i = 0; i < count; i++)
        fake_item(&ledger, id + i, 8, items + 8 * (size_t)i);
    status = gyre_channel_try_send_bulk(channel, &batch, out_sent);
    for (size_t i = *out_sent; i < count; i++)
        (void)fake_release(&ledger, items + 8 * i, 8);
    return status;
}

static bool receives(gyre_channel *channel, const uint32_t *ids, size_t count)
{
    bool right = true;

    for (size_t i = 0; i < count; i++) {
        const int64_t id = fake_receive(channel, &ledger);

        if (id != (int64_t)ids[i]) {
            fprintf(stderr, "item %zu is %lld, not %u\n", i, (long long)id, ids[i]);
            right = false;
        }
    }
    return right && fake_receive(channel, &ledger) == FAKE_NONE(GYRE_AGAIN);
}
#define RECEIVES(channel, ...)                                                                     \
    receives((channel), (const uint32_t[]){__VA_ARGS__},                                           \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void end(gyre_channel *channel)
{
    CHECK(fake_accounts_hold(channel));
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void full_rejecting_channel_refuses_at_once(void)
{
    unsigned char item[8];

    for (int banded = 0; banded < 2; banded++) {
        gyre_channel *channel = make(GYRE_FULL_REJECT, 3, banded);
        gyre_channel_statistics s;
        size_t sent;

        REQUIRE(channel != NULL);
        for (uint32_t i = 0; i < 3; i++)
            CHECK(fake_send(channel, &ledger, i, 0) == GYRE_OK);
        CHECK(fake_send(channel, &ledger, 3, 255) == GYRE_AGAIN);
        fake_item(&ledger, 4, 8, item);
        CHECK(gyre_channel_send(channel, 0, item, 8, GYRE_NEVER) == GYRE_AGAIN);
        (void)fake_release(&ledger, item, 8);
        CHECK(send_bulk(channel, 5, 2, 0, &sent) == GYRE_AGAIN && sent == 0);
        s = fake_describe(channel);
        CHECK(s.attempts == 7 && s.accepted == 3 && s.rejected == 4 && s.dropped == 0);
        CHECK(s.blocked_sends == 0);
        CHECK(RECEIVES(channel, 0, 1, 2));
        CHECK(send_bulk(channel, 10, 5, 0, &sent) == GYRE_AGAIN && sent == 3);
        CHECK(RECEIVES(channel, 10, 11, 12));
        end(channel);
    }
}

static void full_dropping_channel_loses_its_oldest(void)
{
    static const uint32_t capacities[] = {1, 3, 7, 100};

    for (size_t i = 0; i < COUNT(capacities); i++) {
        const uint32_t n = capacities[i];
        gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, n, false);
        const uint64_t before = ledger.drops;
        gyre_channel_statistics s;

        REQUIRE(channel != NULL);
        for (uint32_t k = 0; k < 3 * n + 1; k++)
            CHECK(fake_send(channel, &ledger, k, 0) == GYRE_OK);
        CHECK(ledger.drops == before + 2ull * n + 1);
        s = fake_describe(channel);
        CHECK(s.attempts == 3 * n + 1 && s.accepted == 3 * n + 1 && s.rejected == 0);
        CHECK(s.dropped == 2 * n + 1 && s.queued == n && s.peak == n);
        for (uint32_t k = 2 * n + 1; k < 3 * n + 1; k++)
            CHECK(fake_receive(channel, &ledger) == k);
        CHECK(fake_receive(channel, &ledger) == FAKE_NONE(GYRE_AGAIN));
        end(channel);
    }
}

static void full_dropping_channel_loses_the_newest(void)
{
    unsigned char item[8];

    for (int banded = 0; banded < 2; banded++) {
        gyre_channel *channel = make(GYRE_FULL_DROP_NEWEST, 3, banded);
        const uint64_t before = ledger.drops;
        gyre_channel_statistics s;
        size_t sent;

        REQUIRE(channel != NULL);
        CHECK(send_bulk(channel, 0, 5, 0, &sent) == GYRE_OK && sent == 5);
        CHECK(fake_send(channel, &ledger, 5, 255) == GYRE_OK); /* a higher band does not help */
        fake_item(&ledger, 6, 8, item);
        CHECK(gyre_channel_send(channel, 0, item, 8, 0) == GYRE_OK);
        CHECK(ledger.drops == before + 4);
        s = fake_describe(channel);
        CHECK(s.attempts == 7 && s.accepted == 7 && s.rejected == 0 && s.dropped == 4);
        CHECK(s.queued == 3 && s.peak == 3);
        CHECK(RECEIVES(channel, 0, 1, 2));
        end(channel);
    }
}

static void bulk_send_larger_than_the_channel_keeps_its_end(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 3, false);
    gyre_channel_statistics s;
    size_t sent;

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 100, 0) == GYRE_OK);
    CHECK(send_bulk(channel, 0, 11, 0, &sent) == GYRE_OK && sent == 11);
    s = fake_describe(channel);
    CHECK(s.accepted == 12 && s.dropped == 9 && s.queued == 3 && s.peak == 3);
    CHECK(RECEIVES(channel, 8, 9, 10));
    end(channel);
}

static void priority_selects_the_band(void)
{
    static const struct {
        uint32_t priority, band;
    } edges[] = {{0, 0},   {63, 0},  {64, 1},  {127, 1}, {128, 2},
                 {191, 2}, {192, 3}, {255, 3}, {32, 0},  {224, 3}};
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 4, true);

    REQUIRE(channel != NULL);
    for (size_t i = 0; i < COUNT(edges); i++) {
        gyre_received received = {9, 9, 9};
        uint32_t item = (uint32_t)i, out[4];

        fake_item(&ledger, item, sizeof item, &item);
        CHECK(gyre_channel_try_send(channel, edges[i].priority, &item, sizeof item) == GYRE_OK);
        CHECK(gyre_channel_try_receive(channel, out, &received) == GYRE_OK);
        CHECK(received.band == edges[i].band && received.size == sizeof item);
        CHECK(fake_release(&ledger, out, received.size) == i);
    }
    end(channel);
}

/* There is no such priority; it must not become a band that does not exist. */
static void priority_beyond_255_reaches_no_fifth_band(void)
{
    static const uint32_t priorities[] = {256, 319, 512, 1u << 30, UINT32_MAX};
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 8, true);

    REQUIRE(channel != NULL);
    for (size_t i = 0; i < COUNT(priorities); i++) {
        const gyre_status status = fake_send(channel, &ledger, (uint32_t)i, priorities[i]);
        gyre_received received = {9, 9, 9};
        uint32_t out[4];

        CHECK(status == GYRE_OK || status == GYRE_INVALID);
        if (status != GYRE_OK)
            continue;
        CHECK(gyre_channel_try_receive(channel, out, &received) == GYRE_OK && received.band <= 3);
        CHECK(fake_release(&ledger, out, received.size) == i);
    }
    end(channel);
}

static void priorities_are_ignored_without_bands(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 5, false);
    gyre_received received;
    uint32_t out[4];

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(fake_send(channel, &ledger, i, i == 4 ? UINT32_MAX : band_priority[i]) == GYRE_OK);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK(gyre_channel_try_receive(channel, out, &received) == GYRE_OK && received.band == 0);
        CHECK(fake_release(&ledger, out, received.size) == i);
    }
    end(channel);
}

static void highest_band_comes_first_and_each_in_order(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 12, true);

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 12; i++) /* bands 0 1 2 3 0 1 2 3 ... */
        CHECK(fake_send(channel, &ledger, i, band_priority[i % 4]) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 99, 255) == GYRE_AGAIN); /* they share the capacity */
    CHECK(RECEIVES(channel, 3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8));
    end(channel);
}

static void one_band_may_have_the_whole_capacity(void)
{
    for (uint32_t band = 0; band < 4; band++) {
        gyre_channel *channel = make(GYRE_FULL_REJECT, 7, true);

        REQUIRE(channel != NULL);
        for (uint32_t i = 0; i < 7; i++)
            CHECK(fake_send(channel, &ledger, i, band_priority[band]) == GYRE_OK);
        for (uint32_t other = 0; other < 4; other++)
            CHECK(fake_send(channel, &ledger, 9, band_priority[other]) == GYRE_AGAIN);
        CHECK(fake_receive(channel, &ledger) == 0);
        CHECK(fake_send(channel, &ledger, 7, band_priority[3 - band]) == GYRE_OK);
        CHECK(fake_send(channel, &ledger, 9, band_priority[band]) == GYRE_AGAIN);
        CHECK(fake_describe(channel).queued == 7);
        end(channel);
    }
}

static void bulk_receive_goes_through_the_bands(void)
{
    static const uint32_t order[] = {3, 7, 2, 6, 1, 5, 0, 4};
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 8, true);
    unsigned char items[8 * 16];
    gyre_received received[8];
    size_t count;

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 8; i++)
        CHECK(fake_send(channel, &ledger, i, band_priority[i % 4]) == GYRE_OK);
    CHECK(gyre_channel_try_receive_bulk(channel, items, received, 8, &count) == GYRE_OK);
    CHECK(count == 8);
    for (size_t i = 0; i < count; i++) {
        CHECK(received[i].band == order[i] % 4);
        CHECK(fake_release(&ledger, items + 16 * i, received[i].size) == order[i]);
    }
    end(channel);
}

static void dropped_oldest_is_of_the_lowest_band_that_has_something(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 4, true);
    gyre_channel_statistics s;

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 0, GYRE_PRIORITY_CRITICAL) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 1, GYRE_PRIORITY_HIGH) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 2, GYRE_PRIORITY_NORMAL) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 3, GYRE_PRIORITY_NORMAL) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 4, GYRE_PRIORITY_CRITICAL) == GYRE_OK); /* 2 goes */
    CHECK(fake_send(channel, &ledger, 5, GYRE_PRIORITY_LOW) == GYRE_OK);      /* 3 goes */
    CHECK(fake_send(channel, &ledger, 6, GYRE_PRIORITY_LOW) == GYRE_OK);      /* 5 goes */
    CHECK(fake_send(channel, &ledger, 7, GYRE_PRIORITY_CRITICAL) == GYRE_OK); /* 6 goes */
    CHECK(fake_send(channel, &ledger, 8, GYRE_PRIORITY_CRITICAL) == GYRE_OK); /* 1 goes */
    s = fake_describe(channel);
    CHECK(s.accepted == 9 && s.dropped == 5 && s.queued == 4 && s.peak == 4);
    CHECK(RECEIVES(channel, 0, 4, 7, 8));
    end(channel);
}

/* The new item is not in the channel yet, so that it cannot be what goes. */
static void low_item_may_push_out_a_critical_one(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 2, true);

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 0, GYRE_PRIORITY_CRITICAL) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 1, GYRE_PRIORITY_CRITICAL) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 2, GYRE_PRIORITY_LOW) == GYRE_OK);
    CHECK(RECEIVES(channel, 1, 2));
    end(channel);
}

static void bulk_send_drops_like_single_sends(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 5, true);
    size_t sent;

    REQUIRE(channel != NULL);
    CHECK(send_bulk(channel, 0, 2, GYRE_PRIORITY_LOW, &sent) == GYRE_OK && sent == 2);
    CHECK(send_bulk(channel, 10, 2, GYRE_PRIORITY_CRITICAL, &sent) == GYRE_OK && sent == 2);
    /* one goes in, two push out 0 and 1, then 20 and 21 */
    CHECK(send_bulk(channel, 20, 5, GYRE_PRIORITY_NORMAL, &sent) == GYRE_OK && sent == 5);
    CHECK(fake_describe(channel).dropped == 4);
    CHECK(RECEIVES(channel, 10, 11, 22, 23, 24));
    end(channel);
}

static void closed_channel_refuses_under_every_policy(void)
{
    for (int shape = 0; shape < 8; shape++) {
        gyre_channel *channel = make((gyre_when_full)(shape & 3), 2, shape >> 2);
        gyre_channel_statistics s;
        size_t sent = 99;

        REQUIRE(channel != NULL);
        CHECK(fake_send(channel, &ledger, 0, 0) == GYRE_OK);
        CHECK(fake_send(channel, &ledger, 1, 255) == GYRE_OK);
        gyre_channel_close(channel);
        CHECK(fake_send(channel, &ledger, 2, 0) == GYRE_CLOSED);
        CHECK(send_bulk(channel, 3, 2, 255, &sent) == GYRE_CLOSED && sent == 0);
        s = fake_describe(channel);
        CHECK(s.attempts == 5 && s.accepted == 2 && s.rejected == 3 && s.dropped == 0);
        CHECK(fake_receive(channel, &ledger) == (shape >> 2 ? 1 : 0));
        end(channel);
    }
}

static void destroy_drops_every_band(void)
{
    for (int policy = 0; policy < 4; policy++) {
        gyre_channel *channel = make((gyre_when_full)policy, 8, true);
        const uint64_t before = ledger.drops;

        REQUIRE(channel != NULL);
        for (uint32_t i = 0; i < 8; i++)
            CHECK(fake_send(channel, &ledger, i, band_priority[i % 4]) == GYRE_OK);
        CHECK(fake_receive(channel, &ledger) == 3);
        gyre_channel_destroy(channel);
        CHECK(ledger.drops == before + 7 && fake_alive(&ledger) == 0);
    }
}

static const test_case cases[] = {
    TEST(full_rejecting_channel_refuses_at_once),
    TEST(full_dropping_channel_loses_its_oldest),
    TEST(full_dropping_channel_loses_the_newest),
    TEST(bulk_send_larger_than_the_channel_keeps_its_end),
    TEST(priority_selects_the_band),
    TEST(priority_beyond_255_reaches_no_fifth_band),
    TEST(priorities_are_ignored_without_bands),
    TEST(highest_band_comes_first_and_each_in_order),
    TEST(one_band_may_have_the_whole_capacity),
    TEST(bulk_receive_goes_through_the_bands),
    TEST(dropped_oldest_is_of_the_lowest_band_that_has_something),
    TEST(low_item_may_push_out_a_critical_one),
    TEST(bulk_send_drops_like_single_sends),
    TEST(closed_channel_refuses_under_every_policy),
    TEST(destroy_drops_every_band),
};
TEST_MAIN(cases)
