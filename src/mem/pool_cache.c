/* SPDX-License-Identifier: Apache-2.0
 *
 * pool_cache: what a thread keeps of a pool, and whose cache is which. See mem/pool.h.
 *
 * A thread has a list of its caches, one for each pool that it used, and a small table of those
 * used last, where take and give look. A cache ends with its thread, which leaves its blocks with
 * the pool; or its pool ends first, and then the cache only forgets it, for its thread may be
 * looking: what is left of it goes when that thread next looks for a cache, or ends. So a cache is
 * not the pool's allocator's: it may outlive that.
 *
 * Threads   `caches` guards the lists of all pools, and whether a cache has a pool still. No other
 *           lock is taken and nothing is called while it is held: a pool's allocator and source
 *           may be other pools. All else in a cache is its thread's, but for the counts, which are
 *           written whole.
 * Owns      the caches, and the magazines in them.
 */
#include "base/alloc.h"
#include "base/process.h"
#include "mem/pool.h"

#define BLOCKS_OF(word) ((uint16_t)(word))
#define TAKES_OF(word) ((word) >> 16)

enum { DEPOTS = GYRE_POOL_STACKS_ - 1 };

static gyre_pool_cache_ none; /* of no pool */

__thread gyre_pool_cache_ *gyre_pool_caches_[GYRE_POOL_THREAD_POOLS_] = {
    &none, &none, &none, &none, &none, &none, &none, &none,
};
static __thread gyre_cache *mine __attribute__((tls_model("initial-exec")));
/* This thread has ended its caches; what other destructors of it take and give is the depots'. */
static __thread bool ended __attribute__((tls_model("initial-exec")));

static pthread_mutex_t caches = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t somebody_left = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* whose destructor is called for threads that set it */
static bool has_key;

static gyre_pool *pool_of(const gyre_cache *cache)
{
    /* relaxed: it only becomes NULL, in gyre_caches_forget, when nobody uses that pool */
    return __atomic_load_n(&cache->face.pool, __ATOMIC_RELAXED);
}

static void forget_table(void)
{
    for (int i = 0; i < GYRE_POOL_THREAD_POOLS_; i++)
        gyre_pool_caches_[i] = &none;
}

/* relaxed, both: only the cache's thread writes; statistics may see them late */
static void set_word(gyre_pool_stack_ *stack, uint64_t word)
{
    __atomic_store_n(&stack->word, word, __ATOMIC_RELAXED);
}

static void set_behind(gyre_cache *cache, uint32_t stack, gyre_magazine *magazine, uint32_t count)
{
    cache->behind[stack] = magazine;
    __atomic_store_n(&cache->behind_count[stack], count, __ATOMIC_RELAXED);
}

static void load(gyre_cache *cache, uint32_t stack, gyre_magazine *magazine, uint32_t count)
{
    gyre_pool_stack_ *const face = &cache->face.stacks[stack];

    cache->loaded[stack] = magazine;
    face->blocks = magazine ? magazine->blocks : NULL;
    face->most = magazine ? pool_of(cache)->depots[stack].rounds : 0;
    set_word(face, (face->word & ~(uint64_t)0xffff) + count);
}

/* Leaves a stack's magazines, and the count of what was taken, with the depot. */
static void leave(gyre_cache *cache, gyre_pool *pool, uint32_t stack)
{
    gyre_pool_stack_ *const face = &cache->face.stacks[stack];
    gyre_magazine *const loaded = cache->loaded[stack], *const behind = cache->behind[stack];
    const uint64_t takes = TAKES_OF(face->word);
    void *const last = face->last;

    if (loaded) {
        loaded->count = BLOCKS_OF(face->word);
        if (last)
            loaded->blocks[loaded->count++] = last; /* there is room for one more */
    }
    if (behind)
        behind->count = cache->behind_count[stack];
    set_behind(cache, stack, NULL, 0);
    load(cache, stack, NULL, 0);
    set_word(face, 0);
    __atomic_store_n(&face->last, NULL, __ATOMIC_RELAXED); /* relaxed, as the word */
    gyre_depot_keep(&pool->depots[stack], loaded, takes);
    gyre_depot_keep(&pool->depots[stack], behind, 0);
}

/* The pool of a cache whose thread ends, which now waits for gyre_cache_left; NULL: it is gone. */
static gyre_pool *unlink_from_pool(gyre_cache *cache)
{
    gyre_pool *pool;

    pthread_mutex_lock(&caches);
    pool = pool_of(cache);
    if (pool) {
        gyre_cache **at = &pool->caches;

        while (*at != cache)
            at = &(*at)->next_of_pool;
        *at = cache->next_of_pool;
        pool->leaving++;
    }
    pthread_mutex_unlock(&caches);
    return pool;
}

static void has_left(gyre_pool *pool)
{
    pthread_mutex_lock(&caches);
    pool->leaving--;
    pthread_cond_broadcast(&somebody_left);
    pthread_mutex_unlock(&caches);
}

static void end_of_thread(void *first)
{
    gyre_cache *cache = first;

    if (gyre_process_check() != GYRE_OK)
        return; /* the lock may be held by a thread that is not in this process */
    forget_table();
    mine = NULL;
    ended = true;
    while (cache) {
        gyre_cache *const next = cache->next_of_thread;
        gyre_pool *const pool = unlink_from_pool(cache);

        if (pool) {
            for (uint32_t i = 0; i < DEPOTS; i++)
                leave(cache, pool, i);
            has_left(pool);
        }
        gyre_free(NULL, cache, 1, sizeof *cache);
        cache = next;
    }
}

static void first_cache(void)
{
    has_key = pthread_key_create(&key, end_of_thread) == 0;
    (void)pthread_atfork(NULL, NULL, forget_table); /* the child asks, and is refused */
}

static gyre_cache *make(gyre_pool *pool)
{
    gyre_cache *cache;
    void *block;

    pthread_once(&once, first_cache);
    if (!has_key || gyre_alloc(NULL, 1, sizeof *cache, &block) != GYRE_OK)
        return NULL;
    cache = block;
    cache->next_of_thread = mine;
    if (pthread_setspecific(key, cache) != 0) {
        gyre_free(NULL, cache, 1, sizeof *cache);
        return NULL;
    }
    mine = cache;
    pthread_mutex_lock(&caches);
    __atomic_store_n(&cache->face.pool, pool, __ATOMIC_RELAXED); /* relaxed: see pool_of */
    cache->next_of_pool = pool->caches;
    pool->caches = cache;
    pthread_mutex_unlock(&caches);
    return cache;
}

/* Ends this thread's caches whose pools are gone. Under the mutex, since gyre_caches_forget still
 * goes on from a cache that it has made forget its pool. */
static void drop_forgotten(void)
{
    gyre_cache *dropped = NULL;

    pthread_mutex_lock(&caches);
    for (gyre_cache **at = &mine; *at;) {
        gyre_cache *const cache = *at;

        if (pool_of(cache)) {
            at = &cache->next_of_thread;
            continue;
        }
        for (int i = 0; i < GYRE_POOL_THREAD_POOLS_; i++)
            if (gyre_pool_caches_[i] == &cache->face)
                gyre_pool_caches_[i] = &none;
        *at = cache->next_of_thread;
        cache->next_of_thread = dropped;
        dropped = cache;
    }
    pthread_mutex_unlock(&caches);
    if (dropped) /* so there is a key */
        (void)pthread_setspecific(key, mine);
    while (dropped) {
        gyre_cache *const cache = dropped;

        dropped = cache->next_of_thread;
        gyre_free(NULL, cache, 1, sizeof *cache);
    }
}

gyre_cache *gyre_cache_mine(gyre_pool *pool)
{
    gyre_cache *cache = (gyre_cache *)(void *)gyre_pool_cache_of_(pool);

    if (pool_of(cache) == pool)
        return cache;
    for (cache = mine; cache && pool_of(cache) != pool; cache = cache->next_of_thread)
        ;
    if (!cache && !ended) {
        drop_forgotten();
        cache = make(pool);
    }
    if (cache)
        gyre_pool_caches_[pool->front.slot] = &cache->face;
    return cache;
}

gyre_status gyre_cache_refill(gyre_cache *cache, uint32_t stack)
{
    gyre_pool *const pool = pool_of(cache);
    gyre_depot *const depot = &pool->depots[stack];
    gyre_magazine *loaded = cache->loaded[stack];
    gyre_status status;

    if (cache->behind_count[stack] > 0) {
        gyre_magazine *const behind = cache->behind[stack];
        const uint32_t count = cache->behind_count[stack];

        set_behind(cache, stack, loaded, 0);
        load(cache, stack, behind, count);
        return GYRE_OK;
    }
    status = gyre_depot_refill(pool, depot, &loaded);
    load(cache, stack, loaded, status == GYRE_OK ? loaded->count : 0);
    return status;
}

bool gyre_cache_make_room(gyre_cache *cache, uint32_t stack)
{
    gyre_pool *const pool = pool_of(cache);
    gyre_depot *const depot = &pool->depots[stack];
    gyre_magazine *const loaded = cache->loaded[stack], *const behind = cache->behind[stack];
    gyre_magazine *fresh;

    if (behind && cache->behind_count[stack] == 0) {
        fresh = behind;
    } else {
        /* the one behind is full, or there is none */
        if (behind)
            behind->count = cache->behind_count[stack];
        fresh = gyre_depot_unload(pool, depot, behind);
        if (!fresh)
            return false;
    }
    set_behind(cache, stack, loaded, BLOCKS_OF(cache->face.stacks[stack].word));
    load(cache, stack, fresh, 0);
    return true;
}

void gyre_cache_empty_mine(gyre_pool *pool)
{
    gyre_cache *cache = mine;

    while (cache && pool_of(cache) != pool)
        cache = cache->next_of_thread;
    for (uint32_t i = 0; cache && i < DEPOTS; i++)
        if (cache->loaded[i])
            leave(cache, pool, i);
}

void gyre_caches_forget(gyre_pool *pool)
{
    pthread_mutex_lock(&caches);
    while (pool->leaving > 0)
        pthread_cond_wait(&somebody_left, &caches);
    for (gyre_cache *cache = pool->caches; cache; cache = cache->next_of_pool) {
        for (uint32_t i = 0; i < DEPOTS; i++) {
            gyre_depot_discard(&pool->depots[i], cache->loaded[i]);
            gyre_depot_discard(&pool->depots[i], cache->behind[i]);
        }
        /* relaxed: its thread cannot have a pool at this address before it hears of one, which
         * orders this store before */
        __atomic_store_n(&cache->face.pool, NULL, __ATOMIC_RELAXED);
    }
    pool->caches = NULL;
    pthread_mutex_unlock(&caches);
}

void gyre_caches_sum(gyre_pool *pool, gyre_cache_sum out_sums[DEPOTS])
{
    for (int i = 0; i < DEPOTS; i++)
        out_sums[i] = (gyre_cache_sum){0};
    pthread_mutex_lock(&caches);
    for (const gyre_cache *cache = pool->caches; cache; cache = cache->next_of_pool)
        for (int i = 0; i < DEPOTS; i++) {
            /* relaxed: numbers for people */
            const uint64_t word = __atomic_load_n(&cache->face.stacks[i].word, __ATOMIC_RELAXED);
            const void *last = __atomic_load_n(&cache->face.stacks[i].last, __ATOMIC_RELAXED);

            out_sums[i].takes += TAKES_OF(word);
            out_sums[i].kept += BLOCKS_OF(word) + (last ? 1 : 0) +
                                __atomic_load_n(&cache->behind_count[i], __ATOMIC_RELAXED);
        }
    pthread_mutex_unlock(&caches);
}
