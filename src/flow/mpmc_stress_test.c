/* SPDX-License-Identifier: Apache-2.0
 *
 * mpmc under threads, more of them than cores: nothing is lost, doubled or reordered within a
 * producer, and a thread that stops in the middle holds up its own side only when it must.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "chance.h"
#include "gyre/clock.h"
#include "gyre/mpmc.h"
#include "test.h"

/* The thread sanitizer looks at orders, for which few items are enough, and is slow. */
#if defined(__SANITIZE_THREAD__)
enum { ITEMS = 2000, ROUNDS = 10 };
#else
enum { ITEMS = 20000, ROUNDS = 50 };
#endif
enum { MOST = 6, LARGEST_CAPACITY = 64, LAPS = 100, LARGEST_BULK = 20 };

typedef struct item {
    uint32_t producer, number;
    uint64_t check; /* says that all three are of one push */
} item;

typedef struct worker {
    uint64_t chance;
    uint32_t index;
    uint32_t wrong; /* items torn, doubled or out of order */
} worker;

static gyre_mpmc queue;
static alignas(64) unsigned char storage[LARGEST_CAPACITY * (sizeof(item) + 1) + 64];
static uint32_t seen[MOST][LARGEST_CAPACITY * LAPS];
static uint32_t each; /* items of one producer */
static uint32_t left; /* items that nobody has popped yet */

static item make_item(uint32_t producer, uint32_t number)
{
    return (item){producer, number, ~((uint64_t)producer << 32 | number)};
}

/* How many of `count` items went in: one, some at once, in place, or abandoned after a claim. */
static uint64_t push_somehow(const item *items, uint64_t count, uint64_t kind)
{
    uint64_t position;
    void *into;

    if (kind == 0)
        return gyre_mpmc_push(&queue, items, sizeof *items);
    if (kind == 1)
        return gyre_mpmc_push_bulk(&queue, items, sizeof *items, count);
    into = gyre_mpmc_begin_push(&queue, sizeof *items, &position);
    if (!into)
        return 0;
    if (kind == 2) {
        memset(into, 0xee, sizeof *items);
        gyre_mpmc_abandon_push(&queue, position);
        return 0;
    }
    memcpy(into, items, sizeof *items);
    gyre_mpmc_commit_push(&queue, position);
    return 1;
}

static uint64_t pop_somehow(item *items, uint64_t count, uint64_t kind)
{
    uint64_t position;
    const void *from;

    if (kind == 0)
        return gyre_mpmc_pop(&queue, items, sizeof *items);
    if (kind == 1)
        return gyre_mpmc_pop_bulk(&queue, items, sizeof *items, count);
    from = gyre_mpmc_begin_pop(&queue, sizeof *items, &position);
    if (!from)
        return 0;
    memcpy(items, from, sizeof *items);
    gyre_mpmc_commit_pop(&queue, position);
    return 1;
}

static void *produce(void *arg)
{
    worker *const me = arg;
    item items[LARGEST_BULK];

    for (uint32_t next = 0; next < each;) {
        uint32_t count = 1 + (uint32_t)chance_below(&me->chance, LARGEST_BULK);
        uint64_t pushed;

        count = count < each - next ? count : each - next;
        for (uint32_t i = 0; i < count; i++)
            items[i] = make_item(me->index, next + i);
        pushed = push_somehow(items, count, chance_below(&me->chance, 4));
        next += (uint32_t)pushed;
        if (pushed == 0)
            sched_yield();
    }
    return NULL;
}

static void *consume(void *arg)
{
    worker *const me = arg;
    uint32_t next[MOST] = {0};
    item items[LARGEST_BULK];

    /* relaxed, all here: tallies; the joins order them before they are judged */
    while (__atomic_load_n(&left, __ATOMIC_RELAXED) > 0) {
        const uint64_t wanted = 1 + chance_below(&me->chance, LARGEST_BULK);
        const uint64_t popped = pop_somehow(items, wanted, chance_below(&me->chance, 3));

        for (uint64_t i = 0; i < popped; i++) {
            const item *const it = &items[i];

            if (it->producer >= MOST || it->number >= each ||
                it->check != make_item(it->producer, it->number).check) {
                me->wrong++;
                continue;
            }
            me->wrong +=
                __atomic_exchange_n(&seen[it->producer][it->number], 1, __ATOMIC_RELAXED) != 0;
            me->wrong += it->number < next[it->producer];
            next[it->producer] = it->number + 1;
        }
        __atomic_fetch_sub(&left, (uint32_t)popped, __ATOMIC_RELAXED);
        if (popped == 0)
            sched_yield();
    }
    return NULL;
}

static void run_once(uint32_t producers, uint32_t consumers, uint64_t capacity)
{
    const uint64_t seed = chance_seed();
    pthread_t threads[2 * MOST];
    worker workers[2 * MOST] = {0};
    uint32_t lost = 0, wrong = 0;

    memset(seen, 0, sizeof seen);
    left = producers * each;
    CHECK(gyre_mpmc_init(&queue, storage, sizeof(item), capacity) == GYRE_OK);
    for (uint32_t i = 0; i < producers + consumers; i++) {
        workers[i] = (worker){seed + i, i, 0};
        if (pthread_create(&threads[i], NULL, i < producers ? produce : consume, &workers[i]) != 0)
            abort(); /* the others would wait for it for ever */
    }
    for (uint32_t i = 0; i < producers + consumers; i++) {
        pthread_join(threads[i], NULL);
        wrong += workers[i].wrong;
    }
    for (uint32_t producer = 0; producer < producers; producer++)
        for (uint32_t number = 0; number < each; number++)
            lost += seen[producer][number] == 0;
    CHECK(lost == 0);
    CHECK(wrong == 0);
    if (lost > 0 || wrong > 0)
        printf("%u to %u, capacity %llu: %u lost, %u wrong: -DCHANCE_SEED=%llu\n", producers,
               consumers, (unsigned long long)capacity, lost, wrong, (unsigned long long)seed);
}

/* On a busy machine a lap takes as long as a neighbour's time slice: then once must do. */
static void run_team(uint32_t producers, uint32_t consumers, uint64_t capacity)
{
    const uint64_t enough_ns = gyre_clock_after_ns(UINT64_C(1000000000));

    each = (uint32_t)capacity * LAPS;
    run_once(producers, consumers, capacity);
    for (uint32_t done = each; done < ITEMS && gyre_clock_now_ns() < enough_ns; done += each)
        run_once(producers, consumers, capacity);
}

static void one_to_one_loses_and_reorders_nothing(void)
{
    for (uint64_t capacity = 1; capacity <= LARGEST_CAPACITY; capacity *= 4)
        run_team(1, 1, capacity);
}

static void many_to_one_loses_and_reorders_nothing(void)
{
    for (uint64_t capacity = 2; capacity <= LARGEST_CAPACITY; capacity *= 2)
        run_team(5, 1, capacity);
}

static void one_to_many_loses_and_reorders_nothing(void)
{
    for (uint64_t capacity = 2; capacity <= LARGEST_CAPACITY; capacity *= 2)
        run_team(1, 5, capacity);
}

static void many_to_many_loses_and_reorders_nothing(void)
{
    for (uint64_t capacity = 1; capacity <= LARGEST_CAPACITY; capacity *= 2)
        run_team(4, 4, capacity);
    run_team(MOST, MOST, LARGEST_CAPACITY);
}

enum { CREW = 4, EACH = 4096, TOGETHER = CREW * EACH };

static pthread_barrier_t phase;

/* Together they fill the queue, and then empty it. Each leaves how often it was refused. */
static void *fill_and_empty(void *arg)
{
    uint32_t *const refusals = arg;
    uint64_t value = 0;

    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&phase);
        for (int i = 0; i < EACH; i++)
            *refusals += !gyre_mpmc_push(&queue, &value, sizeof value);
        pthread_barrier_wait(&phase);
        for (int i = 0; i < EACH; i++)
            *refusals += !gyre_mpmc_pop(&queue, &value, sizeof value);
    }
    return NULL;
}

static void nobody_is_refused_because_another_was_quicker(void)
{
    static alignas(64) unsigned char large[TOGETHER * (sizeof(uint64_t) + 1)];
    uint32_t refusals[CREW] = {0};
    pthread_t threads[CREW];

    CHECK(gyre_mpmc_init(&queue, large, sizeof(uint64_t), TOGETHER) == GYRE_OK);
    REQUIRE(pthread_barrier_init(&phase, NULL, CREW) == 0);
    for (int i = 0; i < CREW; i++)
        if (pthread_create(&threads[i], NULL, fill_and_empty, &refusals[i]) != 0)
            abort(); /* the others would wait for it for ever */
    for (int i = 0; i < CREW; i++) {
        pthread_join(threads[i], NULL);
        CHECK(refusals[i] == 0);
    }
    pthread_barrier_destroy(&phase);
}

/* A thread that has claimed a slot and goes no further until it is let. */
typedef struct holder {
    pthread_barrier_t claimed, let_go;
    bool pushing;
    bool got_it;
} holder;

static void *hold(void *arg)
{
    holder *const me = arg;
    uint64_t position;

    if (me->pushing) {
        void *const into = gyre_mpmc_begin_push(&queue, sizeof(item), &position);

        me->got_it = into != NULL;
        pthread_barrier_wait(&me->claimed);
        pthread_barrier_wait(&me->let_go);
        if (into) {
            *(item *)into = make_item(0, 0);
            gyre_mpmc_commit_push(&queue, position);
        }
    } else {
        me->got_it = gyre_mpmc_begin_pop(&queue, sizeof(item), &position) != NULL;
        pthread_barrier_wait(&me->claimed);
        pthread_barrier_wait(&me->let_go);
        if (me->got_it)
            gyre_mpmc_commit_pop(&queue, position);
    }
    return NULL;
}

static bool start_holding(holder *h, bool pushing, pthread_t *out_thread)
{
    h->pushing = pushing;
    if (pthread_barrier_init(&h->claimed, NULL, 2) != 0 ||
        pthread_barrier_init(&h->let_go, NULL, 2) != 0 ||
        pthread_create(out_thread, NULL, hold, h) != 0)
        return false;
    pthread_barrier_wait(&h->claimed);
    return h->got_it;
}

static void stop_holding(holder *h, pthread_t thread)
{
    pthread_barrier_wait(&h->let_go);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&h->claimed);
    pthread_barrier_destroy(&h->let_go);
}

/* Pushes as many items as arg says, refused or not; leaves there how many went in. */
static void *push_some(void *arg)
{
    uint32_t *const count = arg, wanted = *count;
    const item some = make_item(1, 1);

    *count = 0;
    for (uint32_t i = 0; i < wanted; i++)
        *count += gyre_mpmc_push(&queue, &some, sizeof some);
    return NULL;
}

static void stopped_producer_holds_up_no_other_until_the_queue_has_gone_round(void)
{
    uint32_t pushed[3] = {5, 5, 5}; /* with the one that is held, as many as fit */
    item got[16] = {{0}};
    pthread_t stopped, others[3];
    holder h;

    CHECK(gyre_mpmc_init(&queue, storage, sizeof(item), 16) == GYRE_OK);
    REQUIRE(start_holding(&h, true, &stopped));
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&others[i], NULL, push_some, &pushed[i]) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    CHECK(pushed[0] + pushed[1] + pushed[2] == 15);
    CHECK(!gyre_mpmc_push(&queue, &got[0], sizeof got[0])); /* has gone round */
    CHECK(!gyre_mpmc_pop(&queue, &got[0], sizeof got[0]));
    CHECK(gyre_mpmc_pop_bulk(&queue, got, sizeof got[0], 16) == 0);

    stop_holding(&h, stopped);
    CHECK(gyre_mpmc_pop_bulk(&queue, got, sizeof got[0], 16) == 16);
    CHECK(got[0].producer == 0 && got[1].producer == 1);
}

static void stopped_consumer_holds_up_no_other_until_the_queue_has_gone_round(void)
{
    uint32_t pushed = 2;
    item got[4];
    pthread_t stopped;
    holder h;

    CHECK(gyre_mpmc_init(&queue, storage, sizeof(item), 4) == GYRE_OK);
    push_some(&pushed);
    REQUIRE(pushed == 2 && start_holding(&h, false, &stopped));
    CHECK(gyre_mpmc_pop(&queue, &got[0], sizeof got[0]));
    pushed = 5;
    push_some(&pushed);
    CHECK(pushed == 2); /* then it has gone round, although one of the four is free */
    CHECK(gyre_mpmc_pop_bulk(&queue, got, sizeof got[0], 4) == 2);
    CHECK(!gyre_mpmc_push(&queue, &got[0], sizeof got[0]));

    stop_holding(&h, stopped);
    pushed = 5;
    push_some(&pushed);
    CHECK(pushed == 4);
    CHECK(gyre_mpmc_pop_bulk(&queue, got, sizeof got[0], 4) == 4);
}

static const test_case cases[] = {
    TEST(one_to_one_loses_and_reorders_nothing),
    TEST(many_to_one_loses_and_reorders_nothing),
    TEST(one_to_many_loses_and_reorders_nothing),
    TEST(many_to_many_loses_and_reorders_nothing),
    TEST(nobody_is_refused_because_another_was_quicker),
    TEST(stopped_producer_holds_up_no_other_until_the_queue_has_gone_round),
    TEST(stopped_consumer_holds_up_no_other_until_the_queue_has_gone_round),
};
TEST_MAIN(cases)
