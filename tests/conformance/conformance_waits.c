/* SPDX-License-Identifier: Apache-2.0
 *
 * What a resident kernel makes wait: calls of CUDA's driver, by itself, as docs/actors.md lists
 * them. Gyre keeps from making those that wait, so what it keeps from must be so; and what does not
 * wait on some other driver may be left to it there. Others only its users make. Only for CUDA.
 *
 * A kernel is held up by a flag, and a thread makes the call beside it. What has come back before
 * the flag is set does not wait.
 */
#include "conformance_hold.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "backends/cuda/cuda.h"
#include "gyre/thread.h"

enum { BLOCK = 4096, WAITS_MS = 300, RETURNS_MS = 5000 };

static const char image[] = ".version 7.0\n"
                            ".target sm_70\n"
                            ".address_size 64\n"
                            ".visible .entry idle()\n"
                            "{\n"
                            "\tret;\n"
                            "}\n";

/* What was there before the kernel, for the calls. */
static struct {
    const gyre_cu_api *cu;
    gyre_cu_context *context, *other;
    gyre_cu_stream *stream, *spare_stream;
    gyre_cu_event *event;
    gyre_cu_module *module, *spare_module;
    gyre_cu_function *loaded;
    void *block, *spare_block, *pinned, *spare_pinned;
    gyre_cu_graph *graph;
    gyre_cu_graph_exec *exec;
} here;

/* --- calls ------------------------------------------------------------------------------------ */

static int load(void)
{
    gyre_cu_module *module;

    return here.cu->cuModuleLoadDataEx(&module, image, 0, NULL, NULL);
}

static int unload(void)
{
    return here.cu->cuModuleUnload(here.spare_module);
}

static int free_memory(void)
{
    return here.cu->cuMemFree_v2(here.spare_block);
}

static int free_pinned(void)
{
    return here.cu->cuMemFreeHost(here.spare_pinned);
}

static int destroy_context(void)
{
    return here.cu->cuCtxDestroy_v2(here.other);
}

static int take_memory(void)
{
    return here.cu->cuMemAlloc_v2(&here.spare_block, BLOCK);
}

static int take_pinned(void)
{
    return here.cu->cuMemHostAlloc(&here.spare_pinned, BLOCK, 0);
}

static int launch(void)
{
    return here.cu->cuLaunchKernel(here.loaded, 1, 1, 1, 1, 1, 1, 0, here.stream, NULL, NULL);
}

static int copy(void)
{
    return here.cu->cuMemcpyAsync(here.block, here.pinned, BLOCK, here.stream);
}

static int copy_pageable(void)
{
    static char pageable[BLOCK];

    return here.cu->cuMemcpyAsync(here.block, pageable, BLOCK, here.stream);
}

static int fill(void)
{
    return here.cu->cuMemsetD8Async(here.block, 1, BLOCK, here.stream);
}

static int open_stream(void)
{
    return here.cu->cuStreamCreateWithPriority(&here.spare_stream, GYRE_CU_STREAM_NON_BLOCKING, 0);
}

static int close_stream(void)
{
    return here.cu->cuStreamDestroy_v2(here.spare_stream);
}

static int use_event(void)
{
    int result = here.cu->cuEventCreate(&here.event, 0);

    if (!result)
        result = here.cu->cuEventRecord(here.event, here.stream);
    if (!result)
        result = here.cu->cuEventQuery(here.event);
    if (!result || result == GYRE_CU_NOT_READY)
        result = here.cu->cuEventDestroy_v2(here.event);
    return result;
}

static int make_graph(void)
{
    const gyre_cu_fill_node node = {here.block, 0, 0, 4, BLOCK / 4, 1};
    gyre_cu_graph_node *added;
    int result = here.cu->cuGraphCreate(&here.graph, 0);

    if (!result)
        result = here.cu->cuGraphAddMemsetNode(&added, here.graph, NULL, 0, &node, here.context);
    if (!result)
        result = here.cu->cuGraphInstantiateWithFlags(&here.exec, here.graph, 0);
    if (!result)
        result = here.cu->cuGraphLaunch(here.exec, here.stream);
    return result;
}

/* What Gyre makes no call of, but its users may. */
static struct {
    int (*host_register)(void *block, size_t bytes, unsigned flags);
    int (*host_unregister)(void *block);
    int (*take_async)(void **block, size_t bytes, gyre_cu_stream *stream);
    int (*give_async)(void *block, gyre_cu_stream *stream);
    int (*library_load)(void **library, const void *code, void *jit, void **jit_values,
                        unsigned jit_count, void *options, void **values, unsigned count);
    int (*library_unload)(void *library);
    void *library;
    gyre_cu_module *unused; /* of which no function was asked for */
    _Alignas(4096) char registered[2][BLOCK];
} theirs;

static bool find_theirs(void)
{
    static const char *const names[] = {"cuMemHostRegister_v2", "cuMemHostUnregister",
                                        "cuMemAllocAsync",      "cuMemFreeAsync",
                                        "cuLibraryLoadData",    "cuLibraryUnload"};
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found[COUNT(names)];

    for (size_t i = 0; i < COUNT(names); i++) {
        found[i] = driver ? dlsym(driver, names[i]) : NULL;
        if (!found[i])
            return false;
    }
    memcpy(&theirs, found, sizeof found); /* pointers to functions, in their order */
    return true;
}

static int load_library(void)
{
    return theirs.library_load(&theirs.library, image, NULL, NULL, 0, NULL, NULL, 0);
}

static int unload_library(void)
{
    return theirs.library_unload(theirs.library);
}

static int register_memory(void)
{
    return theirs.host_register(theirs.registered[1], BLOCK, 0);
}

static int unregister_memory(void)
{
    return theirs.host_unregister(theirs.registered[0]);
}

static int take_and_give_async(void)
{
    void *block;
    const int failed = theirs.take_async(&block, BLOCK, here.stream);

    return failed ? failed : theirs.give_async(block, here.stream);
}

static int launch_first(void)
{
    gyre_cu_function *function;
    const int failed = here.cu->cuModuleGetFunction(&function, theirs.unused, "idle");

    return failed ? failed
                  : here.cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, here.stream, NULL, NULL);
}

typedef struct call {
    const char *what;
    int (*make)(void);
} call;

/* In an order in which each has what it needs. */
static const call quick[] = {
    {"taking device memory", take_memory},
    {"taking pinned memory", take_pinned},
    {"launching a function that was loaded before", launch},
    {"a copy from pinned memory", copy},
    {"a copy from memory that is not pinned", copy_pageable},
    {"a fill", fill},
    {"opening a stream", open_stream},
    {"closing a stream", close_stream},
    {"an event", use_event},
    {"a graph of a fill", make_graph},
};

static const call slow[] = {
    {"freeing device memory", free_memory},
    {"freeing pinned memory", free_pinned},
    {"loading a module", load},
    {"unloading a module", unload},
    {"destroying another context", destroy_context},
};

static const call their_quick[] = {
    {"registering memory", register_memory},
    {"taking and giving memory in a stream", take_and_give_async},
    {"unloading a library that was not used", unload_library},
    {"loading a library", load_library},
    {"the first launch of a function, which waits itself", launch_first},
};

static const call their_slow[] = {
    {"unregistering memory", unregister_memory},
};

/* --- the thread that makes them --------------------------------------------------------------- */

static const call *asked;    /* by the thread that waits for it */
static _Atomic bool is_back; /* release and acquire: and `result` */
static int result;

static void make_call(void *unused)
{
    gyre_cu_context *was;

    (void)unused;
    result = here.cu->cuCtxPushCurrent_v2(here.context);
    if (!result)
        result = asked->make();
    (void)here.cu->cuCtxPopCurrent_v2(&was);
    atomic_store(&is_back, true);
}

static bool comes_back(uint64_t most_ns)
{
    const uint64_t until = gyre_clock_after_ns(most_ns);

    while (!atomic_load(&is_back) && gyre_clock_now_ns() < until)
        sleep_ns(MS);
    return atomic_load(&is_back);
}

/* Whether it comes back while the kernel is there. */
static void check_call(hold *h, const call *it, bool waits)
{
    gyre_thread *thread;

    gate_close(&h->held);
    REQUIRE(ok(hold_submit(h, 0)));
    sleep_ns(20 * MS);
    asked = it;
    atomic_store(&is_back, false);
    REQUIRE(ok(gyre_thread_start(make_call, NULL, NULL, &thread)));
    if (comes_back((waits ? WAITS_MS : RETURNS_MS) * MS) == waits) {
        fprintf(stderr, "%s %s\n", it->what, waits ? "does not wait" : "waits");
        CHECK(!"as docs/actors.md has it");
    }
    CHECK(gyre_stream_poll(h->stream) == GYRE_AGAIN); /* it was there all the while */
    gate_open(&h->held);
    gyre_thread_stop(thread);
    if (result != 0) {
        fprintf(stderr, "%s: %d\n", it->what, result);
        CHECK(!"a call that works");
    }
    hold_drain(h);
}

static bool begin_here(const hold *h)
{
    gyre_cu_context *was;
    int failed = gyre_cuda_driver(&here.cu) != GYRE_OK;

    here.context = gyre_context_native(h->context);
    failed = failed || here.cu->cuCtxCreate_v2(&here.other, GYRE_CU_CONTEXT_MAP_HOST, 0) ||
             here.cu->cuCtxPopCurrent_v2(&was) || here.cu->cuCtxPushCurrent_v2(here.context);
    if (failed)
        return false;
    failed = here.cu->cuStreamCreateWithPriority(&here.stream, GYRE_CU_STREAM_NON_BLOCKING, 0) ||
             here.cu->cuMemAlloc_v2(&here.block, BLOCK) ||
             here.cu->cuMemHostAlloc(&here.pinned, BLOCK, 0) ||
             here.cu->cuModuleLoadDataEx(&here.module, image, 0, NULL, NULL) ||
             here.cu->cuModuleLoadDataEx(&here.spare_module, image, 0, NULL, NULL) ||
             here.cu->cuModuleGetFunction(&here.loaded, here.module, "idle") || launch();
    while (!failed && here.cu->cuStreamQuery(here.stream) == GYRE_CU_NOT_READY)
        sleep_ns(MS);
    return !here.cu->cuCtxPopCurrent_v2(&was) && !failed;
}

static bool begin_theirs(void)
{
    gyre_cu_context *was;
    bool good = !here.cu->cuCtxPushCurrent_v2(here.context);

    good = good && !load_library() && take_and_give_async() == 0 &&
           !theirs.host_register(theirs.registered[0], BLOCK, 0) &&
           !here.cu->cuModuleLoadDataEx(&theirs.unused, image, 0, NULL, NULL);
    while (good && here.cu->cuStreamQuery(here.stream) == GYRE_CU_NOT_READY)
        sleep_ns(MS);
    return !here.cu->cuCtxPopCurrent_v2(&was) && good;
}

/* A kernel that is held up, where there is one to be had; or it is said why not. */
static bool hold_one(hold *h)
{
    const gyre_context_options options = {.struct_size = 0};

    if (strcmp(on.device->backend, "cuda") != 0)
        test_skip_reason = "this is about CUDA's driver";
    else if (under_sanitizer())
        test_skip_reason = "the sanitizer lets no two kernels run at once";
    else
        return hold_begin(h, options, NULL);
    return false;
}

static void only_these_calls_wait_for_a_resident_kernel(void)
{
    hold h;

    if (!hold_one(&h))
        return;
    REQUIRE(begin_here(&h));
    for (size_t i = 0; i < COUNT(quick); i++)
        check_call(&h, &quick[i], false);
    for (size_t i = 0; i < COUNT(slow); i++)
        check_call(&h, &slow[i], true);
    hold_end(&h);
}

static void only_these_of_ones_own_do(void)
{
    hold h;

    if (!hold_one(&h))
        return;
    if (find_theirs()) {
        REQUIRE(begin_here(&h) && begin_theirs());
        for (size_t i = 0; i < COUNT(their_quick); i++)
            check_call(&h, &their_quick[i], false);
        for (size_t i = 0; i < COUNT(their_slow); i++)
            check_call(&h, &their_slow[i], true);
        CHECK(!destroy_context());
    } else {
        test_skip_reason = "this driver has no such calls";
    }
    hold_end(&h);
}

static const test_case cases[] = {TEST(only_these_calls_wait_for_a_resident_kernel),
                                  TEST(only_these_of_ones_own_do)};
CONFORMANCE_MAIN(cases)
