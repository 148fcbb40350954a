/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/clock.h"

#include <pthread.h>
#include <time.h>

#include "test.h"

enum { READINGS = 100000, THREADS = 4 };

static void never_goes_backwards(void)
{
    uint64_t last = gyre_clock_now_ns();

    for (int i = 0; i < READINGS; i++) {
        const uint64_t now = gyre_clock_now_ns();

        CHECK(now >= last);
        last = now;
    }
}

static uint64_t system_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Readings of both clocks at each end bracket the other's interval, so no speed is assumed. */
static void agrees_with_the_system_clock(void)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    gyre_clock_info info = {.struct_size = sizeof info};
    const uint64_t before = system_ns(), start = gyre_clock_now_ns(), after = system_ns();
    uint64_t end, before_end, after_end;

    REQUIRE(gyre_clock_describe(&info) == GYRE_OK);
    nanosleep(&pause, NULL);
    before_end = system_ns();
    end = gyre_clock_now_ns();
    after_end = system_ns();
    /* the calibration's own bound, doubled for the slew that NTP may be applying (500 ppm) */
    CHECK((double)(end - start) <=
          (double)(after_end - before) * (1 + 1e-6 * (info.error_ppm + 1000)) + 1000);
    CHECK((double)(end - start) >=
          (double)(before_end - after) * (1 - 1e-6 * (info.error_ppm + 1000)) - 1000);
}

static void description_is_complete(void)
{
    gyre_clock_info info = {.struct_size = sizeof info};

    REQUIRE(gyre_clock_describe(&info) == GYRE_OK);
    REQUIRE(info.source && info.reason);
    CHECK(info.source[0] && info.reason[0]);
    CHECK(info.cost_ns > 0);
    CHECK(info.resolution_ns >= 1);
    CHECK((strcmp(info.source, "clock_gettime") == 0) == (info.ticks_per_ns == 0));
}

static void description_needs_a_size(void)
{
    gyre_clock_info info = {.struct_size = 0};

    CHECK(gyre_clock_describe(&info) == GYRE_INVALID);
    CHECK(gyre_clock_describe(NULL) == GYRE_INVALID);
}

static void newer_caller_keeps_what_is_not_known_here(void)
{
    struct {
        gyre_clock_info info;
        char more[16];
    } newer;

    memset(&newer, 0x5a, sizeof newer); /* the header asks for struct_size and nothing else */
    newer.info.struct_size = sizeof newer;
    REQUIRE(gyre_clock_describe(&newer.info) == GYRE_OK);
    CHECK(newer.info.cost_ns > 0 && newer.more[0] == 0x5a);
}

static void older_caller_gets_only_its_fields(void)
{
    struct {
        gyre_clock_info info;
        char behind;
    } old = {.info = {.struct_size = offsetof(gyre_clock_info, cost_ns), .cost_ns = -5}};

    REQUIRE(gyre_clock_describe(&old.info) == GYRE_OK);
    CHECK(old.info.source != NULL);
    CHECK(old.info.cost_ns == -5); /* behind the caller's struct: not ours to write */
}

static void deadline_beyond_the_clock_is_never(void)
{
    CHECK(gyre_clock_after_ns(UINT64_MAX) == GYRE_NEVER);
    CHECK(gyre_clock_after_ns(0) <= gyre_clock_now_ns());
    CHECK(gyre_clock_after_ns(1000000000) > gyre_clock_now_ns());
}

static void *read_first(void *out)
{
    *(uint64_t *)out = gyre_clock_now_ns();
    return NULL;
}

/* The case runs first, so the threads race to calibrate. */
static void threads_may_race_for_the_first_reading(void)
{
    pthread_t threads[THREADS];
    uint64_t readings[THREADS];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, read_first, &readings[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(readings[i] <= gyre_clock_now_ns());
}

static const test_case cases[] = {
    TEST(threads_may_race_for_the_first_reading),
    TEST(never_goes_backwards),
    TEST(agrees_with_the_system_clock),
    TEST(description_is_complete),
    TEST(description_needs_a_size),
    TEST(older_caller_gets_only_its_fields),
    TEST(newer_caller_keeps_what_is_not_known_here),
    TEST(deadline_beyond_the_clock_is_never),
};
TEST_MAIN(cases)
