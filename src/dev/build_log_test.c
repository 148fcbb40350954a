/* SPDX-License-Identifier: Apache-2.0
 *
 * The build log: one for each thread, cut in its middle, gone with its thread.
 */
#include "dev/build_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { MOST = 64 * 1024, LONG = 1 << 20, THREADS = 4, ROUNDS = 200 };

static void log_is_empty_at_first(void)
{
    CHECK(strcmp(gyre_build_log(), "") == 0);
}

static void log_is_a_copy_without_the_space_at_its_end(void)
{
    char text[] = "a.cu(3): error: what?\n1 error\n\n \t\n";

    gyre_build_log_set(text, sizeof text - 1);
    memset(text, 'x', sizeof text - 1);
    CHECK(strcmp(gyre_build_log(), "a.cu(3): error: what?\n1 error") == 0);
    gyre_build_log_set("short", 3);
    CHECK(strcmp(gyre_build_log(), "sho") == 0);
}

static void log_ends_at_a_zero(void)
{
    gyre_build_log_set("one\0two", 7);
    CHECK(strcmp(gyre_build_log(), "one") == 0);
}

static void nothing_forgets(void)
{
    gyre_build_log_set("text", 4);
    gyre_build_log_set(NULL, 4);
    CHECK(strcmp(gyre_build_log(), "") == 0);
    gyre_build_log_set("text", 4);
    gyre_build_log_set("text", 0);
    CHECK(strcmp(gyre_build_log(), "") == 0);
    gyre_build_log_set("text", 4);
    gyre_build_log_set(" \n\n", 3);
    CHECK(strcmp(gyre_build_log(), "") == 0);
}

static void long_log_loses_its_middle(void)
{
    char *text = malloc(LONG);

    REQUIRE(text != NULL);
    memset(text, 'm', LONG);
    text[0] = 'f';
    text[LONG - 1] = 'l';
    gyre_build_log_set(text, LONG);
    CHECK(strlen(gyre_build_log()) <= MOST && strlen(gyre_build_log()) > MOST - 100);
    CHECK(strncmp(gyre_build_log(), "fm", 2) == 0);
    CHECK(strcmp(gyre_build_log() + strlen(gyre_build_log()) - 2, "ml") == 0);
    CHECK(strstr(gyre_build_log(), " bytes are left out ...]\nm") != NULL);
    gyre_build_log_set(text, MOST); /* exactly what is kept whole */
    CHECK(strlen(gyre_build_log()) == MOST && strstr(gyre_build_log(), "left out") == NULL);
    gyre_build_log_set(text, MOST + 1);
    CHECK(strlen(gyre_build_log()) <= MOST && strstr(gyre_build_log(), "left out") != NULL);
    free(text);
}

static void *set_and_read(void *word)
{
    CHECK(strcmp(gyre_build_log(), "") == 0);
    for (int i = 0; i < ROUNDS; i++) {
        gyre_build_log_set(word, strlen(word));
        CHECK(strcmp(gyre_build_log(), word) == 0);
    }
    return NULL;
}

/* The sanitizer tells when a thread's log outlives it. */
static void each_thread_has_its_own(void)
{
    static char words[THREADS][8] = {"one", "two", "three", "four"};
    pthread_t threads[THREADS];

    gyre_build_log_set("mine", 4);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, set_and_read, words[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(strcmp(gyre_build_log(), "mine") == 0);
    gyre_build_log_set(NULL, 0);
}

static const test_case cases[] = {
    TEST(log_is_empty_at_first),     TEST(log_is_a_copy_without_the_space_at_its_end),
    TEST(log_ends_at_a_zero),        TEST(nothing_forgets),
    TEST(long_log_loses_its_middle), TEST(each_thread_has_its_own),
};
TEST_MAIN(cases)
