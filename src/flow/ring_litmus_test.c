/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/ring_litmus.h"

#include <sched.h>

#include "gyre/cpu.h"
#include "test.h"

enum { BUDGET_NS = 5000000 };

/* Half a quarter, and a chance for the reader to see it. */
static void store_torn(gyre_ring_quarter *to, gyre_ring_quarter quarter)
{
    gyre_ring_u64 *const words = (gyre_ring_u64 *)(void *)to;

    gyre_ring_store_word(&words[0], quarter.eight);
    sched_yield();
    gyre_ring_store_word(&words[1], (gyre_ring_u64)quarter.stamp << 32 | quarter.four);
}

static void verdict_follows_from_promise_and_trial(void)
{
    gyre_ring_verdict verdict;

    REQUIRE(gyre_ring_litmus(BUDGET_NS, &verdict) == GYRE_OK);
    printf("%s: %llu reads, %llu overlaps, %llu torn: %s\n",
           verdict.quarters ? "quarters" : "words", (unsigned long long)verdict.reads,
           (unsigned long long)verdict.overlaps, (unsigned long long)verdict.torn, verdict.because);
    CHECK(verdict.promised == (gyre_cpu_has(GYRE_CPU_AVX) || gyre_cpu_has(GYRE_CPU_USCAT)));
    CHECK(verdict.quarters == (verdict.promised && verdict.torn == 0));
    CHECK(verdict.reads > 0 && verdict.overlaps <= verdict.reads);
}

static void torn_writes_are_noticed(void)
{
    gyre_ring_verdict verdict = {.torn = 0};

    for (int i = 0; i < 100 && verdict.torn == 0; i++)
        REQUIRE(gyre_ring_litmus_with(store_torn, true, BUDGET_NS, &verdict) == GYRE_OK);
    CHECK(verdict.torn > 0);
    CHECK(!verdict.quarters);
    CHECK(strstr(verdict.because, "half done") != NULL);
}

static void what_is_not_promised_is_not_used(void)
{
    gyre_ring_verdict verdict;

    REQUIRE(gyre_ring_litmus_with(gyre_ring_store_quarter, false, 0, &verdict) == GYRE_OK);
    CHECK(!verdict.quarters);
    CHECK(strstr(verdict.because, "promise") || verdict.torn > 0);
}

static const test_case cases[] = {
    TEST(verdict_follows_from_promise_and_trial),
    TEST(torn_writes_are_noticed),
    TEST(what_is_not_promised_is_not_used),
};
TEST_MAIN(cases)
