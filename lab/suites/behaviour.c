/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour: see behaviour.h.
 *
 * The user's actor and the echo beside it take turns: the one that is not being timed is parked, so
 * that it takes no thread and no multiprocessor from the other. They are in one context, because
 * kernels of two would share a GPU by slices of time.
 *
 * Threads   the case's own calls; the seats are the library's.
 * Owns      a fixture per case, and the device while there is one.
 */
#include "suites/behaviour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/kernel.h"
#include "gyre/port.h"
#include "suites/device_clock.h"

enum {
    BENCHES = 6,
    BATCH = 256,
    SENT_BYTES = 112,
    NAME_BYTES = GYRE_BEHAVIOUR_NAME_BYTES + SENT_BYTES + 32,
    LINE_BYTES = 240,
    WHY_BYTES = 320
};

static const uint64_t PATIENCE_NS = 30000000000;

_Static_assert(GYRE_ABI_OFFSET(gyre_brief, body.reference.longs) ==
                   GYRE_ABI_OFFSET(gyre_brief, body) + GYRE_BEHAVIOUR_FRONT_BYTES,
               "as behaviour.h says");

extern const gyre_behaviour echo_quad, echo_warp, echo_block;

static struct {
    gyre_behaviour_bench bench;
    char name[GYRE_BEHAVIOUR_NAME_BYTES];
} given;

/* The device, while cases stand on it. */
static struct {
    gyre_bench_device on;
    uint32_t holders;
    gyre_actor *active; /* the one that is resident; NULL: none is */
} place;

typedef struct round {
    gyre_actor *actor;
    gyre_port *port;
    bool echo;         /* the floor: answers are what was sent */
    uint32_t *payload; /* pinned; NULL: there is none */
    gyre_brief messages[BATCH], answers[BATCH];
    uint64_t done;       /* messages that were handled as they should be */
    uint64_t empty;      /* of them, without an answer of the behaviour's */
    char why[WHY_BYTES]; /* what went wrong first; "": nothing did */
} round;

static gyre_status hold_place(const gyre_bench_case *c)
{
    const gyre_status status =
        place.holders > 0 ? GYRE_OK : gyre_bench_device_open(&place.on, c, NULL);

    place.holders += status == GYRE_OK;
    return status;
}

static void leave_place(void)
{
    if (--place.holders == 0)
        gyre_bench_device_close(&place.on);
}

/* Makes this actor the one that is resident; NULL: none. */
static gyre_status make_way(gyre_actor *actor)
{
    gyre_status status = GYRE_OK;

    if (place.active == actor)
        return GYRE_OK;
    if (place.active)
        status = gyre_actor_park(place.active, gyre_clock_after_ns(PATIENCE_NS));
    place.active = NULL;
    if (status == GYRE_OK && actor)
        status = gyre_actor_resume(actor);
    if (status == GYRE_OK)
        place.active = actor;
    return status;
}

static const gyre_behaviour *echo_of_width(uint32_t width)
{
    return width == GYRE_WIDTH_QUAD   ? &echo_quad
           : width == GYRE_WIDTH_WARP ? &echo_warp
                                      : &echo_block;
}

/* What the device's compiler said goes to stderr whole, and its first line into the reason; unless
 * Gyre knows better than that what is wrong, and does not send the reader to the log. */
static gyre_status explain_build(const gyre_behaviour *behaviour)
{
    const char *const whole = gyre_kernel_build_log();
    const gyre_error why = *gyre_error_last();
    const char *const said = whole + strspn(whole, " \t\r\n");
    const char *const log = *said ? said : why.text;
    const int length = (int)strcspn(log, "\n");

    fprintf(stderr, "%s\n", whole);
    if (!strstr(why.text, "build log"))
        return gyre_bench_refuse(GYRE_BUILD, "%s; those beside the file are there by themselves",
                                 why.text);
    return gyre_bench_refuse(GYRE_BUILD, "'%s' does not compile for %s: %.*s", behaviour->name,
                             place.on.device->name, length < LINE_BYTES ? length : LINE_BYTES, log);
}

static gyre_status launch(round *r, const gyre_behaviour *behaviour)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options,
                                               .seats = given.bench.seats,
                                               .threads = given.bench.threads,
                                               .shared_bytes = given.bench.shared_bytes};
    gyre_status status = gyre_actor_create(place.on.context, behaviour, NULL, &r->actor);

    if (status == GYRE_BUILD)
        return explain_build(behaviour);
    if (status == GYRE_OK)
        status = make_way(NULL);
    if (status == GYRE_OK)
        status = gyre_actor_launch(r->actor, &options);
    if (status != GYRE_OK)
        return status;
    place.active = r->actor;
    return gyre_port_open(r->actor, NULL, &r->port);
}

/* The words count from 0; all messages refer to the same. */
static gyre_status take_payload(round *r)
{
    const size_t size = given.bench.payload_bytes;
    void *block = NULL;
    gyre_status status;

    if (size == 0)
        return GYRE_OK;
    status = gyre_bench_device_take(&place.on, GYRE_CONTEXT_PINNED, size, &block);
    if (status != GYRE_OK)
        return status;
    r->payload = block;
    memset(block, 0, size);
    for (uint32_t i = 0; i < size / sizeof r->payload[0]; i++)
        r->payload[i] = i;
    for (int i = 0; i < BATCH; i++) {
        r->messages[i].flags |= GYRE_BRIEF_REFERS;
        r->messages[i].body.reference.address = block;
        r->messages[i].body.reference.size = size;
    }
    return GYRE_OK;
}

static void round_teardown(void *fixture)
{
    round *r = fixture;

    if (place.active == r->actor)
        place.active = NULL;
    gyre_port_close(r->port);
    gyre_actor_destroy(r->actor);
    if (r->payload)
        gyre_bench_device_give(&place.on, GYRE_CONTEXT_PINNED, r->payload,
                               given.bench.payload_bytes);
    leave_place();
    free(r);
}

static gyre_status setup(const gyre_bench_case *c, bool echo, void **out_fixture)
{
    const gyre_behaviour *behaviour = NULL;
    gyre_status status = given.bench.load(&behaviour);
    round *r;

    *out_fixture = NULL;
    if (status == GYRE_OK)
        status = hold_place(c);
    if (status != GYRE_OK)
        return status;
    r = calloc(1, sizeof *r);
    if (!r) {
        leave_place();
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    }
    r->echo = echo;
    for (int i = 0; i < BATCH; i++)
        r->messages[i] = given.bench.message;
    status = take_payload(r);
    if (status == GYRE_OK)
        status = launch(r, echo ? echo_of_width(behaviour->width) : behaviour);
    if (status != GYRE_OK) {
        round_teardown(r); /* accepts a half-built one */
        return status;
    }
    *out_fixture = r;
    return GYRE_OK;
}

static gyre_status setup_own(const gyre_bench_case *c, void **out_fixture)
{
    return setup(c, false, out_fixture);
}

static gyre_status setup_echo(const gyre_bench_case *c, void **out_fixture)
{
    return setup(c, true, out_fixture);
}

/* The first thing that goes wrong is the one that is told. */
static void fail(round *r, const char *what, const char *why)
{
    if (r->why[0] == '\0')
        snprintf(r->why, sizeof r->why, "%s: %s", what, why);
}

static void prepare(void *fixture, uint64_t iterations)
{
    round *r = fixture;

    (void)iterations;
    if (make_way(r->actor) != GYRE_OK)
        fail(r, "its turn", gyre_error_last()->text);
}

static bool is_right(round *r, const gyre_brief *answer)
{
    const size_t front = r->payload ? GYRE_BEHAVIOUR_FRONT_BYTES : 0; /* as the device has it */
    char code[64];

    if (answer->flags & GYRE_BRIEF_FAILED) {
        snprintf(code, sizeof code, "the behaviour failed it with code %u", answer->body.words[0]);
        fail(r, "a call", code);
        return false;
    }
    if (r->echo && memcmp(answer->body.bytes + front, r->messages[0].body.bytes + front,
                          sizeof answer->body.bytes - front) != 0) {
        fail(r, "a call", "what came back is not what was sent");
        return false;
    }
    r->empty += (answer->flags & GYRE_BRIEF_EMPTY) != 0;
    return true;
}

static void run_call(void *fixture, uint64_t iterations)
{
    round *r = fixture;
    uint64_t deadline_ns = 0;

    for (uint64_t i = 0; i < iterations && r->why[0] == '\0'; i++) {
        gyre_status status;

        if (i % BATCH == 0)
            deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
        status = gyre_port_call(r->port, r->messages, r->answers, deadline_ns);
        if (status == GYRE_OK && is_right(r, r->answers))
            r->done++;
        else if (status == GYRE_TIMEOUT) /* it writes no detail */
            fail(r, "a call", "no answer came within 30 s");
        else if (status != GYRE_OK)
            fail(r, "a call", gyre_error_last()->text);
    }
}

static void run_call_many(void *fixture, uint64_t iterations)
{
    round *r = fixture;

    for (uint64_t i = 0; i < iterations && r->why[0] == '\0'; i++) {
        const gyre_status status = gyre_port_call_many(r->port, r->messages, r->answers, BATCH,
                                                       gyre_clock_after_ns(PATIENCE_NS));

        if (status == GYRE_TIMEOUT)
            fail(r, "calls", "not all answers came within 30 s");
        else if (status != GYRE_OK)
            fail(r, "calls", gyre_error_last()->text);
        for (size_t k = 0; k < BATCH && status == GYRE_OK; k++)
            r->done += is_right(r, &r->answers[k]);
    }
}

static void run_send(void *fixture, uint64_t iterations)
{
    round *r = fixture;

    for (uint64_t i = 0; i < iterations && r->why[0] == '\0'; i++) {
        const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
        size_t sent = 0;
        gyre_status status = gyre_port_send_many(r->port, r->messages, BATCH, deadline_ns, &sent);

        if (status == GYRE_OK)
            status = gyre_port_flush(r->port, deadline_ns);
        if (status == GYRE_OK)
            r->done += sent;
        else if (status == GYRE_TIMEOUT)
            fail(r, "messages", "not all were handled within 30 s");
        else
            fail(r, "messages", gyre_error_last()->text);
    }
}

static bool is_done(const round *r, uint64_t messages)
{
    if (r->why[0] != '\0') {
        (void)gyre_bench_refuse(GYRE_INVALID, "%s", r->why);
        return false;
    }
    if (r->done == messages)
        return true;
    (void)gyre_bench_refuse(GYRE_INVALID, "%llu of %llu messages were handled",
                            (unsigned long long)r->done, (unsigned long long)messages);
    return false;
}

static bool check_call(const void *fixture, uint64_t iterations)
{
    return is_done(fixture, iterations);
}

static bool check_call_many(const void *fixture, uint64_t iterations)
{
    return is_done(fixture, iterations * BATCH);
}

/* Nobody answers what is sent: the actor itself is asked, once it stands still, how many it handled
 * and whether one failed. */
static bool check_send(const void *fixture, uint64_t iterations)
{
    const round *r = fixture;
    gyre_actor_statistics s = {.struct_size = sizeof s};

    if (!is_done(r, iterations * BATCH))
        return false;
    if (make_way(r->actor) != GYRE_OK ||
        gyre_actor_pause(r->actor, gyre_clock_after_ns(PATIENCE_NS)) != GYRE_OK ||
        gyre_actor_describe(r->actor, &s) != GYRE_OK || gyre_actor_resume(r->actor) != GYRE_OK)
        return false;
    if (s.failed > 0)
        (void)gyre_bench_refuse(GYRE_INVALID, "%llu messages failed, the last with code %u",
                                (unsigned long long)s.failed, s.last_error);
    else if (s.processed != iterations * BATCH)
        (void)gyre_bench_refuse(GYRE_INVALID, "%llu of %llu messages were handled",
                                (unsigned long long)s.processed,
                                (unsigned long long)iterations * BATCH);
    return s.failed == 0 && s.processed == iterations * BATCH;
}

static uint64_t batch(const gyre_bench_case *c)
{
    (void)c;
    return BATCH;
}

static uint64_t one(const gyre_bench_case *c)
{
    (void)c;
    return 1;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const round *r = fixture;
    gyre_actor_statistics s = {.struct_size = sizeof s};

    (void)iterations;
    gyre_bench_device_tell(&place.on, facts);
    if (gyre_actor_describe(r->actor, &s) == GYRE_OK) {
        gyre_bench_note(facts, "scheme", s.scheme);
        gyre_bench_count(facts, "seats", s.seats);
    }
    gyre_bench_count(facts, "type", given.bench.message.type);
    gyre_bench_count(facts, "body_bytes", (double)given.bench.body_bytes);
    if (given.bench.payload_bytes > 0)
        gyre_bench_count(facts, "payload_bytes", (double)given.bench.payload_bytes);
    if (given.bench.shared_bytes > 0)
        gyre_bench_count(facts, "shared_bytes", given.bench.shared_bytes);
    if (r->empty > 0)
        gyre_bench_count(facts, "without_answer", (double)r->empty);
}

/* What is measured; a row for the behaviour and one for the echo come of each. */
static const gyre_bench kinds[] = {
    {
        .name = "call",
        .t0 = "before the message is written",
        .t1 = "after its answer was read",
        .observer = "the caller, which reads what the actor wrote for this message",
        .run = run_call,
        .check = check_call,
        .items = one,
    },
    {
        .name = "call_many",
        .t0 = "before the first of 256 messages is written",
        .t1 = "after the last of their answers was read",
        .observer = "the caller, which reads what the actor wrote for each message",
        .run = run_call_many,
        .check = check_call_many,
        .items = batch,
    },
    {
        .name = "send",
        .t0 = "before the first of 256 messages is written",
        .t1 = "after the actor said that all are handled",
        .observer = "the sender, which reads the actor's count",
        .run = run_send,
        .check = check_send,
        .items = batch,
    },
};

_Static_assert(2 * sizeof kinds / sizeof kinds[0] == BENCHES, "one and its floor for each");

/* What was asked for besides the defaults, as a part of ids: another message is another benchmark.
 * Of a body that is long there is the beginning and a sum of all. */
static void name_sent(const gyre_behaviour_bench *bench, char *into, size_t room)
{
    const unsigned char *const body =
        bench->message.body.bytes + (bench->payload_bytes ? GYRE_BEHAVIOUR_FRONT_BYTES : 0);
    const struct {
        const char *name;
        size_t value, usual;
    } parts[] = {{"type", bench->message.type, 1},
                 {"payload", bench->payload_bytes, 0},
                 {"shared", bench->shared_bytes, 0},
                 {"seats", bench->seats, 0},
                 {"threads", bench->threads, 0}};
    uint32_t sum = 2166136261U;
    size_t used = 0;

    into[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].value != parts[i].usual)
            used += (size_t)snprintf(into + used, room - used, "%s%s%zu", used ? "-" : "/",
                                     parts[i].name, parts[i].value);
    if (bench->body_bytes > 0)
        used += (size_t)snprintf(into + used, room - used, "%sbody", used ? "-" : "/");
    for (size_t i = 0; i < bench->body_bytes; i++) {
        sum = (sum ^ body[i]) * 16777619U;
        if (i < 4)
            used += (size_t)snprintf(into + used, room - used, "%02x", body[i]);
    }
    if (bench->body_bytes > 4)
        snprintf(into + used, room - used, ".%08x", (unsigned)sum);
}

const gyre_suite *gyre_suite_behaviour(const gyre_behaviour_bench *bench)
{
    static char names[BENCHES][NAME_BYTES];
    static gyre_bench benches[BENCHES];
    static gyre_suite suite = GYRE_DEVICE_SUITE("behaviour", benches, NULL, &gyre_device_guard);
    static const gyre_axis devices = GYRE_DEVICE_AXIS;
    char sent[SENT_BYTES];

    given.bench = *bench;
    name_sent(bench, sent, sizeof sent);
    snprintf(given.name, sizeof given.name, "%s", bench->name);
    given.bench.name = given.name;
    for (int i = 0; i < BENCHES; i++) {
        const bool floor = i % 2;

        benches[i] = kinds[i / 2];
        snprintf(names[i], sizeof names[i], "behaviour.%s/%s%s%s", given.name, kinds[i / 2].name,
                 floor ? "_echo" : "", sent);
        benches[i].name = names[i];
        benches[i].axes[0] = devices;
        benches[i].setup = floor ? setup_echo : setup_own;
        benches[i].prepare = prepare;
        benches[i].teardown = round_teardown;
        benches[i].tell = tell;
        benches[i].tags = GYRE_TAG_CPU;
        benches[i].beside = floor ? NULL : names[i + 1];
    }
    return &suite;
}
