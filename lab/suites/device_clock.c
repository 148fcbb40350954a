/* SPDX-License-Identifier: Apache-2.0
 *
 * device_clock: see device_clock.h.
 *
 * What the guard remembers is of this process, which runs one group of benchmarks.
 */
#include "suites/device_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gyre/clock.h"

enum {
    ALIGNMENT = 256,
    UNKNOWN_CACHE_BYTES = 32 << 20, /* flushed as if it were that large */
    WATCHED = 64,                   /* devices that the guard looks at */
    COOL_DOWN_LOOKS = 50,
    LOOK_PAUSE_NS = 100000000,
    WORDS_BYTES = 288, /* a device's name and an error's text */
};

static const uint64_t PATIENCE_NS = 10000000000;

/* Opening */

const char *gyre_bench_device_word(const gyre_bench_case *c)
{
    const char *const word = gyre_bench_word(c, "device");

    return word ? word : "cpu";
}

static const gyre_driver *find_driver(const char *backend)
{
    const gyre_driver *driver;

    for (size_t i = 0; (driver = gyre_driver_at(i)); i++)
        if (strcmp(driver->backend, backend) == 0)
            return driver;
    return NULL;
}

gyre_status gyre_bench_device_find(const char *backend, const gyre_device **out_device)
{
    const gyre_driver *driver = find_driver(backend);
    const char *trouble = NULL;
    const gyre_device *device;

    *out_device = NULL;
    if (!driver)
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "this build has no backend '%s'", backend);
    if (driver->status != GYRE_OK)
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "%s: %s", backend, driver->text);
    for (size_t i = 0; (device = gyre_device_at(i)); i++) {
        if (strcmp(device->backend, backend) != 0)
            continue;
        if (device->trouble[0] == '\0') {
            *out_device = device;
            return GYRE_OK;
        }
        trouble = trouble ? trouble : device->trouble;
    }
    return gyre_bench_refuse(GYRE_UNAVAILABLE, "%s: %s", backend,
                             trouble ? trouble : "there is no device");
}

static gyre_status open_events(gyre_bench_device *d)
{
    gyre_status status;

    if (!gyre_device_has(d->device, GYRE_FEATURE_TIMING))
        return GYRE_OK;
    status = gyre_event_create(d->context, GYRE_EVENT_TIME, &d->before);
    return status == GYRE_OK ? gyre_event_create(d->context, GYRE_EVENT_TIME, &d->after) : status;
}

gyre_status gyre_bench_device_open_on(gyre_bench_device *d, const char *backend,
                                      const gyre_context_options *options)
{
    gyre_status status;

    *d = (gyre_bench_device){0};
    status = gyre_bench_device_find(backend, &d->device);
    if (status == GYRE_OK)
        status = gyre_context_create(d->device, options, &d->context);
    if (status == GYRE_OK)
        status = gyre_stream_create(d->context, NULL, &d->stream);
    if (status == GYRE_OK)
        status = open_events(d);
    if (status == GYRE_OK && gyre_bench_traced() &&
        gyre_profile_start(d->context, NULL, &d->profile) != GYRE_OK)
        d->profile = NULL; /* then the trace has no device spans */
    if (status != GYRE_OK)
        gyre_bench_device_close(d); /* accepts a half-built one */
    return status;
}

gyre_status gyre_bench_device_open(gyre_bench_device *d, const gyre_bench_case *c,
                                   const gyre_context_options *options)
{
    return gyre_bench_device_open_on(d, gyre_bench_device_word(c), options);
}

/* The device whose context was lost last, until it works again, and what was said of it. */
static const gyre_device *lost;
static char lost_why[WORDS_BYTES];

static void remember_loss(const gyre_bench_device *d)
{
    const gyre_error *fault = gyre_context_fault(d->context);

    lost = d->device;
    snprintf(lost_why, sizeof lost_why, "%s", fault ? fault->text : "it was lost");
}

static void add_span(void *user, const gyre_profile_span *span)
{
    const gyre_bench_device *d = user;
    char track[sizeof d->device->name + 40];

    snprintf(track, sizeof track, "%s %s", d->device->name, span->stream);
    gyre_bench_span(track, span->name, span->begin_ns, span->duration_ns);
}

void gyre_bench_device_close(gyre_bench_device *d)
{
    if (d->profile && gyre_profile_stop(d->profile) == GYRE_OK)
        (void)!gyre_profile_visit(d->profile, add_span, d);
    gyre_profile_destroy(d->profile);
    gyre_bench_device_give(d, GYRE_CONTEXT_DEVICE, d->scratch, d->scratch_bytes);
    gyre_event_destroy(d->before);
    gyre_event_destroy(d->after);
    /* one that was only slow may have finished since: that is no loss */
    if (d->context && gyre_context_check(d->context) != GYRE_OK &&
        gyre_context_reset(d->context) != GYRE_OK)
        remember_loss(d);
    gyre_stream_destroy(d->stream);
    gyre_context_destroy(d->context);
    *d = (gyre_bench_device){0};
}

gyre_status gyre_bench_device_take(gyre_bench_device *d, gyre_context_memory_kind kind,
                                   size_t size_bytes, void **out_block)
{
    const gyre_memory *memory = gyre_context_memory(d->context, kind);

    *out_block = NULL;
    if (!memory)
        return gyre_bench_refuse(GYRE_UNSUPPORTED, "%s has no such memory", d->device->name);
    return memory->take(memory, size_bytes, ALIGNMENT, out_block);
}

void gyre_bench_device_give(gyre_bench_device *d, gyre_context_memory_kind kind, void *block,
                            size_t size_bytes)
{
    const gyre_memory *memory = block ? gyre_context_memory(d->context, kind) : NULL;

    if (memory)
        memory->give(memory, block, size_bytes, ALIGNMENT);
}

gyre_status gyre_bench_device_copy(const gyre_bench_device *d, void *to, const void *from,
                                   size_t size)
{
    const gyre_status status = gyre_stream_copy(d->stream, to, from, size);

    return status == GYRE_OK ? gyre_stream_sync(d->stream) : status;
}

bool gyre_bench_device_writes(const gyre_bench_device *d, void *block, size_t size)
{
    const gyre_fill fill = {
        .to = block, .pattern = {0x6b, 0x17, 0xe3, 0x91}, .pattern_size = 4, .count = size / 4};
    unsigned char *back = calloc(1, size);
    bool right = back && gyre_stream_fill(d->stream, &fill) == GYRE_OK &&
                 gyre_bench_device_copy(d, back, block, size) == GYRE_OK;

    for (size_t i = 0; right && i < size / 4 * 4; i++)
        right = back[i] == fill.pattern[i % 4];
    free(back);
    return right;
}

void gyre_bench_device_numbers(float *out_numbers, size_t count, uint64_t seed)
{
    uint64_t random = seed * 2 + 1;

    for (size_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        out_numbers[i] = ((float)(random >> 41) + 0.5F) / (float)(1 << 22) - 1;
    }
}

void gyre_bench_device_tell(const gyre_bench_device *d, gyre_bench_facts *facts)
{
    gyre_bench_note(facts, "device", d->device->title);
    gyre_bench_note(facts, "driver", d->device->driver);
}

/* The clock */

static gyre_status begin(void *fixture)
{
    gyre_bench_device *d = fixture;

    d->begun = true;
    d->begin_ns = gyre_clock_now_ns();
    return d->before ? gyre_event_record(d->before, d->stream) : GYRE_OK;
}

/* Without a `begin`, which is so end to end, there is nothing to mark and nothing to pay for. */
static gyre_status end(void *fixture)
{
    gyre_bench_device *d = fixture;

    return d->begun && d->after ? gyre_event_record(d->after, d->stream) : GYRE_OK;
}

static gyre_status read_events(const gyre_bench_device *d, double *out_ns)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
    gyre_status status;

    /* an event has no ticket: the stream may be through a moment before it */
    while ((status = gyre_event_between(d->before, d->after, out_ns)) == GYRE_AGAIN)
        if (gyre_clock_now_ns() > deadline_ns)
            return gyre_bench_refuse(GYRE_TIMEOUT, "an event behind the work was not reached");
    return status;
}

static gyre_status read_clock(void *fixture, double *out_ns)
{
    gyre_bench_device *d = fixture;
    const bool begun = d->begun;
    const gyre_status status = gyre_stream_sync(d->stream);

    *out_ns = 0;
    d->begun = false;
    if (status != GYRE_OK || !begun)
        return status;
    if (d->before)
        return read_events(d, out_ns);
    *out_ns = (double)(gyre_clock_now_ns() - d->begin_ns);
    return GYRE_OK;
}

static gyre_status flush(void *fixture)
{
    gyre_bench_device *d = fixture;
    gyre_fill fill = {.pattern = {0x5a, 0xa5, 0x3c, 0xc3}, .pattern_size = 4};
    gyre_status status = GYRE_OK;

    if (!d->scratch) {
        const size_t cache = (size_t)d->device->cache_bytes;

        d->scratch_bytes = 2 * (cache > 0 ? cache : UNKNOWN_CACHE_BYTES);
        status = gyre_bench_device_take(d, GYRE_CONTEXT_DEVICE, d->scratch_bytes, &d->scratch);
    }
    if (status != GYRE_OK)
        return status;
    fill.to = d->scratch;
    fill.count = d->scratch_bytes / fill.pattern_size;
    d->flushes++;
    status = gyre_stream_fill(d->stream, &fill);
    return status == GYRE_OK ? gyre_stream_sync(d->stream) : status;
}

const gyre_bench_clock gyre_device_clock = {"device events", begin, end, read_clock, flush};

/* The guard */

static bool is_hot(const gyre_device_state *now)
{
    return now->temperature_limit_c > 0 && now->temperature_c >= now->temperature_limit_c;
}

/* Slowed down, by nobody's wish. */
static bool is_slowed(const gyre_device_state *now)
{
    const int64_t harmless = GYRE_THROTTLE_IDLE | GYRE_THROTTLE_SETTING;

    return now->throttle > 0 && (now->throttle & ~harmless) != 0;
}

static bool has_faulted(const gyre_device_state *first, const gyre_device_state *now)
{
    return now->xid_count > 0 || now->ecc_uncorrected > first->ecc_uncorrected;
}

static const char *throttle_word(int64_t throttle)
{
    return throttle & GYRE_THROTTLE_THERMAL    ? "heat"
           : throttle & GYRE_THROTTLE_HARDWARE ? "the board"
           : throttle & GYRE_THROTTLE_POWER    ? "the limit of power"
                                               : "something";
}

gyre_health gyre_device_guard_judge(const gyre_device_state *first, const gyre_device_state *now,
                                    char *why, size_t why_size)
{
    if (now->xid_count > 0)
        snprintf(why, why_size, "the driver reports Xid %" PRId64, now->xid);
    else if (has_faulted(first, now))
        snprintf(why, why_size, "%" PRId64 " uncorrected memory errors, %" PRId64 " before",
                 now->ecc_uncorrected, first->ecc_uncorrected);
    else if (is_hot(now))
        snprintf(why, why_size, "%d C, and %d C is too hot", now->temperature_c,
                 now->temperature_limit_c);
    else if (is_slowed(now))
        snprintf(why, why_size, "%s slows it down to %d MHz", throttle_word(now->throttle),
                 now->clock_mhz);
    else if (now->ecc_uncorrected > 0)
        snprintf(why, why_size, "%" PRId64 " uncorrected memory errors since the driver was loaded",
                 now->ecc_uncorrected);
    else
        return GYRE_HEALTH_GOOD;
    return has_faulted(first, now) || is_hot(now) ? GYRE_HEALTH_CRITICAL : GYRE_HEALTH_WARNING;
}

/* By the device's number; struct_size 0: not looked at yet. */
static gyre_device_state first_looks[WATCHED];

static bool is_watched(const gyre_device *device)
{
    return device->kind != GYRE_DEVICE_NULL && device->trouble[0] == '\0' &&
           gyre_device_has(device, GYRE_FEATURE_MONITOR);
}

/* Like the judge; whether waiting may help is told, too. */
static gyre_health look_at(size_t number, const gyre_device *device, char *why, size_t why_size,
                           bool *out_passes)
{
    gyre_device_state now = {.struct_size = sizeof now};
    const gyre_status status = gyre_device_look(device, &now);
    char words[160] = "";
    gyre_health health;

    *out_passes = false;
    if (status == GYRE_UNSUPPORTED)
        return GYRE_HEALTH_GOOD;
    if (status != GYRE_OK) {
        snprintf(why, why_size, "%s: %s", device->name, gyre_error_last()->text);
        return status == GYRE_DEVICE_LOST ? GYRE_HEALTH_CRITICAL : GYRE_HEALTH_WARNING;
    }
    if (first_looks[number].struct_size == 0)
        first_looks[number] = now;
    health = gyre_device_guard_judge(&first_looks[number], &now, words, sizeof words);
    if (health != GYRE_HEALTH_GOOD)
        snprintf(why, why_size, "%s: %s", device->name, words);
    *out_passes = (is_hot(&now) || is_slowed(&now)) && !has_faulted(&first_looks[number], &now);
    return health;
}

/* The worst of all devices. */
static gyre_health look_at_all(char *why, size_t why_size, bool *out_passes)
{
    gyre_health worst = GYRE_HEALTH_GOOD;
    const gyre_device *device;

    *out_passes = false;
    for (size_t i = 0; i < WATCHED && (device = gyre_device_at(i)); i++) {
        char words[WORDS_BYTES] = "";
        bool passes = false;
        const gyre_health health = is_watched(device)
                                       ? look_at(i, device, words, sizeof words, &passes)
                                       : GYRE_HEALTH_GOOD;

        *out_passes |= passes;
        if (health <= worst)
            continue;
        worst = health;
        snprintf(why, why_size, "%s", words);
    }
    return worst;
}

static gyre_health healthy(char *why, size_t why_size)
{
    bool passes;

    if (lost) {
        snprintf(why, why_size, "%s: the last case lost its context: %s", lost->name, lost_why);
        return GYRE_HEALTH_CRITICAL;
    }
    return look_at_all(why, why_size, &passes);
}

static gyre_status try_again(void)
{
    gyre_context *context;
    const gyre_status status = gyre_context_create(lost, NULL, &context);

    if (status != GYRE_OK)
        return status;
    gyre_context_destroy(context);
    lost = NULL;
    return GYRE_OK;
}

static gyre_status reset(void)
{
    const struct timespec pause = {0, LOOK_PAUSE_NS};
    bool passes = true;
    char why[WORDS_BYTES];

    for (int i = 0; i < COOL_DOWN_LOOKS; i++) {
        (void)look_at_all(why, sizeof why, &passes);
        if (!passes)
            break;
        nanosleep(&pause, NULL);
    }
    return lost ? try_again() : GYRE_OK;
}

const gyre_bench_guard gyre_device_guard = {healthy, reset};
