/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/histogram.h"

#include "actor/annex_abi.h"
#include "test.h"

static void a_time_is_between_the_bounds_of_its_bucket(void)
{
    for (uint32_t b = 0; b < GYRE_HISTOGRAM_BUCKETS; b++) {
        const uint64_t from = gyre_histogram_bound_ns(b), to = gyre_histogram_bound_ns(b + 1);

        CHECK(from < to);
        CHECK(gyre_annex_bucket(from) == b && gyre_annex_bucket(to - 1) == b);
        CHECK(b < 4 || b == GYRE_HISTOGRAM_BUCKETS - 1 || to - from <= from / 4);
    }
    CHECK(gyre_annex_bucket(UINT64_MAX) == GYRE_HISTOGRAM_BUCKETS - 1);
    CHECK(gyre_histogram_bound_ns(GYRE_HISTOGRAM_BUCKETS - 1) / 100000000 == 75);
    CHECK(gyre_histogram_bound_ns(UINT32_MAX) == UINT64_MAX);
}

static void percentiles_are_the_longest_of_their_bucket(void)
{
    gyre_histogram h = {.struct_size = sizeof h};

    CHECK(gyre_histogram_percentile_ns(&h, 50) == 0);
    h.count[gyre_annex_bucket(1000)] = 90;
    h.count[gyre_annex_bucket(5000)] = 9;
    h.count[gyre_annex_bucket(100000)] = 1;
    h.total = 100;
    CHECK(gyre_histogram_percentile_ns(&h, 0) == 1023);
    CHECK(gyre_histogram_percentile_ns(&h, 50) == 1023);
    CHECK(gyre_histogram_percentile_ns(&h, 90) == 1023);
    CHECK(gyre_histogram_percentile_ns(&h, 90.5) == 5119);
    CHECK(gyre_histogram_percentile_ns(&h, 99) == 5119);
    CHECK(gyre_histogram_percentile_ns(&h, 99.5) == 114687);
    CHECK(gyre_histogram_percentile_ns(&h, 100) == 114687);
    CHECK(gyre_histogram_percentile_ns(&h, 200) == 114687);
}

static const test_case cases[] = {
    TEST(a_time_is_between_the_bounds_of_its_bucket),
    TEST(percentiles_are_the_longest_of_their_bucket),
};
TEST_MAIN(cases)
