/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_sustained: whether the rate of pairs lasts.
 *
 * An iteration goes on for a tenth of the axis `seconds`, so ten samples, which are the fewest, are
 * all of it. It is cut into six windows, and pairs are counted for each: with 60 seconds a window
 * is one. The time of an iteration says nothing; what there is to know is among the counters.
 * Memory that is resident is looked at before and after each iteration but the first.
 *
 * A window in which the hypervisor took CPU time counts like any other. What was taken in each is
 * told beside, by the system's account of all CPUs, which is in ticks.
 *
 * Two threads of the host have not much more to give than a GPU takes, so what disturbs one of them
 * is seen in the rate; four have.
 *
 * Threads   those of the host, with a port each.
 * Owns      a fixture per case.
 * Not here  how fast it can be at best (suites/actor_rate.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "suites/actor_pairs.h"
#include "suites/suites.h"
#include "suites/troupe.h"

enum {
    PARTS = 10,   /* iterations in the time that was asked for */
    WINDOWS = 6,  /* of an iteration */
    KEPT = 65536, /* windows */
    SECONDS_MOST = 86400,
    LISTED = 16,       /* windows that are told of one by one */
    LISTED_BYTES = 64, /* for each */
};

typedef struct own {
    gyre_bulk bulk;
    uint64_t called;    /* messages */
    uint32_t windows;   /* that are over */
    uint32_t *answered; /* owned; in each window */
} own;

typedef struct sustained {
    gyre_troupe troupe;
    uint64_t window_ns;
    uint64_t iterations;  /* that are over; the first is the warm-up of memory */
    int64_t growth_bytes; /* of resident memory, in all others */
    uint64_t growth_ns;   /* how long they took */
    bool sees_steal;      /* the system accounts for it */
    uint32_t *stolen;     /* owned; ticks in each window; the first thread's */
    own own[GYRE_TROUPE_PORTS];
} sustained;

static void teardown(void *fixture)
{
    sustained *s = fixture;

    gyre_troupe_close(&s->troupe);
    for (uint32_t i = 0; i < GYRE_TROUPE_PORTS; i++) {
        gyre_bulk_fini(&s->own[i].bulk);
        free(s->own[i].answered);
    }
    free(s->stolen);
    free(s);
}

/* What the hypervisor took of all CPUs since boot; false when that is not known. */
static bool read_steal(uint64_t *out_ticks)
{
    FILE *const file = fopen("/proc/stat", "re");
    unsigned long long ticks = 0;
    bool known;

    *out_ticks = 0;
    if (!file)
        return false;
    known = fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) == 1;
    fclose(file);
    *out_ticks = ticks;
    return known;
}

static gyre_status own_init(own *o, uint32_t thread)
{
    o->answered = calloc(KEPT, sizeof o->answered[0]);
    if (!o->answered)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the windows");
    return gyre_bulk_init(&o->bulk, (uint64_t)thread << 48);
}

static gyre_status setup(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_troupe_options options = {
        .behaviour = &echo_quad,
        .actors = 1,
        .threads = (uint32_t)gyre_bench_axis(c, "threads"),
        .launch = {.capacity = GYRE_BULK_RING},
    };
    const int64_t seconds = gyre_bench_axis(c, "seconds");
    uint64_t ticks;
    sustained *s;
    gyre_status status;

    *out_fixture = NULL;
    if (seconds < 1 || seconds > SECONDS_MOST)
        return gyre_bench_refuse(GYRE_INVALID, "it goes on for 1 to %d seconds", SECONDS_MOST);
    s = aligned_alloc(alignof(sustained), sizeof *s);
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(s, 0, sizeof *s);
    s->window_ns = (uint64_t)seconds * 1000000000 / PARTS / WINDOWS;
    s->sees_steal = read_steal(&ticks);
    s->stolen = calloc(KEPT, sizeof s->stolen[0]);
    status = s->stolen ? gyre_troupe_open(&s->troupe, c, &options)
                       : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the windows");
    for (uint32_t i = 0; status == GYRE_OK && i < s->troupe.threads; i++)
        status = own_init(&s->own[i], i);
    if (status != GYRE_OK) {
        teardown(s); /* accepts a half-built one */
        return status;
    }
    *out_fixture = s;
    return GYRE_OK;
}

static uint64_t resident_bytes(void)
{
    FILE *const file = fopen("/proc/self/statm", "re");
    unsigned long long size = 0, resident = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* One window; false when a call failed, and the check will miss messages. */
static bool go_on(own *o, gyre_port *port, uint64_t until_ns)
{
    const uint64_t before = o->bulk.answered;

    do {
        o->called += GYRE_BULK;
        if (gyre_bulk_call(&o->bulk, port, GYRE_BULK,
                           gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS)) != GYRE_OK)
            return false;
    } while (gyre_clock_now_ns() < until_ns);
    if (o->windows < KEPT)
        o->answered[o->windows++] = (uint32_t)(o->bulk.answered - before);
    return true;
}

/* All windows of an iteration, by one thread; the first of them keeps what was stolen. */
static bool go_through(sustained *s, uint32_t thread, uint64_t start_ns)
{
    own *const o = &s->own[thread];
    uint64_t before = 0, now;
    const bool looks = thread == 0 && s->sees_steal && read_steal(&before);

    for (uint64_t w = 1; w <= WINDOWS; w++) {
        const uint32_t window = o->windows;

        if (!go_on(o, s->troupe.port[0][thread], start_ns + w * s->window_ns))
            return false;
        if (!looks || !read_steal(&now))
            continue;
        if (window < KEPT)
            s->stolen[window] = (uint32_t)(now - before);
        before = now;
    }
    return true;
}

/* After an iteration. What the lab takes between two of them is not counted. */
static void count_growth(sustained *s, uint64_t start_ns, uint64_t start_bytes)
{
    if (s->iterations++ == 0)
        return;
    s->growth_bytes += (int64_t)(resident_bytes() - start_bytes);
    s->growth_ns += gyre_clock_now_ns() - start_ns;
}

static void call_for_a_while(void *fixture, uint64_t iterations)
{
    sustained *s = fixture;
    const uint32_t thread = s->troupe.threads > 1 ? gyre_bench_thread() : 0;

    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t start_bytes = thread == 0 ? resident_bytes() : 0;
        const uint64_t start_ns = gyre_clock_now_ns();

        if (!go_through(s, thread, start_ns))
            return;
        if (thread == 0)
            count_growth(s, start_ns, start_bytes);
    }
}

static bool none_lost(const void *fixture, uint64_t iterations)
{
    const sustained *s = fixture;

    for (uint32_t i = 0; i < s->troupe.threads; i++) {
        const own *o = &s->own[i];

        if (!gyre_bulk_is_right(&o->bulk, (uint64_t)i << 48, o->called) ||
            (o->windows != iterations * WINDOWS && o->windows < KEPT)) {
            (void)gyre_bench_refuse(
                GYRE_CORRUPT, "thread %u: %llu of %llu answers were right, in %u windows", i,
                (unsigned long long)o->bulk.answered, (unsigned long long)o->called, o->windows);
            return false;
        }
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Pairs a second of a window, all threads together. */
static double rate_of(const sustained *s, uint32_t window)
{
    double answered = 0;

    for (uint32_t i = 0; i < s->troupe.threads; i++)
        answered += s->own[i].answered[window];
    return answered * 1e9 / (double)s->window_ns;
}

/* The same of all windows, from slow to fast. */
static double *sorted_windows(const sustained *s, uint32_t *out_count)
{
    const uint32_t count = s->own[0].windows;
    double *const per_s = calloc(count ? count : 1, sizeof per_s[0]);

    *out_count = per_s ? count : 0;
    for (uint32_t w = 0; per_s && w < count; w++)
        per_s[w] = rate_of(s, w);
    if (per_s)
        qsort(per_s, count, sizeof per_s[0], compare);
    return per_s;
}

/* Which windows the hypervisor disturbed, and how many of the slowest twentieth are among them. */
static void tell_steal(const sustained *s, const double *sorted, uint32_t count,
                       gyre_bench_facts *facts)
{
    char list[LISTED * LISTED_BYTES] = "";
    uint32_t disturbed = 0, slow = 0, slow_disturbed = 0;
    uint64_t ticks = 0;
    size_t length = 0;

    if (!s->sees_steal) {
        gyre_bench_note(facts, "disturbed", "the system does not tell");
        return;
    }
    for (uint32_t w = 0; w < count; w++) {
        const double rate = rate_of(s, w);
        const bool is_slow = rate <= sorted[count / 20];

        slow += is_slow;
        if (s->stolen[w] == 0)
            continue;
        ticks += s->stolen[w];
        slow_disturbed += is_slow;
        if (disturbed++ < LISTED)
            length += (size_t)snprintf(
                list + length, sizeof list - length, "%swindow %u: %u ticks, %.3f of the median",
                length ? "; " : "", w, s->stolen[w], rate / sorted[count / 2]);
    }
    gyre_bench_count(facts, "steal_ticks", (double)ticks);
    gyre_bench_count(facts, "windows_with_steal", disturbed);
    gyre_bench_count(facts, "slow_windows", slow);
    gyre_bench_count(facts, "slow_windows_with_steal", slow_disturbed);
    if (disturbed > 0)
        gyre_bench_note(facts, disturbed > LISTED ? "first_disturbed" : "disturbed", list);
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const sustained *s = fixture;
    uint64_t called = 0, answered = 0;
    uint32_t count;
    double *const per_s = sorted_windows(s, &count);

    (void)iterations;
    gyre_troupe_tell(&s->troupe, facts);
    for (uint32_t i = 0; i < s->troupe.threads; i++) {
        called += s->own[i].called;
        answered += s->own[i].bulk.answered;
    }
    gyre_bench_count(facts, "pairs", (double)answered);
    gyre_bench_count(facts, "lost", (double)(called - answered));
    gyre_bench_count(facts, "windows", count);
    gyre_bench_count(facts, "window_ms", (double)s->window_ns / 1e6);
    if (count > 0) {
        gyre_bench_count(facts, "median_window_per_s", per_s[count / 2]);
        gyre_bench_count(facts, "p5_window_per_s", per_s[count / 20]);
        gyre_bench_count(facts, "slowest_window_per_s", per_s[0]);
        gyre_bench_count(facts, "p5_of_median", per_s[count / 20] / per_s[count / 2]);
        tell_steal(s, per_s, count, facts);
    }
    gyre_bench_count(facts, "bulk", GYRE_BULK);
    if (s->iterations > 1) {
        gyre_bench_count(facts, "resident_growth_bytes", (double)s->growth_bytes);
        gyre_bench_count(facts, "resident_growth_s", (double)s->growth_ns / 1e9);
    }
    free(per_s);
}

static const gyre_bench benches[] = {
    {
        .name = "actor_sustained/pairs_60s",
        .axes = {GYRE_DEVICE_AXIS, GYRE_AXIS("threads", 2, 4), GYRE_AXIS("seconds", 60)},
        .t0 = "the common start of all threads",
        .t1 = "a tenth of the seconds is over, and what was under way is answered",
        .observer = "the host's threads, which compare every answer, in order",
        .setup = setup,
        .threads = gyre_troupe_threads,
        .run = call_for_a_while,
        .check = none_lost,
        .tell = tell,
        .teardown = teardown,
        .tags = GYRE_TAG_CPU | GYRE_TAG_GPU | GYRE_TAG_SLOW,
    },
};

const gyre_suite gyre_suite_actor_sustained =
    GYRE_DEVICE_SUITE("actor_sustained", benches, NULL, &gyre_device_guard);
