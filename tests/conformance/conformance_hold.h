/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance_hold: something that hangs, for the programs that look what becomes of it.
 *
 * Where kernels can be held up, one waits for a flag; the null device hangs when it is told to, for
 * a while. Either is a `hold` here.
 */
#ifndef GYRE_CONFORMANCE_HOLD_H
#define GYRE_CONFORMANCE_HOLD_H

#include "conformance.h"

#include "gyre/clock.h"

enum { N = 64, BYTES = N * 4, HOLD_MS = 600 };

/* A context of its own whose launches of the gate, or of anything on the null device, are held up
 * until they are let go. */
typedef struct hold {
    gyre_context *context;
    gyre_stream *stream;
    gyre_kernel *gate_kernel, *step_kernel;
    uint32_t *data; /* N words, zeros */
    gate held;
    uint64_t began_ns;
} hold;

/* Without a deadline, which may be too short for a machine that has other things to do. */
static inline void hold_drain(hold *h)
{
    const uint64_t deadline = gyre_clock_after_ns(10000 * MS);
    gyre_status status;

    do {
        status = gyre_stream_poll(h->stream);
    } while (status == GYRE_AGAIN && gyre_clock_now_ns() < deadline);
    CHECK(ok(status));
}

static inline bool hold_begin(hold *h, gyre_context_options options, const char *faults)
{
    const uint32_t zeros[N] = {0};

    memset(h, 0, sizeof *h);
    options.struct_size = sizeof options;
    options.workers = 4;
    if (gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        options.faults = faults;
    if (!gates_exist() && !options.faults) {
        test_skip_reason = "nothing hangs on this device";
        return false;
    }
    if (!ok(gyre_context_create(on.device, &options, &h->context)) ||
        !ok(gyre_stream_create(h->context, NULL, &h->stream))) {
        CHECK(!"a context to hold up");
        return false;
    }
    h->gate_kernel = kernel_in(h->context, options.faults ? KERNEL_NOTHING : KERNEL_GATE);
    h->step_kernel = kernel_in(h->context, KERNEL_STEP);
    h->data = take_in(h->context, GYRE_CONTEXT_DEVICE, BYTES);
    CHECK(h->gate_kernel && h->step_kernel && h->data);
    CHECK(options.faults || gate_init(&h->held, h->context));
    CHECK(ok(gyre_stream_copy(h->stream, h->data, zeros, BYTES)));
    hold_drain(h);
    return h->gate_kernel && h->step_kernel && h->data;
}

static inline gyre_status hold_submit(hold *h, uint64_t expected_ns)
{
    const gate_parameters p = {.flag = h->held.flag, .limit = gate_limit()};
    gyre_launch launch = launch_of(1, 1, &p, h->held.flag ? sizeof p : 0);

    launch.expected_ns = expected_ns;
    h->began_ns = gyre_clock_now_ns();
    return gyre_stream_launch(h->stream, h->gate_kernel, &launch);
}

static inline gyre_status hold_step(const hold *h, uint32_t add)
{
    const step_parameters p = {h->data, N, 1, add, 0};
    const gyre_launch launch = launch_of(1, N, &p, sizeof p);

    return gyre_stream_launch(h->stream, h->step_kernel, &launch);
}

/* However long the machine takes to make room. */
static inline gyre_status hold_step_at_last(const hold *h, uint32_t add)
{
    gyre_status status;

    do {
        status = hold_step(h, add);
    } while (status == GYRE_TIMEOUT);
    return status;
}

/* On return nothing is held up any more, and some time later everything is done. */
static inline void hold_release(hold *h)
{
    const uint64_t end_ns = h->began_ns + HOLD_MS * MS, now_ns = gyre_clock_now_ns();

    if (h->held.flag)
        gate_open(&h->held);
    else if (now_ns < end_ns)
        sleep_ns(end_ns - now_ns + MS);
}

/* Resets a context that comes back, however long that takes. */
static inline bool hold_reset(const hold *h)
{
    const uint64_t deadline = gyre_clock_after_ns(10000 * MS);
    gyre_status status;

    do {
        status = gyre_context_reset(h->context);
    } while (status == GYRE_DEVICE_LOST && gyre_clock_now_ns() < deadline);
    return ok(status);
}

static inline void hold_end(hold *h)
{
    if (h->held.flag)
        gate_fini(&h->held);
    give_in(h->context, GYRE_CONTEXT_DEVICE, h->data, BYTES);
    gyre_kernel_release(h->gate_kernel);
    gyre_kernel_release(h->step_kernel);
    gyre_stream_destroy(h->stream);
    gyre_context_destroy(h->context);
}

/* What all words are, when everything is done. */
static inline uint32_t hold_first_word(hold *h)
{
    uint32_t host[N] = {0};

    CHECK(ok(gyre_stream_copy(h->stream, host, h->data, BYTES)));
    hold_drain(h);
    CHECK(host[0] == host[N - 1]);
    return host[0];
}

#endif
