/* SPDX-License-Identifier: Apache-2.0
 *
 * Tickets and answers, step by step: who gets what, and who is told that nobody waits any more.
 * reply_stress_test.c has the threads.
 */
#include "gyre/reply.h"

#include "flow/channel_fake.h"

static fake_ledger ledger;

static gyre_channel *make(gyre_when_full when_full, uint32_t capacity, uint32_t calls)
{
    return fake_channel(
        (gyre_channel_options){
            .when_full = when_full, .capacity = capacity, .item_bytes = 16, .calls = calls},
        &ledger);
}

static void end(gyre_channel *channel)
{
    CHECK(fake_accounts_hold(channel));
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

/* Begins a call with item `id`; it stays the ledger's when it is refused. */
static gyre_status begin(gyre_channel *channel, uint32_t id, gyre_reply *out_reply)
{
    unsigned char item[8];
    gyre_status status;

    fake_item(&ledger, id, 8, item);
    *out_reply = 99;
    status = gyre_call_begin(channel, 0, item, 8, 0, out_reply);
    CHECK((*out_reply == 0) == (status != GYRE_OK));
    if (status != GYRE_OK)
        (void)fake_release(&ledger, item, 8);
    return status;
}

/* Receives the item of a call; its ticket. */
static gyre_reply receive_ticket(gyre_channel *channel, uint32_t id)
{
    unsigned char item[16];
    gyre_received received = {0, 0, 0};

    CHECK(gyre_channel_try_receive(channel, item, &received) == GYRE_OK);
    CHECK(fake_release(&ledger, item, received.size) == id);
    return received.reply;
}

static bool answer_is(const gyre_answer *answer, gyre_status status, const void *bytes, size_t size)
{
    return answer->status == status && answer->size == size &&
           memcmp(answer->bytes, bytes, size) == 0;
}

static bool is_empty(const gyre_answer *answer)
{
    return answer->status == GYRE_OK && answer->size == 0;
}

/* Whether a call ended so, which nobody will answer; its ticket is then used up. */
static bool ended_with(gyre_channel *channel, gyre_reply reply, gyre_status expected)
{
    gyre_answer answer;

    memset(&answer, 0xee, sizeof answer);
    return gyre_reply_wait(channel, reply, 0, &answer) == expected && is_empty(&answer) &&
           gyre_reply_wait(channel, reply, 0, &answer) == GYRE_INVALID;
}

static void answer_reaches_its_call(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 8, 8);
    gyre_reply reply[3], ticket[3];

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(begin(channel, i, &reply[i]) == GYRE_OK);
    CHECK(reply[0] != reply[1] && reply[1] != reply[2] && reply[0] != reply[2]);
    for (uint32_t i = 0; i < 3; i++) {
        ticket[i] = receive_ticket(channel, i);
        CHECK(ticket[i] == reply[i]);
    }
    for (size_t i = 3; i-- > 0;) { /* in another order, and before anybody waits */
        const uint64_t bytes[2] = {i, ~i};

        CHECK(gyre_reply_send(channel, ticket[i], (gyre_status)i, bytes, sizeof bytes) == GYRE_OK);
    }
    for (size_t i = 0; i < 3; i++) {
        const uint64_t bytes[2] = {i, ~i};
        gyre_answer answer;

        CHECK(gyre_reply_wait(channel, reply[i], 0, &answer) == GYRE_OK);
        CHECK(answer_is(&answer, (gyre_status)i, bytes, sizeof bytes));
    }
    CHECK(fake_describe(channel).late_answers == 0);
    end(channel);
}

static void answer_has_up_to_40_bytes(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 1, 1);
    unsigned char bytes[GYRE_ANSWER_BYTES + 1];

    CHECK(_Alignof(gyre_answer) % 8 == 0 && offsetof(gyre_answer, bytes) % 8 == 0);
    REQUIRE(channel != NULL);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i + 1);
    for (size_t size = 0; size <= GYRE_ANSWER_BYTES; size++) {
        gyre_answer answer;
        gyre_reply reply;

        REQUIRE(gyre_reply_take(channel, &reply) == GYRE_OK);
        CHECK(gyre_reply_send(channel, reply, GYRE_OK, bytes, sizeof bytes) == GYRE_INVALID);
        CHECK(gyre_reply_send(channel, reply, GYRE_OK, bytes, SIZE_MAX) == GYRE_INVALID);
        CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_TIMEOUT); /* still open */
        CHECK(gyre_reply_send(channel, reply, GYRE_NOT_FOUND, size ? bytes : NULL, size) ==
              GYRE_OK);
        CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_OK);
        CHECK(answer_is(&answer, GYRE_NOT_FOUND, bytes, size));
    }
    end(channel);
}

static void ordinary_item_has_no_ticket(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 4, 4);
    gyre_reply reply;

    REQUIRE(channel != NULL);
    CHECK(begin(channel, 1, &reply) == GYRE_OK); /* the slots are used again */
    CHECK(receive_ticket(channel, 1) == reply);
    for (uint32_t i = 0; i < 8; i++) {
        CHECK(fake_send(channel, &ledger, i, 0) == GYRE_OK);
        CHECK(receive_ticket(channel, i) == 0);
    }
    CHECK(gyre_reply_give(channel, reply) == GYRE_OK);
    end(channel);
}

static void ticket_comes_with_each_item_of_a_bulk_receive(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 4, 4);
    unsigned char items[4 * 16];
    gyre_received received[4];
    gyre_reply reply[2];
    size_t count;

    REQUIRE(channel != NULL);
    CHECK(begin(channel, 0, &reply[0]) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK);
    CHECK(begin(channel, 2, &reply[1]) == GYRE_OK);
    CHECK(gyre_channel_try_receive_bulk(channel, items, received, 4, &count) == GYRE_OK);
    REQUIRE(count == 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(fake_release(&ledger, items + 16 * (size_t)i, received[i].size) == i);
    CHECK(received[0].reply == reply[0] && received[1].reply == 0 && received[2].reply == reply[1]);
    for (int i = 0; i < 2; i++)
        CHECK(gyre_reply_give(channel, reply[i]) == GYRE_OK);
    end(channel);
}

static void first_answer_counts(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 4, 4);
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    REQUIRE(gyre_reply_take(channel, &reply) == GYRE_OK);
    CHECK(gyre_reply_send(channel, reply, GYRE_OK, "first", 5) == GYRE_OK);
    CHECK(gyre_reply_send(channel, reply, GYRE_OK, "again", 5) == GYRE_CANCELLED);
    CHECK(fake_describe(channel).late_answers == 0); /* nobody had given up */
    CHECK(gyre_reply_wait(channel, reply, GYRE_NEVER, &answer) == GYRE_OK);
    CHECK(answer_is(&answer, GYRE_OK, "first", 5));
    CHECK(gyre_reply_send(channel, reply, GYRE_OK, "third", 5) == GYRE_CANCELLED);
    end(channel);
}

static void used_ticket_is_never_open_again(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 1, 1); /* one place: every call takes it */
    gyre_reply old = 0;

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 200; i++) {
        gyre_answer answer;
        gyre_reply reply;

        REQUIRE(gyre_reply_take(channel, &reply) == GYRE_OK);
        CHECK(reply != old && reply != 0);
        if (old != 0) { /* which meant an earlier call in the same place */
            CHECK(gyre_reply_send(channel, old, GYRE_OK, &i, sizeof i) == GYRE_CANCELLED);
            CHECK(gyre_reply_wait(channel, old, 0, &answer) == GYRE_INVALID);
            CHECK(gyre_reply_give(channel, old) == GYRE_INVALID);
            CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_TIMEOUT);
        }
        if (i % 2) {
            CHECK(gyre_reply_send(channel, reply, GYRE_OK, &i, sizeof i) == GYRE_OK);
            CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_OK);
            CHECK(answer_is(&answer, GYRE_OK, &i, sizeof i));
        } else {
            CHECK(gyre_reply_give(channel, reply) == GYRE_OK);
        }
        CHECK(gyre_reply_wait(channel, reply, GYRE_NEVER, &answer) == GYRE_INVALID);
        CHECK(gyre_reply_give(channel, reply) == GYRE_INVALID);
        old = reply;
    }
    end(channel);
}

static void ticket_of_another_channel_is_invalid(void)
{
    gyre_channel *here = make(GYRE_FULL_BLOCK, 1, 4), *there = make(GYRE_FULL_BLOCK, 1, 4);
    gyre_reply mine, theirs;
    gyre_answer answer;

    REQUIRE(here != NULL && there != NULL);
    REQUIRE(gyre_reply_take(here, &mine) == GYRE_OK);
    REQUIRE(gyre_reply_take(there, &theirs) == GYRE_OK);
    CHECK(gyre_reply_send(here, theirs, GYRE_OK, "wrong", 5) == GYRE_INVALID);
    CHECK(gyre_reply_wait(here, theirs, 0, &answer) == GYRE_INVALID);
    CHECK(gyre_reply_give(here, theirs) == GYRE_INVALID);
    CHECK(gyre_reply_wait(here, mine, 0, &answer) == GYRE_TIMEOUT);
    CHECK(gyre_reply_wait(there, theirs, 0, &answer) == GYRE_TIMEOUT);
    end(here);
    end(there);
}

static void forged_ticket_opens_nothing(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 1, 3);
    fake_random random = {1};
    gyre_reply open[2];
    gyre_answer answer;

    REQUIRE(channel != NULL);
    for (int i = 0; i < 2; i++)
        REQUIRE(gyre_reply_take(channel, &open[i]) == GYRE_OK);
    CHECK(gyre_reply_send(channel, 0, GYRE_OK, NULL, 0) == GYRE_INVALID);
    CHECK(gyre_reply_wait(channel, 0, GYRE_NEVER, &answer) == GYRE_INVALID);
    CHECK(gyre_reply_give(channel, 0) == GYRE_INVALID);
    for (int i = 0; i < 100000; i++) {
        gyre_reply forged = fake_next(&random);

        if (i < 128) /* one bit off */
            forged = open[i / 64] ^ 1ull << i % 64;
        else if (i % 2) /* small numbers */
            forged >>= 1 + fake_below(&random, 63);
        if (forged == open[0] || forged == open[1])
            continue;
        CHECK(gyre_reply_send(channel, forged, GYRE_OK, "forged", 6) != GYRE_OK);
        CHECK(gyre_reply_wait(channel, forged, GYRE_NEVER, &answer) == GYRE_INVALID);
        CHECK(gyre_reply_give(channel, forged) == GYRE_INVALID);
    }
    for (int i = 0; i < 2; i++)
        CHECK(gyre_reply_wait(channel, open[i], 0, &answer) == GYRE_TIMEOUT);
    end(channel);
}

static void there_are_so_many_tickets_and_no_more(void)
{
    static const uint32_t most[] = {0, 1, 3, 64, 100, 4096};
    static gyre_reply reply[4096];

    for (size_t i = 0; i < COUNT(most); i++) {
        const uint32_t places = most[i] ? most[i] : 64;
        gyre_channel *channel = make(GYRE_FULL_BLOCK, 1, most[i]);
        unsigned char item[8];
        gyre_answer answer;
        gyre_reply more = 99;

        REQUIRE(channel != NULL);
        for (uint32_t turn = 0; turn < 3; turn++) {
            for (uint32_t k = 0; k < places; k++)
                CHECK(gyre_reply_take(channel, &reply[k]) == GYRE_OK);
            CHECK(gyre_reply_take(channel, &more) == GYRE_AGAIN && more == 0);
            CHECK(begin(channel, 1, &more) == GYRE_AGAIN);
            fake_item(&ledger, 2, 8, item);
            memset(&answer, 0xee, sizeof answer);
            CHECK(gyre_call(channel, 0, item, 8, GYRE_NEVER, &answer) == GYRE_AGAIN);
            CHECK(is_empty(&answer));
            (void)fake_release(&ledger, item, 8);
            CHECK(fake_describe(channel).queued == 0); /* nothing was sent */
            for (uint32_t k = 0; k < places; k++)
                CHECK(gyre_reply_give(channel, reply[k]) == GYRE_OK);
        }
        end(channel);
    }
}

static void refused_send_gives_its_ticket_back(void)
{
    gyre_channel *channel = make(GYRE_FULL_REJECT, 1, 2);
    unsigned char item[17] = {0};
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 0, 0) == GYRE_OK);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK(begin(channel, 1, &reply) == GYRE_AGAIN);
        memset(&answer, 0xee, sizeof answer);
        CHECK(gyre_call(channel, 0, item, 17, GYRE_NEVER, &answer) == GYRE_INVALID);
        CHECK(is_empty(&answer));
        CHECK(gyre_call(channel, 0, item, 0, GYRE_NEVER, &answer) == GYRE_INVALID);
    }
    CHECK(receive_ticket(channel, 0) == 0);
    gyre_channel_close(channel);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(begin(channel, 1, &reply) == GYRE_CLOSED);
    end(channel);
}

static void given_up_call_cancels_its_answer(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 2, 2);
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    CHECK(begin(channel, 1, &reply) == GYRE_OK);
    CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_TIMEOUT);
    CHECK(gyre_reply_give(channel, reply) == GYRE_OK);
    CHECK(receive_ticket(channel, 1) == reply); /* the item is delivered all the same */
    CHECK(gyre_reply_send(channel, reply, GYRE_OK, "late", 4) == GYRE_CANCELLED);
    CHECK(fake_describe(channel).late_answers == 1);
    end(channel);
}

static void answered_call_cannot_be_given_up(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 2, 2);
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    REQUIRE(gyre_reply_take(channel, &reply) == GYRE_OK);
    CHECK(gyre_reply_send(channel, reply, GYRE_OK, "answer", 6) == GYRE_OK);
    CHECK(gyre_reply_give(channel, reply) == GYRE_AGAIN);
    CHECK(gyre_reply_give(channel, reply) == GYRE_AGAIN);
    CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_OK);
    CHECK(answer_is(&answer, GYRE_OK, "answer", 6));
    CHECK(gyre_reply_give(channel, reply) == GYRE_INVALID);
    end(channel);
}

static void call_that_times_out_is_given_up(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 2, 1);

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 6; i++) {
        const uint64_t deadline = gyre_clock_after_ns(i * MILLISECOND / 2);
        unsigned char item[8];
        gyre_answer answer;
        gyre_reply ticket;

        fake_item(&ledger, i, 8, item);
        memset(&answer, 0xee, sizeof answer);
        CHECK(gyre_call(channel, 0, item, 8, deadline, &answer) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline && is_empty(&answer));
        ticket = receive_ticket(channel, i); /* there was room, so that it went in */
        CHECK(ticket != 0);
        CHECK(gyre_reply_send(channel, ticket, GYRE_OK, "late", 4) == GYRE_CANCELLED);
        CHECK(fake_describe(channel).late_answers == i + 1);
    }
    end(channel);
}

static void wait_never_ends_before_its_deadline(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 2, 1);
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    REQUIRE(gyre_reply_take(channel, &reply) == GYRE_OK);
    for (uint64_t i = 0; i < 10; i++) {
        const uint64_t deadline = gyre_clock_after_ns(i * MILLISECOND / 3);

        CHECK(gyre_reply_wait(channel, reply, deadline, &answer) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline);
    }
    CHECK(gyre_reply_send(channel, reply, GYRE_OK, "answer", 6) == GYRE_OK); /* it still stands */
    CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_OK);
    end(channel);
}

static void dropped_item_cancels_its_call(void)
{
    gyre_channel *channel = make(GYRE_FULL_DROP_OLDEST, 2, 4);
    unsigned char item[8];
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    CHECK(begin(channel, 0, &reply) == GYRE_OK);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK);
    CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_TIMEOUT);
    CHECK(fake_send(channel, &ledger, 2, 0) == GYRE_OK); /* pushes the call out */
    CHECK(ended_with(channel, reply, GYRE_CANCELLED));
    CHECK(gyre_reply_send(channel, reply, GYRE_OK, NULL, 0) == GYRE_CANCELLED);
    CHECK(fake_describe(channel).dropped == 1);
    end(channel);

    channel = make(GYRE_FULL_DROP_NEWEST, 1, 4);
    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK);
    fake_item(&ledger, 2, 8, item); /* dropped at once, and the call is told */
    memset(&answer, 0xee, sizeof answer);
    CHECK(gyre_call(channel, 0, item, 8, GYRE_NEVER, &answer) == GYRE_CANCELLED);
    CHECK(is_empty(&answer));
    CHECK(begin(channel, 3, &reply) == GYRE_OK);
    CHECK(ended_with(channel, reply, GYRE_CANCELLED));
    end(channel);
}

static void close_ends_open_calls(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 4, 4);
    gyre_reply answered, served, queued;
    gyre_answer answer;

    REQUIRE(channel != NULL);
    CHECK(begin(channel, 0, &answered) == GYRE_OK);
    CHECK(begin(channel, 1, &served) == GYRE_OK);
    CHECK(begin(channel, 2, &queued) == GYRE_OK);
    CHECK(receive_ticket(channel, 0) == answered && receive_ticket(channel, 1) == served);
    CHECK(gyre_reply_send(channel, answered, GYRE_OK, "done", 4) == GYRE_OK);
    gyre_channel_close(channel);
    CHECK(gyre_reply_wait(channel, answered, 0, &answer) == GYRE_OK); /* what is there stays */
    CHECK(answer_is(&answer, GYRE_OK, "done", 4));
    CHECK(gyre_reply_send(channel, served, GYRE_OK, "late", 4) == GYRE_CANCELLED);
    CHECK(ended_with(channel, served, GYRE_CLOSED));
    CHECK(ended_with(channel, queued, GYRE_CLOSED));
    CHECK(receive_ticket(channel, 2) == queued); /* it can still be received, */
    CHECK(gyre_reply_send(channel, queued, GYRE_OK, "late", 4) == GYRE_CANCELLED);
    end(channel);
}

static void destroy_drops_the_items_of_open_calls(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 4, 4);
    gyre_reply reply;

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(begin(channel, i, &reply) == GYRE_OK);
    CHECK(receive_ticket(channel, 0) != 0);
    end(channel);
}

static void call_to_all_takes_the_first_answer(void)
{
    gyre_channel *channel = fake_channel(
        (gyre_channel_options){
            .delivery = GYRE_DELIVER_ALL, .capacity = 2, .item_bytes = 16, .calls = 2},
        &ledger);
    gyre_subscriber *s[2];
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    for (int i = 0; i < 2; i++)
        REQUIRE(gyre_subscriber_create(channel, &s[i]) == GYRE_OK);
    CHECK(begin(channel, 1, &reply) == GYRE_OK);
    for (int i = 0; i < 2; i++) {
        gyre_received received = {0, 0, 0};
        unsigned char item[16];

        CHECK(gyre_subscriber_try_receive(s[i], item, &received) == GYRE_OK);
        CHECK(fake_release(&ledger, item, received.size) == 1 && received.reply == reply);
        CHECK(gyre_reply_send(channel, received.reply, GYRE_OK, &i, sizeof i) ==
              (i == 0 ? GYRE_OK : GYRE_CANCELLED));
    }
    CHECK(gyre_reply_wait(channel, reply, 0, &answer) == GYRE_OK);
    CHECK(answer_is(&answer, GYRE_OK, &(int){0}, sizeof(int)));
    for (int i = 0; i < 2; i++)
        gyre_subscriber_destroy(s[i]);
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

/* It would go nowhere, and nobody would ever answer. */
static void call_to_nobody_is_cancelled(void)
{
    gyre_channel *channel = fake_channel(
        (gyre_channel_options){
            .delivery = GYRE_DELIVER_ALL, .capacity = 2, .item_bytes = 16, .calls = 1},
        &ledger);
    gyre_subscriber *passing;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    CHECK(begin(channel, 1, &reply) == GYRE_CANCELLED);
    REQUIRE(gyre_subscriber_create(channel, &passing) == GYRE_OK);
    gyre_subscriber_destroy(passing);
    CHECK(begin(channel, 1, &reply) == GYRE_CANCELLED);
    CHECK(gyre_reply_take(channel, &reply) == GYRE_OK); /* they gave their ticket back */
    CHECK(fake_describe(channel).attempts == 0);
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void call_to_all_that_everybody_missed_waits_for_its_deadline(void)
{
    gyre_channel *channel = fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                                                .when_full = GYRE_FULL_DROP_OLDEST,
                                                                .capacity = 2,
                                                                .item_bytes = 16,
                                                                .calls = 2},
                                         &ledger);
    const uint64_t deadline = gyre_clock_after_ns(MILLISECOND);
    gyre_subscriber *slow;
    gyre_answer answer;
    gyre_reply reply;

    REQUIRE(channel != NULL);
    REQUIRE(gyre_subscriber_create(channel, &slow) == GYRE_OK);
    CHECK(begin(channel, 1, &reply) == GYRE_OK);
    for (uint32_t i = 2; i < 4; i++)
        CHECK(fake_send(channel, &ledger, i, 0) == GYRE_OK);
    CHECK(gyre_reply_wait(channel, reply, deadline, &answer) == GYRE_TIMEOUT);
    CHECK(gyre_clock_now_ns() >= deadline);
    gyre_subscriber_destroy(slow);
    gyre_channel_close(channel);
    CHECK(ended_with(channel, reply, GYRE_CLOSED));
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void closed_channel_gives_no_tickets(void)
{
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 2, 2);
    gyre_reply open, reply = 99;

    REQUIRE(channel != NULL);
    CHECK(gyre_reply_take(channel, &open) == GYRE_OK);
    gyre_channel_close(channel);
    CHECK(ended_with(channel, open, GYRE_CLOSED)); /* a bare ticket too */
    for (int i = 0; i < 5; i++) {
        CHECK(gyre_reply_take(channel, &reply) == GYRE_CLOSED && reply == 0);
        reply = 99;
    }
    end(channel);
}

static const test_case cases[] = {
    TEST(answer_reaches_its_call),
    TEST(answer_has_up_to_40_bytes),
    TEST(ordinary_item_has_no_ticket),
    TEST(ticket_comes_with_each_item_of_a_bulk_receive),
    TEST(first_answer_counts),
    TEST(used_ticket_is_never_open_again),
    TEST(ticket_of_another_channel_is_invalid),
    TEST(forged_ticket_opens_nothing),
    TEST(there_are_so_many_tickets_and_no_more),
    TEST(refused_send_gives_its_ticket_back),
    TEST(given_up_call_cancels_its_answer),
    TEST(answered_call_cannot_be_given_up),
    TEST(call_that_times_out_is_given_up),
    TEST(wait_never_ends_before_its_deadline),
    TEST(dropped_item_cancels_its_call),
    TEST(close_ends_open_calls),
    TEST(destroy_drops_the_items_of_open_calls),
    TEST(call_to_all_takes_the_first_answer),
    TEST(call_to_nobody_is_cancelled),
    TEST(call_to_all_that_everybody_missed_waits_for_its_deadline),
    TEST(closed_channel_gives_no_tickets),
};
TEST_MAIN(cases)
