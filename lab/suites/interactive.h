/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive: what the ways of suites/interactive.c have in common.
 *
 * A session is a wave on a device and the same in plain C. A way does one operation at a time and
 * returns when the host has seen its effect.
 *
 * Threads   the case's own.
 * Owns      a session owns the device and everything on it.
 */
#ifndef GYRE_SUITES_INTERACTIVE_H
#define GYRE_SUITES_INTERACTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/graph.h"
#include "suites/device_clock.h"
#include "suites/interactive_crew.h"
#include "suites/wave_field.h"
#include "suites/wave_kernels.h"

typedef struct gyre_session gyre_session;

/* How operations get to the device. All but the first two return whether it went well. */
typedef struct gyre_way {
    GYRE_MUST_USE gyre_status (*open)(gyre_session *session);
    void (*close)(gyre_session *session); /* accepts a half-built one */
    bool (*inject)(gyre_session *session, gyre_wave_impulse impulse, gyre_wave_answer *out_answer);
    bool (*query)(gyre_session *session, uint32_t cell, gyre_wave_answer *out_answer);
    bool (*step)(gyre_session *session);
    /* An impulse, steps and a question about its cell at once; NULL: one after the other. */
    bool (*round)(gyre_session *session, gyre_wave_impulse impulse, gyre_wave_answer *out_answers);
    void (*tell)(const gyre_session *session, gyre_bench_facts *facts);
} gyre_way;

/* What one iteration does, in this order. */
typedef struct gyre_round {
    uint32_t injects, steps, queries;
} gyre_round;

/* What a device and the host hand each other: pinned, or one on each side. */
typedef struct gyre_desk {
    gyre_wave_impulse command;
    gyre_wave_answer answers[2];
} gyre_desk;

/* Iterations from the same beginning, and what they were answered, to impulses and questions in
 * turn. */
typedef struct gyre_wave_batch {
    uint64_t done;
    gyre_wave_answer *answers;
    uint64_t count, room;
    float *block; /* of one that is kept: what became of the field */
} gyre_wave_batch;

struct gyre_session {
    gyre_bench_device device;
    const gyre_way *way;
    gyre_round round;
    gyre_wave_field first;          /* with what every batch begins */
    float *block;                   /* on the device */
    uint32_t generation;            /* that the host knows of */
    gyre_wave_batch batch, longest; /* this one, and the longest of those before */
    uint64_t done_all;
    uint64_t failed;
    uint64_t unlike; /* answers that were not as in another batch */
    uint32_t behind; /* most generations that a question's answer was old */
    uint64_t total_ns;

    /* launches and graphs */
    gyre_kernel *step, *inject, *query;
    gyre_desk *here, *there;                            /* there: NULL where kernels reach `here` */
    gyre_wave_step_parameters step_parameters[2];       /* by the generation's last bit */
    gyre_wave_command_parameters command_parameters[2]; /* impulse, question */
    gyre_graph *step_graphs[2], *inject_graph, *query_graph, *whole_graph;

    /* actors */
    gyre_wave_crew crew;
    gyre_wave_crew_shape shape;
};

enum { GYRE_ROUND_STEPS = 10 }; /* of a mixed round */

extern const gyre_way gyre_way_launches, gyre_way_graphs, gyre_way_whole_graph, gyre_way_crew;

#endif
