/* SPDX-License-Identifier: Apache-2.0 */
#include "report/bencher.h"

#include <regex.h>
#include <stdlib.h>

#include "sample_run.h"
#include "test.h"

static sample_run sample;
static char *text;

static const char *print(const gyre_run *run)
{
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_bencher_write(stream, run);
    fclose(stream);
    return text;
}

static const char *print_figure(double median, double low, double high)
{
    sample_run_init(&sample, 2, 1);
    sample.results[0].time.median_ns = median;
    sample.results[0].time.ns = (gyre_interval){low, high, 0.95};
    sample.run.count = 1;
    return print(&sample.run);
}

static void each_outcome_has_its_line(void)
{
    sample_run_init(&sample, 2, 1);
    CHECK(strcmp(print(&sample.run),
                 "\n"
                 "running 6 tests\n"
                 "test channel/send/64 ... bench:      101.00 ns/iter (+/- 1.50)\n"
                 "test queue/push ... bench:   1,234,568 ns/iter (+/- 100)\n"
                 "test queue/wrong ... FAILED\n"
                 "test gpu/launch ... ignored, =HYPERLINK(\"http://x\")\n"
                 "test base/clock ... ok\n"
                 "test base/park ... ignored, interrupted\n"
                 "\n"
                 "failures:\n"
                 "    queue/wrong: popped \"3\", not 4??[31m\n"
                 "\n"
                 "test result: FAILED. 1 passed; 1 failed; 2 ignored; 2 measured; 0 filtered out; "
                 "finished in 12.35s\n"
                 "\n") == 0);
}

static void digits_are_those_that_matter(void)
{
    CHECK(strstr(print_figure(0.26125, 0.26, 0.2625), "     0.2612 ns/iter (+/- 0.0013)\n"));
    CHECK(strstr(print_figure(9.5, 9.25, 9.75), "     9.5000 ns/iter (+/- 0.2500)\n"));
    CHECK(strstr(print_figure(999.5, 999, 1000), "     999.50 ns/iter (+/- 0.50)\n"));
    CHECK(strstr(print_figure(1000, 900, 2500), "      1,000 ns/iter (+/- 1,500)\n"));
    CHECK(strstr(print_figure(1e12, 1e12, 1e12), "1,000,000,000,000 ns/iter (+/- 0)\n"));
    CHECK(strstr(print_figure(1e300, 1e300, 1e300), " ns/iter (+/- 0)\n")); /* fits the buffer */
}

static void plus_and_minus_cover_the_interval(void)
{
    CHECK(strstr(print_figure(100, 90, 101), "(+/- 10.00)"));
    CHECK(strstr(print_figure(100, 99, 110), "(+/- 10.00)"));
}

/* The expression by which GitHub's benchmark action takes such a line apart. */
static void dashboards_can_read_it(void)
{
    static const char pattern[] = "(^|\n)test (.+) +\\.\\.\\. bench: +([0-9,.]+) ([a-z]+/[a-z]+) "
                                  "\\(\\+/- ([0-9,.]+)\\)\n";
    regex_t compiled;

    REQUIRE(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) == 0);
    CHECK(regexec(&compiled, print_figure(3.3, 3.2, 3.4), 0, NULL, 0) == 0);
    CHECK(regexec(&compiled, print_figure(12345, 12000, 13000), 0, NULL, 0) == 0);
    regfree(&compiled);
}

static void one_success_is_ok(void)
{
    CHECK(strstr(print_figure(1, 1, 1), "running 1 test\n"));
    CHECK(strstr(text, "\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 1 measured;"));
    free(text);
    text = NULL;
}

static const test_case cases[] = {
    TEST(each_outcome_has_its_line),
    TEST(digits_are_those_that_matter),
    TEST(plus_and_minus_cover_the_interval),
    TEST(dashboards_can_read_it),
    TEST(one_success_is_ok),
};
TEST_MAIN(cases)
