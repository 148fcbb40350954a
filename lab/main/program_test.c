/* SPDX-License-Identifier: Apache-2.0 */
#include "main/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings.h"
#include "gyre/status.h"
#include "test.h"

static char folder[] = "/tmp/gyre-program-XXXXXX";

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
    REQUIRE(chmod(path, mode) == 0);
}

/* Words, one behind the other with a bar after each. */
static const char *words_of(const char *command)
{
    static char text[512];
    gyre_program program;

    text[0] = '\0';
    if (gyre_program_split(&program, command) != GYRE_OK)
        return gyre_error_last()->status == GYRE_INVALID ? "invalid" : "?";
    for (size_t i = 0; i < program.count; i++) {
        strncat(text, program.words[i], sizeof text - strlen(text) - 2);
        strcat(text, "|");
    }
    CHECK(program.words[program.count] == NULL);
    gyre_program_fini(&program);
    return text;
}

static void words_are_split_at_blanks(void)
{
    CHECK(strcmp(words_of("a"), "a|") == 0);
    CHECK(strcmp(words_of("  a\tb\n c  "), "a|b|c|") == 0);
    CHECK(strcmp(words_of("a 'b c' \"d e\" f\\ g"), "a|b c|d e|f g|") == 0);
    CHECK(strcmp(words_of("a '' b"), "a||b|") == 0);
    CHECK(strcmp(words_of("a x'y'\"z\"w"), "a|xyzw|") == 0);
    CHECK(strcmp(words_of("a '\\' \"\\\"\""), "a|\\|\"|") == 0);
    CHECK(strcmp(words_of("sh -c 'exit $x; *'"), "sh|-c|exit $x; *|") == 0);
}

static void what_is_no_command_is_refused(void)
{
    char many[4 * GYRE_PROGRAM_WORDS];

    CHECK(strcmp(words_of(""), "invalid") == 0);
    CHECK(strcmp(words_of(" \t"), "invalid") == 0);
    CHECK(strcmp(words_of("'' a"), "invalid") == 0);
    CHECK(strcmp(words_of("a 'b"), "invalid") == 0);
    CHECK(strcmp(words_of("a \"b'"), "invalid") == 0);
    CHECK(strcmp(words_of("a \\"), "invalid") == 0);
    for (size_t i = 0; i < 2 * GYRE_PROGRAM_WORDS + 2; i++)
        many[i] = i % 2 ? ' ' : 'x';
    many[2 * GYRE_PROGRAM_WORDS + 2] = '\0';
    CHECK(strcmp(words_of(many), "invalid") == 0);
    many[2 * GYRE_PROGRAM_WORDS] = '\0';
    CHECK(strcmp(words_of(many), "invalid") != 0);
}

static void file_with_blanks_is_one_word(void)
{
    gyre_program program;
    char path[128];

    write_file("my 'program", "#!/bin/sh\n", 0755);
    snprintf(path, sizeof path, "%s/my 'program", folder);
    REQUIRE(gyre_program_init(&program, path) == GYRE_OK);
    CHECK(program.count == 1 && strcmp(program.words[0], path) == 0);
    CHECK(strcmp(program.path, path) == 0 && program.bytes == 10 && program.hash != 0);
    gyre_program_fini(&program);
}

static void programs_are_found_in_path(void)
{
    char before[4096], path[256];
    gyre_program program;

    snprintf(before, sizeof before, "%s", gyre_settings_system("PATH"));
    write_file("prog", "one", 0755);
    write_file("plain", "one", 0644);
    snprintf(path, sizeof path, "/nowhere:%s:/bin", folder);
    setenv("PATH", path, 1);
    REQUIRE(gyre_program_init(&program, "prog --x") == GYRE_OK);
    snprintf(path, sizeof path, "%s/prog", folder);
    CHECK(strcmp(program.path, path) == 0 && strcmp(program.words[0], "prog") == 0);
    gyre_program_fini(&program);
    CHECK(gyre_program_init(&program, "plain") == GYRE_NOT_FOUND);
    CHECK(gyre_program_init(&program, "no-such-program-here") == GYRE_NOT_FOUND);
    CHECK(gyre_program_init(&program, "/") == GYRE_NOT_FOUND);
    setenv("PATH", before, 1);
}

static void another_program_has_another_hash(void)
{
    gyre_program first, second;
    char path[128];

    snprintf(path, sizeof path, "%s/prog", folder);
    write_file("prog", "one", 0755);
    REQUIRE(gyre_program_init(&first, path) == GYRE_OK);
    write_file("prog", "two", 0755);
    REQUIRE(gyre_program_init(&second, path) == GYRE_OK);
    CHECK(first.bytes == second.bytes && first.hash != second.hash);
    gyre_program_fini(&first);
    gyre_program_fini(&second);
}

static void folder_is_made(void)
{
    REQUIRE(mkdtemp(folder) != NULL);
}

static void folder_is_removed(void)
{
    static const char *const names[] = {"my 'program", "prog", "plain"};
    char path[128];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(folder) == 0);
}

static const test_case cases[] = {
    TEST(folder_is_made),
    TEST(words_are_split_at_blanks),
    TEST(what_is_no_command_is_refused),
    TEST(file_with_blanks_is_one_word),
    TEST(programs_are_found_in_path),
    TEST(another_program_has_another_hash),
    TEST(folder_is_removed),
};
TEST_MAIN(cases)
