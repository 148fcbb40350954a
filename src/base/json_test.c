/* SPDX-License-Identifier: Apache-2.0
 *
 * What the writer writes is read back with jansson, which refuses duplicate keys, bad UTF-8 and
 * trailing text.
 */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "test.h"

static char *text;
static size_t size;

static gyre_json open_writer(void)
{
    return (gyre_json){.stream = open_memstream(&text, &size)};
}

/* The text as jansson sees it; NULL when it is not JSON. Decref'd by the caller. */
static json_t *read_back(gyre_json *json)
{
    json_error_t error;
    json_t *root;

    fclose(json->stream);
    root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root)
        fprintf(stderr, "%s at %d:%d of:\n%s\n", error.text, error.line, error.column, text);
    free(text);
    return root;
}

static void nesting_and_commas_are_right(void)
{
    gyre_json json = open_writer();
    json_t *root;

    gyre_json_begin_object(&json, NULL);
    gyre_json_begin_array(&json, "list");
    gyre_json_signed(&json, NULL, -1);
    gyre_json_begin_object(&json, NULL);
    gyre_json_bool(&json, "yes", true);
    gyre_json_end(&json);
    gyre_json_end(&json);
    gyre_json_begin_object(&json, "empty");
    gyre_json_end(&json);
    gyre_json_string(&json, "nothing", NULL);
    gyre_json_end(&json);
    root = read_back(&json);
    REQUIRE(root != NULL);
    CHECK(json_array_size(json_object_get(root, "list")) == 2);
    CHECK(json_is_true(json_object_get(json_array_get(json_object_get(root, "list"), 1), "yes")));
    CHECK(json_object_size(json_object_get(root, "empty")) == 0);
    CHECK(json_is_null(json_object_get(root, "nothing")));
    json_decref(root);
}

static void numbers_of_an_array_share_a_line(void)
{
    gyre_json json = open_writer();

    gyre_json_begin_object(&json, NULL);
    gyre_json_begin_array(&json, "times");
    gyre_json_double(&json, NULL, 1.5);
    gyre_json_double(&json, NULL, 2);
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "none");
    gyre_json_end(&json);
    gyre_json_end(&json);
    fclose(json.stream);
    CHECK(strcmp(text, "{\n  \"times\": [1.5, 2],\n  \"none\": []\n}\n") == 0);
    free(text);
}

static void any_bytes_become_valid_text(void)
{
    for (int first = 1; first < 256; first++) {
        for (int second = 0; second < 256; second += 3) {
            const char bytes[] = {'"', (char)first, (char)second, '\\', '\n', '\0'};
            gyre_json json = open_writer();
            json_t *root;

            gyre_json_begin_array(&json, NULL);
            gyre_json_string(&json, NULL, bytes);
            gyre_json_end(&json);
            root = read_back(&json);
            REQUIRE(root != NULL);
            json_decref(root);
        }
    }
}

static void good_utf8_survives_and_bad_is_replaced(void)
{
    gyre_json json = open_writer();
    json_t *root;

    gyre_json_begin_array(&json, NULL);
    gyre_json_string(&json, NULL, "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    gyre_json_string(&json, NULL, "\xC0\xAF \xED\xA0\x80 \xF5\x80\x80\x80 \xE2\x82");
    gyre_json_end(&json);
    root = read_back(&json);
    REQUIRE(root != NULL);
    CHECK(strcmp(json_string_value(json_array_get(root, 0)),
                 "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") == 0);
    CHECK(strstr(json_string_value(json_array_get(root, 1)), "\xEF\xBF\xBD") != NULL);
    json_decref(root);
}

static void numbers_round_trip(void)
{
    static const double values[] = {0.1,     1e300,  -1e-300, 123456789.123456789,
                                    1.0 / 3, 5e-324, -0.0};
    gyre_json json = open_writer();
    json_t *root;

    gyre_json_begin_array(&json, NULL);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        gyre_json_double(&json, NULL, values[i]);
    gyre_json_signed(&json, NULL, INT64_MIN);
    gyre_json_unsigned(&json, NULL, INT64_MAX);
    gyre_json_end(&json);
    root = read_back(&json);
    REQUIRE(root != NULL);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        CHECK(json_number_value(json_array_get(root, i)) == values[i]);
    CHECK(signbit(json_number_value(json_array_get(root, 6))));
    CHECK(json_integer_value(json_array_get(root, 7)) == INT64_MIN);
    CHECK(json_integer_value(json_array_get(root, 8)) == INT64_MAX);
    json_decref(root);
}

static void what_json_cannot_say_is_null(void)
{
    gyre_json json = open_writer();
    json_t *root;

    gyre_json_begin_array(&json, NULL);
    gyre_json_double(&json, NULL, (double)NAN);
    gyre_json_double(&json, NULL, (double)-INFINITY);
    gyre_json_end(&json);
    root = read_back(&json);
    REQUIRE(root != NULL);
    CHECK(json_is_null(json_array_get(root, 0)) && json_is_null(json_array_get(root, 1)));
    json_decref(root);
}

static void full_disk_stays_in_the_stream(void)
{
    gyre_json json = {.stream = fopen("/dev/full", "w")};

    if (!json.stream)
        SKIP("there is no /dev/full here");
    gyre_json_begin_object(&json, NULL);
    gyre_json_end(&json);
    CHECK(fflush(json.stream) != 0);
    CHECK(ferror(json.stream));
    fclose(json.stream);
}

static const test_case cases[] = {
    TEST(nesting_and_commas_are_right),
    TEST(numbers_of_an_array_share_a_line),
    TEST(any_bytes_become_valid_text),
    TEST(good_utf8_survives_and_bad_is_replaced),
    TEST(numbers_round_trip),
    TEST(what_json_cannot_say_is_null),
    TEST(full_disk_stays_in_the_stream),
};
TEST_MAIN(cases)
