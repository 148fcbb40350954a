/* SPDX-License-Identifier: Apache-2.0
 *
 * pool_depot: what the pool keeps of one class, for all threads. See mem/pool.h.
 *
 * Full magazines are changed for empty ones and the other way round; who comes for blocks when
 * there are none gets those whose tickets are through, and last those that are cut anew.
 *
 * Threads   any, under the depot's mutex.
 * Owns      magazines that no cache has, blocks that wait.
 */
#include <string.h>

#include "base/alloc.h"
#include "gyre/atomic.h"
#include "mem/pool.h"

enum {
    MOST_ROUNDS = 256, /* of a magazine, */
    LEAST_ROUNDS = 8,  /* where only the pool has them */
    LOOK_AT_MOST = 16, /* waiting blocks, for one that may be taken */
};

/* Blocks of a power of two compete for the same few sets of a cache: those of 64 KiB and more
 * start an odd number of lines further on each. The lines of a page are a power of two, so it takes
 * all of them to come back to the first. */
static const size_t SPREAD_BYTES = (size_t)5 * 64;

void gyre_depot_init(gyre_pool *pool, uint32_t stack)
{
    gyre_depot *const depot = &pool->depots[stack];
    size_t rounds;

    pthread_mutex_init(&depot->mutex, NULL);
    depot->block_bytes = gyre_pool_stack_bytes(stack);
    depot->spread = stack >= GYRE_POOL_SPREAD_ && stack < GYRE_POOL_CLASSES_ &&
                    (pool->options.source->reach & GYRE_MEMORY_HOST);
    depot->stride = depot->block_bytes + (depot->spread ? SPREAD_BYTES : 0);
    rounds = pool->options.thread_bytes / 2 / depot->block_bytes;
    depot->cached = rounds > 0;
    if (rounds > MOST_ROUNDS)
        rounds = MOST_ROUNDS;
    depot->rounds = depot->cached ? (uint32_t)rounds : LEAST_ROUNDS;
}

static size_t magazine_bytes(const gyre_depot *depot)
{
    return sizeof(gyre_magazine) + (depot->rounds + 1) * sizeof(void *);
}

static void free_magazines(gyre_pool *pool, gyre_depot *depot, gyre_magazine **list)
{
    while (*list) {
        gyre_magazine *const magazine = *list;

        *list = magazine->next;
        gyre_free(pool->options.allocator, magazine, 1, magazine_bytes(depot));
    }
}

void gyre_depot_fini(gyre_pool *pool, gyre_depot *depot)
{
    const gyre_allocator *const allocator = pool->options.allocator;

    gyre_slab_return_all(pool, depot);
    free_magazines(pool, depot, &depot->filled);
    free_magazines(pool, depot, &depot->empty);
    if (depot->waiting)
        gyre_free(allocator, depot->waiting, depot->waiting_room, sizeof *depot->waiting);
    pthread_mutex_destroy(&depot->mutex);
}

/* An empty one. NULL when there is no memory for it. */
static gyre_magazine *magazine_for(gyre_pool *pool, gyre_depot *depot)
{
    gyre_magazine *magazine = depot->empty;
    void *block;

    if (magazine) {
        depot->empty = magazine->next;
        return magazine;
    }
    if (gyre_alloc(pool->options.allocator, 1, magazine_bytes(depot), &block) != GYRE_OK)
        return NULL;
    magazine = block;
    return magazine;
}

static void put_away(gyre_depot *depot, gyre_magazine *magazine)
{
    gyre_magazine **const list = magazine->count > 0 ? &depot->filled : &depot->empty;

    depot->kept += magazine->count;
    depot->searched = depot->searched && magazine->count == 0;
    magazine->next = *list;
    *list = magazine;
}

bool gyre_ticket_is_through(gyre_ticket ticket)
{
    /* acquire [pool-ticket]: pairs with the release store by which somebody completed the work.
     * What that did with the block is done before the next taker has it. */
    return !ticket.completed || gyre_load_acquire(ticket.completed) >= ticket.value;
}

/* Of the first few waiting blocks, one that may be taken, or NULL. They are few, so that the wait
 * for the lock is short, and the first, because tickets are through in about their order. A block
 * of the timeline may be any of them, since that is promised. */
static void *from_waiting(gyre_depot *depot, const uint64_t *timeline)
{
    for (size_t i = 0; i < depot->waiting_count && (timeline || i < LOOK_AT_MOST); i++) {
        gyre_waiting *const first = &depot->waiting[depot->waiting_first];
        const gyre_waiting found = first[i];

        if ((timeline && found.ticket.completed == timeline) ||
            (i < LOOK_AT_MOST && gyre_ticket_is_through(found.ticket))) {
            memmove(first + 1, first, i * sizeof found);
            depot->waiting_first++;
            depot->waiting_count--;
            return found.block;
        }
    }
    return NULL;
}

/* The last block of the first magazine, which is put away when it has no more. */
static void *from_filled(gyre_depot *depot)
{
    gyre_magazine *const magazine = depot->filled;
    void *const block = magazine->blocks[--magazine->count];

    depot->kept--;
    if (magazine->count == 0) {
        depot->filled = magazine->next;
        put_away(depot, magazine);
    }
    return block;
}

static void *from_here(gyre_depot *depot)
{
    return depot->filled ? from_filled(depot) : from_waiting(depot, NULL);
}

/* The same, but before anything is drawn from the source every ticket is looked at: the first few
 * may be of somebody who has stopped, and then the pool would grow and grow. */
static void *from_all_here(gyre_pool *pool, gyre_depot *depot)
{
    void *const block = from_here(depot);

    if (block || gyre_slab_has_room(depot))
        return block;
    gyre_depot_settle(pool, depot);
    return from_here(depot);
}

/* Fills an empty magazine with up to `most` blocks, one at least. */
static gyre_status fill(gyre_pool *pool, gyre_depot *depot, gyre_magazine *magazine, uint32_t most)
{
    void *block = from_all_here(pool, depot);

    magazine->count = 0;
    if (!block)
        return gyre_slab_cut(pool, depot, most, magazine->blocks, &magazine->count);
    magazine->blocks[magazine->count++] = block;
    while (magazine->count < most && (block = from_here(depot)))
        magazine->blocks[magazine->count++] = block;
    return GYRE_OK;
}

gyre_status gyre_depot_refill(gyre_pool *pool, gyre_depot *depot, gyre_magazine **magazine)
{
    gyre_status status = GYRE_OK;

    pthread_mutex_lock(&depot->mutex);
    if (depot->filled) {
        gyre_magazine *const filled = depot->filled;

        depot->filled = filled->next;
        depot->kept -= filled->count;
        if (*magazine) {
            (*magazine)->count = 0;
            put_away(depot, *magazine);
        }
        *magazine = filled;
    } else {
        if (!*magazine)
            *magazine = magazine_for(pool, depot);
        status = *magazine ? fill(pool, depot, *magazine, depot->rounds) : GYRE_NO_MEMORY;
    }
    pthread_mutex_unlock(&depot->mutex);
    return status;
}

gyre_magazine *gyre_depot_unload(gyre_pool *pool, gyre_depot *depot, gyre_magazine *full)
{
    gyre_magazine *empty;

    pthread_mutex_lock(&depot->mutex);
    empty = magazine_for(pool, depot);
    if (empty && full)
        put_away(depot, full);
    pthread_mutex_unlock(&depot->mutex);
    return empty;
}

void gyre_depot_keep(gyre_depot *depot, gyre_magazine *magazine, uint64_t takes)
{
    if (!magazine && takes == 0)
        return;
    pthread_mutex_lock(&depot->mutex);
    depot->takes += takes;
    if (magazine)
        put_away(depot, magazine);
    pthread_mutex_unlock(&depot->mutex);
}

void gyre_depot_discard(gyre_depot *depot, gyre_magazine *magazine)
{
    if (magazine) {
        magazine->next = depot->empty;
        depot->empty = magazine;
    }
}

bool gyre_depot_take_waiting(gyre_depot *depot, const uint64_t *timeline, void **out_block)
{
    pthread_mutex_lock(&depot->mutex);
    *out_block = from_waiting(depot, timeline);
    depot->takes += *out_block ? 1 : 0;
    pthread_mutex_unlock(&depot->mutex);
    return *out_block != NULL;
}

gyre_status gyre_depot_take(gyre_pool *pool, gyre_depot *depot, void **out_block)
{
    gyre_status status = GYRE_OK;
    uint32_t count;

    pthread_mutex_lock(&depot->mutex);
    *out_block = from_all_here(pool, depot);
    if (!*out_block)
        status = gyre_slab_cut(pool, depot, 1, out_block, &count);
    depot->takes += status == GYRE_OK;
    pthread_mutex_unlock(&depot->mutex);
    return status;
}

/* Under the mutex. False when there is no memory for a magazine. */
static bool keep_one(gyre_pool *pool, gyre_depot *depot, void *block)
{
    gyre_magazine *magazine = depot->filled;

    if (!magazine || magazine->count > depot->rounds) {
        magazine = magazine_for(pool, depot);
        if (!magazine)
            return false;
        magazine->count = 0;
        magazine->next = depot->filled;
        depot->filled = magazine;
    }
    magazine->blocks[magazine->count++] = block;
    depot->kept++;
    depot->searched = false;
    return true;
}

void gyre_depot_give(gyre_pool *pool, gyre_depot *depot, void *block)
{
    pthread_mutex_lock(&depot->mutex);
    depot->lost += !keep_one(pool, depot, block);
    pthread_mutex_unlock(&depot->mutex);
}

void gyre_depot_settle(gyre_pool *pool, gyre_depot *depot)
{
    size_t left = 0;

    for (size_t i = 0; i < depot->waiting_count; i++) {
        gyre_waiting waiting = depot->waiting[depot->waiting_first + i];

        if (gyre_ticket_is_through(waiting.ticket)) {
            if (keep_one(pool, depot, waiting.block))
                continue;
            waiting.ticket.completed = NULL; /* which from here on is no longer looked at */
        }
        depot->waiting[left++] = waiting;
    }
    depot->waiting_first = 0;
    depot->waiting_count = left;
}

/* Room for one more behind the last: by moving all to the front when half of the array is unused,
 * so that each is moved once on average, or to a larger array. */
static gyre_status make_waiting_room(gyre_pool *pool, gyre_depot *depot)
{
    if (depot->waiting_first + depot->waiting_count < depot->waiting_room)
        return GYRE_OK;
    if (depot->waiting_count > depot->waiting_room / 2 || depot->waiting_room == 0)
        return gyre_pool_grow(pool, (void **)&depot->waiting, &depot->waiting_room,
                              sizeof *depot->waiting);
    memmove(depot->waiting, depot->waiting + depot->waiting_first,
            depot->waiting_count * sizeof *depot->waiting);
    depot->waiting_first = 0;
    return GYRE_OK;
}

gyre_status gyre_depot_give_after(gyre_pool *pool, gyre_depot *depot, void *block,
                                  gyre_ticket ticket)
{
    gyre_status status;

    pthread_mutex_lock(&depot->mutex);
    status = make_waiting_room(pool, depot);
    if (status == GYRE_OK)
        depot->waiting[depot->waiting_first + depot->waiting_count++] =
            (gyre_waiting){block, ticket};
    pthread_mutex_unlock(&depot->mutex);
    return status;
}

size_t gyre_depot_list(const gyre_depot *depot, void **out_blocks)
{
    size_t count = 0;

    for (const gyre_magazine *m = depot->filled; m; m = m->next) {
        memcpy(out_blocks + count, m->blocks, m->count * sizeof *out_blocks);
        count += m->count;
    }
    return count;
}

void gyre_depot_relist(gyre_pool *pool, gyre_depot *depot, void *const *blocks, size_t count)
{
    gyre_magazine *next = depot->filled;

    depot->filled = NULL;
    depot->kept = 0;
    while (next) {
        gyre_magazine *const magazine = next;

        next = magazine->next;
        magazine->count = 0;
        put_away(depot, magazine);
    }
    for (size_t i = 0; i < count; i++)
        (void)keep_one(pool, depot, blocks[i]); /* into those: there is room for them */
    free_magazines(pool, depot, &depot->empty);
}
