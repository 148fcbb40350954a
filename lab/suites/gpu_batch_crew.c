/* SPDX-License-Identifier: Apache-2.0
 *
 * gpu_batch_crew: see gpu_batch_crew.h.
 */
#include "suites/gpu_batch_crew.h"

#include <string.h>

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/device.h"
#include "suites/behaviours/relu_block.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "suites/behaviours/relu_warp.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum {
    THREADS = 256, /* of a seat: a block's, to an operation; or eight warps that read in turns */
    PATIENCE_S = 10,
};

_Static_assert(sizeof(relu_warp_request) == sizeof(relu_block_request) &&
                   sizeof(relu_warp_answer) == sizeof(relu_block_answer),
               "both widths are asked in the same words");

static gyre_status launch(gyre_relu_crew *crew, gyre_context *context, bool block)
{
    const bool cuda = strcmp(gyre_context_device(context)->backend, "cuda") == 0;
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options,
        .seats = crew->seats,
        .threads = cuda ? THREADS : 0,
        .replicas = cuda ? 1 : 0, /* nobody rings: all are called at once */
        .capacity = 64,
        .idle = cuda ? GYRE_ACTOR_SPIN : GYRE_ACTOR_IDLE_DEFAULT,
    };
    gyre_status status =
        gyre_actor_create(context, block ? &relu_block : &relu_warp, NULL, &crew->actor);

    if (status == GYRE_OK)
        status = gyre_actor_launch(crew->actor, &options);
    return status == GYRE_OK ? gyre_port_open(crew->actor, NULL, &crew->port) : status;
}

gyre_status gyre_relu_crew_open(gyre_relu_crew *crew, gyre_context *context,
                                const gyre_relu_work *work)
{
    const bool cuda = strcmp(gyre_context_device(context)->backend, "cuda") == 0;
    relu_warp_request request = {.size = work->each * sizeof(float),
                                 .further = (uint64_t)(work->out - work->in)};
    gyre_status status;

    *crew = (gyre_relu_crew){.count = work->count, .each = work->each};
    if (work->count > GYRE_RELU_CREW_MOST)
        return gyre_bench_refuse(GYRE_INVALID, "a crew takes up to %d operations",
                                 GYRE_RELU_CREW_MOST);
    /* elsewhere a seat is a thread, or a whole unit, which the host needs as well */
    crew->seats = cuda ? work->count : 1;
    for (uint32_t i = 0; i < work->count; i++) {
        request.address = work->in + (size_t)i * work->each;
        crew->requests[i] = (gyre_brief){.type = 1, .flags = GYRE_BRIEF_REFERS};
        memcpy(&crew->requests[i].body, &request, sizeof request);
    }
    status = launch(crew, context, work->block);
    if (status != GYRE_OK)
        gyre_relu_crew_close(crew); /* accepts a half-built one */
    return status;
}

void gyre_relu_crew_close(gyre_relu_crew *crew)
{
    gyre_port_close(crew->port);
    gyre_actor_destroy(crew->actor);
    *crew = (gyre_relu_crew){0};
}

gyre_status gyre_relu_crew_run(gyre_relu_crew *crew)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_S * UINT64_C(1000000000));
    gyre_status status =
        gyre_port_call_many(crew->port, crew->requests, crew->answers, crew->count, deadline_ns);

    for (uint32_t i = 0; i < crew->count && status == GYRE_OK; i++)
        if (crew->answers[i].flags != 0 || crew->answers[i].body.words[0] != crew->each)
            status = GYRE_CORRUPT;
    return status;
}

void gyre_relu_crew_tell(const gyre_relu_crew *crew, gyre_bench_facts *facts)
{
    gyre_actor_statistics s = {.struct_size = sizeof s};

    gyre_bench_count(facts, "seats", crew->seats);
    if (gyre_actor_describe(crew->actor, &s) == GYRE_OK)
        gyre_bench_note(facts, "scheme", s.scheme);
}
