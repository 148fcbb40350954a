/* SPDX-License-Identifier: Apache-2.0
 *
 * turns: see turns.h.
 *
 * Epochs are short, because what disturbs a shared machine lasts for milliseconds and must hit both
 * sides alike; a launch is short, because launches are what is replicated, and many short ones say
 * more than a few long ones.
 */
#include "bench/turns.h"

#include <math.h>
#include <time.h>

#include "base/fail.h"
#include "bench/sample.h"
#include "gyre/atomic.h"

static const double EPOCH_NS = 150e3, LAUNCH_NS = 250e6, MOST_NS = 300e6;
static const double LEAST_NS = 1e-3; /* of an iteration, whatever a side may say */
static const double UNTIMED = 0.625; /* batches for each epoch: 5 hand-offs in 2 blocks of 4 */

enum {
    WARM_UP_NS = 1000000,
    FEWEST_PAIRS = 2,
    FEW_PAIRS = 10,
    PRELUDE = 2, /* turns before the first that is timed */
};

static void make_plan(gyre_baton *baton)
{
    const double spent_ns = fmax(fmax(baton->spent_ns[0], baton->spent_ns[1]), LEAST_NS);
    const double iterations = fmax(1, floor(EPOCH_NS / spent_ns + 0.5));
    const double pair_ns = 2 * (1 + UNTIMED) * iterations * spent_ns;
    double pairs = fmin(fmax(floor(LAUNCH_NS / pair_ns), FEW_PAIRS), GYRE_BATON_PAIRS);

    if (pairs * pair_ns > MOST_NS)
        pairs = fmax(FEWEST_PAIRS, floor(MOST_NS / pair_ns));
    baton->iterations = (uint64_t)iterations;
    baton->pairs = (uint32_t)pairs & ~1u; /* two to a block */
}

static gyre_status find_pace(gyre_drive *drive, const gyre_turns *turns)
{
    gyre_pace pace;
    const gyre_status status = gyre_sample_warm_up(drive, WARM_UP_NS, &pace);

    if (status != GYRE_OK)
        return status;
    if (gyre_drive_stopped(drive))
        return GYRE_CANCELLED;
    drive->untimed = !(pace.timed_ns > 0);
    if (drive->untimed)
        return gyre_fail(GYRE_INVALID, "nothing was timed");
    turns->baton->spent_ns[turns->side] = pace.spent_ns;
    return GYRE_OK;
}

static gyre_status run_batch(gyre_drive *drive, uint64_t iterations, double *out_ns)
{
    if (drive->c->clock)
        return gyre_drive_clocked(drive, iterations, GYRE_CLOCKED_HOT, out_ns);
    *out_ns = (double)gyre_drive_run(drive, iterations);
    return GYRE_OK;
}

/* Each process has calibrated its own clock; these moments are compared between the two. */
static uint64_t system_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static gyre_status take_epoch(gyre_drive *drive, const gyre_turns *turns, size_t index)
{
    gyre_baton *baton = turns->baton;
    gyre_epoch *epoch = &baton->epochs[turns->side][index];
    gyre_status status;

    epoch->start_ns = system_ns();
    status = run_batch(drive, baton->iterations, &epoch->time_ns);
    epoch->end_ns = system_ns();
    /* relaxed: for who watches, a sign of life and nothing else */
    gyre_store_relaxed32(&baton->taken[turns->side], (uint32_t)index + 1);
    return status;
}

static gyre_turn other_than(gyre_turn side)
{
    return side == GYRE_TURN_OLD ? GYRE_TURN_NEW : GYRE_TURN_OLD;
}

/* All turns: one of each side that is not timed, begun by the side that will begin, and then the
 * order. So what went before, which is different for the two, is out of the caches. */
static void make_sequence(const gyre_baton *baton, char *sequence)
{
    gyre_baton_order(baton->seed, baton->pairs, sequence + PRELUDE);
    sequence[0] = sequence[PRELUDE];
    sequence[1] = sequence[0] == 'A' ? 'B' : 'A';
}

/* Once there is a plan: this side's epochs, and waiting between them. */
static gyre_status take_epochs(gyre_drive *drive, const gyre_turns *turns)
{
    const char mine = turns->side == GYRE_TURN_OLD ? 'A' : 'B';
    char sequence[PRELUDE + 2 * GYRE_BATON_PAIRS + 1];
    gyre_baton *baton = turns->baton;
    size_t taken = 0;
    double untimed_ns;

    make_sequence(baton, sequence);
    for (size_t i = 0; sequence[i]; i++) {
        gyre_status status = GYRE_OK;

        if (sequence[i] != mine)
            continue;
        if (i == 0 || sequence[i - 1] != mine) {
            status = gyre_baton_wait(baton, turns->side, drive->interrupted);
            if (status == GYRE_OK)
                status = run_batch(drive, baton->iterations, &untimed_ns);
        }
        if (status == GYRE_OK && i >= PRELUDE)
            status = take_epoch(drive, turns, taken++);
        if (status != GYRE_OK)
            return status;
        if (gyre_drive_stopped(drive))
            return GYRE_CANCELLED;
        if (sequence[i + 1] == '\0')
            gyre_baton_pass(baton, GYRE_TURN_OVER);
        else if (sequence[i + 1] != mine)
            gyre_baton_pass(baton, other_than(turns->side));
    }
    /* what follows, a check perhaps, would disturb the other's last epochs */
    return gyre_baton_wait(baton, GYRE_TURN_OVER, drive->interrupted);
}

/* The side that finds its pace last makes the plan, and gives the turn to the one that begins. */
static gyre_status take(gyre_drive *drive, const gyre_turns *turns)
{
    const bool leads = gyre_baton_leader(turns->baton) == turns->side;
    char sequence[PRELUDE + 2 * GYRE_BATON_PAIRS + 1];
    gyre_baton *baton = turns->baton;
    gyre_status status;

    gyre_baton_arrive(baton, turns->side);
    status = gyre_baton_wait(baton, turns->side, drive->interrupted);
    if (status == GYRE_OK)
        status = find_pace(drive, turns);
    if (status != GYRE_OK)
        return status;
    if (leads) {
        gyre_baton_pass(baton, other_than(turns->side));
        status = gyre_baton_wait(baton, turns->side, drive->interrupted); /* with the plan */
    } else {
        make_plan(baton);
        make_sequence(baton, sequence);
        gyre_baton_pass(baton, sequence[0] == 'A' ? GYRE_TURN_OLD : GYRE_TURN_NEW);
    }
    if (status == GYRE_OK && !gyre_baton_planned(baton))
        return gyre_fail(GYRE_INVALID, "the other side made no plan");
    return status == GYRE_OK ? take_epochs(drive, turns) : status;
}

gyre_status gyre_turns_take(gyre_drive *drive, const gyre_turns *turns)
{
    const gyre_status status = take(drive, turns);

    if (status != GYRE_OK)
        gyre_baton_pass(turns->baton, GYRE_TURN_OVER);
    return status;
}
