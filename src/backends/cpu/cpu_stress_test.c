/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that submit whatever comes to streams of their own and wait for each other's events, with
 * fewer workers than streams and more: each stream keeps its order, every block runs once, what an
 * event stands for has happened, and nobody is left waiting.
 */
#include <inttypes.h>

#include "backends/cpu/cpu_fake.h"
#include "chance.h"

enum { PARTIES = 4, BLOCKS = 64, ROUND_NS = 250000000, STEPS_MOST = 20000 };

/* Says how far the party is; another's stream looks. */
typedef struct cell_parameters {
    uint32_t *cell, *wrong;
    uint32_t value;
} cell_parameters;

static void publish(const gyre_block *block, const void *parameters)
{
    const cell_parameters *p = parameters;

    (void)block;
    __atomic_store_n(p->cell, p->value, __ATOMIC_RELAXED); /* relaxed, all: streams order them */
}

static void expect(const gyre_block *block, const void *parameters)
{
    const cell_parameters *p = parameters;

    (void)block;
    if (__atomic_load_n(p->cell, __ATOMIC_RELAXED) < p->value)
        __atomic_fetch_add(p->wrong, 1, __ATOMIC_RELAXED);
}

/* Plain memory that every operation of one stream changes, whichever worker has it. */
static void step(const gyre_block *block, const void *parameters)
{
    const cell_parameters *p = parameters;

    (void)block;
    if (*p->cell != p->value)
        __atomic_fetch_add(p->wrong, 1, __ATOMIC_RELAXED);
    *p->cell = p->value + 1;
}

static const gyre_entry functions[] = {
    {"publish", publish}, {"expect", expect}, {"step", step}, {NULL, NULL}};

typedef struct party {
    pthread_t thread;
    gyre_dev_stream *stream;
    gyre_dev_event *event;
    uint32_t recorded; /* what the cell says at least where the event is; published to others */
    uint32_t cell;     /* relaxed */
    uint32_t steps;    /* plain, the stream's */
    uint32_t hits[BLOCKS], launches;
    uint64_t seed;
} party;

static struct {
    rig r;
    gyre_dev_kernel *publish, *expect, *step;
    party parties[PARTIES];
    uint64_t end_ns;
    uint32_t wrong;
} t;

static void record(party *p, uint32_t value)
{
    fake_submit(p->stream, t.publish, &(cell_parameters){&p->cell, &t.wrong, value});
    CHECK(cpu->event_record(p->event, p->stream) == GYRE_OK);
    /* release [stress-recorded]: pairs with wait_for_other; a later record says as much */
    __atomic_store_n(&p->recorded, value, __ATOMIC_RELEASE);
}

static void wait_for_other(party *p, uint64_t *random)
{
    party *other = &t.parties[chance_below(random, PARTIES)];
    const uint32_t recorded = __atomic_load_n(&other->recorded, __ATOMIC_ACQUIRE);

    CHECK(cpu->event_wait(p->stream, other->event) == GYRE_OK);
    fake_submit(p->stream, t.expect, &(cell_parameters){&other->cell, &t.wrong, recorded});
}

static void launch_many(party *p)
{
    const touch_parameters touched = {p->hits, &t.wrong, {BLOCKS / 4, 2, 2}, {3, 1, 1}, 0};
    gyre_dev_launch launch = fake_launch(t.r.touch, &touched);

    memcpy(launch.grid, touched.grid, sizeof launch.grid);
    launch.block[0] = 3;
    CHECK(cpu->launch(p->stream, &launch) == GYRE_OK);
    p->launches++;
}

static void submit_graph(party *p, uint32_t *steps)
{
    gyre_dev_node nodes[3] = {{0}};
    cell_parameters parameters[3];
    gyre_dev_graph *graph;

    for (uint32_t i = 0; i < COUNT(nodes); i++) {
        parameters[i] = (cell_parameters){&p->steps, &t.wrong, (*steps)++};
        nodes[i].as.launch = fake_launch(t.step, &parameters[i]);
    }
    if (cpu->graph_open(t.r.dev, nodes, COUNT(nodes), &graph) != GYRE_OK) {
        CHECK(false);
        return;
    }
    CHECK(cpu->graph_submit(p->stream, graph) == GYRE_OK);
    cpu->graph_close(graph);
}

static void *take_part(void *arg)
{
    party *p = arg;
    uint64_t random = p->seed;
    uint32_t steps = 0, value = 0;

    for (int i = 0; i < STEPS_MOST && gyre_clock_now_ns() < t.end_ns; i++) {
        switch (chance_below(&random, 8)) {
        case 0:
            record(p, ++value);
            break;
        case 1:
            wait_for_other(p, &random);
            break;
        case 2:
            launch_many(p);
            break;
        case 3:
            submit_graph(p, &steps);
            break;
        case 4:
            if (chance_below(&random, 16) == 0)
                usleep((useconds_t)chance_below(&random, 300));
            else
                fake_drain(p->stream);
            break;
        default:
            fake_submit(p->stream, t.step, &(cell_parameters){&p->steps, &t.wrong, steps++});
            break;
        }
    }
    fake_drain(p->stream);
    CHECK(p->steps == steps && p->cell == value);
    for (uint32_t i = 0; i < BLOCKS; i++)
        CHECK(p->hits[i] == p->launches);
    return NULL;
}

static void run(uint32_t workers)
{
    const gyre_dev_code code = {.functions = functions};
    const uint64_t seed = chance_seed();
    gyre_dev_module *module;
    rig with;

    memset(&t, 0, sizeof t);
    t.r = rig_open(workers);
    t.end_ns = gyre_clock_after_ns(ROUND_NS);
    with = t.r;
    REQUIRE(cpu->module_open(t.r.dev, &code, &module) == GYRE_OK);
    with.module = module;
    t.publish = fake_kernel(&with, "publish", sizeof(cell_parameters));
    t.expect = fake_kernel(&with, "expect", sizeof(cell_parameters));
    t.step = fake_kernel(&with, "step", sizeof(cell_parameters));
    for (uint32_t i = 0; i < PARTIES; i++) {
        t.parties[i].stream = fake_stream(&t.r);
        t.parties[i].event = fake_event(&t.r, i % 2);
        t.parties[i].seed = seed + i;
    }
    for (uint32_t i = 0; i < PARTIES; i++)
        CHECK(pthread_create(&t.parties[i].thread, NULL, take_part, &t.parties[i]) == 0);
    for (uint32_t i = 0; i < PARTIES; i++)
        pthread_join(t.parties[i].thread, NULL);
    CHECK(t.wrong == 0);
    if (test_failed())
        fprintf(stderr, "seed %" PRIu64 "\n", seed);
    for (uint32_t i = 0; i < PARTIES; i++) {
        cpu->event_close(t.parties[i].event);
        cpu->stream_close(t.parties[i].stream);
    }
    cpu->module_close(module);
    rig_close(&t.r);
}

static void one_worker_serves_many_streams(void)
{
    run(1);
}

static void two_workers_serve_many_streams(void)
{
    run(2);
}

static void as_many_workers_as_streams(void)
{
    run(PARTIES);
}

static void more_workers_than_streams(void)
{
    run(2 * PARTIES);
}

/* A worker leaves, and falls asleep, while the next operation comes. */
static void operation_that_comes_when_the_worker_leaves_is_done(void)
{
    const uint64_t seed = chance_seed(), end_ns = gyre_clock_after_ns(ROUND_NS);
    rig r = rig_open(2);
    gyre_dev_stream *stream = fake_stream(&r);
    uint64_t random = seed;

    while (gyre_clock_now_ns() < end_ns) {
        const uint64_t pause_end_ns = gyre_clock_after_ns(chance_below(&random, 120000));

        fake_submit(stream, r.nothing, NULL);
        fake_drain(stream);
        while (gyre_clock_now_ns() < pause_end_ns)
            continue; /* about as long as the worker stays */
    }
    cpu->stream_close(stream);
    rig_close(&r);
}

/* Devices come and go while their workers are about to sleep, or at work. */
static void device_that_is_closed_soon_leaves_nothing(void)
{
    const uint64_t end_ns = gyre_clock_after_ns(ROUND_NS);

    for (uint32_t i = 0; gyre_clock_now_ns() < end_ns; i++) {
        rig r = rig_open(1 + i % 3);
        gyre_dev_stream *stream = fake_stream(&r);

        for (uint32_t n = 0; n < i % 8; n++)
            fake_submit(stream, r.nothing, NULL);
        if (i % 2 == 1)
            cpu->abandon(r.dev);
        cpu->stream_close(stream);
        cpu->module_close(r.module);
        cpu->close(r.dev);
    }
    for (int i = 0; i < 20; i++) { /* opening and closing frees those whose workers have ended */
        rig r = rig_open(1);

        usleep(10000);
        rig_close(&r);
    }
}

static const test_case cases[] = {
    TEST(one_worker_serves_many_streams),
    TEST(two_workers_serve_many_streams),
    TEST(as_many_workers_as_streams),
    TEST(more_workers_than_streams),
    TEST(operation_that_comes_when_the_worker_leaves_is_done),
    TEST(device_that_is_closed_soon_leaves_nothing),
};
TEST_MAIN(cases)
