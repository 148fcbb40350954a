/* SPDX-License-Identifier: Apache-2.0 */
#include "record/targets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

#define HEAD "{\"schema\": \"gyre.targets/1\", \"targets\": ["
#define TAIL "]}"

static gyre_targets *targets;

static gyre_status parse(const char *text)
{
    gyre_targets_destroy(targets);
    return gyre_targets_parse(text, strlen(text), "t.json", &targets);
}

/* Whether the text is refused with these words. */
static bool refuses(const char *text, const char *words)
{
    return parse(text) == GYRE_CORRUPT && !targets && strstr(gyre_error_last()->text, words);
}

static void every_member_is_read(void)
{
    REQUIRE(parse(HEAD "{\"id\": \"g/f\", \"quantity\": \"ratio\", \"at_most\": 0.5, \"to\": "
                       "\"g/other\", \"source\": \"a paper\", \"note\": \"a doubt\"},"
                       "{\"match\": \"g/.*\", \"quantity\": \"counter\", \"counter\": \"hits\", "
                       "\"at_least\": 3}" TAIL) == GYRE_OK);
    REQUIRE(targets->count == 2);
    CHECK(strcmp(targets->items[0].id, "g/f") == 0 && !targets->items[0].is_pattern);
    CHECK(targets->items[0].quantity == GYRE_TARGET_RATIO);
    CHECK(strcmp(targets->items[0].other, "g/other") == 0 && !targets->items[0].counter);
    CHECK(targets->items[0].limit == 0.5 && !targets->items[0].at_least);
    CHECK(strcmp(targets->items[0].source, "a paper") == 0);
    CHECK(strcmp(targets->items[0].note, "a doubt") == 0);
    CHECK(strcmp(targets->items[1].id, "g/.*") == 0 && targets->items[1].is_pattern);
    CHECK(targets->items[1].quantity == GYRE_TARGET_COUNTER);
    CHECK(strcmp(targets->items[1].counter, "hits") == 0 && !targets->items[1].other);
    CHECK(targets->items[1].limit == 3 && targets->items[1].at_least);
    CHECK(strcmp(targets->items[1].source, "") == 0 && strcmp(targets->items[1].note, "") == 0);
}

static void every_quantity_has_a_name(void)
{
    char text[256];

    for (int q = GYRE_TARGET_MEDIAN_NS; q <= GYRE_TARGET_COUNTER; q++) {
        snprintf(text, sizeof text,
                 HEAD "{\"id\": \"g/f\", \"quantity\": \"%s\", \"at_most\": 1%s}" TAIL,
                 gyre_target_quantity_name((gyre_target_quantity)q),
                 q == GYRE_TARGET_RATIO     ? ", \"to\": \"g/o\""
                 : q == GYRE_TARGET_COUNTER ? ", \"counter\": \"c\""
                                            : "");
        CHECK(parse(text) == GYRE_OK && (int)targets->items[0].quantity == q);
    }
}

static void patterns_concern_whole_ids(void)
{
    REQUIRE(parse(HEAD "{\"match\": \"a|a/b|c/[xy]+\", \"quantity\": \"median_ns\", "
                       "\"at_most\": 1}" TAIL) == GYRE_OK);
    CHECK(gyre_target_concerns(&targets->items[0], "a"));
    CHECK(gyre_target_concerns(&targets->items[0], "a/b")); /* not only its beginning */
    CHECK(gyre_target_concerns(&targets->items[0], "c/xyx"));
    CHECK(!gyre_target_concerns(&targets->items[0], "a/bc"));
    CHECK(!gyre_target_concerns(&targets->items[0], "b/a"));
    CHECK(!gyre_target_concerns(&targets->items[0], "c/"));
}

static void ids_are_compared_as_they_are(void)
{
    REQUIRE(parse(HEAD "{\"id\": \"g.f/1\", \"quantity\": \"median_ns\", \"at_most\": 1}" TAIL) ==
            GYRE_OK);
    CHECK(gyre_target_concerns(&targets->items[0], "g.f/1"));
    CHECK(!gyre_target_concerns(&targets->items[0], "gxf/1"));
    CHECK(!gyre_target_concerns(&targets->items[0], "g.f/10"));
}

static void what_is_no_table_is_refused(void)
{
    CHECK(refuses("", "'t.json', line 1: "));
    CHECK(refuses("[]", "'t.json': its 'schema' is not 'gyre.targets/1'"));
    CHECK(refuses("{\"schema\": \"gyre.run/1\", \"targets\": []}", "its 'schema' is not"));
    CHECK(refuses("{\"schema\": 1}", "its 'schema' is not"));
    CHECK(refuses(HEAD TAIL, "its 'targets' are not an array of one or more"));
    CHECK(refuses("{\"schema\": \"gyre.targets/1\"}", "its 'targets' are not"));
    CHECK(refuses("{\"schema\": \"gyre.targets/1\", \"targets\": [1], \"x\": 1}",
                  "'t.json': there is no member 'x'"));
    CHECK(refuses("{\"schema\": \"gyre.targets/1\", \"schema\": 1}", "duplicate"));
    CHECK(refuses(HEAD "1" TAIL, "'t.json', target 1: not an object"));
    CHECK(refuses(HEAD "{}" TAIL " x", "line 1: end of file expected"));
}

/* The second of two targets, the first being right. */
static bool refuses_second(const char *members, const char *words)
{
    char text[1024];

    snprintf(text, sizeof text,
             HEAD "{\"id\": \"g/f\", \"quantity\": \"median_ns\", \"at_most\": 1}, {%s}" TAIL,
             members);
    return refuses(text, words) && strstr(gyre_error_last()->text, "'t.json', target 2: ");
}

static void a_wrong_target_is_named(void)
{
    CHECK(refuses_second("\"quantity\": \"median_ns\", \"at_most\": 1",
                         "it needs either an 'id' or a 'match'"));
    CHECK(refuses_second("\"id\": \"a\", \"match\": \"b\", \"quantity\": \"ratio\"",
                         "it needs either an 'id' or a 'match'"));
    CHECK(refuses_second("\"id\": \"a b\", \"quantity\": \"median_ns\", \"at_most\": 1",
                         "this is no benchmark's id: 'a b'"));
    CHECK(refuses_second("\"id\": \"\", \"quantity\": \"median_ns\", \"at_most\": 1",
                         "empty, too long or no text: 'id'"));
    CHECK(refuses_second("\"id\": 5, \"quantity\": \"median_ns\", \"at_most\": 1",
                         "empty, too long or no text: 'id'"));
    CHECK(refuses_second("\"id\": \"a\", \"at_most\": 1", "it lacks a 'quantity'"));
    CHECK(refuses_second("\"id\": \"a\", \"quantity\": \"mean\", \"at_most\": 1",
                         "there is no quantity 'mean'"));
    CHECK(refuses_second("\"id\": \"a\", \"quantity\": \"median_ns\", \"atmost\": 1",
                         "there is no member 'atmost'"));
    CHECK(refuses_second("\"id\": \"a\", \"quantity\": \"ratio\", \"at_most\": 1",
                         "it lacks a 'to'"));
    CHECK(refuses_second("\"id\": \"a\", \"quantity\": \"p99_ns\", \"to\": \"b\", \"at_most\": 1",
                         "only ratio and more_ns have a 'to'"));
    CHECK(refuses_second("\"id\": \"a\", \"quantity\": \"counter\", \"at_most\": 1",
                         "it lacks a 'counter'"));
    CHECK(refuses_second("\"id\": \"a\", \"quantity\": \"p99_ns\", \"counter\": \"b\"",
                         "only a counter has a 'counter'"));
}

static void a_limit_is_one_number(void)
{
    const char *const half = "\"id\": \"a\", \"quantity\": \"median_ns\"";
    static const char *const limits[] = {"-1", "\"1\"", "null", "[1]", "true"};
    char members[128];

    CHECK(refuses_second(half, "it needs either 'at_most' or 'at_least'"));
    snprintf(members, sizeof members, "%s, \"at_most\": 1, \"at_least\": 1", half);
    CHECK(refuses_second(members, "it needs either 'at_most' or 'at_least'"));
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        snprintf(members, sizeof members, "%s, \"at_least\": %s", half, limits[i]);
        CHECK(refuses_second(members, "not a number from 0 on: 'at_least'"));
    }
    snprintf(members, sizeof members, "{%s, \"at_most\": 1e999}", half);
    CHECK(refuses(members, "line 1: "));
}

static void wild_patterns_are_refused(void)
{
    static const char *const wild[] = {"(a{255}){255}", "((a)+)+", "a++",   "+a",
                                       "(a)\\\\1",      "a b",     "a\\\\", "\xc3\xa4"};
    char members[128], words[64];

    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        snprintf(members, sizeof members,
                 "\"match\": \"%s\", \"quantity\": \"median_ns\", \"at_most\": 1", wild[i]);
        CHECK(refuses_second(members, "something that has no place in a pattern"));
    }
    snprintf(members, sizeof members,
             "\"match\": \"(a\", \"quantity\": \"median_ns\", \"at_most\": 1");
    snprintf(words, sizeof words, "pattern '(a': ");
    CHECK(refuses_second(members, words));
}

static void a_file_is_read(void)
{
    char path[] = "/tmp/gyre-targets-test-XXXXXX";
    const int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    REQUIRE(file != NULL);
    fputs(HEAD "{\"id\": \"g/f\", \"quantity\": \"median_ns\", \"at_most\": 1}" TAIL, file);
    fclose(file);
    gyre_targets_destroy(targets);
    CHECK(gyre_targets_load(path, &targets) == GYRE_OK && targets->count == 1);
    CHECK(truncate(path, 2 << 20) == 0);
    gyre_targets_destroy(targets);
    CHECK(gyre_targets_load(path, &targets) == GYRE_CORRUPT);
    CHECK(strstr(gyre_error_last()->text, "1 MiB") != NULL);
    remove(path);
    CHECK(gyre_targets_load(path, &targets) == GYRE_IO && !targets);
    CHECK(gyre_targets_load("/", &targets) == GYRE_IO && !targets);
    gyre_targets_destroy(NULL);
}

static const test_case cases[] = {
    TEST(every_member_is_read),
    TEST(every_quantity_has_a_name),
    TEST(patterns_concern_whole_ids),
    TEST(ids_are_compared_as_they_are),
    TEST(what_is_no_table_is_refused),
    TEST(a_wrong_target_is_named),
    TEST(a_limit_is_one_number),
    TEST(wild_patterns_are_refused),
    TEST(a_file_is_read),
};
TEST_MAIN(cases)
