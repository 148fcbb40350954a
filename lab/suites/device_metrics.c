/* SPDX-License-Identifier: Apache-2.0
 *
 * device_metrics: what it costs to look at a device while it works.
 *
 * `device_metrics_overhead` is a stream of the shortest launches, alone and while somebody asks:
 * the thread that submits, every 64 launches, or a monitor's thread, a hundred times a second.
 * `profiler` is a stream of kernels that take 10 us, unwatched, with a device span for one in 64,
 * and with one for each. They go by the device's own clock; OpenCL C has none, so there it is a
 * loop whose length is found out at set-up.
 *
 * Threads   the case's own, those of the device, and the monitor's.
 * Owns      a fixture per case.
 * Not here  what is seen (the monitor's and the profiler's tests).
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/clock.h"
#include "gyre/monitor.h"
#include "gyre/profile.h"
#include "suites/device_clock.h"
#include "suites/device_kernels.h"
#include "suites/suites.h"

enum {
    PENDING = 64,
    EVERY = 64,
    SPIN_NS = 10000,
    TRIAL_NS = 4000000, /* of a loop: long beside what a launch takes on top of it */
    PERIOD_NS = 10000000,
    SPANS = 1 << 20,
};

typedef enum look { NOT, STREAM, CONTEXT, DEVICE, MONITOR } look;

typedef struct spin_parameters {
    uint64_t *counter;
    uint64_t length; /* in nanoseconds; in OpenCL C in turns */
} spin_parameters;

static void spin(const gyre_block *block, const void *parameters)
{
    const spin_parameters *p = parameters;
    const uint64_t end_ns = gyre_clock_now_ns() + p->length;

    (void)block;
    while (gyre_clock_now_ns() < end_ns)
        continue;
    ++*p->counter;
}

static const gyre_entry functions[] = {{"spin", spin}, {NULL, NULL}};
static const gyre_program spinning = {
    .struct_size = sizeof spinning,
    .name = "spin",
    .functions = functions,
    .cuda =
        "extern \"C\" __global__ void spin(unsigned long long *counter, unsigned long long ns)\n"
        "{\n"
        "    unsigned long long begin, now;\n"
        "    asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(begin));\n"
        "    do\n"
        "        asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(now));\n"
        "    while (now - begin < ns);\n"
        "    *counter += 1;\n"
        "}\n",
    .opencl = "__kernel void spin(__global ulong *counter, ulong turns)\n"
              "{\n"
              "    for (volatile ulong i = 0; i < turns; i++)\n"
              "        ;\n"
              "    *counter += 1;\n"
              "}\n",
};

typedef struct work {
    gyre_bench_device device;
    gyre_kernel *kernel;
    uint64_t *counter; /* on the device */
    uint64_t spin;     /* the length of one */
    look look;
    gyre_monitor *monitor;
    gyre_profile *profile;
    uint32_t device_every; /* of the profile; 0: there is none */
    uint64_t looks;
    uint64_t failed;
} work;

static void work_teardown(void *fixture)
{
    work *w = fixture;

    gyre_monitor_destroy(w->monitor);
    gyre_profile_destroy(w->profile);
    gyre_kernel_release(w->kernel);
    gyre_bench_device_give(&w->device, GYRE_CONTEXT_DEVICE, w->counter, sizeof *w->counter);
    gyre_bench_device_close(&w->device);
    free(w);
}

static gyre_status open_work(work *w, const gyre_bench_case *c, const gyre_program *program,
                             const char *entry, const char *signature)
{
    const gyre_context_options options = {.struct_size = sizeof options, .pending_most = PENDING};
    const uint64_t zero = 0;
    void *counter = NULL;
    gyre_status status = gyre_bench_device_open(&w->device, c, &options);

    if (status == GYRE_OK)
        status = gyre_bench_device_take(&w->device, GYRE_CONTEXT_DEVICE, sizeof zero, &counter);
    w->counter = counter;
    if (status == GYRE_OK)
        status = gyre_kernel_create(w->device.context, program, entry, signature, NULL, &w->kernel);
    return status == GYRE_OK ? gyre_bench_device_copy(&w->device, w->counter, &zero, sizeof zero)
                             : status;
}

static gyre_status start_monitor(work *w)
{
    const gyre_monitor_options options = {
        .struct_size = sizeof options,
        .contexts = &w->device.context,
        .context_count = 1,
        .period_ns = PERIOD_NS,
    };
    gyre_status status = gyre_monitor_create(&options, &w->monitor);

    if (status == GYRE_OK)
        status = gyre_monitor_sample(w->monitor); /* so that there is one, however short the run */
    return status == GYRE_OK ? gyre_monitor_start(w->monitor) : status;
}

static gyre_status start_profile(work *w)
{
    const gyre_profile_options options = {
        .struct_size = sizeof options, .spans = SPANS, .device_every = w->device_every};

    return gyre_profile_start(w->device.context, &options, &w->profile);
}

static bool look_once(work *w)
{
    gyre_stream_statistics stream = {.struct_size = sizeof stream};
    gyre_context_statistics context = {.struct_size = sizeof context};
    gyre_device_state state = {.struct_size = sizeof state};

    w->looks++;
    switch (w->look) {
    case STREAM:
        return gyre_stream_describe(w->device.stream, &stream) == GYRE_OK &&
               stream.submitted >= stream.completed;
    case CONTEXT:
        return gyre_context_describe(w->device.context, &context) == GYRE_OK &&
               context.streams >= 1 && context.device_bytes >= sizeof *w->counter;
    case DEVICE:
        return gyre_device_look(w->device.device, &state) == GYRE_OK;
    case NOT:
    case MONITOR:
        break;
    }
    return true;
}

static gyre_status begin(work **out_work)
{
    *out_work = calloc(1, sizeof **out_work);
    return *out_work ? GYRE_OK : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
}

static gyre_status finish(work *w, gyre_status status, void **out_fixture)
{
    if (status != GYRE_OK) {
        work_teardown(w); /* accepts a half-built one */
        return status;
    }
    *out_fixture = w;
    return GYRE_OK;
}

static gyre_status setup_looked_at(const gyre_bench_case *c, look how, void **out_fixture)
{
    work *w;
    gyre_status status = begin(&w);

    *out_fixture = NULL;
    if (status != GYRE_OK)
        return status;
    w->look = how;
    status = open_work(w, c, &gyre_bench_program, "count", GYRE_COUNT_SIGNATURE);
    if (status == GYRE_OK && how == DEVICE && !look_once(w))
        status = gyre_bench_refuse(GYRE_UNAVAILABLE, "%s tells nothing of its state",
                                   w->device.device->name);
    if (status == GYRE_OK && how == MONITOR)
        status = start_monitor(w);
    w->looks = 0;
    return finish(w, status, out_fixture);
}

static gyre_status spin_once(work *w, uint64_t length)
{
    const spin_parameters parameters = {w->counter, length};
    const gyre_launch one = {.parameters = &parameters, .parameters_size = sizeof parameters};

    return gyre_stream_launch(w->device.stream, w->kernel, &one);
}

static gyre_status spin_and_sync(work *w, uint64_t length, uint64_t *out_ns)
{
    const uint64_t began_ns = gyre_clock_now_ns();
    gyre_status status = spin_once(w, length);

    if (status == GYRE_OK)
        status = gyre_stream_sync(w->device.stream);
    *out_ns = gyre_clock_now_ns() - began_ns;
    return status;
}

/* How many turns take as long as they are to, by a trial that is long enough. Found once in a
 * process: who is compared with another one has as many. */
static gyre_status find_turns(work *w)
{
    static uint64_t found;
    const uint64_t most = UINT64_C(1) << 40, zero = 0;
    uint64_t turns = 1024, spent_ns;
    gyre_status status = GYRE_OK;

    if (found == 0) {
        status = spin_and_sync(w, 1, &spent_ns); /* drivers compile as late as that */
        for (spent_ns = 0; status == GYRE_OK && spent_ns < TRIAL_NS && turns < most;) {
            turns *= 2;
            status = spin_and_sync(w, turns, &spent_ns);
        }
        if (status != GYRE_OK)
            return status;
        found = turns * SPIN_NS / spent_ns + 1;
        status = gyre_bench_device_copy(&w->device, w->counter, &zero, sizeof zero);
    }
    w->spin = found;
    return status;
}

static gyre_status setup_profiled(const gyre_bench_case *c, uint32_t device_every,
                                  void **out_fixture)
{
    work *w;
    gyre_status status = begin(&w);

    *out_fixture = NULL;
    if (status != GYRE_OK)
        return status;
    if (gyre_bench_traced())
        return finish(
            w, gyre_bench_refuse(GYRE_UNAVAILABLE, "contexts are profiled already, for --trace"),
            out_fixture);
    w->device_every = device_every;
    status = open_work(w, c, &spinning, "spin", "pointer u64");
    w->spin = SPIN_NS;
    if (status == GYRE_OK && strcmp(w->device.device->backend, "opencl") == 0)
        status = find_turns(w);
    if (status == GYRE_OK && device_every > 0)
        status = start_profile(w);
    return finish(w, status, out_fixture);
}

GYRE_SETUP_WITH(setup_unseen, setup_looked_at, NOT)
GYRE_SETUP_WITH(setup_stream, setup_looked_at, STREAM)
GYRE_SETUP_WITH(setup_context, setup_looked_at, CONTEXT)
GYRE_SETUP_WITH(setup_device, setup_looked_at, DEVICE)
GYRE_SETUP_WITH(setup_monitor, setup_looked_at, MONITOR)
GYRE_SETUP_WITH(setup_profile_off, setup_profiled, 0)
GYRE_SETUP_WITH(setup_profile_some, setup_profiled, EVERY)
GYRE_SETUP_WITH(setup_profile_each, setup_profiled, 1)

static void launch_each(void *fixture, uint64_t iterations)
{
    work *w = fixture;
    const gyre_count_parameters parameters = {w->counter};
    const gyre_launch one = {.parameters = &parameters, .parameters_size = sizeof parameters};

    for (uint64_t i = 0; i < iterations && w->failed == 0; i++) {
        w->failed += gyre_stream_launch(w->device.stream, w->kernel, &one) != GYRE_OK;
        if (i % EVERY == 0)
            w->failed += !look_once(w);
    }
    w->failed += gyre_stream_sync(w->device.stream) != GYRE_OK;
}

static void spin_each(void *fixture, uint64_t iterations)
{
    work *w = fixture;

    for (uint64_t i = 0; i < iterations && w->failed == 0; i++)
        w->failed += spin_once(w, w->spin) != GYRE_OK;
    w->failed += gyre_stream_sync(w->device.stream) != GYRE_OK;
}

static bool all_counted(const work *w, uint64_t iterations)
{
    uint64_t counted = 0;

    return w->failed == 0 &&
           gyre_bench_device_copy(&w->device, &counted, w->counter, sizeof counted) == GYRE_OK &&
           counted == iterations;
}

static bool launched_and_seen(const void *fixture, uint64_t iterations)
{
    const work *w = fixture;
    gyre_monitor_report report = {.struct_size = sizeof report};

    if (w->monitor && (gyre_monitor_stop(w->monitor) != GYRE_OK ||
                       gyre_monitor_report_at(w->monitor, 0, &report) != GYRE_OK ||
                       report.sample_count == 0 || report.context_count != 1))
        return false;
    return all_counted(w, iterations);
}

/* Every launch is in the profile, and every one that should have a span has one or was dropped. */
static bool spun_and_profiled(const void *fixture, uint64_t iterations)
{
    const work *w = fixture;
    gyre_profile_totals totals = {.struct_size = sizeof totals};

    if (w->profile) {
        const bool timed = gyre_device_has(w->device.device, GYRE_FEATURE_TIMING);

        if (gyre_profile_stop(w->profile) != GYRE_OK ||
            gyre_profile_report(w->profile, NULL, NULL, &totals) != GYRE_OK ||
            totals.submissions != iterations ||
            (timed && totals.spans + totals.dropped < iterations / w->device_every))
            return false;
    }
    return all_counted(w, iterations);
}

static void tell_looks(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const work *w = fixture;
    gyre_monitor_report report = {.struct_size = sizeof report};

    (void)iterations;
    gyre_bench_device_tell(&w->device, facts);
    if (w->monitor && gyre_monitor_report_at(w->monitor, 0, &report) == GYRE_OK)
        gyre_bench_count(facts, "samples", (double)report.sample_count);
    else if (w->look != NOT)
        gyre_bench_count(facts, "looks", (double)w->looks);
}

static void tell_profile(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const work *w = fixture;
    gyre_profile_totals totals = {.struct_size = sizeof totals};

    (void)iterations;
    gyre_bench_device_tell(&w->device, facts);
    if (!w->profile || gyre_profile_report(w->profile, NULL, NULL, &totals) != GYRE_OK)
        return;
    gyre_bench_count(facts, "spans", (double)totals.spans);
    gyre_bench_count(facts, "dropped", (double)totals.dropped);
    gyre_bench_count(facts, "align_ns", totals.align_ns);
}

#define ON_DEVICES                                                                                 \
    .axes = {GYRE_DEVICE_AXIS}, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU, .teardown = work_teardown
#define SHORT                                                                                      \
    .t0 = "before a launch of a stream of them",                                                   \
    .t1 = "before the next; the last one's is a sync",                                             \
    .observer = "the host, which reads the counter of the launches that ran", .run = launch_each,  \
    .check = launched_and_seen, .tell = tell_looks, ON_DEVICES
#define SPINNING                                                                                   \
    .t0 = "before the launch of a kernel of about 10 us, of a stream of them",                     \
    .t1 = "before the next; the last one's is a sync",                                             \
    .observer = "the host, which reads the counter and the profile's totals", .run = spin_each,    \
    .check = spun_and_profiled, .tell = tell_profile, ON_DEVICES

static const gyre_bench benches[] = {
    {
        .name = "device_metrics_overhead/off",
        .setup = setup_unseen,
        SHORT,
    },
    {
        .name = "device_metrics_overhead/stream_each_64",
        .beside = "device_metrics_overhead/off",
        .setup = setup_stream,
        SHORT,
    },
    {
        .name = "device_metrics_overhead/context_each_64",
        .beside = "device_metrics_overhead/off",
        .setup = setup_context,
        SHORT,
    },
    {
        .name = "device_metrics_overhead/device_each_64",
        .beside = "device_metrics_overhead/off",
        .setup = setup_device,
        SHORT,
    },
    {
        .name = "device_metrics_overhead/monitor_10ms",
        .setup = setup_monitor,
        SHORT,
    },
    {
        .name = "profiler/off",
        .setup = setup_profile_off,
        SPINNING,
    },
    {
        .name = "profiler/device_span_each_64",
        .beside = "profiler/off",
        .setup = setup_profile_some,
        SPINNING,
    },
    {
        .name = "profiler/device_span_each",
        .beside = "profiler/off",
        .setup = setup_profile_each,
        SPINNING,
    },
};

const gyre_suite gyre_suite_device_metrics =
    GYRE_DEVICE_SUITE("device_metrics", benches, NULL, &gyre_device_guard);
