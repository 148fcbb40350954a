/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers between threads: copies against copies, against deallocation, and with ids that have
 * become stale on the way.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "chance.h"
#include "gyre/buffers.h"
#include "gyre/clock.h"
#include "test.h"

enum {
    THREADS = 6,
    SHELVES = 24,
    LARGE = 4 << 20, /* whose copies others sleep through */
    SCARCE = 5,
    TIME_MS = 700, /* for a case */
    WORD_BYTES = 8,
};

static gyre_buffers *buffers;
static uint64_t
    ids[SHELVES]; /* shared: acquire and release, so that what is published is written */
static uint64_t end_ns;

static bool time_is_up(void)
{
    return gyre_clock_now_ns() >= end_ns;
}

static void begin(void)
{
    CHECK(gyre_buffers_create(NULL, &buffers) == GYRE_OK);
    memset(ids, 0, sizeof ids);
    end_ns = gyre_clock_after_ns(TIME_MS * 1000000ull);
}

static void run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];

    for (int i = 0; i < THREADS; i++) {
        seeds[i] = chance_seed() + (uint64_t)i;
        REQUIRE(pthread_create(&threads[i], NULL, body, &seeds[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Whether all words are the same. */
static bool is_whole(const uint64_t *words, size_t count)
{
    return count < 2 || memcmp(words, words + 1, (count - 1) * WORD_BYTES) == 0;
}

static void fill(uint64_t *words, size_t count, uint64_t value)
{
    for (size_t i = 0; i < count; i++)
        words[i] = value;
}

/* Half of the copies write all of one buffer with one value, the others read it. */
static void copy_all(uint64_t *random, size_t size)
{
    uint64_t *const words = malloc(size);

    while (words && !time_is_up()) {
        if (chance_below(random, 2)) {
            fill(words, size / WORD_BYTES, chance_next(random));
            CHECK(gyre_buffer_write(buffers, ids[0], 0, words, size) == GYRE_OK);
        } else {
            CHECK(gyre_buffer_read(buffers, ids[0], 0, words, size) == GYRE_OK);
            CHECK(is_whole(words, size / WORD_BYTES));
        }
    }
    free(words);
}

static void *copy_small(void *seed)
{
    copy_all(seed, 1024);
    return NULL;
}

static void *copy_large(void *seed)
{
    copy_all(seed, LARGE);
    return NULL;
}

static void reads_see_whole_writes(void)
{
    begin();
    REQUIRE(gyre_buffer_allocate(buffers, 1024, GYRE_BUFFER_ZEROED, &ids[0]) == GYRE_OK);
    run_threads(copy_small);
    gyre_buffers_destroy(buffers);
}

static void reads_see_whole_writes_that_last(void)
{
    begin();
    REQUIRE(gyre_buffer_allocate(buffers, LARGE, GYRE_BUFFER_ZEROED, &ids[0]) == GYRE_OK);
    run_threads(copy_large);
    gyre_buffers_destroy(buffers);
}

static size_t shelf_bytes(uint64_t shelf)
{
    return shelf == 0 ? LARGE : WORD_BYTES * (1 + shelf * 16);
}

static uint64_t allocated, ended; /* shared, relaxed: counts that are read after joining */

/* Puts a new buffer onto a shelf, full of its id, and ends the one that was there, if nobody else
 * did. */
static void replace(uint64_t shelf, uint64_t *words)
{
    const size_t size = shelf_bytes(shelf);
    gyre_status status;
    uint64_t id;

    CHECK(gyre_buffer_allocate(buffers, size, GYRE_BUFFER_ANY, &id) == GYRE_OK);
    fill(words, size / WORD_BYTES, id);
    CHECK(gyre_buffer_write(buffers, id, 0, words, size) == GYRE_OK);
    __atomic_fetch_add(&allocated, 1, __ATOMIC_RELAXED);
    id = __atomic_exchange_n(&ids[shelf], id, __ATOMIC_ACQ_REL);
    if (id) {
        status = gyre_buffer_deallocate(buffers, id);
        CHECK(status == GYRE_OK || status == GYRE_NOT_FOUND);
        __atomic_fetch_add(&ended, status == GYRE_OK, __ATOMIC_RELAXED);
    }
}

/* Uses whatever is on a shelf: it is there, and its own, or it is not found. */
static void use(uint64_t shelf, uint64_t *random, uint64_t *words)
{
    const uint64_t id = __atomic_load_n(&ids[shelf], __ATOMIC_ACQUIRE);
    gyre_status status;
    size_t size;

    if (!id)
        return;
    switch (chance_below(random, 8)) {
    case 0:
        status = gyre_buffer_deallocate(buffers, id);
        __atomic_fetch_add(&ended, status == GYRE_OK, __ATOMIC_RELAXED);
        break;
    case 1:
        status = gyre_buffer_size(buffers, id, &size);
        CHECK(size == (status == GYRE_OK ? shelf_bytes(shelf) : 0));
        break;
    case 2:
        fill(words, shelf_bytes(shelf) / WORD_BYTES, id);
        status = gyre_buffer_write(buffers, id, 0, words, shelf_bytes(shelf));
        break;
    default:
        status = gyre_buffer_read(buffers, id, 0, words, shelf_bytes(shelf));
        if (status == GYRE_OK)
            CHECK(words[0] == id && is_whole(words, shelf_bytes(shelf) / WORD_BYTES));
    }
    CHECK(status == GYRE_OK || status == GYRE_NOT_FOUND);
}

static void *live_and_let_end(void *seed)
{
    uint64_t *const words = malloc(LARGE);

    while (words && !time_is_up()) {
        uint64_t shelf = chance_below(seed, SHELVES);

        if (shelf == 0 && chance_below(seed, 8)) /* it takes long */
            shelf = 1;
        if (chance_below(seed, 4) == 0)
            replace(shelf, words);
        else
            use(shelf, seed, words);
    }
    free(words);
    return NULL;
}

static void stale_id_is_not_found_and_harms_nobody(void)
{
    begin();
    allocated = ended = 0;
    run_threads(live_and_let_end);
    CHECK(allocated > 0 && ended <= allocated);
    CHECK(gyre_buffers_count(buffers) == allocated - ended); /* none ended twice */
    gyre_buffers_destroy(buffers);
}

/* A buffer that holds its own id, or 0 when there are as many as may be. */
static uint64_t take_one(void)
{
    uint64_t id, read;
    const gyre_status status = gyre_buffer_allocate(buffers, WORD_BYTES, GYRE_BUFFER_ZEROED, &id);

    CHECK(status == GYRE_OK || (status == GYRE_AGAIN && id == 0));
    if (status == GYRE_OK) {
        CHECK(gyre_buffer_read(buffers, id, 0, &read, WORD_BYTES) == GYRE_OK && read == 0);
        CHECK(gyre_buffer_write(buffers, id, 0, &id, WORD_BYTES) == GYRE_OK);
    }
    return id;
}

static void end_one(uint64_t id)
{
    uint64_t read;

    if (!id)
        return;
    CHECK(gyre_buffer_read(buffers, id, 0, &read, WORD_BYTES) == GYRE_OK && read == id);
    CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
}

/* Free places come back in another order than they went, and there are never enough. */
static void *scramble(void *seed)
{
    while (!time_is_up()) {
        const uint64_t first = take_one(), second = take_one();

        if (chance_below(seed, 64) == 0)
            sched_yield();
        end_one(first);
        end_one(second);
    }
    return NULL;
}

static void place_has_one_buffer_at_a_time(void)
{
    const gyre_buffers_options options = {.struct_size = sizeof options, .most_count = SCARCE};

    end_ns = gyre_clock_after_ns(TIME_MS * 1000000ull);
    REQUIRE(gyre_buffers_create(&options, &buffers) == GYRE_OK);
    run_threads(scramble);
    CHECK(gyre_buffers_count(buffers) == 0);
    gyre_buffers_destroy(buffers);
}

static const test_case cases[] = {
    TEST(reads_see_whole_writes),
    TEST(reads_see_whole_writes_that_last),
    TEST(stale_id_is_not_found_and_harms_nobody),
    TEST(place_has_one_buffer_at_a_time),
};
TEST_MAIN(cases)
