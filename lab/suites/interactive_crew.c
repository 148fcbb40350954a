/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive_crew: see interactive_crew.h.
 */
#include "suites/interactive_crew.h"

#include <string.h>

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/device.h"
#include "suites/behaviours/wave_step.c" /* NOLINT(bugprone-suspicious-include): its types as well */

_Static_assert((int)WAVE_HEAD == (int)GYRE_WAVE_HEAD, "the behaviour finds the fields");
_Static_assert(WAVE_WORDS * 4 == GYRE_WAVE_MORE, "and the words behind them");

enum { CPU_SEATS_MOST = 8 };

#define PATIENCE_NS UINT64_C(10000000000)

/* On a GPU a seat less makes the slabs larger, and one more is one more to wait for;
 * `interactive_crew` tries other shapes. On the CPU a seat is a thread that spins, and so is the
 * host's; on OpenCL it is a whole unit. */
static gyre_wave_crew_shape complete(const gyre_wave_crew_shape *shape, const gyre_device *device)
{
    const bool cuda = strcmp(device->backend, "cuda") == 0;
    gyre_wave_crew_shape all = *shape;

    if (all.seats == 0 && cuda)
        all.seats = 64;
    if (all.seats == 0 && strcmp(device->backend, "cpu") == 0)
        all.seats = device->units / 2 < CPU_SEATS_MOST ? device->units / 2 : CPU_SEATS_MOST;
    if (all.seats == 0)
        all.seats = 1;
    if (all.threads == 0 && cuda)
        all.threads = 512;
    return all;
}

static gyre_brief make_brief(uint16_t type, const wave_request *request)
{
    gyre_brief brief = {.type = type, .flags = GYRE_BRIEF_REFERS};

    memcpy(&brief.body, request, sizeof *request);
    return brief;
}

static gyre_status launch(gyre_context *context, uint64_t stall_ns,
                          const gyre_actor_launch_options *options, gyre_actor **out_actor,
                          gyre_port **out_port)
{
    const gyre_actor_options own = {.struct_size = sizeof own, .stall_ns = stall_ns};
    gyre_status status = gyre_actor_create(context, &wave_step, &own, out_actor);

    if (status == GYRE_OK)
        status = gyre_actor_launch(*out_actor, options);
    return status == GYRE_OK ? gyre_port_open(*out_actor, NULL, out_port) : status;
}

/* The leader looks for messages all the time, and who follows hardly ever: there is one for each.
 */
static gyre_status launch_all(gyre_wave_crew *crew, gyre_context *context)
{
    const bool cuda = strcmp(gyre_context_device(context)->backend, "cuda") == 0;
    const gyre_actor_launch_options lead = {
        .struct_size = sizeof lead,
        .threads = crew->shape.threads,
        .replicas = crew->shape.replicas,
        .capacity = 16,
        .idle = cuda ? GYRE_ACTOR_SPIN : GYRE_ACTOR_IDLE_DEFAULT,
    };
    const gyre_actor_launch_options follow = {
        .struct_size = sizeof follow,
        .seats = crew->shape.seats - 1,
        .threads = crew->shape.threads,
        .replicas = 1,
        .capacity = 16,
        .idle = GYRE_ACTOR_BACK_OFF,
        .spin_us = 1,
        .nap_us = 1000,
    };
    gyre_status status = GYRE_OK;

    if (crew->shape.seats > 1) /* who follows has one message for good */
        status = launch(context, GYRE_NEVER, &follow, &crew->follower, &crew->followers);
    return status == GYRE_OK ? launch(context, 0, &lead, &crew->leader, &crew->port) : status;
}

static gyre_status begin(gyre_wave_crew *crew, wave_request *request)
{
    const gyre_brief message = make_brief(WAVE_BEGIN, request);
    gyre_brief answer;
    gyre_status status =
        gyre_port_call(crew->port, &message, &answer, gyre_clock_after_ns(PATIENCE_NS));

    for (uint32_t i = 1; status == GYRE_OK && i < crew->shape.seats; i++) {
        gyre_brief follow;

        request->place = i;
        follow = make_brief(WAVE_FOLLOW, request);
        status = gyre_port_send(crew->followers, &follow, gyre_clock_after_ns(PATIENCE_NS));
        crew->following = status == GYRE_OK;
    }
    return status;
}

gyre_status gyre_wave_crew_open(gyre_wave_crew *crew, gyre_context *context,
                                const gyre_wave_field *field, void *block,
                                const gyre_wave_crew_shape *shape)
{
    wave_request request = {.address = block, .size = field->bytes, .bits = field->bits};
    gyre_status status;

    *crew = (gyre_wave_crew){0};
    crew->shape = complete(shape, gyre_context_device(context));
    if (crew->shape.seats > GYRE_WAVE_SEATS_MOST)
        return gyre_bench_refuse(GYRE_INVALID, "a crew has up to %d seats", GYRE_WAVE_SEATS_MOST);
    request.slabs = crew->shape.seats;
    crew->command = make_brief(WAVE_QUERY, &request);
    status = launch_all(crew, context);
    if (status == GYRE_OK)
        status = begin(crew, &request);
    if (status != GYRE_OK)
        gyre_wave_crew_close(crew); /* accepts a half-built one */
    return status;
}

void gyre_wave_crew_close(gyre_wave_crew *crew)
{
    gyre_brief answer;

    crew->command.type = WAVE_END;
    if (crew->following) /* or they would wait for ever; who cannot be told is lost already */
        (void)!gyre_port_call(crew->port, &crew->command, &answer,
                              gyre_clock_after_ns(PATIENCE_NS));
    gyre_port_close(crew->port);
    gyre_port_close(crew->followers);
    gyre_actor_destroy(crew->leader);
    gyre_actor_destroy(crew->follower);
    *crew = (gyre_wave_crew){0};
}

/* Where a message has the fields of a request. */
static void set_word(gyre_brief *brief, size_t offset, uint32_t word)
{
    memcpy(brief->body.bytes + offset, &word, sizeof word);
}

static wave_answer answer_of(const gyre_brief *brief)
{
    wave_answer answer;

    memcpy(&answer, brief->body.bytes, sizeof answer);
    return answer;
}

static bool call(gyre_wave_crew *crew, uint16_t type, wave_answer *out_answer)
{
    gyre_brief back;

    crew->command.type = type;
    crew->command.flags = GYRE_BRIEF_REFERS | (type == WAVE_QUERY ? GYRE_BRIEF_READS : 0);
    if (gyre_port_call(crew->port, &crew->command, &back, crew->deadline_ns) != GYRE_OK)
        return false;
    *out_answer = answer_of(&back);
    return true;
}

bool gyre_wave_crew_step(gyre_wave_crew *crew, uint32_t generation)
{
    wave_answer answer;

    return call(crew, WAVE_STEP, &answer) && answer.generation == generation + 1;
}

static bool touch(gyre_wave_crew *crew, uint16_t type, uint32_t cell, gyre_wave_answer *out_answer)
{
    wave_answer answer;

    set_word(&crew->command, offsetof(wave_request, place), cell);
    if (!call(crew, type, &answer))
        return false;
    *out_answer = (gyre_wave_answer){answer.value, answer.generation};
    return answer.place == cell;
}

bool gyre_wave_crew_inject(gyre_wave_crew *crew, gyre_wave_impulse impulse,
                           gyre_wave_answer *out_answer)
{
    memcpy(crew->command.body.bytes + offsetof(wave_request, amplitude), &impulse.amplitude,
           sizeof impulse.amplitude);
    return touch(crew, WAVE_INJECT, impulse.cell, out_answer);
}

bool gyre_wave_crew_query(gyre_wave_crew *crew, uint32_t cell, gyre_wave_answer *out_answer)
{
    return touch(crew, WAVE_QUERY, cell, out_answer);
}

void gyre_wave_crew_tell(const gyre_wave_crew *crew, gyre_bench_facts *facts)
{
    gyre_actor_statistics s = {.struct_size = sizeof s};

    gyre_bench_count(facts, "seats", crew->shape.seats);
    if (crew->shape.threads > 0)
        gyre_bench_count(facts, "threads", crew->shape.threads);
    if (gyre_actor_describe(crew->leader, &s) == GYRE_OK) {
        gyre_bench_count(facts, "replicas", s.replicas);
        gyre_bench_note(facts, "scheme", s.scheme);
    }
}
