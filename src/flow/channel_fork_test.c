/* SPDX-License-Identifier: Apache-2.0
 *
 * A channel in a forked child: it may be destroyed, which drops nothing there, and nothing waits.
 */
#include <poll.h>

#include "child.h"
#include "flow/channel_fake.h"
#include "gyre/reply.h"

static fake_ledger ledger;
static gyre_channel *empty, *full, *all;
static gyre_subscriber *subscriber;
static gyre_reply ticket;
static int descriptor;

static bool build(void)
{
    empty = fake_channel((gyre_channel_options){.capacity = 3, .item_bytes = 16}, &ledger);
    full = fake_channel((gyre_channel_options){.capacity = 1, .item_bytes = 16}, &ledger);
    all = fake_channel(
        (gyre_channel_options){.delivery = GYRE_DELIVER_ALL, .capacity = 3, .item_bytes = 16},
        &ledger);
    if (!empty || !full || !all)
        return false;
    CHECK(fake_send(full, &ledger, 1, 0) == GYRE_OK);
    CHECK(gyre_subscriber_create(all, &subscriber) == GYRE_OK);
    CHECK(gyre_reply_take(empty, &ticket) == GYRE_OK);
    CHECK(gyre_channel_descriptor(empty, &descriptor) == GYRE_OK);
    return true;
}

static void destroy_all(void)
{
    gyre_subscriber_destroy(subscriber);
    gyre_channel_destroy(all);
    gyre_channel_destroy(full);
    gyre_channel_destroy(empty);
}

static void tear_down(void)
{
    destroy_all();
    CHECK(fake_alive(&ledger) == 0);
}

static void destroy_in_child(void)
{
    const uint64_t drops = ledger.drops;

    destroy_all();
    CHECK(ledger.drops == drops);
}

static void nothing_waits(void)
{
    uint32_t item[4] = {2, 0};
    const gyre_batch batch = {item, 8, 1, 0};
    gyre_channel *channel = (gyre_channel *)&channel;
    gyre_answer answer;
    gyre_reply reply;
    size_t count = 99;

    CHECK(gyre_channel_create(NULL, &channel) == GYRE_UNAVAILABLE && channel == NULL);
    CHECK(gyre_channel_receive(empty, item, NULL, GYRE_NEVER) == GYRE_UNAVAILABLE);
    CHECK(gyre_channel_receive_bulk(empty, item, NULL, 1, GYRE_NEVER, &count) == GYRE_UNAVAILABLE);
    CHECK(count == 0);
    CHECK(gyre_channel_send(full, 0, item, 8, GYRE_NEVER) == GYRE_UNAVAILABLE);
    count = 99;
    CHECK(gyre_channel_send_bulk(full, &batch, GYRE_NEVER, &count) == GYRE_UNAVAILABLE);
    CHECK(count == 0);
    CHECK(gyre_subscriber_receive(subscriber, item, NULL, GYRE_NEVER) == GYRE_UNAVAILABLE);
    CHECK(gyre_reply_wait(empty, ticket, GYRE_NEVER, &answer) == GYRE_UNAVAILABLE);
    CHECK(gyre_call(full, 0, item, 8, GYRE_NEVER, &answer) == GYRE_UNAVAILABLE);
    CHECK(gyre_call_begin(full, 0, item, 8, GYRE_NEVER, &reply) == GYRE_UNAVAILABLE && reply == 0);
}

static void waits_are_refused_in_a_child(void)
{
    REQUIRE(build());
    CHECK(passes_in_child(nothing_waits));
    tear_down();
}

static void child_may_destroy_and_the_parent_goes_on(void)
{
    struct pollfd p = {.events = POLLIN};

    REQUIRE(build());
    CHECK(passes_in_child(destroy_in_child));
    p.fd = descriptor;
    CHECK(fake_send(empty, &ledger, 5, 0) == GYRE_OK);
    CHECK(poll(&p, 1, 0) == 1 && (p.revents & POLLIN));
    CHECK(fake_receive(empty, &ledger) == 5);
    CHECK(fake_receive(full, &ledger) == 1);
    CHECK(fake_send(all, &ledger, 6, 0) == GYRE_OK);
    CHECK(fake_hear(subscriber, &ledger) == 6);
    CHECK(gyre_reply_give(empty, ticket) == GYRE_OK);
    tear_down();
}

/* The descriptor is shared with the child: what it destroys must not look like an event, nor like
 * the end, to the parent's event loop. */
static void childs_end_is_no_event_of_the_parent(void)
{
    struct pollfd p = {.events = POLLIN};

    REQUIRE(build());
    p.fd = descriptor;
    CHECK(fake_receive(empty, &ledger) == FAKE_NONE(GYRE_AGAIN)); /* now it is unreadable */
    CHECK(poll(&p, 1, 0) == 0);
    CHECK(passes_in_child(destroy_in_child));
    CHECK(poll(&p, 1, 0) == 0);
    tear_down();
}

/* Takes every lock there is, all the time, so that a fork finds them taken. */
static void *stay_busy(void *over)
{
    while (!__atomic_load_n((uint32_t *)over, __ATOMIC_SEQ_CST)) {
        gyre_subscriber *passing;

        CHECK(gyre_subscriber_create(all, &passing) == GYRE_OK);
        gyre_subscriber_destroy(passing);
        CHECK(fake_receive(empty, &ledger) == FAKE_NONE(GYRE_AGAIN));
    }
    return NULL;
}

static void child_may_destroy_what_another_thread_was_using(void)
{
    uint32_t over = 0;
    pthread_t busy;

    REQUIRE(build());
    REQUIRE(pthread_create(&busy, NULL, stay_busy, &over) == 0);
    for (int i = 0; i < 200 && test_failed() == 0; i++)
        CHECK(passes_in_child(destroy_in_child));
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    pthread_join(busy, NULL);
    tear_down();
}

static const test_case cases[] = {
    TEST(waits_are_refused_in_a_child),
    TEST(child_may_destroy_and_the_parent_goes_on),
    TEST(childs_end_is_no_event_of_the_parent),
    TEST(child_may_destroy_what_another_thread_was_using),
};
TEST_MAIN(cases)
