/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/random.h"

#include <stdbool.h>

#include "test.h"

/* What the definition of xoshiro256** gives from the state 1, 2, 3, 4. */
static void sequence_is_that_of_the_definition(void)
{
    static const uint64_t known[] = {11520,
                                     0,
                                     1509978240,
                                     1215971899390074240,
                                     1216172134540287360,
                                     607988272756665600,
                                     16172922978634559625u,
                                     8476171486693032832,
                                     10595114339597558777u,
                                     2904607092377533576};
    gyre_stat_random random = {{1, 2, 3, 4}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK(gyre_stat_random_next(&random) == known[i]);
}

/* The first outputs of splitmix64. */
static void seed_fills_the_state_by_splitmix64(void)
{
    static const struct {
        uint64_t seed, state[4];
    } known[] = {
        {0, {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec}},
        {1234567,
         {6457827717110365317, 3203168211198807973, 9817491932198370423u, 4593380528125082431}},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        gyre_stat_random random;

        gyre_stat_random_seed(&random, known[i].seed);
        CHECK(memcmp(random.state, known[i].state, sizeof random.state) == 0);
    }
}

static void below_stays_below(void)
{
    gyre_stat_random random;

    gyre_stat_random_seed(&random, 1);
    for (uint64_t n = 1; n < 1000; n++)
        CHECK(gyre_stat_random_below(&random, n) < n);
    CHECK(gyre_stat_random_below(&random, 0) == 0);
}

/* Of n = 3 * 2^62, the multiples of 3 own two values of next and the others one: without the
 * second draw they would come half the time instead of a third. */
static void below_is_unbiased(void)
{
    enum { DRAWS = 30000 };
    gyre_stat_random random;
    size_t multiples = 0;

    gyre_stat_random_seed(&random, 2);
    for (int i = 0; i < DRAWS; i++)
        multiples += gyre_stat_random_below(&random, (uint64_t)3 << 62) % 3 == 0;
    CHECK(multiples > DRAWS * 32 / 100 && multiples < DRAWS * 35 / 100);
}

static void below_reaches_every_value_equally(void)
{
    enum { VALUES = 10, DRAWS = 100000 };
    size_t seen[VALUES] = {0};
    gyre_stat_random random;
    double squares = 0;

    gyre_stat_random_seed(&random, 3);
    for (int i = 0; i < DRAWS; i++)
        seen[gyre_stat_random_below(&random, VALUES)]++;
    for (int i = 0; i < VALUES; i++) {
        const double off = (double)seen[i] - (double)DRAWS / VALUES;

        squares += off * off / ((double)DRAWS / VALUES);
    }
    CHECK(squares < 27.88); /* chi-squared of 9 degrees exceeds it once in a thousand */
}

static void unit_is_a_fraction(void)
{
    gyre_stat_random random;
    double sum = 0;
    bool inside = true;

    gyre_stat_random_seed(&random, 4);
    for (int i = 0; i < 10000; i++) {
        const double u = gyre_stat_random_unit(&random);

        inside = inside && u >= 0 && u < 1;
        sum += u;
    }
    CHECK(inside);
    CHECK(sum > 4900 && sum < 5100); /* 3.5 standard deviations */

    /* the two ends: from these states next is 0 and 2^64 - 1 */
    CHECK(gyre_stat_random_unit(&(gyre_stat_random){{1, 0, 0, 0}}) == 0);
    CHECK(gyre_stat_random_unit(&(gyre_stat_random){{0, 0x4fc71c71c71c71c7, 0, 0}}) == 1 - 0x1p-53);
}

static const test_case cases[] = {
    TEST(sequence_is_that_of_the_definition),
    TEST(seed_fills_the_state_by_splitmix64),
    TEST(below_stays_below),
    TEST(below_is_unbiased),
    TEST(below_reaches_every_value_equally),
    TEST(unit_is_a_fraction),
};
TEST_MAIN(cases)
