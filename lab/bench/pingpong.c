/* SPDX-License-Identifier: Apache-2.0
 *
 * pingpong: see pingpong.h.
 *
 * One counter on one line: side A makes it odd, side B makes it even. Neither side spins without
 * limit: when a partner is not scheduled for a second the measurement gives up.
 */
#include "bench/pingpong.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/fail.h"
#include "gyre/clock.h"
#include "gyre/thread.h"
#include "stat/order.h"

enum { BATCHES = 101, TRIPS_PER_BATCH = 500, PATIENCE_NS = 1000000000 };
enum { TRIPS = BATCHES * TRIPS_PER_BATCH };

/* Nothing but the ball is written while it flies, and nothing else lies on its line or on the one
 * that the processor fetches along with it. */
typedef struct table {
    _Alignas(128) _Atomic uint64_t ball; /* odd: B's turn */
    _Alignas(128) _Atomic bool given_up;
    uint64_t returned; /* by B; both are written at the end and read after joining */
    bool done;         /* A finished */
    double batch_ns[BATCHES];
} table;

/* Waits until the ball has this value; false when patience ends. */
static bool wait_for(table *t, uint64_t value)
{
    uint64_t polls = 0, start_ns = 0;

    /* acquire [pingpong-ball]: pairs with the releases in serve and give_back */
    while (atomic_load_explicit(&t->ball, memory_order_acquire) != value) {
        if (++polls % 65536 != 0)
            continue;
        if (start_ns == 0)
            start_ns = gyre_clock_now_ns();
        /* relaxed, both: a flag that ends the loop */
        if (gyre_clock_now_ns() - start_ns > PATIENCE_NS)
            atomic_store_explicit(&t->given_up, true, memory_order_relaxed);
        if (atomic_load_explicit(&t->given_up, memory_order_relaxed))
            return false;
    }
    return true;
}

static void serve(void *arg)
{
    table *t = arg;

    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        const uint64_t start_ns = gyre_clock_now_ns();

        for (uint64_t i = 0; i < TRIPS_PER_BATCH; i++) {
            const uint64_t ball = 2 * (batch * TRIPS_PER_BATCH + i);

            /* release [pingpong-ball]: pairs with the acquire in wait_for */
            atomic_store_explicit(&t->ball, ball + 1, memory_order_release);
            if (!wait_for(t, ball + 2))
                return;
        }
        t->batch_ns[batch] = (double)(gyre_clock_now_ns() - start_ns) / TRIPS_PER_BATCH;
    }
    t->done = true;
}

static void give_back(void *arg)
{
    table *t = arg;
    uint64_t returned = 0;

    while (returned < TRIPS && wait_for(t, 2 * returned + 1)) {
        returned++;
        /* release [pingpong-ball]: pairs with the acquire in wait_for */
        atomic_store_explicit(&t->ball, 2 * returned, memory_order_release);
    }
    t->returned = returned;
}

gyre_status gyre_pingpong_measure(uint32_t cpu_a, uint32_t cpu_b, gyre_pingpong *out_result)
{
    const gyre_thread_options on_a = {sizeof on_a, "gyre-ping", .cpus = &cpu_a, .cpu_count = 1};
    const gyre_thread_options on_b = {sizeof on_b, "gyre-pong", .cpus = &cpu_b, .cpu_count = 1};
    gyre_thread *a = NULL, *b = NULL;
    table t = {.returned = 0};
    gyre_status status;

    *out_result = (gyre_pingpong){0};
    if (cpu_a == cpu_b)
        return gyre_fail(GYRE_INVALID, "ping-pong: needs two CPUs, was given %u twice", cpu_a);
    status = gyre_thread_start(give_back, &t, &on_b, &b);
    if (status != GYRE_OK)
        return status;
    status = gyre_thread_start(serve, &t, &on_a, &a);
    if (status != GYRE_OK)
        atomic_store_explicit(&t.given_up, true, memory_order_relaxed); /* relaxed: ends B */
    gyre_thread_stop(a);
    gyre_thread_stop(b);
    if (status != GYRE_OK)
        return status;
    if (!t.done || t.returned != TRIPS)
        return gyre_fail(GYRE_UNAVAILABLE, "ping-pong: CPUs %u and %u did not run side by side",
                         cpu_a, cpu_b);
    gyre_stat_sort(t.batch_ns, BATCHES);
    out_result->median_ns = gyre_stat_quantile(t.batch_ns, BATCHES, 0.5);
    out_result->low_ns = gyre_stat_quantile(t.batch_ns, BATCHES, 0.1);
    out_result->high_ns = gyre_stat_quantile(t.batch_ns, BATCHES, 0.9);
    out_result->round_trips = t.returned;
    return GYRE_OK;
}
