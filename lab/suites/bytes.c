/* SPDX-License-Identifier: Apache-2.0
 *
 * bytes: another holder of shared bytes, and one less again, whatever their number.
 *
 * Threads   one; the count is as atomic as with many.
 * Owns      a fixture per case.
 */
#include "gyre/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "suites/suites.h"

typedef struct run_of_bytes {
    gyre_bytes bytes;
    uint64_t right; /* clones that were the same bytes */
    uint64_t count; /* the floor's */
} run_of_bytes;

static void bytes_teardown(void *fixture)
{
    run_of_bytes *r = fixture;

    gyre_bytes_release(&r->bytes);
    free(r);
}

static gyre_status bytes_setup(void **out_fixture, int64_t size)
{
    run_of_bytes *r = calloc(1, sizeof *r);
    gyre_status status;

    *out_fixture = NULL;
    if (!r)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    if (size < 1) {
        free(r);
        return gyre_bench_refuse(GYRE_INVALID, "the size is at least 1");
    }
    status = gyre_bytes_take(NULL, (size_t)size, &r->bytes);
    if (status != GYRE_OK) {
        bytes_teardown(r);
        return status;
    }
    memset(gyre_bytes_writable(&r->bytes), 1, (size_t)size);
    *out_fixture = r;
    return GYRE_OK;
}

static gyre_status clone_setup(const gyre_bench_case *c, void **out_fixture)
{
    return bytes_setup(out_fixture, gyre_bench_axis(c, "size"));
}

static gyre_status floor_setup(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    return bytes_setup(out_fixture, 1);
}

static uint64_t size_of(const gyre_bench_case *c)
{
    return (uint64_t)gyre_bench_axis(c, "size");
}

static void clone_and_release(void *fixture, uint64_t iterations)
{
    run_of_bytes *r = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_bytes clone = gyre_bytes_clone(&r->bytes);

        gyre_bench_keep(&clone); /* or the compiler knows that it is what it was made from */
        r->right += clone.data == r->bytes.data && clone.size == r->bytes.size;
        gyre_bytes_release(&clone);
    }
}

/* The sole holder again: every clone was counted, and released. */
static bool cloned_and_released(const void *fixture, uint64_t iterations)
{
    const run_of_bytes *r = fixture;

    return r->right == iterations && gyre_bytes_writable(&r->bytes) == r->bytes.data;
}

static void count_up_and_down(void *fixture, uint64_t iterations)
{
    run_of_bytes *r = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        r->right += gyre_add_relaxed(&r->count, 1) == 0;
        r->right += gyre_subtract_release(&r->count, 1) == 1; /* nobody else looks */
    }
}

static bool counted(const void *fixture, uint64_t iterations)
{
    const run_of_bytes *r = fixture;

    return r->right == 2 * iterations && r->count == 0;
}

static const gyre_bench benches[] = {
    {
        .name = "bytes_clone",
        .axes = {GYRE_AXIS("size", 1024, 65536, 1048576)},
        .t0 = "before the clone",
        .t1 = "after its release",
        .observer = "the same thread, which compares address and size, and at the end the holders",
        .setup = clone_setup,
        .run = clone_and_release,
        .check = cloned_and_released,
        .teardown = bytes_teardown,
        .bytes = size_of,
    },
    {
        .name = "bytes_clone/floor_count",
        .t0 = "before an atomic addition",
        .t1 = "after the subtraction of the same",
        .observer = "the same thread, which compares what it found",
        .setup = floor_setup,
        .run = count_up_and_down,
        .check = counted,
        .teardown = bytes_teardown,
    },
};

const gyre_suite gyre_suite_bytes = GYRE_SUITE("bytes", benches);
