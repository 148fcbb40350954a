/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "test.h"

/* Published values of XXH64. */
static void matches_published_values(void)
{
    CHECK(gyre_hash64("", 0, 0) == 0xEF46DB3751D8E999u);
    CHECK(gyre_hash64("a", 1, 0) == 0xD24EC4F1A98C6E5Bu);
    CHECK(gyre_hash64("abc", 3, 0) == 0x44BC2CF5AD770999u);
}

static void every_byte_of_every_length_counts(void)
{
    unsigned char data[100];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 37);
    for (size_t length = 1; length <= sizeof data; length++) {
        const uint64_t whole = gyre_hash64(data, length, 0);

        CHECK(whole != gyre_hash64(data, length - 1, 0));
        for (size_t i = 0; i < length; i++) {
            data[i] ^= 1;
            CHECK(gyre_hash64(data, length, 0) != whole);
            data[i] ^= 1;
        }
    }
}

static void seed_counts(void)
{
    CHECK(gyre_hash64("abc", 3, 0) != gyre_hash64("abc", 3, 1));
}

static void alignment_does_not_matter(void)
{
    unsigned char data[40], moved[48];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    for (size_t shift = 0; shift < 8; shift++) {
        memcpy(moved + shift, data, sizeof data);
        CHECK(gyre_hash64(moved + shift, 40, 7) == gyre_hash64(data, 40, 7));
    }
}

static const test_case cases[] = {
    TEST(matches_published_values),
    TEST(every_byte_of_every_length_counts),
    TEST(seed_counts),
    TEST(alignment_does_not_matter),
};
TEST_MAIN(cases)
