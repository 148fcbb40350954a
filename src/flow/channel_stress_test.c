/* SPDX-License-Identifier: Apache-2.0
 *
 * More threads than cores on one channel, under every policy and delivery, with and without bands:
 * order is kept per sender and band, nothing is lost, doubled or invented, the accounts add up, and
 * what items refer to (a block on the heap) is freed exactly once. Random forms, deadlines and
 * pauses; every other run is closed in the middle.
 */
#include "base/alloc.h"
#include "flow/channel_fake.h"

enum { SENDERS = 4, RECEIVERS = 3, BANDS = 4, ITEMS = 2000, BULK = 8, PLACES = RECEIVERS + 1 };

/* What an item refers to. */
typedef struct block {
    int32_t holders;
    uint32_t sender, band, number; /* as in the item */
} block;

/* Items of one sender and band are numbered as they are accepted: a number that was refused is used
 * again, so that the accepted ones have no gap. */
typedef struct item {
    block *refers;
    uint32_t sender, band, number;
} item;

typedef struct arena {
    gyre_channel_options options;
    gyre_channel *channel;
    bool closes;                         /* in the middle */
    uint32_t sent[SENDERS][BANDS];       /* accepted; each sender its own, read after joining */
    uint8_t ends[SENDERS][BANDS][ITEMS]; /* ONE: received or dropped, so often; relaxed */
    uint64_t received, dropped, refused; /* relaxed tallies, read after joining */
    int64_t blocks;                      /* alive; the same */
    uint32_t senders_left;               /* seq_cst */
} arena;

static arena a; /* of the run under way */

typedef struct party {
    uint32_t number;
    gyre_subscriber *subscriber;   /* ALL */
    uint32_t next[SENDERS][BANDS]; /* one more than the last number it saw; 0: none */
    uint64_t seen;
    pthread_t thread;
} party;

static bool to_all(void)
{
    return a.options.delivery == GYRE_DELIVER_ALL;
}

static bool loses(void)
{
    return a.options.when_full >= GYRE_FULL_DROP_OLDEST;
}

static void hold(block *b)
{
    /* relaxed: made from a hold that exists */
    CHECK(__atomic_fetch_add(&b->holders, 1, __ATOMIC_RELAXED) > 0);
}

static void let_go(block *b)
{
    /* acq_rel: the last one frees after all others have read */
    const int32_t before = __atomic_fetch_sub(&b->holders, 1, __ATOMIC_ACQ_REL);

    CHECK(before > 0);
    if (before == 1) {
        __atomic_fetch_sub(&a.blocks, 1, __ATOMIC_RELAXED);
        gyre_free(NULL, b, 1, sizeof *b);
    }
}

static bool is_whole(const item *i, size_t size)
{
    return size == sizeof *i && i->sender < SENDERS && i->band < BANDS && i->number < ITEMS &&
           i->refers->sender == i->sender && i->refers->band == i->band &&
           i->refers->number == i->number;
}

static void share(void *user, void *bytes, size_t size)
{
    CHECK(user == &a && is_whole(bytes, size));
    hold(((item *)bytes)->refers);
}

static void ended(const item *i)
{
    CHECK(__atomic_fetch_add(&a.ends[i->sender][i->band][i->number], 1, __ATOMIC_RELAXED) == 0 ||
          to_all());
}

static void drop(void *user, void *bytes, size_t size)
{
    const item *i = bytes;

    CHECK(user == &a && is_whole(i, size));
    __atomic_fetch_add(&a.dropped, 1, __ATOMIC_RELAXED);
    ended(i);
    let_go(i->refers);
}

static void make_item(item *out, uint32_t sender, uint32_t band, uint32_t number)
{
    void *new_block;
    block *b;

    if (gyre_alloc(NULL, 1, sizeof *b, &new_block) != GYRE_OK)
        abort();
    b = new_block;
    *b = (block){1, sender, band, number};
    memset(out, 0, sizeof *out);
    out->refers = b;
    out->sender = sender;
    out->band = band;
    out->number = number;
    __atomic_fetch_add(&a.blocks, 1, __ATOMIC_RELAXED);
}

static uint64_t some_deadline(fake_random *random)
{
    switch (fake_below(random, 4)) {
    case 0:
        return fake_below(random, 2);
    case 1:
        return gyre_clock_after_ns(fake_below(random, 100000));
    default:
        return gyre_clock_after_ns(30000ull * MILLISECOND);
    }
}

static void some_pause(fake_random *random)
{
    const uint32_t kind = fake_below(random, 64);

    if (kind < 4)
        sched_yield();
    else if (kind == 4)
        usleep(fake_below(random, 100));
}

/* Sends up to `count` items of one band; how many were accepted. */
static size_t send_some(fake_random *random, item *items, size_t count, uint32_t band)
{
    const uint32_t priority = band * 64 + fake_below(random, 64);
    const gyre_batch batch = {items, sizeof *items, count, priority};
    const uint64_t deadline_ns = some_deadline(random);
    const bool tries = fake_below(random, 3) == 0;
    gyre_status status;
    size_t sent = 0;

    if (count == 1) {
        status = tries ? gyre_channel_try_send(a.channel, priority, items, sizeof *items)
                       : gyre_channel_send(a.channel, priority, items, sizeof *items, deadline_ns);
        sent = status == GYRE_OK;
    } else {
        status = tries ? gyre_channel_try_send_bulk(a.channel, &batch, &sent)
                       : gyre_channel_send_bulk(a.channel, &batch, deadline_ns, &sent);
    }
    CHECK((status == GYRE_OK) == (sent == count));
    CHECK(status != GYRE_TIMEOUT || gyre_clock_now_ns() >= deadline_ns);
    CHECK(status == GYRE_OK || status == GYRE_CLOSED || !loses());
    CHECK(status != GYRE_CLOSED || a.closes);
    CHECK(status == GYRE_OK || status == GYRE_CLOSED || status == GYRE_AGAIN ||
          (status == GYRE_TIMEOUT && !tries && a.options.when_full == GYRE_FULL_BLOCK));
    return sent;
}

static void *sender(void *arg)
{
    party *p = arg;
    fake_random random = {p->number};
    uint32_t tries = 0;

    while (tries < ITEMS) {
        const uint32_t band = fake_below(&random, BANDS);
        const uint32_t count = fake_below(&random, 3) ? 1 : 1 + fake_below(&random, BULK);
        item items[BULK];
        size_t sent;

        for (uint32_t i = 0; i < count; i++)
            make_item(&items[i], p->number, band, a.sent[p->number][band] + i);
        sent = send_some(&random, items, count, band);
        for (size_t i = sent; i < count; i++)
            let_go(items[i].refers);
        a.sent[p->number][band] += (uint32_t)sent;
        __atomic_fetch_add(&a.refused, count - sent, __ATOMIC_RELAXED);
        tries += count;
        if (tries + BULK > ITEMS)
            break;
        some_pause(&random);
    }
    __atomic_fetch_sub(&a.senders_left, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Looks at what was received: whole, newer than the last of its kind and, for a subscriber of a
 * channel that loses nothing, the very next. */
static void look_at(party *p, const item *i, const gyre_received *received)
{
    uint32_t *next;

    CHECK(is_whole(i, received->size) && received->reply == 0);
    CHECK(received->band == (a.options.banded ? i->band : 0));
    next = &p->next[i->sender][i->band];
    CHECK(i->number >= *next);
    CHECK(!to_all() || loses() || *next == 0 || i->number == *next);
    *next = i->number + 1;
    p->seen++;
    if (!to_all())
        ended(i);
    let_go(i->refers);
}

static gyre_status receive_some(party *p, fake_random *random)
{
    const uint64_t deadline_ns = some_deadline(random);
    const size_t room = 1 + fake_below(random, BULK);
    gyre_received received[BULK];
    item items[BULK];
    gyre_status status;
    size_t count = 0;

    if (room < BULK / 2) {
        status = p->subscriber
                     ? gyre_subscriber_receive(p->subscriber, items, received, deadline_ns)
                     : gyre_channel_receive(a.channel, items, received, deadline_ns);
        count = status == GYRE_OK;
    } else {
        status = p->subscriber ? gyre_subscriber_receive_bulk(p->subscriber, items, received, room,
                                                              deadline_ns, &count)
                               : gyre_channel_receive_bulk(a.channel, items, received, room,
                                                           deadline_ns, &count);
    }
    CHECK((status == GYRE_OK) == (count > 0) && count <= room);
    CHECK(status == GYRE_OK || status == GYRE_CLOSED ||
          (status == GYRE_TIMEOUT && gyre_clock_now_ns() >= deadline_ns));
    for (size_t i = 0; i < count; i++)
        look_at(p, &items[i], &received[i]);
    __atomic_fetch_add(&a.received, count, __ATOMIC_RELAXED);
    return status;
}

static void *receiver(void *arg)
{
    party *p = arg;
    fake_random random = {100 + p->number};

    while (receive_some(p, &random) != GYRE_CLOSED)
        some_pause(&random);
    return NULL;
}

/* Subscribes and leaves, again and again, while the senders may be waiting for it. */
static void *churner(void *arg)
{
    party *p = arg;
    fake_random random = {200};
    gyre_status status = GYRE_OK;

    while (status != GYRE_CLOSED && __atomic_load_n(&a.senders_left, __ATOMIC_SEQ_CST) > 0) {
        status = gyre_subscriber_create(a.channel, &p->subscriber);
        CHECK(status == GYRE_OK || (status == GYRE_CLOSED && a.closes));
        memset(p->next, 0, sizeof p->next);
        for (uint32_t i = fake_below(&random, 20); status == GYRE_OK && i > 0; i--) {
            (void)receive_some(p, &random);
            if (__atomic_load_n(&a.senders_left, __ATOMIC_SEQ_CST) == 0)
                break; /* nothing will come */
        }
        gyre_subscriber_destroy(p->subscriber);
        some_pause(&random);
    }
    return NULL;
}

static void check_one(uint64_t sent)
{
    const gyre_channel_statistics s = fake_describe(a.channel);

    CHECK(fake_accounts_hold(a.channel) && s.queued == 0);
    CHECK(s.delivered == a.received && s.dropped == a.dropped);
    CHECK(a.received + a.dropped == sent && (loses() || a.dropped == 0));
    for (uint32_t i = 0; i < SENDERS; i++)
        for (uint32_t band = 0; band < BANDS; band++)
            for (uint32_t number = 0; number < ITEMS; number++)
                CHECK(a.ends[i][band][number] == (number < a.sent[i][band]));
}

static void check_subscriber(const party *p, uint64_t sent)
{
    const gyre_channel_statistics s = fake_describe_subscriber(p->subscriber);

    CHECK(s.accepted == sent && s.delivered == p->seen && s.queued == 0);
    CHECK(s.accepted == s.delivered + s.dropped);
    CHECK(s.dropped == 0 || a.options.when_full == GYRE_FULL_DROP_OLDEST);
    if (!loses())
        for (uint32_t i = 0; i < SENDERS; i++)
            for (uint32_t band = 0; band < BANDS; band++)
                CHECK(p->next[i][band] == a.sent[i][band]);
}

static void check_accounts(const party *receivers)
{
    const gyre_channel_statistics s = fake_describe(a.channel);
    uint64_t sent = 0;

    for (uint32_t i = 0; i < SENDERS; i++)
        for (uint32_t band = 0; band < BANDS; band++)
            sent += a.sent[i][band];
    CHECK(s.accepted == sent && s.rejected == a.refused && s.attempts == sent + a.refused);
    CHECK(s.delivered == a.received);
    CHECK(a.options.when_full == GYRE_FULL_BLOCK || s.blocked_sends == 0);
    CHECK(s.peak <= (uint64_t)a.options.capacity * (to_all() && a.options.banded ? BANDS : 1));
    if (!to_all())
        check_one(sent);
    else if (a.options.when_full == GYRE_FULL_DROP_NEWEST)
        sent -= s.dropped; /* which no subscriber counts */
    if (to_all())
        for (uint32_t i = 0; i < RECEIVERS; i++)
            check_subscriber(&receivers[i], sent);
}

static void run(gyre_delivery delivery, gyre_when_full when_full, bool banded, bool closes)
{
    party senders[SENDERS] = {{0}}, receivers[PLACES] = {{0}};
    const bool churns = delivery == GYRE_DELIVER_ALL;

    memset(&a, 0, sizeof a);
    a.closes = closes;
    a.senders_left = SENDERS;
    a.options = (gyre_channel_options){.delivery = delivery,
                                       .when_full = when_full,
                                       .capacity = closes   ? 13
                                                   : banded ? 3
                                                            : 1,
                                       .item_bytes = sizeof(item),
                                       .banded = banded,
                                       .subscribers = PLACES,
                                       .metrics = true,
                                       .share = share,
                                       .drop = drop,
                                       .user = &a};
    a.channel = fake_channel(a.options, NULL);
    REQUIRE(a.channel != NULL);
    for (uint32_t i = 0; i < PLACES; i++) {
        receivers[i].number = i;
        if (i < RECEIVERS && churns)
            REQUIRE(gyre_subscriber_create(a.channel, &receivers[i].subscriber) == GYRE_OK);
    }
    for (uint32_t i = 0; i < RECEIVERS; i++)
        CHECK(pthread_create(&receivers[i].thread, NULL, receiver, &receivers[i]) == 0);
    if (churns)
        CHECK(pthread_create(&receivers[RECEIVERS].thread, NULL, churner, &receivers[RECEIVERS]) ==
              0);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i].number = i;
        CHECK(pthread_create(&senders[i].thread, NULL, sender, &senders[i]) == 0);
    }
    if (closes) {
        usleep(2000);
        gyre_channel_close(a.channel);
    }
    for (uint32_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
    gyre_channel_close(a.channel);
    for (uint32_t i = 0; i < (churns ? PLACES : RECEIVERS); i++)
        pthread_join(receivers[i].thread, NULL);
    check_accounts(receivers);
    for (uint32_t i = 0; i < RECEIVERS; i++)
        gyre_subscriber_destroy(receivers[i].subscriber);
    gyre_channel_destroy(a.channel);
    CHECK(a.blocks == 0);
}

/* One sender that never stops, and one thread that subscribes, receives a little and leaves. */
static void *send_on(void *over)
{
    for (uint64_t i = 0; !__atomic_load_n((uint32_t *)over, __ATOMIC_SEQ_CST); i++)
        CHECK(gyre_channel_send(a.channel, 0, &i, sizeof i,
                                gyre_clock_after_ns(10000ull * MILLISECOND)) == GYRE_OK);
    return NULL;
}

static void subscriber_sees_all_from_its_first_item_on(void)
{
    enum { VISITS = 30000 };
    const uint64_t end_ns = gyre_clock_after_ns(1500ull * MILLISECOND);
    const int before = test_failed();
    uint32_t over = 0;
    pthread_t thread;

    memset(&a, 0, sizeof a);
    a.channel = fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                                    .capacity = 1,
                                                    .item_bytes = sizeof(uint64_t)},
                             NULL);
    REQUIRE(a.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, send_on, &over) == 0);
    for (int i = 0; i < VISITS && gyre_clock_now_ns() < end_ns && test_failed() == before; i++) {
        gyre_channel_statistics s;
        gyre_subscriber *visitor;
        uint64_t first = 0, number = 0;

        REQUIRE(gyre_subscriber_create(a.channel, &visitor) == GYRE_OK);
        for (uint64_t k = 0; k < 3; k++) {
            const uint64_t deadline_ns = gyre_clock_after_ns(10000ull * MILLISECOND);

            CHECK(gyre_subscriber_receive(visitor, &number, NULL, deadline_ns) == GYRE_OK);
            first = k == 0 ? number : first;
            CHECK(number == first + k);
        }
        s = fake_describe_subscriber(visitor);
        CHECK(s.delivered == 3 && s.dropped == 0 && s.accepted <= 4);
        gyre_subscriber_destroy(visitor);
    }
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    gyre_channel_destroy(a.channel);
}

static void run_all(gyre_delivery delivery, gyre_when_full when_full)
{
    for (int shape = 0; shape < 4; shape++)
        run(delivery, when_full, shape & 1, shape & 2);
}

FAKE_STRESS_CASES(run_all)

static const test_case cases[] = {
    FAKE_STRESS_TESTS,
    TEST(subscriber_sees_all_from_its_first_item_on),
};
TEST_MAIN(cases)
