/* SPDX-License-Identifier: Apache-2.0 */
#include "suites/seed_targets.h"

#include <stdio.h>
#include <stdlib.h>

#include "record/targets.h"
#include "report/targets_table.h"
#include "sample_run.h"
#include "test.h"

static gyre_targets *read_seeds(void)
{
    gyre_targets *targets;

    if (gyre_targets_parse(gyre_seed_targets, strlen(gyre_seed_targets), "seeds", &targets))
        fprintf(stderr, "%s\n", gyre_error_last()->text);
    return targets;
}

static void every_seed_has_targets(void)
{
    gyre_targets *targets = read_seeds();
    size_t count[6] = {0}, notes = 0;

    REQUIRE(targets != NULL);
    for (size_t i = 0; i < targets->count; i++) {
        const gyre_target *target = &targets->items[i];

        REQUIRE(strncmp(target->source, "seed ", 5) == 0);
        REQUIRE(target->source[5] >= '1' && target->source[5] <= '5');
        count[target->source[5] - '0']++;
        notes += target->note[0] != '\0';
        CHECK(strchr(target->id, '/') != NULL);
    }
    CHECK(count[1] > 25 && count[2] > 50 && count[3] > 25 && count[4] > 2 && count[5] > 10);
    CHECK(notes > 40);
    gyre_targets_destroy(targets);
}

static void they_fill_a_table(void)
{
    gyre_targets *targets = read_seeds();
    gyre_targets_tally tally;
    sample_run sample;
    FILE *stream;
    size_t size;
    char *text;

    REQUIRE(targets != NULL);
    sample_run_init(&sample, 2, 1);
    sample.results[0].id = "channel_send_latency/small_command_bounded";
    stream = open_memstream(&text, &size);
    tally = gyre_targets_table_write(stream, targets, &sample.run, NULL);
    fclose(stream);
    CHECK(tally.met == 1);     /* under a microsecond */
    CHECK(tally.unclear == 1); /* 101 ns and a limit of 100 */
    CHECK(tally.missed == 2);  /* 45.8 ns, and 53 ns in the summary */
    CHECK(tally.not_measured > 100);
    CHECK(strncmp(text, "seed 1, Benchmark Groups\n  met ", 31) == 0);
    CHECK(strstr(text, "\n\nseed 5, Kernel Operations\n") != NULL);
    free(text);
    gyre_targets_destroy(targets);
}

static const test_case cases[] = {TEST(every_seed_has_targets), TEST(they_fill_a_table)};
TEST_MAIN(cases)
