/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance_suspect: actors with which something goes wrong, in a child of the program
 * (conformance_crime.h). The parent looks afterwards whether an actor can live on the device.
 */
#ifndef GYRE_CONFORMANCE_SUSPECT_H
#define GYRE_CONFORMANCE_SUSPECT_H

#include "conformance_crime.h"

#include "behaviours/echo.c"  /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/rogue.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { CANARY_BYTES = 65536, CANARIES = 4, STALL_MS = 300 };

/* Memory that nobody has business in: the pool's own, and the heap's. */
static unsigned char *canaries[CANARIES];

static inline bool canaries_take(void)
{
    for (size_t i = 0; i < CANARIES; i++) {
        uint64_t chance = i;

        canaries[i] = i % 2 ? take(GYRE_CONTEXT_PINNED, CANARY_BYTES) : host_take(CANARY_BYTES);
        if (!canaries[i])
            return false;
        fill_random(&chance, canaries[i], CANARY_BYTES);
    }
    return true;
}

static inline bool canaries_live(void)
{
    static unsigned char expected[CANARY_BYTES];
    bool all = true;

    for (size_t i = 0; i < CANARIES; i++) {
        uint64_t chance = i;

        fill_random(&chance, expected, CANARY_BYTES);
        all = all && memcmp(canaries[i], expected, CANARY_BYTES) == 0;
    }
    return all;
}

/* A call that is answered, of echo or rogue. */
static inline bool answers(gyre_port *port)
{
    const gyre_brief request = {.type = 1, .body.words = {41, 7}};
    gyre_brief answer = {.type = 0};

    return port && ok(gyre_port_call(port, &request, &answer, soon())) &&
           answer.body.words[0] == 42 && answer.body.words[1] == 7;
}

/* A rogue, and a port to it; canaries are taken before it is launched. */
static inline gyre_actor *suspect_new(uint64_t stall_ns, const gyre_actor_launch_options *launch,
                                      gyre_port **out_port)
{
    const gyre_actor_options options = {.struct_size = sizeof options, .stall_ns = stall_ns};
    gyre_actor *actor = NULL;

    *out_port = NULL;
    if (canaries_take() && ok(gyre_actor_create(on.context, &rogue, &options, &actor)) &&
        ok(gyre_actor_launch(actor, launch)))
        *out_port = port_new(actor);
    return actor;
}

static const char *device_name; /* as it was given */

/* Whether the device still has room for an actor of ours. */
static inline void others_go_on(void)
{
    gyre_actor *const actor = actor_new(&echo, NULL);
    gyre_port *const port = port_new(actor);

    CHECK(answers(port) && end(actor, port));
}

static inline bool can_have_actors(void)
{
    gyre_actor *actor;
    const gyre_status status = gyre_actor_create(on.context, &echo, NULL, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    if (status == GYRE_OK)
        gyre_actor_destroy(actor);
    return status == GYRE_OK;
}

#define NEED_CRIMES()                                                                              \
    do {                                                                                           \
        if (under_sanitizer())                                                                     \
            SKIP("the sanitizer would report what is meant to happen");                            \
        if (!can_have_actors()) {                                                                  \
            NEED_ACTORS();                                                                         \
            REQUIRE(!"an actor");                                                                  \
        }                                                                                          \
    } while (0)

/* main, of the parent and of its children. */
static inline int suspect_main(const test_case *cases, size_t case_count, const test_case *crimes,
                               size_t crime_count, int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[2], "child") == 0)
        return crime_commit(crimes, crime_count, argv[1], argv[3]);
    device_name = argc > 1 ? argv[1] : "cpu";
    return conformance_main(cases, case_count, argc, argv);
}

#endif
