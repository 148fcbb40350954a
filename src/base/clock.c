/* SPDX-License-Identifier: Apache-2.0
 *
 * clock: decides once which counter tells the time, and turns its ticks into nanoseconds.
 *
 * Calibration reads counter and CLOCK_MONOTONIC together at both ends of a window, each time
 * keeping the tightest of several readings; the two gaps over the window bound the error of the
 * rate. Two milliseconds bound it to some ten parts in a million: far below what a benchmark can
 * tell apart, and cheap enough for every program start.
 *
 * Threads   `clock` is written once and published by [clock-ready].
 * Owns      the calibration.
 * Not here  deadlines (base/park.c), sampling (lab/bench/).
 */
#include "gyre/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/sysfile.h"
#include "gyre/cpu.h"

enum { WINDOW_NS = 2000000, PAIR_READINGS = 16, BATCHES = 31, BATCH_READINGS = 256 };
enum { CHOICE_AUTO, CHOICE_COUNTER, CHOICE_SYSTEM }; /* as in the form of GYRE_CLOCK */

#if defined(__x86_64__)
#define COUNTER_NAME "tsc"
#else
#define COUNTER_NAME "cntvct"
#endif

__extension__ typedef unsigned __int128 wide;

typedef struct clock_state {
    bool counter;        /* the processor's counter is used */
    uint64_t base_ticks; /* counter and CLOCK_MONOTONIC at one moment */
    uint64_t base_ns;
    uint64_t ns_per_tick_32; /* nanoseconds per tick times 2^32 */
    double ticks_per_ns;
    double error_ppm;
    const char *reason;
} clock_state;

static clock_state clock_now;
static _Atomic bool clock_ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t read_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

static uint64_t ticks_to_ns(const clock_state *clock, uint64_t ticks)
{
    const int64_t passed = (int64_t)(ticks - clock->base_ticks);

    /* another core's counter may be a few ticks behind the one that was calibrated */
    if (passed < 0)
        return clock->base_ns;
    return clock->base_ns + (uint64_t)(((wide)passed * clock->ns_per_tick_32) >> 32);
}

/* Whether the kernel lists the counter among its clock sources: it drops one it found unstable. */
static bool kernel_trusts_counter(void)
{
#if defined(__x86_64__)
    char line[256], *rest = line;

    if (gyre_sysfile_line("/sys/devices/system/clocksource/clocksource0/available_clocksource",
                          line, sizeof line))
        for (char *word; (word = strsep(&rest, " "));)
            if (strcmp(word, "tsc") ==
                0) /* the whole word: hyperv_clocksource_tsc_page is another */
                return true;
    return false;
#else
    return true;
#endif
}

/* Decides for or against the counter and says why. */
static bool choose_counter(const char **out_reason)
{
    const int64_t choice = gyre_settings_number(GYRE_SETTING_CLOCK);

#if defined(__x86_64__)
    const bool steady = gyre_cpu_has(GYRE_CPU_INVARIANT_TSC);
#else
    const bool steady = true;
#endif
    if (choice == CHOICE_SYSTEM) {
        *out_reason = "GYRE_CLOCK asks for it";
        return false;
    }
    if (!steady) {
        *out_reason = "the counter does not tick at a constant rate";
        return false;
    }
    if (choice == CHOICE_COUNTER) {
        *out_reason = "GYRE_CLOCK asks for it";
        return true;
    }
    if (!kernel_trusts_counter()) {
        *out_reason = "the kernel does not trust the counter";
        return false;
    }
    *out_reason = "it ticks at a constant rate and the kernel trusts it";
    return true;
}

typedef struct reading {
    uint64_t ticks, ns, gap_ticks; /* ns was read somewhere inside the gap */
} reading;

/* Counter and system clock together; the tightest of several tries. */
static reading read_pair(void)
{
    reading best = {.gap_ticks = UINT64_MAX};

    for (int i = 0; i < PAIR_READINGS; i++) {
        const uint64_t before = read_counter();
        const uint64_t ns = monotonic_ns();
        const uint64_t gap_ticks = read_counter() - before;

        if (gap_ticks < best.gap_ticks)
            best = (reading){before + gap_ticks / 2, ns, gap_ticks};
    }
    return best;
}

static void set_rate(clock_state *clock, double ticks_per_ns)
{
    clock->ticks_per_ns = ticks_per_ns;
    clock->ns_per_tick_32 = (uint64_t)(4294967296.0 / ticks_per_ns + 0.5);
}

static void calibrate(clock_state *clock)
{
#if defined(__x86_64__)
    const reading start = read_pair();
    reading end;

    do
        end = read_pair();
    while (end.ns - start.ns < WINDOW_NS);
    set_rate(clock, (double)(end.ticks - start.ticks) / (double)(end.ns - start.ns));
    clock->error_ppm = (double)(start.gap_ticks + end.gap_ticks) / clock->ticks_per_ns / 2 /
                       (double)(end.ns - start.ns) * 1e6;
    clock->base_ticks = end.ticks;
    clock->base_ns = end.ns;
#else
    uint64_t hertz;
    reading now;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    set_rate(clock, (double)hertz / 1e9);
    now = read_pair();
    clock->base_ticks = now.ticks;
    clock->base_ns = now.ns;
#endif
}

static void start_clock(void)
{
    clock_now.counter = choose_counter(&clock_now.reason);
    if (clock_now.counter)
        calibrate(&clock_now);
    /* release [clock-ready]: pairs with the acquire in gyre_clock_now_ns; the calibration is
     * visible before the flag */
    atomic_store_explicit(&clock_ready, true, memory_order_release);
}

uint64_t gyre_clock_now_ns(void)
{
    /* acquire [clock-ready]: pairs with the release in start_clock */
    if (__builtin_expect(!atomic_load_explicit(&clock_ready, memory_order_acquire), 0)) {
        /* first and outside the once: a malformed setting is logged, and the sink may ask the time
         */
        (void)gyre_settings_number(GYRE_SETTING_CLOCK);
        pthread_once(&once, start_clock);
    }
    return clock_now.counter ? ticks_to_ns(&clock_now, read_counter()) : monotonic_ns();
}

uint64_t gyre_clock_after_ns(uint64_t delay_ns)
{
    const uint64_t now_ns = gyre_clock_now_ns();

    return delay_ns < GYRE_NEVER - now_ns ? now_ns + delay_ns : GYRE_NEVER;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One reading's share of a batch, the median over the batches. */
static double measure_cost_ns(void)
{
    double batch_ns[BATCHES];

    for (int i = 0; i < BATCHES; i++) {
        const uint64_t start_ns = gyre_clock_now_ns();

        for (int j = 0; j < BATCH_READINGS - 1; j++)
            (void)gyre_clock_now_ns();
        batch_ns[i] = (double)(gyre_clock_now_ns() - start_ns) / BATCH_READINGS;
    }
    qsort(batch_ns, BATCHES, sizeof batch_ns[0], by_value);
    return batch_ns[BATCHES / 2];
}

/* The smallest step from one reading to a later, different one. */
static double measure_resolution_ns(void)
{
    uint64_t smallest = UINT64_MAX;

    for (int i = 0; i < BATCHES; i++) {
        const uint64_t first = gyre_clock_now_ns();
        uint64_t next;

        do
            next = gyre_clock_now_ns();
        while (next == first);
        smallest = next - first < smallest ? next - first : smallest;
    }
    return (double)smallest;
}

gyre_status gyre_clock_describe(gyre_clock_info *out_info)
{
    gyre_clock_info info = {.struct_size = 0};
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    if (!out_info || out_info->struct_size < sizeof out_info->struct_size)
        return gyre_fail(GYRE_INVALID, "clock: struct_size is not set");
    info.struct_size = out_info->struct_size;
    info.resolution_ns = measure_resolution_ns();
    info.cost_ns = measure_cost_ns();
    info.source = clock_now.counter ? COUNTER_NAME : "clock_gettime";
    info.reason = clock_now.reason;
    info.ticks_per_ns = clock_now.ticks_per_ns;
    info.error_ppm = clock_now.error_ppm;
    /* an older caller's struct is shorter; what a newer one has beyond ours is left as it is */
    memcpy(out_info, &info, info.struct_size < sizeof info ? info.struct_size : sizeof info);
    return GYRE_OK;
}
