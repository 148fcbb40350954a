/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_error: what it costs to be told no.
 *
 * A full queue and a deadline are the hot path of a busy program: they write no detail. A closed
 * channel and a wrong size do, since somebody will read it. And how late a wait returns after its
 * deadline; that it never does before is checked here and tested elsewhere.
 *
 * Threads   one.
 * Owns      a fixture per case.
 */
#include <stdlib.h>

#include "gyre/bench.h"
#include "gyre/channel.h"
#include "gyre/clock.h"
#include "suites/suites.h"

enum { CAPACITY = 4, ITEM_BYTES = 48 };

typedef struct refusals {
    gyre_channel *channel;
    uint64_t right; /* calls that were refused as they should be */
    uint64_t wait_ns;
    uint64_t late_ns, latest_ns; /* after the deadline, all together and at most */
    unsigned char item[2 * ITEM_BYTES];
} refusals;

static void refusals_teardown(void *fixture)
{
    refusals *r = fixture;

    gyre_channel_destroy(r->channel);
    free(r);
}

static gyre_status refusals_setup(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_channel_options options = {.struct_size = sizeof options,
                                          .when_full = GYRE_FULL_REJECT,
                                          .capacity = CAPACITY,
                                          .item_bytes = ITEM_BYTES};
    refusals *r = calloc(1, sizeof *r);
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!r)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_channel_create(&options, &r->channel);
    if (status != GYRE_OK) {
        refusals_teardown(r);
        return status;
    }
    *out_fixture = r;
    return GYRE_OK;
}

static gyre_status full_setup(const gyre_bench_case *c, void **out_fixture)
{
    gyre_status status = refusals_setup(c, out_fixture);
    refusals *r = *out_fixture;

    if (!r)
        return status;
    for (int i = 0; i < CAPACITY && status == GYRE_OK; i++)
        status = gyre_channel_try_send(r->channel, 0, r->item, ITEM_BYTES);
    if (status != GYRE_OK) {
        refusals_teardown(r);
        *out_fixture = NULL;
    }
    return status;
}

static gyre_status closed_setup(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_status status = refusals_setup(c, out_fixture);
    refusals *r = *out_fixture;

    if (r)
        gyre_channel_close(r->channel);
    return status;
}

static void send_to_full(void *fixture, uint64_t iterations)
{
    refusals *r = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        r->right += gyre_channel_send(r->channel, 0, r->item, ITEM_BYTES, 0) == GYRE_AGAIN;
}

static void send_to_closed(void *fixture, uint64_t iterations)
{
    refusals *r = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        r->right += gyre_channel_send(r->channel, 0, r->item, ITEM_BYTES, 0) == GYRE_CLOSED;
}

static void send_too_much(void *fixture, uint64_t iterations)
{
    refusals *r = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        r->right += gyre_channel_send(r->channel, 0, r->item, ITEM_BYTES + 1, 0) == GYRE_INVALID;
}

static void receive_too_late(void *fixture, uint64_t iterations)
{
    refusals *r = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        r->right += gyre_channel_receive(r->channel, r->item, NULL, 0) == GYRE_TIMEOUT;
}

static gyre_status wait_setup(const gyre_bench_case *c, void **out_fixture)
{
    const gyre_status status = refusals_setup(c, out_fixture);
    refusals *r = *out_fixture;

    if (r)
        r->wait_ns = (uint64_t)gyre_bench_axis(c, "wait_us") * 1000;
    return status;
}

static void receive_until_deadline(void *fixture, uint64_t iterations)
{
    refusals *r = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t deadline_ns = gyre_clock_after_ns(r->wait_ns);
        const gyre_status status = gyre_channel_receive(r->channel, r->item, NULL, deadline_ns);
        const uint64_t now_ns = gyre_clock_now_ns();

        if (status != GYRE_TIMEOUT || now_ns < deadline_ns)
            continue;
        r->right++;
        r->late_ns += now_ns - deadline_ns;
        if (now_ns - deadline_ns > r->latest_ns)
            r->latest_ns = now_ns - deadline_ns;
    }
}

static void tell_lateness(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const refusals *r = fixture;

    gyre_bench_count(facts, "late_mean_ns", (double)r->late_ns / (double)iterations);
    gyre_bench_count(facts, "late_most_ns", (double)r->latest_ns);
}

static void try_receive(void *fixture, uint64_t iterations)
{
    refusals *r = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        r->right += gyre_channel_try_receive(r->channel, r->item, NULL) == GYRE_AGAIN;
}

/* Every call was refused, and the channel's accounts say the same: what is in it is what set-up put
 * there, and so many sends were turned away. */
static bool refused(const refusals *r, uint64_t iterations, uint64_t queued, uint64_t rejected)
{
    gyre_channel_statistics s = {sizeof s, .attempts = 0};

    return r->right == iterations && gyre_channel_describe(r->channel, &s) == GYRE_OK &&
           s.accepted == queued && s.queued == queued && s.delivered == 0 && s.dropped == 0 &&
           s.rejected == rejected && s.attempts == queued + rejected;
}

static bool full_refused(const void *fixture, uint64_t iterations)
{
    return refused(fixture, iterations, CAPACITY, iterations);
}

static bool closed_refused(const void *fixture, uint64_t iterations)
{
    return refused(fixture, iterations, 0, iterations);
}

static bool nothing_came(const void *fixture, uint64_t iterations)
{
    return refused(fixture, iterations, 0, 0);
}

static const gyre_bench benches[] = {
    {
        .name = "channel_error_path/send_full",
        .t0 = "the call of a send into a full channel that rejects",
        .t1 = "its return",
        .observer = "the caller, which reads the status, and the channel's accounts",
        .setup = full_setup,
        .run = send_to_full,
        .check = full_refused,
        .teardown = refusals_teardown,
    },
    {
        .name = "channel_error_path/send_closed",
        .t0 = "the call of a send into a closed channel",
        .t1 = "its return",
        .observer = "the caller, which reads the status, and the channel's accounts",
        .setup = closed_setup,
        .run = send_to_closed,
        .check = closed_refused,
        .teardown = refusals_teardown,
    },
    {
        .name = "channel_error_path/send_wrong_size",
        .t0 = "the call of a send of one byte more than an item has",
        .t1 = "its return",
        .observer = "the caller, which reads the status, and the channel's accounts",
        .setup = refusals_setup,
        .run = send_too_much,
        .check = nothing_came,
        .teardown = refusals_teardown,
    },
    {
        .name = "channel_error_path/receive_timed_out",
        .t0 = "the call of a receive whose deadline has passed, with nothing there",
        .t1 = "its return",
        .observer = "the caller, which reads the status, and the channel's accounts",
        .setup = refusals_setup,
        .run = receive_too_late,
        .check = nothing_came,
        .teardown = refusals_teardown,
    },
    {
        .name = "channel_error_path/receive_until_deadline",
        .axes = {GYRE_AXIS("wait_us", 10, 100, 1000)},
        .t0 = "before the deadline is reckoned",
        .t1 =
            "the return of a receive for which nothing came; what lies after the deadline is told",
        .observer = "the caller, which reads the status and the clock, and the channel's accounts",
        .setup = wait_setup,
        .run = receive_until_deadline,
        .check = nothing_came,
        .teardown = refusals_teardown,
        .tell = tell_lateness,
    },
    {
        .name = "channel_error_path/floor_try_receive",
        .t0 = "the call of a receive that does not wait, with nothing there",
        .t1 = "its return",
        .observer = "the caller, which reads the status, and the channel's accounts",
        .setup = refusals_setup,
        .run = try_receive,
        .check = nothing_came,
        .teardown = refusals_teardown,
    },
};

const gyre_suite gyre_suite_channel_error = GYRE_SUITE("channel_error", benches);
