/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lasting.h"

#include <pthread.h>
#include <stdio.h>

#include "test.h"

static void a_text_is_kept_once(void)
{
    char text[] = "relu";
    const char *const first = gyre_lasting(text);

    text[0] = 'x';
    CHECK(strcmp(first, "relu") == 0);
    CHECK(gyre_lasting("relu") == first);
    CHECK(gyre_lasting("xelu") != first && strcmp(gyre_lasting(text), "xelu") == 0);
    CHECK(strcmp(gyre_lasting(""), "") == 0);
}

enum { THREADS = 4, TEXTS = 500 };

static const char *seen[THREADS][TEXTS];

static void *ask(void *arg)
{
    const char **mine = arg;

    for (int i = 0; i < TEXTS; i++) {
        char text[32];

        snprintf(text, sizeof text, "name %d", i);
        mine[i] = gyre_lasting(text);
    }
    return NULL;
}

static void threads_get_the_same(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, ask, seen[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < TEXTS; i++)
        for (int k = 1; k < THREADS; k++)
            CHECK(seen[k][i] == seen[0][i]);
}

static const test_case cases[] = {TEST(a_text_is_kept_once), TEST(threads_get_the_same)};
TEST_MAIN(cases)
