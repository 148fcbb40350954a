/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/park.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "gyre/clock.h"
#include "test.h"

enum { TURNS = 20000, SLEEPERS = 4, MILLISECOND = 1000000 };

static gyre_park park;
static uint32_t flag; /* the condition; seq_cst, as the contract asks */

static bool flag_is_up(void *arg)
{
    (void)arg;
    return __atomic_load_n(&flag, __ATOMIC_SEQ_CST) != 0;
}

static void lower(void)
{
    park = (gyre_park){0, 0};
    __atomic_store_n(&flag, 0, __ATOMIC_SEQ_CST);
}

static void *raise_flag(void *unused)
{
    (void)unused;
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
    gyre_park_wake(&park, UINT32_MAX);
    return NULL;
}

static void ready_condition_does_not_wait(void)
{
    gyre_spin spin = {0, 0, 0};

    lower();
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
    CHECK(gyre_park_wait(&park, &spin, flag_is_up, NULL, 0) == GYRE_OK);
    CHECK(spin.waits == 0);
}

static void timeout_never_comes_before_its_deadline(void)
{
    gyre_spin spin = {0, 0, 0};

    lower();
    for (int i = 0; i < 20; i++) {
        const uint64_t deadline = gyre_clock_after_ns((uint64_t)i * MILLISECOND / 4);

        CHECK(gyre_park_wait(&park, i % 2 ? &spin : NULL, flag_is_up, NULL, deadline) ==
              GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline);
    }
    CHECK(park.sleepers == 0);
}

static void deadline_in_the_past_still_asks(void)
{
    lower();
    CHECK(gyre_park_wait(&park, NULL, flag_is_up, NULL, 0) == GYRE_TIMEOUT);
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
    CHECK(gyre_park_wait(&park, NULL, flag_is_up, NULL, 0) == GYRE_OK);
}

static void *sleep_for_flag(void *out)
{
    *(gyre_status *)out = gyre_park_wait(&park, NULL, flag_is_up, NULL, GYRE_NEVER);
    return NULL;
}

static void wake_reaches_every_sleeper(void)
{
    pthread_t threads[SLEEPERS];
    gyre_status statuses[SLEEPERS];

    lower();
    for (int i = 0; i < SLEEPERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, sleep_for_flag, &statuses[i]) == 0);
    while (__atomic_load_n(&park.sleepers, __ATOMIC_SEQ_CST) < SLEEPERS)
        sched_yield();
    raise_flag(NULL);
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(statuses[i] == GYRE_OK);
    }
    CHECK(park.sleepers == 0);
}

static uint32_t questions; /* how often flag_is_counted was asked; seq_cst */
static uint32_t returned;  /* the waiter came back; seq_cst */

static bool flag_is_counted(void *arg)
{
    __atomic_fetch_add(&questions, 1, __ATOMIC_SEQ_CST);
    return flag_is_up(arg);
}

static void *sleep_and_report(void *out)
{
    *(gyre_status *)out = gyre_park_wait(&park, NULL, flag_is_counted, NULL, GYRE_NEVER);
    __atomic_store_n(&returned, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Each wake is answered by another question, not by a return. */
static void wake_without_a_change_returns_nobody(void)
{
    gyre_status status = GYRE_INTERNAL;
    pthread_t thread;

    lower();
    __atomic_store_n(&returned, 0, __ATOMIC_SEQ_CST);
    REQUIRE(pthread_create(&thread, NULL, sleep_and_report, &status) == 0);
    while (__atomic_load_n(&park.sleepers, __ATOMIC_SEQ_CST) == 0)
        sched_yield();
    for (int i = 0; i < 100 && !__atomic_load_n(&returned, __ATOMIC_SEQ_CST); i++) {
        const uint32_t asked = __atomic_load_n(&questions, __ATOMIC_SEQ_CST);

        gyre_park_wake(&park, 1);
        while (__atomic_load_n(&questions, __ATOMIC_SEQ_CST) == asked &&
               !__atomic_load_n(&returned, __ATOMIC_SEQ_CST))
            sched_yield();
    }
    CHECK(!__atomic_load_n(&returned, __ATOMIC_SEQ_CST));
    raise_flag(NULL);
    pthread_join(thread, NULL);
    CHECK(status == GYRE_OK);
}

static void wake_in_handler(int number)
{
    (void)number;
    raise_flag(NULL);
}

static void signal_handler_may_wake(void)
{
    struct sigaction action = {.sa_handler = wake_in_handler}, before;
    gyre_status status = GYRE_INTERNAL;
    pthread_t thread;

    lower();
    REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
    REQUIRE(pthread_create(&thread, NULL, sleep_for_flag, &status) == 0);
    while (__atomic_load_n(&park.sleepers, __ATOMIC_SEQ_CST) == 0)
        sched_yield();
    raise(SIGUSR1);
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &before, NULL);
    CHECK(status == GYRE_OK);
}

static void spin_cut_short_by_the_deadline_is_not_in_vain(void)
{
    gyre_spin spin = {0, 0, 0};

    lower();
    for (int i = 0; i < 5; i++)
        CHECK(gyre_park_wait(&park, &spin, flag_is_up, NULL, 0) == GYRE_TIMEOUT);
    CHECK(spin.waits == 5 && spin.failures == 0 && spin.sleeps == 0);
}

/* Three spins in vain, then sleep at once, except for every sixteenth wait. A spin is longer than
 * GYRE_SPIN on a busy machine, so the deadline is far enough for both. */
static void spinning_stops_when_it_is_in_vain(void)
{
    gyre_spin spin = {0, 0, 0};

    lower();
    for (int i = 0; i < 33; i++)
        CHECK(gyre_park_wait(&park, &spin, flag_is_up, NULL,
                             gyre_clock_after_ns(MILLISECOND / 2)) == GYRE_TIMEOUT);
    CHECK(spin.waits == 33);
    CHECK(spin.failures == 5); /* waits 0, 1, 2, 16 and 32 */
}

static void wake_with_nobody_asleep_changes_nothing(void)
{
    lower();
    gyre_park_wake(&park, 1);
    CHECK(park.epoch == 0);
}

/* Two threads take turns; a lost wake would hang, and ctest would say so. */
typedef struct table {
    gyre_park park[2];
    uint32_t turn; /* seq_cst */
    uint64_t sum;  /* plain: whoever has the turn owns it, which TSan checks */
    bool spins;
} table;

typedef struct seat {
    table *t;
    uint32_t side;
} seat;

static bool seat_has_turn(void *arg)
{
    const seat *s = arg;

    return __atomic_load_n(&s->t->turn, __ATOMIC_SEQ_CST) == s->side;
}

static void *take_turns(void *arg)
{
    seat *s = arg;
    gyre_spin spin = {0, 0, 0};

    for (uint64_t i = 0; i < TURNS; i++) {
        CHECK(gyre_park_wait(&s->t->park[s->side], s->t->spins ? &spin : NULL, seat_has_turn, s,
                             GYRE_NEVER) == GYRE_OK);
        s->t->sum += i;
        __atomic_store_n(&s->t->turn, !s->side, __ATOMIC_SEQ_CST);
        gyre_park_wake(&s->t->park[!s->side], 1);
    }
    return NULL;
}

static void pass_turns(bool spins)
{
    table t = {.spins = spins};
    seat seats[2] = {{&t, 0}, {&t, 1}};
    pthread_t other;

    REQUIRE(pthread_create(&other, NULL, take_turns, &seats[1]) == 0);
    take_turns(&seats[0]);
    pthread_join(other, NULL);
    CHECK(t.sum == (uint64_t)TURNS * (TURNS - 1));
}

static void sleeping_turns_lose_no_wake(void)
{
    pass_turns(false);
}

static void spinning_turns_lose_no_wake(void)
{
    pass_turns(true);
}

static const test_case cases[] = {
    TEST(ready_condition_does_not_wait),
    TEST(timeout_never_comes_before_its_deadline),
    TEST(deadline_in_the_past_still_asks),
    TEST(wake_reaches_every_sleeper),
    TEST(wake_without_a_change_returns_nobody),
    TEST(signal_handler_may_wake),
    TEST(spin_cut_short_by_the_deadline_is_not_in_vain),
    TEST(spinning_stops_when_it_is_in_vain),
    TEST(wake_with_nobody_asleep_changes_nothing),
    TEST(sleeping_turns_lose_no_wake),
    TEST(spinning_turns_lose_no_wake),
};
TEST_MAIN(cases)
