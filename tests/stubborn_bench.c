/* SPDX-License-Identifier: Apache-2.0
 *
 * stubborn_bench: a benchmark program that does not listen: its run never returns. For
 * cli/bench_test.sh.
 */
#include <unistd.h>

#include "gyre/bench.h"

static void hang(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    for (;;)
        pause();
}

static bool check(const void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    return true;
}

static const gyre_bench benches[] = {{
    .name = "stubborn/hang",
    .t0 = "the call",
    .t1 = "never",
    .observer = "nobody",
    .run = hang,
    .check = check,
}};

static const gyre_suite suite = GYRE_SUITE("stubborn", benches);

int main(int argc, char **argv)
{
    const gyre_suite *const suites[] = {&suite, NULL};

    return gyre_bench_main(argc, argv, suites);
}
