/* SPDX-License-Identifier: Apache-2.0
 *
 * pool_slab: where a depot's blocks are cut from, and how they go back. See mem/pool.h.
 *
 * Small blocks are drawn many at a time, large ones one by one, unless the source has only larger
 * pieces. A block does not know its slab. So that one can go back, all free blocks and all slabs
 * are put in the order of their addresses, which shows whose blocks are all there: slow, and only
 * done when somebody trims and blocks have come since the last time.
 *
 * Threads   the depot's mutex is held.
 * Owns      what was drawn.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mem/pool.h"

static const size_t PAGE = 4096;              /* what slabs are aligned to, and are spread over */
static const size_t LARGE = (size_t)64 << 10; /* blocks that are drawn one by one */

static size_t lead_of(const gyre_depot *depot)
{
    return depot->spread ? PAGE - 64 : 0; /* before the first block, at most */
}

/* Bytes to draw for `count` blocks, in whole pieces of the source. */
static size_t piece_bytes(const gyre_pool *pool, const gyre_depot *depot, size_t count)
{
    const size_t grain = pool->options.source->grain_bytes;
    const size_t bytes = lead_of(depot) + count * depot->stride;

    return grain > 1 ? (bytes + grain - 1) / grain * grain : bytes;
}

/* How many blocks are drawn at once, if the limit allows: small ones by dozens; and of large ones
 * as many as leave at most an eighth of the source's pieces unused, or eight. */
static size_t blocks_at_once(const gyre_pool *pool, const gyre_depot *depot)
{
    size_t count = 1;

    if (depot->block_bytes < LARGE) {
        count = 64;
        if (count * depot->stride < LARGE)
            count = LARGE / depot->stride;
    }
    for (size_t more = count; more < count + 8; more++) {
        const size_t bytes = piece_bytes(pool, depot, more);
        const size_t fit = (bytes - lead_of(depot)) / depot->stride;

        if (bytes - fit * depot->stride <= bytes / 8)
            return fit;
    }
    return count;
}

static gyre_status draw(gyre_pool *pool, gyre_depot *depot, size_t count)
{
    const size_t bytes = piece_bytes(pool, depot, count);
    const size_t fit = (bytes - lead_of(depot)) / depot->stride;
    const size_t lead =
        depot->spread ? depot->slab_serial * (depot->stride - depot->block_bytes) % PAGE : 0;
    gyre_status status;
    void *piece;

    status = gyre_pool_draw(pool, bytes, PAGE, &piece);
    if (status != GYRE_OK)
        return status;
    gyre_track_forbid(pool, piece, bytes);
    depot->slab_serial++;
    depot->open = depot->slab_count++;
    depot->slabs[depot->open] = (gyre_slab){
        .piece = piece,
        .bytes = bytes,
        .first = (unsigned char *)piece + lead,
        .room = fit < UINT32_MAX ? (uint32_t)fit : UINT32_MAX,
    };
    return GYRE_OK;
}

bool gyre_slab_has_room(const gyre_depot *depot)
{
    return depot->open < depot->slab_count &&
           depot->slabs[depot->open].cut < depot->slabs[depot->open].room;
}

gyre_status gyre_slab_cut(gyre_pool *pool, gyre_depot *depot, uint32_t most, void **out_blocks,
                          uint32_t *out_count)
{
    gyre_status status = GYRE_OK;
    gyre_slab *slab;

    *out_count = 0;
    if (!gyre_slab_has_room(depot)) {
        const size_t count = blocks_at_once(pool, depot);

        if (depot->slab_count == depot->slab_room)
            status = gyre_pool_grow(pool, (void **)&depot->slabs, &depot->slab_room,
                                    sizeof *depot->slabs);
        if (status == GYRE_OK)
            status = draw(pool, depot, count);
        if (status != GYRE_OK && count > 1 && depot->slab_count < depot->slab_room)
            status = draw(pool, depot, 1);
        if (status != GYRE_OK)
            return status;
        depot->misses++;
    }
    slab = &depot->slabs[depot->open];
    while (*out_count < most && slab->cut < slab->room) {
        out_blocks[(*out_count)++] = slab->first + slab->cut * depot->stride;
        slab->cut++;
        depot->cut++;
    }
    return GYRE_OK;
}

static int compare(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int by_address(const void *a, const void *b)
{
    return compare(*(void *const *)a, *(void *const *)b);
}

static int by_first(const void *a, const void *b)
{
    return compare(((const gyre_slab *)a)->first, ((const gyre_slab *)b)->first);
}

/* Goes through blocks and slabs side by side: slabs whose blocks are all there go back, blocks and
 * slabs that stay move together. The blocks that stay; *count is how many. */
static size_t return_whole(gyre_pool *pool, gyre_depot *depot, void **blocks, size_t *count)
{
    size_t at = 0, left = 0, slabs_left = 0, bytes = 0;

    for (size_t i = 0; i < depot->slab_count; i++) {
        const gyre_slab slab = depot->slabs[i];
        const uintptr_t end = (uintptr_t)slab.first + slab.room * depot->stride;
        const size_t start = at;

        while (at < *count && (uintptr_t)blocks[at] < end)
            at++;
        if (at - start == slab.cut) {
            depot->cut -= slab.cut;
            bytes += slab.bytes;
            gyre_pool_return(pool, slab.piece, slab.bytes, PAGE);
        } else {
            memmove(blocks + left, blocks + start, (at - start) * sizeof *blocks);
            left += at - start;
            depot->slabs[slabs_left++] = slab;
        }
    }
    depot->slab_count = slabs_left;
    *count = left;
    return bytes;
}

size_t gyre_slab_trim(gyre_pool *pool, gyre_depot *depot)
{
    const gyre_allocator *const allocator = pool->options.allocator;
    size_t count, room, bytes = 0;
    void *memory, **blocks;

    gyre_depot_settle(pool, depot);
    room = depot->kept;
    /* without memory for the list nothing goes, which is no failure */
    if (room == 0 || depot->searched ||
        gyre_alloc(allocator, room, sizeof *blocks, &memory) != GYRE_OK)
        return 0;
    blocks = memory;
    count = gyre_depot_list(depot, blocks);
    qsort(blocks, count, sizeof *blocks, by_address);
    qsort(depot->slabs, depot->slab_count, sizeof *depot->slabs, by_first);
    bytes = return_whole(pool, depot, blocks, &count);
    gyre_depot_relist(pool, depot, blocks, count);
    gyre_free(allocator, memory, room, sizeof *blocks);
    depot->searched = true;
    depot->open = 0;
    while (depot->open < depot->slab_count && !gyre_slab_has_room(depot))
        depot->open++;
    return bytes;
}

void gyre_slab_return_all(gyre_pool *pool, gyre_depot *depot)
{
    for (size_t i = 0; i < depot->slab_count; i++)
        gyre_pool_return(pool, depot->slabs[i].piece, depot->slabs[i].bytes, PAGE);
    if (depot->slabs)
        gyre_free(pool->options.allocator, depot->slabs, depot->slab_room, sizeof *depot->slabs);
}
