/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive_crew: see interactive_crew.h.
 */
#include "suites/interactive_crew.h"

#include <string.h>

#include "gyre/actor.h"
#include "gyre/device.h"
#include "suites/behaviours/wave_step.c" /* NOLINT(bugprone-suspicious-include): its types as well */

_Static_assert((int)WAVE_HEAD == (int)GYRE_WAVE_HEAD, "the behaviour finds the fields");

enum { CPU_SEATS_MOST = 8 };

/* On a GPU a seat more is two lines more that the host writes and reads in each step, and a seat
 * less makes the slabs larger; a bell that is watched by more warps is heard sooner, and their
 * reads keep the fences of that multiprocessor waiting. `interactive_crew` tries other shapes. On
 * the CPU a seat is a thread that spins, and so is the host's; on OpenCL it is a whole unit. */
static gyre_wave_crew_shape complete(const gyre_wave_crew_shape *shape, const gyre_device *device)
{
    const bool cuda = strcmp(device->backend, "cuda") == 0;
    gyre_wave_crew_shape all = *shape;

    if (all.seats == 0 && cuda)
        all.seats = 32;
    if (all.seats == 0 && strcmp(device->backend, "cpu") == 0)
        all.seats = device->units / 2 < CPU_SEATS_MOST ? device->units / 2 : CPU_SEATS_MOST;
    if (all.seats == 0)
        all.seats = 1;
    if (all.threads == 0 && cuda)
        all.threads = 512;
    if (all.replicas == 0 && cuda)
        all.replicas = 2;
    return all;
}

/* A message that refers to the block; the crew's messages differ in the rest. */
static gyre_brief make_brief(uint16_t type, const wave_request *request)
{
    gyre_brief brief = {.type = type, .flags = GYRE_BRIEF_REFERS};

    memcpy(&brief.body, request, sizeof *request);
    return brief;
}

static gyre_status launch(gyre_wave_crew *crew, gyre_context *context)
{
    const bool cuda = strcmp(gyre_context_device(context)->backend, "cuda") == 0;
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options,
        .seats = crew->shape.seats,
        .threads = crew->shape.threads,
        .replicas = crew->shape.replicas,
        .capacity = 16, /* a seat has one message at a time */
        .idle = cuda ? GYRE_ACTOR_SPIN : GYRE_ACTOR_IDLE_DEFAULT,
    };
    gyre_status status = gyre_actor_create(context, &wave_step, NULL, &crew->actor);

    if (status == GYRE_OK)
        status = gyre_actor_launch(crew->actor, &options);
    return status == GYRE_OK ? gyre_port_open(crew->actor, NULL, &crew->port) : status;
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
    for (uint32_t i = 0; i < crew->shape.seats; i++) {
        request.place = i;
        crew->steps[i] = make_brief(WAVE_STEP, &request);
    }
    crew->command = make_brief(WAVE_QUERY, &request);
    status = launch(crew, context);
    if (status != GYRE_OK)
        gyre_wave_crew_close(crew); /* accepts a half-built one */
    return status;
}

void gyre_wave_crew_close(gyre_wave_crew *crew)
{
    gyre_port_close(crew->port);
    gyre_actor_destroy(crew->actor);
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

bool gyre_wave_crew_step(gyre_wave_crew *crew, uint32_t generation)
{
    const uint32_t seats = crew->shape.seats;
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < seats; i++)
        set_word(&crew->steps[i], offsetof(wave_request, generation), generation);
    if (gyre_port_call_many(crew->port, crew->steps, crew->answers, seats, crew->deadline_ns) !=
        GYRE_OK)
        return false;
    for (uint32_t i = 0; i < seats; i++) {
        const wave_answer answer = answer_of(&crew->answers[i]);

        wrong += (crew->answers[i].flags & GYRE_BRIEF_FAILED) != 0 ||
                 answer.generation != generation + 1 || answer.place != i;
    }
    return wrong == 0;
}

static bool call(gyre_wave_crew *crew, uint32_t cell, gyre_wave_answer *out_answer)
{
    gyre_brief back;
    wave_answer answer;

    set_word(&crew->command, offsetof(wave_request, place), cell);
    if (gyre_port_call(crew->port, &crew->command, &back, crew->deadline_ns) != GYRE_OK)
        return false;
    answer = answer_of(&back);
    *out_answer = (gyre_wave_answer){answer.value, answer.generation};
    return answer.place == cell;
}

bool gyre_wave_crew_inject(gyre_wave_crew *crew, gyre_wave_impulse impulse,
                           gyre_wave_answer *out_answer)
{
    crew->command.type = WAVE_INJECT;
    memcpy(crew->command.body.bytes + offsetof(wave_request, amplitude), &impulse.amplitude,
           sizeof impulse.amplitude);
    return call(crew, impulse.cell, out_answer);
}

bool gyre_wave_crew_query(gyre_wave_crew *crew, uint32_t cell, gyre_wave_answer *out_answer)
{
    crew->command.type = WAVE_QUERY;
    return call(crew, cell, out_answer);
}

void gyre_wave_crew_tell(const gyre_wave_crew *crew, gyre_bench_facts *facts)
{
    gyre_actor_statistics s = {.struct_size = sizeof s};

    gyre_bench_count(facts, "seats", crew->shape.seats);
    if (crew->shape.threads > 0)
        gyre_bench_count(facts, "threads", crew->shape.threads);
    if (gyre_actor_describe(crew->actor, &s) == GYRE_OK) {
        gyre_bench_count(facts, "replicas", s.replicas);
        gyre_bench_note(facts, "scheme", s.scheme);
    }
}
