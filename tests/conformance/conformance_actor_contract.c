/* SPDX-License-Identifier: Apache-2.0
 *
 * What the headers of actors promise beside the usual way: what is refused, and with what; the same
 * on every device.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "conformance_actor.h"

#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/timer.c"  /* NOLINT(bugprone-suspicious-include): its types as well */

static void an_actor_that_has_ended_has_no_ports(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *port = port_new(actor), *late;

    NEED_ACTORS();
    REQUIRE(port);
    gyre_port_close(port);
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    CHECK(gyre_port_open(actor, NULL, &late) == GYRE_INVALID && !late);
    CHECK(strstr(gyre_error_last()->text, "terminated") != NULL);
    CHECK(ok(gyre_actor_launch(actor, NULL)) && ok(gyre_port_open(actor, NULL, &port)));
    CHECK(end(actor, port));
}

/* Whether a launch is refused with that status, and a text that says what is allowed. */
static bool refused(gyre_actor *actor, gyre_actor_launch_options options, gyre_status with,
                    const char *allowed)
{
    gyre_status status;

    options.struct_size = sizeof options;
    status = gyre_actor_launch(actor, &options);
    if (status == with && strstr(gyre_error_last()->text, allowed) != NULL)
        return gyre_actor_state(actor) == GYRE_ACTOR_CREATED;
    fprintf(stderr, "%s: %s\n", gyre_status_name(status), gyre_error_last()->text);
    return false;
}

static void what_no_gpu_could_launch_is_refused(void)
{
    static const gyre_actor_launch_options one = {.struct_size = sizeof one, .units = 1};
    const char *const even = "multiples of 32 up to 1024";
    gyre_actor *actor;
    gyre_status status = gyre_actor_create(on.context, &ledger, NULL, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    NEED_ACTORS();
    REQUIRE(ok(status));
    CHECK(refused(actor, (gyre_actor_launch_options){.threads = 33}, GYRE_INVALID, even));
    CHECK(refused(actor, (gyre_actor_launch_options){.threads = 100000}, GYRE_INVALID, even));
    CHECK(
        refused(actor, (gyre_actor_launch_options){.threads = 1024}, GYRE_INVALID, "928 at most"));
    CHECK(refused(actor, (gyre_actor_launch_options){.threads = 480, .ports = 16}, GYRE_INVALID,
                  "448 at most"));
    CHECK(refused(actor, (gyre_actor_launch_options){.seats = 9, .units = 1}, GYRE_NO_MEMORY,
                  "for 9 seats, and may have 1"));
    CHECK(refused(actor, (gyre_actor_launch_options){.shared_bytes = 228 * 1024}, GYRE_INVALID,
                  "bytes of shared memory"));
    CHECK(ok(gyre_actor_launch(actor, &one)) && ok(gyre_actor_terminate(actor, soon())));
    gyre_actor_destroy(actor);
    REQUIRE(ok(gyre_actor_create(on.context, &timer, NULL, &actor))); /* four lanes to a message */
    CHECK(refused(actor, (gyre_actor_launch_options){.threads = 32}, GYRE_INVALID, "64 at least"));
    CHECK(refused(actor, (gyre_actor_launch_options){.threads = 256, .ports = 8}, GYRE_INVALID,
                  "288 at least"));
    gyre_actor_destroy(actor);
}

static void a_missed_handshake_leaves_nobody_behind(void)
{
    /* of eight threads one is late sooner or later; a kernel may have begun when its launch returns
     */
    const bool threads = gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS);
    const gyre_actor_launch_options at_once = {
        .struct_size = sizeof at_once, .handshake_ns = 1, .seats = threads ? 8 : 1};
    gyre_actor *actor;
    gyre_port *port;
    gyre_status status = gyre_actor_create(on.context, &ledger, NULL, &actor);
    const uint64_t deadline_ns = soon();
    uint32_t missed = 0;

    no_actors = status == GYRE_UNSUPPORTED;
    NEED_ACTORS();
    REQUIRE(ok(status));
    for (int i = 0; i < 20 || (threads && !missed && gyre_clock_now_ns() < deadline_ns); i++) {
        status = gyre_actor_launch(actor, &at_once);
        missed += status == GYRE_NO_MEMORY;
        if (status == GYRE_OK)
            CHECK(ok(gyre_actor_terminate(actor, soon())));
        else
            CHECK(status == GYRE_NO_MEMORY && gyre_actor_state(actor) == GYRE_ACTOR_CREATED);
    }
    CHECK(missed > 0 || !threads);
    CHECK(ok(gyre_actor_launch(actor, NULL)) && ok(gyre_port_open(actor, NULL, &port)));
    CHECK(end(actor, port));
}

/* Threads that look for messages leave little time to make more of them. */
static void a_crowd_is_not_waited_for_longer_than_was_said(void)
{
    gyre_actor *actor;
    const gyre_status status = gyre_actor_create(on.context, &ledger, NULL, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    NEED_ACTORS();
    REQUIRE(ok(status));
    if (!gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS)) {
        gyre_actor_destroy(actor);
        SKIP("seats of this device are no threads");
    }
    CHECK(refused(actor, (gyre_actor_launch_options){.seats = 1024, .handshake_ns = 1},
                  GYRE_NO_MEMORY, "of 1024 threads began"));
    gyre_actor_destroy(actor);
}

/* With these the first message would have the stamp of a slot that was never written: bells by
 * twice their number, modulo 2^32. */
static void sequences_do_not_begin_at_the_salt(void)
{
    const uint32_t salt = 0x9e3779b1; /* of a first launch */
    const uint32_t first[] = {salt, salt - 15, salt / 2 - 1, salt / 2 - 1 + (1U << 31)};
    gyre_actor *actor;
    const gyre_status status = gyre_actor_create(on.context, &ledger, NULL, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    NEED_ACTORS();
    REQUIRE(ok(status));
    for (size_t i = 0; i < COUNT(first); i++)
        CHECK(refused(actor, (gyre_actor_launch_options){.first = first[i], .capacity = 16},
                      GYRE_INVALID, "cannot begin at"));
    gyre_actor_destroy(actor);
}

static void a_launch_wants_the_old_ports_closed(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *port = port_new(actor);

    NEED_ACTORS();
    REQUIRE(port);
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    CHECK(gyre_actor_launch(actor, NULL) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "close the ports") != NULL);
    gyre_port_close(port);
    CHECK(ok(gyre_actor_launch(actor, NULL)) && ok(gyre_port_open(actor, NULL, &port)));
    CHECK(end(actor, port));
}

static void one_that_was_never_launched_ends_at_once(void)
{
    gyre_actor *actor;
    uint32_t word;

    for (int drains = 0; drains < 2; drains++) {
        const gyre_status status = gyre_actor_create(on.context, &ledger, NULL, &actor);

        no_actors = status == GYRE_UNSUPPORTED;
        NEED_ACTORS();
        REQUIRE(ok(status));
        CHECK(gyre_actor_read_state(actor, &word, sizeof word) == GYRE_INVALID);
        CHECK(ok(drains ? gyre_actor_drain(actor, 0) : gyre_actor_terminate(actor, 0)));
        CHECK(gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED);
        CHECK(ok(gyre_actor_drain(actor, 0)) && ok(gyre_actor_terminate(actor, 0)));
        CHECK(ok(gyre_actor_launch(actor, NULL)));
        gyre_actor_destroy(actor);
    }
}

static void no_more_is_read_than_the_state_has(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    unsigned char bytes[sizeof(ledger_state) + 1];

    NEED_ACTORS();
    REQUIRE(actor);
    memset(bytes, 0xee, sizeof bytes);
    CHECK(gyre_actor_read_state(actor, bytes, sizeof bytes) == GYRE_INVALID && bytes[0] == 0xee);
    CHECK(ok(gyre_actor_read_state(actor, bytes, 4)) && bytes[3] == 0 && bytes[4] == 0xee);
    CHECK(ok(gyre_actor_read_state(actor, bytes, sizeof(ledger_state))));
    CHECK(bytes[sizeof(ledger_state) - 1] == 0 && bytes[sizeof(ledger_state)] == 0xee);
    CHECK(end(actor, NULL));
}

static gyre_status fail_with(gyre_port *port, uint32_t code)
{
    const gyre_brief request = {.type = TIMER_FAIL, .body.words = {code}};
    gyre_brief answer;

    return gyre_port_call(port, &request, &answer, soon());
}

/* Who calls is told by the status, who receives by the answer. */
static void failures_say_their_code(void)
{
    const uint32_t code = GYRE_ACTOR_OWN + 234;
    gyre_actor *const actor = actor_new(&timer, NULL);
    gyre_port *const port = port_new(actor);
    gyre_brief fails = {.type = TIMER_FAIL, .body.words = {code}}, late = {.type = TIMER_READ};
    gyre_brief answers[2];
    gyre_port_answer heard[2];

    NEED_ACTORS();
    REQUIRE(port);
    late.flags = GYRE_BRIEF_DEADLINE;
    late.body.reference.deadline_ns = gyre_clock_now_ns() - 50 * MS;
    for (int round = 0; round < 2; round++) { /* by the bell, and beside a question */
        CHECK(gyre_port_call(port, &fails, answers, soon()) == GYRE_INVALID);
        CHECK(gyre_error_last()->status == GYRE_INVALID);
        CHECK(gyre_error_last()->native == (int32_t)code);
        CHECK(strstr(gyre_error_last()->text, "error 1234") != NULL);
        CHECK(answers[0].flags & GYRE_BRIEF_FAILED && answers[0].body.words[0] == code);
        CHECK(gyre_port_call(port, &late, answers, soon()) == GYRE_TIMEOUT);
        CHECK(ok(gyre_port_ask(port, round ? &late : &fails, 5, soon())));
    }
    CHECK(ok(gyre_port_call_many(port, (gyre_brief[2]){fails, late}, answers, 2, soon())));
    for (int i = 0; i < 2; i++) {
        const uint32_t expected = i ? (uint32_t)GYRE_ACTOR_TIMEOUT : code;

        CHECK(ok(gyre_port_receive(port, &heard[i], soon())) && heard[i].cookie == 5);
        CHECK(heard[i].brief.flags & GYRE_BRIEF_FAILED);
        CHECK(heard[i].brief.body.words[0] == expected);
        CHECK(answers[i].flags & GYRE_BRIEF_FAILED && answers[i].body.words[0] == expected);
    }
    CHECK(end(actor, port));
}

/* Of two ports; nothing is asked by the first. */
static void who_waits_is_told_why_in_vain(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .ports = 2, .not_active = true};
    const gyre_brief read = {.type = LEDGER_READ};
    gyre_actor *const actor = actor_new(&ledger, &options);
    gyre_port *const ports[2] = {port_new(actor), port_new(actor)};
    gyre_port_answer answer;
    size_t index;

    NEED_ACTORS();
    REQUIRE(ports[0] && ports[1]);
    for (size_t count = 0; count <= 2; count++) {
        index = 9;
        CHECK(gyre_port_wait_any(ports, count, soon(), &index) == GYRE_NOT_FOUND && index == 0);
    }
    CHECK(gyre_port_wait_any(NULL, 0, soon(), &index) == GYRE_NOT_FOUND);
    CHECK(gyre_port_receive(ports[1], &answer, soon()) == GYRE_NOT_FOUND);
    CHECK(ok(gyre_port_ask(ports[1], &read, 1, soon())));
    index = 9;
    CHECK(gyre_port_wait_any(ports, 2, gyre_clock_after_ns(5 * MS), &index) == GYRE_TIMEOUT);
    CHECK(index == 0);
    CHECK(gyre_port_receive(ports[1], &answer, 0) == GYRE_TIMEOUT);
    CHECK(gyre_port_flush(ports[1], gyre_clock_after_ns(5 * MS)) == GYRE_TIMEOUT);
    CHECK(ok(gyre_port_flush(ports[0], soon())));
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    for (int again = 0; again < 2; again++) {
        index = 9;
        CHECK(gyre_port_wait_any(ports, 2, again ? 0 : soon(), &index) == GYRE_CLOSED);
        CHECK(index == 1);
        CHECK(gyre_port_receive(ports[1], &answer, again ? 0 : soon()) == GYRE_CLOSED);
        CHECK(gyre_port_due(ports[1]) == 1); /* and stays so */
        CHECK(gyre_port_flush(ports[1], again ? 0 : soon()) == GYRE_CLOSED);
        CHECK(gyre_port_receive(ports[0], &answer, soon()) == GYRE_NOT_FOUND);
        CHECK(ok(gyre_port_flush(ports[0], soon())));
    }
    gyre_port_close(ports[0]);
    CHECK(end(actor, ports[1]));
}

static void what_came_before_the_end_is_received(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    const gyre_brief read = {.type = LEDGER_READ};
    gyre_port_answer answer;

    NEED_ACTORS();
    REQUIRE(port);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ok(gyre_port_ask(port, &read, i, soon())));
    CHECK(ok(gyre_actor_drain(actor, soon())) && gyre_port_due(port) == 3);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ok(gyre_port_receive(port, &answer, soon())) && answer.cookie == i);
    CHECK(gyre_port_receive(port, &answer, soon()) == GYRE_NOT_FOUND &&
          ok(gyre_port_flush(port, 0)));
    CHECK(gyre_port_ask(port, &read, 9, soon()) == GYRE_CLOSED && gyre_port_due(port) == 0);
    CHECK(end(actor, port));
}

/* What of a port's functions does something else than refuse. */
static int count_not_refused(gyre_actor *actor, gyre_port *port, gyre_stream *stream)
{
    const gyre_brief read = {.type = LEDGER_READ};
    gyre_port_answer heard;
    gyre_port *another;
    gyre_brief answer;
    int descriptor;
    size_t count;
    const gyre_status got[] = {
        gyre_port_open(actor, NULL, &another),
        gyre_port_send(port, &read, GYRE_NEVER),
        gyre_port_send_many(port, &read, 1, GYRE_NEVER, &count),
        gyre_port_call(port, &read, &answer, GYRE_NEVER),
        gyre_port_call_many(port, &read, &answer, 1, GYRE_NEVER),
        gyre_port_ask(port, &read, 1, GYRE_NEVER),
        gyre_port_send_after(port, stream, &read, GYRE_NEVER),
        gyre_port_ask_after(port, stream, &read, 1, GYRE_NEVER),
        gyre_port_ask_before(port, stream, &read, 1, GYRE_NEVER),
        gyre_port_ask_between(port, stream, &read, 1, GYRE_NEVER),
        gyre_port_receive(port, &heard, GYRE_NEVER),
        gyre_port_receive_many(port, &heard, 1, GYRE_NEVER, &count),
        gyre_port_wait_any(&port, 1, GYRE_NEVER, &count),
        gyre_port_descriptor(port, &descriptor),
        gyre_port_flush(port, GYRE_NEVER),
    };
    int others = 0;

    for (size_t i = 0; i < COUNT(got); i++)
        others += got[i] != GYRE_UNAVAILABLE;
    return others;
}

static void a_forked_child_is_refused(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .not_active = true};
    gyre_actor *const actor = actor_new(&ledger, &options);
    gyre_port *const port = port_new(actor);
    const gyre_brief read = {.type = LEDGER_READ};
    gyre_stream *const stream = stream_new();
    gyre_port_answer answer;
    int result = -1;
    pid_t child;

    if (no_actors)
        gyre_stream_destroy(stream);
    NEED_ACTORS();
    REQUIRE(port && stream);
    CHECK(ok(gyre_port_ask(port, &read, 1, soon())));
    child = fork();
    if (child == 0) {
        const int others = count_not_refused(actor, port, stream);

        gyre_port_close(port);
        _exit(others);
    }
    CHECK(child > 0 && waitpid(child, &result, 0) == child && result == 0);
    CHECK(ok(gyre_actor_activate(actor)) && ok(gyre_port_receive(port, &answer, soon())));
    gyre_stream_destroy(stream);
    CHECK(end(actor, port));
}

/* A message that was late is no failure, and a failure is not late, whatever it says. */
static void late_ones_and_failures_are_counted_apart(void)
{
    for (int silent = 0; silent < 2; silent++) {
        const gyre_actor_launch_options options = {.struct_size = sizeof options,
                                                   .no_telemetry = silent};
        gyre_actor *const actor = actor_new(&timer, &options);
        gyre_port *const port = port_new(actor);
        gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
        gyre_brief late = {.type = TIMER_READ, .flags = GYRE_BRIEF_DEADLINE}, answer;

        NEED_ACTORS();
        REQUIRE(port);
        CHECK(fail_with(port, GYRE_ACTOR_TIMEOUT) == GYRE_TIMEOUT);
        CHECK(fail_with(port, GYRE_ACTOR_OWN + 1) == GYRE_INVALID);
        for (int i = 0; i < 3; i++) {
            late.body.reference.deadline_ns = gyre_clock_now_ns() - 50 * MS;
            CHECK(gyre_port_call(port, &late, &answer, soon()) == GYRE_TIMEOUT);
        }
        CHECK(ok(gyre_actor_pause(actor, soon())));
        CHECK(ok(gyre_actor_describe(actor, &statistics)));
        CHECK(statistics.processed == 5 && statistics.dropped == 3 && statistics.failed == 2);
        CHECK(statistics.last_error == GYRE_ACTOR_TIMEOUT);
        CHECK(ok(gyre_actor_park(actor, soon())) && ok(gyre_actor_resume(actor)));
        CHECK(fail_with(port, GYRE_ACTOR_OWN + 2) == GYRE_INVALID);
        CHECK(ok(gyre_actor_pause(actor, soon())));
        CHECK(ok(gyre_actor_describe(actor, &statistics)));
        CHECK(statistics.processed == 6 && statistics.dropped == 3 && statistics.failed == 3);
        CHECK(statistics.last_error == GYRE_ACTOR_OWN + 2);
        CHECK(end(actor, port));
    }
}

/* What a behaviour saw of its clock, and between which times of the host's. */
typedef struct reading {
    uint64_t before_ns, after_ns;
    timer_answer seen;
} reading;

static reading read_clock(gyre_port *port, uint64_t deadline_ns)
{
    gyre_brief request = {.type = TIMER_READ, .flags = GYRE_BRIEF_DEADLINE}, answer = {.type = 0};
    reading r = {.before_ns = gyre_clock_now_ns()};

    request.body.reference.deadline_ns = deadline_ns;
    CHECK(ok(gyre_port_call(port, &request, &answer, soon())) && answer.flags == 0);
    r.after_ns = gyre_clock_now_ns();
    memcpy(&r.seen, answer.body.bytes, sizeof r.seen);
    CHECK(r.seen.backwards == 0 && r.seen.first <= r.seen.last);
    return r;
}

static void behaviours_have_a_clock(void)
{
    const bool own = strcmp(on.device->backend, "cuda") == 0; /* it begins elsewhere */
    gyre_actor *const actor = actor_new(&timer, NULL);
    gyre_port *const port = port_new(actor);
    reading first, next;

    NEED_ACTORS();
    REQUIRE(port);
    first = read_clock(port, soon());
    for (int i = 0; i < 20; i++) {
        uint64_t most, least, passed;

        sleep_ns(2 * MS);
        next = read_clock(port, soon());
        CHECK(next.seen.first >= first.seen.last && next.seen.deadline > next.seen.last);
        if (!own)
            CHECK(next.seen.first >= next.before_ns && next.seen.last <= next.after_ns);
        /* it runs as the host's does, but for a part in a hundred and a step */
        passed = next.seen.first - first.seen.first;
        most = next.after_ns - first.before_ns;
        least = next.before_ns - first.after_ns;
        CHECK(passed <= most + most / 100 + MS && passed + least / 100 + MS >= least);
    }
    CHECK(end(actor, port));
}

static const test_case cases[] = {
    TEST(an_actor_that_has_ended_has_no_ports),
    TEST(what_no_gpu_could_launch_is_refused),
    TEST(a_missed_handshake_leaves_nobody_behind),
    TEST(a_crowd_is_not_waited_for_longer_than_was_said),
    TEST(sequences_do_not_begin_at_the_salt),
    TEST(a_launch_wants_the_old_ports_closed),
    TEST(one_that_was_never_launched_ends_at_once),
    TEST(no_more_is_read_than_the_state_has),
    TEST(failures_say_their_code),
    TEST(who_waits_is_told_why_in_vain),
    TEST(what_came_before_the_end_is_received),
    TEST(a_forked_child_is_refused),
    TEST(late_ones_and_failures_are_counted_apart),
    TEST(behaviours_have_a_clock),
};
CONFORMANCE_MAIN(cases)
