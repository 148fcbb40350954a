/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duty.h"

#include "gyre/clock.h"
#include "test.h"

enum { MS = 1000000, ROUNDS = 2000 };

static gyre_duty duty;
static _Atomic uint32_t given, taken, rounds;

/* Takes what was given, each time that it is woken. */
static void take(void *arg)
{
    const uint64_t period_ns = *(const uint64_t *)arg;
    uint32_t seen;

    do {
        seen = gyre_duty_changes(&duty);
        atomic_store(&taken, atomic_load(&given));
        atomic_fetch_add(&rounds, 1);
    } while (gyre_duty_rest(&duty, seen, gyre_clock_after_ns(period_ns)));
}

static uint64_t long_ns = UINT64_C(3600000000000), short_ns = MS;

static bool begin(uint64_t *period_ns)
{
    atomic_store(&given, 0);
    atomic_store(&taken, 0);
    atomic_store(&rounds, 0);
    return gyre_duty_start(&duty, take, period_ns, NULL) == GYRE_OK && duty.thread;
}

static bool comes(const _Atomic uint32_t *word, uint32_t least)
{
    const uint64_t until = gyre_clock_after_ns(UINT64_C(10000) * MS);

    while (atomic_load(word) < least)
        if (gyre_clock_now_ns() > until)
            return false;
    return true;
}

static void no_change_is_slept_through(void)
{
    REQUIRE(begin(&long_ns));
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        atomic_store(&given, i);
        gyre_duty_wake(&duty);
        REQUIRE(comes(&taken, i));
    }
    gyre_duty_stop(&duty);
    CHECK(!duty.thread);
}

static void it_looks_again_when_the_time_has_come(void)
{
    REQUIRE(begin(&short_ns));
    CHECK(comes(&rounds, 5));
    gyre_duty_stop(&duty);
}

static void its_end_is_not_slept_through(void)
{
    for (int i = 0; i < ROUNDS / 10; i++) {
        REQUIRE(begin(&long_ns));
        gyre_duty_stop(&duty);
        CHECK(atomic_load(&rounds) >= 1);
    }
}

static void where_nobody_is_there_nothing_happens(void)
{
    gyre_duty_wake(&duty);
    gyre_duty_stop(&duty);
    gyre_duty_stop(&duty);
    CHECK(!duty.thread);
    REQUIRE(begin(&long_ns)); /* and may begin again */
    CHECK(comes(&rounds, 1));
    gyre_duty_stop(&duty);
}

static const test_case cases[] = {
    TEST(no_change_is_slept_through),
    TEST(it_looks_again_when_the_time_has_come),
    TEST(its_end_is_not_slept_through),
    TEST(where_nobody_is_there_nothing_happens),
};
TEST_MAIN(cases)
