/* SPDX-License-Identifier: Apache-2.0
 *
 * queue: the bare queues, and why counters of different threads stand apart.
 *
 * Threads   one, or several that run at once on one fixture.
 * Owns      a fixture per case.
 * Not here  waiting and policies (suites/channel.c).
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "gyre/clock.h"
#include "gyre/mpmc.h"
#include "gyre/spsc.h"
#include "gyre/topology.h"
#include "suites/partner.h"
#include "suites/suites.h"

enum { CAPACITY = 4096, MESSAGES = 16, CROWD = 4, CYCLES = 1000, LOOKS_PER_CLOCK = 4096 };

static const uint64_t PATIENCE_NS = 30000000000;

/* As long as a line, like the messages that the queues are for. */
typedef struct message {
    uint64_t number;
    uint64_t words[7];
} message;

/* What one thread has done; on lines of its own. */
typedef struct account {
    alignas(128) uint64_t right; /* messages that came out as they went in */
    uint64_t made;
    uint64_t pushed, popped; /* sums over the messages, of a number that is hard to hit */
} account;

typedef struct queues {
    gyre_spsc spsc;
    gyre_mpmc mpmc;
    void *storage;
    alignas(128) message messages[MESSAGES]; /* to send, made beforehand */
    account accounts[CROWD];
} queues;

static void make_message(message *out_message, uint64_t number)
{
    *out_message = (message){number, {~number, 1, 2, 3, 4, 5, number + 6}};
}

static bool came_out_right(const message *m, uint64_t number)
{
    return m->number == number && m->words[0] == ~number && m->words[6] == number + 6;
}

static void queues_teardown(void *fixture)
{
    queues *q = fixture;

    free(q->storage);
    free(q);
}

static gyre_status queues_setup(const gyre_bench_case *c, void **out_fixture)
{
    queues *q = aligned_alloc(alignof(queues), sizeof *q);
    gyre_status status;
    size_t bytes;

    (void)c;
    *out_fixture = NULL;
    if (!q)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a queue");
    memset(q, 0, sizeof *q);
    for (uint64_t i = 0; i < MESSAGES; i++)
        make_message(&q->messages[i], i);
    status = gyre_mpmc_storage_bytes(sizeof(message), CAPACITY, &bytes);
    if (status == GYRE_OK) {
        q->storage = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
        status = q->storage ? GYRE_OK : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for slots");
    }
    /* over one storage: a case uses one of the two */
    if (status == GYRE_OK)
        status = gyre_mpmc_init(&q->mpmc, q->storage, sizeof(message), CAPACITY);
    if (status == GYRE_OK)
        status = gyre_spsc_init(&q->spsc, q->storage, sizeof(message), CAPACITY);
    if (status != GYRE_OK) {
        queues_teardown(q);
        return status;
    }
    *out_fixture = q;
    return GYRE_OK;
}

static void mpmc_cycles(void *fixture, uint64_t iterations)
{
    queues *q = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        message out;

        right += gyre_mpmc_push(&q->mpmc, &q->messages[i % MESSAGES], sizeof out) &&
                 gyre_mpmc_pop(&q->mpmc, &out, sizeof out) && came_out_right(&out, i % MESSAGES);
    }
    q->accounts[0].right += right;
}

static void spsc_cycles(void *fixture, uint64_t iterations)
{
    queues *q = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        message out;

        right += gyre_spsc_push(&q->spsc, &q->messages[i % MESSAGES], sizeof out) &&
                 gyre_spsc_pop(&q->spsc, &out, sizeof out) && came_out_right(&out, i % MESSAGES);
    }
    q->accounts[0].right += right;
}

/* The floor: the message into a ring and out of it, and nothing that a second thread would need. */
static void copies(void *fixture, uint64_t iterations)
{
    queues *q = fixture;
    message *const ring = q->storage;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        message out;

        memcpy(&ring[i % CAPACITY], &q->messages[i % MESSAGES], sizeof out);
        gyre_bench_keep(ring);
        memcpy(&out, &ring[i % CAPACITY], sizeof out);
        right += came_out_right(&out, i % MESSAGES);
    }
    q->accounts[0].right += right;
}

static bool all_came_out_right(const void *fixture, uint64_t iterations)
{
    const queues *q = fixture;

    return q->accounts[0].right == iterations;
}

/* Two different sets of numbers have one sum of these about once in 2^64. */
static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return number ^ number >> 32;
}

static uint32_t crowd_threads(const gyre_bench_case *c)
{
    (void)c;
    return CROWD;
}

static uint64_t crowd_items(const gyre_bench_case *c)
{
    (void)c;
    return (uint64_t)CROWD * CYCLES;
}

/* Each thread pushes one and pops one, by turns: there always is one for whoever pops. It may have
 * been claimed by a producer that is not running, so who waits gives its CPU away. */
static void crowd_cycles(void *fixture, uint64_t iterations)
{
    queues *q = fixture;
    const uint64_t thread = gyre_bench_thread(), deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
    account *const mine = &q->accounts[thread];

    for (uint64_t i = 0; i < iterations * CYCLES; i++) {
        message in, out;
        uint32_t looks = 0;

        make_message(&in, thread << 56 | mine->made++);
        while (!gyre_mpmc_push(&q->mpmc, &in, sizeof in))
            gyre_partner_pause(&looks);
        mine->pushed += mix(in.number);
        while (!gyre_mpmc_pop(&q->mpmc, &out, sizeof out)) {
            gyre_partner_pause(&looks);
            if (looks % LOOKS_PER_CLOCK == 0 && gyre_clock_now_ns() >= deadline_ns)
                return; /* one was lost; the check will say so */
        }
        mine->popped += mix(out.number);
        mine->right += came_out_right(&out, out.number);
    }
}

/* As many came out as went in, and the same ones. */
static bool crowd_lost_nothing(const void *fixture, uint64_t iterations)
{
    const queues *q = fixture;
    uint64_t right = 0, pushed = 0, popped = 0;

    for (int i = 0; i < CROWD; i++) {
        right += q->accounts[i].right;
        pushed += q->accounts[i].pushed;
        popped += q->accounts[i].popped;
    }
    return right == iterations * CROWD * CYCLES && pushed == popped;
}

/* counters: each thread adds to its own; they share a line, or stand two lines apart. The threads
 * stay on CPUs of their own, as far as there are some: on one there is nothing to share. */

enum { APART = 128 }; /* bytes: lines are fetched in pairs */

typedef struct counters {
    gyre_partner cpus;
    uint64_t *first;
    size_t stride; /* in counters */
    uint32_t threads;
    bool placed[CROWD]; /* thread by thread; each writes its own, once */
} counters;

static uint32_t counting_threads(const gyre_bench_case *c)
{
    const uint32_t workers = gyre_topology_worker_count(NULL);

    (void)c;
    return workers < 2 ? 2 : workers < CROWD ? workers : CROWD;
}

static void counters_teardown(void *fixture)
{
    counters *c = fixture;

    gyre_partner_stop(&c->cpus);
    free(c->first);
    free(c);
}

static gyre_status counters_setup(const gyre_bench_case *bench_case, size_t stride,
                                  void **out_fixture)
{
    const size_t bytes = (size_t)CROWD * APART;
    counters *c = calloc(1, sizeof *c);
    gyre_status status;

    *out_fixture = NULL;
    if (!c)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    c->stride = stride;
    c->threads = counting_threads(bench_case);
    c->first = aligned_alloc(APART, bytes);
    if (!c->first) {
        counters_teardown(c); /* accepts a half-built one */
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for counters");
    }
    memset(c->first, 0, bytes);
    status = gyre_partner_find_cpus(&c->cpus);
    if (status != GYRE_OK) {
        counters_teardown(c);
        return status;
    }
    *out_fixture = c;
    return GYRE_OK;
}

GYRE_SETUP_WITH(padded_setup, counters_setup, APART / sizeof(uint64_t))
GYRE_SETUP_WITH(unpadded_setup, counters_setup, 1)

static void count_own(void *fixture, uint64_t iterations)
{
    counters *c = fixture;
    const uint32_t thread = gyre_bench_thread();
    uint64_t *const mine = &c->first[thread * c->stride];

    if (!c->placed[thread]) { /* in the first run only, which is warm-up */
        (void)!gyre_thread_pin_self(&c->cpus.cpus[thread % c->cpus.cpu_count], 1);
        c->placed[thread] = true;
    }
    for (uint64_t i = 0; i < iterations; i++)
        (void)gyre_add_relaxed(mine, 1); /* relaxed: read when the threads have ended */
}

static bool all_counted(const void *fixture, uint64_t iterations)
{
    const counters *c = fixture;

    for (uint32_t i = 0; i < c->threads; i++)
        if (gyre_load_relaxed(&c->first[i * c->stride]) != iterations)
            return false;
    return true;
}

static void tell_stride(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const counters *c = fixture;

    (void)iterations;
    gyre_bench_count(facts, "threads", c->threads);
    gyre_bench_count(facts, "cpus",
                     c->cpus.cpu_count < c->threads ? c->cpus.cpu_count : c->threads);
    gyre_bench_count(facts, "bytes_apart", (double)(c->stride * sizeof(uint64_t)));
}

#define QUEUE .setup = queues_setup, .teardown = queues_teardown
#define PUSHED_AND_POPPED                                                                          \
    .t0 = "before the push of 64 bytes", .t1 = "after the pop of the same",                        \
    .observer = "the same thread, which compares what it popped", .check = all_came_out_right,     \
    QUEUE
#define COUNTERS                                                                                   \
    .t0 = "the common start of all threads", .t1 = "the last of them has added its last one",      \
    .observer = "the check, which reads every counter when the threads have ended",                \
    .run = count_own, .check = all_counted, .teardown = counters_teardown,                         \
    .threads = counting_threads, .tell = tell_stride

static const gyre_bench benches[] = {
    {.name = "queue/enqueue", .run = mpmc_cycles, PUSHED_AND_POPPED},
    {.name = "queue/enqueue_spsc", .run = spsc_cycles, PUSHED_AND_POPPED},
    {
        .name = "queue/floor_copy",
        .t0 = "before 64 bytes are copied into a ring",
        .t1 = "after they are copied out of it",
        .observer = "the same thread, which compares them",
        .run = copies,
        .check = all_came_out_right,
        QUEUE,
    },
    {
        .name = "queue/contended_4_threads",
        .t0 = "the common start of four threads",
        .t1 = "the last of them has pushed and popped a thousand messages",
        .observer = "the threads, which add up what went in and what came out",
        .run = crowd_cycles,
        .check = crowd_lost_nothing,
        .threads = crowd_threads,
        .items = crowd_items,
        QUEUE,
    },
    {.name = "counters/padded", .setup = padded_setup, COUNTERS},
    {.name = "counters/unpadded", .setup = unpadded_setup, COUNTERS},
};

const gyre_suite gyre_suite_queue = GYRE_SUITE("queue", benches);
