/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive: a simulation that somebody plays with: impulses, questions, single steps, and a mix
 * of them, by launches, by graphs and by actors.
 *
 * All ways keep the same cube of floats on the device and do the same to it. Each operation ends
 * when the host has seen its effect: what the cell became, what it is and of which step, that every
 * slab has come to the next step. A question is never answered with an older step than the last;
 * how old the oldest was is told. A batch of operations begins with the same field and one step,
 * untimed; all answers and all cells of the last batch and of the longest are compared, bit by bit,
 * with the same done in plain C. That takes longer than the batch, so of the others the answers are
 * compared with those of the longest.
 *
 * A mixed round is an impulse, ten steps and a question: twelve operations. How many of them fit a
 * frame of a sixtieth of a second is told, by the mean of all rounds.
 *
 * Actors are not measured beside launches in turns: two contexts share a GPU by time, and a crew
 * that stays keeps its part of it.
 *
 * Threads   the case's own, and those of the device.
 * Owns      a session per case.
 * Not here  the ways (suites/interactive_launch.c, suites/interactive_crew.c).
 */
#include "suites/interactive.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/clock.h"
#include "suites/suites.h"

enum { PATIENCE_S = 60, FRAME_NS = 16666667 };

/* Actors */

static gyre_status open_crew(gyre_session *s)
{
    return gyre_wave_crew_open(&s->crew, s->device.context, &s->first, s->block, &s->shape);
}

static void close_crew(gyre_session *s)
{
    gyre_wave_crew_close(&s->crew);
}

static bool crew_inject(gyre_session *s, gyre_wave_impulse impulse, gyre_wave_answer *out_answer)
{
    return gyre_wave_crew_inject(&s->crew, impulse, out_answer);
}

static bool crew_query(gyre_session *s, uint32_t cell, gyre_wave_answer *out_answer)
{
    return gyre_wave_crew_query(&s->crew, cell, out_answer);
}

static bool crew_step(gyre_session *s)
{
    return gyre_wave_crew_step(&s->crew, s->generation);
}

static void crew_tell(const gyre_session *s, gyre_bench_facts *facts)
{
    gyre_wave_crew_tell(&s->crew, facts);
}

const gyre_way gyre_way_crew = {
    open_crew, close_crew, crew_inject, crew_query, crew_step, NULL, crew_tell,
};

/* A session */

static void session_teardown(void *fixture)
{
    gyre_session *s = fixture;

    s->way->close(s);
    gyre_bench_device_give(&s->device, GYRE_CONTEXT_DEVICE, s->block,
                           s->first.bytes + GYRE_WAVE_MORE);
    gyre_bench_device_close(&s->device);
    gyre_wave_field_fini(&s->first);
    free(s->batch.answers);
    free(s->longest.answers);
    free(s->longest.block);
    free(s);
}

static gyre_status session_furnish(gyre_session *s, int64_t side, const char *backend)
{
    void *block = NULL;
    gyre_status status = gyre_wave_field_init(&s->first, side);

    if (status == GYRE_OK)
        status = gyre_bench_device_open_on(&s->device, backend, NULL);
    if (status == GYRE_OK)
        status = gyre_bench_device_take(&s->device, GYRE_CONTEXT_DEVICE,
                                        s->first.bytes + GYRE_WAVE_MORE, &block);
    s->block = block;
    return status == GYRE_OK ? s->way->open(s) : status;
}

typedef struct session_options {
    const gyre_way *way;
    gyre_round round;
    gyre_wave_crew_shape shape;
} session_options;

static gyre_status session_setup(const gyre_bench_case *c, const char *backend,
                                 const session_options *options, void **out_fixture)
{
    gyre_session *s = calloc(1, sizeof *s);
    gyre_status status;

    *out_fixture = NULL;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    s->way = options->way;
    s->round = options->round;
    s->shape = options->shape;
    status = session_furnish(s, gyre_bench_axis(c, "grid"), backend);
    if (status != GYRE_OK) {
        session_teardown(s); /* accepts a half-built one */
        return status;
    }
    *out_fixture = s;
    return GYRE_OK;
}

static void note_answer(gyre_session *s, gyre_wave_answer answer)
{
    if (s->batch.count < s->batch.room)
        s->batch.answers[s->batch.count++] = answer;
    else
        s->failed++;
}

static void step(gyre_session *s)
{
    s->failed += !s->way->step(s);
    s->generation++;
}

static void inject(gyre_session *s, gyre_wave_impulse impulse)
{
    gyre_wave_answer answer = {0, 0};

    s->failed += !s->way->inject(s, impulse, &answer) || answer.generation != s->generation;
    note_answer(s, answer);
}

static void look_how_old(gyre_session *s, gyre_wave_answer answer)
{
    if (s->generation - answer.generation > s->behind)
        s->behind = s->generation - answer.generation;
}

static void query(gyre_session *s, uint32_t cell)
{
    gyre_wave_answer answer = {0, 0};

    s->failed += !s->way->query(s, cell, &answer);
    look_how_old(s, answer);
    note_answer(s, answer);
}

static void go_round(gyre_session *s)
{
    const gyre_wave_impulse impulse = gyre_wave_impulse_at(&s->first, s->batch.done);

    for (uint32_t i = 0; i < s->round.injects; i++)
        inject(s, impulse);
    for (uint32_t i = 0; i < s->round.steps; i++)
        step(s);
    for (uint32_t i = 0; i < s->round.queries; i++)
        query(s, impulse.cell);
}

static void go_whole_round(gyre_session *s)
{
    const gyre_wave_impulse impulse = gyre_wave_impulse_at(&s->first, s->batch.done);
    gyre_wave_answer answers[2] = {{0, 0}, {0, 0}};

    s->failed += !s->way->round(s, impulse, answers) || answers[0].generation != s->generation;
    s->generation += s->round.steps;
    look_how_old(s, answers[1]);
    note_answer(s, answers[0]);
    note_answer(s, answers[1]);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_same(gyre_wave_answer a, gyre_wave_answer b)
{
    return bits_of(a.value) == bits_of(b.value) && a.generation == b.generation;
}

/* All batches begin alike, so they get the same answers, as many as both have. */
static uint64_t count_unlike(const gyre_wave_batch *a, const gyre_wave_batch *b)
{
    const uint64_t both = a->count < b->count ? a->count : b->count;
    uint64_t unlike = 0;

    for (uint64_t i = 0; i < both; i++)
        unlike += !is_same(a->answers[i], b->answers[i]);
    return unlike;
}

static gyre_status copy_field(const gyre_session *s, float **out_block)
{
    if (!*out_block)
        *out_block = calloc(1, s->first.bytes);
    return *out_block ? gyre_bench_device_copy(&s->device, *out_block, s->block, s->first.bytes)
                      : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the check");
}

/* The batch that is over is compared with the longest so far, and the longer of the two is kept. */
static void put_by(gyre_session *s)
{
    const gyre_wave_batch over = s->batch;

    s->unlike += count_unlike(&over, &s->longest);
    if (over.done <= s->longest.done)
        return;
    s->batch = s->longest;
    s->longest = over;
    s->longest.block = s->batch.block;
    s->batch.block = NULL;
    s->failed += copy_field(s, &s->longest.block) != GYRE_OK;
}

/* The field as it was first, and one step from there. */
static void prepare(void *fixture, uint64_t iterations)
{
    gyre_session *s = fixture;
    const uint64_t room = iterations * (s->round.injects + s->round.queries);

    put_by(s);
    if (room > s->batch.room) {
        free(s->batch.answers);
        s->batch.answers = calloc(room, sizeof *s->batch.answers);
        s->batch.room = s->batch.answers ? room : 0;
    }
    s->batch.count = s->batch.done = 0;
    s->generation = 0;
    s->failed +=
        gyre_bench_device_copy(&s->device, s->block, s->first.block, s->first.bytes) != GYRE_OK;
    s->crew.deadline_ns = gyre_clock_after_ns(PATIENCE_S * UINT64_C(1000000000));
    if (s->failed == 0) /* what has failed might fail slowly */
        step(s);
}

static void run(void *fixture, uint64_t iterations)
{
    gyre_session *s = fixture;
    const uint64_t begin_ns = gyre_clock_now_ns();

    for (uint64_t i = 0; i < iterations && s->failed == 0; i++) {
        if (s->way->round)
            go_whole_round(s);
        else
            go_round(s);
        s->batch.done++;
    }
    s->done_all += iterations;
    s->total_ns += gyre_clock_now_ns() - begin_ns;
}

/* A batch again, in plain C: every answer is as it should be. */
static bool answers_are_right(const gyre_session *s, const gyre_wave_batch *batch,
                              gyre_wave_field *field)
{
    uint64_t count = 0, wrong = 0;

    gyre_wave_field_step(field);
    for (uint64_t n = 0; n < batch->done; n++) {
        const gyre_wave_impulse impulse = gyre_wave_impulse_at(field, n);

        for (uint32_t i = 0; i < s->round.injects; i++)
            wrong += !is_same(gyre_wave_field_inject(field, impulse), batch->answers[count++]);
        for (uint32_t i = 0; i < s->round.steps; i++)
            gyre_wave_field_step(field);
        for (uint32_t i = 0; i < s->round.queries; i++)
            wrong += !is_same(gyre_wave_field_query(field, impulse.cell), batch->answers[count++]);
    }
    if (wrong > 0)
        (void)gyre_bench_refuse(GYRE_CORRUPT, "%llu of %llu answers are not the reference's",
                                (unsigned long long)wrong, (unsigned long long)count);
    return wrong == 0;
}

/* That field, and the count of steps before it. */
static bool cells_are_right(const float *block, const gyre_wave_field *field)
{
    uint32_t wrong = 0;

    for (size_t i = 0; i < field->bytes / sizeof *block; i++)
        wrong += bits_of(block[i]) != bits_of(field->block[i]);
    if (wrong > 0)
        (void)gyre_bench_refuse(GYRE_CORRUPT, "%u of 2 * %u cells are not the reference's", wrong,
                                field->cells);
    return wrong == 0;
}

static bool batch_is_right(const gyre_session *s, const gyre_wave_batch *batch, const float *block)
{
    gyre_wave_field field = {0};
    const bool right = gyre_wave_field_init(&field, s->first.side) == GYRE_OK &&
                       answers_are_right(s, batch, &field) && cells_are_right(block, &field);

    gyre_wave_field_fini(&field);
    return right;
}

static bool all_right(const void *fixture, uint64_t iterations)
{
    const gyre_session *s = fixture;
    const uint64_t unlike = s->unlike + count_unlike(&s->batch, &s->longest);
    float *last = NULL;
    bool right = s->failed == 0 && s->behind == 0 && s->done_all == iterations &&
                 s->batch.count == s->batch.done * (s->round.injects + s->round.queries);

    if (!right)
        (void)gyre_bench_refuse(GYRE_CORRUPT, "an operation failed, or was of another step");
    else if (unlike > 0)
        (void)gyre_bench_refuse(GYRE_CORRUPT, "%llu answers were not the same as in another batch",
                                (unsigned long long)unlike);
    right = right && unlike == 0 && copy_field(s, &last) == GYRE_OK &&
            batch_is_right(s, &s->batch, last) &&
            (s->longest.done == 0 || batch_is_right(s, &s->longest, s->longest.block));
    free(last);
    return right;
}

static uint64_t operations_of(const gyre_round *round)
{
    return (uint64_t)round->injects + round->steps + round->queries;
}

static void tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const gyre_session *s = fixture;
    const uint64_t operations = operations_of(&s->round);

    gyre_bench_device_tell(&s->device, facts);
    gyre_bench_count(facts, "rounds_compared", (double)(s->batch.done + s->longest.done));
    if (s->round.queries > 0)
        gyre_bench_count(facts, "answers_steps_behind", s->behind);
    if (operations > 1 && s->total_ns > 0)
        gyre_bench_count(facts, "operations_per_frame",
                         (double)FRAME_NS * (double)(iterations * operations) /
                             (double)s->total_ns);
    if (s->way->tell)
        s->way->tell(s, facts);
}

static uint64_t count_cells(const gyre_bench_case *c)
{
    const uint64_t side = (uint64_t)gyre_bench_axis(c, "grid");

    return side * side * side;
}

static uint64_t count_operations(const gyre_bench_case *c)
{
    (void)c;
    return GYRE_ROUND_STEPS + 2;
}

/* Set-ups */

static const gyre_round just_inject = {1, 0, 0}, just_query = {0, 0, 1}, just_step = {0, 1, 0},
                        mixed = {1, GYRE_ROUND_STEPS, 1};

#define SETUP(name_, way_, round_)                                                                 \
    static gyre_status name_(const gyre_bench_case *c, void **out_fixture)                         \
    {                                                                                              \
        const session_options options = {.way = &(way_), .round = round_};                         \
                                                                                                   \
        return session_setup(c, gyre_bench_device_word(c), &options, out_fixture);                 \
    }

SETUP(setup_inject_launches, gyre_way_launches, just_inject)
SETUP(setup_query_launches, gyre_way_launches, just_query)
SETUP(setup_step_launches, gyre_way_launches, just_step)
SETUP(setup_mixed_launches, gyre_way_launches, mixed)
SETUP(setup_inject_graphs, gyre_way_graphs, just_inject)
SETUP(setup_query_graphs, gyre_way_graphs, just_query)
SETUP(setup_step_graphs, gyre_way_graphs, just_step)
SETUP(setup_mixed_graphs, gyre_way_graphs, mixed)
SETUP(setup_mixed_whole, gyre_way_whole_graph, mixed)
SETUP(setup_inject_crew, gyre_way_crew, just_inject)
SETUP(setup_query_crew, gyre_way_crew, just_query)
SETUP(setup_step_crew, gyre_way_crew, just_step)
SETUP(setup_mixed_crew, gyre_way_crew, mixed)

/* A crew of the case's own shape. */
static gyre_status setup_shaped(const gyre_bench_case *c, gyre_round round, void **out_fixture)
{
    const session_options options = {
        .way = &gyre_way_crew,
        .round = round,
        .shape = {(uint32_t)gyre_bench_axis(c, "seats"), (uint32_t)gyre_bench_axis(c, "threads"),
                  (uint32_t)gyre_bench_axis(c, "replicas")},
    };

    return session_setup(c, "cuda", &options, out_fixture);
}

GYRE_SETUP_WITH(setup_shaped_inject, setup_shaped, just_inject)
GYRE_SETUP_WITH(setup_shaped_step, setup_shaped, just_step)

#define GRID_AXIS GYRE_AXIS("grid", 64)
#define COMMON                                                                                     \
    .prepare = prepare, .batch = GYRE_BATCH_SMALL, .run = run, .check = all_right,                 \
    .teardown = session_teardown, .tell = tell
#define ON_A_DEVICE(way_setup)                                                                     \
    .axes = {GYRE_DEVICE_AXIS, GRID_AXIS}, .setup = way_setup, COMMON,                             \
    .tags = GYRE_TAG_CPU | GYRE_TAG_GPU
#define SHAPED(way_setup)                                                                          \
    .axes = {GRID_AXIS, GYRE_AXIS("seats", 16, 32, 64), GYRE_AXIS("threads", 256, 512, 768),       \
             GYRE_AXIS("replicas", 1, 4)},                                                         \
    .setup = way_setup, COMMON, .tags = GYRE_TAG_GPU | GYRE_TAG_SLOW

#define COMPARED ", and compares the batches with each other and the reference"
#define SEES_VALUE                                                                                 \
    .observer = "the host, which reads what the cell became, and of which step" COMPARED
#define SEES_ANSWER .observer = "the host, which reads the cell and of which step it is" COMPARED
#define SEES_STEP .observer = "the host, which knows that all cells are of the next step" COMPARED
#define SEES_ALL .observer = "the host, which reads both answers" COMPARED

static const gyre_bench benches[] = {
    {
        .name = "interactive/inject_traditional",
        .t0 = "before the impulse is written and copied in, and its kernel launched",
        .t1 = "after the cell's new value was copied out, and the sync",
        SEES_VALUE,
        ON_A_DEVICE(setup_inject_launches),
    },
    {
        .name = "interactive/inject_graph",
        .t0 = "before the impulse is written, and its graph submitted",
        .t1 = "after the sync of the stream, with the cell's new value here",
        SEES_VALUE,
        ON_A_DEVICE(setup_inject_graphs),
    },
    {
        .name = "interactive/inject_persistent",
        .t0 = "before the impulse is written to an actor's mailbox",
        .t1 = "after the answer with the cell's new value",
        SEES_VALUE,
        ON_A_DEVICE(setup_inject_crew),
    },
    {
        .name = "interactive/query_traditional",
        .t0 = "before the cell and the count of steps are copied out",
        .t1 = "after the sync of the stream",
        SEES_ANSWER,
        ON_A_DEVICE(setup_query_launches),
    },
    {
        .name = "interactive/query_graph",
        .t0 = "before the question is written, and its graph submitted",
        .t1 = "after the sync of the stream, with the answer here",
        SEES_ANSWER,
        ON_A_DEVICE(setup_query_graphs),
    },
    {
        .name = "interactive/query_persistent",
        .t0 = "before the question is written to an actor's mailbox",
        .t1 = "after its answer",
        SEES_ANSWER,
        ON_A_DEVICE(setup_query_crew),
    },
    {
        .name = "interactive/step_traditional",
        .t0 = "before the launch",
        .t1 = "after the sync of the stream",
        SEES_STEP,
        ON_A_DEVICE(setup_step_launches),
        .items = count_cells,
    },
    {
        .name = "interactive/step_graph",
        .t0 = "before the submission of a graph with one launch",
        .t1 = "after the sync of the stream",
        SEES_STEP,
        ON_A_DEVICE(setup_step_graphs),
        .items = count_cells,
    },
    {
        .name = "interactive/step_persistent",
        .t0 = "before the order is written to the leader's mailbox",
        .t1 = "after its answer, which comes when all seats have done their slabs",
        SEES_STEP,
        ON_A_DEVICE(setup_step_crew),
        .items = count_cells,
    },
    {
        .name = "interactive/mixed_traditional",
        .t0 = "before an impulse; ten steps and a question follow, each waited for",
        .t1 = "after the sync behind the question",
        SEES_ALL,
        ON_A_DEVICE(setup_mixed_launches),
        .items = count_operations,
    },
    {
        .name = "interactive/mixed_graph",
        .t0 = "before an impulse; ten steps and a question follow, each waited for",
        .t1 = "after the sync behind the question",
        SEES_ALL,
        ON_A_DEVICE(setup_mixed_graphs),
        .items = count_operations,
    },
    {
        .name = "interactive/mixed_graph_whole",
        .t0 = "before an impulse, ten steps and a question are submitted as one graph",
        .t1 = "after the sync of the stream; nothing is seen in between",
        SEES_ALL,
        ON_A_DEVICE(setup_mixed_whole),
        .items = count_operations,
    },
    {
        .name = "interactive/mixed_persistent",
        .t0 = "before an impulse; ten steps and a question follow, each waited for",
        .t1 = "after the answer to the question",
        SEES_ALL,
        ON_A_DEVICE(setup_mixed_crew),
        .items = count_operations,
    },
};

static const gyre_bench shaped_benches[] = {
    {
        .name = "interactive_crew/inject",
        .t0 = "before the impulse is written to an actor's mailbox",
        .t1 = "after the answer with the cell's new value",
        SEES_VALUE,
        SHAPED(setup_shaped_inject),
    },
    {
        .name = "interactive_crew/step",
        .t0 = "before the order is written to the leader's mailbox",
        .t1 = "after its answer, which comes when all seats have done their slabs",
        SEES_STEP,
        SHAPED(setup_shaped_step),
        .items = count_cells,
    },
};

const gyre_suite gyre_suite_interactive =
    GYRE_DEVICE_SUITE("interactive", benches, NULL, &gyre_device_guard);
const gyre_suite gyre_suite_interactive_crew =
    GYRE_DEVICE_SUITE("interactive_crew", shaped_benches, NULL, &gyre_device_guard);
