/* SPDX-License-Identifier: Apache-2.0
 *
 * device_memory: blocks of a device's memory, directly and from a pool.
 *
 * `memory_allocation` takes a block and gives it back: from the driver, from a pool, and as a
 * stream does it, with a ticket: what is given is free at once for work of the same stream. The
 * driver's own way for that is `bare_async_4kb`. One block more is taken all the while: with the
 * last of its blocks a driver gives a whole chunk of memory back, which no program does all day.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  the host's memory (suites/pool.c), pools at their limit (suites/memory_pressure.c).
 */
#include <stdlib.h>

#include "gyre/pool.h"
#include "suites/bare_cuda.h"
#include "suites/device_clock.h"
#include "suites/suites.h"

enum { BLOCK = 4096, ALIGNMENT = 256 };

typedef enum source { DIRECT, POOLED } source;

typedef struct blocks {
    gyre_bench_device device;
    gyre_bare_cuda cuda;
    gyre_context_memory_kind kind;
    const gyre_memory *memory;
    gyre_pool *pool; /* NULL: direct */
    size_t size;
    void *neighbour;            /* of the same kind, taken all the while */
    gyre_cu_pointer neighbour_; /* likewise, of a bare one */
    uint64_t right;
} blocks;

static void blocks_teardown(void *fixture)
{
    blocks *b = fixture;

    gyre_pool_destroy(b->pool);
    gyre_bench_device_give(&b->device, b->kind, b->neighbour, BLOCK);
    gyre_bench_device_close(&b->device);
    if (b->neighbour_)
        b->cuda.memory_give(b->neighbour_);
    gyre_bare_cuda_close(&b->cuda);
    free(b);
}

static gyre_status furnish(blocks *b, source from, const gyre_bench_case *c)
{
    gyre_pool_options options = {.struct_size = sizeof options, .track = GYRE_POOL_TRACK_OFF};
    gyre_status status = gyre_bench_device_open(&b->device, c, NULL);

    if (status == GYRE_OK)
        status = gyre_bench_device_take(&b->device, b->kind, BLOCK, &b->neighbour);
    if (status != GYRE_OK)
        return status;
    options.source = b->memory = gyre_context_memory(b->device.context, b->kind);
    return from == DIRECT ? GYRE_OK : gyre_pool_create(&options, &b->pool);
}

static gyre_status blocks_setup(const gyre_bench_case *c, blocks like, source from,
                                void **out_fixture)
{
    blocks *b = calloc(1, sizeof *b);
    gyre_status status;

    *out_fixture = NULL;
    if (!b)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    *b = like;
    status = furnish(b, from, c);
    if (status != GYRE_OK) {
        blocks_teardown(b); /* accepts a half-built one */
        return status;
    }
    *out_fixture = b;
    return GYRE_OK;
}

static gyre_status setup_sized(const gyre_bench_case *c, source from, gyre_context_memory_kind kind,
                               void **out_fixture)
{
    const int64_t size = gyre_bench_axis(c, "size");
    const blocks like = {.kind = kind, .size = (size_t)size};

    if (size < 1 || size > 1 << 30) {
        *out_fixture = NULL;
        return gyre_bench_refuse(GYRE_INVALID, "the size is at most a GiB");
    }
    return blocks_setup(c, like, from, out_fixture);
}

static gyre_status setup_direct(const gyre_bench_case *c, void **out_fixture)
{
    return setup_sized(c, DIRECT, GYRE_CONTEXT_DEVICE, out_fixture);
}

static gyre_status setup_direct_pinned(const gyre_bench_case *c, void **out_fixture)
{
    return setup_sized(c, DIRECT, GYRE_CONTEXT_PINNED, out_fixture);
}

static gyre_status setup_pooled(const gyre_bench_case *c, void **out_fixture)
{
    return setup_sized(c, POOLED, GYRE_CONTEXT_DEVICE, out_fixture);
}

static gyre_status setup_4kb(const gyre_bench_case *c, source from, void **out_fixture)
{
    const blocks like = {.size = BLOCK};

    return blocks_setup(c, like, from, out_fixture);
}

GYRE_SETUP_WITH(setup_direct_4kb, setup_4kb, DIRECT)
GYRE_SETUP_WITH(setup_pooled_4kb, setup_4kb, POOLED)

static gyre_status setup_bare(const gyre_bench_case *c, void **out_fixture)
{
    blocks *b = calloc(1, sizeof *b);
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!b)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    b->size = BLOCK;
    status = gyre_bare_cuda_open(&b->cuda);
    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(&b->cuda, "cuMemAlloc",
                                        b->cuda.memory_take(&b->neighbour_, BLOCK));
    if (status != GYRE_OK) {
        blocks_teardown(b);
        return status;
    }
    *out_fixture = b;
    return GYRE_OK;
}

GYRE_INLINE bool is_aligned(const void *block)
{
    return block && ((uintptr_t)block & (ALIGNMENT - 1)) == 0;
}

static void direct(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    const gyre_memory *const memory = b->memory;
    void *block;

    for (uint64_t i = 0; i < iterations; i++) {
        if (memory->take(memory, b->size, ALIGNMENT, &block) != GYRE_OK)
            break; /* the check will miss it */
        b->right += is_aligned(block);
        memory->give(memory, block, b->size, ALIGNMENT);
    }
}

static void pooled(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    uint64_t right = 0;
    void *block;

    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_pool_take_aligned(b->pool, b->size, ALIGNMENT, &block) != GYRE_OK)
            break;
        right += is_aligned(block);
        gyre_pool_give_aligned(b->pool, block, b->size, ALIGNMENT);
    }
    b->right += right;
}

/* As for work of the stream. A fill at the beginning, which nobody looks for, keeps the ticket from
 * being through. */
static void pooled_by_ticket(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    const uint64_t *const timeline = gyre_stream_ticket(b->device.stream).completed;
    const gyre_fill fill = {.to = b->neighbour, .pattern = {7}, .pattern_size = 1, .count = BLOCK};
    uint64_t right = 0;
    void *block;

    if (gyre_stream_fill(b->device.stream, &fill) != GYRE_OK)
        return; /* the check will miss it */
    for (uint64_t i = 0; i < iterations; i++) {
        if (gyre_pool_take_ordered(b->pool, BLOCK, ALIGNMENT, timeline, &block) != GYRE_OK)
            break;
        right += is_aligned(block);
        if (gyre_pool_give_after(b->pool, block, BLOCK, ALIGNMENT,
                                 gyre_stream_ticket(b->device.stream)) != GYRE_OK)
            break;
    }
    if (gyre_stream_sync(b->device.stream) == GYRE_OK)
        b->right += right;
}

static void bare_direct(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    gyre_cu_pointer block;

    for (uint64_t i = 0; i < iterations; i++) {
        if (b->cuda.memory_take(&block, BLOCK) != 0)
            break;
        b->right += block != 0 && block % ALIGNMENT == 0;
        gyre_bare_cuda_did(&b->cuda, b->cuda.memory_give(block));
    }
}

static void bare_async(void *fixture, uint64_t iterations)
{
    blocks *b = fixture;
    gyre_cu_pointer block;

    for (uint64_t i = 0; i < iterations; i++) {
        if (b->cuda.pool_take(&block, BLOCK, b->cuda.stream) != 0)
            break;
        b->right += block != 0 && block % ALIGNMENT == 0;
        gyre_bare_cuda_did(&b->cuda, b->cuda.pool_give(block, b->cuda.stream));
    }
    gyre_bare_cuda_did(&b->cuda, b->cuda.stream_sync(b->cuda.stream));
}

static bool direct_is_right(const void *fixture, uint64_t iterations)
{
    const blocks *b = fixture;
    bool right;
    void *block;

    if (b->right != iterations || b->memory->take(b->memory, b->size, ALIGNMENT, &block) != GYRE_OK)
        return false;
    right = gyre_bench_device_writes(&b->device, block, b->size);
    b->memory->give(b->memory, block, b->size, ALIGNMENT);
    return right;
}

static bool pool_is_right(const void *fixture, uint64_t iterations)
{
    const blocks *b = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};
    bool right;
    void *block;

    if (gyre_pool_describe(b->pool, &pool) != GYRE_OK || pool.takes != iterations ||
        pool.hits + pool.misses != pool.takes || pool.blocks_out != 0 || b->right != iterations ||
        gyre_pool_take_aligned(b->pool, b->size, ALIGNMENT, &block) != GYRE_OK)
        return false;
    right = gyre_bench_device_writes(&b->device, block, b->size);
    gyre_pool_give_aligned(b->pool, block, b->size, ALIGNMENT);
    return right;
}

static bool bare_is_right(const void *fixture, uint64_t iterations)
{
    const blocks *b = fixture;

    return b->right == iterations && b->cuda.failures == 0;
}

static void tell_device(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const blocks *b = fixture;

    (void)iterations;
    gyre_bench_device_tell(&b->device, facts);
}

static void tell_pool(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const blocks *b = fixture;
    gyre_pool_statistics pool = {.struct_size = sizeof pool};

    tell_device(fixture, iterations, facts);
    if (gyre_pool_describe(b->pool, &pool) != GYRE_OK || pool.takes == 0)
        return;
    gyre_bench_count(facts, "hit_rate", (double)pool.hits / (double)pool.takes);
    gyre_bench_count(facts, "misses", (double)pool.misses);
    gyre_bench_count(facts, "peak_bytes", (double)pool.peak_bytes);
}

static void tell_bare(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const blocks *b = fixture;

    (void)iterations;
    gyre_bare_cuda_tell(&b->cuda, facts);
}

#define SIZES GYRE_AXIS("size", 1024, 4096, 16384, 65536, 262144, 1048576)
#define USED "the host, which looks at each address, and has the device write to a block at the end"
#define ON_DEVICES .tags = GYRE_TAG_CPU | GYRE_TAG_GPU, .teardown = blocks_teardown
#define DIRECTLY                                                                                   \
    .t0 = "before the driver is asked for a block", .t1 = "after the give of the same",            \
    .observer = USED, .run = direct, .check = direct_is_right, .tell = tell_device, ON_DEVICES
#define FROM_POOL                                                                                  \
    .t0 = "before the take", .t1 = "after the give of the same", .observer = USED,                 \
    .check = pool_is_right, .tell = tell_pool, ON_DEVICES
#define BARE                                                                                       \
    .observer = "the host, which looks at each address", .setup = setup_bare,                      \
    .check = bare_is_right, .tell = tell_bare, .tags = GYRE_TAG_GPU, .teardown = blocks_teardown,  \
    .axes = {GYRE_BARE_CUDA_AXIS}
static const gyre_bench benches[] = {
    {
        .name = "memory_allocation/device_direct",
        .axes = {GYRE_DEVICE_AXIS, SIZES},
        .setup = setup_direct,
        DIRECTLY,
    },
    {
        .name = "memory_allocation/device_pooled",
        .axes = {GYRE_DEVICE_AXIS, SIZES},
        .setup = setup_pooled,
        .run = pooled,
        FROM_POOL,
    },
    {
        .name = "memory_allocation/pinned_direct",
        .axes = {GYRE_DEVICE_AXIS, GYRE_AXIS("size", 4096, 1048576)},
        .setup = setup_direct_pinned,
        DIRECTLY,
    },
    {
        .name = "memory_allocation/pooled_ticket_4kb",
        .axes = {GYRE_DEVICE_AXIS},
        .t0 = "before the take, for work of a stream",
        .t1 = "after the give of the same, with the stream's ticket, which is not through",
        .observer = USED,
        .setup = setup_pooled_4kb,
        .run = pooled_by_ticket,
        .check = pool_is_right,
        .tell = tell_pool,
        ON_DEVICES,
    },
    {
        .name = "memory_allocation/pooled_4kb",
        .axes = {GYRE_DEVICE_AXIS},
        .setup = setup_pooled_4kb,
        .run = pooled,
        FROM_POOL,
    },
    {
        .name = "memory_allocation/direct_4kb",
        .beside = "memory_allocation/bare_direct_4kb",
        .axes = {GYRE_DEVICE_AXIS},
        .setup = setup_direct_4kb,
        DIRECTLY,
    },
    {
        .name = "memory_allocation/bare_direct_4kb",
        .t0 = "before cuMemAlloc",
        .t1 = "after cuMemFree of the same",
        .run = bare_direct,
        BARE,
    },
    {
        .name = "memory_allocation/bare_async_4kb",
        .t0 = "before cuMemAllocAsync",
        .t1 = "after cuMemFreeAsync of the same",
        .run = bare_async,
        BARE,
    },
};

const gyre_suite gyre_suite_device_memory =
    GYRE_DEVICE_SUITE("device_memory", benches, NULL, &gyre_device_guard);
