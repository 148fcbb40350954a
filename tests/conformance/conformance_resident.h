/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance_resident: what the programs share that call something while an actor is resident.
 *
 * After each call the actor has to answer. One that does not return is named, and ends the program.
 */
#ifndef GYRE_CONFORMANCE_RESIDENT_H
#define GYRE_CONFORMANCE_RESIDENT_H

#include "conformance_actor.h"

#include <signal.h>
#include <unistd.h>

#include "behaviours/echo.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { N = 256, BYTES = N * 4, PATIENCE_S = 60 };
#define SLOW_NS (500 * MS)

static gyre_actor *resident;
static gyre_port *resident_port;
static uint32_t asked;
static const char *calling;
static uint64_t called_ns;

static inline void name_it(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, "does not return: ", 17);
    (void)!write(STDERR_FILENO, calling, strlen(calling));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

static inline bool before(const char *what)
{
    calling = what;
    alarm(PATIENCE_S);
    called_ns = gyre_clock_now_ns();
    return true;
}

/* Whether it was good, and the actor answers. What is slow is told; what takes for ever ends in
 * name_it. */
static inline bool after(bool good)
{
    const uint64_t took_ns = gyre_clock_now_ns() - called_ns;
    const gyre_brief request = {.type = 1, .body.words = {asked, 2, 3}};
    gyre_brief answer = {.type = 0};

    alarm(PATIENCE_S);
    if (took_ns > SLOW_NS)
        fprintf(stderr, "%s: %.1f s: %s\n", on.device->name, (double)took_ns / 1e9, calling);
    good = good && ok(gyre_port_call(resident_port, &request, &answer, soon()));
    asked++;
    alarm(0);
    return good && answer.body.words[0] == asked && answer.body.words[2] == 3;
}

#define CALLED(boolean) CHECK(before(#boolean) && after(boolean))
#define RAN(call) CALLED(((call), true))
#define WENT(status) CALLED(ok(status))

static inline bool begin(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .ports = 2};

    signal(SIGALRM, name_it);
    asked = 0;
    resident = actor_new(&echo, &options);
    resident_port = port_new(resident);
    return resident_port != NULL;
}

/* It is the one that was launched, and nobody had it end. */
static inline void finish(void)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    echo_state state = {0};

    CHECK(gyre_actor_state(resident) == GYRE_ACTOR_ACTIVE);
    CHECK(ok(gyre_actor_pause(resident, soon())));
    CHECK(ok(gyre_actor_describe(resident, &statistics)) && statistics.incarnation == 1);
    CHECK(statistics.processed == asked);
    CHECK(ok(gyre_actor_read_state(resident, &state, sizeof state)) && state.count == asked);
    CHECK(end(resident, resident_port));
}

#define BEGIN()                                                                                    \
    do {                                                                                           \
        if (under_sanitizer())                                                                     \
            SKIP("the sanitizer lets no two kernels run at once");                                 \
        if (!begin()) {                                                                            \
            NEED_ACTORS();                                                                         \
            REQUIRE(!"an actor");                                                                  \
        }                                                                                          \
    } while (0)

#endif
