/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c: by the processor's instruction in three lanes, or by tables. See crc32c.h.
 *
 * The instruction has a latency of three and can start every cycle, so three runs of LANE bytes are
 * done at once. Their remainders are put together by moving one past LANE bytes of zeros, which is
 * a multiplication by a constant and, being linear in the remainder, one look into a table for each
 * of its bytes. All tables are made from the polynomial at the first call.
 *
 * Threads   any; the tables are made once, whoever comes first.
 * Owns      the tables.
 */
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>
#if defined(__aarch64__)
#include <arm_acle.h>
#endif

#include "gyre/cpu.h"

enum { LANE = 256 };

static const uint32_t polynomial = 0x82f63b78; /* bits reversed: the lowest is x^31's */

static uint32_t step[8][256];  /* a byte that is followed by 0 to 7 others */
static uint32_t leap[4][256];  /* a byte of a remainder, past LANE zeros */
static uint32_t leaps[4][256]; /* past two times as many */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t past_zeros(uint32_t remainder, size_t count)
{
    while (count-- > 0)
        remainder = remainder >> 8 ^ step[0][remainder & 0xff];
    return remainder;
}

static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t remainder = byte;

        for (int bit = 0; bit < 8; bit++)
            remainder = remainder >> 1 ^ ((remainder & 1) ? polynomial : 0);
        step[0][byte] = remainder;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (size_t i = 1; i < 8; i++)
            step[i][byte] = past_zeros(step[0][byte], i);
        for (uint32_t i = 0; i < 4; i++) {
            leap[i][byte] = past_zeros(byte << 8 * i, LANE);
            leaps[i][byte] = past_zeros(leap[i][byte], LANE);
        }
    }
}

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

uint32_t gyre_crc32c_plain(const void *data, size_t size, uint32_t seed)
{
    const unsigned char *bytes = data;
    uint32_t crc = ~seed;

    pthread_once(&once, make_tables);
    for (; size >= 8; bytes += 8, size -= 8) {
        const uint64_t word = word_at(bytes) ^ crc;

        crc = 0;
        for (int i = 0; i < 8; i++)
            crc ^= step[7 - i][word >> 8 * i & 0xff];
    }
    for (; size > 0; bytes++, size--)
        crc = crc >> 8 ^ step[0][(crc ^ *bytes) & 0xff];
    return ~crc;
}

#if defined(__x86_64__)
#define HAS_INSTRUCTION GYRE_CPU_SSE4_2
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define TAKE_WORD(crc, word) ((uint32_t)__builtin_ia32_crc32di((crc), (word)))
#define TAKE_BYTE(crc, byte) __builtin_ia32_crc32qi((crc), (byte))
#elif defined(__aarch64__)
#define HAS_INSTRUCTION GYRE_CPU_CRC32
#define WITH_INSTRUCTION __attribute__((target("+crc")))
#define TAKE_WORD(crc, word) __crc32cd((crc), (word))
#define TAKE_BYTE(crc, byte) __crc32cb((crc), (byte))
#endif

static uint32_t past(uint32_t (*const table)[256], uint32_t crc)
{
    return table[0][crc & 0xff] ^ table[1][crc >> 8 & 0xff] ^ table[2][crc >> 16 & 0xff] ^
           table[3][crc >> 24];
}

WITH_INSTRUCTION static uint32_t by_instruction(const unsigned char *bytes, size_t size,
                                                uint32_t crc)
{
    for (; size >= (size_t)3 * LANE; bytes += 3 * LANE, size -= (size_t)3 * LANE) {
        uint32_t second = 0, third = 0;

        for (int i = 0; i < LANE; i += 8) {
            crc = TAKE_WORD(crc, word_at(bytes + i));
            second = TAKE_WORD(second, word_at(bytes + LANE + i));
            third = TAKE_WORD(third, word_at(bytes + 2 * LANE + i));
        }
        crc = past(leaps, crc) ^ past(leap, second) ^ third;
    }
    for (; size >= 8; bytes += 8, size -= 8)
        crc = TAKE_WORD(crc, word_at(bytes));
    for (; size > 0; bytes++, size--)
        crc = TAKE_BYTE(crc, *bytes);
    return crc;
}

uint32_t gyre_crc32c(const void *data, size_t size, uint32_t seed)
{
    if (!gyre_cpu_has(HAS_INSTRUCTION))
        return gyre_crc32c_plain(data, size, seed);
    if (size >= (size_t)3 * LANE)
        pthread_once(&once, make_tables);
    return ~by_instruction(data, size, ~seed);
}
