/* SPDX-License-Identifier: Apache-2.0
 *
 * Exhaustion: when there is no more memory, calls say so, nothing is lost, and all is well again
 * once some is given back. Where device memory is the host's, the process gets a limit for a while,
 * instead of the machine.
 */
#include "conformance.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gyre/memory.h"
#include "gyre/pool.h"

enum { BLOCKS = 4096 };

#define UNKNOWN "this device does not tell how much memory it has left"

static struct rlimit before;

/* So much more address space than now, and no more. */
static bool limit(size_t more)
{
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    struct rlimit now;
    bool done;

    if (!file)
        return false;
    mallopt(M_MMAP_THRESHOLD, 1 << 20); /* of a large block that is freed nobody keeps a part */
    done = fscanf(file, "%lu", &pages) == 1 && getrlimit(RLIMIT_AS, &before) == 0;
    fclose(file);
    now = before;
    now.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
    return done && setrlimit(RLIMIT_AS, &now) == 0;
}

static void unlimit(void)
{
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
}

static bool is_host(void)
{
    return on.device->kind != GYRE_DEVICE_GPU && on.device->kind != GYRE_DEVICE_ACCELERATOR;
}

/* One of the device's pieces, so that a few hundred are all; 0: nobody knows how large they are. */
static size_t piece_bytes(void)
{
    uint64_t free_bytes = 0, total = 0;

    if (is_host())
        return 8 * MIB;
    return gyre_context_room(on.context, &free_bytes, &total) == GYRE_OK ? (size_t)(free_bytes / 16)
                                                                         : 0;
}

static void works(gyre_stream *stream)
{
    uint32_t in = 99, out = 0;
    void *const block = take(GYRE_CONTEXT_DEVICE, sizeof in);

    CHECK(block && put(stream, block, &in, sizeof in) && put(stream, &out, block, sizeof out));
    CHECK(out == 99);
    give(GYRE_CONTEXT_DEVICE, block, sizeof in);
}

static void exhaust(gyre_context_memory_kind kind)
{
    const gyre_memory *const memory = gyre_context_memory(on.context, kind);
    static void *blocks[BLOCKS];
    gyre_stream *const stream = stream_new();
    const size_t piece = piece_bytes();
    gyre_status status = GYRE_OK;
    size_t count = 0;
    void *more;

    if (is_host() && SANITIZED) {
        gyre_stream_destroy(stream);
        SKIP("sanitizers need the address space");
    }
    if (!is_host() && kind == GYRE_CONTEXT_PINNED) {
        gyre_stream_destroy(stream);
        SKIP("that is the machine's memory");
    }
    if (piece == 0) {
        gyre_stream_destroy(stream);
        SKIP(UNKNOWN);
    }
    REQUIRE(stream && (!is_host() || limit(300 * MIB)));
    for (int round = 0; round < 2; round++) { /* the second time as the first */
        while (count < BLOCKS &&
               (status = memory->take(memory, piece, 4096, &blocks[count])) == GYRE_OK)
            count++;
        CHECK(status == GYRE_NO_MEMORY && count > 2 && blocks[count] == NULL);
        CHECK(gyre_error_last()->status == GYRE_NO_MEMORY && gyre_error_last()->text[0]);
        CHECK(gyre_context_check(on.context) == GYRE_OK);
        more = &more;
        CHECK(memory->take(memory, piece, 4096, &more) == GYRE_NO_MEMORY && more == NULL);
        memory->give(memory, blocks[--count], piece, 4096); /* one back, and one is there */
        if (memory->take(memory, piece, 4096, &more) == GYRE_OK)
            memory->give(memory, more, piece, 4096);
        else
            CHECK(!"the block that was given back");
        memory->give(memory, blocks[--count], piece, 4096);
        works(stream);
        while (count > 0)
            memory->give(memory, blocks[--count], piece, 4096);
    }
    if (is_host())
        unlimit();
    works(stream);
    gyre_stream_destroy(stream);
}

static void device_memory_runs_out_and_comes_back(void)
{
    exhaust(GYRE_CONTEXT_DEVICE);
}

static void pinned_memory_runs_out_and_comes_back(void)
{
    exhaust(GYRE_CONTEXT_PINNED);
}

static void a_pool_passes_on_that_there_is_no_more(void)
{
    gyre_pool_options options = {.struct_size = sizeof options};
    const size_t piece = is_host() ? 4 * MIB : piece_bytes();
    static void *blocks[BLOCKS];
    gyre_status status = GYRE_OK;
    gyre_pool *pool;
    size_t count = 0, first;

    if (is_host() && SANITIZED)
        SKIP("sanitizers need the address space");
    if (piece == 0)
        SKIP(UNKNOWN);
    options.source = gyre_context_memory(on.context, GYRE_CONTEXT_DEVICE);
    REQUIRE(ok(gyre_pool_create(&options, &pool)) && (!is_host() || limit(200 * MIB)));
    while (count < BLOCKS && (status = gyre_pool_take(pool, piece, &blocks[count])) == GYRE_OK)
        count++;
    CHECK(status == GYRE_NO_MEMORY && count > 2);
    first = count;
    for (int i = 0; i < 3; i++)
        gyre_pool_give(pool, blocks[--count], piece);
    while (count < first && gyre_pool_take(pool, piece, &blocks[count]) == GYRE_OK)
        count++;
    CHECK(count == first);
    if (is_host())
        unlimit();
    while (count > 0)
        gyre_pool_give(pool, blocks[--count], piece);
    gyre_pool_destroy(pool);
}

static void a_take_that_fails_is_only_that_take(void)
{
    const gyre_context_options options = {.struct_size = sizeof options, .faults = "memory@3..20"};
    gyre_context_statistics statistics = {.struct_size = sizeof statistics};
    const gyre_memory *memory;
    gyre_context *context;
    size_t failed = 0, worked = 0;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    REQUIRE(ok(gyre_context_create(on.device, &options, &context)));
    memory = gyre_context_memory(context, GYRE_CONTEXT_DEVICE);
    for (int i = 0; i < 30; i++) {
        void *block = &block;
        const gyre_status status = memory->take(memory, 1000, 64, &block);

        CHECK(status == GYRE_OK || (status == GYRE_NO_MEMORY && block == NULL));
        failed += status == GYRE_NO_MEMORY;
        worked += status == GYRE_OK;
        if (status == GYRE_OK)
            memory->give(memory, block, 1000, 64);
    }
    CHECK(failed == 18 && worked == 12);
    CHECK(gyre_context_check(context) == GYRE_OK);
    CHECK(ok(gyre_context_describe(context, &statistics)) && statistics.device_bytes == 0);
    gyre_context_destroy(context);
}

static void a_submission_that_fails_is_only_that_submission(void)
{
    enum { N = 64 };
    const gyre_context_options options = {.struct_size = sizeof options, .faults = "refuse@5..9"};
    uint32_t host[N] = {0}, done = 0;
    gyre_context *context;
    gyre_kernel *kernel;
    gyre_stream *stream;
    uint32_t *data;

    if (!gyre_device_has(on.device, GYRE_FEATURE_FAULTS))
        SKIP("this device does not fail when it is told to");
    REQUIRE(ok(gyre_context_create(on.device, &options, &context)) &&
            ok(gyre_stream_create(context, NULL, &stream)));
    kernel = kernel_in(context, KERNEL_STEP);
    data = take_in(context, GYRE_CONTEXT_DEVICE, sizeof host);
    REQUIRE(kernel && data && put(stream, data, host, sizeof host));
    for (int i = 0; i < 20; i++) {
        const step_parameters p = {data, N, 1, 1, 0};
        const gyre_launch launch = launch_of(1, N, &p, sizeof p);
        const uint64_t tickets = submitted(stream);
        const gyre_status status = gyre_stream_launch(stream, kernel, &launch);

        CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
        CHECK(submitted(stream) == tickets + (status == GYRE_OK));
        done += status == GYRE_OK;
    }
    CHECK(done >= 10 && done < 20);
    CHECK(put(stream, host, data, sizeof host) && host[0] == done && host[N - 1] == done);
    CHECK(gyre_stream_fault(stream) == NULL && gyre_context_check(context) == GYRE_OK);
    give_in(context, GYRE_CONTEXT_DEVICE, data, sizeof host);
    gyre_kernel_release(kernel);
    gyre_stream_destroy(stream);
    gyre_context_destroy(context);
}

static const test_case cases[] = {
    TEST(device_memory_runs_out_and_comes_back),
    TEST(pinned_memory_runs_out_and_comes_back),
    TEST(a_pool_passes_on_that_there_is_no_more),
    TEST(a_take_that_fails_is_only_that_take),
    TEST(a_submission_that_fails_is_only_that_submission),
};
CONFORMANCE_MAIN(cases)
