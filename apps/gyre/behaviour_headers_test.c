/* SPDX-License-Identifier: Apache-2.0 */
#include "behaviour_headers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gyre/status.h"
#include "test.h"

static behaviour_headers headers;
static char folder[64];

/* Whether those are the names that a text includes for devices, each with a blank behind it. */
static bool includes(const char *text, const char *expected)
{
    behaviour_conditions conditions = {0};
    char names[256] = "";
    const char *name;
    size_t length;

    while (behaviour_next_header(&text, &conditions, &name, &length)) {
        strncat(names, name, length);
        strcat(names, " ");
    }
    if (strcmp(names, expected) != 0)
        printf("      '%s', not '%s'\n", names, expected);
    return strcmp(names, expected) == 0;
}

static void headers_in_quotes_are_found(void)
{
    CHECK(includes("#include \"a.h\"\n  #  include\t\"b/c.h\" /* x */\n#include <d.h>\n"
                   "#include E\n#include \"f.h\n#include \"\"\n#include_next \"g.h\"",
                   "a.h b/c.h "));
    CHECK(includes("int x; #include \"a.h\"\n#include \"b.h\"", "b.h "));
    CHECK(includes("", "") && includes("#", "") && includes("#include", ""));
}

static void comments_and_strings_include_nothing(void)
{
    CHECK(includes("/*\n#include \"a.h\"\n*/\n// #include \"b.h\"\n#include \"c.h\"", "c.h "));
    CHECK(includes("char *t = \"\\\n#include 'x'\";\n/* c */ #include \"d.h\"\n", "d.h "));
}

static void what_is_for_the_host_is_left_alone(void)
{
    CHECK(includes("#ifdef GYRE_HOST\n#include \"a.h\"\n#endif\n#include \"b.h\"\n", "b.h "));
    CHECK(includes("#if defined(GYRE_HOST)\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif",
                   "b.h "));
    CHECK(includes("#ifndef GYRE_HOST\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif", "a.h "));
    CHECK(includes("#if !defined GYRE_HOST /* x */\n#include \"a.h\"\n#elif 1\n#include \"b.h\"\n"
                   "#endif\n#include \"c.h\"",
                   "a.h c.h "));
    CHECK(includes("#ifdef GYRE_HOST\n#if X\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\n"
                   "#include \"c.h\"\n#endif\n#include \"d.h\"\n",
                   "d.h "));
    CHECK(includes("#if defined(GYRE_HOST) && X\n#include \"a.h\"\n#endif\n"
                   "#if defined(GYRE_HOST) || X\n#include \"b.h\"\n#endif\n"
                   "#if 0\n#include \"c.h\"\n#endif\n#ifdef GYRE_HOSTS\n#include \"d.h\"\n#endif\n",
                   "b.h d.h "));
    CHECK(includes("#endif\n#else\n#include \"a.h\"", "a.h "));
}

static void conditions_as_deep_as_one_likes_are_passed(void)
{
    char text[64 * 100] = "#ifdef GYRE_HOST\n#include \"a.h\"\n#endif\n";

    for (int i = 0; i < 100; i++)
        strcat(text, "#if X\n");
    strcat(text, "#include \"b.h\"\n");
    for (int i = 0; i < 100; i++)
        strcat(text, "#else\n#endif\n");
    strcat(text, "#ifdef GYRE_HOST\n#include \"c.h\"\n#endif\n#include \"d.h\"\n");
    CHECK(includes(text, "b.h d.h "));
}

static const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *stream = fopen(path_of(name), "w");

    REQUIRE(stream);
    REQUIRE(fputs(text, stream) >= 0 && fclose(stream) == 0);
}

static gyre_status read_headers(const char *text)
{
    behaviour_file file;
    gyre_status status;

    write_text("my.c", text);
    status = behaviour_text_read(&file, path_of("my.c"));
    if (status == GYRE_OK)
        status = behaviour_headers_read(&headers, &file);
    behaviour_file_fini(&file);
    return status;
}

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/gyre-headers-XXXXXX");
    REQUIRE(mkdtemp(folder));
    REQUIRE(mkdir(path_of("sub"), 0700) == 0);
}

static void end(void)
{
    static const char *const names[] = {"my.c", "a.h", "b.h", "sub/a.h", "sub/b.h"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(path_of(names[i]));
    REQUIRE(rmdir(path_of("sub")) == 0 && rmdir(folder) == 0);
}

static void headers_of_headers_are_beside_them(void)
{
    begin();
    write_text("a.h", "#include \"sub/b.h\"\n");
    write_text("sub/b.h", "#include \"../a.h\"\nint b;\n");
    REQUIRE(read_headers("#include \"gyre/behaviour.h\"\n#include \"a.h\"\n#include \"a.h\"\n") ==
            GYRE_OK);
    CHECK(headers.count == 3 && !headers.missing_from);
    CHECK(strcmp(headers.list[0].name, "a.h") == 0 && strcmp(headers.list[1].name, "sub/b.h") == 0);
    CHECK(strcmp(headers.list[1].text, "#include \"../a.h\"\nint b;\n") == 0);
    CHECK(strcmp(headers.list[2].name, "../a.h") == 0 && !headers.list[3].name);
    behaviour_headers_fini(&headers);
    CHECK(!headers.list[0].name);
    end();
}

static void a_header_that_is_not_there_is_told(void)
{
    begin();
    write_text("a.h", "#include \"missing.h\"\n");
    REQUIRE(read_headers("#include \"a.h\"\n#include \"other.h\"\n") == GYRE_OK);
    CHECK(headers.count == 1 && strcmp(headers.missing, "other.h") == 0);
    behaviour_headers_fini(&headers);
    REQUIRE(read_headers("#include \"a.h\"\n") == GYRE_OK);
    REQUIRE(headers.missing_from);
    CHECK(strcmp(headers.missing, "missing.h") == 0);
    CHECK(strcmp(headers.missing_from, path_of("a.h")) == 0);
    behaviour_headers_fini(&headers);
    end();
}

static void two_headers_of_one_name_are_refused(void)
{
    begin();
    write_text("a.h", "#include \"sub/b.h\"\n");
    write_text("sub/b.h", "#include \"a.h\"\n");
    write_text("sub/a.h", "int other;\n");
    CHECK(read_headers("#include \"a.h\"\n") == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "two headers are included as \"a.h\""));
    CHECK(headers.count == 0);
    end();
}

static const test_case cases[] = {
    TEST(headers_in_quotes_are_found),         TEST(comments_and_strings_include_nothing),
    TEST(what_is_for_the_host_is_left_alone),  TEST(conditions_as_deep_as_one_likes_are_passed),
    TEST(headers_of_headers_are_beside_them),  TEST(a_header_that_is_not_there_is_told),
    TEST(two_headers_of_one_name_are_refused),
};
TEST_MAIN(cases)
