/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool in a forked child: nothing can be taken there, also where the forking thread has blocks at
 * hand; it may be destroyed, which returns nothing, and nothing waits.
 */
#include <sched.h>
#include <unistd.h>

#include "child.h"
#include "mem/pool_fake.h"

enum { BLOCKS = 50 };

static const size_t sizes[] = {64, 1000, 70000};
static fake_source source;
static gyre_pool *pool;
static void *out[COUNT(sizes)]; /* one of each is out at the fork */
static uint64_t completed;

static bool build(size_t thread_bytes)
{
    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.thread_bytes = thread_bytes, .track = track});
    if (!pool)
        return false;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *blocks[BLOCKS];

        out[i] = fake_block(pool, sizes[i], 64);
        fake_mark(out[i], sizes[i], i);
        for (size_t k = 0; k < BLOCKS; k++)
            blocks[k] = fake_block(pool, sizes[i], 64);
        for (size_t k = 0; k + 1 < BLOCKS; k++)
            gyre_pool_give(pool, blocks[k], sizes[i]);
        CHECK(gyre_pool_give_after(pool, blocks[BLOCKS - 1], sizes[i], 64,
                                   (gyre_ticket){&completed, 1}) == GYRE_OK);
    }
    return true;
}

static void tear_down(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CHECK(fake_is_marked(out[i], sizes[i], i));
        gyre_pool_give(pool, out[i], sizes[i]);
    }
    CHECK(fake_statistics(pool).blocks_out == 0);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void take_in_child(void)
{
    const gyre_memory *memory = gyre_pool_memory(pool);
    const uint64_t takes = source.takes, gives = source.gives;
    gyre_pool *other = (gyre_pool *)&other;

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            void *block = &block;

            CHECK(gyre_pool_take(pool, sizes[i], &block) == GYRE_UNAVAILABLE && block == NULL);
            block = &block;
            CHECK(gyre_pool_take_aligned(pool, sizes[i], 64, &block) == GYRE_UNAVAILABLE &&
                  block == NULL);
            block = &block;
            CHECK(gyre_pool_take_zeroed(pool, sizes[i], &block) == GYRE_UNAVAILABLE &&
                  block == NULL);
            block = &block;
            CHECK(gyre_pool_take_ordered(pool, sizes[i], 64, &completed, &block) ==
                      GYRE_UNAVAILABLE &&
                  block == NULL);
            block = &block;
            CHECK(memory->take(memory, sizes[i], 64, &block) == GYRE_UNAVAILABLE && block == NULL);
            block = &block;
            CHECK(gyre_pool_take(pool, (size_t)GYRE_POOL_LARGEST + 1, &block) == GYRE_UNAVAILABLE &&
                  block == NULL);
            if (round == 0) /* and none the less after a give */
                gyre_pool_give(pool, out[i], sizes[i]);
        }
        gyre_pool_give(pool, NULL, 64);
    }
    CHECK(gyre_pool_create(NULL, &other) == GYRE_UNAVAILABLE && other == NULL);
    CHECK(source.takes == takes && source.gives == gives);
}

static void destroy_in_child(void)
{
    const uint64_t gives = source.gives;
    const size_t count = source.count;

    gyre_pool_destroy(pool);
    CHECK(source.gives == gives && source.count == count);
}

static void take_and_destroy_in_child(void)
{
    take_in_child();
    destroy_in_child();
}

static void nothing_is_taken_in_a_child(void)
{
    static const size_t keeps[] = {0, 1, SIZE_MAX};

    for (size_t i = 0; i < COUNT(keeps); i++) {
        REQUIRE(build(keeps[i]));
        CHECK(passes_in_child(take_in_child));
        tear_down();
    }
}
ALSO_TRACKED(nothing_is_taken_in_a_child)

static void child_may_destroy_and_the_parent_goes_on(void)
{
    REQUIRE(build(0));
    CHECK(passes_in_child(destroy_in_child));
    CHECK(passes_in_child(take_and_destroy_in_child));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *blocks[BLOCKS];

        for (size_t k = 0; k < BLOCKS; k++)
            blocks[k] = fake_block(pool, sizes[i], 64);
        for (size_t k = 0; k < BLOCKS; k++)
            gyre_pool_give(pool, blocks[k], sizes[i]);
    }
    tear_down();
}
ALSO_TRACKED(child_may_destroy_and_the_parent_goes_on)

static void *fork_here(void *use_first)
{
    if (use_first)
        gyre_pool_give(pool, fake_block(pool, 64, 64), 64);
    CHECK(passes_in_child(take_and_destroy_in_child));
    return NULL;
}

/* Not the thread that made the pool, with blocks at hand and without. */
static void any_thread_may_fork(void)
{
    for (int use_first = 0; use_first < 2; use_first++) {
        pthread_t thread;

        REQUIRE(build(0));
        REQUIRE(pthread_create(&thread, NULL, fork_here, use_first ? &source : NULL) == 0);
        pthread_join(thread, NULL);
        tear_down();
    }
}
ALSO_TRACKED(any_thread_may_fork)

static void *take_and_end(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < COUNT(sizes); i++)
        gyre_pool_give(pool, fake_block(pool, sizes[i], 64), sizes[i]);
    return NULL;
}

/* Takes every lock there is, all the time, so that a fork finds them taken. */
static void *stay_busy(void *over)
{
    for (uint64_t i = 0; !__atomic_load_n((uint32_t *)over, __ATOMIC_SEQ_CST); i++) {
        gyre_pool_statistics s = {.struct_size = sizeof s};
        void *block = fake_block(pool, 100 + 64 * (i % 50), 64);
        pthread_t thread;
        gyre_pool *passing;

        gyre_pool_give(pool, block, 100 + 64 * (i % 50));
        CHECK(gyre_pool_describe(pool, &s) == GYRE_OK);
        if (i % 4 == 0)
            (void)gyre_pool_trim(pool);
        block = fake_block(pool, 64, 64);
        CHECK(gyre_pool_give_after(pool, block, 64, 64, (gyre_ticket){NULL, 0}) == GYRE_OK);
        if (i % 16 == 0 && gyre_pool_create(NULL, &passing) == GYRE_OK)
            gyre_pool_destroy(passing);
        if (i % 16 == 8 && pthread_create(&thread, NULL, take_and_end, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return NULL;
}

/* What the parent's other threads did to the source at that moment is not the child's. */
static void take_and_destroy_amid_others(void)
{
    const uint64_t gives = source.gives;
    void *block = &block;

    CHECK(gyre_pool_take(pool, 64, &block) == GYRE_UNAVAILABLE && block == NULL);
    CHECK(gyre_pool_take(pool, 5000, &block) == GYRE_UNAVAILABLE && block == NULL);
    gyre_pool_give(pool, out[1], sizes[1]);
    gyre_pool_destroy(pool);
    CHECK(source.gives == gives);
}

/* Its only thread, which had blocks at hand, ends in the child. */
static void end_thread_amid_others(void)
{
    pthread_exit(NULL); /* and with it the process, with 0 */
}

static void child_may_destroy_what_other_threads_were_using(void)
{
    uint32_t over = 0;
    pthread_t busy[2];

    REQUIRE(build(0));
    for (size_t i = 0; i < COUNT(busy); i++)
        REQUIRE(pthread_create(&busy[i], NULL, stay_busy, &over) == 0);
    for (int i = 0; i < 150 && test_failed() == 0; i++) {
        /* where a sanitizer looks for leaks at an exit, it waits for its own locks */
        const bool may_exit = !FAKE_ASAN && i % 3 == 0;

        CHECK(passes_in_child(may_exit ? end_thread_amid_others : take_and_destroy_amid_others));
        gyre_pool_give(pool, fake_block(pool, 64, 64), 64);
    }
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < COUNT(busy); i++)
        pthread_join(busy[i], NULL);
    tear_down();
}
ALSO_TRACKED(child_may_destroy_what_other_threads_were_using)

static const test_case cases[] = {
    TEST(nothing_is_taken_in_a_child),
    TEST(nothing_is_taken_in_a_child_when_tracked),
    TEST(child_may_destroy_and_the_parent_goes_on),
    TEST(child_may_destroy_and_the_parent_goes_on_when_tracked),
    TEST(any_thread_may_fork),
    TEST(any_thread_may_fork_when_tracked),
    TEST(child_may_destroy_what_other_threads_were_using),
    TEST(child_may_destroy_what_other_threads_were_using_when_tracked),
};
TEST_MAIN(cases)
