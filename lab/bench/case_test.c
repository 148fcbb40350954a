/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/case.h"

#include "test.h"

static void run(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
}

static bool check(const void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    return true;
}

#define MEANING .t0 = "a", .t1 = "b", .observer = "c", .run = run, .check = check

static const gyre_bench queue_benches[] = {
    {.name = "queue/push", MEANING},
    {.name = "queue/pop",
     .axes = {GYRE_AXIS("bytes", 8, 64), GYRE_AXIS("threads", 1, 2, 4)},
     MEANING},
};
static const gyre_bench clock_benches[] = {{.name = "clock/now", .tags = GYRE_TAG_SLOW, MEANING}};
static const gyre_suite queue = GYRE_SUITE("queue", queue_benches);
static const gyre_suite clocks = GYRE_SUITE("clocks", clock_benches);
static const gyre_suite *const suites[] = {&queue, &clocks, NULL};

static gyre_case_list *list;

static gyre_status choose(const char *pattern, bool exact, const char *suite)
{
    const gyre_case_choice choice = {
        .patterns = &pattern, .pattern_count = pattern ? 1 : 0, .suite = suite, .exact = exact};

    gyre_case_list_destroy(list);
    return gyre_case_list_create(suites, &choice, &list);
}

static void axes_are_multiplied_last_fastest(void)
{
    static const char *const ids[] = {"queue/push",     "queue/pop/8/1",  "queue/pop/8/2",
                                      "queue/pop/8/4",  "queue/pop/64/1", "queue/pop/64/2",
                                      "queue/pop/64/4", "clock/now"};

    REQUIRE(choose(NULL, false, NULL) == GYRE_OK);
    REQUIRE(list->count == sizeof ids / sizeof ids[0]);
    for (size_t i = 0; i < list->count; i++)
        CHECK(strcmp(list->cases[i].id, ids[i]) == 0);
    CHECK(gyre_bench_axis(&list->cases[3], "bytes") == 8);
    CHECK(gyre_bench_axis(&list->cases[3], "threads") == 4);
    CHECK(!gyre_bench_word(&list->cases[3], "threads"));
}

static void filter_is_a_regular_expression(void)
{
    REQUIRE(choose("pop/.*/[24]$", false, NULL) == GYRE_OK);
    CHECK(list->count == 4);
    REQUIRE(choose("clock", false, NULL) == GYRE_OK);
    CHECK(list->count == 1);
}

static void exact_filter_is_a_whole_id(void)
{
    REQUIRE(choose("queue/pop/8/1", true, NULL) == GYRE_OK);
    CHECK(list->count == 1);
    CHECK(choose("queue/pop", true, NULL) == GYRE_NOT_FOUND);
}

static void suite_is_chosen_by_name(void)
{
    REQUIRE(choose(NULL, false, "clocks") == GYRE_OK);
    CHECK(list->count == 1);
    CHECK(choose(NULL, false, "cl") == GYRE_NOT_FOUND);
    CHECK(strstr(gyre_error_last()->text, "there are: queue, clocks") != NULL);
}

static void skipped_ones_are_left_out(void)
{
    static const char *const skip[] = {"pop", "tag:gpu"};
    const gyre_case_choice choice = {.skip = skip, .skip_count = 2};

    gyre_case_list_destroy(list);
    REQUIRE(gyre_case_list_create(suites, &choice, &list) == GYRE_OK);
    CHECK(list->count == 2);
}

static void tag_is_a_filter(void)
{
    REQUIRE(choose("tag:slow", false, NULL) == GYRE_OK);
    CHECK(list->count == 1 && strcmp(list->cases[0].id, "clock/now") == 0);
    REQUIRE(choose("tag:cpu", false, NULL) == GYRE_OK); /* what has no tag is the CPU's */
    CHECK(list->count == 7);
    CHECK(choose("tag:fpga", false, NULL) == GYRE_INVALID);
}

static void mistyped_id_is_guessed(void)
{
    CHECK(choose("clock/mow", false, NULL) == GYRE_NOT_FOUND);
    CHECK(strstr(gyre_error_last()->text, "did you mean 'clock/now'?") != NULL);
}

static gyre_status choose_axis(const char *text)
{
    const gyre_case_choice choice = {.axes = &text, .axis_count = 1};

    gyre_case_list_destroy(list);
    return gyre_case_list_create(suites, &choice, &list);
}

static void axis_takes_other_values(void)
{
    REQUIRE(choose_axis("bytes=[16,32,48]") == GYRE_OK);
    CHECK(list->count == 1 + 9 + 1 && strcmp(list->cases[4].id, "queue/pop/32/1") == 0);
    REQUIRE(choose_axis("threads[pow2]=[0:4:2]") == GYRE_OK);
    CHECK(list->count == 1 + 6 + 1 && strcmp(list->cases[3].id, "queue/pop/8/16") == 0);
    CHECK(choose_axis("colour=[1]") == GYRE_NOT_FOUND);
    CHECK(strstr(gyre_error_last()->text, "no benchmark has an axis 'colour'") != NULL);
    CHECK(choose_axis("bytes") == GYRE_INVALID);
    CHECK(choose_axis("bytes=[8,8]") == GYRE_INVALID); /* two of one name */
}

static void words_are_in_the_id(void)
{
    const gyre_bench bench = {
        .name = "channel/send", .axes = {GYRE_AXIS_WORDS("policy", "block", "reject")}, MEANING};
    const gyre_suite suite = {sizeof suite, sizeof bench, "words", &bench, 1, NULL, NULL};
    const gyre_suite *const only[] = {&suite, NULL};
    const char *axis = "policy=reject";
    const gyre_case_choice choice = {.axes = &axis, .axis_count = 1};

    gyre_case_list_destroy(list);
    REQUIRE(gyre_case_list_create(only, NULL, &list) == GYRE_OK);
    REQUIRE(list->count == 2);
    CHECK(strcmp(list->cases[1].id, "channel/send/reject") == 0);
    gyre_case_list_destroy(list);
    REQUIRE(gyre_case_list_create(only, &choice, &list) == GYRE_OK);
    CHECK(list->count == 1 && strcmp(list->cases[0].id, "channel/send/reject") == 0);
    CHECK(gyre_bench_axis(&list->cases[0], "policy") == 1);
    CHECK(strcmp(gyre_bench_word(&list->cases[0], "policy"), "reject") == 0);
    axis = "policy=drop";
    gyre_case_list_destroy(list);
    CHECK(gyre_case_list_create(only, &choice, &list) == GYRE_INVALID);
}

/* One has it, one has another, one has both, and one no such axis. */
static void one_without_the_value_is_left_out(void)
{
    static const gyre_bench benches[] = {
        {.name = "g/a", .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda")}, MEANING},
        {.name = "g/bare", .axes = {GYRE_AXIS_WORDS("device", "cuda")}, MEANING},
        {.name = "g/f",
         .axes = {GYRE_AXIS_WORDS("device", "cpu", "cuda")},
         .beside = "g/bare",
         MEANING},
        {.name = "g/n", MEANING},
    };
    static const gyre_suite suite = GYRE_SUITE("s", benches);
    static const gyre_suite *const only[] = {&suite, NULL};
    const char *axis = "device=cpu", *pattern = "g/bare";
    gyre_case_choice choice = {.axes = &axis, .axis_count = 1};

    gyre_case_list_destroy(list);
    REQUIRE(gyre_case_list_create(only, &choice, &list) == GYRE_OK);
    REQUIRE(list->count == 3);
    CHECK(strcmp(list->cases[0].id, "g/a/cpu") == 0 && strcmp(list->cases[1].id, "g/f/cpu") == 0);
    CHECK(!list->cases[1].beside);
    axis = "device=[cuda,cpu]";
    gyre_case_list_destroy(list);
    REQUIRE(gyre_case_list_create(only, &choice, &list) == GYRE_OK);
    REQUIRE(list->count == 6);
    CHECK(strcmp(list->cases[0].id, "g/a/cuda") == 0);
    CHECK(strcmp(list->cases[2].id, "g/bare/cuda") == 0 && list->cases[3].beside);
    axis = "device=[cpu,cudda]";
    gyre_case_list_destroy(list);
    CHECK(gyre_case_list_create(only, &choice, &list) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "value 'cudda' on its axis 'device'") != NULL);
    axis = "device=[cpu,]";
    CHECK(gyre_case_list_create(only, &choice, &list) == GYRE_INVALID);
    axis = "device=cpu";
    choice.patterns = &pattern;
    choice.pattern_count = 1;
    CHECK(gyre_case_list_create(only, &choice, &list) == GYRE_NOT_FOUND && !list);
    CHECK(strstr(gyre_error_last()->text, "with the values that --axis gives") != NULL);
}

static void malformed_pattern_is_invalid(void)
{
    CHECK(choose("a(b", false, NULL) == GYRE_INVALID);
    CHECK(list == NULL);
    CHECK(strstr(gyre_error_last()->text, "filter 'a(b'") != NULL);
}

static gyre_status expand(const gyre_bench *bench, size_t count)
{
    const gyre_suite suite = {sizeof suite, sizeof *bench, "bad", bench, count, NULL, NULL};
    const gyre_suite *const only[] = {&suite, NULL};

    gyre_case_list_destroy(list);
    return gyre_case_list_create(only, NULL, &list);
}

static void incomplete_entry_is_named(void)
{
    gyre_bench bench = queue_benches[0];

    bench.check = NULL;
    CHECK(expand(&bench, 1) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "queue/push): no check") != NULL);
    bench = queue_benches[0];
    bench.observer = "";
    CHECK(expand(&bench, 1) == GYRE_INVALID);
    bench = queue_benches[0];
    bench.name = "two words";
    CHECK(expand(&bench, 1) == GYRE_INVALID);
    bench.name = NULL;
    CHECK(expand(&bench, 1) == GYRE_INVALID);
}

static void name_twice_is_invalid(void)
{
    const gyre_bench twins[] = {queue_benches[0], queue_benches[0]};

    CHECK(expand(twins, 2) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "two benchmarks are called 'queue/push'") != NULL);
}

static void axis_may_have_32_values(void)
{
    const gyre_axis axis = GYRE_AXIS("n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                     18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    const gyre_axis one = GYRE_AXIS("n", 7);

    CHECK(axis.count == GYRE_AXIS_VALUES && axis.values[31] == 32);
    CHECK(one.count == 1 && one.values[0] == 7);
}

static void impossible_entries_are_refused(void)
{
    gyre_bench bench = queue_benches[0];
    const gyre_suite blank = {0, 0, NULL, NULL, 0, NULL, NULL};
    const gyre_suite *const only[] = {&blank, NULL};
    static const char *const names[] = {"../x", "a//b", "/a", "a/", "a/.b", "."};

    bench.axes[0] = bench.axes[1] = (gyre_axis)GYRE_AXIS("n", 1);
    CHECK(expand(&bench, 1) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "two axes have one name") != NULL);
    bench = queue_benches[0];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bench.name = names[i];
        CHECK(expand(&bench, 1) == GYRE_INVALID);
    }
    gyre_case_list_destroy(list);
    CHECK(gyre_case_list_create(only, NULL, &list) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "GYRE_SUITE") != NULL);
}

static void name_too_long_is_invalid(void)
{
    gyre_bench bench = queue_benches[0];
    char name[400];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    bench.name = name;
    CHECK(expand(&bench, 1) == GYRE_INVALID);
}

static void axis_without_values_is_invalid(void)
{
    gyre_bench bench = queue_benches[0];

    bench.axes[0] = (gyre_axis){.name = "empty"};
    CHECK(expand(&bench, 1) == GYRE_INVALID);
    bench.axes[0].count = 1000;
    CHECK(expand(&bench, 1) == GYRE_INVALID);
}

/* A suite compiled when an entry ended before `bytes`. */
static void older_suite_is_read_by_its_own_size(void)
{
    enum { OLD_SIZE = offsetof(gyre_bench, bytes) };
    static _Alignas(gyre_bench) char table[2 * OLD_SIZE];
    const gyre_suite suite = {offsetof(gyre_suite, clock),
                              OLD_SIZE,
                              "old",
                              (const gyre_bench *)(void *)table,
                              2,
                              (const gyre_bench_clock *)(void *)table, /* not to be looked at */
                              NULL};
    const gyre_suite *const only[] = {&suite, NULL};

    memcpy(table, &queue_benches[0], OLD_SIZE);
    memcpy(table + OLD_SIZE, &clock_benches[0], OLD_SIZE);
    gyre_case_list_destroy(list);
    REQUIRE(gyre_case_list_create(only, NULL, &list) == GYRE_OK);
    REQUIRE(list->count == 2);
    CHECK(strcmp(list->cases[1].id, "clock/now") == 0);
    CHECK(list->cases[1].bench.bytes == NULL && list->cases[1].clock == NULL);
    gyre_case_list_destroy(list);
    list = NULL;
}

static void beside_is_the_case_with_the_same_values(void)
{
    static const gyre_bench benches[] = {
        {.name = "g/f", .axes = {GYRE_AXIS("n", 1, 2)}, .beside = "g/bare", MEANING},
        {.name = "g/bare", .axes = {GYRE_AXIS("n", 2, 3)}, MEANING},
    };
    static const gyre_suite suite = GYRE_SUITE("s", benches);
    static const gyre_suite *const only[] = {&suite, NULL};
    const char *const pattern = "g/f";
    const gyre_case_choice choice = {.patterns = &pattern, .pattern_count = 1};

    gyre_case_list_destroy(list);
    REQUIRE(gyre_case_list_create(only, &choice, &list) == GYRE_OK);
    REQUIRE(list->count == 2); /* and the other is there though nobody wants it for itself */
    CHECK(!list->cases[0].beside);
    REQUIRE(list->cases[1].beside);
    CHECK(strcmp(list->cases[1].beside->id, "g/bare/2") == 0);
    CHECK(gyre_case_list_measured(list) == 3);
    gyre_case_list_destroy(list);
    list = NULL;
}

static void beside_nothing_is_invalid(void)
{
    static const gyre_bench_clock clock = {.name = "c"};
    static const gyre_bench itself[] = {{.name = "g/f", .beside = "g/f", MEANING}};
    static const gyre_bench unknown[] = {{.name = "g/f", .beside = "g/none", MEANING}};
    static const gyre_bench two[] = {{.name = "g/f", .beside = "g/o", MEANING},
                                     {.name = "g/o", MEANING}};
    static const gyre_suite wrong[] = {GYRE_SUITE("s", itself), GYRE_SUITE("s", unknown),
                                       GYRE_DEVICE_SUITE("s", two, &clock, NULL)};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const gyre_suite *const only[] = {&wrong[i], NULL};

        gyre_case_list_destroy(list);
        CHECK(gyre_case_list_create(only, NULL, &list) == GYRE_INVALID && !list);
        CHECK(strstr(gyre_error_last()->text, i < 2 ? "no other benchmark" : "a clock of its own"));
    }
}

static const test_case cases[] = {
    TEST(axes_are_multiplied_last_fastest),
    TEST(filter_is_a_regular_expression),
    TEST(exact_filter_is_a_whole_id),
    TEST(suite_is_chosen_by_name),
    TEST(skipped_ones_are_left_out),
    TEST(tag_is_a_filter),
    TEST(mistyped_id_is_guessed),
    TEST(axis_takes_other_values),
    TEST(words_are_in_the_id),
    TEST(one_without_the_value_is_left_out),
    TEST(malformed_pattern_is_invalid),
    TEST(incomplete_entry_is_named),
    TEST(name_twice_is_invalid),
    TEST(impossible_entries_are_refused),
    TEST(name_too_long_is_invalid),
    TEST(axis_may_have_32_values),
    TEST(axis_without_values_is_invalid),
    TEST(older_suite_is_read_by_its_own_size),
    TEST(beside_is_the_case_with_the_same_values),
    TEST(beside_nothing_is_invalid),
};
TEST_MAIN(cases)
