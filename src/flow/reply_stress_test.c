/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls between threads: answers against deadlines, against giving up, against close. What an
 * answer refers to is counted, so that one which is lost, or received and refused at once, is seen.
 */
#include <sys/mman.h>

#include "flow/channel_fake.h"
#include "gyre/reply.h"

enum {
    CALLERS = 5,
    SERVERS = 3,
    CALLS = 1500,          /* of each caller */
    RACES = 8000,          /* of one answer against one giver */
    HALF = FAKE_ITEMS / 2, /* items below, answers above: answer HALF + i for item i */
};

static fake_ledger ledger;

static uint64_t far_away(void)
{
    return gyre_clock_after_ns(30000ull * MILLISECOND);
}

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

/* A thread in gyre_call. */
typedef struct caller {
    gyre_channel *channel;
    uint32_t id; /* of its item */
    uint64_t deadline_ns;
    gyre_answer answer;
    gyre_status status;
    uint32_t thread;
} caller;

static void *call_once(void *arg)
{
    caller *c = arg;
    unsigned char item[8];

    fake_here(&c->thread);
    fake_item(&ledger, c->id, 8, item);
    c->status = gyre_call(c->channel, 0, item, 8, c->deadline_ns, &c->answer);
    return NULL;
}

static gyre_reply receive_ticket(gyre_channel *channel)
{
    unsigned char item[16];
    gyre_received received = {0, 0, 0};

    CHECK(gyre_channel_receive(channel, item, &received, far_away()) == GYRE_OK);
    (void)fake_release(&ledger, item, received.size);
    return received.reply;
}

static void sleeping_caller_gets_its_answer(void)
{
    caller c = {.channel = make(GYRE_FULL_BLOCK, 2, 2), .deadline_ns = GYRE_NEVER};
    pthread_t thread;

    REQUIRE(c.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, call_once, &c) == 0);
    fake_await_sleep(&c.thread);
    CHECK(gyre_reply_send(c.channel, receive_ticket(c.channel), GYRE_IO, "why", 3) == GYRE_OK);
    pthread_join(thread, NULL);
    CHECK(c.status == GYRE_OK && c.answer.status == GYRE_IO && c.answer.size == 3);
    CHECK(memcmp(c.answer.bytes, "why", 3) == 0);
    end(c.channel);
}

static void close_frees_sleeping_callers(void)
{
    caller c[3];
    pthread_t threads[3];
    gyre_channel *channel = make(GYRE_FULL_BLOCK, 2, 3); /* two wait for answers, one for room */

    REQUIRE(channel != NULL);
    for (uint32_t i = 0; i < 3; i++) {
        c[i] = (caller){.channel = channel, .id = i, .deadline_ns = GYRE_NEVER};
        REQUIRE(pthread_create(&threads[i], NULL, call_once, &c[i]) == 0);
        fake_await_sleep(&c[i].thread);
    }
    gyre_channel_close(channel);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK(c[i].status == GYRE_CLOSED && c[i].answer.size == 0);
    }
    while (fake_receive(channel, &ledger) >= 0)
        ;
    CHECK(fake_describe(channel).delivered == 2 && fake_alive(&ledger) == 1);
    for (uint32_t i = 0; i < 3; i++) /* one item was refused and stayed its caller's */
        fake_hold(&ledger, i, -ledger.holders[i]);
    end(channel);
}

static void drop_frees_a_sleeping_caller(void)
{
    caller c = {.channel = make(GYRE_FULL_DROP_OLDEST, 1, 2), .deadline_ns = GYRE_NEVER};
    pthread_t thread;

    REQUIRE(c.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, call_once, &c) == 0);
    fake_await_sleep(&c.thread);
    while (fake_describe(c.channel).queued == 0)
        sched_yield();
    CHECK(fake_send(c.channel, &ledger, 2, 0) == GYRE_OK);
    pthread_join(thread, NULL);
    CHECK(c.status == GYRE_CANCELLED);
    end(c.channel);
}

/* The stack of a caller that gave up is gone when the answer comes: a write to it is a fault. */
static void *call_from_own_stack(void *arg)
{
    caller *c = arg;
    unsigned char item[8];
    gyre_answer answer;

    fake_item(&ledger, c->id, 8, item);
    c->status = gyre_call(c->channel, 0, item, 8, gyre_clock_after_ns(MILLISECOND), &answer);
    return NULL;
}

static void late_answer_writes_nothing_to_a_caller_that_is_gone(void)
{
    enum { STACK = 1 << 20 };
    caller c = {.channel = make(GYRE_FULL_BLOCK, 2, 2)};
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    unsigned char bytes[GYRE_ANSWER_BYTES];
    pthread_t thread;

    REQUIRE(c.channel != NULL && stack != MAP_FAILED);
    pthread_attr_init(&attributes);
    REQUIRE(pthread_attr_setstack(&attributes, stack, STACK) == 0);
    REQUIRE(pthread_create(&thread, &attributes, call_from_own_stack, &c) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    CHECK(c.status == GYRE_TIMEOUT);
    REQUIRE(mprotect(stack, STACK, PROT_NONE) == 0);
    memset(bytes, 0xaa, sizeof bytes);
    CHECK(gyre_reply_send(c.channel, receive_ticket(c.channel), GYRE_OK, bytes, sizeof bytes) ==
          GYRE_CANCELLED);
    CHECK(fake_describe(c.channel).late_answers == 1);
    munmap(stack, STACK);
    end(c.channel);
}

/* Two threads that do something to the same ticket at the same moment, as near as they can: they
 * meet awake. */
typedef struct race {
    gyre_channel *channel;
    uint32_t ready[2]; /* rounds that each has come to; seq_cst */
    uint64_t end_ns;
    gyre_reply reply;
    bool last; /* race, this one; like the ticket, written before they meet */
    gyre_status sent;
} race;

static void take_ticket(race *r, uint32_t i)
{
    CHECK(gyre_reply_take(r->channel, &r->reply) == GYRE_OK);
    r->last = i + 1 == RACES || gyre_clock_now_ns() >= r->end_ns;
}

static void meet(race *r, int side, uint32_t round, fake_random *random)
{
    uint32_t looks = 0;

    __atomic_store_n(&r->ready[side], round, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&r->ready[!side], __ATOMIC_SEQ_CST) < round)
        if (++looks % 200 == 0)
            sched_yield();
    for (volatile uint32_t k = fake_below(random, 150); k > 0; k--)
        ;
}

/* Meets the other and answers with something that is counted, and stays the ledger's when it is
 * refused. */
static gyre_status meet_and_answer(race *r, int side, uint32_t i, fake_random *random)
{
    const uint32_t id = (uint32_t)side * HALF + i % HALF;
    unsigned char bytes[8];
    gyre_status status;

    fake_item(&ledger, id, 8, bytes);
    meet(r, side, 2 * i + 1, random);
    status = gyre_reply_send(r->channel, r->reply, GYRE_OK, bytes, 8);
    if (status != GYRE_OK)
        (void)fake_release(&ledger, bytes, 8);
    return status;
}

static void *answer_races(void *arg)
{
    race *r = arg;
    fake_random random = {11};

    for (uint32_t i = 0, last = false; !last; i++) {
        r->sent = meet_and_answer(r, 1, i, &random);
        last = r->last;
        meet(r, 1, 2 * i + 2, &random);
    }
    return NULL;
}

static void giving_up_against_an_answer_loses_nothing(void)
{
    race r = {.channel = make(GYRE_FULL_BLOCK, 1, 2),
              .end_ns = gyre_clock_after_ns(2000ull * MILLISECOND)};
    fake_random random = {12};
    uint32_t given = 0;
    pthread_t thread;

    REQUIRE(r.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, answer_races, &r) == 0);
    for (uint32_t i = 0; !r.last; i++) {
        gyre_status status;
        gyre_answer answer;

        take_ticket(&r, i);
        meet(&r, 0, 2 * i + 1, &random);
        status = gyre_reply_give(r.channel, r.reply);
        if (status == GYRE_AGAIN) {
            CHECK(gyre_reply_wait(r.channel, r.reply, 0, &answer) == GYRE_OK);
            CHECK(fake_release(&ledger, answer.bytes, answer.size) == HALF + i % HALF);
        } else {
            CHECK(status == GYRE_OK);
            given++;
        }
        meet(&r, 0, 2 * i + 2, &random);
        CHECK(r.sent == (status == GYRE_OK ? GYRE_CANCELLED : GYRE_OK));
    }
    pthread_join(thread, NULL);
    CHECK(fake_describe(r.channel).late_answers == given);
    end(r.channel);
}

static void one_of_two_answers_counts(void)
{
    race r = {.channel = make(GYRE_FULL_BLOCK, 1, 2),
              .end_ns = gyre_clock_after_ns(2000ull * MILLISECOND)};
    fake_random random = {13};
    pthread_t thread;

    REQUIRE(r.channel != NULL);
    REQUIRE(pthread_create(&thread, NULL, answer_races, &r) == 0);
    for (uint32_t i = 0; !r.last; i++) {
        gyre_status status;
        gyre_answer answer;

        take_ticket(&r, i);
        status = meet_and_answer(&r, 0, i, &random);
        meet(&r, 0, 2 * i + 2, &random);
        CHECK((status == GYRE_OK) != (r.sent == GYRE_OK));
        CHECK(gyre_reply_wait(r.channel, r.reply, 0, &answer) == GYRE_OK);
        CHECK(fake_release(&ledger, answer.bytes, answer.size) ==
              (status == GYRE_OK ? i % HALF : HALF + i % HALF));
    }
    pthread_join(thread, NULL);
    end(r.channel);
}

/* Many callers with deadlines of all lengths, several servers, fewer tickets than callers. */
typedef struct office {
    gyre_channel *channel;
    uint64_t answered, late;       /* of the servers; relaxed, read after joining */
    uint64_t got, missed, refused; /* of the callers; the same */
    uint64_t unknown;              /* ended by close or drop: sent or not */
    bool closes;                   /* in the middle */
} office;

typedef struct clerk {
    office *o;
    uint32_t number;
} clerk;

static void *serve(void *arg)
{
    office *o = ((clerk *)arg)->o;
    fake_random random = {((clerk *)arg)->number};
    unsigned char item[16], bytes[8];
    gyre_received received;

    while (gyre_channel_receive(o->channel, item, &received, far_away()) == GYRE_OK) {
        const uint32_t id = fake_release(&ledger, item, received.size);
        gyre_status status;

        CHECK(received.reply != 0 && id < HALF);
        if (fake_below(&random, 8) == 0)
            sched_yield();
        fake_item(&ledger, HALF + id, 8, bytes);
        status = gyre_reply_send(o->channel, received.reply, (gyre_status)(id % 5), bytes, 8);
        CHECK(status == GYRE_OK || status == GYRE_CANCELLED);
        if (status != GYRE_OK)
            (void)fake_release(&ledger, bytes, 8);
        __atomic_fetch_add(status == GYRE_OK ? &o->answered : &o->late, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static uint64_t some_deadline(fake_random *random)
{
    switch (fake_below(random, 4)) {
    case 0:
        return gyre_clock_after_ns(fake_below(random, 5000));
    case 1:
        return gyre_clock_after_ns(fake_below(random, 200000));
    default:
        return far_away();
    }
}

/* One call by its two halves, so that it is known whether the item was handed over. */
static gyre_status call_by_halves(gyre_channel *channel, uint32_t id, uint64_t deadline_ns,
                                  gyre_answer *out_answer)
{
    unsigned char item[8];
    gyre_status status;
    gyre_reply reply;

    fake_item(&ledger, id, 8, item);
    status = gyre_call_begin(channel, 0, item, 8, deadline_ns, &reply);
    if (status != GYRE_OK) {
        (void)fake_release(&ledger, item, 8);
        return status == GYRE_TIMEOUT ? GYRE_AGAIN : status; /* not sent */
    }
    status = gyre_reply_wait(channel, reply, deadline_ns, out_answer);
    if (status != GYRE_TIMEOUT)
        return status;
    CHECK(gyre_clock_now_ns() >= deadline_ns);
    status = gyre_reply_give(channel, reply);
    CHECK(status == GYRE_OK || status == GYRE_AGAIN);
    return status == GYRE_OK ? GYRE_TIMEOUT : gyre_reply_wait(channel, reply, 0, out_answer);
}

/* One call, of either kind. gyre_call does not say of a TIMEOUT whether the item was handed over.
 */
static gyre_status call_somehow(office *o, uint32_t id, fake_random *random,
                                gyre_answer *out_answer)
{
    unsigned char item[8];
    gyre_status status;

    if (o->closes || fake_below(random, 2))
        return call_by_halves(o->channel, id, some_deadline(random), out_answer);
    fake_item(&ledger, id, 8, item);
    status = gyre_call(o->channel, 0, item, 8, far_away(), out_answer);
    if (status != GYRE_OK)
        (void)fake_release(&ledger, item, 8);
    return status;
}

static void *call_many(void *arg)
{
    clerk *c = arg;
    office *o = c->o;
    fake_random random = {100 + c->number};

    for (uint32_t i = 0; i < CALLS; i++) {
        const uint32_t id = (c->number * CALLS + i) % HALF;
        gyre_answer answer;
        const gyre_status status = call_somehow(o, id, &random, &answer);

        if (status == GYRE_OK && answer.size == 8) {
            CHECK(answer.status == (gyre_status)(id % 5));
            CHECK(fake_release(&ledger, answer.bytes, answer.size) == HALF + id);
            __atomic_fetch_add(&o->got, 1, __ATOMIC_RELAXED);
        } else if (status == GYRE_TIMEOUT) {
            __atomic_fetch_add(&o->missed, 1, __ATOMIC_RELAXED);
        } else if (status == GYRE_AGAIN) {
            __atomic_fetch_add(&o->refused, 1, __ATOMIC_RELAXED);
            sched_yield();
        } else {
            CHECK(o->closes && (status == GYRE_CLOSED || status == GYRE_OK));
            __atomic_fetch_add(&o->unknown, 1, __ATOMIC_RELAXED);
        }
        if (o->closes && c->number == 0 && i == CALLS / 2)
            gyre_channel_close(o->channel);
    }
    return NULL;
}

static void run_office(bool closes)
{
    office o = {.channel = make(GYRE_FULL_BLOCK, 3, CALLERS - 1), .closes = closes};
    clerk clerks[CALLERS + SERVERS];
    pthread_t threads[CALLERS + SERVERS];

    REQUIRE(o.channel != NULL);
    for (uint32_t i = 0; i < CALLERS + SERVERS; i++) {
        clerks[i] = (clerk){&o, i};
        REQUIRE(pthread_create(&threads[i], NULL, i < CALLERS ? call_many : serve, &clerks[i]) ==
                0);
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    gyre_channel_close(o.channel);
    for (int i = CALLERS; i < CALLERS + SERVERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(o.got + o.missed + o.refused + o.unknown == (uint64_t)CALLERS * CALLS);
    CHECK(o.answered == o.got); /* an answer that was taken was received */
    CHECK(closes ? o.late >= o.missed : o.late == o.missed && o.unknown == 0);
    CHECK(fake_describe(o.channel).delivered == o.answered + o.late);
    end(o.channel);
}

static void every_taken_answer_is_received(void)
{
    run_office(false);
}

static void close_among_calls_ends_them_all(void)
{
    run_office(true);
}

static const test_case cases[] = {
    TEST(sleeping_caller_gets_its_answer),
    TEST(close_frees_sleeping_callers),
    TEST(drop_frees_a_sleeping_caller),
    TEST(late_answer_writes_nothing_to_a_caller_that_is_gone),
    TEST(giving_up_against_an_answer_loses_nothing),
    TEST(one_of_two_answers_counts),
    TEST(every_taken_answer_is_received),
    TEST(close_among_calls_ends_them_all),
};
TEST_MAIN(cases)
