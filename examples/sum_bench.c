/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/bench.h>
#include <stdlib.h>

typedef struct numbers {
    size_t count;
    uint64_t sum;
    uint64_t value[];
} numbers;

static gyre_status make(const gyre_bench_case *c, void **out_fixture)
{
    const size_t count = (size_t)gyre_bench_axis(c, "count");
    numbers *n = calloc(1, sizeof *n + count * sizeof n->value[0]);

    *out_fixture = n;
    if (!n)
        return GYRE_NO_MEMORY;
    n->count = count;
    for (size_t i = 0; i < count; i++)
        n->value[i] = i;
    return GYRE_OK;
}

static void add_up(void *fixture, uint64_t iterations)
{
    numbers *n = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(n->value);
        for (size_t j = 0; j < n->count; j++)
            n->sum += n->value[j];
    }
}

static bool is_right(const void *fixture, uint64_t iterations)
{
    const numbers *n = fixture;

    return n->sum == iterations * (n->count * (n->count - 1) / 2);
}

static uint64_t count(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "count");
}

static const gyre_bench benches[] = {{
    .name = "sum/u64",
    .axes = {GYRE_AXIS("count", 100, 10000)},
    .t0 = "the first load",
    .t1 = "the last addition",
    .observer = "the same thread, which compares the sum",
    .setup = make,
    .run = add_up,
    .check = is_right,
    .teardown = free,
    .items = count,
}};

static const gyre_suite suite = GYRE_SUITE("sum", benches);

int main(int argc, char **argv)
{
    const gyre_suite *const suites[] = {&suite, NULL};

    return gyre_bench_main(argc, argv, suites);
}
