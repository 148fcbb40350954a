/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/park.h"

#include <pthread.h>
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

static void wake_without_a_change_returns_nobody(void)
{
    pthread_t thread, raiser;
    gyre_status status = GYRE_INTERNAL;

    lower();
    REQUIRE(pthread_create(&thread, NULL, sleep_for_flag, &status) == 0);
    while (__atomic_load_n(&park.sleepers, __ATOMIC_SEQ_CST) == 0)
        sched_yield();
    for (int i = 0; i < 100; i++)
        gyre_park_wake(&park, 1);
    CHECK(__atomic_load_n(&park.sleepers, __ATOMIC_SEQ_CST) == 1);
    REQUIRE(pthread_create(&raiser, NULL, raise_flag, NULL) == 0);
    pthread_join(raiser, NULL);
    pthread_join(thread, NULL);
    CHECK(status == GYRE_OK);
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
    TEST(ready_condition_does_not_wait),        TEST(timeout_never_comes_before_its_deadline),
    TEST(deadline_in_the_past_still_asks),      TEST(wake_reaches_every_sleeper),
    TEST(wake_without_a_change_returns_nobody), TEST(wake_with_nobody_asleep_changes_nothing),
    TEST(sleeping_turns_lose_no_wake),          TEST(spinning_turns_lose_no_wake),
};
TEST_MAIN(cases)
