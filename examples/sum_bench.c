/* SPDX-License-Identifier: Apache-2.0
 *
 * The shortest benchmark program: a function, and what has to be said to measure it.
 */
#include <gyre/bench.h>

/* The function to be measured. */
static uint64_t sum(const uint64_t *value, size_t count)
{
    uint64_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += value[i];
    return total;
}

static uint64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
static uint64_t right; /* sums that were right */

static void run(void *fixture, uint64_t iterations)
{
    (void)fixture;
    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(primes); /* or the compiler would add them up once */
        right += sum(primes, 16) == 381;
    }
}

static bool check(const void *fixture, uint64_t iterations)
{
    (void)fixture;
    return right == iterations;
}

static const gyre_bench benches[] = {{
    .name = "sum/primes",
    .t0 = "the first load",
    .t1 = "the last addition",
    .observer = "the same thread, which compares the sum",
    .run = run,
    .check = check,
}};
static const gyre_suite suite = GYRE_SUITE("sum", benches);

int main(int argc, char **argv)
{
    return gyre_bench_main(argc, argv, (const gyre_suite *[]){&suite, NULL});
}
