/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: what they answer, in what order, through what they live, and that nothing is lost.
 */
#include "conformance_actor.h"

#include "behaviours/blend.c"  /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/echo.c"   /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { MANY = 20000 };

static gyre_brief echo_of(uint64_t *chance)
{
    gyre_brief brief = {.type = 1};

    fill_random(chance, &brief.body, sizeof brief.body);
    return brief;
}

static bool echoes(const gyre_brief *request, const gyre_brief *answer)
{
    return answer->body.words[0] == request->body.words[0] + 1 &&
           memcmp(answer->body.words + 1, request->body.words + 1, 36) == 0;
}

static void a_call_is_answered(void)
{
    gyre_actor *const actor = actor_new(&echo, NULL);
    gyre_port *const port = port_new(actor);
    uint64_t chance = 1;

    NEED_ACTORS();
    REQUIRE(port);
    for (int i = 0; i < 5000; i++) {
        const gyre_brief request = echo_of(&chance);
        gyre_brief answer;

        REQUIRE(ok(gyre_port_call(port, &request, &answer, soon())));
        REQUIRE(echoes(&request, &answer));
    }
    CHECK(end(actor, port));
}

static void many_calls_are_answered_in_their_order(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .capacity = 64};
    gyre_actor *const actor = actor_new(&echo, &options);
    gyre_port *const port = port_new(actor);
    static gyre_brief requests[MANY], answers[MANY];
    uint64_t chance = 2;
    size_t wrong = 0;

    NEED_ACTORS();
    REQUIRE(port);
    for (size_t i = 0; i < MANY; i++)
        requests[i] = echo_of(&chance);
    CHECK(ok(gyre_port_call_many(port, requests, answers, MANY, soon())));
    for (size_t i = 0; i < MANY; i++)
        wrong += !echoes(&requests[i], &answers[i]);
    CHECK(wrong == 0);
    CHECK(end(actor, port));
}

static void what_is_sent_is_handled_once_and_in_order(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .capacity = 32};
    gyre_actor *const actor = actor_new(&ledger, &options);
    gyre_port *const port = port_new(actor);
    static gyre_brief requests[MANY];
    const gyre_brief read = {.type = LEDGER_READ};
    gyre_brief answer;
    ledger_state state = {0};
    uint64_t chance = 3;
    uint32_t hash = 0;
    size_t sent;

    NEED_ACTORS();
    REQUIRE(port);
    for (size_t i = 0; i < MANY; i++) {
        requests[i].type = LEDGER_SILENT;
        requests[i].body.words[0] = (uint32_t)chance_next(&chance);
        hash = hash * 31 + requests[i].body.words[0];
    }
    CHECK(ok(gyre_port_send_many(port, requests, MANY, soon(), &sent)) && sent == MANY);
    CHECK(ok(gyre_port_call(port, &read, &answer, soon())));
    CHECK(answer.body.words[0] == hash && answer.body.words[1] == MANY + 1);
    CHECK(ok(gyre_port_flush(port, soon())));
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)));
    CHECK(state.hash == hash && state.messages == MANY + 1);
    CHECK(end(actor, port));
}

static void answers_come_with_their_cookies(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .capacity = 16};
    gyre_actor *const actor = actor_new(&echo, &options);
    gyre_port *const port = port_new(actor);
    gyre_port_answer answers[16];
    uint64_t asked = 0, heard = 0;
    size_t count;

    NEED_ACTORS();
    REQUIRE(port);
    CHECK(gyre_port_receive(port, answers, soon()) == GYRE_NOT_FOUND);
    while (heard < 5000) {
        gyre_brief request = {.type = 1, .body.longs = {asked, 2, 3, 4, 5}};

        if (asked < 5000 && gyre_port_due(port) < 16) {
            REQUIRE(ok(gyre_port_ask(port, &request, asked * 7, soon())));
            asked++;
            continue;
        }
        if (gyre_port_due(port) == 16)
            CHECK(gyre_port_ask(port, &request, 0, soon()) == GYRE_AGAIN);
        REQUIRE(ok(gyre_port_receive_many(port, answers, 16, soon(), &count)) && count > 0);
        for (size_t i = 0; i < count; i++, heard++) {
            REQUIRE(answers[i].cookie == heard * 7);
            REQUIRE(answers[i].brief.body.longs[0] == heard + 1);
        }
    }
    CHECK(gyre_port_due(port) == 0);
    CHECK(end(actor, port));
}

static void what_fails_says_so(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    const gyre_brief fails = {.type = LEDGER_FAIL, .body.words = {GYRE_ACTOR_OWN + 7}};
    const gyre_brief silent = {.type = LEDGER_SILENT};
    gyre_brief late = {.type = LEDGER_READ, .flags = GYRE_BRIEF_DEADLINE};
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    gyre_brief answer;

    NEED_ACTORS();
    REQUIRE(port);
    CHECK(gyre_port_call(port, &fails, &answer, soon()) == GYRE_INVALID);
    CHECK(answer.flags == GYRE_BRIEF_FAILED && answer.body.words[0] == GYRE_ACTOR_OWN + 7);
    CHECK(strstr(gyre_error_last()->text, "1007") != NULL);
    CHECK(ok(gyre_port_call(port, &silent, &answer, soon())));
    CHECK(answer.flags == GYRE_BRIEF_EMPTY);
    late.body.reference.deadline_ns = 1;
    if (gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS))
        CHECK(gyre_port_call(port, &late, &answer, soon()) == GYRE_TIMEOUT);
    CHECK(ok(gyre_actor_pause(actor, soon())));
    CHECK(ok(gyre_actor_describe(actor, &statistics)));
    CHECK(statistics.failed >= 1 && statistics.processed >= 2 && statistics.waiting == 0);
    CHECK(end(actor, port));
}

static void payloads_are_seen_on_both_sides(void)
{
    gyre_actor *sums = NULL, *blends = NULL;
    gyre_port *port, *blend_port;
    enum { WORDS = 10000 };
    uint64_t chance = 5;
    uint32_t *words;
    float *y;

    if (under_sanitizer())
        SKIP("the sanitizer lets no two kernels run at once");
    no_actors = gyre_actor_create(on.context, &ledger, NULL, &sums) == GYRE_UNSUPPORTED;
    NEED_ACTORS();
    REQUIRE(sums && ok(gyre_actor_create(on.context, &blend, NULL, &blends)));
    REQUIRE(ok(gyre_actor_launch(sums, NULL)) && ok(gyre_actor_launch(blends, NULL)));
    words = take(GYRE_CONTEXT_PINNED, (size_t)WORDS * 4);
    y = take(GYRE_CONTEXT_PINNED, (size_t)WORDS * 4);
    port = port_new(sums);
    blend_port = port_new(blends);
    REQUIRE(port && blend_port && words && y);
    for (int round = 0; round < 50; round++) {
        const uint32_t count = (uint32_t)(chance_next(&chance) % WORDS) + 1;
        gyre_brief request = {.type = LEDGER_SUM, .flags = GYRE_BRIEF_REFERS};
        blend_request blending = {.scale = 1.5f, .shift = (float)round};
        gyre_brief answer;
        uint32_t sum = 0;
        size_t wrong = 0;

        for (uint32_t i = 0; i < count; i++) {
            words[i] = (uint32_t)chance_next(&chance);
            sum += words[i];
            y[i] = (float)(words[i] % 1000);
        }
        request.body.reference.address = words;
        request.body.reference.size = (uint64_t)count * 4;
        REQUIRE(ok(gyre_port_call(port, &request, &answer, soon())));
        CHECK(answer.body.words[2] == sum);
        request.type = 1;
        blending.address = y;
        blending.size = (uint64_t)count * 4;
        memcpy(&request.body, &blending, sizeof blending);
        REQUIRE(ok(gyre_port_call(blend_port, &request, &answer, soon())));
        for (uint32_t i = 0; i < count; i++)
            wrong += y[i] != (float)(words[i] % 1000) * 1.5f + (float)round;
        CHECK(wrong == 0 && answer.body.words[0] == count);
    }
    CHECK(end(sums, port) && end(blends, blend_port));
    give(GYRE_CONTEXT_PINNED, words, (size_t)WORDS * 4);
    give(GYRE_CONTEXT_PINNED, y, (size_t)WORDS * 4);
}

static void a_life_has_its_stations(void)
{
    gyre_actor_launch_options options = {.struct_size = sizeof options, .not_active = true};
    gyre_actor *const actor = actor_new(&ledger, &options);
    gyre_port *const port = port_new(actor);
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {5}};
    gyre_brief answer;
    gyre_port *again;

    NEED_ACTORS();
    REQUIRE(port);
    CHECK(gyre_port_open(actor, NULL, &again) == GYRE_AGAIN);
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_LAUNCHED);
    CHECK(gyre_actor_launch(actor, NULL) == GYRE_INVALID);
    CHECK(gyre_port_call(port, &mix, &answer, gyre_clock_after_ns(20 * MS)) == GYRE_TIMEOUT);
    CHECK(ok(gyre_actor_activate(actor)) && gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
    CHECK(ok(gyre_actor_activate(actor)));
    CHECK(ok(gyre_port_flush(port, soon()))); /* the one that was given up is handled as well */
    CHECK(ok(gyre_port_call(port, &mix, &answer, soon())) && answer.body.words[1] == 2);
    CHECK(ok(gyre_actor_pause(actor, soon())) && gyre_actor_state(actor) == GYRE_ACTOR_PAUSED);
    CHECK(gyre_actor_activate(actor) == GYRE_INVALID);
    CHECK(gyre_port_call(port, &mix, &answer, gyre_clock_after_ns(20 * MS)) == GYRE_TIMEOUT);
    CHECK(ok(gyre_actor_resume(actor)) && ok(gyre_port_flush(port, soon())));
    CHECK(ok(gyre_port_call(port, &mix, &answer, soon())) && answer.body.words[1] == 4);
    for (int i = 0; i < 3; i++) {
        CHECK(ok(gyre_actor_park(actor, soon())) && ok(gyre_actor_park(actor, soon())));
        CHECK(gyre_actor_state(actor) == GYRE_ACTOR_PARKED);
        CHECK(ok(gyre_port_send(port, &mix, soon())));
        CHECK(gyre_port_call(port, &mix, &answer, gyre_clock_after_ns(5 * MS)) == GYRE_TIMEOUT);
        CHECK(ok(gyre_actor_resume(actor)) && ok(gyre_port_flush(port, soon())));
        CHECK(ok(gyre_port_call(port, &mix, &answer, soon())));
        CHECK(answer.body.words[1] == 4 + 3 * (unsigned)(i + 1));
    }
    CHECK(ok(gyre_port_send(port, &mix, soon())) && ok(gyre_actor_drain(actor, soon())));
    CHECK(gyre_actor_state(actor) == GYRE_ACTOR_TERMINATED);
    CHECK(gyre_port_send(port, &mix, soon()) == GYRE_CLOSED);
    CHECK(gyre_port_call(port, &mix, &answer, soon()) == GYRE_CLOSED);
    CHECK(gyre_actor_wait(actor, GYRE_ACTOR_TERMINATED, soon()) == GYRE_OK);
    CHECK(gyre_actor_wait(actor, GYRE_ACTOR_ACTIVE, soon()) == GYRE_CLOSED);
    CHECK(gyre_actor_resume(actor) == GYRE_INVALID && gyre_actor_pause(actor, 0) == GYRE_INVALID);
    CHECK(gyre_actor_launch(actor, NULL) == GYRE_INVALID); /* the port is open */
    gyre_port_close(port);
    options.not_active = false;
    CHECK(ok(gyre_actor_launch(actor, &options)));
    again = port_new(actor);
    REQUIRE(again);
    CHECK(ok(gyre_port_call(again, &mix, &answer, soon())) && answer.body.words[1] == 1);
    CHECK(end(actor, again));
}

static void a_crew_hands_each_message_to_one(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .seats = 3, .capacity = 16};
    gyre_actor *const actor = actor_new(&echo, &options);
    gyre_port *const port = port_new(actor);
    gyre_brief requests[500], answers[500];
    echo_state state;
    uint64_t chance = 7;
    uint32_t sum = 0;
    size_t wrong = 0, sent;

    NEED_ACTORS();
    REQUIRE(port);
    for (size_t i = 0; i < COUNT(requests); i++) {
        requests[i] = echo_of(&chance);
        sum += requests[i].body.words[0];
    }
    CHECK(ok(gyre_port_call_many(port, requests, answers, COUNT(requests), soon())));
    for (size_t i = 0; i < COUNT(requests); i++)
        wrong += !echoes(&requests[i], &answers[i]);
    CHECK(wrong == 0);
    CHECK(ok(gyre_port_send_many(port, requests, COUNT(requests), soon(), &sent)));
    CHECK(ok(gyre_port_flush(port, soon())));
    CHECK(ok(gyre_port_call(port, &requests[0], &answers[0], soon())));
    CHECK(ok(gyre_actor_pause(actor, soon())));
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)));
    CHECK(state.count == 2 * COUNT(requests) + 1);
    CHECK(state.sum == 2 * sum + requests[0].body.words[0]);
    CHECK(end(actor, port));
}

static void sequences_wrap_around(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .capacity = 64, .first = UINT32_MAX - 999};
    gyre_actor *const actor = actor_new(&echo, &options);
    gyre_port *const port = port_new(actor);
    uint64_t chance = 8;

    NEED_ACTORS();
    REQUIRE(port);
    for (int round = 0; round < 100; round++) {
        gyre_brief requests[50], answers[50];
        size_t sent;

        for (size_t i = 0; i < COUNT(requests); i++)
            requests[i] = echo_of(&chance);
        REQUIRE(ok(gyre_port_call_many(port, requests, answers, COUNT(requests), soon())));
        for (size_t i = 0; i < COUNT(requests); i++)
            CHECK(echoes(&requests[i], &answers[i]));
        REQUIRE(ok(gyre_port_send_many(port, requests, COUNT(requests), soon(), &sent)));
        for (size_t i = 0; i < COUNT(requests); i++) {
            REQUIRE(ok(gyre_port_call(port, &requests[i], &answers[i], soon())));
            CHECK(echoes(&requests[i], &answers[i]));
        }
    }
    CHECK(end(actor, port));
}

static gyre_port *shared_ports[4];

static void use_a_port(size_t number)
{
    uint64_t chance = number + 1;

    for (int i = 0; i < 300; i++) {
        gyre_brief requests[20], answers[20];
        size_t sent;

        for (size_t k = 0; k < COUNT(requests); k++)
            requests[k] = echo_of(&chance);
        CHECK(ok(gyre_port_send_many(shared_ports[number], requests, i % 20, soon(), &sent)));
        CHECK(ok(gyre_port_call_many(shared_ports[number], requests, answers, 20, soon())));
        for (size_t k = 0; k < COUNT(requests); k++)
            CHECK(echoes(&requests[k], &answers[k]));
        CHECK(ok(gyre_port_call(shared_ports[number], &requests[0], &answers[0], soon())));
        CHECK(echoes(&requests[0], &answers[0]));
    }
}

static void threads_have_ports_of_their_own(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .ports = 4, .capacity = 32};
    gyre_actor *const actor = actor_new(&echo, &options);
    echo_state state;

    NEED_ACTORS();
    for (size_t i = 0; i < COUNT(shared_ports); i++) {
        shared_ports[i] = port_new(actor);
        REQUIRE(shared_ports[i]);
    }
    CHECK(together(COUNT(shared_ports), use_a_port));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)));
    CHECK(state.count == 4 * (300 * 21 + 15 * (19 * 20 / 2)));
    for (size_t i = 0; i < COUNT(shared_ports); i++)
        gyre_port_close(shared_ports[i]);
    gyre_actor_destroy(actor);
}

static gyre_actor *busy_actor;
static gyre_port *busy_port;
static uint32_t busy_over; /* shared */

/* Number 0 sends without end; number 1 pauses and resumes, and in the end drains. */
static void keep_busy(size_t number)
{
    const gyre_brief silent = {.type = LEDGER_SILENT, .body.words = {1}};

    if (number == 0) {
        gyre_status status = GYRE_OK;

        while (status == GYRE_OK)
            status = gyre_port_send(busy_port, &silent, soon());
        CHECK(status == GYRE_CLOSED);
        return;
    }
    for (int i = 0; i < 50; i++) {
        CHECK(ok(gyre_actor_pause(busy_actor, soon())));
        CHECK(ok(gyre_actor_resume(busy_actor)));
    }
    for (int i = 0; i < 5; i++) {
        CHECK(ok(gyre_actor_park(busy_actor, soon())));
        CHECK(ok(gyre_actor_resume(busy_actor)));
    }
    CHECK(ok(gyre_actor_drain(busy_actor, soon())));
}

static void orders_reach_an_actor_that_is_busy(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .capacity = 64};

    busy_actor = actor_new(&ledger, &options);
    NEED_ACTORS();
    busy_port = port_new(busy_actor);
    REQUIRE(busy_port);
    CHECK(together(2, keep_busy));
    CHECK(gyre_actor_state(busy_actor) == GYRE_ACTOR_TERMINATED);
    gyre_port_close(busy_port);
    gyre_actor_destroy(busy_actor);
}

static gyre_brief hang_on(uint32_t *flag)
{
    return hanging(LEDGER_HANG, flag);
}

static void an_end_that_came_late_is_no_end(void)
{
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);
    const gyre_brief mix = {.type = LEDGER_MIX, .body.words = {5}};
    gyre_brief hang, answer;

    NEED_ACTORS_FOR(flag);
    REQUIRE(port && flag);
    for (int i = 0; i < 4; i++) {
        hang = hang_on(flag);
        CHECK(ok(gyre_port_send(port, &hang, soon())) && ok(gyre_port_send(port, &mix, soon())));
        CHECK(gyre_actor_park(actor, gyre_clock_after_ns(5 * MS)) == GYRE_TIMEOUT);
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
        if (i % 2 == 0) /* it ends meanwhile */
            CHECK(ok(gyre_port_flush(port, soon())));
        CHECK(ok(gyre_actor_resume(actor)) && gyre_actor_state(actor) == GYRE_ACTOR_ACTIVE);
        CHECK(ok(gyre_port_call(port, &mix, &answer, soon())));
        CHECK(answer.body.words[1] == 3 * (unsigned)(i + 1));
    }
    CHECK(end(actor, port));
    flag_give(flag);
}

static uint32_t *slow_flag;

/* Number 0 calls, number 1 lets it go after a while. */
static void call_slowly(size_t number)
{
    if (number == 0) {
        const gyre_brief hang = hang_on(slow_flag);
        gyre_brief answer;

        CHECK(ok(gyre_port_call(busy_port, &hang, &answer, soon())));
        __atomic_store_n(&busy_over, 1, __ATOMIC_RELEASE);
        return;
    }
    while (!__atomic_load_n(&busy_over, __ATOMIC_ACQUIRE)) {
        const uint64_t until = gyre_clock_after_ns(20 * MS);

        while (gyre_clock_now_ns() < until)
            ;
        __atomic_store_n(slow_flag, 1, __ATOMIC_RELEASE);
    }
}

static void silence_is_no_stall(void)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = 1000 * MS};
    uint64_t until;

    no_actors = gyre_actor_create(on.context, &ledger, &options, &busy_actor) == GYRE_UNSUPPORTED;
    NEED_ACTORS();
    slow_flag = flag_new();
    REQUIRE(slow_flag && busy_actor && ok(gyre_actor_launch(busy_actor, NULL)));
    busy_port = port_new(busy_actor);
    REQUIRE(busy_port);
    until = gyre_clock_after_ns(1200 * MS);
    while (gyre_clock_now_ns() < until)
        ;
    busy_over = 0;
    CHECK(together(2, call_slowly));
    CHECK(end(busy_actor, busy_port));
    flag_give(slow_flag);
}

/* As if the host wrote a bell into the GPU's memory, and in every other way too. */
static void bells_may_lie_apart(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .seats = 2, .ports = 2, .bells = GYRE_ACTOR_BELLS_APART};
    gyre_actor_statistics facts = {.struct_size = sizeof facts};
    gyre_port *ports[2];
    gyre_actor *actor;
    uint64_t chance = 9;
    gyre_status status;

    no_actors = gyre_actor_create(on.context, &echo, NULL, &actor) == GYRE_UNSUPPORTED;
    NEED_ACTORS();
    REQUIRE(actor);
    status = gyre_actor_launch(actor, &options);
    if (status == GYRE_UNSUPPORTED) {
        gyre_actor_destroy(actor);
        SKIP("bells of this device's actors are in the mailbox");
    }
    REQUIRE(ok(status) && ok(gyre_actor_describe(actor, &facts)));
    CHECK(strstr(facts.scheme, "; bells apart from the mailbox") != NULL);
    REQUIRE((ports[0] = port_new(actor)) && (ports[1] = port_new(actor)));
    for (int i = 0; i < 3000; i++) {
        const gyre_brief request = echo_of(&chance);
        gyre_brief answer;

        REQUIRE(ok(gyre_port_call(ports[i % 3 == 0], &request, &answer, soon())));
        REQUIRE(echoes(&request, &answer));
        if (i % 1000 == 500)
            CHECK(ok(gyre_actor_park(actor, soon())) && ok(gyre_actor_resume(actor)));
    }
    gyre_port_close(ports[1]);
    CHECK(end(actor, ports[0]));
}

static void nonsense_is_refused(void)
{
    gyre_behaviour odd = echo;
    gyre_actor *const actor = actor_new(&echo, NULL);
    const gyre_actor_launch_options bad[] = {
        {.struct_size = sizeof *bad, .ports = 3},
        {.struct_size = sizeof *bad, .ports = 32},
        {.struct_size = sizeof *bad, .capacity = 8},
        {.struct_size = sizeof *bad, .capacity = 100},
        {.struct_size = sizeof *bad, .seats = 100000},
        {.struct_size = sizeof *bad, .replicas = 99},
        {.struct_size = sizeof *bad, .idle = 9},
        {.struct_size = sizeof *bad, .bells = 9},
        {.struct_size = 0},
    };
    const gyre_port_options drops = {.struct_size = sizeof drops, .full = GYRE_PORT_DROP_OLDEST};
    gyre_actor *other;
    gyre_port *port;

    NEED_ACTORS();
    REQUIRE(actor);
    CHECK(gyre_port_open(actor, &drops, &port) == GYRE_UNSUPPORTED);
    CHECK(ok(gyre_actor_terminate(actor, soon())) && ok(gyre_actor_terminate(actor, soon())));
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(gyre_actor_launch(actor, &bad[i]) == GYRE_INVALID);
    odd.width = 5;
    CHECK(gyre_actor_create(on.context, &odd, NULL, &other) == GYRE_INVALID && !other);
    CHECK(gyre_actor_create(on.context, NULL, NULL, &other) == GYRE_INVALID && !other);
    CHECK(ok(gyre_actor_create(on.context, &echo, NULL, &other)));
    CHECK(gyre_port_open(other, NULL, &port) == GYRE_INVALID);
    CHECK(gyre_actor_read_state(other, &odd, 1) == GYRE_INVALID);
    gyre_actor_destroy(other);
    gyre_actor_destroy(actor);
    gyre_actor_destroy(NULL);
    gyre_port_close(NULL);
}

static void answers_that_nobody_receives_hold_up_no_call(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .capacity = 16};
    gyre_actor *const actor = actor_new(&echo, &options);
    gyre_port *const port = port_new(actor);
    gyre_brief requests[40], answers[40], question;
    gyre_port_answer heard = {.cookie = 0};
    uint64_t chance = 12;
    size_t wrong = 0;

    NEED_ACTORS();
    REQUIRE(port);
    question = echo_of(&chance);
    for (size_t i = 0; i < COUNT(requests); i++)
        requests[i] = echo_of(&chance);
    for (uint64_t due = 1; due < 16; due++) {
        REQUIRE(ok(gyre_port_ask(port, &question, due, soon())) && gyre_port_due(port) == due);
        REQUIRE(ok(gyre_port_call_many(port, requests, answers, COUNT(requests), soon())));
        for (size_t i = 0; i < COUNT(requests); i++)
            wrong += !echoes(&requests[i], &answers[i]);
        for (size_t i = 0; i < COUNT(requests); i++) {
            REQUIRE(ok(gyre_port_call(port, &requests[i], &answers[i], soon())));
            wrong += !echoes(&requests[i], &answers[i]);
        }
    }
    CHECK(ok(gyre_port_ask(port, &question, 16, soon())));
    CHECK(gyre_port_ask(port, &question, 17, soon()) == GYRE_AGAIN);
    CHECK(gyre_port_call(port, &question, answers, soon()) == GYRE_AGAIN);
    CHECK(gyre_port_call_many(port, requests, answers, COUNT(requests), soon()) == GYRE_AGAIN);
    for (uint64_t i = 1; i <= 16; i++) {
        REQUIRE(ok(gyre_port_receive(port, &heard, soon())));
        wrong += heard.cookie != i || !echoes(&question, &heard.brief);
    }
    CHECK(wrong == 0 && gyre_port_due(port) == 0);
    CHECK(end(actor, port));
}

static void a_full_port_rejects_or_waits(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .capacity = 16, .not_active = true};
    const gyre_port_options rejects = {.struct_size = sizeof rejects, .full = GYRE_PORT_REJECT};
    gyre_actor *const actor = actor_new(&ledger, &options);
    const gyre_brief silent = {.type = LEDGER_SILENT, .body.words = {1}};
    gyre_brief answer;
    gyre_port *port;

    NEED_ACTORS();
    REQUIRE(actor);
    REQUIRE(ok(gyre_port_open(actor, &rejects, &port)));
    for (int i = 0; i < 16; i++)
        CHECK(ok(gyre_port_send(port, &silent, 0)));
    CHECK(gyre_port_send(port, &silent, GYRE_NEVER) == GYRE_AGAIN);
    gyre_port_close(port);
    port = port_new(actor);
    REQUIRE(port);
    CHECK(gyre_port_send(port, &silent, gyre_clock_after_ns(5 * MS)) == GYRE_TIMEOUT);
    CHECK(ok(gyre_actor_activate(actor)));
    CHECK(ok(gyre_port_send(port, &silent, soon())));
    CHECK(ok(gyre_port_call(port, &silent, &answer, soon())));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    CHECK(end(actor, port));
}

static const test_case cases[] = {
    TEST(a_call_is_answered),
    TEST(many_calls_are_answered_in_their_order),
    TEST(what_is_sent_is_handled_once_and_in_order),
    TEST(answers_come_with_their_cookies),
    TEST(what_fails_says_so),
    TEST(payloads_are_seen_on_both_sides),
    TEST(a_life_has_its_stations),
    TEST(a_crew_hands_each_message_to_one),
    TEST(sequences_wrap_around),
    TEST(threads_have_ports_of_their_own),
    TEST(orders_reach_an_actor_that_is_busy),
    TEST(an_end_that_came_late_is_no_end),
    TEST(silence_is_no_stall),
    TEST(bells_may_lie_apart),
    TEST(nonsense_is_refused),
    TEST(answers_that_nobody_receives_hold_up_no_call),
    TEST(a_full_port_rejects_or_waits),
};
CONFORMANCE_MAIN(cases)
