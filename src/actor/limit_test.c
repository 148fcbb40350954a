/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors on a device whose driver ends kernels that run for seconds: a null device that says so.
 */
#include <string.h>
#include <time.h>

#include "actor/actor.h"
#include "gyre/clock.h"
#include "gyre/device.h"
#include "gyre/settings.h"
#include "test.h"

#define SECOND_NS UINT64_C(1000000000)
#define DEADLINE gyre_clock_after_ns(20 * SECOND_NS)

static gyre_context *context;
static gyre_actor *actor;
static gyre_port *port;

static void count(gyre_self *self, void *state, const gyre_brief *brief)
{
    uint32_t *const handled = state;

    (void)brief;
    self->answer.body.words[0] = ++*handled;
    self->answered = 1;
}

static const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                         .name = "count",
                                         .width = GYRE_WIDTH_BLOCK,
                                         .state_bytes = sizeof(uint32_t),
                                         .handler = count};

static bool begin(void)
{
    const gyre_device *const device = gyre_device_find("null");

    return device && gyre_device_has(device, GYRE_FEATURE_TIME_LIMIT) &&
           gyre_context_create(device, NULL, &context) == GYRE_OK &&
           gyre_actor_create(context, &behaviour, NULL, &actor) == GYRE_OK;
}

/* One that would not leave for being idle. */
static bool launch(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .idle = GYRE_ACTOR_LEAVE, .leave_us = 3600u * 1000000u};

    return gyre_actor_launch(actor, &options) == GYRE_OK &&
           gyre_port_open(actor, NULL, &port) == GYRE_OK;
}

static void finish(void)
{
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
    port = NULL;
}

static void one_that_would_stay_is_refused(void)
{
    const gyre_actor_launch_options spins = {.struct_size = sizeof spins, .idle = GYRE_ACTOR_SPIN};

    REQUIRE(begin());
    CHECK(gyre_actor_launch(actor, NULL) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "GYRE_ACTOR_LEAVE") != NULL);
    CHECK(gyre_actor_launch(actor, &spins) == GYRE_UNSUPPORTED);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_CREATED);
    finish();
}

static void one_that_is_busy_goes_and_comes_back(void)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    const uint64_t deadline_ns = DEADLINE;
    const gyre_brief message = {.type = 1};
    uint32_t calls = 0;
    gyre_brief answer;

    REQUIRE(begin() && launch());
    while (statistics.returns < 2 && gyre_clock_now_ns() < deadline_ns) {
        REQUIRE(gyre_port_call(port, &message, &answer, DEADLINE) == GYRE_OK);
        REQUIRE(answer.body.words[0] == ++calls);
        CHECK(gyre_actor_describe(actor, &statistics) == GYRE_OK);
    }
    CHECK(statistics.returns >= 2);
    finish();
}

static uint64_t returns_of(void)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};

    CHECK(gyre_actor_describe(actor, &statistics) == GYRE_OK);
    return statistics.returns;
}

static void one_that_is_paused_does_so_too(void)
{
    const gyre_brief message = {.type = 1};
    const uint64_t deadline_ns = DEADLINE;
    gyre_brief answer;

    REQUIRE(begin() && launch());
    CHECK(gyre_actor_pause(actor, DEADLINE) == GYRE_OK);
    CHECK(gyre_port_send(port, &message, DEADLINE) == GYRE_OK);
    while (returns_of() < 2 && gyre_clock_now_ns() < deadline_ns)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(returns_of() >= 2 && gyre_actor_state(actor) == GYRE_ACTOR_PAUSED);
    CHECK(gyre_actor_resume(actor) == GYRE_OK);
    CHECK(gyre_port_call(port, &message, &answer, DEADLINE) == GYRE_OK);
    CHECK(answer.body.words[0] == 2);
    finish();
}

static void one_that_has_nothing_to_do_stays_away(void)
{
    REQUIRE(begin() && launch());
    CHECK(gyre_actor_wait(actor, GYRE_ACTOR_AWAY, DEADLINE) == GYRE_OK);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_AWAY);
    finish();
}

/* A stream may come too late for it. */
static void messages_that_wait_for_streams_are_refused(void)
{
    const gyre_brief message = {.type = 1};
    gyre_stream *stream;
    gyre_brief answer;

    REQUIRE(begin() && launch() && gyre_stream_create(context, NULL, &stream) == GYRE_OK);
    CHECK(gyre_port_send_after(port, stream, &message, DEADLINE) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "waits for a stream") != NULL);
    CHECK(gyre_port_ask_after(port, stream, &message, 1, DEADLINE) == GYRE_UNSUPPORTED);
    CHECK(gyre_port_ask_between(port, stream, &message, 2, DEADLINE) == GYRE_UNSUPPORTED);
    CHECK(gyre_port_due(port) == 0);
    CHECK(gyre_port_call(port, &message, &answer, DEADLINE) == GYRE_OK);
    CHECK(answer.body.words[0] == 1);
    gyre_stream_destroy(stream);
    finish();
}

static const test_case cases[] = {
    TEST(one_that_would_stay_is_refused),
    TEST(one_that_is_busy_goes_and_comes_back),
    TEST(one_that_is_paused_does_so_too),
    TEST(one_that_has_nothing_to_do_stays_away),
    TEST(messages_that_wait_for_streams_are_refused),
};

int main(int argc, char **argv)
{
    if (gyre_settings_set("GYRE_NULL_FAULTS", "limit") != GYRE_OK)
        return 1;
    return test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);
}
