/* SPDX-License-Identifier: Apache-2.0 */
#include "base/args.h"

#include <stdlib.h>

#include "test.h"
#include "words.h"

enum { VERBOSE, NAME, WHEN };

static const gyre_option options[] = {
    [VERBOSE] = {"--verbose", 'v', NULL, "say more"},
    [NAME] = {"--name", 'n', "NAME", "a name"},
    [WHEN] = {"--when", 0, "now|later", "a time"},
    {NULL, 0, NULL, NULL},
};

static gyre_args args;

static gyre_status parse(const char *line)
{
    char *words[TEST_WORDS];
    const int count = test_words(line, words);

    return gyre_args_parse(options, 2, count, words, &args);
}

static void nothing_given_is_fine(void)
{
    REQUIRE(parse("") == GYRE_OK);
    CHECK(!gyre_args_given(&args, VERBOSE) && !args.value[NAME] && args.operand_count == 0);
}

static void options_and_operands_mix(void)
{
    REQUIRE(parse("one --name=x -v two") == GYRE_OK);
    CHECK(gyre_args_given(&args, VERBOSE));
    CHECK(strcmp(args.value[NAME], "x") == 0);
    CHECK(args.operand_count == 2 && strcmp(args.operands[1], "two") == 0);
}

static void every_way_to_give_a_value_works(void)
{
    static const char *const lines[] = {"--name x", "--name=x", "-n x", "-nx", "--name y -nx"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        REQUIRE(parse(lines[i]) == GYRE_OK);
        CHECK(strcmp(args.value[NAME], "x") == 0);
    }
    REQUIRE(parse("--name=") == GYRE_OK);
    CHECK(strcmp(args.value[NAME], "") == 0);
}

static void two_dashes_end_the_options(void)
{
    REQUIRE(parse("-- --verbose -") == GYRE_OK);
    CHECK(!gyre_args_given(&args, VERBOSE));
    CHECK(args.operand_count == 2 && strcmp(args.operands[0], "--verbose") == 0);
}

static void misspelt_option_gets_a_suggestion(void)
{
    CHECK(parse("--verbos") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "did you mean '--verbose'?") != NULL);
    CHECK(parse("--zzzzzz") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "did you mean") == NULL);
    CHECK(parse("-x") == GYRE_INVALID);
}

static void missing_and_unwanted_values_are_told(void)
{
    CHECK(parse("--name") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "needs a value") != NULL);
    CHECK(parse("--verbose=1") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "takes no value") != NULL);
}

static void choice_must_be_one_of_the_words(void)
{
    CHECK(parse("--when later") == GYRE_OK);
    CHECK(parse("--when tomorrow") == GYRE_INVALID);
    CHECK(parse("--when now|later") == GYRE_INVALID);
    CHECK(parse("--when=") == GYRE_INVALID);
}

static void one_operand_too_many_is_told(void)
{
    CHECK(parse("a b c") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "'c' is one word too many") != NULL);
}

static void help_has_a_line_for_every_option(void)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    REQUIRE(stream != NULL);
    gyre_args_help(stream, options);
    fclose(stream);
    CHECK(strstr(text, "-v, --verbose") && strstr(text, "--when now|later") &&
          strstr(text, "a name\n"));
    free(text);
}

static const test_case cases[] = {
    TEST(nothing_given_is_fine),
    TEST(options_and_operands_mix),
    TEST(every_way_to_give_a_value_works),
    TEST(two_dashes_end_the_options),
    TEST(misspelt_option_gets_a_suggestion),
    TEST(missing_and_unwanted_values_are_told),
    TEST(choice_must_be_one_of_the_words),
    TEST(one_operand_too_many_is_told),
    TEST(help_has_a_line_for_every_option),
};
TEST_MAIN(cases)
