/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>

#include "test.h"

enum { THREADS = 4, LINES = 500 };

typedef struct heard {
    int count; /* plain: the log serialises the sink, which TSan would notice if it did not */
    gyre_log_level level;
    char topic[16], text[1024];
} heard;

static void hear(void *user, gyre_log_level level, const char *topic, const char *text)
{
    heard *h = user;

    h->count++;
    h->level = level;
    snprintf(h->topic, sizeof h->topic, "%s", topic);
    snprintf(h->text, sizeof h->text, "%s", text);
}

static void spec_sets_all_then_topics(void)
{
    gyre_log_spec spec;
    char problem[128] = "";

    CHECK(gyre_log_parse("info", &spec, problem, sizeof problem));
    CHECK(spec.level[GYRE_TOPIC_BASE] == GYRE_LOG_INFO &&
          spec.level[GYRE_TOPIC_LAB] == GYRE_LOG_INFO);
    CHECK(gyre_log_parse("error,lab:trace", &spec, problem, sizeof problem));
    CHECK(spec.level[GYRE_TOPIC_BASE] == GYRE_LOG_ERROR);
    CHECK(spec.level[GYRE_TOPIC_LAB] == GYRE_LOG_TRACE);
    CHECK(gyre_log_parse("base:debug", &spec, problem, sizeof problem));
    CHECK(spec.level[GYRE_TOPIC_LAB] == GYRE_LOG_WARN);
}

static void malformed_spec_says_what_is_wrong(void)
{
    static const char *const bad[] = {
        "banana", "", "info,", ":", "base:", "base:loud", "cow:info", "info,,debug", "INFO"};
    gyre_log_spec spec;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char problem[128] = "";

        CHECK(!gyre_log_parse(bad[i], &spec, problem, sizeof problem));
        CHECK(strstr(problem, "log level") || strstr(problem, "log topic"));
    }
}

static void sink_hears_level_topic_and_text(void)
{
    heard h = {0};

    gyre_log_set_sink(hear, &h);
    gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_LAB, "number %d", 5);
    gyre_log_set_sink(NULL, NULL);
    CHECK(h.count == 1 && h.level == GYRE_LOG_WARN);
    CHECK(strcmp(h.topic, "lab") == 0 && strcmp(h.text, "number 5") == 0);
}

/* GYRE_LOG is not set for tests, so the level is warn. */
static void unwanted_lines_are_not_formatted(void)
{
    heard h = {0};
    int evaluated = 0;

    gyre_log_set_sink(hear, &h);
    gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_BASE, "%d", ++evaluated);
    gyre_log_set_sink(NULL, NULL);
    CHECK(h.count == 0 && evaluated == 0);
}

static void *shout(void *unused)
{
    (void)unused;
    for (int i = 0; i < LINES; i++)
        gyre_log(GYRE_LOG_ERROR, GYRE_TOPIC_BASE, "line %d", i);
    return NULL;
}

static void no_line_is_lost_between_threads(void)
{
    pthread_t threads[THREADS];
    heard h = {0};

    gyre_log_set_sink(hear, &h);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, shout, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    gyre_log_set_sink(NULL, NULL);
    CHECK(h.count == THREADS * LINES);
}

static void every_level_has_a_name(void)
{
    CHECK(strcmp(gyre_log_level_name(GYRE_LOG_TRACE), "trace") == 0);
    CHECK(strcmp(gyre_log_level_name((gyre_log_level)99), "unknown") == 0);
}

static const test_case cases[] = {
    TEST(spec_sets_all_then_topics),       TEST(malformed_spec_says_what_is_wrong),
    TEST(sink_hears_level_topic_and_text), TEST(unwanted_lines_are_not_formatted),
    TEST(no_line_is_lost_between_threads), TEST(every_level_has_a_name),
};
TEST_MAIN(cases)
