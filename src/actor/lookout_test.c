/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptor of a port: readable while there is an answer to receive, and an event loop that
 * trusts it misses nothing.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "actor/actor.h"
#include "gyre/clock.h"
#include "gyre/device.h"
#include "gyre/thread.h"
#include "test.h"

#define SECOND_NS UINT64_C(1000000000)
#define DEADLINE gyre_clock_after_ns(20 * SECOND_NS)

enum { HOLD = 2, ACTORS = 3, QUESTIONS = 400, PATIENCE_MS = 20000 };

static gyre_context *context;
static _Atomic bool let_go;

/* Gives back the first word; HOLD waits until it is let go. */
static void handle(gyre_self *self, void *state, const gyre_brief *brief)
{
    (void)state;
    if (brief->type == HOLD)
        while (!atomic_load(&let_go))
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    self->answer.body.words[0] = brief->body.words[0];
    self->answered = 1;
}

static const gyre_behaviour behaviour = {
    .struct_size = sizeof behaviour, .name = "echo", .width = GYRE_WIDTH_BLOCK, .handler = handle};

typedef struct pair {
    gyre_actor *actor;
    gyre_port *port;
    int descriptor;
} pair;

static uint64_t stall_ns = 10 * SECOND_NS;

static bool make(pair *p, const gyre_actor_launch_options *launch)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = stall_ns};

    *p = (pair){.descriptor = -1};
    atomic_store(&let_go, false);
    return (context || gyre_context_create(gyre_device_at(0), NULL, &context) == GYRE_OK) &&
           gyre_actor_create(context, &behaviour, &options, &p->actor) == GYRE_OK &&
           gyre_actor_launch(p->actor, launch) == GYRE_OK &&
           gyre_port_open(p->actor, NULL, &p->port) == GYRE_OK &&
           gyre_port_descriptor(p->port, &p->descriptor) == GYRE_OK;
}

static void unmake(pair *p)
{
    gyre_port_close(p->port);
    gyre_actor_destroy(p->actor);
}

static bool readable(int descriptor, int patience_ms)
{
    struct pollfd p = {.fd = descriptor, .events = POLLIN};

    CHECK(poll(&p, 1, patience_ms) >= 0);
    CHECK((p.revents & ~POLLIN) == 0);
    return p.revents & POLLIN;
}

static gyre_status ask(gyre_port *port, uint16_t type, uint32_t word)
{
    const gyre_brief message = {.type = type, .body.words = {word}};

    return gyre_port_ask(port, &message, word * UINT64_C(3), DEADLINE);
}

static gyre_status receive(gyre_port *port, uint32_t word)
{
    gyre_port_answer answer;
    const gyre_status status = gyre_port_receive(port, &answer, 0);

    if (status == GYRE_OK) {
        CHECK(answer.cookie == word * UINT64_C(3));
        CHECK(answer.brief.body.words[0] == word);
    }
    return status;
}

static void it_is_readable_while_there_is_an_answer(void)
{
    int again;
    pair p;

    REQUIRE(make(&p, NULL));
    CHECK(gyre_port_descriptor(p.port, &again) == GYRE_OK && again == p.descriptor);
    CHECK(!readable(p.descriptor, 0));
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 3; i++)
            CHECK(ask(p.port, 1, i) == GYRE_OK);
        for (uint32_t i = 0; i < 3; i++) {
            CHECK(readable(p.descriptor, PATIENCE_MS));
            CHECK(receive(p.port, i) == GYRE_OK);
        }
        CHECK(!readable(p.descriptor, 0));
        CHECK(receive(p.port, 0) == GYRE_NOT_FOUND);
    }
    unmake(&p);
}

static void it_is_not_readable_before(void)
{
    pair p;

    REQUIRE(make(&p, NULL));
    CHECK(ask(p.port, HOLD, 1) == GYRE_OK);
    CHECK(!readable(p.descriptor, 10));
    CHECK(receive(p.port, 1) == GYRE_TIMEOUT);
    CHECK(!readable(p.descriptor, 0));
    atomic_store(&let_go, true);
    CHECK(readable(p.descriptor, PATIENCE_MS));
    CHECK(receive(p.port, 1) == GYRE_OK && !readable(p.descriptor, 0));
    unmake(&p);
}

static void one_that_is_opened_late_knows_what_is_there(void)
{
    gyre_port *port;
    size_t index;
    pair p;
    int late;

    REQUIRE(make(&p, NULL));
    gyre_port_close(p.port);
    REQUIRE(gyre_port_open(p.actor, NULL, &port) == GYRE_OK);
    p.port = port;
    CHECK(ask(port, 1, 5) == GYRE_OK);
    CHECK(gyre_port_wait_any(&port, 1, DEADLINE, &index) == GYRE_OK);
    CHECK(gyre_port_descriptor(port, &late) == GYRE_OK && readable(late, 0));
    CHECK(receive(port, 5) == GYRE_OK && !readable(late, 0));
    unmake(&p);
}

static void bulk_and_calls_serve_it_too(void)
{
    const gyre_brief message = {.type = 1, .body.words = {9}};
    gyre_port_answer answers[4];
    gyre_brief answer;
    size_t count, all = 0;
    pair p;

    REQUIRE(make(&p, NULL));
    for (uint32_t i = 0; i < 4; i++)
        CHECK(ask(p.port, 1, i) == GYRE_OK);
    CHECK(gyre_port_call(p.port, &message, &answer, DEADLINE) == GYRE_OK);
    CHECK(answer.body.words[0] == 9 && readable(p.descriptor, PATIENCE_MS));
    for (; all < 4; all += count)
        REQUIRE(gyre_port_receive_many(p.port, answers, 4, DEADLINE, &count) == GYRE_OK);
    CHECK(!readable(p.descriptor, 0));
    unmake(&p);
}

/* Calls need the place of an answer that is there, and it is there nevertheless. */
static void calls_do_not_take_an_answer_away(void)
{
    const gyre_actor_launch_options small = {.struct_size = sizeof small, .capacity = 16};
    const gyre_brief message = {.type = 1, .body.words = {9}};
    gyre_brief answer;
    pair p;

    REQUIRE(make(&p, &small));
    for (uint32_t round = 0; round < 50; round++) {
        CHECK(ask(p.port, 1, 1) == GYRE_OK && ask(p.port, 1, 2) == GYRE_OK);
        for (int i = 0; i < 40; i++)
            CHECK(gyre_port_call(p.port, &message, &answer, DEADLINE) == GYRE_OK);
        CHECK(readable(p.descriptor, PATIENCE_MS) && receive(p.port, 1) == GYRE_OK);
        CHECK(readable(p.descriptor, PATIENCE_MS) && receive(p.port, 2) == GYRE_OK);
        CHECK(!readable(p.descriptor, 0));
    }
    unmake(&p);
}

/* Every actor of another kind: one that stays, a crew, one that leaves between two questions. */
static void an_event_loop_misses_nothing(void)
{
    const gyre_actor_launch_options launches[ACTORS] = {
        {.struct_size = sizeof *launches},
        {.struct_size = sizeof *launches, .seats = 3},
        {.struct_size = sizeof *launches, .idle = GYRE_ACTOR_LEAVE, .leave_us = 50},
    };
    const int loop = epoll_create1(EPOLL_CLOEXEC);
    uint32_t asked[ACTORS] = {0}, heard[ACTORS] = {0}, total = 0;
    uint64_t sums[ACTORS] = {0};
    pair pairs[ACTORS];

    REQUIRE(loop >= 0);
    for (uint32_t i = 0; i < ACTORS; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};

        REQUIRE(make(&pairs[i], &launches[i]));
        REQUIRE(epoll_ctl(loop, EPOLL_CTL_ADD, pairs[i].descriptor, &event) == 0);
        for (; asked[i] < 1 + 3 * i; asked[i]++)
            REQUIRE(ask(pairs[i].port, 1, asked[i]) == GYRE_OK);
    }
    while (total < ACTORS * QUESTIONS) {
        struct epoll_event events[ACTORS];
        const int ready = epoll_wait(loop, events, ACTORS, PATIENCE_MS);

        REQUIRE(ready > 0);
        for (int e = 0; e < ready; e++) {
            const uint32_t i = events[e].data.u32;
            gyre_port_answer answer;

            /* readable means that there is one */
            REQUIRE(gyre_port_receive(pairs[i].port, &answer, 0) == GYRE_OK);
            sums[i] += answer.brief.body.words[0];
            heard[i]++;
            total++;
            if (asked[i] < QUESTIONS)
                REQUIRE(ask(pairs[i].port, 1, asked[i]++) == GYRE_OK);
        }
    }
    for (uint32_t i = 0; i < ACTORS; i++) {
        CHECK(heard[i] == QUESTIONS && sums[i] == QUESTIONS * (QUESTIONS - 1) / 2);
        CHECK(!readable(pairs[i].descriptor, 0));
        unmake(&pairs[i]);
    }
    close(loop);
}

static void an_end_is_an_event(void)
{
    pair p;

    REQUIRE(make(&p, &(gyre_actor_launch_options){.struct_size = sizeof(gyre_actor_launch_options),
                                                  .not_active = true}));
    CHECK(ask(p.port, 1, 1) == GYRE_OK && !readable(p.descriptor, 5));
    CHECK(gyre_actor_terminate(p.actor, DEADLINE) == GYRE_OK);
    CHECK(readable(p.descriptor, PATIENCE_MS));
    CHECK(receive(p.port, 1) == GYRE_CLOSED);
    CHECK(readable(p.descriptor, 0)); /* it stays so: the reason can be had again */
    CHECK(receive(p.port, 1) == GYRE_CLOSED);
    unmake(&p);
}

/* Nobody waits for the actor, and still it is found out that it hangs. */
static void a_failure_is_an_event(void)
{
    const uint64_t usual_ns = stall_ns;
    pair p;

    stall_ns = SECOND_NS / 20;
    REQUIRE(make(&p, NULL));
    stall_ns = usual_ns;
    CHECK(ask(p.port, HOLD, 1) == GYRE_OK);
    CHECK(readable(p.descriptor, PATIENCE_MS));
    CHECK(receive(p.port, 1) == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_error_last()->text, "does not return") != NULL);
    CHECK(gyre_actor_state(p.actor) == GYRE_ACTOR_FAILED);
    atomic_store(&let_go, true);
    unmake(&p);
}

/* The thread asks after one at a time, and so many are due that none can be asked as often as it
 * should. The one that hangs is the last to come, or the first. */
static void a_failure_among_many_is_an_event(void)
{
    enum { OTHERS = 8, PORTS = 16 };
    const gyre_actor_launch_options waits = {
        .struct_size = sizeof waits, .ports = PORTS, .capacity = 16, .not_active = true};
    const uint64_t usual_ns = stall_ns;

    for (int first = 0; first < 2; first++) {
        gyre_port *ports[OTHERS][PORTS];
        pair others[OTHERS], p;
        int descriptor;

        stall_ns = SECOND_NS / 5;
        REQUIRE(make(&p, NULL));
        stall_ns = usual_ns;
        if (!first)
            gyre_port_close(p.port);
        for (size_t i = 0; i < OTHERS; i++) {
            REQUIRE(make(&others[i], &waits));
            ports[i][0] = others[i].port;
            for (size_t k = 0; k < PORTS; k++) {
                REQUIRE(k == 0 || gyre_port_open(others[i].actor, NULL, &ports[i][k]) == GYRE_OK);
                REQUIRE(gyre_port_descriptor(ports[i][k], &descriptor) == GYRE_OK);
                REQUIRE(ask(ports[i][k], 1, 1) == GYRE_OK);
            }
        }
        if (!first)
            REQUIRE(gyre_port_open(p.actor, NULL, &p.port) == GYRE_OK &&
                    gyre_port_descriptor(p.port, &p.descriptor) == GYRE_OK);
        CHECK(ask(p.port, HOLD, 1) == GYRE_OK);
        CHECK(readable(p.descriptor, PATIENCE_MS) && receive(p.port, 1) == GYRE_DEVICE_LOST);
        atomic_store(&let_go, true);
        unmake(&p);
        for (size_t i = 0; i < OTHERS; i++) {
            for (size_t k = 1; k < PORTS; k++)
                gyre_port_close(ports[i][k]);
            unmake(&others[i]);
        }
    }
}

/* The number may have become something else's. */
static bool is_eventfd(int descriptor)
{
    char path[64], target[64] = "";

    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return readlink(path, target, sizeof target - 1) > 0 && strstr(target, "eventfd");
}

static void a_port_can_be_closed_while_it_is_watched(void)
{
    for (uint32_t i = 0; i < 100; i++) {
        gyre_port *port;
        int closed;
        pair p;

        REQUIRE(make(&p, NULL));
        closed = p.descriptor;
        CHECK(is_eventfd(closed));
        CHECK(ask(p.port, i % 2 ? HOLD : 1, 1) == GYRE_OK);
        gyre_port_close(p.port);
        atomic_store(&let_go, true);
        CHECK(!is_eventfd(closed));
        /* the next to open it has none, and none of the answers */
        REQUIRE(gyre_port_open(p.actor, NULL, &port) == GYRE_OK);
        p.port = port;
        CHECK(gyre_port_descriptor(port, &p.descriptor) == GYRE_OK && !readable(p.descriptor, 0));
        CHECK(ask(port, 1, 7) == GYRE_OK && readable(p.descriptor, PATIENCE_MS));
        CHECK(receive(port, 7) == GYRE_OK);
        unmake(&p);
    }
}

static pair shared[ACTORS];

static void run_a_loop(void *arg)
{
    pair *const p = arg;

    for (uint32_t i = 0; i < QUESTIONS; i++) {
        CHECK(ask(p->port, 1, i) == GYRE_OK && readable(p->descriptor, PATIENCE_MS));
        CHECK(receive(p->port, i) == GYRE_OK && !readable(p->descriptor, 0));
    }
}

static void threads_have_loops_of_their_own(void)
{
    gyre_thread *threads[ACTORS];

    for (size_t i = 0; i < ACTORS; i++) {
        REQUIRE(make(&shared[i], NULL));
        REQUIRE(gyre_thread_start(run_a_loop, &shared[i], NULL, &threads[i]) == GYRE_OK);
    }
    for (size_t i = 0; i < ACTORS; i++) {
        gyre_thread_stop(threads[i]);
        unmake(&shared[i]);
    }
}

static void the_system_may_have_none_left(void)
{
    struct rlimit old, none;
    gyre_port *port;
    int descriptor;
    pair p;

    REQUIRE(make(&p, NULL));
    gyre_port_close(p.port);
    REQUIRE(gyre_port_open(p.actor, NULL, &port) == GYRE_OK);
    p.port = port;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &old) == 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(gyre_port_descriptor(port, &descriptor) == GYRE_IO && descriptor == -1);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &old) == 0);
    CHECK(gyre_port_descriptor(port, &descriptor) == GYRE_OK && descriptor >= 0);
    unmake(&p);
}

static void a_child_only_closes(void)
{
    int result = -1, other;
    pid_t child;
    pair p;

    REQUIRE(make(&p, NULL));
    CHECK(ask(p.port, HOLD, 1) == GYRE_OK);
    child = fork();
    if (child == 0) {
        const bool refused = gyre_port_descriptor(p.port, &other) == GYRE_UNAVAILABLE;

        gyre_port_close(p.port);
        gyre_actor_destroy(p.actor);
        _exit(refused ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &result, 0) == child && result == 0);
    CHECK(!readable(p.descriptor, 0));
    atomic_store(&let_go, true);
    CHECK(readable(p.descriptor, PATIENCE_MS) && receive(p.port, 1) == GYRE_OK);
    unmake(&p);
}

static const test_case cases[] = {
    TEST(it_is_readable_while_there_is_an_answer),
    TEST(it_is_not_readable_before),
    TEST(one_that_is_opened_late_knows_what_is_there),
    TEST(bulk_and_calls_serve_it_too),
    TEST(calls_do_not_take_an_answer_away),
    TEST(an_event_loop_misses_nothing),
    TEST(an_end_is_an_event),
    TEST(a_failure_is_an_event),
    TEST(a_failure_among_many_is_an_event),
    TEST(a_port_can_be_closed_while_it_is_watched),
    TEST(threads_have_loops_of_their_own),
    TEST(the_system_may_have_none_left),
    TEST(a_child_only_closes),
};

int main(int argc, char **argv)
{
    const int code = test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);

    gyre_context_destroy(context);
    return code;
}
