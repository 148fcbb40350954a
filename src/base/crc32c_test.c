/* SPDX-License-Identifier: Apache-2.0
 *
 * The checksum, against published values and against its definition, bit by bit.
 */
#include "base/crc32c.h"
#include "chance.h"
#include "test.h"

typedef uint32_t (*function)(const void *data, size_t size, uint32_t seed);

static const function functions[] = {gyre_crc32c, gyre_crc32c_plain};
enum { FUNCTIONS = sizeof functions / sizeof functions[0], ROOM = 4096 };

static unsigned char bytes[ROOM];

static uint32_t by_bits(const unsigned char *data, size_t size, uint32_t seed)
{
    uint32_t crc = ~seed;

    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) ? 0x82f63b78 : 0);
    }
    return ~crc;
}

/* RFC 3720, B.4, and the usual check value. */
static void published_values_come_out(void)
{
    static const unsigned char scsi_read[48] = {
        0x01, 0xc0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0,
        0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0};

    for (int f = 0; f < FUNCTIONS; f++) {
        const function crc32c = functions[f];

        CHECK(crc32c("", 0, 0) == 0);
        CHECK(crc32c("123456789", 9, 0) == 0xe3069283);
        memset(bytes, 0, 32);
        CHECK(crc32c(bytes, 32, 0) == 0x8a9136aa);
        memset(bytes, 0xff, 32);
        CHECK(crc32c(bytes, 32, 0) == 0x62a8ab43);
        for (unsigned char i = 0; i < 32; i++)
            bytes[i] = i;
        CHECK(crc32c(bytes, 32, 0) == 0x46dd794e);
        for (unsigned char i = 0; i < 32; i++)
            bytes[i] = (unsigned char)(31 - i);
        CHECK(crc32c(bytes, 32, 0) == 0x113fdb5c);
        CHECK(crc32c(scsi_read, sizeof scsi_read, 0) == 0xd9963a56);
    }
}

static void all_ways_agree_with_the_definition(void)
{
    uint64_t chance = chance_seed();

    printf("seed %llu\n", (unsigned long long)chance);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)chance_next(&chance);
    for (int round = 0; round < 2000; round++) {
        const size_t at = chance_below(&chance, 16);
        const size_t size = chance_below(&chance, round % 2 ? 64 : ROOM - 15);
        const uint32_t seed = (uint32_t)chance_next(&chance),
                       expected = by_bits(bytes + at, size, seed);

        for (int f = 0; f < FUNCTIONS; f++)
            REQUIRE(functions[f](bytes + at, size, seed) == expected);
    }
}

static void pieces_chain(void)
{
    for (size_t cut = 0; cut <= 2000; cut += 7)
        for (int f = 0; f < FUNCTIONS; f++) {
            const uint32_t first = functions[f](bytes, cut, 0);

            CHECK(functions[f](bytes + cut, 2000 - cut, first) == functions[f](bytes, 2000, 0));
        }
}

static const test_case cases[] = {
    TEST(published_values_come_out),
    TEST(all_ways_agree_with_the_definition),
    TEST(pieces_chain),
};
TEST_MAIN(cases)
