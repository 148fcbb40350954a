/* SPDX-License-Identifier: Apache-2.0 */
#include "report/history_chart.h"

#include <math.h>
#include <stdlib.h>

#include "report/history_table.h"
#include "test.h"

enum { MOST = 300 };

static gyre_history_point points[MOST];
static gyre_history_points series = {.point = points};
static gyre_trend trend;
static gyre_trend_change one;
static char *text;
static size_t size;

/* `count` runs of `ns`, intervals of 1 % either side. */
static void make(size_t count, double ns)
{
    trend = (gyre_trend){0};
    series.count = count;
    for (size_t i = 0; i < count; i++)
        points[i] = (gyre_history_point){
            .run = i + 1,
            .started = 1000000000 + 86400 * (time_t)i,
            .id = "g/f",
            .median_ns = ns,
            .low_ns = 0.99 * ns,
            .high_ns = 1.01 * ns,
        };
}

static void print(void)
{
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_history_chart(stream, &series, &trend);
    fclose(stream);
}

static bool says(const char *words)
{
    if (strstr(text, words))
        return true;
    fprintf(stderr, "'%s' is not in:\n%s", words, text);
    return false;
}

static size_t occurrences(char letter)
{
    size_t count = 0;

    for (const char *c = strchr(text, '|'); c && *c && c < strchr(text, '+'); c++)
        count += *c == letter;
    return count;
}

static size_t widest(void)
{
    size_t most = 0;

    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        most = strcspn(line, "\n") > most ? strcspn(line, "\n") : most;
    return most;
}

static void every_run_has_its_median(void)
{
    make(20, 100);
    points[7].median_ns = points[7].low_ns = points[7].high_ns = 200;
    print();
    CHECK(occurrences('o') == 20);
    CHECK(says("200.00 ns |") && says("20 runs, 2001-09-09 to 2001-09-28"));
    CHECK(says("run 1") && says(" 20\n") && says("no change of level found"));
    CHECK(says("drift since run 1: too few runs to tell (20 of 8)")); /* as the trend has it */
}

/* The highest in the first row, the lowest in the last, each in its column. */
static void medians_are_where_they_belong(void)
{
    const char *first, *last;

    make(3, 100);
    for (size_t i = 0; i < 3; i++)
        points[i].low_ns = points[i].high_ns = points[i].median_ns = 100 + 50 * (double)i;
    print();
    CHECK(says(" 200.00 ns |       o\n")); /* a run is three columns, after a blank */
    CHECK(says(" 100.00 ns | o\n"));
    first = strstr(text, "200.00 ns");
    last = strstr(text, "100.00 ns");
    CHECK(first && last && first < last);
}

static void it_fits_80_columns(void)
{
    for (size_t count = 1; count <= MOST; count++) {
        make(count, 1234.5 + (double)count);
        points[count / 2].commit = "0123456789abcdef0123456789abcdef01234567";
        one = (gyre_trend_change){
            .index = count / 2, .before_ns = 1e11, .after_ns = 1.5e11, .ratio = 0.5, .p = 1e-9};
        trend.changes = &one;
        trend.change_count = count > 3;
        print();
        if (widest() > 80) {
            CHECK(widest() <= 80);
            fputs(text, stderr);
            return;
        }
    }
    CHECK(says("; the last 66 are drawn"));
}

static void change_has_its_letter_and_its_story(void)
{
    gyre_trend_change changes[2] = {
        {.index = 4, .before_ns = 100, .after_ns = 120, .ratio = 0.2, .p = 0.0004},
        {.index = 8, .before_ns = 120, .after_ns = 90, .ratio = -0.25, .p = 1e-20}};

    make(12, 100);
    points[0].median_ns = 200; /* so that the others do not fill the chart */
    points[4].commit = "0123456789abcdef";
    points[4].dirty = true;
    trend = (gyre_trend){.changes = changes, .change_count = 2, .since = 8};
    print();
    CHECK(says("+-------------A-----------B")); /* fifth and ninth of runs of three columns */
    CHECK(says("A  run 5 of 2001-09-13, commit 0123456789ab+:\n     +20.00 %, from 100.00 ns to "
               "120.00 ns (p = 0.0004)\n"));
    CHECK(says("B  run 9 of 2001-09-17:\n     -25.00 %, from 120.00 ns to 90.000 ns (p = 1e-20)"));
    CHECK(says("drift since run 9: too few runs to tell (4 of 8)"));
    CHECK(occurrences(':') > 10 && !strstr(text, "no change of level"));
}

static void change_before_what_is_drawn_is_only_told(void)
{
    gyre_trend_change changes[2] = {
        {.index = 3, .before_ns = 1, .after_ns = 2, .ratio = 1, .p = 0},
        {.index = 50, .before_ns = 2, .after_ns = 3, .ratio = 0.5, .p = 0}};

    make(100, 100);
    trend = (gyre_trend){.changes = changes, .change_count = 1, .since = 3};
    print();
    CHECK(occurrences(':') == 0 && says("A  run 4 of") && says("run 35"));
    CHECK(!strstr(text, "-A"));
    trend.change_count = 2;
    print();
    CHECK(says("+-----------------B---")); /* the 17th that is drawn */
}

static void drift_is_said_with_its_interval(void)
{
    make(10, 100);
    trend = (gyre_trend){.known = true, .drift = 0.002, .low = 0.001, .high = 0.003};
    print();
    CHECK(says("drift since run 1: +0.200 % a run [+0.100 %, +0.300 %] (95 %)"));
    trend.low = -0.001;
    print();
    CHECK(says("drift since run 1: none found, between -0.100 % and +0.300 % a run (95 %)"));
}

static void wild_interval_does_not_flatten_the_rest(void)
{
    make(10, 100);
    points[2].median_ns = 110;
    points[3].high_ns = 1e9;
    points[4].low_ns = 0;
    points[5].low_ns = points[5].high_ns = (double)NAN;
    print();
    CHECK(says("120.00 ns |") && says(" 90.000 ns |")); /* the medians' span, again on each side */
    CHECK(occurrences('o') == 10);
}

static void extremes_are_drawn(void)
{
    make(5, 1e-3);
    print();
    CHECK(occurrences('o') == 5);
    make(5, 1e18);
    points[1].median_ns = 1e-300;
    print();
    CHECK(occurrences('o') == 5 && widest() <= 80);
}

static void nothing_in_it_drives_the_terminal(void)
{
    make(3, 100);
    points[0].id = "g/\033[2J\302\233";
    points[1].commit = "\033]0;x\007abcdefgh";
    one = (gyre_trend_change){.index = 1, .before_ns = 1, .after_ns = 2};
    trend.changes = &one;
    trend.change_count = 1;
    print();
    CHECK(says("g/?[2J?") && says("commit ?]0;x?abcdef:"));
    CHECK(!strchr(text, '\033') && !strchr(text, '\007'));
}

static void runs_are_one_a_line_newest_first(void)
{
    gyre_history_run rows[] = {
        {.number = 7, .started = 1000000000, .machine = "1be46877", .measured = 3},
        {.number = 8,
         .started = 1000000060,
         .commit = "0123456789abcdef",
         .dirty = true,
         .machine = "\033[31mred",
         .measured = 2,
         .failed = 1,
         .interrupted = true},
    };
    const gyre_history_runs runs = {.run = rows, .count = 2};
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    gyre_history_table(stream, &runs);
    fclose(stream);
    CHECK(says("     8  2001-09-09 01:47  0123456789ab+ ?[31mred          2       1  interrupted\n"
               "     7  2001-09-09 01:46  -             1be46877          3       0\n"));
    CHECK(widest() <= 80);
}

static void run_is_shown_with_its_figures(void)
{
    const gyre_history_run run = {.number = 7,
                                  .started = 1000000000,
                                  .duration_s = 1.25,
                                  .commit = "0123456789abcdef",
                                  .branch = "topic\033[1m",
                                  .dirty = true,
                                  .machine = "1be46877",
                                  .cpus = 4,
                                  .allowed_cpus = 2};
    FILE *stream;

    make(2, 100);
    points[0].hot_ns = 50;
    points[0].cold_ns = (double)NAN;
    points[1] = (gyre_history_point){.id = "g/failed",
                                     .outcome = "failed",
                                     .reason = "because \033[31m",
                                     .median_ns = (double)NAN};
    free(text);
    stream = open_memstream(&text, &size);
    gyre_history_run_print(stream, &run, &series);
    fclose(stream);
    CHECK(says("run 7 of 2001-09-09 01:46 UTC, 1.2 s\n") && says("commit    0123456789abcdef\n"));
    CHECK(says("branch    topic?[1m\n") && says("with changes that were not committed"));
    CHECK(says("cpus      4, of which 2 allowed"));
    CHECK(says("g/f                     time:   [99.000 ns 100.00 ns 101.00 ns]\n"));
    CHECK(says("hot:    50.000 ns") && !strstr(text, "cold:"));
    CHECK(says("g/failed                failed: because ?[31m\n"));
}

static const test_case cases[] = {
    TEST(every_run_has_its_median),
    TEST(medians_are_where_they_belong),
    TEST(it_fits_80_columns),
    TEST(change_has_its_letter_and_its_story),
    TEST(change_before_what_is_drawn_is_only_told),
    TEST(drift_is_said_with_its_interval),
    TEST(wild_interval_does_not_flatten_the_rest),
    TEST(extremes_are_drawn),
    TEST(nothing_in_it_drives_the_terminal),
    TEST(runs_are_one_a_line_newest_first),
    TEST(run_is_shown_with_its_figures),
};

int main(int argc, char **argv)
{
    const int code = test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);

    free(text);
    return code;
}
