/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: a snapshot of what hosts and devices share, and that it lies as it was promised.
 *
 * Words of control block and telemetry are loaded one by one, whole, as who watches an actor does;
 * a message is copied. One word changes each time, so a snapshot of the past is noticed.
 *
 * Threads   one; nobody else writes.
 * Owns      a fixture per case.
 */
#include "gyre/layout.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/actor_abi.h"
#include "gyre/bench.h"
#include "gyre/message_abi.h"
#include "suites/suites.h"

typedef struct watched {
    alignas(128) gyre_control_block control;
    alignas(64) gyre_telemetry telemetry;
    alignas(64) gyre_message message;
    uint64_t rest; /* sum of the words that stay */
    uint64_t sum;  /* of all that was read */
    uint64_t done;
} watched;

#define GIVE_HOST(offset, type, name, what) w->control.host.name = (gyre_abi_##type)(3 + (offset));
#define GIVE_DEVICE(offset, type, name, what)                                                      \
    w->control.device.name = (gyre_abi_##type)(3 + (offset));
#define GIVE_TELEMETRY(offset, type, name, what)                                                   \
    w->telemetry.name = (gyre_abi_##type)(3 + (offset));
#define ADD_VALUE(offset, type, name, what) +(3 + (offset))

static gyre_status watched_setup(void **out_fixture, uint64_t rest)
{
    watched *const w = aligned_alloc(alignof(watched), sizeof(watched));

    *out_fixture = w;
    if (!w)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(w, 0, sizeof *w);
    GYRE_CONTROL_HOST_FIELDS(GIVE_HOST)
    GYRE_CONTROL_DEVICE_FIELDS(GIVE_DEVICE)
    GYRE_TELEMETRY_FIELDS(GIVE_TELEMETRY)
    w->message = (gyre_message){.magic = GYRE_MESSAGE_MAGIC, .priority = 1, .type = 17};
    w->control.device.processed = w->telemetry.processed = 0;
    w->rest = rest;
    return GYRE_OK;
}

static gyre_status setup_control(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return watched_setup(out_fixture, 0 GYRE_CONTROL_HOST_FIELDS(ADD_VALUE)
                                              GYRE_CONTROL_DEVICE_FIELDS(ADD_VALUE) -
                                          (3 + offsetof(gyre_control_block, device.processed)));
}

static gyre_status setup_telemetry(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return watched_setup(out_fixture, 0 GYRE_TELEMETRY_FIELDS(ADD_VALUE) -
                                          (3 + offsetof(gyre_telemetry, processed)));
}

static gyre_status setup_message(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return watched_setup(out_fixture, (uint64_t)GYRE_MESSAGE_MAGIC + 1 + 17);
}

/* relaxed: words of a snapshot may be of different moments */
#define LOAD_HOST(offset, type, name, what)                                                        \
    now.host.name = __atomic_load_n(&w->control.host.name, __ATOMIC_RELAXED);
#define LOAD_DEVICE(offset, type, name, what)                                                      \
    now.device.name = __atomic_load_n(&w->control.device.name, __ATOMIC_RELAXED);
#define LOAD_TELEMETRY(offset, type, name, what)                                                   \
    now.name = __atomic_load_n(&w->telemetry.name, __ATOMIC_RELAXED);
#define ADD_HOST(offset, type, name, what) +now.host.name
#define ADD_DEVICE(offset, type, name, what) +now.device.name
#define ADD_TELEMETRY(offset, type, name, what) +now.name

static void watch_control(void *fixture, uint64_t iterations)
{
    watched *w = fixture;
    uint64_t sum = 0; /* here, or every iteration waits for the last one's store */

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_control_block now;

        /* relaxed: as the device would count */
        __atomic_store_n(&w->control.device.processed, w->done + i, __ATOMIC_RELAXED);
        GYRE_CONTROL_HOST_FIELDS(LOAD_HOST)
        GYRE_CONTROL_DEVICE_FIELDS(LOAD_DEVICE)
        gyre_bench_keep(&now);
        sum += 0 GYRE_CONTROL_HOST_FIELDS(ADD_HOST) GYRE_CONTROL_DEVICE_FIELDS(ADD_DEVICE);
    }
    w->sum += sum;
    w->done += iterations;
}

static void watch_telemetry(void *fixture, uint64_t iterations)
{
    watched *w = fixture;
    uint64_t sum = 0; /* here, or every iteration waits for the last one's store */

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_telemetry now;

        /* relaxed: as the device would count */
        __atomic_store_n(&w->telemetry.processed, w->done + i, __ATOMIC_RELAXED);
        GYRE_TELEMETRY_FIELDS(LOAD_TELEMETRY)
        gyre_bench_keep(&now);
        sum += 0 GYRE_TELEMETRY_FIELDS(ADD_TELEMETRY);
    }
    w->sum += sum;
    w->done += iterations;
}

static void copy_message(void *fixture, uint64_t iterations)
{
    watched *w = fixture;
    uint64_t sum = 0; /* here, or every iteration waits for the last one's store */

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_message now;

        w->message.id = w->done + i;
        gyre_bench_keep(&w->message);
        memcpy(&now, &w->message, sizeof now);
        gyre_bench_keep(&now);
        sum += now.magic + now.layout + now.priority + now.flags + now.type + now.crc32c + now.id +
               now.correlation + now.source + now.destination + now.deadline_ns + now.time +
               now.part.size + now.part.fixed + now.part.version;
    }
    w->sum += sum;
    w->done += iterations;
}

/* What is promised of a struct. */
typedef struct promise {
    const char *name;
    size_t size, alignment;
    size_t field_count;
    const struct {
        const char *name, *writer;
        size_t offset, size;
    } fields[19];
} promise;

static const promise control_block = {
    "gyre_control_block",
    128,
    128,
    19,
    {{"host.active", "host", 0, 4},
     {"host.should_terminate", "host", 4, 4},
     {"host.incarnation", "host", 8, 4},
     {"host.input_capacity", "host", 12, 4},
     {"host.output_capacity", "host", 16, 4},
     {"host.order", "host", 20, 4},
     {"host.input_tail", "host", 24, 8},
     {"host.output_head", "host", 32, 8},
     {"host.time", "host", 40, 8},
     {"device.has_terminated", "device", 64, 4},
     {"device.last_error", "device", 68, 4},
     {"device.error_count", "device", 72, 8},
     {"device.processed", "device", 80, 8},
     {"device.in_flight", "device", 88, 8},
     {"device.input_head", "device", 96, 8},
     {"device.output_tail", "device", 104, 8},
     {"device.time", "device", 112, 8},
     {"device.incarnation", "device", 120, 4},
     {"device.order", "device", 124, 4}},
};

static const promise telemetry = {
    "gyre_telemetry",
    64,
    64,
    8,
    {{"processed", "device", 0, 8},
     {"dropped", "device", 8, 8},
     {"total_latency_ns", "device", 16, 8},
     {"min_latency_ns", "device", 24, 8},
     {"max_latency_ns", "device", 32, 8},
     {"input_depth", "device", 40, 4},
     {"output_depth", "device", 44, 4},
     {"last_error", "device", 48, 4}},
};

static const promise message = {
    "gyre_message",
    64,
    8,
    15,
    {{"magic", "sender", 0, 4},
     {"layout", "sender", 4, 2},
     {"priority", "sender", 6, 1},
     {"flags", "sender", 7, 1},
     {"type", "sender", 8, 4},
     {"crc32c", "sender", 12, 4},
     {"id", "sender", 16, 8},
     {"correlation", "sender", 24, 8},
     {"source", "sender", 32, 4},
     {"destination", "sender", 36, 4},
     {"deadline_ns", "sender", 40, 8},
     {"time", "sender", 48, 8},
     {"part.size", "sender", 56, 4},
     {"part.fixed", "sender", 60, 2},
     {"part.version", "sender", 62, 2}},
};

static bool is_kept(const promise *p)
{
    const gyre_layout *layout;
    size_t i = 0;

    while ((layout = gyre_layout_at(i)) && strcmp(layout->name, p->name) != 0)
        i++;
    if (!layout || layout->size != p->size || layout->alignment != p->alignment ||
        layout->field_count != p->field_count)
        return false;
    for (i = 0; i < p->field_count; i++) {
        const gyre_layout_field *const f = &layout->fields[i];

        if (strcmp(f->name, p->fields[i].name) != 0 || f->offset != p->fields[i].offset ||
            f->size != p->fields[i].size || strcmp(f->writer, p->fields[i].writer) != 0)
            return false;
    }
    return true;
}

/* Each snapshot was of its own moment: the word that changes was 0, 1, 2, ... */
static bool was_seen(const watched *w, uint64_t iterations)
{
    return w->done == iterations &&
           w->sum == iterations * w->rest + iterations * (iterations - 1) / 2;
}

static bool control_is_right(const void *fixture, uint64_t iterations)
{
    return is_kept(&control_block) && was_seen(fixture, iterations);
}

static bool telemetry_is_right(const void *fixture, uint64_t iterations)
{
    return is_kept(&telemetry) && was_seen(fixture, iterations);
}

static bool message_is_right(const void *fixture, uint64_t iterations)
{
    return is_kept(&message) && was_seen(fixture, iterations);
}

static void tell(const promise *p, gyre_bench_facts *facts)
{
    gyre_bench_count(facts, "size_bytes", (double)p->size);
    gyre_bench_count(facts, "alignment_bytes", (double)p->alignment);
    gyre_bench_count(facts, "fields", (double)p->field_count);
}

static void tell_control(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)fixture, (void)iterations;
    tell(&control_block, facts);
}

static void tell_telemetry(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)fixture, (void)iterations;
    tell(&telemetry, facts);
}

static void tell_message(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)fixture, (void)iterations;
    tell(&message, facts);
}

static const gyre_bench benches[] = {
    {
        .name = "layout/control_block",
        .t0 = "before one word is counted up",
        .t1 = "after all words were loaded, one by one, and added",
        .observer = "the same thread, which compares the sum, and every size and offset",
        .setup = setup_control,
        .run = watch_control,
        .check = control_is_right,
        .teardown = free,
        .tell = tell_control,
    },
    {
        .name = "layout/telemetry",
        .t0 = "before one word is counted up",
        .t1 = "after all words were loaded, one by one, and added",
        .observer = "the same thread, which compares the sum, and every size and offset",
        .setup = setup_telemetry,
        .run = watch_telemetry,
        .check = telemetry_is_right,
        .teardown = free,
        .tell = tell_telemetry,
    },
    {
        .name = "layout/message_header",
        .t0 = "before its id is counted up",
        .t1 = "after it was copied, and the fields of the copy were added",
        .observer = "the same thread, which compares the sum, and every size and offset",
        .setup = setup_message,
        .run = copy_message,
        .check = message_is_right,
        .teardown = free,
        .tell = tell_message,
    },
};

const gyre_suite gyre_suite_layout = GYRE_SUITE("layout", benches);
