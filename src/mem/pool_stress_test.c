/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools under threads that come and go: blocks are taken here and given there, others trim and
 * count meanwhile, tickets are through by and by. In the end everything is back.
 */
#include <sched.h>
#include <unistd.h>

#include "chance.h"
#include "mem/pool_fake.h"

enum { POOLS = 3, QUEUE = 256, LIVES = 6, STEPS = 2000, MOST_THREADS = 8 };

typedef struct passed {
    void *block;
    size_t size, alignment, pool;
    uint64_t id;
} passed;

typedef struct stage {
    fake_source sources[POOLS];
    gyre_pool *pools[POOLS];
    pthread_mutex_t mutex;
    passed queue[QUEUE]; /* under the mutex */
    size_t queued;
    uint64_t completed; /* atomic */
    uint64_t taken, refused;
    uint32_t over; /* atomic */
    size_t threads;
} stage;

static stage s;

/* In place of what was there: sometimes the oldest, so that blocks stay out for a while. */
static bool swap(passed *p, uint64_t *random)
{
    bool got = false;

    pthread_mutex_lock(&s.mutex);
    if (p->block && s.queued < QUEUE) {
        s.queue[s.queued++] = *p;
        p->block = NULL;
    }
    if (s.queued > QUEUE / 2 || (s.queued > 0 && !p->block && chance_below(random, 2))) {
        const size_t i = chance_below(random, s.queued);
        const passed before = *p;

        *p = s.queue[i];
        got = true;
        s.queue[i] = before.block ? before : s.queue[--s.queued];
    }
    pthread_mutex_unlock(&s.mutex);
    return got || p->block;
}

static void end_block(const passed *p, uint64_t *random)
{
    gyre_pool *pool = s.pools[p->pool];

    CHECK(fake_is_marked(p->block, p->size, p->id));
    if (chance_below(random, 16) == 0) {
        const uint64_t now = __atomic_load_n(&s.completed, __ATOMIC_ACQUIRE);
        const gyre_ticket ticket = {&s.completed, now + chance_below(random, 3)};

        CHECK(gyre_pool_give_after(pool, p->block, p->size, p->alignment, ticket) == GYRE_OK);
    } else {
        gyre_pool_give_aligned(pool, p->block, p->size, p->alignment);
    }
}

static bool begin_block(passed *p, uint64_t *random)
{
    gyre_status status;

    p->pool = chance_below(random, POOLS);
    p->size = 1 + chance_below(random, (uint64_t)1 << (chance_below(random, 20) ? 9 : 17));
    p->alignment = chance_below(random, 10) ? 64 : (size_t)1 << chance_below(random, 13);
    p->id = chance_next(random);
    if (chance_below(random, 12) == 0)
        status = gyre_pool_take_ordered(s.pools[p->pool], p->size, p->alignment, &s.completed,
                                        &p->block);
    else
        status = gyre_pool_take_aligned(s.pools[p->pool], p->size, p->alignment, &p->block);
    CHECK(status == GYRE_OK || (p->pool == 2 && status == GYRE_AGAIN)); /* which has a limit */
    __atomic_fetch_add(status == GYRE_OK ? &s.taken : &s.refused, 1, __ATOMIC_RELAXED);
    return status == GYRE_OK;
}

/* A life: takes, passes on, gets from others, gives; and leaves what it kept behind. */
static void *live(void *arg)
{
    uint64_t random = *(const uint64_t *)arg;

    for (int i = 0; i < STEPS; i++) {
        passed p = {0};

        if (begin_block(&p, &random)) {
            CHECK((uintptr_t)p.block % p.alignment == 0);
            fake_mark(p.block, p.size, p.id);
        }
        if (swap(&p, &random))
            end_block(&p, &random);
    }
    return NULL;
}

/* One thread of each place follows the other. */
static void *succeed(void *arg)
{
    uint64_t random = *(const uint64_t *)arg;

    for (int i = 0; i < LIVES; i++) {
        uint64_t seed = chance_next(&random);
        pthread_t thread;

        if (pthread_create(&thread, NULL, live, &seed) != 0)
            abort();
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void *disturb(void *arg)
{
    uint64_t random = *(const uint64_t *)arg;

    while (!__atomic_load_n(&s.over, __ATOMIC_ACQUIRE)) {
        gyre_pool *pool = s.pools[chance_below(&random, POOLS)];
        gyre_pool_statistics now = {.struct_size = sizeof now};

        CHECK(gyre_pool_describe(pool, &now) == GYRE_OK);
        CHECK(now.blocks_out < 100000 && now.hits < 10000000); /* late perhaps, but no nonsense */
        if (chance_below(&random, 8) == 0)
            (void)gyre_pool_trim(pool);
        /* release, as gyre/pool.h wants it: only this thread moves it */
        __atomic_store_n(&s.completed, s.completed + 1, __ATOMIC_RELEASE);
        sched_yield();
    }
    return NULL;
}

static void check_end(size_t i)
{
    gyre_pool_statistics now = fake_statistics(s.pools[i]);

    CHECK(now.blocks_out == 0 && now.bytes_out == 0);
    (void)gyre_pool_trim(s.pools[i]);
    now = fake_statistics(s.pools[i]);
    CHECK(now.bytes_drawn == 0 && now.bytes_kept == 0 && now.bytes_waiting == 0);
    CHECK(now.peak_bytes >= s.sources[i].peak_bytes); /* counted from before to after */
    CHECK(s.sources[i].count == 0);
    s.taken -= now.takes;
    s.refused -= now.refusals;
}

static void play(const gyre_pool_options *options)
{
    uint64_t random = chance_seed(), seeds[MOST_THREADS + 1];
    pthread_t threads[MOST_THREADS + 1];
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    fprintf(stderr, "seed %llu\n", (unsigned long long)random);
    memset(&s, 0, sizeof s);
    pthread_mutex_init(&s.mutex, NULL);
    s.threads = cpus < 2 ? 4 : cpus > MOST_THREADS / 2 ? MOST_THREADS : 2 * (size_t)cpus;
    for (size_t i = 0; i < POOLS; i++) {
        gyre_pool_options its = *options;

        fake_source_init(&s.sources[i], FAKE_HEAP);
        its.limit_bytes = i == 2 ? 256 * KIB : 0;
        REQUIRE((s.pools[i] = fake_pool(&s.sources[i], its)) != NULL);
    }
    for (size_t i = 0; i <= s.threads; i++) {
        seeds[i] = chance_next(&random);
        REQUIRE(pthread_create(&threads[i], NULL, i < s.threads ? succeed : disturb, &seeds[i]) ==
                0);
    }
    for (size_t i = 0; i < s.threads; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&s.over, 1, __ATOMIC_RELEASE);
    pthread_join(threads[s.threads], NULL);
    while (s.queued > 0)
        end_block(&s.queue[--s.queued], &random);
    s.completed = UINT64_MAX;
    for (size_t i = 0; i < POOLS; i++)
        check_end(i);
    CHECK(s.taken == 0 && s.refused == 0); /* the pools counted as many */
    for (size_t i = 0; i < POOLS; i++) {
        gyre_pool_destroy(s.pools[i]);
        fake_source_fini(&s.sources[i]);
    }
    pthread_mutex_destroy(&s.mutex);
}

static void threads_come_and_go(void)
{
    play(&(gyre_pool_options){.track = track});
}
ALSO_TRACKED(threads_come_and_go)

/* Batches of one or two: every other step goes to the pool. */
static void threads_that_keep_little_come_and_go(void)
{
    play(&(gyre_pool_options){.thread_bytes = 300, .track = track});
}
ALSO_TRACKED(threads_that_keep_little_come_and_go)

static void threads_that_keep_nothing_come_and_go(void)
{
    play(&(gyre_pool_options){.thread_bytes = 1, .track = track});
}

static void *cross(void *arg)
{
    uint64_t random = *(const uint64_t *)arg;

    for (int i = 0; i < 200; i++) {
        void *blocks[40];
        gyre_pool *pool = s.pools[0];
        size_t n = 0;

        while (n < COUNT(blocks) && gyre_pool_take(pool, 64, &blocks[n]) == GYRE_OK) {
            fake_mark(blocks[n], 64, (uintptr_t)blocks[n] ^ random);
            n++;
        }
        while (n-- > 0) {
            CHECK(fake_is_marked(blocks[n], 64, (uintptr_t)blocks[n] ^ random));
            gyre_pool_give(pool, blocks[n], 64);
        }
        chance_next(&random);
    }
    return NULL;
}

/* All want the last blocks: what one keeps, another lacks, but never more than there are. */
static void limit_holds_among_threads(void)
{
    uint64_t random = chance_seed(), seeds[4];
    pthread_t threads[4];

    memset(&s, 0, sizeof s);
    fake_source_init(&s.sources[0], FAKE_HEAP);
    s.pools[0] = fake_pool(&s.sources[0], (gyre_pool_options){.limit_bytes = 6400, .track = track});
    REQUIRE(s.pools[0]);
    for (size_t i = 0; i < 4; i++) {
        seeds[i] = chance_next(&random);
        REQUIRE(pthread_create(&threads[i], NULL, cross, &seeds[i]) == 0);
    }
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(s.sources[0].peak_bytes <= 6400);
    CHECK(fake_statistics(s.pools[0]).blocks_out == 0);
    gyre_pool_destroy(s.pools[0]);
    fake_source_fini(&s.sources[0]);
}
ALSO_TRACKED(limit_holds_among_threads)

/* A device: writes to a block until it says that it is done. */
static void *write_and_complete(void *arg)
{
    passed *p = arg;

    for (uint64_t value = 1; value <= 500; value++) {
        while (!__atomic_load_n(&p->id, __ATOMIC_ACQUIRE)) /* its turn */
            sched_yield();
        __atomic_store_n(&p->id, 0, __ATOMIC_RELAXED);
        memset(p->block, (int)value, p->size);
        __atomic_store_n(&s.completed, value, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Only the ticket orders what the device wrote before what the next taker writes. */
static void next_has_the_block_when_the_device_is_done(void)
{
    passed p = {.size = 64};
    pthread_t device;

    memset(&s, 0, sizeof s);
    fake_source_init(&s.sources[0], FAKE_HEAP);
    s.pools[0] = fake_pool(&s.sources[0], (gyre_pool_options){.limit_bytes = 64, .track = track});
    REQUIRE(s.pools[0] && pthread_create(&device, NULL, write_and_complete, &p) == 0);
    for (uint64_t value = 1; value <= 500; value++) {
        void *block;

        while (gyre_pool_take(s.pools[0], 64, &block) == GYRE_AGAIN)
            sched_yield();
        memset(block, 0, 64);
        p.block = block;
        CHECK(gyre_pool_give_after(s.pools[0], p.block, 64, 64,
                                   (gyre_ticket){&s.completed, value}) == GYRE_OK);
        __atomic_store_n(&p.id, 1, __ATOMIC_RELEASE);
    }
    pthread_join(device, NULL);
    gyre_pool_destroy(s.pools[0]);
    fake_source_fini(&s.sources[0]);
}
ALSO_TRACKED(next_has_the_block_when_the_device_is_done)

/* Each thread makes and ends pools of its own, whose places in the threads collide. */
static void *own_pools(void *arg)
{
    (void)arg;
    for (int i = 0; i < 60; i++) {
        gyre_pool *pools[5];
        fake_source sources[5];

        for (size_t k = 0; k < COUNT(pools); k++) {
            fake_source_init(&sources[k], FAKE_HEAP);
            pools[k] = fake_pool(&sources[k], (gyre_pool_options){.track = track});
        }
        for (int round = 0; round < 20; round++)
            for (size_t k = 0; k < COUNT(pools); k++) {
                void *block = fake_block(pools[k], 100, 64);

                CHECK(fake_owns(&sources[k], block, 100));
                fake_mark(block, 100, k);
                gyre_pool_give(pools[k], block, 100);
            }
        for (size_t k = 0; k < COUNT(pools); k++) {
            gyre_pool_destroy(pools[k]);
            fake_source_fini(&sources[k]);
        }
    }
    return NULL;
}

static void pools_come_and_go_on_all_threads(void)
{
    pthread_t threads[4];

    for (size_t i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, own_pools, NULL) == 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}
ALSO_TRACKED(pools_come_and_go_on_all_threads)

static const test_case cases[] = {
    TEST(threads_come_and_go),
    TEST(threads_come_and_go_when_tracked),
    TEST(threads_that_keep_little_come_and_go),
    TEST(threads_that_keep_little_come_and_go_when_tracked),
    TEST(threads_that_keep_nothing_come_and_go),
    TEST(limit_holds_among_threads),
    TEST(limit_holds_among_threads_when_tracked),
    TEST(next_has_the_block_when_the_device_is_done),
    TEST(next_has_the_block_when_the_device_is_done_when_tracked),
    TEST(pools_come_and_go_on_all_threads),
    TEST(pools_come_and_go_on_all_threads_when_tracked),
};
TEST_MAIN(cases)
