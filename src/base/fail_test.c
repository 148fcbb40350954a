/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

#include <pthread.h>

#include "test.h"

static void detail_says_what_and_where(void)
{
    const gyre_error *error = gyre_error_last();
    const int line = __LINE__ + 1;
    const gyre_status status = gyre_fail(GYRE_CORRUPT, "byte %d", 17);

    CHECK(status == GYRE_CORRUPT);
    CHECK(error->status == GYRE_CORRUPT);
    CHECK(error->native == 0);
    CHECK(error->line == line);
    CHECK(strcmp(error->text, "byte 17") == 0);
    CHECK(strcmp(error->file, "src/base/fail_test.c") == 0); /* no path of this machine */
}

static void native_code_is_kept(void)
{
    CHECK(gyre_fail_native(GYRE_IO, 28, "disk") == GYRE_IO);
    CHECK(gyre_error_last()->native == 28);
}

static void long_text_is_cut(void)
{
    char text[1000];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK(gyre_fail(GYRE_INTERNAL, "%s", text) == GYRE_INTERNAL);
    CHECK(strlen(gyre_error_last()->text) == sizeof gyre_error_last()->text - 1);
}

static void detail_cannot_drive_a_terminal(void)
{
    CHECK(gyre_fail(GYRE_INVALID, "no '%s'", "\033[31m") == GYRE_INVALID);
    CHECK(strcmp(gyre_error_last()->text, "no '?[31m'") == 0);
}

static void detail_can_be_forgotten(void)
{
    CHECK(gyre_fail(GYRE_INVALID, "something") == GYRE_INVALID);
    gyre_fail_clear();
    CHECK(gyre_error_last()->status == GYRE_OK && gyre_error_last()->text[0] == '\0');
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    CHECK(gyre_error_last()->status == GYRE_OK); /* nothing failed on this thread yet */
    CHECK(gyre_fail(GYRE_CLOSED, "elsewhere") == GYRE_CLOSED);
    return NULL;
}

static void detail_is_the_threads_own(void)
{
    pthread_t thread;

    CHECK(gyre_fail(GYRE_NOT_FOUND, "here") == GYRE_NOT_FOUND);
    REQUIRE(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK(strcmp(gyre_error_last()->text, "here") == 0);
}

static void every_status_has_a_name(void)
{
    for (int status = GYRE_OK; status <= GYRE_INTERNAL; status++)
        CHECK(strcmp(gyre_status_name((gyre_status)status), "unknown") != 0);
    CHECK(strcmp(gyre_status_name((gyre_status)15), "unknown") == 0);
    CHECK(strcmp(gyre_status_name((gyre_status)-1), "unknown") == 0);
}

static const test_case cases[] = {
    TEST(detail_says_what_and_where), TEST(native_code_is_kept),
    TEST(long_text_is_cut),           TEST(detail_cannot_drive_a_terminal),
    TEST(detail_can_be_forgotten),    TEST(detail_is_the_threads_own),
    TEST(every_status_has_a_name),
};
TEST_MAIN(cases)
