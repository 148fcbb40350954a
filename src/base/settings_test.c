/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing is pure and tested here case by case; reading happens once in a process, so the last
 * cases are about that one time. tests/cli/env_test.sh looks at it from outside.
 */
#include "base/settings.h"

#include <pthread.h>
#include <stdlib.h>

#include "gyre/clock.h"
#include "test.h"

static bool parses(gyre_setting_id id, const char *text, int64_t *number)
{
    char problem[192] = "";
    const bool good = gyre_setting_parse(id, text, number, problem, sizeof problem);

    CHECK(good == (problem[0] == '\0')); /* a refusal has a sentence */
    return good;
}

static void every_default_is_well_formed(void)
{
    int64_t number;

    for (int id = 0; id < GYRE_SETTING_COUNT; id++)
        CHECK(parses((gyre_setting_id)id, gyre_settings_at((size_t)id)->default_value, &number));
}

static void choice_is_the_index_of_its_word(void)
{
    int64_t number;

    CHECK(parses(GYRE_SETTING_CLOCK, "auto", &number) && number == 0);
    CHECK(parses(GYRE_SETTING_CLOCK, "system", &number) && number == 2);
    CHECK(!parses(GYRE_SETTING_CLOCK, "sys", &number));
    CHECK(!parses(GYRE_SETTING_CLOCK, "auto|counter", &number));
    CHECK(!parses(GYRE_SETTING_CLOCK, "", &number));
}

static void count_is_bounded(void)
{
    int64_t number;

    CHECK(parses(GYRE_SETTING_TRACE_EVENTS, "1048576", &number) && number == 1 << 20);
    CHECK(!parses(GYRE_SETTING_TRACE_EVENTS, "1048577", &number));
    CHECK(!parses(GYRE_SETTING_TRACE_EVENTS, "0", &number));
    CHECK(!parses(GYRE_SETTING_TRACE_EVENTS, "-1", &number));
    CHECK(!parses(GYRE_SETTING_TRACE_EVENTS, "99999999999999999999999", &number));
    CHECK(!parses(GYRE_SETTING_TRACE_EVENTS, "12 ", &number));
}

static void duration_has_a_unit(void)
{
    int64_t number;

    CHECK(parses(GYRE_SETTING_SPIN, "20us", &number) && number == 20000);
    CHECK(parses(GYRE_SETTING_SPIN, "0", &number) && number == 0);
    CHECK(!parses(GYRE_SETTING_SPIN, "50", &number)); /* would be seconds */
    CHECK(!parses(GYRE_SETTING_SPIN, "20 apples", &number));
    CHECK(!parses(GYRE_SETTING_SPIN, "-1us", &number));
    CHECK(!parses(GYRE_SETTING_SPIN, "1e300s", &number));
}

static void refusal_cannot_drive_a_terminal(void)
{
    char problem[192];
    int64_t number;

    CHECK(
        !gyre_setting_parse(GYRE_SETTING_COLOR, "\033[31mred\a", &number, problem, sizeof problem));
    CHECK(strchr(problem, '\033') == NULL && strchr(problem, '\a') == NULL);
}

/* Told of the malformed variable, the sink reads a setting and the clock itself. */
static void read_from_sink(void *lines, gyre_log_level level, const char *topic, const char *text)
{
    (void)level, (void)topic;
    CHECK(gyre_clock_now_ns() > 0);
    CHECK(gyre_settings_find("GYRE_OUT") != NULL);
    *(int *)lines += strstr(text, "GYRE_CLOCK: 'sundial'") != NULL;
}

static void *set_until_refused(void *unused)
{
    (void)unused;
    while (gyre_settings_set("GYRE_COLOR", "never") == GYRE_OK)
        ;
    return NULL;
}

/* First of the cases: everything before the first reading happens here, and once. */
static void program_goes_before_environment_before_default(void)
{
    pthread_t setter;
    int lines = 0;

    setenv("GYRE_OUT", "from-environment", 1);
    setenv("GYRE_SPIN", "7us", 1);
    setenv("GYRE_CLOCK", "sundial", 1);
    setenv("GYRE_LGO", "info", 1);
    REQUIRE(gyre_settings_set("GYRE_OUT", "first") == GYRE_OK);
    REQUIRE(gyre_settings_set("GYRE_OUT", "from-program") == GYRE_OK);
    gyre_log_set_sink(read_from_sink, &lines);
    REQUIRE(pthread_create(&setter, NULL, set_until_refused, NULL) == 0);
    CHECK(gyre_clock_now_ns() > 0); /* the first use, beside a thread that still sets */
    pthread_join(setter, NULL);
    gyre_log_set_sink(NULL, NULL);
    CHECK(lines == 1);

    CHECK(strcmp(gyre_settings_text(GYRE_SETTING_OUT), "from-program") == 0);
    CHECK(gyre_settings_find("GYRE_OUT")->origin == GYRE_ORIGIN_PROGRAM);
    CHECK(gyre_settings_number(GYRE_SETTING_SPIN) == 7000);
    CHECK(gyre_settings_find("GYRE_SPIN")->origin == GYRE_ORIGIN_ENVIRONMENT);
    CHECK(gyre_settings_number(GYRE_SETTING_TRACE_EVENTS) == 4096);
    CHECK(gyre_settings_find("GYRE_TRACE_EVENTS")->origin == GYRE_ORIGIN_DEFAULT);
}

static void malformed_variable_keeps_the_default_and_is_told(void)
{
    const gyre_setting *clock = gyre_settings_find("GYRE_CLOCK");

    CHECK(strcmp(clock->value, "auto") == 0);
    CHECK(clock->problem && strstr(clock->problem, "sundial"));
    CHECK(gyre_settings_check() == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "GYRE_CLOCK: 'sundial'") != NULL);
}

static void misspelt_variable_is_listed(void)
{
    bool found = false;

    for (size_t i = 0; gyre_settings_unknown(i); i++)
        found = found || strcmp(gyre_settings_unknown(i), "GYRE_LGO") == 0;
    CHECK(found);
}

static void values_do_not_change_once_read(void)
{
    setenv("GYRE_SPIN", "9us", 1);
    CHECK(gyre_settings_number(GYRE_SETTING_SPIN) == 7000);
    CHECK(gyre_settings_set("GYRE_SPIN", "9us") == GYRE_INVALID);
}

static void unknown_name_is_not_found(void)
{
    CHECK(gyre_settings_set("GYRE_NO_SUCH", "1") == GYRE_NOT_FOUND);
    CHECK(gyre_settings_find("GYRE_NO_SUCH") == NULL);
    CHECK(gyre_settings_at(1000) == NULL);
}

static const test_case cases[] = {
    TEST(program_goes_before_environment_before_default),
    TEST(malformed_variable_keeps_the_default_and_is_told),
    TEST(misspelt_variable_is_listed),
    TEST(values_do_not_change_once_read),
    TEST(unknown_name_is_not_found),
    TEST(every_default_is_well_formed),
    TEST(choice_is_the_index_of_its_word),
    TEST(count_is_bounded),
    TEST(duration_has_a_unit),
    TEST(refusal_cannot_drive_a_terminal),
};
TEST_MAIN(cases)
