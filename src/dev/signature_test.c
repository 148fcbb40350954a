/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures: the offsets are the compiler's, and what is no signature is told apart.
 */
#include "dev/signature.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static gyre_signature s;

static bool offset_is(size_t argument, size_t offset, size_t size)
{
    return s.arguments[argument].offset == offset && s.arguments[argument].size == size;
}

static void offsets_are_those_of_the_c_struct(void)
{
    struct all { /* NOLINT(clang-analyzer-optin.performance.Padding): what it is for */
        int8_t a;
        void *b;
        uint8_t c;
        int16_t d;
        uint16_t e;
        int32_t f;
        uint8_t g;
        float h;
        int64_t i;
        uint8_t j;
        double k;
        uint32_t l;
        uint64_t m;
        struct {
            double at[3];
        } n;
        uint32_t o;
    };

    REQUIRE(gyre_signature_parse("i8 pointer u8 i16 u16 i32 u8 f32 i64 u8 f64 u32 u64 bytes24 u32",
                                 &s) == GYRE_OK);
    CHECK(s.count == 15);
    CHECK(offset_is(0, offsetof(struct all, a), 1));
    CHECK(offset_is(1, offsetof(struct all, b), sizeof(void *)));
    CHECK(offset_is(2, offsetof(struct all, c), 1));
    CHECK(offset_is(3, offsetof(struct all, d), 2));
    CHECK(offset_is(4, offsetof(struct all, e), 2));
    CHECK(offset_is(5, offsetof(struct all, f), 4));
    CHECK(offset_is(6, offsetof(struct all, g), 1));
    CHECK(offset_is(7, offsetof(struct all, h), 4));
    CHECK(offset_is(8, offsetof(struct all, i), 8));
    CHECK(offset_is(9, offsetof(struct all, j), 1));
    CHECK(offset_is(10, offsetof(struct all, k), 8));
    CHECK(offset_is(11, offsetof(struct all, l), 4));
    CHECK(offset_is(12, offsetof(struct all, m), 8));
    CHECK(offset_is(13, offsetof(struct all, n), 24));
    CHECK(offset_is(14, offsetof(struct all, o), 4));
    CHECK(s.bytes == offsetof(struct all, o) + 4);
    CHECK(s.padded_bytes == sizeof(struct all));
    for (size_t i = 0; i < s.count; i++)
        CHECK(s.arguments[i].pointer == (i == 1));
}

static void padding_is_that_of_the_widest_argument(void)
{
    struct narrow {
        uint16_t a;
        uint8_t b;
    };

    REQUIRE(gyre_signature_parse("u16 u8", &s) == GYRE_OK);
    CHECK(s.bytes == 3 && s.padded_bytes == sizeof(struct narrow));
    REQUIRE(gyre_signature_parse("u8", &s) == GYRE_OK);
    CHECK(s.bytes == 1 && s.padded_bytes == 1);
    REQUIRE(gyre_signature_parse("bytes8 u8", &s) == GYRE_OK);
    CHECK(s.bytes == 9 && s.padded_bytes == 16);
}

static void empty_signature_has_no_bytes(void)
{
    static const char *const empty[] = {"", " ", "\t  \t"};

    for (size_t i = 0; i < COUNT(empty); i++) {
        REQUIRE(gyre_signature_parse(empty[i], &s) == GYRE_OK);
        CHECK(s.count == 0 && s.bytes == 0 && s.padded_bytes == 0);
    }
}

static void blanks_do_not_matter(void)
{
    gyre_signature other;

    REQUIRE(gyre_signature_parse("pointer u32", &s) == GYRE_OK);
    REQUIRE(gyre_signature_parse("  pointer \t u32 ", &other) == GYRE_OK);
    CHECK(other.count == 2 && other.bytes == s.bytes && offset_is(1, other.arguments[1].offset, 4));
}

static void shared_is_last_and_takes_no_bytes(void)
{
    REQUIRE(gyre_signature_parse("pointer u8 shared", &s) == GYRE_OK);
    CHECK(s.count == 3 && offset_is(2, 9, 0) && !s.arguments[2].pointer);
    CHECK(s.bytes == 9 && s.padded_bytes == 16);
    REQUIRE(gyre_signature_parse("shared", &s) == GYRE_OK);
    CHECK(s.count == 1 && s.bytes == 0 && s.padded_bytes == 0);
    CHECK(gyre_signature_parse("shared u8", &s) == GYRE_INVALID);
    CHECK(gyre_signature_parse("u8 shared shared", &s) == GYRE_INVALID);
}

static void wrong_word_is_named(void)
{
    static const char *const wrong[] = {
        "int",
        "u33",
        "U32",
        "pointer,u32",
        "f16",
        "bytes",
        "bytes0",
        "bytes-8",
        "bytes7",
        "bytes12",
        "bytes08",
        "bytes4104",
        "bytes99999999999",
        "bytes8x",
        "sharedx",

        "\xff\xfe",
        "point",
        "bytes 8",
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        char text[64], word[32];

        snprintf(text, sizeof text, "u32 %s", wrong[i]);
        snprintf(word, sizeof word, "'%.*s'", (int)strcspn(wrong[i], " "), wrong[i]);
        CHECK(gyre_signature_parse(text, &s) == GYRE_INVALID);
        CHECK(strstr(gyre_error_last()->text, word) != NULL);
    }
    CHECK(gyre_signature_parse("u32\npointer", &s) == GYRE_INVALID);
    CHECK(gyre_signature_parse(NULL, &s) == GYRE_INVALID);
}

static void arguments_and_bytes_have_a_limit(void)
{
    char text[8 * (GYRE_ARGUMENTS_MOST + 1) + 1] = "";

    for (size_t i = 0; i < GYRE_ARGUMENTS_MOST; i++)
        memcpy(text + 3 * i, "u8 ", 4);
    REQUIRE(gyre_signature_parse(text, &s) == GYRE_OK);
    CHECK(s.count == GYRE_ARGUMENTS_MOST && s.bytes == GYRE_ARGUMENTS_MOST);
    memcpy(text + strlen(text), "u8", 3);
    CHECK(gyre_signature_parse(text, &s) == GYRE_INVALID);
    REQUIRE(gyre_signature_parse("bytes4096", &s) == GYRE_OK);
    CHECK(s.bytes == 4096 && s.padded_bytes == 4096);
    REQUIRE(gyre_signature_parse("bytes4088 u32 u16 u8 u8 shared", &s) == GYRE_OK);
    CHECK(gyre_signature_parse("bytes4096 u8", &s) == GYRE_INVALID);
    CHECK(gyre_signature_parse("u8 bytes4096", &s) == GYRE_INVALID);
}

static const test_case cases[] = {
    TEST(offsets_are_those_of_the_c_struct), TEST(padding_is_that_of_the_widest_argument),
    TEST(empty_signature_has_no_bytes),      TEST(blanks_do_not_matter),
    TEST(shared_is_last_and_takes_no_bytes), TEST(wrong_word_is_named),
    TEST(arguments_and_bytes_have_a_limit),
};
TEST_MAIN(cases)
