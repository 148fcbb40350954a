/* SPDX-License-Identifier: Apache-2.0
 *
 * launch_bare: see launch_bare.h.
 */
#include "suites/launch_bare.h"

#include <stdlib.h>

#include "suites/bare_cuda.h"
#include "suites/device_clock.h"
#include "suites/device_kernels.h"

enum { CAPTURE_THREAD_LOCAL = 1 };

typedef struct launches {
    gyre_bare_cuda cuda;
    gyre_cu_pointer counter, there;
    gyre_cu_graph graph;
    gyre_cu_exec exec;
    gyre_cu_event event;
    gyre_words *here; /* pinned */
    uint64_t right;
} launches;

void gyre_words_init(gyre_words *words)
{
    *words = (gyre_words){.number = 0};
    gyre_bench_device_numbers(words->in, GYRE_COMMAND_FLOATS, 11);
}

void gyre_bare_launch_teardown(void *fixture)
{
    launches *l = fixture;
    gyre_bare_cuda *const cuda = &l->cuda;

    if (l->exec)
        cuda->exec_destroy(l->exec);
    if (l->graph)
        cuda->graph_destroy(l->graph);
    if (l->event)
        cuda->event_destroy(l->event);
    if (l->counter)
        cuda->memory_give(l->counter);
    if (l->there)
        cuda->memory_give(l->there);
    if (l->here)
        cuda->pinned_give(l->here);
    gyre_bare_cuda_close(cuda);
    free(l);
}

GYRE_INLINE gyre_cu_result launch_count(const launches *l)
{
    gyre_cu_pointer counter = l->counter;
    void *parameters[] = {&counter};

    return l->cuda.launch(l->cuda.count, 1, 1, 1, 1, 1, 1, 0, l->cuda.stream, parameters, NULL);
}

static gyre_status take_memory(launches *l)
{
    const gyre_bare_cuda *const cuda = &l->cuda;
    const uint64_t zero = 0;
    void *here = NULL;
    gyre_status status =
        gyre_bare_cuda_checked(cuda, "cuMemAlloc", cuda->memory_take(&l->counter, sizeof zero));

    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(
            cuda, "cuMemAlloc", cuda->memory_take(&l->there, (size_t)2 * GYRE_COMMAND_BYTES));
    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(cuda, "cuMemHostAlloc",
                                        cuda->pinned_take(&here, sizeof *l->here, 0));
    if (status != GYRE_OK)
        return status;
    l->here = here;
    gyre_words_init(l->here);
    return gyre_bare_cuda_checked(cuda, "cuMemcpyHtoD",
                                  cuda->copy_in(l->counter, &zero, sizeof zero));
}

static gyre_status make_graph(launches *l)
{
    const gyre_bare_cuda *const cuda = &l->cuda;
    gyre_cu_result result = cuda->capture_begin(cuda->stream, CAPTURE_THREAD_LOCAL);

    if (result == 0)
        result = launch_count(l);
    if (result == 0)
        result = cuda->capture_end(cuda->stream, &l->graph);
    if (result == 0)
        result = cuda->graph_instantiate(&l->exec, l->graph, 0);
    return gyre_bare_cuda_checked(cuda, "capturing a graph", result);
}

gyre_status gyre_bare_launch_setup(const gyre_bench_case *c, void **out_fixture)
{
    launches *l = calloc(1, sizeof *l);
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!l)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_bare_cuda_open(&l->cuda);
    if (status == GYRE_OK)
        status = take_memory(l);
    if (status == GYRE_OK)
        status = make_graph(l);
    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(&l->cuda, "cuEventCreate",
                                        l->cuda.event_create(&l->event, GYRE_CU_EVENT_NO_TIMING));
    if (status != GYRE_OK) {
        gyre_bare_launch_teardown(l); /* accepts a half-built one */
        return status;
    }
    *out_fixture = l;
    return GYRE_OK;
}

void gyre_bare_launch_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    (void)iterations;
    gyre_bare_cuda_tell(&((const launches *)fixture)->cuda, facts);
}

void gyre_bare_wait_until_idle(void *fixture, uint64_t iterations)
{
    gyre_bare_cuda *cuda = &((launches *)fixture)->cuda;

    (void)iterations;
    gyre_bare_cuda_did(cuda, cuda->stream_sync(cuda->stream));
}

void gyre_bare_enqueue(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations; i++)
        gyre_bare_cuda_did(&l->cuda, launch_count(l));
}

void gyre_bare_launch_and_sync(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bare_cuda_did(&l->cuda, launch_count(l));
        gyre_bare_cuda_did(&l->cuda, l->cuda.stream_sync(l->cuda.stream));
    }
}

void gyre_bare_graph_and_sync(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bare_cuda_did(&l->cuda, l->cuda.graph_launch(l->exec, l->cuda.stream));
        gyre_bare_cuda_did(&l->cuda, l->cuda.stream_sync(l->cuda.stream));
    }
}

void gyre_bare_wait_for_event(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bare_cuda_did(&l->cuda, launch_count(l));
        gyre_bare_cuda_did(&l->cuda, l->cuda.event_record(l->event, l->cuda.stream));
        gyre_bare_cuda_did(&l->cuda, l->cuda.event_sync(l->event));
    }
}

static void command(launches *l)
{
    gyre_bare_cuda *const cuda = &l->cuda;
    gyre_cu_pointer in = l->there, out = l->there + GYRE_COMMAND_BYTES;
    uint32_t count = GYRE_COMMAND_FLOATS;
    void *parameters[] = {&in, &out, &count};

    gyre_bare_cuda_did(cuda,
                       cuda->copy_in_async(in, l->here->in, GYRE_COMMAND_BYTES, cuda->stream));
    gyre_bare_cuda_did(cuda, cuda->launch(cuda->relu, 1, 1, 1, GYRE_COMMAND_FLOATS, 1, 1, 0,
                                          cuda->stream, parameters, NULL));
    gyre_bare_cuda_did(cuda,
                       cuda->copy_out_async(l->here->out, out, GYRE_COMMAND_BYTES, cuda->stream));
    gyre_bare_cuda_did(cuda, cuda->stream_sync(cuda->stream));
}

void gyre_bare_command_each(void *fixture, uint64_t iterations)
{
    launches *l = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_words_next(l->here);
        command(l);
        l->right += gyre_words_came_back(l->here);
    }
}

bool gyre_bare_all_counted(const void *fixture, uint64_t iterations)
{
    const launches *l = fixture;
    uint64_t counted = 0;

    return l->cuda.failures == 0 && l->cuda.stream_sync(l->cuda.stream) == 0 &&
           l->cuda.copy_out(&counted, l->counter, sizeof counted) == 0 && counted == iterations;
}

bool gyre_bare_all_came_back(const void *fixture, uint64_t iterations)
{
    const launches *l = fixture;

    return l->cuda.failures == 0 && l->right == iterations &&
           gyre_relu_is(l->here->out, l->here->in, GYRE_COMMAND_FLOATS);
}
