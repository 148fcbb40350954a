/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive_launch: the ways of suites/interactive.c without actors.
 *
 *   launches     the stream and the kernels are kept. An impulse is copied in, its kernel
 *                launched, and the answer copied out; a question is two copies; a step is a launch.
 *                Each is waited for.
 *   graphs       the same recorded once, and replayed. Where kernels reach the host's memory they
 *                read commands and write answers there themselves, so a graph is one launch.
 *   whole graph  an impulse, ten steps and a question as one graph, of which the host sees the end
 *                only: what is best where nobody looks in between.
 *
 * Threads   the case's own.
 * Owns      see interactive.h.
 */
#include <stddef.h>

#include "suites/interactive.h"

static void close_all(gyre_session *s)
{
    gyre_graph_destroy(s->step_graphs[0]);
    gyre_graph_destroy(s->step_graphs[1]);
    gyre_graph_destroy(s->inject_graph);
    gyre_graph_destroy(s->query_graph);
    gyre_graph_destroy(s->whole_graph);
    gyre_kernel_release(s->step);
    gyre_kernel_release(s->inject);
    gyre_kernel_release(s->query);
    gyre_bench_device_give(&s->device, GYRE_CONTEXT_PINNED, s->here, sizeof *s->here);
    gyre_bench_device_give(&s->device, GYRE_CONTEXT_DEVICE, s->there, sizeof *s->there);
}

/* The desks, with one on the device if it `copies`. */
static gyre_status take_desks(gyre_session *s, bool copies)
{
    void *here = NULL, *there = NULL;
    gyre_status status =
        gyre_bench_device_take(&s->device, GYRE_CONTEXT_PINNED, sizeof *s->here, &here);

    if (status == GYRE_OK && copies)
        status = gyre_bench_device_take(&s->device, GYRE_CONTEXT_DEVICE, sizeof *s->there, &there);
    s->here = here;
    s->there = there;
    if (here)
        *s->here = (gyre_desk){0};
    return status;
}

static gyre_status make_kernels(gyre_session *s)
{
    gyre_context *const context = s->device.context;
    gyre_status status = gyre_kernel_create(context, &gyre_wave_program, "wave_step",
                                            GYRE_WAVE_STEP_SIGNATURE, NULL, &s->step);

    if (status == GYRE_OK)
        status = gyre_kernel_create(context, &gyre_wave_program, "wave_inject",
                                    GYRE_WAVE_COMMAND_SIGNATURE, NULL, &s->inject);
    if (status == GYRE_OK)
        status = gyre_kernel_create(context, &gyre_wave_program, "wave_query",
                                    GYRE_WAVE_COMMAND_SIGNATURE, NULL, &s->query);
    return status;
}

static float *field_at(const gyre_session *s, uint32_t generation)
{
    return s->block + GYRE_WAVE_HEAD + (size_t)(generation & 1) * s->first.cells;
}

static void plan(gyre_session *s)
{
    gyre_desk *const desk = s->there ? s->there : s->here;

    for (uint32_t i = 0; i < 2; i++) {
        s->step_parameters[i] = (gyre_wave_step_parameters){
            (uint32_t *)(void *)s->block, field_at(s, i), field_at(s, i + 1), s->first.bits};
        s->command_parameters[i] = (gyre_wave_command_parameters){s->block, &desk->command,
                                                                  &desk->answers[i], s->first.bits};
    }
}

static gyre_launch command_launch(const gyre_wave_command_parameters *parameters)
{
    return (gyre_launch){.parameters = parameters, .parameters_size = sizeof *parameters};
}

static gyre_status open_with(gyre_session *s, bool copies)
{
    gyre_status status = take_desks(s, copies);

    if (status == GYRE_OK)
        status = make_kernels(s);
    if (status == GYRE_OK)
        plan(s);
    return status;
}

/* Launches */

static gyre_status open_launches(gyre_session *s)
{
    return open_with(s, true);
}

static bool launch_inject(gyre_session *s, gyre_wave_impulse impulse, gyre_wave_answer *out_answer)
{
    gyre_stream *const stream = s->device.stream;
    const gyre_launch launch = command_launch(&s->command_parameters[0]);
    gyre_status status;

    s->here->command = impulse;
    status = gyre_stream_copy(stream, &s->there->command, &s->here->command, sizeof impulse);
    if (status == GYRE_OK)
        status = gyre_stream_launch(stream, s->inject, &launch);
    if (status == GYRE_OK)
        status = gyre_stream_copy(stream, s->here->answers, s->there->answers, sizeof *out_answer);
    if (status == GYRE_OK)
        status = gyre_stream_sync(stream);
    *out_answer = s->here->answers[0];
    return status == GYRE_OK;
}

static bool launch_query(gyre_session *s, uint32_t cell, gyre_wave_answer *out_answer)
{
    gyre_stream *const stream = s->device.stream;
    gyre_wave_answer *const answer = &s->here->answers[1];
    gyre_status status = gyre_stream_copy(stream, &answer->value, field_at(s, s->generation) + cell,
                                          sizeof answer->value);

    if (status == GYRE_OK)
        status = gyre_stream_copy(stream, &answer->generation, s->block, sizeof answer->generation);
    if (status == GYRE_OK)
        status = gyre_stream_sync(stream);
    *out_answer = *answer;
    return status == GYRE_OK;
}

static bool launch_step(gyre_session *s)
{
    const gyre_launch launch = gyre_wave_step_launch(&s->step_parameters[s->generation & 1]);

    return gyre_stream_launch(s->device.stream, s->step, &launch) == GYRE_OK &&
           gyre_stream_sync(s->device.stream) == GYRE_OK;
}

/* Graphs */

/* A graph that is being recorded: each node after the last one. */
typedef struct record {
    gyre_graph *graph;
    gyre_status status;
    uint32_t last;
    bool begun;
} record;

static record record_begin(gyre_session *s)
{
    record r = {0};

    r.status = gyre_graph_create(s->device.context, NULL, &r.graph);
    return r;
}

static void record_launch(record *r, gyre_kernel *kernel, const gyre_launch *launch)
{
    const uint32_t last = r->last;

    if (r->status == GYRE_OK)
        r->status =
            gyre_graph_launch(r->graph, kernel, launch, (gyre_after){&last, r->begun}, &r->last);
    r->begun = true;
}

static void record_copy(record *r, void *to, const void *from, size_t size)
{
    const uint32_t last = r->last;
    const gyre_box box = {.to = to, .from = from, .width = size};

    if (r->status == GYRE_OK)
        r->status = gyre_graph_copy(r->graph, &box, (gyre_after){&last, r->begun}, &r->last);
    r->begun = true;
}

static gyre_status record_end(record *r, gyre_graph **out_graph)
{
    *out_graph = r->graph;
    return r->status == GYRE_OK ? gyre_graph_finish(r->graph) : r->status;
}

static void record_copy_in(record *r, const gyre_session *s)
{
    if (s->there)
        record_copy(r, &s->there->command, &s->here->command, sizeof s->here->command);
}

static void record_copy_out(record *r, const gyre_session *s)
{
    if (s->there)
        record_copy(r, s->here->answers, s->there->answers, sizeof s->here->answers);
}

static gyre_status record_command(gyre_session *s, gyre_kernel *kernel, uint32_t which,
                                  gyre_graph **out_graph)
{
    const gyre_launch launch = command_launch(&s->command_parameters[which]);
    record r = record_begin(s);

    record_copy_in(&r, s);
    record_launch(&r, kernel, &launch);
    record_copy_out(&r, s);
    return record_end(&r, out_graph);
}

static gyre_status record_step(gyre_session *s, uint32_t which)
{
    const gyre_launch launch = gyre_wave_step_launch(&s->step_parameters[which]);
    record r = record_begin(s);

    record_launch(&r, s->step, &launch);
    return record_end(&r, &s->step_graphs[which]);
}

static gyre_status open_desk_in_reach(gyre_session *s)
{
    return open_with(s, !gyre_device_has(s->device.device, GYRE_FEATURE_MAPPED));
}

static gyre_status open_graphs(gyre_session *s)
{
    gyre_status status = open_desk_in_reach(s);

    for (uint32_t i = 0; i < 2 && status == GYRE_OK; i++)
        status = record_step(s, i);
    if (status == GYRE_OK)
        status = record_command(s, s->inject, 0, &s->inject_graph);
    if (status == GYRE_OK)
        status = record_command(s, s->query, 1, &s->query_graph);
    return status;
}

static bool replay(const gyre_session *s, gyre_graph *graph)
{
    return gyre_stream_submit(s->device.stream, graph) == GYRE_OK &&
           gyre_stream_sync(s->device.stream) == GYRE_OK;
}

static bool replay_inject(gyre_session *s, gyre_wave_impulse impulse, gyre_wave_answer *out_answer)
{
    bool done;

    s->here->command = impulse;
    done = replay(s, s->inject_graph);
    *out_answer = s->here->answers[0];
    return done;
}

static bool replay_query(gyre_session *s, uint32_t cell, gyre_wave_answer *out_answer)
{
    bool done;

    s->here->command.cell = cell;
    done = replay(s, s->query_graph);
    *out_answer = s->here->answers[1];
    return done;
}

static bool replay_step(gyre_session *s)
{
    return replay(s, s->step_graphs[s->generation & 1]);
}

/* A whole round. It begins with an odd generation: a batch begins with a step, and a round has an
 * even number of them. */
static gyre_status open_whole(gyre_session *s)
{
    const gyre_launch inject = command_launch(&s->command_parameters[0]);
    const gyre_launch query = command_launch(&s->command_parameters[1]);
    gyre_status status = open_graphs(s); /* for the first step of a batch */
    record r;

    if (status != GYRE_OK)
        return status;
    r = record_begin(s);
    record_copy_in(&r, s);
    record_launch(&r, s->inject, &inject);
    for (uint32_t i = 0; i < GYRE_ROUND_STEPS; i++) {
        const gyre_launch step = gyre_wave_step_launch(&s->step_parameters[(i + 1) & 1]);

        record_launch(&r, s->step, &step);
    }
    record_launch(&r, s->query, &query);
    record_copy_out(&r, s);
    return record_end(&r, &s->whole_graph);
}

static bool replay_round(gyre_session *s, gyre_wave_impulse impulse, gyre_wave_answer *out_answers)
{
    bool done;

    s->here->command = impulse;
    done = replay(s, s->whole_graph);
    out_answers[0] = s->here->answers[0];
    out_answers[1] = s->here->answers[1];
    return done;
}

static void tell_graphs(const gyre_session *s, gyre_bench_facts *facts)
{
    gyre_graph_facts graph = {.struct_size = sizeof graph};

    if (gyre_graph_describe(s->whole_graph ? s->whole_graph : s->inject_graph, &graph) != GYRE_OK)
        return;
    gyre_bench_count(facts, "nodes", graph.nodes);
    gyre_bench_note(facts, "graph",
                    graph.native ? "submitted by the driver as one" : "submitted node by node");
    gyre_bench_note(facts, "commands",
                    s->there ? "copied by nodes" : "read by the kernel from the host's memory");
}

const gyre_way gyre_way_launches = {
    open_launches, close_all, launch_inject, launch_query, launch_step, NULL, NULL,
};
const gyre_way gyre_way_graphs = {
    open_graphs, close_all, replay_inject, replay_query, replay_step, NULL, tell_graphs,
};
const gyre_way gyre_way_whole_graph = {
    open_whole, close_all, replay_inject, replay_query, replay_step, replay_round, tell_graphs,
};
