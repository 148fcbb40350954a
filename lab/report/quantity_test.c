/* SPDX-License-Identifier: Apache-2.0 */
#include "report/quantity.h"

#include <math.h>

#include "test.h"

static void times_have_four_digits_or_more(void)
{
    CHECK(strcmp(gyre_quantity_time(0.0005).text, "0.5000 ps") == 0);
    CHECK(strcmp(gyre_quantity_time(0.25).text, "250.00 ps") == 0);
    CHECK(strcmp(gyre_quantity_time(9.8765).text, "9.8765 ns") == 0);
    CHECK(strcmp(gyre_quantity_time(98.765).text, "98.765 ns") == 0);
    CHECK(strcmp(gyre_quantity_time(987.65).text, "987.65 ns") == 0);
    CHECK(strcmp(gyre_quantity_time(12345).text, "12.345 us") == 0);
    CHECK(strcmp(gyre_quantity_time(1.5e6).text, "1.5000 ms") == 0);
    CHECK(strcmp(gyre_quantity_time(2e9).text, "2.0000 s") == 0);
    CHECK(strcmp(gyre_quantity_time(12345e9).text, "12345 s") == 0);
}

static void rates_have_units(void)
{
    CHECK(strcmp(gyre_quantity_bytes_rate(1024, 1000).text, "976.56 MiB/s") == 0);
    CHECK(strcmp(gyre_quantity_items_rate(1, 10).text, "100.00 Melem/s") == 0);
    CHECK(strcmp(gyre_quantity_items_rate(1, 2e9).text, "0.5000 elem/s") == 0);
}

static void sizes_have_units(void)
{
    CHECK(strcmp(gyre_quantity_bytes(512).text, "512 B") == 0);
    CHECK(strcmp(gyre_quantity_bytes(32768).text, "32 KiB") == 0);
    CHECK(strcmp(gyre_quantity_bytes(1610612736).text, "1.5 GiB") == 0);
}

static void changes_are_in_percent(void)
{
    CHECK(strcmp(gyre_quantity_change(0.0127).text, "+1.27") == 0);
    CHECK(strcmp(gyre_quantity_change(-0.5).text, "-50.00") == 0);
    CHECK(strcmp(gyre_quantity_change(0).text, "+0.00") == 0);
    CHECK(strcmp(gyre_quantity_change(12.3456).text, "+1235") == 0);
    CHECK(strcmp(gyre_quantity_change(1e27).text, "+1e+29") == 0);
    CHECK(strcmp(gyre_quantity_percent(0.0127).text, "1.27") == 0);
    CHECK(strcmp(gyre_quantity_percent((double)INFINITY).text, "inf") == 0);
}

static const test_case cases[] = {
    TEST(times_have_four_digits_or_more),
    TEST(rates_have_units),
    TEST(sizes_have_units),
    TEST(changes_are_in_percent),
};
TEST_MAIN(cases)
