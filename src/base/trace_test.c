/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/trace.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

enum { EVENTS = 64, THREADS = 3, MANY = 200000 };

static int blocks_taken;

static void *take(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    blocks_taken++;
    return aligned_alloc(alignment, size_bytes);
}

static void give(void *user, void *block, size_t size_bytes)
{
    (void)user, (void)size_bytes;
    free(block);
}

static const gyre_allocator allocator = {take, give, NULL};
static const gyre_trace_options options = {sizeof options, &allocator, EVENTS - 3, THREADS};

typedef struct seen {
    uint64_t count, last_value, last_time;
    bool ordered; /* values and times grow, names and kinds are ours */
} seen;

static void look(void *user, const gyre_trace_event *event)
{
    seen *s = user;

    s->ordered = s->ordered && event->value >= s->last_value && event->time_ns >= s->last_time &&
                 strcmp(event->name, "tick") == 0 && event->kind == GYRE_TRACE_COUNT &&
                 event->thread != 0;
    s->last_value = event->value;
    s->last_time = event->time_ns;
    s->count++;
}

static void tick(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        gyre_trace(GYRE_TRACE_COUNT, "tick", i);
}

static void off_records_nothing(void)
{
    seen s = {.ordered = true};
    gyre_trace_totals totals;

    tick(0, 10);
    gyre_trace_read(look, &s, &totals);
    CHECK(s.count == 0 && totals.visited == 0 && totals.overwritten == 0);
}

static void events_come_back_in_order(void)
{
    seen s = {.ordered = true};
    gyre_trace_totals totals;

    REQUIRE(gyre_trace_start(&options) == GYRE_OK);
    tick(0, 10);
    gyre_trace_stop();
    tick(10, 20);
    gyre_trace_read(look, &s, &totals);
    CHECK(s.ordered && s.count == 10 && s.last_value == 9);
    CHECK(totals.visited == 10 && totals.overwritten == 0 && totals.refused == 0);
}

static void newest_events_are_kept_and_the_rest_counted(void)
{
    seen s = {.ordered = true};
    gyre_trace_totals totals;

    REQUIRE(gyre_trace_start(&options) == GYRE_OK);
    tick(0, 3 * EVENTS + 5);
    gyre_trace_stop();
    gyre_trace_read(look, &s, &totals);
    CHECK(s.ordered && s.count == EVENTS && s.last_value == 3 * EVENTS + 4);
    CHECK(totals.overwritten == 2 * EVENTS + 5);
}

static void new_session_forgets_the_old(void)
{
    seen s = {.ordered = true};

    REQUIRE(gyre_trace_start(&options) == GYRE_OK);
    tick(100, 103);
    gyre_trace_stop();
    gyre_trace_read(look, &s, NULL);
    CHECK(s.count == 3 && s.last_value == 102);
    CHECK(blocks_taken == 2); /* the rings of the first session serve them all */
}

static void starting_twice_or_resizing_is_invalid(void)
{
    gyre_trace_options other = options;

    REQUIRE(gyre_trace_start(&options) == GYRE_OK);
    CHECK(gyre_trace_start(&options) == GYRE_INVALID);
    gyre_trace_stop();
    other.threads++;
    CHECK(gyre_trace_start(&other) == GYRE_INVALID);
    other = options;
    other.events_per_thread = UINT32_MAX;
    CHECK(gyre_trace_start(&other) == GYRE_INVALID);
}

/* Events whose fields follow from each other, so that one mixed from two is noticed. */
static const char *const names[] = {"zero", "one", "two", "three", "four", "five", "six"};
enum { NAMES = sizeof names / sizeof names[0] };

static uint32_t writing; /* threads in write_linked; seq_cst */

static void *write_linked(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < MANY; i++)
        gyre_trace((gyre_trace_kind)(1 + i % 4), names[i % NAMES], i);
    __atomic_fetch_sub(&writing, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* What a reader has seen of the thread whose ring it is reading. */
typedef struct sequence {
    uint32_t thread;
    uint64_t value;
    int mixed, disordered;
} sequence;

static void check_linked(void *user, const gyre_trace_event *event)
{
    sequence *q = user;

    q->mixed += event->name != names[event->value % NAMES] || event->kind != 1 + event->value % 4;
    q->disordered += event->thread == q->thread && event->value <= q->value;
    q->thread = event->thread;
    q->value = event->value;
}

static void reader_beside_writers_sees_whole_events(void)
{
    pthread_t threads[THREADS - 1];
    gyre_trace_totals totals;
    sequence q = {0};

    for (int session = 0; session < 10; session++) {
        REQUIRE(gyre_trace_start(&options) == GYRE_OK);
        __atomic_store_n(&writing, THREADS - 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < THREADS - 1; i++)
            REQUIRE(pthread_create(&threads[i], NULL, write_linked, NULL) == 0);
        while (__atomic_load_n(&writing, __ATOMIC_SEQ_CST) > 0) {
            q.thread = 0;
            gyre_trace_read(check_linked, &q, &totals);
        }
        for (int i = 0; i < THREADS - 1; i++)
            pthread_join(threads[i], NULL);
        gyre_trace_stop();
        q.thread = 0;
        gyre_trace_read(check_linked, &q, &totals);
        CHECK(totals.visited + totals.overwritten == (uint64_t)(THREADS - 1) * MANY);
        CHECK(totals.visited >= EVENTS);
    }
    CHECK(q.mixed == 0 && q.disordered == 0);
}

static uint32_t quit; /* seq_cst */

static void ignore(void *user, const gyre_trace_event *event)
{
    (void)user, (void)event;
}

static void *read_always(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&quit, __ATOMIC_SEQ_CST)) {
        gyre_trace_totals totals;

        gyre_trace_read(ignore, NULL, &totals);
        CHECK(totals.overwritten < UINT32_MAX); /* a session that begins now is not behind itself */
    }
    return NULL;
}

static void reader_beside_starts_counts_right(void)
{
    pthread_t reader;

    REQUIRE(pthread_create(&reader, NULL, read_always, NULL) == 0);
    for (int session = 0; session < 1000; session++) {
        REQUIRE(gyre_trace_start(&options) == GYRE_OK);
        tick(0, 2);
        gyre_trace_stop();
    }
    __atomic_store_n(&quit, 1, __ATOMIC_SEQ_CST);
    pthread_join(reader, NULL);
}

static void *tick_once(void *unused)
{
    (void)unused;
    tick(1, 2);
    return NULL;
}

static void ring_of_an_ended_thread_serves_the_next(void)
{
    seen s = {.ordered = true};
    gyre_trace_totals totals;

    REQUIRE(gyre_trace_start(&options) == GYRE_OK);
    for (int i = 0; i < 5 * THREADS; i++) {
        pthread_t thread;

        REQUIRE(pthread_create(&thread, NULL, tick_once, NULL) == 0);
        pthread_join(thread, NULL);
    }
    gyre_trace_stop();
    gyre_trace_read(look, &s, &totals);
    CHECK(s.count == (uint64_t)5 * THREADS && totals.refused == 0);
}

typedef struct crowd {
    pthread_barrier_t ticked;
} crowd;

static void *tick_and_stay(void *arg)
{
    tick(1, 2);
    pthread_barrier_wait(&((crowd *)arg)->ticked);
    return NULL;
}

static void threads_beyond_the_rings_are_counted(void)
{
    pthread_t threads[THREADS + 2];
    crowd c;
    seen s = {.ordered = true};
    gyre_trace_totals totals;

    REQUIRE(pthread_barrier_init(&c.ticked, NULL, THREADS + 2) == 0);
    REQUIRE(gyre_trace_start(&options) == GYRE_OK);
    tick(0, 1); /* this thread has a ring as well */
    for (int i = 0; i < THREADS + 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, tick_and_stay, &c) == 0);
    for (int i = 0; i < THREADS + 2; i++)
        pthread_join(threads[i], NULL);
    gyre_trace_stop();
    gyre_trace_read(look, &s, &totals);
    CHECK(s.count == THREADS && totals.refused == 3);
    pthread_barrier_destroy(&c.ticked);
}

static const test_case cases[] = {
    TEST(off_records_nothing),
    TEST(events_come_back_in_order),
    TEST(newest_events_are_kept_and_the_rest_counted),
    TEST(new_session_forgets_the_old),
    TEST(starting_twice_or_resizing_is_invalid),
    TEST(reader_beside_writers_sees_whole_events),
    TEST(reader_beside_starts_counts_right),
    TEST(ring_of_an_ended_thread_serves_the_next),
    TEST(threads_beyond_the_rings_are_counted),
};
TEST_MAIN(cases)
