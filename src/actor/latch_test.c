/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/latch.h"

#include <pthread.h>

#include "gyre/clock.h"
#include "test.h"

enum { TURNS = 5000, THREADS = 4, MILLISECOND = 1000000 };

static gyre_latch latch;
static uint64_t turns; /* plain: whoever has the latch owns it, which TSan checks */

static void open_it(void)
{
    atomic_store(&latch.word, 0);
    turns = 0;
}

static uint64_t shortly(void)
{
    return gyre_clock_after_ns(UINT64_C(5) * MILLISECOND);
}

static void what_is_held_is_not_taken_before_the_deadline(void)
{
    open_it();
    REQUIRE(gyre_latch_try(&latch));
    CHECK(!gyre_latch_try(&latch));
    for (int i = 0; i < 5; i++) {
        const uint64_t deadline = shortly();

        CHECK(gyre_latch_take(&latch, deadline) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline);
    }
    CHECK(!gyre_latch_is_pressed(&latch) && gyre_latch_give(&latch));
    CHECK(gyre_latch_take(&latch, 0) == GYRE_OK && gyre_latch_give(&latch));
}

static void what_could_not_wait_is_left_to_the_holder(void)
{
    open_it();
    REQUIRE(gyre_latch_try(&latch));
    CHECK(gyre_latch_press(&latch, shortly()) == GYRE_TIMEOUT);
    CHECK(gyre_latch_press(&latch, 0) == GYRE_TIMEOUT); /* the same wish */
    CHECK(gyre_latch_is_pressed(&latch));
    CHECK(!gyre_latch_give(&latch) && !gyre_latch_is_pressed(&latch) && !gyre_latch_try(&latch));
    CHECK(gyre_latch_give(&latch));
    CHECK(gyre_latch_press(&latch, 0) == GYRE_OK && !gyre_latch_is_pressed(&latch));
    CHECK(gyre_latch_give(&latch));
}

static void *press(void *out)
{
    *(gyre_status *)out = gyre_latch_press(&latch, GYRE_NEVER);
    return NULL;
}

static void the_holder_sees_who_presses(void)
{
    gyre_status status = GYRE_INTERNAL;
    pthread_t thread;

    open_it();
    REQUIRE(gyre_latch_try(&latch));
    REQUIRE(pthread_create(&thread, NULL, press, &status) == 0);
    while (!gyre_latch_is_pressed(&latch)) /* for ever, if it is not so: ctest would say */
        sched_yield();
    CHECK(gyre_latch_give(&latch));
    pthread_join(thread, NULL);
    CHECK(status == GYRE_OK && !gyre_latch_is_pressed(&latch));
    CHECK(!gyre_latch_try(&latch) && gyre_latch_give(&latch));
}

/* Some cannot wait: what they want is done by somebody, if only once for several. */
static void *take_turns(void *arg)
{
    const bool hurries = *(const bool *)arg;

    for (int i = 0; i < TURNS; i++) {
        if (hurries ? gyre_latch_press(&latch, 0) != GYRE_OK
                    : gyre_latch_take(&latch, GYRE_NEVER) != GYRE_OK)
            continue;
        do
            turns++;
        while (!gyre_latch_give(&latch));
    }
    return NULL;
}

static void pass_turns(bool hurries, uint64_t least, uint64_t most)
{
    bool hurry[THREADS] = {false, hurries, false, hurries};
    pthread_t threads[THREADS];

    open_it();
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, take_turns, &hurry[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(turns >= least && turns <= most);
    CHECK(gyre_latch_try(&latch) && gyre_latch_give(&latch)); /* nothing is left */
}

static void one_at_a_time_has_it(void)
{
    pass_turns(false, (uint64_t)THREADS * TURNS, (uint64_t)THREADS * TURNS);
}

static void nothing_that_is_left_is_lost_or_done_twice(void)
{
    pass_turns(true, (uint64_t)THREADS / 2 * TURNS + 1, (uint64_t)THREADS * TURNS);
}

static const test_case cases[] = {
    TEST(what_is_held_is_not_taken_before_the_deadline),
    TEST(what_could_not_wait_is_left_to_the_holder),
    TEST(the_holder_sees_who_presses),
    TEST(one_at_a_time_has_it),
    TEST(nothing_that_is_left_is_lost_or_done_twice),
};
TEST_MAIN(cases)
