/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_transcript: what behaviours answer to generated messages, as text: the same for each
 * compiler that has made one of the file, or one of them is wrong.
 *
 * Messages go one at a time, so that their order is the same for all widths. Of each the transcript
 * has the status, the flags, the bytes that the behaviour answers with and what it refers to; in
 * the end the state.
 */
#ifndef GYRE_TESTS_BEHAVIOUR_TRANSCRIPT_H
#define GYRE_TESTS_BEHAVIOUR_TRANSCRIPT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "behaviours.h"
#include "chance.h"
#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/context.h"
#include "gyre/device.h"
#include "gyre/port.h"

enum { TRANSCRIPT_MESSAGES = 200, TRANSCRIPT_TRIPLES = 50, TRANSCRIPT_BYTES = 12 * 50 };

/* What is sent to a behaviour. */
typedef struct transcript_script {
    const char *file;      /* of the behaviour */
    uint32_t answer_bytes; /* that it fills in */
    uint16_t types[8];     /* up to a 0 */
    uint16_t refers;       /* that one of them refers to a payload; 0: none */
    bool floats;           /* of floats, with two behind the reference; else of words */
    uint32_t keys;         /* the first word is below that; 0: any */
    uint16_t begins;       /* the first message's type; 0: any of those */
    uint32_t shared_bytes; /* of a block that it needs */
    bool bare;             /* zeros behind the reference */
} transcript_script;

static const transcript_script transcript_scripts[] = {
    {"tests/conformance/behaviours/echo.c", 40, {1, 2, 77}, 0, false, 0, 0, 0, false},
    {"tests/conformance/behaviours/ledger.c", 28, {1, 2, 3, 4, 5, 7}, 5, false, 0, 0, 0, false},
    {"tests/conformance/behaviours/waiter.c", 8, {1}, 0, false, 0, 0, 0, false},
    {"tests/conformance/behaviours/blend.c", 4, {1}, 1, true, 0, 0, 0, false},
    {"tests/conformance/behaviours/rank.c", 8, {7}, 0, false, 0, 0, 0, false},
    {"tests/conformance/behaviours/soak_order.c", 12, {1}, 0, false, 20, 0, 0, false},
    {"tests/conformance/behaviours/chatter.c", 4, {1}, 0, false, 0, 0, 0, false},
    {"tests/conformance/behaviours/rogue.c", 40, {1, 2}, 0, false, 0, 0, 0, false},
    {"tests/conformance/behaviours/soak.c", 40, {1}, 0, false, 20, 0, 0, false},
    {"tests/conformance/behaviours/speaker.c", 4, {1, 3}, 0, false, 0, 0, 0, false},
    {"tests/conformance/behaviours/timer.c", 4, {2}, 0, false, 3, 0, 0, false}, /* no time */
    {"lab/suites/behaviours/echo_block.c", 40, {1}, 0, false, 0, 0, 0, false},
    {"lab/suites/behaviours/echo_quad.c", 40, {1}, 0, false, 0, 0, 0, false},
    {"lab/suites/behaviours/echo_warp.c", 40, {1}, 0, false, 0, 0, 0, false},
    {"lab/suites/behaviours/relu_block.c", 4, {1}, 1, true, 0, 0, 0, true},
    {"lab/suites/behaviours/relu_warp.c", 4, {1}, 1, true, 0, 0, 0, true},
    {"lab/suites/behaviours/sum_payload.c", 4, {1}, 1, false, 0, 0, 4096, true},
    {"lab/suites/behaviours/tally_block.c", 28, {1, 0x101}, 0, false, 0, 0x100, 64, false},
    {"lab/suites/behaviours/tally_quad.c", 0, {1}, 0, false, 0, 0, 0, false},
    {"examples/actors/adopt.c", 4, {1}, 1, false, 0, 0, 0, false},
    {"examples/actors/echo.c", 8, {1}, 0, false, 0, 0, 0, false},
    {"examples/actors/key_value.c", 8, {1, 2, 3, 4}, 0, false, 30, 0, 0, false},
    {"examples/actors/vector_add.c", 4, {1}, 1, true, 0, 0, 0, false},
};

/* Those that no script is for. */
static const char *const transcript_others[] = {
    /* takes a crew and a field; the suite `interactive` compares it with plain C, bit by bit */
    "lab/suites/behaviours/wave_step.c",
};

static inline bool transcript_ends(const char *path, const char *file)
{
    const size_t length = strlen(path), tail = strlen(file);

    return length >= tail && strcmp(path + length - tail, file) == 0;
}

/* Whether there is a script for a behaviour, or it is said why there is none. */
static inline bool transcript_knows(const gyre_behaviour *behaviour)
{
    bool known = false;

    for (size_t i = 0; i < sizeof transcript_scripts / sizeof transcript_scripts[0]; i++)
        known = known || transcript_ends(behaviour->file, transcript_scripts[i].file);
    for (size_t i = 0; i < sizeof transcript_others / sizeof transcript_others[0]; i++)
        known = known || transcript_ends(behaviour->file, transcript_others[i]);
    return known;
}

static inline const gyre_behaviour *transcript_behaviour(const char *file)
{
    for (size_t i = 0; behaviours[i]; i++)
        if (transcript_ends(behaviours[i]->file, file))
            return behaviours[i];
    return NULL;
}

static inline void transcript_bytes(FILE *to, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(to, "%02x", ((const unsigned char *)bytes)[i]);
}

/* Floats are such that sums and products of them are no more than rounded. */
static inline gyre_brief transcript_message(const transcript_script *script, uint64_t *chance,
                                            uint32_t *payload)
{
    gyre_brief message = {.priority = (uint8_t)chance_next(chance)};
    uint32_t types = 0;

    while (types < 8 && script->types[types])
        types++;
    message.type = script->types[chance_below(chance, types)];
    for (int i = 0; i < 10; i++)
        message.body.words[i] = (uint32_t)chance_next(chance);
    if (script->keys)
        message.body.words[0] %= script->keys;
    if (script->refers != message.type)
        return message;
    message.flags = GYRE_BRIEF_REFERS;
    message.body.reference.address = payload;
    message.body.reference.size = 12 * (1 + chance_below(chance, TRANSCRIPT_TRIPLES));
    for (size_t i = 0; i < message.body.reference.size / 4; i++) {
        const float x = (float)chance_below(chance, 100000) * 0.37f - 9999.0f;

        payload[i] = (uint32_t)chance_next(chance);
        if (script->floats)
            memcpy(&payload[i], &x, sizeof x);
    }
    if (script->bare) {
        memset(message.body.reference.longs, 0, sizeof message.body.reference.longs);
        return message;
    }
    message.body.floats[4] = (float)chance_below(chance, 1000) * 0.013f;
    message.body.floats[5] = (float)chance_below(chance, 1000) * 1.7f;
    return message;
}

/* Whether all went as it should, whatever that is. */
static inline bool transcript_talk(const transcript_script *script, gyre_port *port,
                                   uint32_t *payload, FILE *to)
{
    uint64_t chance = 77;

    for (int i = 0; i < TRANSCRIPT_MESSAGES; i++) {
        gyre_brief message = transcript_message(script, &chance, payload), answer = {.type = 0};
        gyre_status status;
        uint32_t bytes;

        if (i == 0 && script->begins)
            message.type = script->begins;
        status =
            gyre_port_call(port, &message, &answer, gyre_clock_after_ns(UINT64_C(20000000000)));
        bytes = answer.flags & GYRE_BRIEF_FAILED  ? 4
                : answer.flags & GYRE_BRIEF_EMPTY ? 0
                                                  : script->answer_bytes;
        if (status != GYRE_OK && !(answer.flags & GYRE_BRIEF_FAILED))
            return false;
        fprintf(to, "%s %d: %d %x ", script->file, i, (int)status, answer.flags);
        transcript_bytes(to, &answer.body, bytes);
        fputc(' ', to);
        if (message.flags & GYRE_BRIEF_REFERS)
            transcript_bytes(to, payload, message.body.reference.size);
        fputc('\n', to);
    }
    return true;
}

static inline bool transcript_write(gyre_context *context, const transcript_script *script,
                                    FILE *to)
{
    const gyre_behaviour *const behaviour = transcript_behaviour(script->file);
    const gyre_memory *const pinned = gyre_context_memory(context, GYRE_CONTEXT_PINNED);
    const uint64_t deadline_ns = gyre_clock_after_ns(UINT64_C(60000000000));
    const gyre_actor_launch_options options = {.struct_size = sizeof options,
                                               .shared_bytes = script->shared_bytes};
    unsigned char *const state = malloc(behaviour->state_bytes);
    gyre_actor *actor = NULL;
    gyre_port *port = NULL;
    void *payload = NULL;
    bool good = state && pinned->take(pinned, TRANSCRIPT_BYTES, 64, &payload) == GYRE_OK &&
                gyre_actor_create(context, behaviour, NULL, &actor) == GYRE_OK &&
                gyre_actor_launch(actor, &options) == GYRE_OK &&
                gyre_port_open(actor, NULL, &port) == GYRE_OK &&
                transcript_talk(script, port, payload, to) &&
                gyre_actor_pause(actor, deadline_ns) == GYRE_OK &&
                gyre_actor_read_state(actor, state, behaviour->state_bytes) == GYRE_OK;

    if (good) {
        fprintf(to, "%s state: ", script->file);
        transcript_bytes(to, state, behaviour->state_bytes);
        fputc('\n', to);
    } else {
        fprintf(stderr, "%s: %s\n", script->file, gyre_error_last()->text);
    }
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    if (payload)
        pinned->give(pinned, payload, TRANSCRIPT_BYTES, 64);
    free(state);
    return good;
}

/* Of all behaviours of this program's group that a script is there for, how many; 0: something was
 * wrong. */
static inline size_t transcripts_write(gyre_context *context, FILE *to)
{
    const bool examples = strstr(behaviours[0]->file, "examples/") != NULL;
    size_t count = 0;

    for (size_t i = 0; i < sizeof transcript_scripts / sizeof transcript_scripts[0]; i++) {
        const transcript_script *const script = &transcript_scripts[i];

        if ((strncmp(script->file, "examples/", 9) == 0) != examples)
            continue; /* another program has those */
        if (!transcript_behaviour(script->file)) {
            fprintf(stderr, "%s: there is no such behaviour\n", script->file);
            return 0;
        }
        if (!transcript_write(context, script, to))
            return 0;
        count++;
    }
    return count;
}

#endif
