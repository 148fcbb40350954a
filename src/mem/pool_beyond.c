/* SPDX-License-Identifier: Apache-2.0
 *
 * pool_beyond: blocks larger than any class, which the pool only passes on. See mem/pool.h.
 *
 * They are counted, held to the limit, and may wait for a ticket; then the source gets them back.
 * All are listed, so that those that are out when the pool ends go back too. There are few.
 *
 * Threads   any; the pool's books guard the list.
 * Owns      the blocks, until they are given back.
 */
#include "base/alloc.h"
#include "base/fail.h"
#include "gyre/atomic.h"
#include "mem/pool.h"

typedef struct gyre_beyond {
    struct gyre_beyond *next;
    void *block;
    size_t size;
    size_t alignment;
    bool waits; /* for the ticket; otherwise it is out */
    gyre_ticket ticket;
} gyre_beyond;

static size_t at_least_a_line(size_t alignment)
{
    return alignment < GYRE_POOL_ALIGNMENT ? GYRE_POOL_ALIGNMENT : alignment;
}

gyre_status gyre_beyond_take(gyre_pool *pool, size_t size, size_t alignment, void **out_block)
{
    gyre_status status;
    void *memory;
    gyre_beyond *b;

    if (size == 0)
        return gyre_fail(GYRE_INVALID, "%s: a block has at least 1 byte", pool->name);
    if ((alignment & (alignment - 1)) != 0 || alignment - 1 >= GYRE_POOL_ALIGNMENT_MOST)
        return gyre_fail(GYRE_INVALID, "%s: alignment %zu is not a power of two up to %d",
                         pool->name, alignment, GYRE_POOL_ALIGNMENT_MOST);
    if (size > PTRDIFF_MAX)
        return gyre_fail(GYRE_NO_MEMORY, "%s: %zu bytes do not fit the address space", pool->name,
                         size);
    (void)gyre_beyond_sweep(pool);
    status = gyre_alloc(pool->options.allocator, 1, sizeof *b, &memory);
    if (status != GYRE_OK)
        return status;
    b = memory;
    status = gyre_pool_draw(pool, size, at_least_a_line(alignment), out_block);
    if (status != GYRE_OK) {
        gyre_free(pool->options.allocator, b, 1, sizeof *b);
        return status;
    }
    pthread_mutex_lock(&pool->books);
    *b = (gyre_beyond){pool->beyond, *out_block, size, alignment, false, {NULL, 0}};
    pool->beyond = b;
    pool->beyond_takes++;
    pool->beyond_out++;
    pool->beyond_out_bytes += size;
    pthread_mutex_unlock(&pool->books);
    return GYRE_OK;
}

/* With the books' mutex held: where a block that is out is listed; at the end when it is not. */
static gyre_beyond **find(gyre_pool *pool, const void *block)
{
    gyre_beyond **at = &pool->beyond;

    while (*at && ((*at)->block != block || (*at)->waits))
        at = &(*at)->next;
    return at;
}

/* Returns a block that is no longer in the list. */
static void end(gyre_pool *pool, gyre_beyond *b)
{
    gyre_pool_return(pool, b->block, b->size, at_least_a_line(b->alignment));
    gyre_free(pool->options.allocator, b, 1, sizeof *b);
}

void gyre_beyond_give(gyre_pool *pool, void *block)
{
    gyre_beyond **at, *b;

    pthread_mutex_lock(&pool->books);
    at = find(pool, block);
    b = *at;
    if (b) {
        *at = b->next;
        pool->beyond_out--;
        pool->beyond_out_bytes -= b->size;
    }
    pthread_mutex_unlock(&pool->books);
    if (b)
        end(pool, b);
}

void gyre_beyond_give_after(gyre_pool *pool, void *block, gyre_ticket ticket)
{
    gyre_beyond *b;

    pthread_mutex_lock(&pool->books);
    b = *find(pool, block);
    if (b) {
        b->waits = true;
        b->ticket = ticket;
        pool->beyond_out--;
        pool->beyond_out_bytes -= b->size;
        pool->beyond_waiting_bytes += b->size;
    }
    pthread_mutex_unlock(&pool->books);
    (void)gyre_beyond_sweep(pool);
}

/* Unlinks those that are through, or all, and returns them to the source. */
static size_t sweep(gyre_pool *pool, bool all)
{
    gyre_beyond *done = NULL;
    size_t bytes = 0;

    pthread_mutex_lock(&pool->books);
    for (gyre_beyond **at = &pool->beyond; *at;) {
        gyre_beyond *const b = *at;

        if (all || (b->waits && gyre_ticket_is_through(b->ticket))) {
            *at = b->next;
            pool->beyond_waiting_bytes -= b->waits ? b->size : 0;
            b->next = done;
            done = b;
        } else {
            at = &b->next;
        }
    }
    pthread_mutex_unlock(&pool->books);
    while (done) {
        gyre_beyond *const b = done;

        done = b->next;
        bytes += b->size;
        end(pool, b);
    }
    return bytes;
}

size_t gyre_beyond_sweep(gyre_pool *pool)
{
    return sweep(pool, false);
}

void gyre_beyond_fini(gyre_pool *pool)
{
    (void)sweep(pool, true);
}
