/* SPDX-License-Identifier: Apache-2.0 */
#include "base/barrier.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "gyre/clock.h"
#include "test.h"

enum { ROUNDS = 20000, LIMIT_MS = 300 };

static void answer_stays_the_same(void)
{
    const bool first = gyre_barrier_is_there();

    for (int i = 0; i < 3; i++)
        CHECK(gyre_barrier_is_there() == first);
    for (int i = 0; first && i < 3; i++)
        gyre_barrier_heavy();
}

/* Two threads meet in each round: each stores its own word and reads the other's. */
static struct {
    alignas(64) _Atomic uint32_t hurried;
    alignas(64) _Atomic uint32_t patient;
    alignas(64) _Atomic uint32_t hurried_round; /* that it may begin; UINT32_MAX: no more */
    alignas(64) _Atomic uint32_t hurried_done;
    uint32_t hurried_saw; /* handed over with hurried_done */
} meeting;

static void *hurry(void *unused)
{
    for (uint32_t round = 1;; round++) {
        uint32_t now;

        while ((now = atomic_load(&meeting.hurried_round)) < round)
            continue;
        if (now == UINT32_MAX)
            return unused;
        atomic_store_explicit(&meeting.hurried, round, memory_order_relaxed);
        gyre_barrier_light();
        meeting.hurried_saw = atomic_load_explicit(&meeting.patient, memory_order_relaxed);
        atomic_store(&meeting.hurried_done, round);
    }
}

static void one_of_two_sees_the_other(void)
{
    const uint64_t end_ns = gyre_clock_after_ns((uint64_t)LIMIT_MS * 1000000);
    uint32_t missed = 0;
    pthread_t thread;

    if (!gyre_barrier_is_there())
        SKIP("the system has no membarrier");
    REQUIRE(pthread_create(&thread, NULL, hurry, NULL) == 0);
    for (uint32_t round = 1; round <= ROUNDS && gyre_clock_now_ns() < end_ns; round++) {
        uint32_t saw;

        atomic_store(&meeting.hurried_round, round);
        for (volatile uint32_t i = round % 128; i > 0; i--)
            continue; /* at all distances from each other */
        atomic_store_explicit(&meeting.patient, round, memory_order_relaxed);
        gyre_barrier_heavy();
        saw = atomic_load_explicit(&meeting.hurried, memory_order_relaxed);
        while (atomic_load(&meeting.hurried_done) != round)
            sched_yield();
        missed += saw != round && meeting.hurried_saw != round;
    }
    atomic_store(&meeting.hurried_round, UINT32_MAX);
    pthread_join(thread, NULL);
    CHECK(missed == 0);
}

static const test_case cases[] = {
    TEST(answer_stays_the_same),
    TEST(one_of_two_sees_the_other),
};
TEST_MAIN(cases)
