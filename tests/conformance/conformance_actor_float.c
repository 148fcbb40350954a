/* SPDX-License-Identifier: Apache-2.0
 *
 * Floats: a behaviour rounds after every operation on every device, as the plain C here does. The
 * numbers are such that a multiplication and an addition made into one operation, with one
 * rounding, give something else; that this would be seen is proved by a behaviour that does it.
 */
#include "conformance_actor.h"

#include "behaviours/blend.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { FLOATS = 4096, ROUNDS = 8, MANTISSA = 0x7fffff, ONE = 0x3f800000 };

typedef struct blended {
    size_t wrong; /* are not as by two roundings */
    size_t fused; /* are as by one, where that differs */
} blended;

/* From 1 to 2, all 24 bits used. */
static float some_float(uint64_t *chance)
{
    const uint32_t bits = ONE | ((uint32_t)chance_next(chance) & MANTISSA);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* By two roundings, whatever this file is compiled with. */
static float apart(float y, float scale, float shift)
{
    const volatile float product = y * scale;

    return product + shift;
}

/* By one: the product of two floats is exact in a double, and the sum of such as these as well. */
static float at_once(float y, float scale, float shift)
{
    return (float)((double)y * (double)scale + (double)shift);
}

static bool blend_round(gyre_port *port, float *y, uint64_t *chance, blended *sum)
{
    static float before[FLOATS];
    gyre_brief message = {.type = 1, .flags = GYRE_BRIEF_REFERS}, answer;
    const float scale = some_float(chance), shift = -some_float(chance);
    const blend_request request = {
        .address = y, .size = sizeof before, .scale = scale, .shift = shift};

    for (size_t i = 0; i < FLOATS; i++)
        y[i] = before[i] = some_float(chance);
    memcpy(&message.body, &request, sizeof request);
    if (!ok(gyre_port_call(port, &message, &answer, soon())) || answer.body.words[0] != FLOATS)
        return false;
    for (size_t i = 0; i < FLOATS; i++) {
        const float two = apart(before[i], scale, shift), one = at_once(before[i], scale, shift);

        sum->wrong += y[i] != two;
        sum->fused += y[i] == one && one != two;
    }
    return true;
}

/* Whether the behaviour could be asked; what came of it. */
static bool blend_by(const gyre_behaviour *behaviour, blended *sum)
{
    /* before the launch, as a flag */
    float *const y = take(GYRE_CONTEXT_PINNED, FLOATS * sizeof *y);
    gyre_actor *const actor = actor_new(behaviour, NULL);
    gyre_port *const port = port_new(actor);
    uint64_t chance = chance_seed();
    bool good = y && port;

    *sum = (blended){0};
    for (int round = 0; round < ROUNDS && good; round++)
        good = blend_round(port, y, &chance, sum);
    if (actor)
        good = end(actor, port) && good;
    give(GYRE_CONTEXT_PINNED, y, FLOATS * sizeof *y);
    return good;
}

static void floats_round_after_every_operation(void)
{
    blended sum;
    const bool good = blend_by(&blend, &sum);

    NEED_ACTORS();
    REQUIRE(good);
    CHECK(sum.wrong == 0 && sum.fused == 0);
}

static void blend_at_once(gyre_self *self, void *state, const gyre_brief *brief)
{
    const blend_request *const request = GYRE_REQUEST(blend_request);
    float *const y = GYRE_PAYLOAD(float);
    const uint32_t count = (uint32_t)(GYRE_PAYLOAD_BYTES / 4);

    (void)state;
    for (uint32_t i = 0; i < count; i++)
        y[i] = at_once(y[i], request->scale, request->shift);
    GYRE_ANSWER(blend_answer)->count = count;
}

/* The same file by compilers that are told to contract; the CPU's handler by hand. */
static void one_rounding_for_two_would_be_seen(void)
{
    static const char *const contracts[] = {"-fmad=true", NULL};
    static const char before[] = "#pragma OPENCL FP_CONTRACT ON\n";
    const bool opencl = strcmp(on.device->backend, "opencl") == 0;
    gyre_behaviour fused = blend;
    const size_t room = sizeof before + strlen(blend.text);
    char *const text = malloc(room);
    bool good;
    blended sum;

    REQUIRE(text);
    snprintf(text, room, "%s%s", before, blend.text);
    fused.handler = blend_at_once;
    fused.options = contracts;
    if (opencl)
        fused.text = text;
    good = blend_by(&fused, &sum);
    free(text);
    NEED_ACTORS();
    REQUIRE(good);
    if (opencl && sum.wrong == 0)
        SKIP("this compiler does not contract, even when it may");
    CHECK(sum.wrong > 0 && sum.fused > 0);
}

static const test_case cases[] = {
    TEST(floats_round_after_every_operation),
    TEST(one_rounding_for_two_would_be_seen),
};
CONFORMANCE_MAIN(cases)
