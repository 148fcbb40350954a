/* SPDX-License-Identifier: Apache-2.0
 *
 * path: see path.h.
 */
#include "suites/path.h"

#include <stdlib.h>

#include "gyre/bench.h"
#include "suites/partner.h"

enum { LINE = 64, LOOKS_PER_CLOCK = 4096 };

static gyre_status open_spsc(gyre_path *path, uint32_t capacity)
{
    path->spsc = aligned_alloc(alignof(gyre_spsc), sizeof *path->spsc);
    path->slots = aligned_alloc(LINE, (size_t)LINE * capacity);
    if (!path->spsc || !path->slots)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a queue");
    return gyre_spsc_init(path->spsc, path->slots, LINE, capacity);
}

static gyre_status open_mpmc(gyre_path *path, uint32_t capacity)
{
    size_t bytes;
    const gyre_status status = gyre_mpmc_storage_bytes(LINE, capacity, &bytes);

    if (status != GYRE_OK)
        return status;
    path->mpmc = aligned_alloc(alignof(gyre_mpmc), sizeof *path->mpmc);
    path->slots = aligned_alloc(LINE, (bytes + LINE - 1) & ~(size_t)(LINE - 1));
    if (!path->mpmc || !path->slots)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a queue");
    return gyre_mpmc_init(path->mpmc, path->slots, LINE, capacity);
}

static gyre_status open_legacy(gyre_path *path, uint32_t capacity)
{
    path->legacy = gyre_legacy_create(capacity);
    return path->legacy ? GYRE_OK : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a queue");
}

static gyre_status open_channel(gyre_path *path, uint32_t capacity)
{
    gyre_channel_options options = gyre_command_channel();

    options.capacity = capacity;
    return gyre_channel_create(&options, &path->channel);
}

gyre_status gyre_path_open(gyre_path *path, gyre_path_kind kind, uint32_t capacity)
{
    static gyre_status (*const open[])(gyre_path *, uint32_t) = {
        [GYRE_PATH_CHANNEL] = open_channel,
        [GYRE_PATH_LEGACY] = open_legacy,
        [GYRE_PATH_SPSC] = open_spsc,
        [GYRE_PATH_MPMC] = open_mpmc,
    };

    *path = (gyre_path){0};
    return open[kind](path, capacity);
}

void gyre_path_stop(gyre_path *path)
{
    if (path->channel)
        gyre_channel_close(path->channel);
    (void)gyre_add_relaxed(&path->stopped, 1); /* relaxed: ends loops, no more */
}

void gyre_path_close(gyre_path *path)
{
    gyre_channel_destroy(path->channel);
    gyre_legacy_destroy(path->legacy);
    free(path->spsc);
    free(path->mpmc);
    free(path->slots);
    *path = (gyre_path){0};
}

static bool try_push(const gyre_path *path, const gyre_command *command, size_t size)
{
    if (path->spsc)
        return gyre_spsc_push(path->spsc, command, LINE);
    if (path->mpmc)
        return gyre_mpmc_push(path->mpmc, command, LINE);
    return gyre_legacy_push(path->legacy, command, size);
}

static bool try_pop(const gyre_path *path, gyre_command *out_command)
{
    size_t size;

    if (path->spsc)
        return gyre_spsc_pop(path->spsc, out_command, LINE);
    if (path->mpmc)
        return gyre_mpmc_pop(path->mpmc, out_command, LINE);
    return gyre_legacy_pop(path->legacy, out_command, &size);
}

bool gyre_path_push_(const gyre_path *path, const gyre_command *command, uint64_t *waited_ns)
{
    const size_t size = gyre_command_size(command);
    uint64_t start_ns;
    uint32_t looks = 0;
    bool pushed = try_push(path, command, size);

    if (pushed)
        return true;
    start_ns = gyre_clock_now_ns();
    while (!pushed && !gyre_load_relaxed(&path->stopped)) { /* relaxed: ends the loop, no more */
        gyre_partner_pause(&looks);
        pushed = try_push(path, command, size);
    }
    *waited_ns += gyre_clock_now_ns() - start_ns;
    return pushed;
}

bool gyre_path_pop_(const gyre_path *path, gyre_command *out_command, uint64_t deadline_ns)
{
    uint32_t looks = 0;

    while (!try_pop(path, out_command)) {
        gyre_partner_pause(&looks);
        if (gyre_load_relaxed(&path->stopped) || /* relaxed: as above */
            (looks % LOOKS_PER_CLOCK == 0 && gyre_clock_now_ns() >= deadline_ns))
            return false;
    }
    return true;
}
