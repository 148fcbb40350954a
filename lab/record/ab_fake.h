/* SPDX-License-Identifier: Apache-2.0
 *
 * ab_fake: measurements of two versions that nobody made, for tests.
 */
#ifndef GYRE_RECORD_AB_FAKE_H
#define GYRE_RECORD_AB_FAKE_H

#include <math.h>
#include <stdlib.h>

#include "record/ab.h"
#include "record/run_fake.h"

enum { FAKE_PAIRS = 3, FAKE_BENCHES = 16 };

/* Of nowhere, with every member of the head set and no benchmark. */
static inline gyre_ab *fake_ab(void)
{
    gyre_ab *ab;

    if (gyre_ab_create_blank(&ab) != GYRE_OK || gyre_ab_reserve(ab, FAKE_BENCHES) != GYRE_OK)
        abort();
    fake_head(ab->head);
    ab->sides[0] = (gyre_ab_side){"./old --quiet", "/opt/old", 1000, 0x123456789abcdef0};
    ab->sides[1] = (gyre_ab_side){"./new --quiet", "/opt/new", 1001, UINT64_MAX};
    ab->lock_step = true;
    ab->seed = 0xfedcba9876543210;
    ab->rule = (gyre_rule){.margin = 0.01, .alpha = 0.01};
    return ab;
}

/* The spread of the launch: from -1 to 1, of mean 0 over 8, 16, 32 and 48 of them. */
static inline double fake_spread(size_t launch)
{
    static const double cycle[] = {-1, 1, -0.5, 0.5, 0.25, -0.25, 0.75, -0.75};

    return cycle[launch % 8];
}

/* A measured one of `launches` launches, about 100 ns an iteration and `change` slower, with a
 * spread of ln(new / old) between launches. */
static inline gyre_ab_bench *fake_bench(gyre_ab *ab, const char *id, size_t launches, double change,
                                        double spread)
{
    gyre_ab_bench *bench = gyre_ab_add(ab, id);

    bench->threads = 1;
    bench->spent_s = 0.125 * (double)launches;
    for (size_t i = 0; i < launches; i++) {
        gyre_ab_launch *launch = gyre_ab_launch_begin(ab, bench, FAKE_PAIRS);

        if (!launch)
            abort();
        launch->seed = 1000 + i;
        launch->iterations = 10;
        launch->cpu = (int)(i % 2);
        launch->order = "ABBAAB";
        launch->steal_ticks = i;
        for (size_t pair = 0; pair < FAKE_PAIRS; pair++) {
            launch->old_ns[pair] = 1000 + (double)pair / 3;
            launch->new_ns[pair] =
                launch->old_ns[pair] * (1 + change) * exp(spread * fake_spread(i));
        }
        bench->launch_count++;
    }
    return bench;
}

static inline gyre_ab_bench *fake_failed(gyre_ab *ab, const char *id, gyre_outcome outcome,
                                         const char *reason)
{
    gyre_ab_bench *bench = gyre_ab_add(ab, id);

    bench->outcome = outcome;
    bench->reason = reason;
    bench->side = strncmp(reason, "old", 3) == 0 ? 0 : strncmp(reason, "new", 3) == 0 ? 1 : -1;
    bench->threads = 1;
    return bench;
}

/* The benchmark of that id, which is there. */
static inline const gyre_ab_bench *fake_find(const gyre_ab *ab, const char *id)
{
    for (size_t i = 0; i < ab->count; i++)
        if (strcmp(ab->benches[i].id, id) == 0)
            return &ab->benches[i];
    abort();
}

static inline void fake_count(gyre_ab_bench *bench, gyre_ab_counted what, double old_value,
                              double new_value)
{
    bench->counts[what] = (gyre_ab_count){true, old_value, new_value};
}

/* One of each verdict and outcome, hostile words, and everything set; judged. */
static inline gyre_ab *fake_full_ab(void)
{
    static const char *only_old[] = {"g/gone"}, *only_new[] = {"g/added", "g/added \x1b[31m"};
    gyre_ab *ab = fake_ab();
    gyre_ab_bench *bench = fake_bench(ab, "g/slower", 16, 0.12, 0.002);

    fake_count(bench, GYRE_AB_PEAK_RSS, 1 << 20, 3 << 19);
    fake_count(bench, GYRE_AB_ALLOCATIONS, 2, 2.5);
    fake_count(bench, GYRE_AB_ALLOCATED, 128, 64);
    fake_count(bench, GYRE_AB_INSTRUCTIONS, 1000.25, 1010.5);
    bench->clock = "CUDA events";
    bench->threads = 4;
    bench->warnings[bench->warning_count++] = "taken from: 7 ticks";
    bench->warnings[bench->warning_count++] = "a \"quoted\" one";
    fake_bench(ab, "g/faster", 8, -0.2, 0.001);
    fake_bench(ab, "g/same", 8, 0.0005, 0.001);
    fake_bench(ab, "g/wild", 48, 0.02, 0.2);
    fake_bench(ab, "g/once", 1, 0.02, 0.1);
    bench =
        fake_failed(ab, "g/crashed", GYRE_OUTCOME_FAILED, "new, launch 3: was killed by signal 11");
    bench->last_words = "assertion | failed\n  at <x>\x1b[31m";
    fake_failed(ab, "g/skipped", GYRE_OUTCOME_SKIPPED, "no GPU");
    fake_failed(ab, "g/interrupted", GYRE_OUTCOME_INTERRUPTED, "interrupted");
    ab->only_old = only_old;
    ab->only_new = only_new;
    ab->only_old_count = 1;
    ab->only_new_count = 2;
    if (gyre_ab_judge(ab) != GYRE_OK)
        abort();
    return ab;
}

#endif
