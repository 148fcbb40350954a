/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptor of a channel and of a subscriber: readable when there may be something, unreadable
 * after GYRE_AGAIN, and an event loop that trusts it misses nothing.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "flow/channel_fake.h"

static fake_ledger ledger;

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

static bool readable(int descriptor)
{
    struct pollfd p = {.fd = descriptor, .events = POLLIN};

    CHECK(poll(&p, 1, 0) >= 0);
    CHECK((p.revents & ~POLLIN) == 0);
    return p.revents & POLLIN;
}

static void descriptor_is_readable_while_there_is_something(void)
{
    for (int shape = 0; shape < 8; shape++) {
        gyre_channel *channel = make(GYRE_DELIVER_ONE, (gyre_when_full)(shape & 3), 3, shape >> 2);
        int descriptor = -1;

        REQUIRE(channel != NULL);
        REQUIRE(gyre_channel_descriptor(channel, &descriptor) == GYRE_OK);
        CHECK(descriptor >= 0);
        CHECK(fake_receive(channel, &ledger) == FAKE_NONE(GYRE_AGAIN));
        CHECK(!readable(descriptor));
        for (uint32_t turn = 0; turn < 5; turn++) {
            for (uint32_t i = 0; i <= turn % 3; i++)
                CHECK(fake_send(channel, &ledger, i, 70 * i) == GYRE_OK);
            for (uint32_t i = 0; i <= turn % 3; i++) {
                CHECK(readable(descriptor));
                CHECK(fake_receive(channel, &ledger) >= 0);
            }
            CHECK(fake_receive(channel, &ledger) == FAKE_NONE(GYRE_AGAIN));
            CHECK(!readable(descriptor));
        }
        gyre_channel_destroy(channel);
    }
}

static void bulk_forms_serve_the_descriptor_too(void)
{
    for (int banded = 0; banded < 2; banded++) {
        gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 8, banded);
        unsigned char items[8 * 16];
        gyre_received received[8];
        const gyre_batch batch = {items, 8, 5, 99};
        size_t count;
        int descriptor;

        REQUIRE(channel != NULL);
        REQUIRE(gyre_channel_descriptor(channel, &descriptor) == GYRE_OK);
        for (int turn = 0; turn < 3; turn++) {
            for (uint32_t i = 0; i < 5; i++)
                fake_item(&ledger, i, 8, items + 8 * (size_t)i);
            CHECK(gyre_channel_try_send_bulk(channel, &batch, &count) == GYRE_OK);
            CHECK(readable(descriptor));
            CHECK(gyre_channel_try_receive_bulk(channel, items, received, 8, &count) == GYRE_OK);
            for (size_t i = 0; i < count; i++)
                (void)fake_release(&ledger, items + 16 * i, received[i].size);
            CHECK(gyre_channel_try_receive_bulk(channel, items, received, 8, &count) == GYRE_AGAIN);
            CHECK(!readable(descriptor));
        }
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void late_descriptor_knows_what_is_there(void)
{
    gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, false);
    int descriptor, again;

    REQUIRE(channel != NULL);
    CHECK(fake_send(channel, &ledger, 0, 0) == GYRE_OK);
    REQUIRE(gyre_channel_descriptor(channel, &descriptor) == GYRE_OK);
    CHECK(readable(descriptor));
    REQUIRE(gyre_channel_descriptor(channel, &again) == GYRE_OK);
    CHECK(again == descriptor); /* there is one, and the channel owns it */
    CHECK(fake_receive(channel, &ledger) == 0);
    CHECK(fake_receive(channel, &ledger) == FAKE_NONE(GYRE_AGAIN));
    CHECK(!readable(descriptor));
    gyre_channel_destroy(channel);
}

static void closed_channel_stays_readable(void)
{
    for (int before = 0; before < 2; before++) {
        gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, false);
        int descriptor = -1;

        REQUIRE(channel != NULL);
        if (before)
            REQUIRE(gyre_channel_descriptor(channel, &descriptor) == GYRE_OK);
        gyre_channel_close(channel);
        if (!before)
            REQUIRE(gyre_channel_descriptor(channel, &descriptor) == GYRE_OK);
        for (int i = 0; i < 3; i++) {
            CHECK(readable(descriptor));
            CHECK(fake_receive(channel, &ledger) == FAKE_NONE(GYRE_CLOSED));
        }
        gyre_channel_destroy(channel);
    }
}

static void every_subscriber_has_its_own(void)
{
    for (int shape = 0; shape < 8; shape++) {
        gyre_channel *channel = make(GYRE_DELIVER_ALL, (gyre_when_full)(shape & 3), 3, shape >> 2);
        gyre_subscriber *s[2];
        int d[2], late;

        REQUIRE(channel != NULL);
        for (int i = 0; i < 2; i++) {
            REQUIRE(gyre_subscriber_create(channel, &s[i]) == GYRE_OK);
            REQUIRE(gyre_subscriber_descriptor(s[i], &d[i]) == GYRE_OK);
            CHECK(fake_hear(s[i], &ledger) == FAKE_NONE(GYRE_AGAIN));
            CHECK(!readable(d[i]));
        }
        CHECK(d[0] != d[1]);
        CHECK(fake_send(channel, &ledger, 1, 130) == GYRE_OK);
        CHECK(readable(d[0]) && readable(d[1]));
        CHECK(fake_hear(s[0], &ledger) == 1);
        CHECK(fake_hear(s[0], &ledger) == FAKE_NONE(GYRE_AGAIN));
        CHECK(!readable(d[0]) && readable(d[1]));
        gyre_subscriber_destroy(s[1]); /* takes its descriptor along */
        REQUIRE(gyre_subscriber_create(channel, &s[1]) == GYRE_OK);
        REQUIRE(gyre_subscriber_descriptor(s[1], &late) == GYRE_OK);
        CHECK(fake_hear(s[1], &ledger) == FAKE_NONE(GYRE_AGAIN));
        CHECK(!readable(late));
        gyre_channel_close(channel);
        CHECK(readable(d[0]) && readable(late));
        CHECK(fake_hear(s[0], &ledger) == FAKE_NONE(GYRE_CLOSED));
        CHECK(readable(d[0]));
        gyre_subscriber_destroy(s[0]);
        gyre_subscriber_destroy(s[1]);
        gyre_channel_destroy(channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static void system_without_descriptors_is_an_io_error(void)
{
    gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, false);
    struct rlimit before, none;
    int descriptor;
    const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    gyre_status status;

    REQUIRE(channel != NULL && lowest >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    (void)close(lowest);
    none = (struct rlimit){(rlim_t)lowest, before.rlim_max}; /* all below are taken */
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    status = gyre_channel_descriptor(channel, &descriptor);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(status == GYRE_IO);
    CHECK(fake_send(channel, &ledger, 1, 0) == GYRE_OK); /* and the channel goes on */
    CHECK(gyre_channel_descriptor(channel, &descriptor) == GYRE_OK && readable(descriptor));
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void destroy_closes_the_descriptor(void)
{
    gyre_channel *channel = make(GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 3, false);
    int descriptor;

    REQUIRE(channel != NULL && gyre_channel_descriptor(channel, &descriptor) == GYRE_OK);
    gyre_channel_destroy(channel);
    CHECK(fcntl(descriptor, F_GETFD) == -1);
}

/* Two threads: one sends bursts at random moments, the other sleeps in epoll and drains. Now and
 * then the sender waits until all has arrived, so that a readiness that was lost cannot be hidden
 * by the next item. */
enum { EVENTS = 6000, BATCH = 5 };

typedef struct loop {
    gyre_channel *channel;
    gyre_subscriber *subscriber; /* or NULL */
    uint32_t flags;              /* of epoll */
    uint32_t received;           /* seq_cst */
    int descriptor;
} loop;

static gyre_status take_some(loop *l, unsigned char *items, gyre_received *received, size_t *count)
{
    return l->subscriber
               ? gyre_subscriber_try_receive_bulk(l->subscriber, items, received, BATCH, count)
               : gyre_channel_try_receive_bulk(l->channel, items, received, BATCH, count);
}

static void *turn_loop(void *arg)
{
    loop *l = arg;
    unsigned char items[BATCH * 16];
    gyre_received received[BATCH];
    struct epoll_event event = {.events = EPOLLIN | l->flags};
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    gyre_status status = GYRE_OK;

    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, l->descriptor, &event) == 0);
    while (status != GYRE_CLOSED) {
        const int ready = epoll_wait(epoll, &event, 1, 20000);
        size_t count = 0;

        CHECK(ready == 1);
        if (ready != 1)
            break;
        while ((status = take_some(l, items, received, &count)) == GYRE_OK) {
            for (size_t i = 0; i < count; i++)
                (void)fake_release(&ledger, items + 16 * i, received[i].size);
            __atomic_fetch_add(&l->received, (uint32_t)count, __ATOMIC_SEQ_CST);
        }
        CHECK(status == GYRE_AGAIN || status == GYRE_CLOSED);
    }
    (void)close(epoll);
    return NULL;
}

static void run_loop(loop *l)
{
    fake_random random = {l->flags + (l->subscriber != NULL)};
    pthread_t thread;
    uint32_t sent = 0;

    REQUIRE(pthread_create(&thread, NULL, turn_loop, l) == 0);
    while (sent < EVENTS) {
        const uint64_t limit_ns = gyre_clock_after_ns(20000ull * MILLISECOND);
        const uint32_t burst = 1 + fake_below(&random, 4);

        for (uint32_t i = 0; i < burst; i++, sent++) {
            uint32_t item[2];

            fake_item(&ledger, sent % FAKE_ITEMS, 8, item);
            if (gyre_channel_send(l->channel, fake_below(&random, 256), item, 8, limit_ns) !=
                GYRE_OK) {
                CHECK(!"sent");
                (void)fake_release(&ledger, item, 8);
            }
        }
        if (fake_below(&random, 2))
            while (__atomic_load_n(&l->received, __ATOMIC_SEQ_CST) < sent &&
                   gyre_clock_now_ns() < limit_ns)
                sched_yield();
    }
    gyre_channel_close(l->channel);
    pthread_join(thread, NULL);
    CHECK(l->received == sent);
}

static void event_loop_misses_nothing(void)
{
    for (int shape = 0; shape < 8; shape++) {
        const bool all = shape & 1;
        loop l = {.channel = make(all ? GYRE_DELIVER_ALL : GYRE_DELIVER_ONE, GYRE_FULL_BLOCK, 16,
                                  shape & 2),
                  .flags = shape & 4 ? EPOLLET : 0};

        REQUIRE(l.channel != NULL);
        if (all)
            REQUIRE(gyre_subscriber_create(l.channel, &l.subscriber) == GYRE_OK);
        REQUIRE((all ? gyre_subscriber_descriptor(l.subscriber, &l.descriptor)
                     : gyre_channel_descriptor(l.channel, &l.descriptor)) == GYRE_OK);
        run_loop(&l);
        gyre_subscriber_destroy(l.subscriber);
        gyre_channel_destroy(l.channel);
        CHECK(fake_alive(&ledger) == 0);
    }
}

static const test_case cases[] = {
    TEST(descriptor_is_readable_while_there_is_something),
    TEST(bulk_forms_serve_the_descriptor_too),
    TEST(late_descriptor_knows_what_is_there),
    TEST(closed_channel_stays_readable),
    TEST(every_subscriber_has_its_own),
    TEST(system_without_descriptors_is_an_io_error),
    TEST(destroy_closes_the_descriptor),
    TEST(event_loop_misses_nothing),
};
TEST_MAIN(cases)
