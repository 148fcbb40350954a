/* SPDX-License-Identifier: Apache-2.0
 *
 * base: what the base layer itself costs, each figure beside its floor.
 *
 * Threads   one, and a partner for the park round trips, which is pinned beside it where two CPUs
 *           may be used.
 * Owns      a fixture per case.
 * Not here  two threads passing messages (suites/reply.c, suites/stream.c).
 */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gyre/bench.h"
#include "gyre/clock.h"
#include "gyre/library.h"
#include "gyre/park.h"
#include "gyre/status.h"
#include "gyre/thread.h"
#include "gyre/trace.h"
#include "suites/partner.h"
#include "suites/suites.h"

/* A fixture that only counts; the whole of most cases here. */
typedef struct tally {
    uint64_t right; /* iterations whose answer was right */
    uint64_t last;  /* the previous reading of a clock */
} tally;

static gyre_status tally_setup(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    *out_fixture = calloc(1, sizeof(tally));
    return *out_fixture ? GYRE_OK : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a tally");
}

static bool tally_is_full(const void *fixture, uint64_t iterations)
{
    return ((const tally *)fixture)->right == iterations;
}

/* clock: a reading counts as right when it is not before the one that preceded it */

static void clock_now(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t now = gyre_clock_now_ns();

        t->right += now >= t->last;
        t->last = now;
    }
}

static void clock_system(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        struct timespec ts;
        uint64_t now;

        clock_gettime(CLOCK_MONOTONIC, &ts);
        now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
        t->right += now >= t->last;
        t->last = now;
    }
}

static void clock_counter(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        uint64_t now;
#if defined(__x86_64__)
        now = __builtin_ia32_rdtsc();
#else
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
#endif
        t->right += now >= t->last;
        t->last = now;
    }
}

/* status */

static void status_fail(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        t->right += gyre_thread_pin_self(NULL, 0) == GYRE_INVALID &&
                    gyre_error_last()->status == GYRE_INVALID;
}

static void status_name(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_status status = GYRE_TIMEOUT;

        gyre_bench_keep(&status); /* or the compiler knows which name it will be */
        t->right += gyre_status_name(status)[0] == 't';
    }
}

/* trace: off and on beside the same loop without it */

static void trace_bare(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        t->right++;
        gyre_bench_keep(t);
    }
}

static void trace_event(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_trace(GYRE_TRACE_INSTANT, "trace_event", i);
        t->right++;
        gyre_bench_keep(t);
    }
}

/* With --trace it is on for all. */
static gyre_status trace_off_setup(const gyre_bench_case *c, void **out_fixture)
{
    if (gyre_load_relaxed32(&gyre_trace_on) != 0) /* relaxed: set by this thread */
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "the recorder is in use, by --trace");
    return tally_setup(c, out_fixture);
}

static gyre_status trace_on_setup(const gyre_bench_case *c, void **out_fixture)
{
    gyre_status status = trace_off_setup(c, out_fixture);

    if (status == GYRE_OK)
        status = gyre_trace_start(NULL);
    if (status != GYRE_OK) {
        free(*out_fixture);
        *out_fixture = NULL;
    }
    return status;
}

static void count_event(void *user, const gyre_trace_event *event)
{
    uint64_t *found = user;

    *found += strcmp(event->name, "trace_event") == 0;
}

/* Every event is either still there or was overwritten by a later one. */
static bool trace_kept_all(const void *fixture, uint64_t iterations)
{
    gyre_trace_totals totals;
    uint64_t found = 0;

    gyre_trace_read(count_event, &found, &totals);
    return tally_is_full(fixture, iterations) && totals.refused == 0 &&
           found + totals.overwritten >= iterations;
}

static void trace_on_teardown(void *fixture)
{
    gyre_trace_stop();
    free(fixture);
}

/* park: a ball between two threads; each waits for its turn in the way that is measured. Bare, the
 * two poll one word: the floor of the other two, taken beside them. */

typedef enum manner { BARE, SPIN, SLEEP } manner;

/* What one thread writes lies on no line, nor on the neighbour fetched along with it, that another
 * reads for anything else. */
typedef struct side {
    alignas(128) gyre_park park; /* written by its sleeper, read by the other's wake */
    alignas(128) gyre_spin spin; /* its own thread's */
    uint64_t trips;              /* turns that came back; the driver's */
} side;

typedef struct court {
    gyre_ball ball;
    side sides[2];
    alignas(128) manner manner; /* constant from here on, while the case runs */
    gyre_partner partner;
} court;

typedef struct turn {
    court *c;
    uint64_t parity;
} turn;

/* seq_cst [park-handshake]: as gyre/park.h asks of the condition */
static bool my_turn(void *arg)
{
    const turn *t = arg;

    return __atomic_load_n(&t->c->ball.turn, __ATOMIC_SEQ_CST) % 2 == t->parity ||
           __atomic_load_n(&t->c->ball.quit, __ATOMIC_SEQ_CST) != 0;
}

static bool wait_turn(court *c, uint64_t parity)
{
    turn t = {c, parity};

    return gyre_park_wait(&c->sides[parity].park, c->manner == SPIN ? &c->sides[parity].spin : NULL,
                          my_turn, &t, GYRE_NEVER) == GYRE_OK;
}

static void hit(court *c, uint64_t other)
{
    /* seq_cst [park-handshake]: the change before the wake */
    __atomic_fetch_add(&c->ball.turn, 1, __ATOMIC_SEQ_CST);
    gyre_park_wake(&c->sides[other].park, 1);
}

static void bare_round_trips(void *fixture, uint64_t iterations)
{
    court *c = fixture;

    gyre_ball_drive(&c->ball, iterations);
    c->sides[0].trips += iterations;
}

static void partner(void *arg)
{
    court *c = arg;

    if (c->manner == BARE) {
        gyre_ball_return(&c->ball);
        return;
    }
    for (;;) {
        (void)wait_turn(c, 1);
        if (__atomic_load_n(&c->ball.quit, __ATOMIC_SEQ_CST))
            return;
        hit(c, 0);
    }
}

static void court_teardown(void *fixture)
{
    court *c = fixture;

    __atomic_store_n(&c->ball.quit, 1, __ATOMIC_SEQ_CST); /* [park-handshake] */
    gyre_park_wake(&c->sides[1].park, 1);
    gyre_partner_stop(&c->partner);
    free(c);
}

static gyre_status court_setup(void **out_fixture, manner how)
{
    court *c = aligned_alloc(alignof(court), sizeof *c);
    gyre_status status;

    *out_fixture = NULL;
    if (!c)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for two threads' turns");
    memset(c, 0, sizeof *c);
    c->manner = how;
    status = gyre_partner_start(&c->partner, partner, c);
    if (status != GYRE_OK) {
        court_teardown(c); /* accepts a half-built court */
        return status;
    }
    *out_fixture = c;
    return GYRE_OK;
}

static gyre_status court_setup_bare(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return court_setup(out_fixture, BARE);
}

static gyre_status court_setup_spin(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return court_setup(out_fixture, SPIN);
}

static gyre_status court_setup_sleep(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return court_setup(out_fixture, SLEEP);
}

static void round_trips(void *fixture, uint64_t iterations)
{
    court *c = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        hit(c, 1);
        c->sides[0].trips += wait_turn(c, 0);
    }
}

static bool court_counts_agree(const void *fixture, uint64_t iterations)
{
    const court *c = fixture;

    return c->sides[0].trips == iterations &&
           __atomic_load_n(&c->ball.turn, __ATOMIC_SEQ_CST) == 2 * iterations;
}

static void wake_nobody(void *fixture, uint64_t iterations)
{
    tally *t = fixture;
    gyre_park park = {0, 0};

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_park_wake(&park, 1);
        t->right += park.epoch == 0; /* nobody slept, so nothing may have changed */
        gyre_bench_keep(&park);
    }
}

/* init: a process that starts, prepares the library or not, and ends; the difference is the cost
 * of preparing. The command knows the hidden word. */

static bool run_self(const char *word)
{
    char path[] = "/proc/self/exe", argument[32];
    char *const argv[] = {path, argument, NULL};
    pid_t child;
    int status;

    strncpy(argument, word, sizeof argument - 1);
    argument[sizeof argument - 1] = '\0';
    return posix_spawn(&child, path, NULL, NULL, argv, environ) == 0 &&
           waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void process_bare(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        t->right += run_self("--start-only");
}

static void process_prepared(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        t->right += run_self("--prepare-only");
}

static void prepare_again(void *fixture, uint64_t iterations)
{
    tally *t = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        t->right += gyre_prepare() == GYRE_OK;
}

#define COUNTED .setup = tally_setup, .check = tally_is_full, .teardown = free

static const gyre_bench benches[] = {
    {
        .name = "clock/now_ns",
        .t0 = "one reading",
        .t1 = "the next one",
        .observer = "the caller, which checks that it is not earlier",
        .run = clock_now,
        COUNTED,
    },
    {
        .name = "clock/floor_counter",
        .t0 = "one reading of the bare counter",
        .t1 = "the next one",
        .observer = "the caller, which checks that it is not earlier",
        .run = clock_counter,
        COUNTED,
    },
    {
        .name = "clock/peer_clock_gettime",
        .t0 = "one reading of CLOCK_MONOTONIC",
        .t1 = "the next one",
        .observer = "the caller, which checks that it is not earlier",
        .run = clock_system,
        COUNTED,
    },
    {
        .name = "status/fail",
        .t0 = "the call of a function that fails",
        .t1 = "its return",
        .observer = "the caller, which reads status and detail",
        .run = status_fail,
        COUNTED,
    },
    {
        .name = "status/name",
        .t0 = "the call",
        .t1 = "its return",
        .observer = "the caller, which reads the name",
        .run = status_name,
        COUNTED,
    },
    {
        .name = "trace/floor_loop",
        .t0 = "one turn of a loop that counts",
        .t1 = "the next one",
        .observer = "the same thread, which compares the count",
        .run = trace_bare,
        COUNTED,
    },
    {
        .name = "trace/off",
        .t0 = "one turn of a loop that counts and traces",
        .t1 = "the next one",
        .observer = "the same thread, which compares the count",
        .setup = trace_off_setup,
        .run = trace_event,
        .check = tally_is_full,
        .teardown = free,
    },
    {
        .name = "trace/on",
        .t0 = "one turn of a loop that counts and traces",
        .t1 = "the next one",
        .observer = "the same thread, which reads the events back",
        .setup = trace_on_setup,
        .run = trace_event,
        .check = trace_kept_all,
        .teardown = trace_on_teardown,
    },
    {
        .name = "park/wake_nobody",
        .t0 = "the call",
        .t1 = "its return",
        .observer = "the caller, which checks that nothing changed",
        .run = wake_nobody,
        COUNTED,
    },
    {
        .name = "park/floor_ping_pong",
        .t0 = "the store that gives the turn away",
        .t1 = "the poll that sees the turn come back from the other thread",
        .observer = "the same thread, which counts the turns of both",
        .setup = court_setup_bare,
        .run = bare_round_trips,
        .check = court_counts_agree,
        .teardown = court_teardown,
    },
    {
        .name = "park/round_trip_spin",
        .t0 = "the store that gives the turn away",
        .t1 = "the waiter sees the turn come back from the other thread",
        .observer = "the same thread, which counts the turns of both",
        .setup = court_setup_spin,
        .run = round_trips,
        .check = court_counts_agree,
        .teardown = court_teardown,
    },
    {
        .name = "park/round_trip_sleep",
        .t0 = "the store that gives the turn away",
        .t1 = "the sleeper, woken, sees the turn come back from the other thread",
        .observer = "the same thread, which counts the turns of both",
        .setup = court_setup_sleep,
        .run = round_trips,
        .check = court_counts_agree,
        .teardown = court_teardown,
    },
    {
        .name = "init/floor_process",
        .t0 = "posix_spawn of this program, which ends at once",
        .t1 = "waitpid has its exit status",
        .observer = "the parent, which checks the status",
        .run = process_bare,
        COUNTED,
    },
    {
        .name = "init/process_prepared",
        .t0 = "posix_spawn of this program, which calls gyre_prepare and ends",
        .t1 = "waitpid has its exit status",
        .observer = "the parent, which checks the status",
        .run = process_prepared,
        COUNTED,
    },
    {
        .name = "init/prepare_again",
        .t0 = "the call of gyre_prepare in a prepared process",
        .t1 = "its return",
        .observer = "the caller, which checks the status",
        .run = prepare_again,
        COUNTED,
    },
};

const gyre_suite gyre_suite_base = GYRE_SUITE("base", benches);
