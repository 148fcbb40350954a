/* SPDX-License-Identifier: Apache-2.0
 *
 * launch: see launch.h.
 */
#include "main/launch.h"

#include <string.h>

#include "base/fail.h"
#include "gyre/clock.h"
#include "main/command.h"

_Static_assert((int)GYRE_BATON_PAIRS == (int)GYRE_JUDGE_PAIRS, "a launch fits into its record");

enum {
    COMMAND_PAIRS = 10,     /* in a launch of commands, at most, */
    COMMAND_NS = 250000000, /* and as many as are begun in this time */
};

/* As many CPUs as it has threads, side by side from a random one on. */
static gyre_cpu_set choose_cpus(gyre_launcher *l, uint32_t threads, int *out_cpu)
{
    const uint32_t allowed = gyre_cpu_set_count(&l->allowed);
    uint64_t skip = gyre_stat_random_below(&l->random, allowed);
    uint32_t cpu = gyre_cpu_set_next(&l->allowed, 0);
    gyre_cpu_set chosen = {0};

    *out_cpu = -1;
    if (threads >= allowed)
        return l->allowed;
    for (; skip > 0; skip--)
        cpu = gyre_cpu_set_next(&l->allowed, cpu + 1);
    if (threads == 1)
        *out_cpu = (int)cpu;
    for (uint32_t i = 0; i < threads; i++) {
        gyre_cpu_set_add(&chosen, cpu);
        cpu = gyre_cpu_set_next(&l->allowed, cpu + 1);
        if (cpu == GYRE_CPU_LIMIT)
            cpu = gyre_cpu_set_next(&l->allowed, 0);
    }
    return chosen;
}

/* A launch that came to a bad end closes its benchmark: what crashes once in forty is broken. */
static void close_badly(gyre_launcher *l, gyre_ab_bench *bench, const gyre_fate *fate)
{
    gyre_arena *arena = &l->ab->arena;

    bench->outcome = fate->outcome;
    bench->side = fate->side;
    bench->reason =
        fate->side < 0
            ? gyre_arena_print(arena, "launch %zu: %s", bench->launch_count + 1, fate->reason)
            : gyre_arena_print(arena, "%s, launch %zu: %s", gyre_side_names[fate->side],
                               bench->launch_count + 1, fate->reason);
    bench->last_words = gyre_arena_text(arena, fate->last_words);
}

static gyre_status keep_launch(gyre_launcher *l, gyre_ab_bench *bench, const gyre_baton *baton,
                               int cpu)
{
    gyre_ab_launch *launch = gyre_ab_launch_begin(l->ab, bench, baton->pairs);
    char letters[2 * GYRE_BATON_PAIRS + 1];

    if (!launch)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for a launch");
    gyre_baton_order(baton->seed, baton->pairs, letters);
    launch->seed = baton->seed;
    launch->iterations = baton->iterations;
    launch->cpu = cpu;
    launch->order = gyre_arena_text(&l->ab->arena, letters);
    for (size_t i = 0; i < baton->pairs; i++) {
        launch->old_ns[i] = baton->epochs[GYRE_TURN_OLD][i].time_ns;
        launch->new_ns[i] = baton->epochs[GYRE_TURN_NEW][i].time_ns;
    }
    return GYRE_OK;
}

static gyre_status launch_pair(gyre_launcher *l, gyre_ab_bench *bench, const size_t *indices,
                               uint64_t seed)
{
    int cpu;
    const gyre_cpu_set cpus = choose_cpus(l, bench->threads, &cpu);
    const gyre_pair pair = {
        .programs = {&l->programs[0], &l->programs[1]},
        .id = bench->id,
        .indices = {indices[0], indices[1]},
        .ids_hash = {l->ids_hash[0], l->ids_hash[1]},
        .seed = seed,
        .cpus = &cpus,
    };
    static gyre_baton baton;
    static gyre_fate fate;
    gyre_status status = gyre_pair_launch(&pair, &l->overseer, &baton, &fate);

    if (status != GYRE_OK)
        return status;
    if (fate.outcome != GYRE_OUTCOME_MEASURED) {
        close_badly(l, bench, &fate);
        return GYRE_OK;
    }
    return keep_launch(l, bench, &baton, cpu);
}

/* Some pairs of executions, as many as fit into a quarter of a second. */
static gyre_status launch_commands(gyre_launcher *l, gyre_ab_bench *bench, uint64_t seed)
{
    const uint64_t start_ns = gyre_clock_now_ns();
    double times_ns[GYRE_SIDES][COMMAND_PAIRS];
    char letters[2 * GYRE_BATON_PAIRS + 1];
    gyre_ab_launch *launch;
    static gyre_fate fate;
    size_t pairs = 0;

    gyre_baton_order(seed, COMMAND_PAIRS, letters);
    while (pairs == 0 || (pairs < COMMAND_PAIRS && gyre_clock_now_ns() - start_ns < COMMAND_NS)) {
        for (size_t i = 2 * pairs; i < 2 * pairs + 2; i++) {
            const size_t side = letters[i] == 'A' ? GYRE_TURN_OLD : GYRE_TURN_NEW;
            const gyre_status status =
                gyre_command_time(&l->programs[side], &l->overseer, l->pinned ? &l->allowed : NULL,
                                  &times_ns[side][pairs], &fate);

            if (status != GYRE_OK)
                return status;
            if (fate.outcome != GYRE_OUTCOME_MEASURED) {
                fate.side = (int)side;
                close_badly(l, bench, &fate);
                return GYRE_OK;
            }
        }
        pairs++;
    }
    launch = gyre_ab_launch_begin(l->ab, bench, pairs);
    if (!launch)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for a launch");
    letters[2 * pairs] = '\0';
    launch->seed = seed;
    launch->order = gyre_arena_text(&l->ab->arena, letters);
    memcpy(launch->old_ns, times_ns[GYRE_TURN_OLD], pairs * sizeof launch->old_ns[0]);
    memcpy(launch->new_ns, times_ns[GYRE_TURN_NEW], pairs * sizeof launch->new_ns[0]);
    return GYRE_OK;
}

gyre_status gyre_launch(gyre_launcher *launcher, gyre_ab_bench *bench,
                        const size_t indices[GYRE_SIDES])
{
    const uint64_t seed = gyre_stat_random_next(&launcher->random) >> 1;
    const gyre_usage_marks before = gyre_usage_read(&launcher->usage);
    const uint64_t start_ns = gyre_clock_now_ns();
    const gyre_status status = launcher->ab->lock_step ? launch_pair(launcher, bench, indices, seed)
                                                       : launch_commands(launcher, bench, seed);

    if (status != GYRE_OK)
        return status;
    bench->spent_s += (double)(gyre_clock_now_ns() - start_ns) / 1e9;
    if (bench->outcome == GYRE_OUTCOME_MEASURED)
        bench->launches[bench->launch_count++].steal_ticks =
            gyre_usage_read(&launcher->usage).steal_ticks - before.steal_ticks;
    return GYRE_OK;
}
