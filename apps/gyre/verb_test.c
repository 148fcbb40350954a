/* SPDX-License-Identifier: Apache-2.0 */
#include "verb.h"

#include <stdlib.h>

#include "gyre/status.h"
#include "test.h"
#include "words.h"

static const gyre_verb *verb;
static gyre_args args;
static gyre_common common;

static gyre_status parse(const char *line)
{
    char *words[TEST_WORDS];
    const int count = test_words(line, words);

    return verb_parse(count, words, &verb, &args, &common);
}

static void verb_and_its_options_are_found(void)
{
    REQUIRE(parse("env --json") == GYRE_OK);
    CHECK(verb == &verb_env && gyre_args_given(&args, 0) && !common.help && !common.color);
}

static void common_options_go_with_every_verb(void)
{
    for (size_t i = 0; gyre_verbs[i]; i++) {
        char line[64];

        snprintf(line, sizeof line, "%s --color=never -h", gyre_verbs[i]->name);
        REQUIRE(parse(line) == GYRE_OK);
        CHECK(verb == gyre_verbs[i] && common.help && strcmp(common.color, "never") == 0);
    }
}

static void misspelt_verb_gets_a_suggestion(void)
{
    CHECK(parse("dcotor") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "did you mean 'doctor'?") != NULL);
    CHECK(verb == NULL);
    CHECK(parse("--verison") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "no option '--verison'; did you mean '--version'?"));
    CHECK(parse("xylophone") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "'gyre help' lists the verbs") != NULL);
}

static void misspelt_option_names_its_verb(void)
{
    CHECK(parse("info --jsno") == GYRE_INVALID);
    CHECK(verb == &verb_info);
    CHECK(strstr(gyre_error_last()->text, "did you mean '--json'?") != NULL);
}

static void nothing_to_do_is_wrong_usage(void)
{
    CHECK(parse("") == GYRE_INVALID);
}

static void tables_are_complete(void)
{
    for (size_t i = 0; gyre_verbs[i]; i++) {
        const gyre_verb *v = gyre_verbs[i];

        REQUIRE(v->name && v->operands && v->summary && v->description && v->options && v->run);
        CHECK((v->most_operands > 0) == (v->operands[0] != '\0'));
        for (size_t j = 0; v->options[j].name; j++)
            CHECK(v->options[j].help && strncmp(v->options[j].name, "--", 2) == 0);
    }
}

/* Everything printed from the tables names every verb and option. */
static void manual_page_and_completion_leave_nothing_out(void)
{
    char *page = NULL, *completion = NULL;
    size_t size;
    FILE *stream = open_memstream(&page, &size);

    manual_page(stream);
    fclose(stream);
    stream = open_memstream(&completion, &size);
    manual_completion(stream);
    fclose(stream);
    for (size_t i = 0; gyre_verbs[i]; i++) {
        CHECK(strstr(page, gyre_verbs[i]->name) && strstr(completion, gyre_verbs[i]->name));
        for (size_t j = 0; gyre_verbs[i]->options[j].name; j++) {
            char in_page[96] = "";

            for (const char *c = gyre_verbs[i]->options[j].name; *c;
                 c++) /* hyphens as roff has them */
                snprintf(in_page + strlen(in_page), sizeof in_page - strlen(in_page),
                         *c == '-' ? "\\%c" : "%c", *c);
            CHECK(strstr(page, in_page));
            CHECK(strstr(completion, gyre_verbs[i]->options[j].name));
        }
    }
    free(page);
    free(completion);
}

static const test_case cases[] = {
    TEST(verb_and_its_options_are_found),
    TEST(common_options_go_with_every_verb),
    TEST(misspelt_verb_gets_a_suggestion),
    TEST(misspelt_option_names_its_verb),
    TEST(nothing_to_do_is_wrong_usage),
    TEST(tables_are_complete),
    TEST(manual_page_and_completion_leave_nothing_out),
};
TEST_MAIN(cases)
