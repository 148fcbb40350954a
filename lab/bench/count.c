/* SPDX-License-Identifier: Apache-2.0
 *
 * count: see count.h.
 */
#include "bench/count.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/usage.h"
#include "preload/allocations.h"

enum {
    LONG_ENOUGH_NS = 20000000,
    MOST_COUNTED = 1000,
    CLOCKED_TRIES = 3,
    CLOCKED_ITERATIONS = 100
};

static void (*counted)(void *fixture, uint64_t iterations);

void gyre_bench_counted_run(void *fixture, uint64_t iterations);

/* Not inlined, and with its own name: callgrind looks for it. */
__attribute__((noinline)) void gyre_bench_counted_run(void *fixture, uint64_t iterations)
{
    counted(fixture, iterations);
    __asm__ volatile("" : : : "memory"); /* no jump in place of the call */
}

/* A number of iterations that is worth counting, found by running them. */
static uint64_t warm_up(gyre_drive *drive)
{
    uint64_t iterations = 1;
    double ns;

    if (drive->c->clock) { /* what runs elsewhere cannot be judged by how long we take */
        for (int i = 0; i < CLOCKED_TRIES; i++)
            (void)!gyre_drive_clocked(drive, CLOCKED_ITERATIONS, GYRE_CLOCKED_HOT, &ns);
        return CLOCKED_ITERATIONS;
    }
    while (gyre_drive_run(drive, iterations) < LONG_ENOUGH_NS && iterations < MOST_COUNTED)
        iterations *= 2;
    return iterations < MOST_COUNTED ? iterations : MOST_COUNTED;
}

/* What is read before and after each counted run, so that preparing is not counted. */
typedef struct counter {
    void (*begin)(struct counter *c);
    void (*end)(struct counter *c);
    const gyre_allocations *made;
    uint64_t calls, bytes; /* sums over the runs */
    int instructions;      /* descriptor of the group's leader; -1 none */
} counter;

static void count_one(gyre_drive *drive, uint64_t iterations)
{
    const gyre_bench_clock *clock = drive->c->clock;
    double device_ns;

    drive->iterations += iterations;
    if (drive->team)
        (void)gyre_team_round(drive->team, gyre_bench_counted_run, drive->fixture, iterations,
                              drive->now_ns);
    else
        gyre_bench_counted_run(drive->fixture, iterations);
    if (clock && clock->end(drive->fixture) == GYRE_OK)
        (void)!clock->read(drive->fixture, &device_ns); /* waits */
}

static void count_all(gyre_drive *drive, uint64_t iterations, counter *c)
{
    const uint64_t batch = gyre_drive_batch(drive, iterations);

    counted = drive->c->bench.run;
    for (uint64_t left = iterations, now; left > 0; left -= now) {
        now = left < batch ? left : batch;
        gyre_drive_prepare(drive, now);
        c->begin(c);
        count_one(drive, now);
        c->end(c);
    }
}

/* relaxed, all four: sums, read while the counted work stands still */
static void begin_allocations(counter *c)
{
    if (c->made) {
        c->calls -= gyre_load_relaxed(&c->made->calls);
        c->bytes -= gyre_load_relaxed(&c->made->bytes);
    }
}

static void end_allocations(counter *c)
{
    if (c->made) {
        c->calls += gyre_load_relaxed(&c->made->calls);
        c->bytes += gyre_load_relaxed(&c->made->bytes);
    }
}

void gyre_count_memory(gyre_drive *drive, gyre_result *result)
{
    counter c = {.begin = begin_allocations,
                 .end = end_allocations,
                 .made = dlsym(RTLD_DEFAULT, GYRE_ALLOCATIONS_SYMBOL)};
    uint64_t iterations;

    gyre_drive_tell(drive, "counting allocations", 0);
    iterations = warm_up(drive);
    count_all(drive, iterations, &c);
    result->memory.counted = c.made != NULL;
    result->memory.allocations = (double)c.calls / (double)iterations;
    result->memory.allocated_bytes = (double)c.bytes / (double)iterations;
    result->memory.peak_rss_bytes = gyre_usage_peak_bytes();
}

static int open_counter(uint64_t config, int group)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attr,
        .config = config,
        .disabled = group < 0,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

int gyre_count_probe(void)
{
    const int fd = open_counter(PERF_COUNT_HW_INSTRUCTIONS, -1);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static double read_counter(int fd)
{
    uint64_t value;

    return fd >= 0 && read(fd, &value, sizeof value) == (ssize_t)sizeof value ? (double)value : 0;
}

static void begin_instructions(counter *c)
{
    if (c->instructions >= 0)
        ioctl(c->instructions, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

static void end_instructions(counter *c)
{
    if (c->instructions >= 0)
        ioctl(c->instructions, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

void gyre_count_instructions(gyre_drive *drive, gyre_result *result)
{
    const int instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS, -1);
    const int cycles = instructions < 0 ? -1 : open_counter(PERF_COUNT_HW_CPU_CYCLES, instructions);
    counter c = {
        .begin = begin_instructions, .end = end_instructions, .instructions = instructions};
    uint64_t iterations;

    gyre_drive_tell(drive, "counting instructions", 0);
    iterations = warm_up(drive);
    count_all(drive, iterations, &c);
    if (instructions >= 0) {
        result->instructions.source = "perf";
        result->instructions.per_iteration = read_counter(instructions) / (double)iterations;
        result->instructions.cycles = read_counter(cycles) / (double)iterations;
        close(instructions);
    } else {
        gyre_bench_count(&result->facts, GYRE_COUNTED_FACT, (double)iterations);
    }
    if (cycles >= 0)
        close(cycles);
}
