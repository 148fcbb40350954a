/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns that are held and recalled all the time: threads, more than cores, that work in bursts long
 * enough to hold and then sleep, alone on a turn and through channels that let their words be held.
 * Each position has one owner, no mark is missed, nothing is lost, doubled or invented, order is
 * kept per sender, and whoever sleeps is woken.
 */
#include <poll.h>
#include <sched.h>
#include <signal.h>

#include "flow/channel.h"
#include "flow/channel_fake.h"

static uint64_t far_away(void)
{
    return gyre_clock_after_ns(30000ull * MILLISECOND);
}

/* A burst is over: lets others come, for a while or not at all. */
static void rest(fake_random *random)
{
    switch (fake_below(random, 4)) {
    case 0:
        usleep(fake_below(random, 100));
        break;
    case 1:
        sched_yield();
        break;
    default:
        break;
    }
}

/* Forgets how soon it was taken back before, so that it is held again and again. */
static void make_impatient(gyre_turn *turn)
{
    /* relaxed, both: as good a guess as any */
    if (atomic_load_explicit(&turn->patience, memory_order_relaxed) != GYRE_TURN_NEVER)
        atomic_store_explicit(&turn->patience, 0, memory_order_relaxed);
}

/* A turn alone. */

enum { MOVERS = 4, POSITIONS = 1 << 22, TURN_MS = 100 };

static struct {
    gyre_turn turn;
    /* All without a swap, which would take more time than what is tested. Read after joining. */
    uint8_t owners[POSITIONS]; /* how many */
    uint8_t marks[POSITIONS];  /* that the mover of the position saw, */
    uint8_t wanted[POSITIONS]; /* and that were set in it */
} t;

static void *mover(void *number)
{
    fake_random random = {*(uint32_t *)number};

    for (;;) {
        for (uint32_t burst = fake_below(&random, 400); burst > 0;) {
            const gyre_move move = gyre_turn_begin(&t.turn);
            const uint64_t position = gyre_turn_position(move.word);
            const uint64_t left = POSITIONS - position, most = 1 + burst % 3;
            const uint64_t count = move.word & GYRE_TURN_CLOSED ? 0 : left < most ? left : most;

            if (!gyre_turn_end(&t.turn, move, count))
                continue;
            if (count == 0)
                return NULL;
            for (uint64_t i = position; i < position + count; i++)
                t.owners[i]++;
            t.marks[position] = move.word & GYRE_TURN_MARKS;
            burst--;
        }
        rest(&random);
    }
}

/* Any instruction may be the last one for a while: so it is after this signal. */
static void stumble(int signal)
{
    const uint64_t end_ns = gyre_clock_after_ns(5000); /* longer than a recall */

    (void)signal;
    while (gyre_clock_now_ns() < end_ns)
        continue;
}

/* Sets the mark in words that it saw, and remembers in which; and stops a mover now and then. */
static void *marker(void *movers)
{
    fake_random random = {100};
    uint64_t word;

    do {
        if (fake_below(&random, 4))
            pthread_kill(((pthread_t *)movers)[fake_below(&random, MOVERS)], SIGUSR1);
        make_impatient(&t.turn);
        word = atomic_load(&t.turn.word);
        if (gyre_turn_position(word) == POSITIONS)
            break;
        if (!(word & GYRE_TURN_WANTED) && gyre_turn_want(&t.turn, word))
            t.wanted[gyre_turn_position(word)] = 1;
        if (fake_below(&random, 64) == 0)
            usleep(fake_below(&random, 200));
    } while (!(word & GYRE_TURN_CLOSED));
    return NULL;
}

static void position_has_one_owner_and_no_mark_is_missed(void)
{
    const uint64_t end_ns = gyre_clock_after_ns((uint64_t)TURN_MS * MILLISECOND);
    uint32_t numbers[MOVERS] = {0};
    pthread_t threads[MOVERS + 1];
    uint64_t end;

    memset(&t, 0, sizeof t);
    gyre_turn_init(&t.turn, UINT64_MAX, true);
    REQUIRE(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = stumble}, NULL) == 0);
    for (uint32_t i = 0; i < MOVERS; i++) {
        numbers[i] = i;
        REQUIRE(pthread_create(&threads[i], NULL, mover, &numbers[i]) == 0);
    }
    REQUIRE(pthread_create(&threads[MOVERS], NULL, marker, threads) == 0);
    while (gyre_clock_now_ns() < end_ns) {
        pthread_kill(threads[MOVERS], SIGUSR1);
        usleep(20);
    }
    gyre_turn_mark(&t.turn, GYRE_TURN_CLOSED);
    end = gyre_turn_position(atomic_load(&t.turn.word));
    for (uint32_t i = MOVERS + 1; i-- > 0;) /* first the one who sends signals to the others */
        pthread_join(threads[i], NULL);
    CHECK(gyre_turn_position(atomic_load(&t.turn.word)) == end); /* closed is closed */
    for (uint64_t i = 0; i < POSITIONS; i++) {
        CHECK(t.owners[i] == (i < end));
        CHECK(i >= end || !!(t.marks[i] & GYRE_TURN_WANTED) == t.wanted[i]);
    }
}

/* Channels. */

enum { SENDERS = 3, RECEIVERS = 3, EACH = 8192, BURST = 300, BULK = 40, ROUND_MS = 30 };

_Static_assert(SENDERS *EACH <= FAKE_ITEMS, "the ledger has a line for every item");

static fake_ledger ledger;

typedef struct party {
    pthread_t thread;
    gyre_channel *channel;
    gyre_subscriber *subscriber; /* ALL */
    uint32_t number;
    uint32_t accepted; /* by a sender: items 0 to this */
    uint64_t refused;
    uint64_t received;
    uint64_t next[SENDERS]; /* one more than the last number received of each */
    bool loses;             /* the channel does: numbers may be left out */
    bool to_all;
} party;

static uint8_t receipts[FAKE_ITEMS]; /* ONE: relaxed */

static size_t size_of(uint32_t id)
{
    return 4 + id % 45;
}

/* The numbers of a sender's items have no gap: one that was refused is used again. */
static bool send_next(party *p, fake_random *random)
{
    const uint32_t id = p->number * EACH + p->accepted;
    unsigned char item[64];
    gyre_status status;

    fake_item(&ledger, id, size_of(id), item);
    status = fake_below(random, 2)
                 ? gyre_channel_try_send(p->channel, 0, item, size_of(id))
                 : gyre_channel_send(p->channel, 0, item, size_of(id),
                                     gyre_clock_after_ns(fake_below(random, 200000)));
    p->accepted += status == GYRE_OK;
    if (status == GYRE_OK)
        return true;
    p->refused++;
    CHECK(status == GYRE_CLOSED || status == GYRE_AGAIN || status == GYRE_TIMEOUT);
    (void)fake_release(&ledger, item, size_of(id));
    return status != GYRE_CLOSED;
}

static bool send_many(party *p, fake_random *random)
{
    const uint32_t first = p->number * EACH + p->accepted, count = 1 + fake_below(random, BULK);
    unsigned char items[BULK * 8];
    gyre_status status;
    size_t sent;

    for (uint32_t i = 0; i < count; i++)
        fake_item(&ledger, first + i, 8, items + (size_t)i * 8);
    status = gyre_channel_send_bulk(p->channel, &(gyre_batch){items, 8, count, 0},
                                    gyre_clock_after_ns(fake_below(random, 200000)), &sent);
    CHECK((status == GYRE_OK) == (sent == count));
    for (size_t i = sent; i < count; i++)
        (void)fake_release(&ledger, items + i * 8, 8);
    p->accepted += (uint32_t)sent;
    p->refused += count - sent;
    return status != GYRE_CLOSED;
}

static void *sender(void *arg)
{
    party *p = arg;
    fake_random random = {p->number};
    bool open = true;

    while (open && p->accepted + BULK < EACH) {
        if (fake_below(&random, 8) == 0)
            open = send_many(p, &random);
        else
            for (uint32_t i = fake_below(&random, BURST);
                 open && i > 0 && p->accepted + BULK < EACH; i--)
                open = send_next(p, &random);
        make_impatient(&p->channel->bands[0].tail);
        rest(&random);
    }
    return NULL;
}

static void look_at(party *p, const unsigned char *item, size_t size)
{
    const uint32_t id = fake_release(&ledger, item, size), from = id / EACH % SENDERS,
                   number = id % EACH;

    CHECK(number >= p->next[from]);
    CHECK(!p->to_all || p->loses || number == p->next[from]);
    CHECK(p->to_all || __atomic_fetch_add(&receipts[id % FAKE_ITEMS], 1, __ATOMIC_RELAXED) == 0);
    p->next[from] = (uint64_t)number + 1;
    p->received++;
}

static gyre_status receive_some(party *p, fake_random *random)
{
    const uint64_t deadline_ns =
        fake_below(random, 2) ? far_away() : gyre_clock_after_ns(fake_below(random, 100000));
    const size_t room = fake_below(random, 16) ? 1 : BULK;
    unsigned char items[BULK][64];
    gyre_received received[BULK];
    gyre_status status;
    size_t count;

    if (p->subscriber) {
        status =
            gyre_subscriber_receive_bulk(p->subscriber, items, received, room, deadline_ns, &count);
    } else if (room == 1) {
        status = fake_below(random, 2)
                     ? gyre_channel_try_receive(p->channel, items, received)
                     : gyre_channel_receive(p->channel, items, received, deadline_ns);
        count = status == GYRE_OK;
    } else {
        status = gyre_channel_receive_bulk(p->channel, items, received, room, deadline_ns, &count);
    }
    for (size_t i = 0; i < count; i++)
        look_at(p, items[i], received[i].size);
    return status;
}

static void *receiver(void *arg)
{
    party *p = arg;
    fake_random random = {100 + p->number};
    gyre_status status = GYRE_OK;

    while (status != GYRE_CLOSED) {
        for (uint32_t i = fake_below(&random, BURST); status != GYRE_CLOSED && i > 0; i--)
            status = receive_some(p, &random);
        make_impatient(&p->channel->bands[0].head);
        rest(&random);
    }
    return NULL;
}

static void check_accounts(const gyre_channel *channel, const party *senders,
                           const party *receivers)
{
    const gyre_channel_statistics s = fake_describe(channel);
    uint64_t accepted = 0, refused = 0, received = 0;

    for (int i = 0; i < SENDERS; i++) {
        accepted += senders[i].accepted;
        refused += senders[i].refused;
    }
    CHECK(s.accepted == accepted && s.rejected == refused);
    for (int i = 0; i < RECEIVERS; i++) {
        received += receivers[i].received;
        if (receivers[i].subscriber) {
            const gyre_channel_statistics its = fake_describe_subscriber(receivers[i].subscriber);

            CHECK(its.delivered == receivers[i].received && its.queued == 0);
            CHECK(its.accepted == its.delivered + its.dropped);
            CHECK(receivers[i].loses || its.delivered == accepted);
        }
    }
    CHECK(s.delivered == received);
    if (receivers[0].subscriber)
        return;
    CHECK(fake_accounts_hold(channel) && s.queued == 0);
    CHECK(received + ledger.drops == accepted && (receivers[0].loses || ledger.drops == 0));
    for (uint32_t i = 0; !receivers[0].loses && i < SENDERS * EACH; i++)
        CHECK(receipts[i] == (i % EACH < senders[i / EACH].accepted));
}

static void run(gyre_channel_options options, bool closes)
{
    const bool to_all = options.delivery == GYRE_DELIVER_ALL;
    party senders[SENDERS] = {{0}}, receivers[RECEIVERS] = {{0}};
    gyre_channel *channel;

    memset(&ledger, 0, sizeof ledger);
    memset(receipts, 0, sizeof receipts);
    options.item_bytes = 64;
    channel = fake_channel(options, &ledger);
    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < RECEIVERS; i++) {
        receivers[i] = (party){.channel = channel,
                               .number = i,
                               .loses = options.when_full >= GYRE_FULL_DROP_OLDEST,
                               .to_all = to_all};
        if (to_all)
            REQUIRE(gyre_subscriber_create(channel, &receivers[i].subscriber) == GYRE_OK);
    }
    for (uint32_t i = 0; i < RECEIVERS; i++)
        CHECK(pthread_create(&receivers[i].thread, NULL, receiver, &receivers[i]) == 0);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (party){.channel = channel, .number = i};
        CHECK(pthread_create(&senders[i].thread, NULL, sender, &senders[i]) == 0);
    }
    if (closes)
        usleep(2000);
    else
        usleep(ROUND_MS * 1000);
    gyre_channel_close(channel);
    for (uint32_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
    for (uint32_t i = 0; i < RECEIVERS; i++)
        pthread_join(receivers[i].thread, NULL);
    check_accounts(channel, senders, receivers);
    for (uint32_t i = 0; i < RECEIVERS; i++)
        gyre_subscriber_destroy(receivers[i].subscriber);
    gyre_channel_destroy(channel);
    CHECK(fake_alive(&ledger) == 0);
}

static void run_all(gyre_delivery delivery, gyre_when_full when_full)
{
    static const uint32_t capacities[] = {1, 5, 64, 300};

    for (size_t i = 0; i < COUNT(capacities); i++)
        run((gyre_channel_options){.delivery = delivery,
                                   .when_full = when_full,
                                   .capacity = capacities[i],
                                   .banded = i == 2},
            i == 1);
}

FAKE_STRESS_CASES(run_all)

/* Two threads that meet, round after round. */

typedef struct meeting {
    gyre_channel *channel;
    uint32_t round, done; /* seq_cst */
    uint32_t rounds;      /* so many; relaxed */
    uint32_t thread;
    uint32_t sent; /* in this round; handed over with done */
} meeting;

enum { SHARE = 3 }; /* of a round's items */

static void begin_round(meeting *m, uint32_t round)
{
    __atomic_store_n(&m->round, round, __ATOMIC_SEQ_CST);
}

static void await_round(const uint32_t *counter, uint32_t round)
{
    for (uint32_t i = 1; __atomic_load_n(counter, __ATOMIC_SEQ_CST) < round; i++)
        if (i % 256 == 0)
            sched_yield();
}

static uint32_t send_share(gyre_channel *channel)
{
    uint32_t sent = 0;

    for (uint32_t i = 0; i < SHARE; i++)
        sent += gyre_channel_try_send(channel, 0, "x", 1) == GYRE_OK;
    return sent;
}

static void *send_each_round(void *arg)
{
    meeting *m = arg;

    for (uint32_t round = 1;; round++) {
        await_round(&m->round, round);
        if (__atomic_load_n(&m->round, __ATOMIC_SEQ_CST) == UINT32_MAX)
            return NULL;
        m->sent = send_share(m->channel);
        __atomic_store_n(&m->done, round, __ATOMIC_SEQ_CST);
    }
}

/* Receives everything there is, by the queue or the subscriber. */
static uint32_t drain(gyre_channel *channel, gyre_subscriber *subscriber)
{
    uint32_t count = 0;
    char item;

    while ((subscriber ? gyre_subscriber_try_receive(subscriber, &item, NULL)
                       : gyre_channel_try_receive(channel, &item, NULL)) == GYRE_OK)
        count++;
    return count;
}

/* An empty channel with room for what two send: they come to the limit together, and neither may
 * take it for full because the other has just raised it. */
static void meet_at_the_limit(gyre_delivery delivery)
{
    enum { ROUNDS = 30000 };
    const uint64_t end_ns = gyre_clock_after_ns(150ull * MILLISECOND);
    meeting m = {0};
    gyre_subscriber *subscriber = NULL;
    uint32_t refused = 0;
    pthread_t thread;

    m.channel = fake_channel((gyre_channel_options){.delivery = delivery,
                                                    .when_full = GYRE_FULL_REJECT,
                                                    .capacity = 2 * SHARE,
                                                    .item_bytes = 1},
                             NULL);
    REQUIRE(m.channel != NULL);
    if (delivery == GYRE_DELIVER_ALL)
        REQUIRE(gyre_subscriber_create(m.channel, &subscriber) == GYRE_OK);
    REQUIRE(pthread_create(&thread, NULL, send_each_round, &m) == 0);
    for (uint32_t round = 1; round <= ROUNDS && gyre_clock_now_ns() < end_ns; round++) {
        uint32_t sent;

        begin_round(&m, round);
        for (volatile uint32_t i = round % 64; i > 0; i--)
            continue; /* sooner or later than the other */
        sent = send_share(m.channel);
        await_round(&m.done, round);
        sent += m.sent;
        refused += 2 * SHARE - sent;
        CHECK(drain(m.channel, subscriber) == sent);
    }
    begin_round(&m, UINT32_MAX);
    pthread_join(thread, NULL);
    CHECK(refused == 0);
    gyre_subscriber_destroy(subscriber);
    gyre_channel_destroy(m.channel);
}

static void two_who_come_to_the_limit_of_a_queue_are_both_let_in(void)
{
    meet_at_the_limit(GYRE_DELIVER_ONE);
}

static void two_who_come_to_the_limit_of_a_broadcast_are_both_let_in(void)
{
    meet_at_the_limit(GYRE_DELIVER_ALL);
}

/* Sleeping while the other side's word is held. */

enum { HOLDS = 40 }; /* items after which one thread alone holds */

static void *receive_each_round(void *arg)
{
    meeting *m = arg;
    uint32_t number;

    fake_here(&m->thread);
    for (uint32_t round = 1; round <= m->rounds; round++) {
        for (uint32_t i = 0; i < HOLDS; i++)
            CHECK(gyre_channel_receive(m->channel, &number, NULL, far_away()) == GYRE_OK &&
                  number == i);
        __atomic_store_n(&m->done, round, __ATOMIC_SEQ_CST);
    }
    CHECK(gyre_channel_receive(m->channel, &number, NULL, far_away()) == GYRE_CLOSED);
    return NULL;
}

static void *send_all_rounds(void *arg)
{
    meeting *m = arg;

    fake_here(&m->thread);
    for (uint32_t round = 1; round <= m->rounds; round++)
        for (uint32_t i = 0; i < HOLDS; i++)
            CHECK(gyre_channel_send(m->channel, 0, &i, sizeof i, far_away()) == GYRE_OK);
    __atomic_store_n(&m->done, m->rounds, __ATOMIC_SEQ_CST);
    CHECK(gyre_channel_send(m->channel, 0, "end", 4, far_away()) == GYRE_OK);
    CHECK(gyre_channel_send(m->channel, 0, "end", 4, far_away()) == GYRE_CLOSED);
    return NULL;
}

static void receiver_that_sleeps_is_woken_by_one_who_held(void)
{
    enum { ROUNDS = 50 };
    meeting m = {.rounds = ROUNDS};
    pthread_t thread;

    m.channel =
        fake_channel((gyre_channel_options){.capacity = 100, .item_bytes = sizeof(uint32_t)}, NULL);
    REQUIRE(m.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, receive_each_round, &m) == 0);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t i = 0; i < HOLDS; i++)
            CHECK(gyre_channel_try_send(m.channel, 0, &i, sizeof i) == GYRE_OK);
        await_round(&m.done, round);
        if (round % 2 == 0)
            fake_await_sleep(&m.thread);
    }
    gyre_channel_close(m.channel);
    pthread_join(thread, NULL);
    gyre_channel_destroy(m.channel);
}

static void sender_that_sleeps_is_woken_by_one_who_held(void)
{
    enum { ROUNDS = 50 };
    meeting m = {.rounds = ROUNDS};
    pthread_t thread;
    uint32_t number;

    m.channel =
        fake_channel((gyre_channel_options){.capacity = 1, .item_bytes = sizeof(uint32_t)}, NULL);
    REQUIRE(m.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, send_all_rounds, &m) == 0);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (round % 2 == 0)
            fake_await_sleep(&m.thread);
        for (uint32_t i = 0; i < HOLDS; i++)
            CHECK(gyre_channel_receive(m.channel, &number, NULL, far_away()) == GYRE_OK &&
                  number == i);
    }
    await_round(&m.done, ROUNDS);
    fake_await_sleep(&m.thread);
    gyre_channel_close(m.channel);
    pthread_join(thread, NULL);
    CHECK(gyre_channel_try_receive(m.channel, &number, NULL) == GYRE_OK);
    CHECK(gyre_channel_try_receive(m.channel, &number, NULL) == GYRE_CLOSED);
    gyre_channel_destroy(m.channel);
}

static void *try_on(void *arg)
{
    meeting *m = arg;

    while (__atomic_load_n(&m->round, __ATOMIC_SEQ_CST) != UINT32_MAX)
        CHECK(gyre_channel_try_send(m->channel, 0, "x", 1) != GYRE_CLOSED);
    return NULL;
}

/* Who holds the tail of a broadcast that nobody hears goes by a limit that it has set itself. */
static void subscriber_that_comes_while_the_tail_is_held_misses_nothing(void)
{
    const uint64_t end_ns = gyre_clock_after_ns(100ull * MILLISECOND);
    meeting m = {0};
    uint32_t overtaken = 0;
    pthread_t thread;

    m.channel = fake_channel((gyre_channel_options){.delivery = GYRE_DELIVER_ALL,
                                                    .when_full = GYRE_FULL_REJECT,
                                                    .capacity = 1,
                                                    .item_bytes = 1},
                             NULL);
    REQUIRE(m.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, try_on, &m) == 0);
    for (uint32_t visit = 1; gyre_clock_now_ns() < end_ns; visit++) {
        gyre_subscriber *visitor;

        REQUIRE(gyre_subscriber_create(m.channel, &visitor) == GYRE_OK);
        for (volatile uint32_t i = visit % 256; i > 0; i--)
            continue; /* which is time for the sender to go too far */
        overtaken += fake_describe_subscriber(visitor).accepted > 1;
        gyre_subscriber_destroy(visitor);
        for (volatile uint32_t i = visit % 512; i > 0; i--)
            continue; /* and to hold the tail again */
    }
    begin_round(&m, UINT32_MAX);
    pthread_join(thread, NULL);
    CHECK(overtaken == 0);
    gyre_channel_destroy(m.channel);
}

static bool is_readable(int descriptor)
{
    struct pollfd p = {.fd = descriptor, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

/* What gyre/channel.h says of GYRE_AGAIN holds also when a sender holds the tail. */
static void descriptor_is_unreadable_after_again_whoever_holds(void)
{
    gyre_channel *channel = fake_channel((gyre_channel_options){.item_bytes = 1}, NULL);
    int descriptor;

    REQUIRE(channel != NULL);
    CHECK(gyre_channel_descriptor(channel, &descriptor) == GYRE_OK);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++)
            CHECK(gyre_channel_try_send(channel, 0, "x", 1) == GYRE_OK);
        CHECK(is_readable(descriptor));
        CHECK(drain(channel, NULL) == 100 && !is_readable(descriptor));
    }
    gyre_channel_destroy(channel);
}

static const test_case cases[] = {
    TEST(position_has_one_owner_and_no_mark_is_missed),
    FAKE_STRESS_TESTS,
    TEST(two_who_come_to_the_limit_of_a_queue_are_both_let_in),
    TEST(two_who_come_to_the_limit_of_a_broadcast_are_both_let_in),
    TEST(receiver_that_sleeps_is_woken_by_one_who_held),
    TEST(sender_that_sleeps_is_woken_by_one_who_held),
    TEST(subscriber_that_comes_while_the_tail_is_held_misses_nothing),
    TEST(descriptor_is_unreadable_after_again_whoever_holds),
};
TEST_MAIN(cases)
