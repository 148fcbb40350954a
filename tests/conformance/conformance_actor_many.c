/* SPDX-License-Identifier: Apache-2.0
 *
 * Actors: what there may be several of. Several actors of which one thread waits for any, all
 * numbers of ports, seats that share the work, replicas of a bell, memory of every kind behind a
 * message; and a ring with no room left.
 */
#include "conformance_busy.h"

#include "gyre/pool.h"

#include "behaviours/blend.c"  /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/echo.c"   /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/rogue.c"  /* NOLINT(bugprone-suspicious-include): a block that echoes */

enum { ACTORS = 3, SEATS = 3, EACH = 10, CAPACITY = 16, PORTS = 16, WORDS = 10000, ROUNDS = 20 };

static gyre_actor *actors[ACTORS];
static gyre_port *actor_ports[ACTORS];

static bool actors_begin(bool not_active)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .capacity = CAPACITY, .not_active = not_active};
    bool good = true;

    for (size_t i = 0; i < ACTORS && good; i++) {
        actors[i] = actor_new(&echo, &options);
        actor_ports[i] = port_new(actors[i]);
        good = actor_ports[i] != NULL;
    }
    return good;
}

static void actors_end(void)
{
    for (size_t i = 0; i < ACTORS; i++)
        CHECK(end(actors[i], actor_ports[i]));
}

#define BEGIN_ACTORS(not_active)                                                                   \
    do {                                                                                           \
        if (under_sanitizer())                                                                     \
            SKIP("the sanitizer lets no two kernels run at once");                                 \
        if (!actors_begin(not_active)) {                                                           \
            NEED_ACTORS();                                                                         \
            REQUIRE(!"three actors");                                                              \
        }                                                                                          \
    } while (0)

static bool ask(size_t which, uint32_t word)
{
    const gyre_brief request = {.type = 1, .body.words = {word}};

    return ok(gyre_port_ask(actor_ports[which], &request, word, soon()));
}

static bool hears(size_t which, uint32_t word)
{
    gyre_port_answer heard;

    return ok(gyre_port_receive(actor_ports[which], &heard, soon())) && heard.cookie == word &&
           heard.brief.body.words[0] == word + 1;
}

static void who_waits_for_any_is_told_which(void)
{
    size_t index;

    BEGIN_ACTORS(false);
    CHECK(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index) == GYRE_NOT_FOUND);
    for (uint32_t i = 0; i < 10 * ACTORS; i++) {
        const size_t which = (ACTORS - 1 + i) % ACTORS; /* the last one first */

        REQUIRE(ask(which, i));
        REQUIRE(ok(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index)));
        CHECK(index == which && hears(which, i));
    }
    CHECK(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index) == GYRE_NOT_FOUND);
    actors_end();
}

static void who_waits_for_any_hears_all_of_them(void)
{
    uint32_t came[ACTORS] = {0};
    size_t index;

    BEGIN_ACTORS(false);
    for (size_t i = 0; i < ACTORS; i++) {
        for (uint32_t k = 0; k < EACH; k++)
            REQUIRE(ask(i, k));
        REQUIRE(ok(gyre_port_flush(actor_ports[i], soon())));
    }
    for (uint32_t i = 0; i < ACTORS * EACH; i++) { /* all stay ready */
        REQUIRE(ok(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index)) && index < ACTORS);
        came[index]++;
    }
    for (size_t i = 0; i < ACTORS; i++)
        CHECK(came[i] >= EACH / 2);
    memset(came, 0, sizeof came);
    for (uint32_t i = 0; i < ACTORS * EACH; i++) { /* and run dry */
        REQUIRE(ok(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index)) && index < ACTORS);
        REQUIRE(hears(index, came[index]++));
    }
    actors_end();
}

static void a_wait_for_any_has_its_deadline(void)
{
    uint64_t deadline_ns;
    size_t index;

    BEGIN_ACTORS(true);
    REQUIRE(ask(1, 7));
    for (int i = 0; i < 3; i++) {
        deadline_ns = gyre_clock_after_ns(5 * MS);
        CHECK(gyre_port_wait_any(actor_ports, ACTORS, deadline_ns, &index) == GYRE_TIMEOUT);
        CHECK(gyre_clock_now_ns() >= deadline_ns);
    }
    CHECK(gyre_port_wait_any(actor_ports, ACTORS, 0, &index) == GYRE_TIMEOUT);
    CHECK(ok(gyre_actor_activate(actors[1])));
    CHECK(ok(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index)) && index == 1);
    CHECK(hears(1, 7));
    actors_end();
}

static void who_waits_for_any_is_told_which_has_ended(void)
{
    for (size_t which = 0; which < ACTORS; which++) {
        const size_t other = (which + 1) % ACTORS;
        size_t index;

        BEGIN_ACTORS(true);
        for (size_t i = 0; i < ACTORS; i++)
            REQUIRE(ask(i, 5));
        CHECK(ok(gyre_actor_terminate(actors[which], soon())));
        CHECK(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index) == GYRE_CLOSED);
        CHECK(index == which);
        /* and what others answer is there all the same */
        CHECK(ok(gyre_actor_activate(actors[other])));
        CHECK(ok(gyre_port_flush(actor_ports[other], soon())));
        CHECK(ok(gyre_port_wait_any(actor_ports, ACTORS, soon(), &index)) && index == other);
        CHECK(hears(other, 5));
        actors_end();
    }
}

static gyre_port *ports[PORTS];

/* Words that no other port sends. */
static void use_port(size_t number)
{
    gyre_port *const port = ports[number];

    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t word = (uint32_t)number * 1000000 + i;
        gyre_brief requests[8], answers[8];
        gyre_port_answer heard;

        for (uint32_t k = 0; k < COUNT(requests); k++)
            requests[k] = (gyre_brief){.type = 1, .body.words = {word + 1000 * k, word}};
        CHECK(ok(gyre_port_call(port, requests, answers, soon())));
        CHECK(answers[0].body.words[0] == word + 1 && answers[0].body.words[1] == word);
        CHECK(ok(gyre_port_call_many(port, requests, answers, COUNT(requests), soon())));
        for (uint32_t k = 0; k < COUNT(requests); k++)
            CHECK(answers[k].body.words[0] == word + 1000 * k + 1 &&
                  answers[k].body.words[1] == word);
        CHECK(ok(gyre_port_ask(port, requests, word, soon())));
        CHECK(ok(gyre_port_receive(port, &heard, soon())) && heard.cookie == word);
        CHECK(heard.brief.body.words[0] == word + 1 && heard.brief.body.words[1] == word);
    }
}

/* The state's first word counts, of either. */
static void serves_ports(const gyre_behaviour *behaviour, uint32_t count)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .ports = count, .capacity = CAPACITY};
    gyre_actor *const actor = actor_new(behaviour, &options);
    gyre_port *one_more;
    uint32_t handled = 0;

    NEED_ACTORS();
    REQUIRE(actor);
    for (uint32_t i = 0; i < count; i++) {
        ports[i] = port_new(actor);
        REQUIRE(ports[i]);
    }
    CHECK(gyre_port_open(actor, NULL, &one_more) == GYRE_AGAIN && !one_more);
    CHECK(together(count, use_port));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    CHECK(ok(gyre_actor_read_state(actor, &handled, sizeof handled)));
    CHECK(handled == count * ROUNDS * 10);
    for (uint32_t i = 0; i < count; i++)
        gyre_port_close(ports[i]);
    gyre_actor_destroy(actor);
}

static void every_port_has_its_own_answers(void)
{
    for (uint32_t count = 1; count <= PORTS; count *= 2)
        serves_ports(&echo, count);
}

static void every_port_of_a_block_has_its_own_answers(void)
{
    for (uint32_t count = 1; count <= PORTS; count *= 2)
        serves_ports(&rogue, count);
}

static void seats_of_a_crew_get_the_same_work(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .seats = SEATS, .capacity = CAPACITY, .not_active = true};
    gyre_actor *const actor = actor_new(&waiter, &options);
    gyre_port *const port = port_new(actor);
    const gyre_brief message = {.type = WAITER_COUNT};
    uint32_t by_seat[SEATS] = {0};

    NEED_ACTORS();
    REQUIRE(port);
    for (uint32_t i = 0; i < SEATS * EACH; i++)
        CHECK(ok(gyre_port_ask(port, &message, i, soon())));
    CHECK(ok(gyre_actor_activate(actor)));
    for (uint32_t i = 0; i < SEATS * EACH; i++) {
        gyre_port_answer heard;
        waiter_answer answer;

        REQUIRE(ok(gyre_port_receive(port, &heard, soon())));
        memcpy(&answer, &heard.brief.body, sizeof answer);
        REQUIRE(answer.seat < SEATS);
        by_seat[answer.seat]++;
    }
    for (size_t i = 0; i < SEATS; i++)
        CHECK(by_seat[i] == EACH);
    CHECK(end(actor, port));
}

/* A block behind a message. */
typedef struct room {
    gyre_context_memory_kind kind;
    bool pooled;
    gyre_pool *pool;
    void *at;
} room;

enum { ROOM_BYTES = WORDS * 4 };

static room rooms[] = {{.kind = GYRE_CONTEXT_PINNED},
                       {.kind = GYRE_CONTEXT_DEVICE},
                       {.kind = GYRE_CONTEXT_PINNED, .pooled = true},
                       {.kind = GYRE_CONTEXT_DEVICE, .pooled = true}};

/* Before a launch: taking memory may need the device for itself. */
static bool rooms_take(void)
{
    bool good = true;

    for (size_t i = 0; i < COUNT(rooms); i++) {
        room *const r = &rooms[i];
        const gyre_pool_options options = {.struct_size = sizeof options,
                                           .source = gyre_context_memory(on.context, r->kind)};

        r->pool = NULL;
        r->at = NULL;
        if (!r->pooled)
            r->at = take(r->kind, ROOM_BYTES);
        else if (ok(gyre_pool_create(&options, &r->pool)))
            good = good && ok(gyre_pool_take(r->pool, ROOM_BYTES, &r->at));
        good = good && r->at;
    }
    return good;
}

static void rooms_give(void)
{
    for (size_t i = 0; i < COUNT(rooms); i++) {
        room *const r = &rooms[i];

        if (!r->pooled) {
            give(r->kind, r->at, ROOM_BYTES);
            continue;
        }
        if (r->pool)
            gyre_pool_give(r->pool, r->at, ROOM_BYTES);
        gyre_pool_destroy(r->pool);
    }
}

static gyre_brief refer_to(const room *r, uint32_t count, uint8_t flags)
{
    gyre_brief request = {.type = LEDGER_SUM, .flags = (uint8_t)(GYRE_BRIEF_REFERS | flags)};

    request.body.reference.address = r->at;
    request.body.reference.size = (uint64_t)count * 4;
    return request;
}

/* Other words each time, in the same place: nothing that was read before may be kept. */
static void sum_up(gyre_port *port, gyre_stream *stream, const room *r, uint8_t flags)
{
    static uint32_t words[WORDS];
    static uint64_t chance = 41;

    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)chance_below(&chance, WORDS) + 1;
        const gyre_brief request = refer_to(r, count, flags);
        gyre_brief answer = {.type = 0};
        uint32_t sum = 0;

        for (uint32_t i = 0; i < count; i++) {
            words[i] = (uint32_t)chance_next(&chance);
            sum += words[i];
        }
        REQUIRE(put(stream, r->at, words, (size_t)count * 4));
        REQUIRE(ok(gyre_port_call(port, &request, &answer, soon())));
        CHECK(answer.body.words[2] == sum);
    }
}

static void payloads_of_every_memory_are_read(void)
{
    const bool taken = rooms_take();
    gyre_stream *const stream = stream_new();
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *const port = port_new(actor);

    if (!no_actors) {
        CHECK(taken && stream && port);
        for (size_t i = 0; taken && stream && port && i < COUNT(rooms); i++) {
            sum_up(port, stream, &rooms[i], 0);
            sum_up(port, stream, &rooms[i], GYRE_BRIEF_READS);
        }
        CHECK(end(actor, port));
    }
    gyre_stream_destroy(stream);
    rooms_give();
    NEED_ACTORS();
}

static void blend_up(gyre_port *port, gyre_stream *stream, const room *r)
{
    static float before[WORDS], after[WORDS];
    static uint64_t chance = 42;

    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)chance_below(&chance, WORDS) + 1;
        blend_request blending = {.scale = 1.5f, .shift = (float)round};
        gyre_brief request = refer_to(r, count, 0), answer = {.type = 0};
        size_t wrong = 0;

        for (uint32_t i = 0; i < count; i++)
            before[i] = (float)chance_below(&chance, 1000);
        blending.address = r->at;
        blending.size = (uint64_t)count * 4;
        memcpy(&request.body, &blending, sizeof blending);
        REQUIRE(put(stream, r->at, before, (size_t)count * 4));
        REQUIRE(ok(gyre_port_call(port, &request, &answer, soon())));
        REQUIRE(put(stream, after, r->at, (size_t)count * 4));
        for (uint32_t i = 0; i < count; i++)
            wrong += after[i] != before[i] * 1.5f + (float)round;
        CHECK(wrong == 0 && answer.body.words[0] == count);
    }
}

static void payloads_of_every_memory_are_written(void)
{
    const bool taken = rooms_take();
    gyre_stream *const stream = stream_new();
    gyre_actor *const actor = actor_new(&blend, NULL);
    gyre_port *const port = port_new(actor);

    if (!no_actors) {
        CHECK(taken && stream && port);
        for (size_t i = 0; taken && stream && port && i < COUNT(rooms); i++)
            blend_up(port, stream, &rooms[i]);
        CHECK(end(actor, port));
    }
    gyre_stream_destroy(stream);
    rooms_give();
    NEED_ACTORS();
}

/* A bell has as many as are wished on a GPU, and one elsewhere. */
static void replicas_are_those_that_are_wished(void)
{
    static const uint32_t wished[] = {1, 2, 7};
    const bool several = strcmp(on.device->backend, "cuda") == 0;

    for (size_t i = 0; i < 2 * COUNT(wished); i++) {
        const gyre_actor_launch_options options = {.struct_size = sizeof options,
                                                   .ports = 2,
                                                   .replicas = wished[i / 2],
                                                   .bells = i % 2 ? GYRE_ACTOR_BELLS_INSIDE
                                                                  : GYRE_ACTOR_BELLS_DEFAULT};
        gyre_actor *const actor = actor_new(&echo, &options);
        gyre_actor_statistics facts = {.struct_size = sizeof facts};

        NEED_ACTORS();
        REQUIRE(actor);
        CHECK(ok(gyre_actor_describe(actor, &facts)));
        CHECK(facts.replicas == (several ? wished[i / 2] : 1));
        for (size_t k = 0; k < 2; k++)
            REQUIRE((ports[k] = port_new(actor)));
        CHECK(together(2, use_port));
        use_port(0);
        gyre_port_close(ports[1]);
        CHECK(end(actor, ports[0]));
    }
}

static gyre_status send_one_more(gyre_actor *actor)
{
    const gyre_brief message = {.type = WAITER_COUNT};

    (void)actor;
    return gyre_port_send(ports[0], &message, soon());
}

static void one_whose_ring_is_full_can_be_ended(void)
{
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .capacity = CAPACITY, .not_active = true};
    gyre_actor *const actor = actor_new(&waiter, &options);
    const gyre_brief message = {.type = WAITER_COUNT};
    waiter_state state = {.count = 1};
    deed d;

    NEED_ACTORS();
    ports[0] = port_new(actor);
    REQUIRE(ports[0]);
    for (int i = 0; i < CAPACITY; i++)
        REQUIRE(ok(gyre_port_send(ports[0], &message, 0)));
    REQUIRE(begin(&d, actor, send_one_more));
    CHECK(waits(&d));
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    gyre_thread_stop(d.thread);
    CHECK(d.status == GYRE_CLOSED);
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)) && state.count == 0);
    CHECK(end(actor, ports[0]));
}

/* One seat has a message that lasts, and its ring is full; the other goes on. */
static void a_busy_seat_does_not_hold_up_the_others(void)
{
    enum { MESSAGES = 50 * CAPACITY };
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .seats = 2, .capacity = CAPACITY};
    uint32_t *const flag = flag_new();
    gyre_actor *const actor = actor_new(&waiter, &options);
    gyre_port *const port = port_new(actor);
    gyre_brief messages[MESSAGES], hang;
    waiter_state state = {0};
    size_t sent;

    NEED_ACTORS_FOR(flag);
    REQUIRE(flag && port);
    hang = hanging(WAITER_HANG, flag);
    for (int i = 0; i < MESSAGES; i++)
        messages[i] = (gyre_brief){.type = WAITER_COUNT};
    CHECK(ok(gyre_port_send(port, &hang, soon())));
    CHECK(ok(gyre_port_send_many(port, messages, MESSAGES, soon(), &sent)) && sent == MESSAGES);
    for (int i = 0; i < MESSAGES; i++)
        CHECK(ok(gyre_port_send(port, messages, soon())));
    __atomic_store_n(&flag[0], 1, __ATOMIC_RELEASE);
    CHECK(ok(gyre_port_flush(port, soon())));
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)));
    CHECK(state.count == 2 * MESSAGES + 1);
    CHECK(end(actor, port));
    flag_give(flag);
}

/* Eight are the most that a seat with one lane takes in hand together. */
static void no_more_is_handled_after_a_terminate(void)
{
    enum { MESSAGES = 500, HAND = 8 };
    const gyre_brief message = {.type = WAITER_COUNT};
    waiter_state state = {0};
    gyre_actor *actor;
    gyre_port *port;
    uint32_t *flag;
    gyre_brief hang;

    if (strcmp(on.device->backend, "cuda") == 0)
        SKIP("other warps go on beside one that waits");
    flag = flag_new();
    actor = actor_new(&waiter, NULL);
    port = port_new(actor);
    NEED_ACTORS_FOR(flag);
    REQUIRE(flag && port);
    hang = hanging(WAITER_HANG, flag);
    CHECK(ok(gyre_port_send(port, &hang, soon())));
    for (int i = 0; i < MESSAGES; i++)
        CHECK(ok(gyre_port_send(port, &message, soon())));
    while (__atomic_load_n(&flag[1], __ATOMIC_ACQUIRE) == 0)
        sleep_ns(MS / 10);
    CHECK(gyre_actor_terminate(actor, 0) == GYRE_TIMEOUT);
    __atomic_store_n(&flag[0], 1, __ATOMIC_RELEASE);
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    CHECK(ok(gyre_actor_read_state(actor, &state, sizeof state)) && state.count <= HAND);
    CHECK(end(actor, port));
    flag_give(flag);
}

static const test_case cases[] = {
    TEST(who_waits_for_any_is_told_which),      TEST(who_waits_for_any_hears_all_of_them),
    TEST(a_wait_for_any_has_its_deadline),      TEST(who_waits_for_any_is_told_which_has_ended),
    TEST(every_port_has_its_own_answers),       TEST(every_port_of_a_block_has_its_own_answers),
    TEST(seats_of_a_crew_get_the_same_work),    TEST(payloads_of_every_memory_are_read),
    TEST(payloads_of_every_memory_are_written), TEST(replicas_are_those_that_are_wished),
    TEST(one_whose_ring_is_full_can_be_ended),  TEST(a_busy_seat_does_not_hold_up_the_others),
    TEST(no_more_is_handled_after_a_terminate),
};
CONFORMANCE_MAIN(cases)
