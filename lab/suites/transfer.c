/* SPDX-License-Identifier: Apache-2.0
 *
 * transfer: bytes to a device and back.
 *
 * Each is one copy and a sync, by Gyre and by the CUDA driver alone (`bare_`); `floor_memcpy` is
 * what the host's memory gives. `stream_` are the same copies handed in without waiting, by the
 * device's clock. Host memory is pageable (malloc) or pinned. The words are all different and none
 * is 0; the first changes with every copy.
 *
 * Threads   one.
 * Owns      a fixture per case.
 * Not here  copies between GPUs (suites/multi_gpu.c).
 */
#include <stdlib.h>
#include <string.h>

#include "suites/bare_cuda.h"
#include "suites/copy_words.h"
#include "suites/device_clock.h"
#include "suites/suites.h"

enum { LINE = 64, CHUNK_WORDS = 131072, PENDING = 64 };

typedef enum direction { IN_PAGEABLE, IN_PINNED, OUT_PAGEABLE, OUT_PINNED } direction;

typedef struct transfer {
    gyre_bench_device device; /* the clock's: first */
    gyre_bare_cuda cuda;      /* of a bare one */
    direction way;
    size_t size;            /* bytes, a multiple of 8 */
    void *there;            /* on the device */
    gyre_cu_pointer there_; /* likewise, of a bare one */
    uint64_t *here;
    uint64_t *chunk; /* for the check */
    uint64_t number; /* copies to the device */
    uint64_t right;  /* copies back whose first and last word were there */
    uint64_t failed;
} transfer;

static bool is_in(const transfer *t)
{
    return t->way == IN_PAGEABLE || t->way == IN_PINNED;
}

static bool is_pinned(const transfer *t)
{
    return t->way == IN_PINNED || t->way == OUT_PINNED;
}

static void fill_words(uint64_t *words, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = gyre_copy_word(first + i);
}

static void transfer_teardown(void *fixture)
{
    transfer *t = fixture;

    if (is_pinned(t))
        gyre_bench_device_give(&t->device, GYRE_CONTEXT_PINNED, t->here, t->size);
    else
        free(t->here);
    gyre_bench_device_give(&t->device, GYRE_CONTEXT_DEVICE, t->there, t->size);
    gyre_bench_device_close(&t->device);
    free(t->chunk);
    free(t);
}

static void bare_teardown(void *fixture)
{
    transfer *t = fixture;

    if (t->here && is_pinned(t))
        t->cuda.pinned_give(t->here);
    else
        free(t->here);
    if (t->there_)
        t->cuda.memory_give(t->there_);
    gyre_bare_cuda_close(&t->cuda);
    free(t->chunk);
    free(t);
}

/* A fixture without memory on either side. */
static gyre_status begin(const gyre_bench_case *c, direction way, transfer **out_transfer)
{
    const int64_t size = gyre_bench_axis(c, "size");
    transfer *t = calloc(1, sizeof *t);

    *out_transfer = NULL;
    if (!t)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    t->way = way;
    t->size = (size_t)size;
    t->chunk = calloc(CHUNK_WORDS, sizeof t->chunk[0]);
    if (!t->chunk || size < LINE || size > INT64_C(1) << 34 || size % LINE != 0) {
        free(t->chunk);
        free(t);
        return gyre_bench_refuse(GYRE_INVALID, "the size is a multiple of 64, at most 16 GiB");
    }
    *out_transfer = t;
    return GYRE_OK;
}

static gyre_status take_pageable(transfer *t)
{
    t->here = aligned_alloc(LINE, t->size);
    return t->here ? GYRE_OK : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the copies");
}

/* What is copied is on its side, and the other has something else. */
static gyre_status furnish(transfer *t)
{
    const size_t count = t->size / sizeof t->here[0];
    gyre_fill fill = {.to = t->there, .pattern = {0xa5}, .pattern_size = 1, .count = t->size};
    gyre_status status;

    fill_words(t->here, 0, count);
    if (!is_in(t)) {
        status = gyre_bench_device_copy(&t->device, t->there, t->here, t->size);
        memset(t->here, 0x5a, t->size);
        return status;
    }
    status = gyre_stream_fill(t->device.stream, &fill);
    return status == GYRE_OK ? gyre_stream_sync(t->device.stream) : status;
}

static gyre_status transfer_setup(const gyre_bench_case *c, direction way, void **out_fixture)
{
    const gyre_context_options options = {.struct_size = sizeof options, .pending_most = PENDING};
    transfer *t;
    gyre_status status = begin(c, way, &t);
    void *here = NULL;

    *out_fixture = NULL;
    if (status != GYRE_OK || !t)
        return status;
    status = gyre_bench_device_open(&t->device, c, &options);
    if (status == GYRE_OK)
        status = gyre_bench_device_take(&t->device, GYRE_CONTEXT_DEVICE, t->size, &t->there);
    if (status == GYRE_OK && is_pinned(t)) {
        status = gyre_bench_device_take(&t->device, GYRE_CONTEXT_PINNED, t->size, &here);
        t->here = here;
    } else if (status == GYRE_OK) {
        status = take_pageable(t);
    }
    if (status == GYRE_OK)
        status = furnish(t);
    if (status != GYRE_OK) {
        transfer_teardown(t); /* accepts a half-built one */
        return status;
    }
    *out_fixture = t;
    return GYRE_OK;
}

static gyre_status bare_furnish(transfer *t)
{
    gyre_bare_cuda *const cuda = &t->cuda;
    gyre_cu_result result;

    fill_words(t->here, 0, t->size / sizeof t->here[0]);
    result = cuda->copy_in(t->there_, t->here, t->size);
    if (result == 0 && is_in(t)) /* then what is there is something else */
        t->here[1] = 0;
    if (result == 0 && is_in(t))
        result = cuda->copy_in(t->there_, t->here, t->size);
    if (is_in(t))
        t->here[1] = gyre_copy_word(1);
    else
        memset(t->here, 0x5a, t->size);
    return gyre_bare_cuda_checked(cuda, "cuMemcpyHtoD", result);
}

static gyre_status bare_setup(const gyre_bench_case *c, direction way, void **out_fixture)
{
    transfer *t;
    gyre_status status = begin(c, way, &t);
    void *here = NULL;

    *out_fixture = NULL;
    if (status != GYRE_OK || !t)
        return status;
    status = gyre_bare_cuda_open(&t->cuda);
    if (status == GYRE_OK)
        status = gyre_bare_cuda_checked(&t->cuda, "cuMemAlloc",
                                        t->cuda.memory_take(&t->there_, t->size));
    if (status == GYRE_OK && is_pinned(t)) {
        status = gyre_bare_cuda_checked(&t->cuda, "cuMemHostAlloc",
                                        t->cuda.pinned_take(&here, t->size, 0));
        t->here = here;
    } else if (status == GYRE_OK) {
        status = take_pageable(t);
    }
    if (status == GYRE_OK)
        status = bare_furnish(t);
    if (status != GYRE_OK) {
        bare_teardown(t);
        return status;
    }
    *out_fixture = t;
    return GYRE_OK;
}

GYRE_SETUP_WITH(setup_in_pageable, transfer_setup, IN_PAGEABLE)
GYRE_SETUP_WITH(setup_in_pinned, transfer_setup, IN_PINNED)
GYRE_SETUP_WITH(setup_out_pageable, transfer_setup, OUT_PAGEABLE)
GYRE_SETUP_WITH(setup_out_pinned, transfer_setup, OUT_PINNED)
GYRE_SETUP_WITH(bare_setup_in_pageable, bare_setup, IN_PAGEABLE)
GYRE_SETUP_WITH(bare_setup_in_pinned, bare_setup, IN_PINNED)
GYRE_SETUP_WITH(bare_setup_out_pageable, bare_setup, OUT_PAGEABLE)
GYRE_SETUP_WITH(bare_setup_out_pinned, bare_setup, OUT_PINNED)

static void copy_in(void *fixture, uint64_t iterations)
{
    transfer *t = fixture;

    for (uint64_t i = 0; i < iterations && t->failed == 0; i++) {
        t->here[0] = ++t->number;
        t->failed += gyre_stream_copy(t->device.stream, t->there, t->here, t->size) != GYRE_OK ||
                     gyre_stream_sync(t->device.stream) != GYRE_OK;
    }
}

static void bare_copy_in(void *fixture, uint64_t iterations)
{
    transfer *t = fixture;

    for (uint64_t i = 0; i < iterations && t->failed == 0; i++) {
        t->here[0] = ++t->number;
        t->failed += t->cuda.copy_in_async(t->there_, t->here, t->size, t->cuda.stream) != 0 ||
                     t->cuda.stream_sync(t->cuda.stream) != 0;
    }
}

/* The words that a copy must bring are spoiled before it, and looked at after it. */
GYRE_INLINE uint64_t *spoil(transfer *t)
{
    uint64_t *const last = &t->here[t->size / sizeof t->here[0] - 1];

    t->here[0] = *last = 0;
    return last;
}

static void copy_out(void *fixture, uint64_t iterations)
{
    transfer *t = fixture;
    const size_t count = t->size / sizeof t->here[0];

    for (uint64_t i = 0; i < iterations && t->failed == 0; i++) {
        const uint64_t *const last = spoil(t);

        t->failed += gyre_stream_copy(t->device.stream, t->here, t->there, t->size) != GYRE_OK ||
                     gyre_stream_sync(t->device.stream) != GYRE_OK;
        t->right += t->here[0] == gyre_copy_word(0) && *last == gyre_copy_word(count - 1);
    }
}

static void bare_copy_out(void *fixture, uint64_t iterations)
{
    transfer *t = fixture;
    const size_t count = t->size / sizeof t->here[0];

    for (uint64_t i = 0; i < iterations && t->failed == 0; i++) {
        const uint64_t *const last = spoil(t);

        t->failed += t->cuda.copy_out_async(t->here, t->there_, t->size, t->cuda.stream) != 0 ||
                     t->cuda.stream_sync(t->cuda.stream) != 0;
        t->right += t->here[0] == gyre_copy_word(0) && *last == gyre_copy_word(count - 1);
    }
}

/* Handed in; the clock waits. */
static void stream_in(void *fixture, uint64_t iterations)
{
    transfer *t = fixture;

    for (uint64_t i = 0; i < iterations && t->failed == 0; i++)
        t->failed += gyre_stream_copy(t->device.stream, t->there, t->here, t->size) != GYRE_OK;
}

static void stream_out(void *fixture, uint64_t iterations)
{
    transfer *t = fixture;

    for (uint64_t i = 0; i < iterations && t->failed == 0; i++)
        t->failed += gyre_stream_copy(t->device.stream, t->here, t->there, t->size) != GYRE_OK;
}

/* Brings words back from the device, for the check. */
static bool fetch(const transfer *t, size_t first, size_t count)
{
    const size_t bytes = count * sizeof t->chunk[0], at = first * sizeof t->chunk[0];

    if (t->there_)
        return t->cuda.copy_out(t->chunk, t->there_ + at, bytes) == 0;
    return gyre_bench_device_copy(&t->device, t->chunk, (const char *)t->there + at, bytes) ==
           GYRE_OK;
}

static bool device_has_words(const transfer *t, uint64_t first_word)
{
    const size_t count = t->size / sizeof t->here[0];

    for (size_t i = 0; i < count; i += CHUNK_WORDS) {
        const size_t some = count - i < CHUNK_WORDS ? count - i : CHUNK_WORDS;

        if (!fetch(t, i, some) || !gyre_are_copy_words(t->chunk, i, some) ||
            (i == 0 && t->chunk[0] != first_word))
            return false;
    }
    return true;
}

static bool all_arrived(const void *fixture, uint64_t iterations)
{
    const transfer *t = fixture;

    return t->failed == 0 && t->number == iterations && device_has_words(t, iterations);
}

static bool all_came_back(const void *fixture, uint64_t iterations)
{
    const transfer *t = fixture;

    return t->failed == 0 && t->right == iterations &&
           gyre_are_copy_words(t->here, 0, t->size / sizeof t->here[0]);
}

/* Of what was handed in without waiting, the last is there; all have the same words. */
static bool stream_arrived(const void *fixture, uint64_t iterations)
{
    const transfer *t = fixture;

    return iterations > 0 && t->failed == 0 && device_has_words(t, gyre_copy_word(0));
}

static bool stream_came_back(const void *fixture, uint64_t iterations)
{
    const transfer *t = fixture;

    return iterations > 0 && t->failed == 0 && t->here[0] == gyre_copy_word(0) &&
           gyre_are_copy_words(t->here, 0, t->size / sizeof t->here[0]);
}

/* The host's own: from one half of a block to the other. */

static gyre_status floor_setup(const gyre_bench_case *c, void **out_fixture)
{
    transfer *t;
    gyre_status status = begin(c, IN_PAGEABLE, &t);

    *out_fixture = NULL;
    if (status != GYRE_OK || !t)
        return status;
    t->here = aligned_alloc(LINE, 2 * t->size);
    if (!t->here) {
        transfer_teardown(t);
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for the copies");
    }
    fill_words(t->here, 0, t->size / sizeof t->here[0]);
    memset((char *)t->here + t->size, 0x5a, t->size);
    *out_fixture = t;
    return GYRE_OK;
}

static void floor_copy(void *fixture, uint64_t iterations)
{
    transfer *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        t->here[0] = ++t->number;
        memcpy((char *)t->here + t->size, t->here, t->size);
        gyre_bench_keep(t->here);
    }
}

static bool floor_copied(const void *fixture, uint64_t iterations)
{
    const transfer *t = fixture;
    const size_t count = t->size / sizeof t->here[0];

    return t->number == iterations && t->here[count] == iterations &&
           gyre_are_copy_words(t->here + count, 0, count);
}

static uint64_t size_of(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "size");
}

static void tell_device(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const transfer *t = fixture;

    (void)iterations;
    gyre_bench_device_tell(&t->device, facts);
}

static void tell_bare(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const transfer *t = fixture;

    (void)iterations;
    gyre_bare_cuda_tell(&t->cuda, facts);
}

#define SIZES GYRE_AXIS("size", 4096, 65536, 1048576, 16777216)
#define LARGEST GYRE_AXIS("size", 268435456)
#define ARRIVED "the host, which reads the device's bytes back and compares them all at the end"
#define CAME "the host, which compares two words of every copy, and all bytes of the last"

/* One entry with sizes for everybody, one with the size that is slow. */
#define BOTH(...)                                                                                  \
    {.axes = {GYRE_DEVICE_AXIS, SIZES}, .tags = GYRE_TAG_CPU | GYRE_TAG_GPU, __VA_ARGS__},         \
    {                                                                                              \
        .axes = {GYRE_DEVICE_AXIS, LARGEST}, .tags = GYRE_TAG_GPU | GYRE_TAG_SLOW, __VA_ARGS__     \
    }
#define BOTH_BARE(...)                                                                             \
    {.axes = {GYRE_BARE_CUDA_AXIS, SIZES}, .tags = GYRE_TAG_GPU, BARE, __VA_ARGS__},               \
    {                                                                                              \
        .axes = {GYRE_BARE_CUDA_AXIS, LARGEST}, .tags = GYRE_TAG_GPU | GYRE_TAG_SLOW, BARE,        \
        __VA_ARGS__                                                                                \
    }
#define IN .run = copy_in, .check = all_arrived, .observer = ARRIVED, COMMON
#define OUT .run = copy_out, .check = all_came_back, .observer = CAME, COMMON
#define COMMON                                                                                     \
    .t0 = "before the copy is submitted", .t1 = "after the sync of the stream", .bytes = size_of,  \
    .tell = tell_device, .teardown = transfer_teardown
#define BARE                                                                                       \
    .t0 = "before the driver's copy, asynchronous",                                                \
    .t1 = "after cuStreamSynchronize, which spins", .bytes = size_of, .tell = tell_bare,           \
    .teardown = bare_teardown
#define BARE_IN .run = bare_copy_in, .check = all_arrived, .observer = ARRIVED
#define BARE_OUT .run = bare_copy_out, .check = all_came_back, .observer = CAME
#define STREAM                                                                                     \
    .t0 = "the first copy that is handed in", .t1 = "the end of the last one", .bytes = size_of,   \
    .tell = tell_device, .teardown = transfer_teardown

static const gyre_bench benches[] = {
    BOTH(.name = "memory_transfer/to_device_pageable",
         .beside = "memory_transfer/bare_to_device_pageable", .setup = setup_in_pageable, IN),
    BOTH(.name = "memory_transfer/to_device_pinned",
         .beside = "memory_transfer/bare_to_device_pinned", .setup = setup_in_pinned, IN),
    BOTH(.name = "memory_transfer/from_device_pageable",
         .beside = "memory_transfer/bare_from_device_pageable", .setup = setup_out_pageable, OUT),
    BOTH(.name = "memory_transfer/from_device_pinned",
         .beside = "memory_transfer/bare_from_device_pinned", .setup = setup_out_pinned, OUT),
    BOTH_BARE(.name = "memory_transfer/bare_to_device_pageable", .setup = bare_setup_in_pageable,
              BARE_IN),
    BOTH_BARE(.name = "memory_transfer/bare_to_device_pinned", .setup = bare_setup_in_pinned,
              BARE_IN),
    BOTH_BARE(.name = "memory_transfer/bare_from_device_pageable", .setup = bare_setup_out_pageable,
              BARE_OUT),
    BOTH_BARE(.name = "memory_transfer/bare_from_device_pinned", .setup = bare_setup_out_pinned,
              BARE_OUT),
    {
        .name = "memory_transfer/floor_memcpy",
        .axes = {SIZES},
        .t0 = "before memcpy",
        .t1 = "after its return",
        .observer = "the same thread, which compares all bytes at the end",
        .setup = floor_setup,
        .run = floor_copy,
        .check = floor_copied,
        .teardown = transfer_teardown,
        .bytes = size_of,
    },
};

static const gyre_bench streams[] = {
    BOTH(.name = "memory_transfer/stream_to_device_pinned", .setup = setup_in_pinned,
         .run = stream_in, .check = stream_arrived, .observer = ARRIVED, STREAM),
    BOTH(.name = "memory_transfer/stream_from_device_pinned", .setup = setup_out_pinned,
         .run = stream_out, .check = stream_came_back,
         .observer = "the host, which compares all bytes of the last one", STREAM),
};

const gyre_suite gyre_suite_transfer =
    GYRE_DEVICE_SUITE("transfer", benches, NULL, &gyre_device_guard);
const gyre_suite gyre_suite_transfer_stream =
    GYRE_DEVICE_SUITE("transfer_stream", streams, &gyre_device_clock, &gyre_device_guard);
