/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads keep of which pool: more pools than a thread has places for, pools that end while
 * threads still keep blocks of them, and threads that end before their pools.
 */
#include "mem/pool_fake.h"

enum { POOLS = 21, BLOCKS = 24, RECYCLED = 256 };

/* Alternates between so many that each use finds another pool's blocks in the thread's place. */
static void many_pools_of_a_thread_stay_apart(void)
{
    static fake_source sources[POOLS];
    static void *blocks[POOLS][BLOCKS];
    gyre_pool *pools[POOLS];

    for (size_t i = 0; i < POOLS; i++) {
        fake_source_init(&sources[i], FAKE_HEAP);
        pools[i] = fake_pool(&sources[i], (gyre_pool_options){.track = track});
        REQUIRE(pools[i]);
    }
    for (size_t round = 0; round < 20; round++) {
        const size_t size = round % 2 ? 64 : 5000, step = round % 3 ? 1 : 8;

        for (size_t k = 0; k < BLOCKS; k++)
            for (size_t i = 0, p = 0; i < POOLS; i++, p = (p + step) % POOLS) {
                blocks[p][k] = fake_block(pools[p], size, 64);
                REQUIRE(fake_owns(&sources[p], blocks[p][k], size));
                fake_mark(blocks[p][k], size, p * BLOCKS + k);
            }
        for (size_t i = 0; i < POOLS; i++)
            CHECK(fake_statistics(pools[i]).blocks_out == BLOCKS);
        for (size_t k = 0; k < BLOCKS; k++)
            for (size_t p = 0; p < POOLS; p++) {
                CHECK(fake_is_marked(blocks[p][k], size, p * BLOCKS + k));
                gyre_pool_give(pools[p], blocks[p][k], size);
            }
        for (size_t i = 0; i < POOLS; i++) {
            const gyre_pool_statistics s = fake_statistics(pools[i]);

            CHECK(s.blocks_out == 0 && s.takes == (round + 1) * BLOCKS);
            CHECK(s.bytes_drawn == sources[i].out_bytes);
        }
    }
    for (size_t i = 0; i < POOLS; i++) {
        (void)gyre_pool_trim(pools[i]);
        CHECK(sources[i].count == 0);
        gyre_pool_destroy(pools[i]);
        fake_source_fini(&sources[i]);
    }
}
ALSO_TRACKED(many_pools_of_a_thread_stay_apart)

/* An allocator that gives what was released last, so that a new pool is where the old one was. */
typedef struct recycler {
    pthread_mutex_t mutex;
    struct {
        void *block;
        size_t size;
    } idle[RECYCLED];
    size_t count;
    int64_t out;
} recycler;

static void *recycle_allocate(void *user, size_t size, size_t alignment)
{
    recycler *r = user;
    void *block = NULL;

    pthread_mutex_lock(&r->mutex);
    for (size_t i = r->count; i > 0 && !block; i--)
        if (r->idle[i - 1].size == size && (uintptr_t)r->idle[i - 1].block % alignment == 0) {
            block = r->idle[i - 1].block;
            r->idle[i - 1] = r->idle[--r->count];
        }
    r->out++;
    pthread_mutex_unlock(&r->mutex);
    return block ? block : aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void recycle_release(void *user, void *block, size_t size)
{
    recycler *r = user;

    pthread_mutex_lock(&r->mutex);
    r->out--;
    if (r->count < RECYCLED) {
        r->idle[r->count].size = size;
        r->idle[r->count++].block = block;
        block = NULL;
    }
    pthread_mutex_unlock(&r->mutex);
    free(block);
}

static void recycler_fini(recycler *r)
{
    CHECK(r->out == 0);
    while (r->count > 0)
        free(r->idle[--r->count].block);
}

/* Takes some, which must be of this source, and gives them. */
static void use(gyre_pool *pool, fake_source *source)
{
    static const size_t sizes[] = {64, 1000, 70000};
    void *blocks[COUNT(sizes)][4];

    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < 4; k++) {
            blocks[i][k] = fake_block(pool, sizes[i], 64);
            CHECK(blocks[i][k] && fake_owns(source, blocks[i][k], sizes[i]));
            if (blocks[i][k])
                fake_mark(blocks[i][k], sizes[i], i);
        }
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < 4; k++)
            gyre_pool_give(pool, blocks[i][k], sizes[i]);
}

/* Pools that follow each other, of which a second thread uses each too. */
typedef struct succession {
    recycler recycler;
    gyre_allocator allocator;
    fake_source source;
    gyre_pool *pool;
    pthread_barrier_t step;
    bool over;
    void *blocks[256]; /* on their way from one thread to the other */
} succession;

static void *follow(void *arg)
{
    succession *s = arg;

    for (;;) {
        pthread_barrier_wait(&s->step); /* there is a pool, or it is over */
        if (s->over)
            return NULL;
        use(s->pool, &s->source);
        pthread_barrier_wait(&s->step);
    }
}

static void pool_at_an_old_ones_address_starts_empty(void)
{
    static succession s;
    gyre_pool *before = NULL;
    size_t same = 0;
    pthread_t other;

    s = (succession){.recycler = {.mutex = PTHREAD_MUTEX_INITIALIZER},
                     .allocator = {recycle_allocate, recycle_release, &s.recycler}};
    pthread_barrier_init(&s.step, NULL, 2);
    REQUIRE(pthread_create(&other, NULL, follow, &s) == 0);
    for (size_t round = 0; round < 60; round++) {
        fake_source_init(&s.source, FAKE_HEAP);
        s.pool =
            fake_pool(&s.source, (gyre_pool_options){.allocator = &s.allocator, .track = track});
        if (!s.pool)
            abort();
        same += s.pool == before;
        before = s.pool;
        CHECK(fake_statistics(s.pool).bytes_drawn == 0 && fake_statistics(s.pool).takes == 0);
        if (round % 3 != 0)
            use(s.pool, &s.source);
        pthread_barrier_wait(&s.step);
        pthread_barrier_wait(&s.step);
        if (round % 3 != 1)
            use(s.pool, &s.source);
        CHECK(fake_statistics(s.pool).blocks_out == 0);
        CHECK(fake_statistics(s.pool).takes == (round % 3 == 2 ? 36 : 24));
        gyre_pool_destroy(s.pool);
        fake_source_fini(&s.source);
    }
    s.over = true;
    pthread_barrier_wait(&s.step);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&s.step);
    recycler_fini(&s.recycler);
    if (same == 0)
        SKIP("no pool came to be where another had been");
}
ALSO_TRACKED(pool_at_an_old_ones_address_starts_empty)

/* A thread and what it does; it comes by the barrier when told to. */
typedef struct worker {
    gyre_pool *pool;
    fake_source *source;
    size_t size, count;
    pthread_barrier_t *kept; /* NULL: ends at once */
} worker;

static void *keep_and_end(void *arg)
{
    const worker *w = arg;
    void **blocks = malloc(w->count * sizeof *blocks);

    for (size_t i = 0; blocks && i < w->count; i++)
        blocks[i] = fake_block(w->pool, w->size, 64);
    for (size_t i = 0; blocks && i < w->count; i++)
        gyre_pool_give(w->pool, blocks[i], w->size);
    free(blocks);
    if (w->kept) {
        pthread_barrier_wait(w->kept);
        pthread_barrier_wait(w->kept);
    }
    return NULL;
}

static void what_a_thread_kept_is_the_pools_when_it_ends(void)
{
    fake_source source;
    gyre_pool *pool;

    if (FAKE_ASAN)
        SKIP("a pool that is tracked holds blocks back");
    fake_source_init(&source, FAKE_PAGES);
    pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(pool);
    for (size_t size = 1; size < 2 * MIB; size = size * 4 + 1) {
        worker w = {.pool = pool, .source = &source, .size = size, .count = 40};
        uint64_t drawn = 0;

        for (int round = 0; round < 5; round++) {
            pthread_t thread;

            REQUIRE(pthread_create(&thread, NULL, keep_and_end, &w) == 0);
            pthread_join(thread, NULL);
            if (round == 0)
                drawn = source.takes;
            CHECK(source.takes == drawn); /* the next thread has those of the last */
        }
        CHECK(fake_statistics(pool).blocks_out == 0);
        CHECK(fake_statistics(pool).bytes_kept >= 40 * fake_class_bytes(size, 1));
        (void)gyre_pool_trim(pool);
        CHECK(source.count == 0);
    }
    CHECK(fake_statistics(pool).takes == fake_statistics(pool).hits + fake_statistics(pool).misses);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

/* Blocks so large that each was drawn alone: what trimming leaves is what the thread keeps. */
static void thread_keeps_no_more_than_it_may(void)
{
    static const struct {
        size_t thread_bytes, at_most;
    } limits[] = {{0, 0}, {1, 0}, {31 * MIB, 0}, {32 * MIB, 3}, {64 * MIB, 5}, {96 * MIB, 7}};

    for (size_t i = 0; i < COUNT(limits); i++) {
        fake_source source;
        pthread_barrier_t kept;
        worker w = {.source = &source, .size = 16 * MIB, .count = 12, .kept = &kept};
        pthread_t thread;

        fake_source_init(&source, FAKE_PAGES);
        pthread_barrier_init(&kept, NULL, 2);
        w.pool = fake_pool(&source, (gyre_pool_options){.thread_bytes = limits[i].thread_bytes,
                                                        .track = GYRE_POOL_TRACK_OFF});
        REQUIRE(w.pool);
        REQUIRE(pthread_create(&thread, NULL, keep_and_end, &w) == 0);
        pthread_barrier_wait(&kept);
        CHECK(fake_statistics(w.pool).blocks_out == 0 && fake_statistics(w.pool).takes == w.count);
        (void)gyre_pool_trim(w.pool);
        CHECK(source.count <= limits[i].at_most);
        pthread_barrier_wait(&kept);
        pthread_join(thread, NULL);
        (void)gyre_pool_trim(w.pool);
        CHECK(source.count == 0);
        gyre_pool_destroy(w.pool);
        pthread_barrier_destroy(&kept);
        fake_source_fini(&source);
    }
}

/* The thread ends after the pool, with what it kept of it. */
static void thread_may_end_after_the_pool(void)
{
    fake_source source;
    pthread_barrier_t kept;
    worker w = {.source = &source, .size = 500, .count = 100, .kept = &kept};
    pthread_t threads[4];

    fake_source_init(&source, FAKE_HEAP);
    pthread_barrier_init(&kept, NULL, 5);
    w.pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(w.pool);
    for (size_t i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, keep_and_end, &w) == 0);
    pthread_barrier_wait(&kept);
    CHECK(fake_statistics(w.pool).blocks_out == 0 && fake_statistics(w.pool).takes == 400);
    gyre_pool_destroy(w.pool);
    fake_source_fini(&source);
    pthread_barrier_wait(&kept);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&kept);
}
ALSO_TRACKED(thread_may_end_after_the_pool)

static void *give_them(void *arg)
{
    succession *s = arg;

    pthread_barrier_wait(&s->step);
    while (!s->over) {
        for (size_t i = 0; i < COUNT(s->blocks); i++) {
            CHECK(fake_is_marked(s->blocks[i], 256, i));
            gyre_pool_give(s->pool, s->blocks[i], 256);
        }
        pthread_barrier_wait(&s->step);
        pthread_barrier_wait(&s->step);
    }
    return NULL;
}

/* One takes, another gives: the pool does not grow for ever. */
static void blocks_given_elsewhere_come_home(void)
{
    static succession s;
    pthread_t other;

    s = (succession){.over = false};
    fake_source_init(&s.source, FAKE_HEAP);
    s.pool = fake_pool(&s.source, (gyre_pool_options){.track = track});
    REQUIRE(s.pool);
    pthread_barrier_init(&s.step, NULL, 2);
    REQUIRE(pthread_create(&other, NULL, give_them, &s) == 0);
    for (int round = 0; round < 400; round++) {
        for (size_t i = 0; i < COUNT(s.blocks); i++) {
            s.blocks[i] = fake_block(s.pool, 256, 64);
            fake_mark(s.blocks[i], 256, i);
        }
        pthread_barrier_wait(&s.step);
        pthread_barrier_wait(&s.step);
    }
    s.over = true;
    pthread_barrier_wait(&s.step);
    pthread_join(other, NULL);
    CHECK(s.source.peak_bytes <= 8 * MIB); /* of 25 that were taken */
    CHECK(fake_statistics(s.pool).blocks_out == 0);
    (void)gyre_pool_trim(s.pool);
    CHECK(s.source.count == 0);
    gyre_pool_destroy(s.pool);
    fake_source_fini(&s.source);
    pthread_barrier_destroy(&s.step);
}
ALSO_TRACKED(blocks_given_elsewhere_come_home)

/* Uses each pool that it is shown once, and goes on with others of its own. */
static void *pass_by(void *arg)
{
    succession *s = arg;

    for (;;) {
        fake_source source;
        gyre_pool *own;

        pthread_barrier_wait(&s->step);
        if (s->over)
            return NULL;
        use(s->pool, &s->source);
        fake_source_init(&source, FAKE_HEAP);
        own = fake_pool(&source, (gyre_pool_options){.track = track});
        pthread_barrier_wait(&s->step); /* from here on the other may end its pool */
        if (own)
            use(own, &source);
        gyre_pool_destroy(own);
        fake_source_fini(&source);
    }
}

/* A pool may end when nobody uses it, whatever those who did are doing with others. */
static void pool_may_end_while_its_threads_use_others(void)
{
    static succession s;
    pthread_t threads[3];

    s = (succession){.over = false};
    pthread_barrier_init(&s.step, NULL, 1 + COUNT(threads));
    for (size_t i = 0; i < COUNT(threads); i++)
        if (pthread_create(&threads[i], NULL, pass_by, &s) != 0)
            abort();
    for (int round = 0; round < 150; round++) {
        fake_source_init(&s.source, FAKE_HEAP);
        s.pool = fake_pool(&s.source, (gyre_pool_options){.track = track});
        if (!s.pool)
            abort();
        pthread_barrier_wait(&s.step);
        pthread_barrier_wait(&s.step);
        gyre_pool_destroy(s.pool);
        fake_source_fini(&s.source);
    }
    s.over = true;
    pthread_barrier_wait(&s.step);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&s.step);
}

static pthread_key_t late; /* of whose destructors some come after the library's */
static worker late_worker;
static __thread int late_rounds;

#ifdef __SANITIZE_THREAD__
enum { LATE_ROUNDS = 3 }; /* in the last the sanitizer has left the thread already */
#else
enum { LATE_ROUNDS = 4 };
#endif

static void take_late(void *arg)
{
    use(late_worker.pool, late_worker.source);
    if (++late_rounds < LATE_ROUNDS)
        (void)pthread_setspecific(late, arg);
}

static void *end_late(void *arg)
{
    use(late_worker.pool, late_worker.source);
    (void)pthread_setspecific(late, arg);
    return NULL;
}

/* Other destructors of the thread may take and give, whichever come first. */
static void pool_may_be_used_while_a_thread_ends(void)
{
    fake_source source;

    fake_source_init(&source, FAKE_HEAP);
    late_worker.source = &source;
    late_worker.pool = fake_pool(&source, (gyre_pool_options){.track = track});
    REQUIRE(late_worker.pool);
    REQUIRE(pthread_key_create(&late, take_late) == 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;

        REQUIRE(pthread_create(&thread, NULL, end_late, &late_worker) == 0);
        pthread_join(thread, NULL);
        CHECK(fake_statistics(late_worker.pool).blocks_out == 0);
    }
    CHECK(fake_statistics(late_worker.pool).takes == UINT64_C(240) * (LATE_ROUNDS + 1));
    (void)gyre_pool_trim(late_worker.pool);
    CHECK(source.count == 0);
    gyre_pool_destroy(late_worker.pool);
    fake_source_fini(&source);
    pthread_key_delete(late);
}
ALSO_TRACKED(pool_may_be_used_while_a_thread_ends)

static const test_case cases[] = {
    TEST(many_pools_of_a_thread_stay_apart),
    TEST(many_pools_of_a_thread_stay_apart_when_tracked),
    TEST(pool_at_an_old_ones_address_starts_empty),
    TEST(pool_at_an_old_ones_address_starts_empty_when_tracked),
    TEST(what_a_thread_kept_is_the_pools_when_it_ends),
    TEST(thread_keeps_no_more_than_it_may),
    TEST(thread_may_end_after_the_pool),
    TEST(thread_may_end_after_the_pool_when_tracked),
    TEST(blocks_given_elsewhere_come_home),
    TEST(blocks_given_elsewhere_come_home_when_tracked),
    TEST(pool_may_end_while_its_threads_use_others),
    TEST(pool_may_be_used_while_a_thread_ends),
    TEST(pool_may_be_used_while_a_thread_ends_when_tracked),
};
TEST_MAIN(cases)
