/* SPDX-License-Identifier: Apache-2.0
 *
 * platform: what it costs to know the machine, and what its memory's places cost.
 *
 * `platform_optimization` and `feature_detection` are the questions that a program asks before it
 * chooses a way: the processor, the topology, features of both kinds of device. `numa_memory` reads
 * memory of the node that the thread runs on, and of another.
 *
 * Threads   one; in `numa_memory` it is pinned to a CPU, and let go again.
 * Owns      a fixture per case.
 * Not here  enumeration and opening (suites/device.c), several devices (suites/multi_gpu.c).
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "gyre/bench.h"
#include "gyre/cpu.h"
#include "gyre/device.h"
#include "gyre/thread.h"
#include "gyre/topology.h"
#include "suites/suites.h"

/* Questions */

typedef struct questions {
    gyre_topology *topology;
    const gyre_device *device;
    uint64_t asked, right;
} questions;

static void questions_teardown(void *fixture)
{
    questions *q = fixture;

    gyre_topology_destroy(q->topology);
    free(q);
}

static gyre_status setup_questions(const gyre_bench_case *c, void **out_fixture)
{
    questions *q = calloc(1, sizeof *q);
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!q)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_topology_create(NULL, &q->topology);
    q->device = gyre_device_at(0);
    if (status == GYRE_OK && !q->device)
        status = gyre_bench_refuse(GYRE_UNAVAILABLE, "there is no device, not even the CPU");
    if (status != GYRE_OK) {
        questions_teardown(q); /* accepts a half-built one */
        return status;
    }
    *out_fixture = q;
    return GYRE_OK;
}

static void describe_cpu(void *fixture, uint64_t iterations)
{
    questions *q = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        const gyre_cpu_info *info = gyre_cpu_describe();

        gyre_bench_keep(info);
        q->right += info->vendor[0] != '\0';
    }
}

static void create_topology(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    const gyre_topology_info *known = gyre_topology_describe(q->topology);

    for (uint64_t i = 0; i < iterations; i++) {
        const gyre_topology_info *info;
        gyre_topology *topology;

        if (gyre_topology_create(NULL, &topology) != GYRE_OK)
            break; /* the check will miss it */
        info = gyre_topology_describe(topology);
        q->right += info->cpu_count == known->cpu_count && info->page_bytes == known->page_bytes;
        gyre_topology_destroy(topology);
    }
}

static void count_workers(void *fixture, uint64_t iterations)
{
    questions *q = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(q);
        q->right += gyre_topology_worker_count(q->topology) >= 1;
    }
}

static void count_workers_anew(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    const uint32_t known = gyre_topology_worker_count(q->topology);

    for (uint64_t i = 0; i < iterations; i++)
        q->right += gyre_topology_worker_count(NULL) == known;
}

/* Every feature in turn; those that are there are counted. */
static void ask_cpu(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    uint64_t asked = q->asked, right = 0;

    for (uint64_t i = 0; i < iterations; i++, asked++)
        right += gyre_cpu_has((gyre_cpu_feature)(asked % GYRE_CPU_FEATURE_COUNT));
    q->asked = asked;
    q->right += right;
}

static bool features_are_right(const void *fixture, uint64_t iterations)
{
    const questions *q = fixture;
    const uint64_t features = gyre_cpu_features();
    uint64_t there = 0;

    for (uint64_t f = 0; f < GYRE_CPU_FEATURE_COUNT; f++) {
        const uint64_t asked =
            iterations / GYRE_CPU_FEATURE_COUNT + (f < iterations % GYRE_CPU_FEATURE_COUNT);

        there += (features >> f & 1) * asked;
    }
    return q->asked == iterations && q->right == there && features != 0;
}

/* Of two features, of which the CPU has the one and not the other. */
static void ask_device(void *fixture, uint64_t iterations)
{
    questions *q = fixture;
    uint64_t right = 0;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bench_keep(q->device);
        right += gyre_device_has(q->device, GYRE_FEATURE_FUNCTIONS) &&
                 !gyre_device_has(q->device, GYRE_FEATURE_FAULTS);
    }
    q->right += right;
}

static void find_device(void *fixture, uint64_t iterations)
{
    questions *q = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        q->right += gyre_device_find("cpu:0") == q->device;
}

static void find_nothing(void *fixture, uint64_t iterations)
{
    questions *q = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        q->right += gyre_device_find("abacus:7") == NULL;
}

static bool all_answered(const void *fixture, uint64_t iterations)
{
    const questions *q = fixture;

    return q->right == iterations;
}

static void tell_machine(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const questions *q = fixture;
    const gyre_topology_info *info = gyre_topology_describe(q->topology);

    (void)iterations;
    gyre_bench_note(facts, "cpu", gyre_cpu_describe()->model_name);
    gyre_bench_count(facts, "cpus", info->cpu_count);
    gyre_bench_count(facts, "cores", info->core_count);
    gyre_bench_count(facts, "nodes", info->node_count);
    gyre_bench_count(facts, "workers", gyre_topology_worker_count(q->topology));
    gyre_bench_count(facts, "features", __builtin_popcountll(gyre_cpu_features()));
}

/* Nodes */

enum { NODE_BYTES = 64 << 20, NODE_WORDS = NODE_BYTES / 8, MOST_CPUS = 1024 };

typedef struct places {
    uint64_t *words; /* mapped; of the node where they were written first */
    uint64_t sum;    /* of one reading */
    uint64_t right;
    uint32_t allowed[MOST_CPUS]; /* where the thread may run again */
    size_t allowed_count;
    uint32_t cpus[2]; /* of two nodes */
    uint32_t nodes[2];
} places;

static void places_teardown(void *fixture)
{
    places *p = fixture;

    if (p->allowed_count > 0)
        (void)!gyre_thread_pin_self(p->allowed, p->allowed_count);
    if (p->words)
        munmap(p->words, NODE_BYTES);
    free(p);
}

/* A CPU of each of two nodes; how many nodes have one for us. */
static size_t find_nodes(places *p)
{
    const gyre_topology_cpu *cpu;
    gyre_topology *topology;
    size_t found = 0;

    if (gyre_topology_create(NULL, &topology) != GYRE_OK)
        return 0;
    for (uint32_t i = 0; (cpu = gyre_topology_cpu_at(topology, i)); i++) {
        if (!cpu->allowed || p->allowed_count == MOST_CPUS)
            continue;
        p->allowed[p->allowed_count++] = cpu->id;
        if (cpu->node_id < 0 || found == 2 || (found == 1 && p->nodes[0] == (uint32_t)cpu->node_id))
            continue;
        p->cpus[found] = cpu->id;
        p->nodes[found++] = (uint32_t)cpu->node_id;
    }
    gyre_topology_destroy(topology);
    return found;
}

/* Pages are of the node of the CPU that writes them first. */
static gyre_status place(places *p, bool near)
{
    gyre_status status = gyre_thread_pin_self(&p->cpus[near ? 0 : 1], 1);
    void *words;

    if (status != GYRE_OK)
        return status;
    words = mmap(NULL, NODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory on the node");
    p->words = words;
    for (size_t i = 0; i < NODE_WORDS; i++) {
        p->words[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        p->sum += p->words[i];
    }
    return gyre_thread_pin_self(&p->cpus[0], 1);
}

static gyre_status setup_places(const gyre_bench_case *c, bool near, void **out_fixture)
{
    places *p = calloc(1, sizeof *p);
    gyre_status status;
    size_t nodes;

    (void)c;
    *out_fixture = NULL;
    if (!p)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    nodes = find_nodes(p);
    status = nodes == 2
                 ? place(p, near)
                 : gyre_bench_refuse(GYRE_UNAVAILABLE,
                                     nodes == 1 ? "all CPUs are of one node: no memory is far"
                                                : "the kernel tells nothing of NUMA nodes");
    if (status != GYRE_OK) {
        places_teardown(p);
        return status;
    }
    *out_fixture = p;
    return GYRE_OK;
}

GYRE_SETUP_WITH(setup_near, setup_places, true)
GYRE_SETUP_WITH(setup_far, setup_places, false)

static void read_words(void *fixture, uint64_t iterations)
{
    places *p = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        uint64_t sum = 0;

        gyre_bench_keep(p->words);
        for (size_t j = 0; j < NODE_WORDS; j++)
            sum += p->words[j];
        p->right += sum == p->sum;
    }
}

static bool all_summed(const void *fixture, uint64_t iterations)
{
    const places *p = fixture;

    return p->right == iterations && p->sum != 0;
}

static uint64_t node_bytes(const gyre_bench_case *c)
{
    (void)c;
    return NODE_BYTES;
}

static void tell_nodes(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const places *p = fixture;

    (void)iterations;
    gyre_bench_count(facts, "cpu", p->cpus[0]);
    gyre_bench_count(facts, "node", p->nodes[0]);
    gyre_bench_count(facts, "other_node", p->nodes[1]);
}

#define ASKED                                                                                      \
    .t0 = "the question", .t1 = "its answer", .setup = setup_questions, .tell = tell_machine,      \
    .teardown = questions_teardown
#define ANSWERED .observer = "the caller, which compares the answer", .check = all_answered, ASKED
#define READ                                                                                       \
    .t1 = "after the last of them", .observer = "the same thread, which compares the sum",         \
    .run = read_words, .check = all_summed, .bytes = node_bytes, .tell = tell_nodes,               \
    .teardown = places_teardown

static const gyre_bench benches[] = {
    {
        .name = "platform_optimization/cpu_describe",
        .run = describe_cpu,
        ANSWERED,
    },
    {
        .name = "platform_optimization/topology_create",
        .run = create_topology,
        ANSWERED,
    },
    {
        .name = "platform_optimization/worker_count",
        .run = count_workers,
        ANSWERED,
    },
    {
        .name = "platform_optimization/worker_count_anew",
        .run = count_workers_anew,
        ANSWERED,
    },
    {
        .name = "feature_detection/cpu_has",
        .run = ask_cpu,
        .check = features_are_right,
        .observer = "the caller, which counts the features that are there",
        ASKED,
    },
    {
        .name = "feature_detection/device_has",
        .run = ask_device,
        ANSWERED,
    },
    {
        .name = "feature_detection/device_find",
        .run = find_device,
        ANSWERED,
    },
    {
        .name = "feature_detection/device_find_nothing",
        .run = find_nothing,
        ANSWERED,
    },
    {
        .name = "numa_memory/read_near",
        .t0 = "before the first of 64 MiB of the thread's own node is read",
        .setup = setup_near,
        READ,
    },
    {
        .name = "numa_memory/read_far",
        .t0 = "before the first of 64 MiB of another node is read",
        .setup = setup_far,
        READ,
    },
};

const gyre_suite gyre_suite_platform = GYRE_SUITE("platform", benches);
