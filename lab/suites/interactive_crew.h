/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive_crew: the wave kept by actors (behaviours/wave_step.c) for suites/interactive.c.
 *
 * The host talks to one seat, the leader; the others follow it through the device's own memory.
 * They are an actor of their own, so that they need not look for messages. With a
 * message to each of them and an answer from each, all of that would go over the bus.
 *
 * Threads   one.
 * Owns      the actors and their ports. The block is the caller's, with GYRE_WAVE_MORE bytes behind
 *           it, and stays until the close.
 */
#ifndef GYRE_SUITES_INTERACTIVE_CREW_H
#define GYRE_SUITES_INTERACTIVE_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/bench.h"
#include "gyre/context.h"
#include "gyre/port.h"
#include "suites/wave_field.h"

enum { GYRE_WAVE_SEATS_MOST = 256 };

/* 0: what is good for the device. */
typedef struct gyre_wave_crew_shape {
    uint32_t seats;
    uint32_t threads;  /* of a block that handle messages */
    uint32_t replicas; /* of the leader's bell */
} gyre_wave_crew_shape;

/* Zero is a closed one. */
typedef struct gyre_wave_crew {
    gyre_actor *leader, *follower; /* NULL: it has none */
    gyre_port *port, *followers;
    bool following;
    gyre_wave_crew_shape shape;
    uint64_t deadline_ns; /* of every call; the caller's to move on */
    gyre_brief command;
} gyre_wave_crew;

/* For a field like this one at `block`, which the device reaches. GYRE_UNSUPPORTED where there are
 * no actors. What was opened before a failure is closed again. */
GYRE_MUST_USE gyre_status gyre_wave_crew_open(gyre_wave_crew *crew, gyre_context *context,
                                              const gyre_wave_field *field, void *block,
                                              const gyre_wave_crew_shape *shape);
void gyre_wave_crew_close(gyre_wave_crew *crew);

/* From this generation to the next; whether every slab has come there. */
GYRE_MUST_USE bool gyre_wave_crew_step(gyre_wave_crew *crew, uint32_t generation);

GYRE_MUST_USE bool gyre_wave_crew_inject(gyre_wave_crew *crew, gyre_wave_impulse impulse,
                                         gyre_wave_answer *out_answer);
GYRE_MUST_USE bool gyre_wave_crew_query(gyre_wave_crew *crew, uint32_t cell,
                                        gyre_wave_answer *out_answer);

/* Reports how large it is, and how it waits. */
void gyre_wave_crew_tell(const gyre_wave_crew *crew, gyre_bench_facts *facts);

#endif
