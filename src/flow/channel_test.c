/* SPDX-License-Identifier: Apache-2.0
 *
 * What a channel to ONE promises to a single thread: its options, sizes, order, bulk forms, close,
 * accounts and ends.
 */
#include "gyre/channel.h"

#include "flow/channel_fake.h"
#include "gyre/command.h"
#include "gyre/reply.h"

static fake_ledger ledger;

/* An allocator that fails from its nth call on, and counts what is out. */
typedef struct purse {
    int left;
    int out;
    size_t out_bytes;
} purse;

static void *purse_allocate(void *user, size_t size_bytes, size_t alignment)
{
    purse *p = user;

    CHECK(size_bytes > 0 && alignment >= 16 && (alignment & (alignment - 1)) == 0);
    if (p->left-- <= 0)
        return NULL;
    p->out++;
    p->out_bytes += size_bytes;
    return aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
}

static void purse_release(void *user, void *block, size_t size_bytes)
{
    purse *p = user;

    CHECK(block != NULL);
    p->out--;
    p->out_bytes -= size_bytes;
    free(block);
}

static void null_options_mean_all_defaults(void)
{
    gyre_command command;
    gyre_channel *channel;

    memset(&command, 7, sizeof command);
    REQUIRE(gyre_channel_create(NULL, &channel) == GYRE_OK);
    CHECK(gyre_channel_item_bytes(channel) == sizeof command);
    CHECK(strcmp(gyre_channel_name(channel), "") == 0);
    for (int i = 0; i < 1024; i++)
        CHECK(gyre_channel_try_send(channel, 0, &command, sizeof command) == GYRE_OK);
    CHECK(gyre_channel_try_send(channel, 0, &command, sizeof command) == GYRE_AGAIN);
    CHECK(gyre_channel_send(channel, 0, &command, 1, 0) == GYRE_TIMEOUT); /* the policy is BLOCK */
    gyre_channel_destroy(channel);
}

static void numbers_out_of_range_are_refused(void)
{
    static const gyre_channel_options wrong[] = {
        {.capacity = (1u << 24) + 1},
        {.capacity = UINT32_MAX},
        {.item_bytes = 65521},
        {.item_bytes = UINT32_MAX},
        {.delivery = GYRE_DELIVER_ALL, .subscribers = 1025},
        {.delivery = GYRE_DELIVER_ALL, .subscribers = UINT32_MAX},
        {.calls = 4097},
        {.calls = UINT32_MAX},
        {.delivery = (gyre_delivery)2},
        {.delivery = (gyre_delivery)255},
        {.when_full = (gyre_when_full)4},
        {.when_full = (gyre_when_full)255},
    };
    purse p = {.left = 1000};
    const gyre_allocator counted = {purse_allocate, purse_release, &p};

    for (size_t i = 0; i < COUNT(wrong); i++) {
        gyre_channel_options options = wrong[i];
        gyre_channel *channel = (gyre_channel *)&channel;

        options.struct_size = sizeof options;
        options.allocator = &counted;
        CHECK(gyre_channel_create(&options, &channel) == GYRE_INVALID);
        CHECK(channel == NULL);
        CHECK(gyre_error_last()->status == GYRE_INVALID && gyre_error_last()->text[0] != '\0');
    }
    CHECK(p.out == 0 && p.out_bytes == 0);
}

static void largest_numbers_are_in_range(void)
{
    purse none = {.left = 0};
    const gyre_allocator refusing = {purse_allocate, purse_release, &none};
    const gyre_channel_options all = {.struct_size = sizeof all,
                                      .allocator = &refusing,
                                      .delivery = GYRE_DELIVER_ALL,
                                      .banded = true,
                                      .capacity = 1u << 24,
                                      .item_bytes = 65520,
                                      .subscribers = 1024,
                                      .calls = 4096};
    gyre_channel *channel = (gyre_channel *)&channel;

    CHECK(gyre_channel_create(&all, &channel) == GYRE_NO_MEMORY);
    CHECK(channel == NULL);
    channel = fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                                  .capacity = 1,
                                                  .item_bytes = 65520,
                                                  .subscribers = 1024,
                                                  .calls = 4096},
                           NULL);
    gyre_channel_destroy(channel);
}

static void options_of_other_versions_are_understood(void)
{
    struct {
        gyre_channel_options known;
        uint64_t newer;
    } options = {.known = {.struct_size = sizeof options, .capacity = 1}};
    purse p = {.left = 0};
    const gyre_allocator half = {purse_allocate, NULL, &p};
    gyre_channel *channel;

    CHECK(gyre_channel_create(&options.known, &channel) == GYRE_OK);
    gyre_channel_destroy(channel);
    options.newer = 1;
    CHECK(gyre_channel_create(&options.known, &channel) == GYRE_UNSUPPORTED);
    CHECK(channel == NULL);
    options.known.struct_size = 0;
    CHECK(gyre_channel_create(&options.known, &channel) == GYRE_INVALID);
    CHECK(channel == NULL);
    options.known.struct_size = offsetof(gyre_channel_options, capacity); /* older: the default */
    CHECK(gyre_channel_create(&options.known, &channel) == GYRE_OK);
    for (int i = 0; i < 1024; i++)
        CHECK(gyre_channel_try_send(channel, 0, &i, sizeof i) == GYRE_OK);
    gyre_channel_destroy(channel);
    options.known = (gyre_channel_options){.struct_size = sizeof options.known, .allocator = &half};
    CHECK(gyre_channel_create(&options.known, &channel) == GYRE_INVALID);
    CHECK(channel == NULL);
}

/* Every shape of channel, with the allocator failing at each call in turn. */
static void failing_allocator_leaves_nothing_behind(void)
{
    for (uint32_t shape = 0; shape < 16; shape++) {
        gyre_status status = GYRE_NO_MEMORY;

        for (int allowed = 0; status == GYRE_NO_MEMORY && allowed < 100; allowed++) {
            purse p = {.left = allowed};
            const gyre_allocator failing = {purse_allocate, purse_release, &p};
            const gyre_channel_options options = {.struct_size = sizeof options,
                                                  .allocator = &failing,
                                                  .delivery = (gyre_delivery)(shape & 1),
                                                  .when_full = (gyre_when_full)(shape >> 1 & 3),
                                                  .banded = shape >> 3,
                                                  .capacity = 3,
                                                  .item_bytes = 64};
            gyre_channel *channel = (gyre_channel *)&channel;

            status = gyre_channel_create(&options, &channel);
            CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
            CHECK((channel != NULL) == (status == GYRE_OK));
            CHECK(status == GYRE_OK || p.out == 0);
            if (status == GYRE_OK)
                gyre_channel_destroy(channel);
            CHECK(p.out == 0 && p.out_bytes == 0);
        }
        CHECK(status == GYRE_OK);
    }
}

/* Nothing but create, subscribe and the descriptor may need memory. */
static void sending_and_receiving_allocate_nothing(void)
{
    purse p = {.left = 1000};
    const gyre_allocator counted = {purse_allocate, purse_release, &p};
    gyre_channel *channel = fake_channel(
        (gyre_channel_options){.allocator = &counted, .capacity = 5, .item_bytes = 64}, &ledger);
    gyre_reply reply;

    REQUIRE(channel != NULL);
    p.left = 0;
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(fake_send(channel, &ledger, i, 0) == GYRE_OK);
        CHECK(fake_receive(channel, &ledger) == i);
    }
    CHECK(gyre_reply_take(channel, &reply) == GYRE_OK);
    CHECK(gyre_reply_give(channel, reply) == GYRE_OK);
    gyre_channel_destroy(channel);
    CHECK(p.out == 0 && p.out_bytes == 0);
}

static void name_is_copied_and_cut(void)
{
    char name[64] = "a name that is much longer than thirty-one bytes";
    gyre_channel *channel = fake_channel((gyre_channel_options){.name = name, .capacity = 1}, NULL);

    REQUIRE(channel != NULL);
    memset(name, 'x', sizeof name - 1);
    CHECK(strcmp(gyre_channel_name(channel), "a name that is much longer than") == 0);
    CHECK(strlen(gyre_channel_name(channel)) == 31);
    gyre_channel_destroy(channel);
}

static void item_of_any_size_comes_out_as_it_went_in(void)
{
    static const uint32_t largest[] = {1, 2, 3, 8, 15, 16, 17, 40, 48, 49, 64, 100, 1000, 65520};
    static unsigned char in[65520], out[65520 + 8];

    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t i = 0; i < COUNT(largest); i++) {
        gyre_channel *channel =
            fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = largest[i]}, NULL);

        REQUIRE(channel != NULL);
        CHECK(gyre_channel_item_bytes(channel) == largest[i]);
        for (size_t size = 1; size <= largest[i]; size += size < 200 ? 1 : 4567) {
            gyre_received received = {9, 9, 9};

            memset(out, 0xee, sizeof out);
            CHECK(gyre_channel_try_send(channel, 0, in, size) == GYRE_OK);
            CHECK(gyre_channel_try_receive(channel, out, &received) == GYRE_OK);
            CHECK(received.size == size && received.band == 0 && received.reply == 0);
            CHECK(memcmp(in, out, size) == 0);
            for (size_t k = 0; k < 8; k++) /* it has room for item_bytes, not more */
                CHECK(out[largest[i] + k] == 0xee);
        }
        gyre_channel_destroy(channel);
    }
}

static void empty_and_too_large_items_are_invalid(void)
{
    unsigned char item[65] = {0};
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = 64}, NULL);
    const gyre_batch wrong[] = {
        {item, 0, 1, 0}, {item, 65, 1, 0}, {item, SIZE_MAX, 1, 0}, {item, (1ull << 32) + 8, 1, 0}};
    gyre_channel_statistics s;

    REQUIRE(channel != NULL);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        size_t sent = 99;

        CHECK(gyre_channel_try_send(channel, 0, item, wrong[i].size) == GYRE_INVALID);
        CHECK(gyre_channel_send(channel, 0, item, wrong[i].size, GYRE_NEVER) == GYRE_INVALID);
        CHECK(gyre_channel_try_send_bulk(channel, &wrong[i], &sent) == GYRE_INVALID && sent == 0);
        sent = 99;
        CHECK(gyre_channel_send_bulk(channel, &wrong[i], GYRE_NEVER, &sent) == GYRE_INVALID);
        CHECK(sent == 0);
    }
    CHECK(gyre_channel_try_send(channel, 0, item, 64) == GYRE_OK);
    s = fake_describe(channel); /* rejected are: full, timed out or closed; a caller's bug is not */
    CHECK(s.attempts == 1 && s.accepted == 1 && s.rejected == 0 && s.queued == 1);
    gyre_channel_destroy(channel);
}

static void any_capacity_holds_exactly_so_many(void)
{
    static const uint32_t capacities[] = {1, 2, 3, 5, 7, 8, 31, 64, 100};

    for (size_t i = 0; i < COUNT(capacities); i++) {
        const uint32_t n = capacities[i];
        gyre_channel *channel =
            fake_channel((gyre_channel_options){.capacity = n, .item_bytes = 8}, &ledger);
        uint32_t next = 0, expected = 0;

        REQUIRE(channel != NULL);
        for (uint32_t turn = 0; turn < 7; turn++) { /* around the ring, at every offset */
            while (next - expected < n)
                CHECK(fake_send(channel, &ledger, next++, 0) == GYRE_OK);
            CHECK(fake_send(channel, &ledger, next, 0) == GYRE_AGAIN);
            CHECK(fake_describe(channel).queued == n);
            for (uint32_t k = 0; k < (n + 1) / 2; k++)
                CHECK(fake_receive(channel, &ledger) == expected++);
            CHECK(fake_accounts_hold(channel));
        }
        while (expected < next)
            CHECK(fake_receive(channel, &ledger) == expected++);
        CHECK(fake_receive(channel, &ledger) == FAKE_NONE(GYRE_AGAIN));
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void empty_channel_has_nothing_to_receive(void)
{
    unsigned char item[8];
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = 8}, NULL);
    size_t count = 99;

    REQUIRE(channel != NULL);
    CHECK(gyre_channel_try_receive(channel, item, NULL) == GYRE_AGAIN);
    CHECK(gyre_channel_receive(channel, item, NULL, 0) == GYRE_TIMEOUT);
    CHECK(gyre_channel_receive(channel, item, NULL, gyre_clock_now_ns()) == GYRE_TIMEOUT);
    CHECK(gyre_channel_try_receive_bulk(channel, item, NULL, 1, &count) == GYRE_AGAIN);
    CHECK(count == 0);
    count = 99;
    CHECK(gyre_channel_receive_bulk(channel, item, NULL, 1, 0, &count) == GYRE_TIMEOUT);
    CHECK(count == 0);
    gyre_channel_destroy(channel);
}

static void what_is_there_comes_without_regard_to_the_deadline(void)
{
    unsigned char item[8] = {1};
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = 8}, NULL);
    size_t count = 0;

    REQUIRE(channel != NULL);
    for (int i = 0; i < 3; i++)
        CHECK(gyre_channel_send(channel, 0, item, 8, 0) == GYRE_OK);
    CHECK(gyre_channel_receive(channel, item, NULL, 0) == GYRE_OK);
    CHECK(gyre_channel_receive(channel, item, NULL, 1) == GYRE_OK);
    CHECK(gyre_channel_receive_bulk(channel, item, NULL, 1, 0, &count) == GYRE_OK && count == 1);
    gyre_channel_destroy(channel);
}

static void bulk_send_takes_what_there_is_room_for(void)
{
    uint32_t numbers[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const gyre_batch batch = {numbers, sizeof numbers[0], 10, 0};
    const gyre_batch none = {NULL, sizeof numbers[0], 0, 0};
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 7, .item_bytes = 16}, NULL);
    gyre_channel_statistics s;
    size_t sent = 99;
    uint32_t item[4];

    REQUIRE(channel != NULL);
    CHECK(gyre_channel_try_send_bulk(channel, &none, &sent) == GYRE_OK && sent == 0);
    CHECK(gyre_channel_try_send_bulk(channel, &batch, &sent) == GYRE_AGAIN && sent == 7);
    s = fake_describe(channel);
    CHECK(s.attempts == 10 && s.accepted == 7 && s.rejected == 3 && s.queued == 7);
    CHECK(gyre_channel_try_send_bulk(channel, &batch, &sent) == GYRE_AGAIN && sent == 0);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(gyre_channel_try_receive(channel, item, NULL) == GYRE_OK && item[0] == i);
    CHECK(gyre_channel_send_bulk(channel, &batch, 0, &sent) == GYRE_TIMEOUT && sent == 5);
    for (uint32_t i = 0; i < 7; i++) /* 5 and 6, then 0 to 4 */
        CHECK(gyre_channel_try_receive(channel, item, NULL) == GYRE_OK && item[0] == (i + 5) % 7);
    CHECK(fake_accounts_hold(channel));
    gyre_channel_destroy(channel);
}

static void bulk_receive_lays_items_item_bytes_apart(void)
{
    enum { BYTES = 24, ROOM = 8 };
    unsigned char items[BYTES * (ROOM + 1)];
    gyre_received received[ROOM + 1];
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = ROOM, .item_bytes = BYTES}, &ledger);
    size_t count;

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < ROOM; i++) {
        unsigned char item[BYTES];

        fake_item(&ledger, i, FAKE_LEAST + 2 * i, item);
        CHECK(gyre_channel_try_send(channel, 0, item, FAKE_LEAST + 2 * i) == GYRE_OK);
    }
    memset(items, 0xee, sizeof items);
    memset(received, 0xee, sizeof received);
    CHECK(gyre_channel_try_receive_bulk(channel, items, received, 3, &count) == GYRE_OK);
    CHECK(count == 3 && items[3 * (size_t)BYTES] == 0xee && received[3].size == 0xeeeeeeee);
    CHECK(gyre_channel_receive_bulk(channel, items + 3 * (size_t)BYTES, received + 3, ROOM - 2, 0,
                                    &count) == GYRE_OK);
    CHECK(count == 5 && items[ROOM * (size_t)BYTES] == 0xee && received[ROOM].size == 0xeeeeeeee);
    for (uint32_t i = 0; i < ROOM; i++) {
        CHECK(received[i].size == FAKE_LEAST + 2 * i);
        CHECK(received[i].band == 0 && received[i].reply == 0);
        CHECK(fake_release(&ledger, items + i * (size_t)BYTES, received[i].size) == i);
    }
    CHECK(fake_alive(&ledger) == 0);
    gyre_channel_destroy(channel);
}

static void bulk_receive_with_no_room_is_invalid(void)
{
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = 8}, NULL);
    unsigned char item[8] = {0};
    size_t count = 99;

    REQUIRE(channel != NULL);
    CHECK(gyre_channel_try_send(channel, 0, item, 8) == GYRE_OK);
    CHECK(gyre_channel_try_receive_bulk(channel, item, NULL, 0, &count) == GYRE_INVALID);
    CHECK(count == 0);
    count = 99;
    CHECK(gyre_channel_receive_bulk(channel, item, NULL, 0, GYRE_NEVER, &count) == GYRE_INVALID);
    CHECK(count == 0);
    gyre_channel_destroy(channel);
}

static void closed_channel_drains_and_then_says_so(void)
{
    unsigned char item[8];
    const gyre_batch batch = {item, 8, 1, 0};
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = 8}, &ledger);
    gyre_channel_statistics s;
    size_t count = 99;

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 2, 0) == GYRE_OK);
    gyre_channel_close(channel);
    gyre_channel_close(channel); /* twice is once */
    CHECK(fake_send(channel, &ledger, 3, 0) == GYRE_CLOSED);
    fake_item(&ledger, 4, 8, item);
    CHECK(gyre_channel_send(channel, 0, item, 8, GYRE_NEVER) == GYRE_CLOSED);
    CHECK(gyre_channel_send_bulk(channel, &batch, GYRE_NEVER, &count) == GYRE_CLOSED && count == 0);
    count = 99;
    CHECK(gyre_channel_try_send_bulk(channel, &batch, &count) == GYRE_CLOSED && count == 0);
    (void)fake_release(&ledger, item, 8); /* it stayed the caller's */
    s = fake_describe(channel);
    CHECK(s.attempts == 6 && s.accepted == 2 && s.rejected == 4 && s.queued == 2);
    CHECK(fake_receive(channel, &ledger) == 1);
    CHECK(gyre_channel_receive(channel, item, NULL, GYRE_NEVER) == GYRE_OK);
    CHECK(fake_release(&ledger, item, 8) == 2);
    for (int i = 0; i < 2; i++) {
        CHECK(fake_receive(channel, &ledger) == FAKE_NONE(GYRE_CLOSED));
        CHECK(gyre_channel_receive(channel, item, NULL, GYRE_NEVER) == GYRE_CLOSED);
        CHECK(gyre_channel_receive(channel, item, NULL, 0) == GYRE_CLOSED);
        count = 99;
        CHECK(gyre_channel_receive_bulk(channel, item, NULL, 1, GYRE_NEVER, &count) == GYRE_CLOSED);
        CHECK(count == 0);
        count = 99;
        CHECK(gyre_channel_try_receive_bulk(channel, item, NULL, 1, &count) == GYRE_CLOSED);
        CHECK(count == 0);
    }
    CHECK(fake_accounts_hold(channel) && fake_alive(&ledger) == 0);
    gyre_channel_destroy(channel);
}

static void full_channel_that_is_closed_says_closed(void)
{
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 1, .item_bytes = 8}, &ledger);

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK);
    gyre_channel_close(channel);
    CHECK(fake_send(channel, &ledger, 2, 0) == GYRE_CLOSED); /* not GYRE_AGAIN */
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void destroy_drops_what_is_left(void)
{
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 7, .item_bytes = 8}, &ledger);
    const uint64_t before = ledger.drops;

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 7; i++)
        CHECK(fake_send(channel, &ledger, i, 0) == GYRE_OK);
    CHECK(fake_receive(channel, &ledger) == 0);
    CHECK(fake_send(channel, &ledger, 7, 0) == GYRE_OK); /* around the corner */
    CHECK(ledger.drops == before);
    gyre_channel_destroy(channel);
    CHECK(ledger.drops == before + 7 && fake_alive(&ledger) == 0);
    gyre_channel_destroy(NULL);
}

static void statistics_fit_the_callers_struct(void)
{
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = 8}, &ledger);
    gyre_channel_statistics s;
    const size_t shorter = offsetof(gyre_channel_statistics, accepted);

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK);
    memset(&s, 0xee, sizeof s);
    s.struct_size = 0;
    CHECK(gyre_channel_describe(channel, &s) == GYRE_INVALID);
    s.struct_size = shorter;
    CHECK(gyre_channel_describe(channel, &s) == GYRE_OK);
    CHECK(s.struct_size == shorter && s.attempts == 1);
    CHECK(s.accepted == 0xeeeeeeeeeeeeeeee && s.late_answers == 0xeeeeeeeeeeeeeeee);
    s = fake_describe(channel);
    CHECK(s.struct_size == sizeof s && s.attempts == 1 && s.accepted == 1 && s.queued == 1);
    CHECK(s.rejected == 0 && s.delivered == 0 && s.dropped == 0 && s.peak == 0);
    CHECK(s.blocked_sends == 0 && s.blocked_ns == 0 && s.late_answers == 0);
    gyre_channel_destroy(channel);
}

static void peak_is_the_most_that_were_queued(void)
{
    gyre_channel *channel = fake_channel(
        (gyre_channel_options){.capacity = 7, .item_bytes = 8, .metrics = true}, &ledger);
    uint32_t next = 0;

    REQUIRE(channel != NULL);
    CHECK(fake_describe(channel).peak == 0);
    for (uint32_t depth = 1; depth <= 7; depth++) {
        for (uint32_t i = 0; i < depth; i++)
            CHECK(fake_send(channel, &ledger, next++, 0) == GYRE_OK);
        CHECK(fake_describe(channel).peak == depth);
        for (uint32_t i = 0; i < depth; i++)
            CHECK(fake_receive(channel, &ledger) >= 0);
        CHECK(fake_describe(channel).peak == depth);
    }
    CHECK(fake_send(channel, &ledger, next++, 0) == GYRE_OK);
    CHECK(fake_describe(channel).peak == 7);
    gyre_channel_destroy(channel);
}

static void wrong_delivery_is_invalid(void)
{
    gyre_channel *one = fake_channel((gyre_channel_options){.capacity = 1}, NULL);
    gyre_channel *all = fake_channel(
        (gyre_channel_options){.capacity = 1, .item_bytes = 8, .delivery = GYRE_DELIVER_ALL}, NULL);
    gyre_subscriber *subscriber = (gyre_subscriber *)&subscriber;
    unsigned char item[8] = {0};
    size_t count = 99;
    int descriptor;

    REQUIRE(one != NULL && all != NULL);
    CHECK(gyre_subscriber_create(one, &subscriber) == GYRE_INVALID);
    CHECK(subscriber == NULL);
    CHECK(gyre_channel_try_receive(all, item, NULL) == GYRE_INVALID);
    CHECK(gyre_channel_receive(all, item, NULL, GYRE_NEVER) == GYRE_INVALID);
    CHECK(gyre_channel_try_receive_bulk(all, item, NULL, 1, &count) == GYRE_INVALID && count == 0);
    count = 99;
    CHECK(gyre_channel_receive_bulk(all, item, NULL, 1, GYRE_NEVER, &count) == GYRE_INVALID);
    CHECK(count == 0);
    CHECK(gyre_channel_descriptor(all, &descriptor) == GYRE_INVALID);
    gyre_channel_destroy(one);
    gyre_channel_destroy(all);
}

static void again_and_timeout_write_no_detail(void)
{
    gyre_channel *channel =
        fake_channel((gyre_channel_options){.capacity = 1, .item_bytes = 8}, &ledger);
    unsigned char item[8];
    gyre_error before;

    REQUIRE(channel != NULL);
    CHECK(gyre_channel_try_send(channel, 0, item, 0) == GYRE_INVALID);
    before = *gyre_error_last();
    CHECK(gyre_channel_try_receive(channel, item, NULL) == GYRE_AGAIN);
    CHECK(gyre_channel_receive(channel, item, NULL, 0) == GYRE_TIMEOUT);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_AGAIN);
    CHECK(gyre_channel_send(channel, 0, item, 8, 0) == GYRE_TIMEOUT);
    CHECK(gyre_error_last()->line == before.line && gyre_error_last()->status == GYRE_INVALID);
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static const test_case cases[] = {
    TEST(null_options_mean_all_defaults),
    TEST(numbers_out_of_range_are_refused),
    TEST(largest_numbers_are_in_range),
    TEST(options_of_other_versions_are_understood),
    TEST(failing_allocator_leaves_nothing_behind),
    TEST(sending_and_receiving_allocate_nothing),
    TEST(name_is_copied_and_cut),
    TEST(item_of_any_size_comes_out_as_it_went_in),
    TEST(empty_and_too_large_items_are_invalid),
    TEST(any_capacity_holds_exactly_so_many),
    TEST(empty_channel_has_nothing_to_receive),
    TEST(what_is_there_comes_without_regard_to_the_deadline),
    TEST(bulk_send_takes_what_there_is_room_for),
    TEST(bulk_receive_lays_items_item_bytes_apart),
    TEST(bulk_receive_with_no_room_is_invalid),
    TEST(closed_channel_drains_and_then_says_so),
    TEST(full_channel_that_is_closed_says_closed),
    TEST(destroy_drops_what_is_left),
    TEST(statistics_fit_the_callers_struct),
    TEST(peak_is_the_most_that_were_queued),
    TEST(wrong_delivery_is_invalid),
    TEST(again_and_timeout_write_no_detail),
};
TEST_MAIN(cases)
