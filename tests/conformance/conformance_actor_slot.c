/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots of mailboxes in words, which actors of OpenCL have where the compiler of the device has no
 * quarters: here they get them whatever it has.
 */
#include "conformance_actor.h"

#include "actor/actor.h"

#include "behaviours/echo.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { MANY = 1000 };

static gyre_brief request_of(uint32_t i)
{
    gyre_brief request = {.type = 1};

    for (uint32_t w = 0; w < 10; w++)
        request.body.words[w] = (i + 1) * 0x9e3779b1u + w;
    return request;
}

/* What echo.c says. */
static bool echoes(const gyre_brief *request, const gyre_brief *answer)
{
    return answer->body.words[0] == request->body.words[0] + 1 &&
           memcmp(answer->body.words + 1, request->body.words + 1, 36) == 0;
}

/* In words, or NULL. */
static gyre_actor *wide_actor(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .capacity = 64};
    gyre_actor_statistics facts = {.struct_size = sizeof facts};
    gyre_actor *actor;
    const gyre_status status = gyre_actor_create(on.context, &echo, NULL, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    if (no_actors || !ok(status))
        return NULL;
    actor->quarters = false;
    if (ok(gyre_actor_launch(actor, &options)) && ok(gyre_actor_describe(actor, &facts)) &&
        strstr(facts.scheme, "slots in words"))
        return actor;
    gyre_actor_destroy(actor);
    return NULL;
}

static void words_carry_what_quarters_do(void)
{
    static gyre_brief requests[MANY], answers[MANY];
    gyre_actor *actor;
    gyre_port *port;

    if (strcmp(on.device->backend, "opencl") != 0)
        SKIP("seats of this device have one form of slots");
    actor = wide_actor();
    port = port_new(actor);
    NEED_ACTORS();
    REQUIRE(port);
    for (uint32_t i = 0; i < MANY; i++) {
        requests[i] = request_of(i);
        CHECK(ok(gyre_port_call(port, &requests[i], &answers[i], soon())));
        CHECK(echoes(&requests[i], &answers[i]));
    }
    memset(answers, 0, sizeof answers);
    CHECK(ok(gyre_port_call_many(port, requests, answers, MANY, soon())));
    for (uint32_t i = 0; i < MANY; i++)
        CHECK(echoes(&requests[i], &answers[i]));
    gyre_port_close(port);
    gyre_actor_destroy(actor);
}

static const test_case cases[] = {
    TEST(words_carry_what_quarters_do),
};
CONFORMANCE_MAIN(cases)
