/* SPDX-License-Identifier: Apache-2.0
 *
 * drive: see drive.h.
 */
#include "bench/drive.h"

#include "gyre/trace.h"

uint64_t gyre_drive_batch(const gyre_drive *drive, uint64_t iterations)
{
    if (!drive->c->bench.prepare)
        return iterations;
    switch (drive->c->bench.batch) {
    case GYRE_BATCH_LARGE:
        return (iterations + 999) / 1000;
    case GYRE_BATCH_EACH:
        return 1;
    case GYRE_BATCH_SMALL:
    default:
        return (iterations + 9) / 10;
    }
}

void gyre_drive_prepare(gyre_drive *drive, uint64_t iterations)
{
    if (drive->c->bench.prepare)
        drive->c->bench.prepare(drive->fixture, iterations);
}

uint64_t gyre_drive_run_prepared(gyre_drive *drive, uint64_t iterations)
{
    const gyre_bench *bench = &drive->c->bench;
    uint64_t start_ns;

    drive->iterations += iterations;
    if (drive->team)
        return gyre_team_round(drive->team, bench->run, drive->fixture, iterations, drive->now_ns);
    start_ns = drive->now_ns();
    bench->run(drive->fixture, iterations);
    return drive->now_ns() - start_ns;
}

uint64_t gyre_drive_run(gyre_drive *drive, uint64_t iterations)
{
    const uint64_t batch = gyre_drive_batch(drive, iterations);
    uint64_t spent_ns = 0, left = iterations;

    gyre_trace_begin("run");
    while (left > 0) {
        const uint64_t now = left < batch ? left : batch;

        gyre_drive_prepare(drive, now);
        spent_ns += gyre_drive_run_prepared(drive, now);
        left -= now;
    }
    gyre_trace_end("run");
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
    gyre_drive_prepare(drive, iterations);
    if (figure == GYRE_CLOCKED_COLD)
        status = clock->flush(drive->fixture);
    if (status == GYRE_OK && figure != GYRE_CLOCKED_END_TO_END)
        status = clock->begin(drive->fixture);
    if (status != GYRE_OK)
        return status;
    gyre_trace_begin("run");
    start_ns = drive->now_ns();
    bench->run(drive->fixture, iterations);
    drive->iterations += iterations;
    status = clock->end(drive->fixture);
    if (status == GYRE_OK)
        status = clock->read(drive->fixture, out_ns);
    if (figure == GYRE_CLOCKED_END_TO_END)
        *out_ns = (double)(drive->now_ns() - start_ns);
    gyre_trace_end("run");
    return status;
}
