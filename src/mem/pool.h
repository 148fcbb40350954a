/* SPDX-License-Identifier: Apache-2.0
 *
 * pool: what the pool's sources share. See gyre/pool.h for the contract.
 *
 *   pool.c        take and give where the way in line ends, and the pool as a whole
 *   pool_cache.c  what a thread keeps: which cache is whose, and how a cache ends
 *   pool_depot.c  what the pool keeps: one depot for each stack of the caches
 *   pool_slab.c   where a depot's blocks are cut from, and how they go back
 *   pool_beyond.c blocks larger than any class
 *   pool_track.c  the books of a pool that is tracked
 *
 * Blocks move between caches and depots in magazines: arrays of block addresses, which change hands
 * whole. A cache has two of a class, the loaded one, whose top take and give move, and one behind
 * it, full or empty, so that a thread at the edge between two does not go to the depot each time.
 *
 * Threads   a cache is its thread's alone, but for the counts that statistics read; a depot has a
 *           mutex, held while the source and the allocator are called, which may be other pools.
 *           Under it the books and the tracker's mutex may be taken, no other lock of the pool
 *           under these, and nothing at all under the mutex of the caches.
 */
#ifndef GYRE_MEM_POOL_H
#define GYRE_MEM_POOL_H

#include <pthread.h>
#include <stdbool.h>

#include "gyre/pool.h"

typedef struct gyre_magazine {
    struct gyre_magazine *next;
    uint32_t count; /* while nobody has it loaded */
    void *blocks[];
} gyre_magazine;

/* What was drawn from the source in one piece. */
typedef struct gyre_slab {
    void *piece;
    size_t bytes;
    unsigned char *first; /* block; they follow each other by the depot's stride */
    uint32_t room;        /* for so many, */
    uint32_t cut;         /* of which so many have been handed out */
} gyre_slab;

typedef struct gyre_waiting {
    void *block;
    gyre_ticket ticket;
} gyre_waiting;

typedef struct gyre_depot {
    pthread_mutex_t mutex;
    size_t block_bytes; /* of the class */
    size_t stride;      /* from block to block */
    uint32_t rounds;    /* blocks with which a magazine is full; one more fits */
    bool cached;        /* threads keep magazines */
    bool spread;        /* the first block of a slab starts at another line each time */
    uint32_t slab_serial;

    /* under the mutex */
    gyre_magazine *filled; /* with one block or more */
    gyre_magazine *empty;
    uint64_t kept; /* blocks in the filled ones */
    bool searched; /* for whole slabs, and none of the blocks came later */
    gyre_slab *slabs;
    size_t slab_count, slab_room;
    size_t open;           /* the slab that has blocks to cut, if there is such a one */
    gyre_waiting *waiting; /* in the order in which they came, from the first on */
    size_t waiting_first, waiting_count, waiting_room;
    uint64_t cut;   /* blocks out of all slabs, less those that went back */
    uint64_t takes; /* that no cache counts */
    uint64_t misses;
    uint64_t lost; /* given when there was no memory for a magazine: out of use until the end */
} gyre_depot;

typedef struct gyre_track gyre_track;

struct gyre_pool {
    gyre_pool_front_ front;
    gyre_pool_options options;
    gyre_allocator allocator; /* where options.allocator points, if it does */
    char name[32];
    gyre_memory face;          /* gyre_pool_memory */
    gyre_track *track;         /* NULL: nobody looks */
    struct gyre_cache *caches; /* both under the mutex of the caches */
    uint32_t leaving;          /* threads that end, and are about to leave their blocks */

    pthread_mutex_t books; /* for what follows */
    uint64_t drawn_bytes, peak_bytes;
    uint64_t refusals;
    uint64_t beyond_takes; /* of blocks larger than any class */
    uint64_t beyond_out, beyond_out_bytes;
    uint64_t beyond_waiting_bytes;
    struct gyre_beyond *beyond; /* those blocks, and those that wait for tickets */

    gyre_depot depots[GYRE_POOL_STACKS_ - 1];
};

/* How large the blocks of a stack are. */
size_t gyre_pool_stack_bytes(uint32_t stack);

/* Moves an array to one of at least twice the room. */
GYRE_MUST_USE gyre_status gyre_pool_grow(gyre_pool *pool, void **array, size_t *room,
                                         size_t element_bytes);

/* Draws from the source, within the limit: GYRE_AGAIN at it. */
GYRE_MUST_USE gyre_status gyre_pool_draw(gyre_pool *pool, size_t bytes, size_t alignment,
                                         void **out_piece);
void gyre_pool_return(gyre_pool *pool, void *piece, size_t bytes, size_t alignment);

/* --- pool_cache.c --- */

typedef struct gyre_cache {
    gyre_pool_cache_ face;
    struct gyre_cache *next_of_thread;
    struct gyre_cache *next_of_pool;
    gyre_magazine *loaded[GYRE_POOL_STACKS_ - 1];
    gyre_magazine *behind[GYRE_POOL_STACKS_ - 1];
    uint32_t behind_count[GYRE_POOL_STACKS_ - 1]; /* blocks in it; statistics read it */
} gyre_cache;

/* This thread's cache of the pool, which from now on is the one that take and give find; made when
 * there is none. NULL when there is no memory for it. */
gyre_cache *gyre_cache_mine(gyre_pool *pool);

/* For a stack that is empty: loads a magazine with blocks; and for one that is full: one with room.
 */
GYRE_MUST_USE gyre_status gyre_cache_refill(gyre_cache *cache, uint32_t stack);
GYRE_MUST_USE bool gyre_cache_make_room(gyre_cache *cache, uint32_t stack);

/* Leaves all that this thread keeps with the depots. */
void gyre_cache_empty_mine(gyre_pool *pool);

/* Ends the caches of all threads, whose blocks go with the pool. */
void gyre_caches_forget(gyre_pool *pool);

/* What all caches keep of a stack, and how many were taken from it. */
typedef struct gyre_cache_sum {
    uint64_t kept;
    uint64_t takes;
} gyre_cache_sum;
void gyre_caches_sum(gyre_pool *pool, gyre_cache_sum out_sums[GYRE_POOL_STACKS_ - 1]);

/* --- pool_depot.c --- */

void gyre_depot_init(gyre_pool *pool, uint32_t stack);
void gyre_depot_fini(gyre_pool *pool, gyre_depot *depot);

/* Changes an empty magazine for one with blocks; or the one that was full for an empty one, NULL
 * when there is no memory for it, and then nothing was changed. */
GYRE_MUST_USE gyre_status gyre_depot_refill(gyre_pool *pool, gyre_depot *depot,
                                            gyre_magazine **magazine);
gyre_magazine *gyre_depot_unload(gyre_pool *pool, gyre_depot *depot, gyre_magazine *full);

/* Takes a magazine for good, with whatever is in it, and the count of what was taken. */
void gyre_depot_keep(gyre_depot *depot, gyre_magazine *magazine, uint64_t takes);

/* Takes a magazine of a pool that ends; nobody else may be using the depot. NULL is a no-op. */
void gyre_depot_discard(gyre_depot *depot, gyre_magazine *magazine);

/* One block, for those who have no cache. */
GYRE_MUST_USE gyre_status gyre_depot_take(gyre_pool *pool, gyre_depot *depot, void **out_block);
void gyre_depot_give(gyre_pool *pool, gyre_depot *depot, void *block);

bool gyre_ticket_is_through(gyre_ticket ticket);
GYRE_MUST_USE gyre_status gyre_depot_give_after(gyre_pool *pool, gyre_depot *depot, void *block,
                                                gyre_ticket ticket);

/* One that waits for a ticket of the timeline, or whose ticket is through. */
bool gyre_depot_take_waiting(gyre_depot *depot, const uint64_t *timeline, void **out_block);

/* With the mutex held: keeps those whose tickets are through; lists all kept blocks, in any order,
 * and their number; keeps `count` of the listed instead, and as few magazines as hold them. */
void gyre_depot_settle(gyre_pool *pool, gyre_depot *depot);
size_t gyre_depot_list(const gyre_depot *depot, void **out_blocks);
void gyre_depot_relist(gyre_pool *pool, gyre_depot *depot, void *const *blocks, size_t count);

/* --- pool_slab.c, all with the depot's mutex held --- */

/* Whether a block can be cut without drawing. */
bool gyre_slab_has_room(const gyre_depot *depot);

/* Cuts up to `most` blocks, one at least, out of the open slab or a new one. */
GYRE_MUST_USE gyre_status gyre_slab_cut(gyre_pool *pool, gyre_depot *depot, uint32_t most,
                                        void **out_blocks, uint32_t *out_count);

/* Returns slabs of which all blocks are kept here; the bytes that went. */
size_t gyre_slab_trim(gyre_pool *pool, gyre_depot *depot);
void gyre_slab_return_all(gyre_pool *pool, gyre_depot *depot);

/* --- pool_beyond.c --- */

/* A block that no stack is for, straight from the source, and back. Says what is wrong with a size
 * or alignment that nothing is for. */
GYRE_MUST_USE gyre_status gyre_beyond_take(gyre_pool *pool, size_t size, size_t alignment,
                                           void **out_block);
void gyre_beyond_give(gyre_pool *pool, void *block);
void gyre_beyond_give_after(gyre_pool *pool, void *block, gyre_ticket ticket);

/* Returns those whose tickets are through, or all of them; the bytes that went. */
size_t gyre_beyond_sweep(gyre_pool *pool);
void gyre_beyond_fini(gyre_pool *pool);

/* --- pool_track.c --- */

/* Whether AddressSanitizer is part of this program. */
bool gyre_track_is_sanitized(void);

GYRE_MUST_USE gyre_status gyre_track_create(gyre_pool *pool);

/* Logs what is still out. Nothing when the pool is not tracked. */
void gyre_track_destroy(gyre_pool *pool);

GYRE_MUST_USE gyre_status gyre_track_take(gyre_pool *pool, size_t size, size_t alignment,
                                          const uint64_t *timeline, const void *place,
                                          void **out_block);
void gyre_track_give(gyre_pool *pool, void *block, size_t size, size_t alignment,
                     const void *place);
GYRE_MUST_USE gyre_status gyre_track_give_after(gyre_pool *pool, void *block, size_t size,
                                                size_t alignment, gyre_ticket ticket,
                                                const void *place);

/* Lets go of the blocks that are held back to see whether somebody writes to them. */
void gyre_track_release(gyre_pool *pool);

/* How many of a depot's blocks those are. */
uint64_t gyre_track_held(gyre_pool *pool, const gyre_depot *depot);

/* For AddressSanitizer, when it is there: nobody, or anybody, may touch these bytes. */
void gyre_track_forbid(const gyre_pool *pool, const void *bytes, size_t size);
void gyre_track_allow(const gyre_pool *pool, const void *bytes, size_t size);

#endif
