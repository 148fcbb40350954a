/* SPDX-License-Identifier: Apache-2.0 */
#include "behaviour_file.h"

#include <stdbool.h>

#include "gyre/status.h"
#include "test.h"

static char name[BEHAVIOUR_NAME_BYTES];

static bool refused(const char *text, const char *words)
{
    return behaviour_scan("my.c", text, name) == GYRE_INVALID && name[0] == '\0' &&
           strstr(gyre_error_last()->text, words) != NULL;
}

static void the_name_is_found(void)
{
    CHECK(behaviour_scan("my.c", "GYRE_BEHAVIOUR(counter, tally, GYRE_WIDTH_BLOCK)\n{\n}\n",
                         name) == GYRE_OK);
    CHECK(strcmp(name, "counter") == 0);
    CHECK(behaviour_scan("my.c", "x GYRE_BEHAVIOUR \n (\t_n2 ,s, 4) {}", name) == GYRE_OK);
    CHECK(strcmp(name, "_n2") == 0);
}

static void comments_and_strings_are_not_read(void)
{
    CHECK(behaviour_scan("my.c",
                         "/* GYRE_BEHAVIOUR(one, s, 4) */ // GYRE_BEHAVIOUR(two, s, 4)\n"
                         "char *t = \"\\\" GYRE_BEHAVIOUR(three, s, 4)\", c = '\"';\n"
                         "int MY_GYRE_BEHAVIOUR(four), GYRE_BEHAVIOUR_FILE(five);\n"
                         "GYRE_BEHAVIOUR(six, s, 4) {}",
                         name) == GYRE_OK);
    CHECK(strcmp(name, "six") == 0);
}

static void none_or_two_are_refused_with_lines(void)
{
    CHECK(refused("", "there is no GYRE_BEHAVIOUR(name, state, width) in 'my.c'"));
    CHECK(refused("int main(void) { return 0; }", "there is no"));
    CHECK(refused("GYRE_BEHAVIOUR", "there is no"));
    CHECK(refused("GYRE_BEHAVIOUR(", "there is no"));
    CHECK(refused("/* GYRE_BEHAVIOUR(open, s, 4)", "there is no"));
    CHECK(refused("\nGYRE_BEHAVIOUR(a, s, 4) {}\n\nGYRE_BEHAVIOUR(b, s, 4) {}",
                  "'my.c' has two behaviours, 'a' in line 2 and 'b' in line 4"));
}

static void a_name_that_is_too_long_is_refused(void)
{
    char text[200] = "GYRE_BEHAVIOUR(";

    memset(text + strlen(text), 'n', 100);
    CHECK(refused(text, "a behaviour's name of 100 bytes; 95 are the most"));
}

static void files_that_are_none_are_refused(void)
{
    behaviour_file file;

    CHECK(behaviour_file_read(&file, "/nowhere/my.c") == GYRE_IO);
    CHECK(strstr(gyre_error_last()->text, "cannot open '/nowhere/my.c': No such file"));
    CHECK(behaviour_file_read(&file, "/") == GYRE_IO);
    CHECK(behaviour_file_read(&file, "/dev/zero") == GYRE_INVALID);
    CHECK(!file.text);
}

static void a_member_that_is_used_is_seen(void)
{
    CHECK(behaviour_names("x = self->shared;", "self", "shared"));
    CHECK(behaviour_names("f(self ->\n shared)", "self", "shared"));
    CHECK(!behaviour_names("/* self->shared */ \"self->shared\"", "self", "shared"));
    CHECK(!behaviour_names("myself->shared + self->shared_bytes + self.shared", "self", "shared"));
    CHECK(!behaviour_names("self->", "self", "shared"));
}

static const test_case cases[] = {
    TEST(a_member_that_is_used_is_seen),      TEST(the_name_is_found),
    TEST(comments_and_strings_are_not_read),  TEST(none_or_two_are_refused_with_lines),
    TEST(a_name_that_is_too_long_is_refused), TEST(files_that_are_none_are_refused),
};
TEST_MAIN(cases)
