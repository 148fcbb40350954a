/* SPDX-License-Identifier: Apache-2.0
 *
 * drive: see drive.h.
 */
#include "bench/drive.h"

static uint64_t timed_run(gyre_drive *drive, uint64_t iterations)
{
    const gyre_bench *bench = &drive->c->bench;
    uint64_t start_ns;

    if (drive->team)
        return gyre_team_round(drive->team, bench->run, drive->fixture, iterations, drive->now_ns);
    start_ns = drive->now_ns();
    bench->run(drive->fixture, iterations);
    return drive->now_ns() - start_ns;
}

static uint64_t batch_of(const gyre_bench *bench, uint64_t iterations)
{
    switch (bench->batch) {
    case GYRE_BATCH_LARGE:
        return (iterations + 999) / 1000;
    case GYRE_BATCH_EACH:
        return 1;
    case GYRE_BATCH_SMALL:
    default:
        return (iterations + 9) / 10;
    }
}

uint64_t gyre_drive_run(gyre_drive *drive, uint64_t iterations)
{
    const gyre_bench *bench = &drive->c->bench;
    uint64_t spent_ns = 0, left = iterations;
    uint64_t batch = iterations;

    if (bench->prepare)
        batch = batch_of(bench, iterations);
    while (left > 0) {
        const uint64_t now = left < batch ? left : batch;

        if (bench->prepare)
            bench->prepare(drive->fixture, now);
        spent_ns += timed_run(drive, now);
        left -= now;
    }
    drive->iterations += iterations;
    return spent_ns;
}

gyre_status gyre_drive_clocked(gyre_drive *drive, uint64_t iterations, gyre_clocked figure,
                               double *out_ns)
{
    const gyre_bench_clock *clock = drive->c->clock;
    const gyre_bench *bench = &drive->c->bench;
    gyre_status status = GYRE_OK;
    uint64_t start_ns;

    *out_ns = 0;
    if (bench->prepare)
        bench->prepare(drive->fixture, iterations);
    if (figure == GYRE_CLOCKED_COLD)
        status = clock->flush(drive->fixture);
    if (status == GYRE_OK && figure != GYRE_CLOCKED_END_TO_END)
        status = clock->begin(drive->fixture);
    if (status != GYRE_OK)
        return status;
    start_ns = drive->now_ns();
    bench->run(drive->fixture, iterations);
    drive->iterations += iterations;
    status = clock->end(drive->fixture);
    if (status == GYRE_OK)
        status = clock->read(drive->fixture, out_ns);
    if (figure == GYRE_CLOCKED_END_TO_END)
        *out_ns = (double)(drive->now_ns() - start_ns);
    return status;
}
