/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/schedule.h"

#include <stdio.h>

#include "test.h"

static gyre_bench_case items[6];
static gyre_case_list list = {.cases = items};

static void add(const char *id, int64_t work_done, uint32_t tags)
{
    gyre_bench_case *c = &items[list.count++];

    *c = (gyre_bench_case){.bench = {.axes = {{.name = "n"}}, .tags = tags}, .values = {work_done}};
    snprintf(c->id, sizeof c->id, "%s", id);
}

static void fill(void)
{
    list.count = 0;
    add("heavy/a", 1000, GYRE_TAG_CPU);
    add("gpu/a", 1, GYRE_TAG_GPU);
    add("light/a", 10, GYRE_TAG_CPU);
    add("heavy/b", 5, GYRE_TAG_CPU);
    add("slow/a", 1, GYRE_TAG_CPU | GYRE_TAG_SLOW);
    add("light/b", 20, GYRE_TAG_CPU);
}

static bool is(const char *const *ids)
{
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.cases[i].id, ids[i]) != 0)
            return false;
    return true;
}

static void groups_stay_together(void)
{
    static const char *const ids[] = {"heavy/a", "heavy/b", "gpu/a",
                                      "light/a", "light/b", "slow/a"};

    fill();
    REQUIRE(gyre_schedule(&list, GYRE_ORDER_DECLARED, 0) == GYRE_OK);
    CHECK(is(ids));
}

static void light_goes_from_little_work_to_much(void)
{
    static const char *const ids[] = {"light/a", "light/b", "heavy/a",
                                      "heavy/b", "gpu/a",   "slow/a"};

    fill();
    REQUIRE(gyre_schedule(&list, GYRE_ORDER_LIGHT, 0) == GYRE_OK);
    CHECK(is(ids));
}

static void random_is_the_seeds_and_keeps_groups(void)
{
    char first[6][GYRE_CASE_ID_BYTES];
    bool differs = false;

    fill();
    REQUIRE(gyre_schedule(&list, GYRE_ORDER_RANDOM, 7) == GYRE_OK);
    for (size_t i = 0; i < list.count; i++)
        snprintf(first[i], sizeof first[i], "%s", list.cases[i].id);
    fill();
    REQUIRE(gyre_schedule(&list, GYRE_ORDER_RANDOM, 7) == GYRE_OK);
    for (size_t i = 0; i < list.count; i++)
        CHECK(strcmp(first[i], list.cases[i].id) == 0);
    for (uint64_t seed = 8; seed < 16; seed++) {
        size_t groups = 0;

        fill();
        REQUIRE(gyre_schedule(&list, GYRE_ORDER_RANDOM, seed) == GYRE_OK);
        for (size_t at = 0; at < list.count; groups++)
            at += gyre_schedule_share(&list, at, GYRE_ISOLATE_GROUP);
        CHECK(groups == 4);
        for (size_t i = 0; i < list.count; i++)
            differs |= strcmp(first[i], list.cases[i].id) != 0;
    }
    CHECK(differs);
}

static void process_is_shared_as_asked(void)
{
    fill();
    REQUIRE(gyre_schedule(&list, GYRE_ORDER_DECLARED, 0) == GYRE_OK);
    CHECK(gyre_schedule_share(&list, 0, GYRE_ISOLATE_GROUP) == 2);
    CHECK(gyre_schedule_share(&list, 2, GYRE_ISOLATE_GROUP) == 1);
    CHECK(gyre_schedule_share(&list, 0, GYRE_ISOLATE_BENCH) == 1);
    CHECK(gyre_schedule_share(&list, 0, GYRE_ISOLATE_NONE) == 6);
}

static const test_case cases[] = {
    TEST(groups_stay_together),
    TEST(light_goes_from_little_work_to_much),
    TEST(random_is_the_seeds_and_keeps_groups),
    TEST(process_is_shared_as_asked),
};
TEST_MAIN(cases)
