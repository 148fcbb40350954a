/* SPDX-License-Identifier: Apache-2.0
 *
 * pool: where the way in line ends, and the pool as a whole. See mem/pool.h for the parts.
 *
 * Threads   any; `books` guards what all depots draw on together.
 * Owns      the depots; and, through them, what was drawn.
 */
#include "mem/pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "base/settings.h"
#include "mem/memory.h"

/* All of these are compiled into callers. */
_Static_assert(sizeof(gyre_pool_stack_) == 32 && offsetof(gyre_pool_stack_, blocks) == 8 &&
                   offsetof(gyre_pool_stack_, word) == 16 && offsetof(gyre_pool_stack_, most) == 24,
               "layout is public");
_Static_assert(sizeof(gyre_pool_cache_) == 3784 && offsetof(gyre_pool_cache_, stacks) == 8,
               "layout is public");
_Static_assert(offsetof(gyre_pool, front) == 0 && sizeof(gyre_pool_front_) == 4 &&
                   GYRE_POOL_THREAD_POOLS_ == 8 && GYRE_POOL_CLASSES_ == 76 &&
                   GYRE_POOL_SPREAD_ == 35,
               "layout is public");

enum { DEPOTS = GYRE_POOL_STACKS_ - 1 };

static const size_t DEFAULT_THREAD_BYTES = (size_t)16 << 20;

size_t gyre_pool_stack_bytes(uint32_t stack)
{
    const uint32_t class_of_it =
        stack < GYRE_POOL_CLASSES_ ? stack : stack - (GYRE_POOL_CLASSES_ - GYRE_POOL_SPREAD_);

    if (class_of_it < 4)
        return ((size_t)class_of_it + 1) * 64;
    return (size_t)(class_of_it % 4 + 5) << (class_of_it / 4 + 5);
}

gyre_status gyre_pool_grow(gyre_pool *pool, void **array, size_t *room, size_t element_bytes)
{
    const size_t more = *room > 0 ? *room * 2 : 8;
    gyre_status status;
    void *moved;

    status = gyre_alloc(pool->options.allocator, more, element_bytes, &moved);
    if (status != GYRE_OK)
        return status;
    if (*array) {
        memcpy(moved, *array, *room * element_bytes);
        gyre_free(pool->options.allocator, *array, *room, element_bytes);
    }
    *array = moved;
    *room = more;
    return GYRE_OK;
}

gyre_status gyre_pool_draw(gyre_pool *pool, size_t bytes, size_t alignment, void **out_piece)
{
    const gyre_memory *const source = pool->options.source;
    gyre_status status = GYRE_OK;
    size_t reached = 0; /* by this piece: others may be returned before it is counted */

    *out_piece = NULL;
    pthread_mutex_lock(&pool->books);
    if (bytes > pool->options.limit_bytes - pool->drawn_bytes)
        status = GYRE_AGAIN;
    else
        reached = pool->drawn_bytes += bytes;
    pthread_mutex_unlock(&pool->books);
    if (status != GYRE_OK)
        return status;
    status = source->take(source, bytes, alignment, out_piece);
    pthread_mutex_lock(&pool->books);
    if (status != GYRE_OK)
        pool->drawn_bytes -= bytes;
    else if (reached > pool->peak_bytes)
        pool->peak_bytes = reached;
    pthread_mutex_unlock(&pool->books);
    if (status != GYRE_OK) {
        *out_piece = NULL; /* whatever the source left there */
        return status;
    }
    if (pool->options.prefault)
        for (size_t at = 0; at < bytes + 4095; at += 4096) /* the last page may begin inside */
            ((volatile unsigned char *)*out_piece)[at < bytes ? at : bytes - 1] = 0;
    return GYRE_OK;
}

void gyre_pool_return(gyre_pool *pool, void *piece, size_t bytes, size_t alignment)
{
    const gyre_memory *const source = pool->options.source;

    gyre_track_allow(pool, piece, bytes);
    source->give(source, piece, bytes, alignment);
    pthread_mutex_lock(&pool->books);
    pool->drawn_bytes -= bytes;
    pthread_mutex_unlock(&pool->books);
}

static gyre_status take_untracked(gyre_pool *pool, size_t size, size_t alignment,
                                  const uint64_t *timeline, void **out_block)
{
    const uint32_t stack = gyre_pool_stack_of_(size, alignment);
    gyre_status status;
    gyre_cache *cache;

    if (stack == GYRE_POOL_NONE_)
        return gyre_beyond_take(pool, size, alignment, out_block);
    if (timeline && gyre_depot_take_waiting(&pool->depots[stack], timeline, out_block))
        return GYRE_OK;
    cache = pool->depots[stack].cached ? gyre_cache_mine(pool) : NULL;
    if (!cache)
        return gyre_depot_take(pool, &pool->depots[stack], out_block);
    /* there may be one: another pool's cache had this one's place in the table */
    *out_block = gyre_pool_pop_(&cache->face.stacks[stack]);
    if (*out_block)
        return GYRE_OK;
    status = gyre_cache_refill(cache, stack);
    if (status == GYRE_OK)
        *out_block = gyre_pool_pop_(&cache->face.stacks[stack]);
    return status;
}

static gyre_status take_once(gyre_pool *pool, size_t size, size_t alignment,
                             const uint64_t *timeline, const void *place, void **out_block)
{
    return pool->track ? gyre_track_take(pool, size, alignment, timeline, place, out_block)
                       : take_untracked(pool, size, alignment, timeline, out_block);
}

static gyre_status take(gyre_pool *pool, size_t size, size_t alignment, const uint64_t *timeline,
                        const void *place, void **out_block)
{
    gyre_status status = gyre_process_check();

    *out_block = NULL;
    if (status != GYRE_OK)
        return status;
    status = take_once(pool, size, alignment, timeline, place, out_block);
    /* idle blocks of other sizes may be what is missing */
    if (status != GYRE_OK && status != GYRE_INVALID && gyre_pool_trim(pool) > 0)
        status = take_once(pool, size, alignment, timeline, place, out_block);
    if (status == GYRE_AGAIN) {
        pthread_mutex_lock(&pool->books);
        pool->refusals++;
        pthread_mutex_unlock(&pool->books);
    }
    return status;
}

gyre_status gyre_pool_take_(gyre_pool *pool, size_t size, size_t alignment, void **out_block)
{
    return take(pool, size, alignment, NULL, __builtin_return_address(0), out_block);
}

gyre_status gyre_pool_take_ordered(gyre_pool *pool, size_t size, size_t alignment,
                                   const uint64_t *timeline, void **out_block)
{
    return take(pool, size, alignment, timeline, __builtin_return_address(0), out_block);
}

gyre_status gyre_pool_take_zeroed(gyre_pool *pool, size_t size, void **out_block)
{
    gyre_status status;

    *out_block = NULL;
    if (!(pool->options.source->reach & GYRE_MEMORY_HOST))
        return gyre_fail(GYRE_UNSUPPORTED, "%s: the host cannot zero memory of '%s'", pool->name,
                         pool->options.source->name);
    status = take(pool, size, GYRE_POOL_ALIGNMENT, NULL, __builtin_return_address(0), out_block);
    if (status == GYRE_OK)
        memset(*out_block, 0, size);
    return status;
}

void gyre_pool_give_(gyre_pool *pool, void *block, size_t size, size_t alignment)
{
    const uint32_t stack = gyre_pool_stack_of_(size, alignment);
    gyre_cache *cache;

    if (!block || gyre_process_check() != GYRE_OK)
        return;
    if (pool->track) {
        gyre_track_give(pool, block, size, alignment, __builtin_return_address(0));
        return;
    }
    if (stack == GYRE_POOL_NONE_) {
        gyre_beyond_give(pool, block);
        return;
    }
    cache = pool->depots[stack].cached ? gyre_cache_mine(pool) : NULL;
    if (cache && gyre_pool_push_(&cache->face.stacks[stack], block))
        return; /* as in take_untracked */
    if (!cache || !gyre_cache_make_room(cache, stack) ||
        !gyre_pool_push_(&cache->face.stacks[stack], block))
        gyre_depot_give(pool, &pool->depots[stack], block);
}

gyre_status gyre_pool_give_after(gyre_pool *pool, void *block, size_t size, size_t alignment,
                                 gyre_ticket ticket)
{
    const uint32_t stack = gyre_pool_stack_of_(size, alignment);
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK || !block)
        return status;
    if (pool->track)
        return gyre_track_give_after(pool, block, size, alignment, ticket,
                                     __builtin_return_address(0));
    if (stack == GYRE_POOL_NONE_) {
        gyre_beyond_give_after(pool, block, ticket);
        return GYRE_OK;
    }
    return gyre_depot_give_after(pool, &pool->depots[stack], block, ticket);
}

size_t gyre_pool_trim(gyre_pool *pool)
{
    size_t bytes;

    if (gyre_process_check() != GYRE_OK)
        return 0;
    gyre_cache_empty_mine(pool);
    if (pool->track)
        gyre_track_release(pool);
    bytes = gyre_beyond_sweep(pool);
    for (int i = 0; i < DEPOTS; i++) {
        pthread_mutex_lock(&pool->depots[i].mutex);
        bytes += gyre_slab_trim(pool, &pool->depots[i]);
        pthread_mutex_unlock(&pool->depots[i].mutex);
    }
    return bytes;
}

/* Not below 0, which numbers read one after another may come to. */
static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

gyre_status gyre_pool_describe(gyre_pool *pool, gyre_pool_statistics *out_statistics)
{
    gyre_pool_statistics sum = {.struct_size = out_statistics->struct_size};
    gyre_cache_sum caches[DEPOTS];

    if (sum.struct_size < sizeof sum.struct_size)
        return gyre_fail(GYRE_INVALID, "%s: set struct_size of the statistics", pool->name);
    gyre_caches_sum(pool, caches);
    for (int i = 0; i < DEPOTS; i++) {
        gyre_depot *const depot = &pool->depots[i];
        uint64_t kept, out;

        pthread_mutex_lock(&depot->mutex);
        kept = depot->kept + caches[i].kept + gyre_track_held(pool, depot);
        out = less(depot->cut, depot->lost + depot->waiting_count + kept);
        sum.takes += depot->takes + caches[i].takes;
        sum.misses += depot->misses;
        sum.blocks_out += out;
        sum.bytes_out += out * depot->block_bytes;
        sum.bytes_kept += kept * depot->block_bytes;
        sum.bytes_waiting += depot->waiting_count * depot->block_bytes;
        pthread_mutex_unlock(&depot->mutex);
    }
    pthread_mutex_lock(&pool->books);
    sum.takes += pool->beyond_takes;
    sum.misses += pool->beyond_takes;
    sum.blocks_out += pool->beyond_out;
    sum.bytes_out += pool->beyond_out_bytes;
    sum.bytes_waiting += pool->beyond_waiting_bytes;
    sum.refusals = pool->refusals;
    sum.bytes_drawn = pool->drawn_bytes;
    sum.peak_bytes = pool->peak_bytes;
    pthread_mutex_unlock(&pool->books);
    sum.hits = less(sum.takes, sum.misses);
    memcpy(out_statistics, &sum, sum.struct_size < sizeof sum ? sum.struct_size : sizeof sum);
    return GYRE_OK;
}

static gyre_status face_take(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                             void **out_block)
{
    return gyre_pool_take_aligned(memory->user, size_bytes, alignment, out_block);
}

static void face_give(const gyre_memory *memory, void *block, size_t size_bytes, size_t alignment)
{
    gyre_pool_give_aligned(memory->user, block, size_bytes, alignment);
}

const gyre_memory *gyre_pool_memory(gyre_pool *pool)
{
    return &pool->face;
}

static bool wants_tracking(gyre_pool_track asked)
{
    enum { AUTO, ON, OFF };
#ifdef NDEBUG
    bool wanted = false;
#else
    bool wanted = true;
#endif

    if (asked == GYRE_POOL_TRACK_DEFAULT) {
        const int64_t setting = gyre_settings_number(GYRE_SETTING_POOL_TRACK);

        wanted = setting == AUTO ? wanted : setting == ON;
    } else {
        wanted = asked == GYRE_POOL_TRACK_ON;
    }
    return wanted || gyre_track_is_sanitized();
}

static gyre_status read_options(const gyre_pool_options *options, gyre_pool_options *out_options)
{
    gyre_status status = GYRE_OPTIONS_READ(*out_options, options);

    if (status != GYRE_OK)
        return status;
    if (!out_options->source)
        out_options->source = gyre_memory_host();
    if (!out_options->name)
        out_options->name = "pool";
    if (out_options->thread_bytes == 0)
        out_options->thread_bytes = DEFAULT_THREAD_BYTES;
    if (out_options->limit_bytes == 0)
        out_options->limit_bytes = SIZE_MAX;
    status = gyre_allocator_check(out_options->allocator);
    if (status == GYRE_OK)
        status = gyre_memory_check(out_options->source);
    if (status != GYRE_OK)
        return status;
    if (out_options->limit_bytes < GYRE_POOL_ALIGNMENT ||
        out_options->limit_bytes < out_options->source->grain_bytes)
        return gyre_fail(GYRE_INVALID, "%s: a limit of %zu bytes leaves no block; 0 is no limit",
                         out_options->name, out_options->limit_bytes);
    if (out_options->prefault > 1 || out_options->track > GYRE_POOL_TRACK_OFF)
        return gyre_fail(GYRE_INVALID, "%s: prefault is 0 or 1, track one of its names",
                         out_options->name);
    if (out_options->prefault && !(out_options->source->reach & GYRE_MEMORY_HOST))
        return gyre_fail(GYRE_INVALID, "%s: the host cannot fault memory of '%s' in",
                         out_options->name, out_options->source->name);
    return GYRE_OK;
}

gyre_status gyre_pool_create(const gyre_pool_options *options, gyre_pool **out_pool)
{
    static _Atomic uint32_t serial;
    gyre_status status = gyre_process_use();
    gyre_pool_options read;
    gyre_pool *pool = NULL;
    void *block;

    *out_pool = NULL;
    if (status == GYRE_OK)
        status = read_options(options, &read);
    if (status == GYRE_OK)
        status = gyre_alloc(read.allocator, 1, sizeof *pool, &block);
    if (status != GYRE_OK)
        return status;
    pool = block;
    pool->options = read;
    if (read.allocator) {
        pool->allocator = *read.allocator;
        pool->options.allocator = &pool->allocator;
    }
    snprintf(pool->name, sizeof pool->name, "%s", read.name);
    pool->options.name = pool->name;
    /* relaxed: a number that spreads pools over the table; nothing is published with it */
    pool->front.slot =
        atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed) % GYRE_POOL_THREAD_POOLS_;
    pool->face = (gyre_memory){.struct_size = sizeof pool->face,
                               .name = pool->name,
                               .reach = read.source->reach,
                               .take = face_take,
                               .give = face_give,
                               .user = pool};
    pthread_mutex_init(&pool->books, NULL); /* neither can fail on Linux */
    for (uint32_t i = 0; i < DEPOTS; i++)
        gyre_depot_init(pool, i);
    if (wants_tracking(read.track))
        status = gyre_track_create(pool);
    if (status != GYRE_OK) {
        gyre_pool_destroy(pool);
        return status;
    }
    *out_pool = pool;
    return GYRE_OK;
}

void gyre_pool_destroy(gyre_pool *pool)
{
    /* A child has this memory as it was at some moment of other threads' work, and what the source
     * gave is not the child's: nothing is looked into. */
    if (!pool || gyre_process_check() != GYRE_OK)
        return;
    gyre_caches_forget(pool);
    gyre_track_destroy(pool);
    gyre_beyond_fini(pool);
    for (int i = 0; i < DEPOTS; i++)
        gyre_depot_fini(pool, &pool->depots[i]);
    pthread_mutex_destroy(&pool->books);
    if (pool->options.allocator) {
        const gyre_allocator allocator = pool->allocator; /* it ends with the pool */

        gyre_free(&allocator, pool, 1, sizeof *pool);
    } else {
        gyre_free(NULL, pool, 1, sizeof *pool);
    }
}
