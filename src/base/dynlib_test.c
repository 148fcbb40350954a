/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dynlib.h"

#include "test.h"

static const char *const libm[] = {"libno-such-library.so.9", "libm.so.6", NULL};

static void all_symbols_resolve_in_order(void)
{
    const char *const symbols[] = {"cos", "sin", NULL};
    double (*cosine)(double);
    gyre_dynlib *library;
    void *table[2];

    REQUIRE(gyre_dynlib_open(libm, symbols, table, &library) == GYRE_OK);
    memcpy(&cosine, &table[0], sizeof cosine);
    CHECK(cosine(0) == 1);
    CHECK(table[1] && table[1] != table[0]);
    CHECK(strcmp(gyre_dynlib_file(library), "libm.so.6") == 0);
    CHECK(gyre_dynlib_symbol(library, "sin") == table[1]);
    CHECK(gyre_dynlib_symbol(library, "gyre_no_such_symbol") == NULL);
    gyre_dynlib_close(library);
}

static void one_missing_symbol_leaves_nothing(void)
{
    const char *const symbols[] = {"cos", "gyre_no_such_symbol", NULL};
    gyre_dynlib *library = NULL;
    void *table[2] = {&library, &library};

    CHECK(gyre_dynlib_open(libm, symbols, table, &library) == GYRE_UNAVAILABLE);
    CHECK(library == NULL);
    CHECK(table[0] == NULL && table[1] == NULL);
    CHECK(strstr(gyre_error_last()->text, "gyre_no_such_symbol") != NULL);
}

static void missing_library_is_a_status(void)
{
    const char *const files[] = {"libno-such-library.so.9", NULL};
    const char *const symbols[] = {"cos", NULL};
    gyre_dynlib *library = NULL;
    void *table[1];

    CHECK(gyre_dynlib_open(files, symbols, table, &library) == GYRE_UNAVAILABLE);
    CHECK(library == NULL && table[0] == NULL);
    CHECK(strstr(gyre_error_last()->text, "libno-such-library") != NULL);
}

static void file_that_is_no_library_is_a_status(void)
{
    const char *const files[] = {"/dev/null", NULL};
    const char *const symbols[] = {NULL};
    gyre_dynlib *library = NULL;
    void *table[1];

    CHECK(gyre_dynlib_open(files, symbols, table, &library) == GYRE_UNAVAILABLE);
}

static void closing_nothing_is_fine(void)
{
    gyre_dynlib_close(NULL);
}

static const test_case cases[] = {
    TEST(all_symbols_resolve_in_order), TEST(one_missing_symbol_leaves_nothing),
    TEST(missing_library_is_a_status),  TEST(file_that_is_no_library_is_a_status),
    TEST(closing_nothing_is_fine),
};
TEST_MAIN(cases)
