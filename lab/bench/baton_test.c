/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/baton.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "bench/turns.h"
#include "gyre/clock.h"
#include "test.h"

static void order_is_balanced_in_whole_blocks(void)
{
    char letters[2 * GYRE_BATON_PAIRS + 1], others[2 * GYRE_BATON_PAIRS + 1];
    size_t different = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        const size_t pairs = 2 + 2 * (seed % (GYRE_BATON_PAIRS / 2));
        int reversed = 0;

        gyre_baton_order(seed, pairs, letters);
        CHECK(strlen(letters) == 2 * pairs);
        for (size_t i = 0; i < 2 * pairs; i += 4) {
            CHECK(strncmp(letters + i, "ABBA", 4) == 0 || strncmp(letters + i, "BAAB", 4) == 0);
            reversed += letters[i] == 'B' ? 1 : -1;
        }
        CHECK(reversed >= -1 && reversed <= 1);
        gyre_baton_order(seed, pairs, others);
        CHECK(strcmp(letters, others) == 0);
        gyre_baton_order(seed + 1, pairs, others);
        different += strcmp(letters, others) != 0;
    }
    CHECK(different > 150);
}

static void another_version_is_refused(void)
{
    gyre_baton *baton, *again;
    int fd;

    REQUIRE(gyre_baton_create(1, &fd, &baton) == GYRE_OK);
    REQUIRE(gyre_baton_open(fd, &again) == GYRE_OK);
    baton->pairs = 42;
    CHECK(again->pairs == 42 && again->seed == 1 && again->turn == GYRE_TURN_NOBODY);
    gyre_baton_close(again);
    baton->version++;
    CHECK(gyre_baton_open(fd, &again) == GYRE_UNSUPPORTED);
    CHECK(again == NULL);
    baton->version--;
    REQUIRE(ftruncate(fd, sizeof *baton + 4096) == 0);
    CHECK(gyre_baton_open(fd, &again) == GYRE_UNSUPPORTED);
    CHECK(gyre_baton_open(-1, &again) == GYRE_INVALID);
    gyre_baton_close(baton);
    close(fd);
}

static void what_is_over_stays_over(void)
{
    volatile sig_atomic_t interrupted = 1;
    gyre_baton *baton;
    int fd;

    REQUIRE(gyre_baton_create(1, &fd, &baton) == GYRE_OK);
    CHECK(gyre_baton_wait(baton, GYRE_TURN_OLD, &interrupted) == GYRE_CANCELLED);
    gyre_baton_arrive(baton, GYRE_TURN_NEW);
    gyre_baton_arrive(baton, GYRE_TURN_NEW); /* the same side twice is still one side */
    CHECK(gyre_baton_wait(baton, GYRE_TURN_OLD, &interrupted) == GYRE_CANCELLED);
    gyre_baton_arrive(baton, GYRE_TURN_OLD);
    CHECK(gyre_baton_wait(baton, GYRE_TURN_OLD, &interrupted) == GYRE_OK);
    gyre_baton_pass(baton, GYRE_TURN_OVER);
    gyre_baton_pass(baton, GYRE_TURN_NEW);
    CHECK(gyre_baton_wait(baton, GYRE_TURN_NEW, NULL) == GYRE_CLOSED);
    CHECK(gyre_baton_wait(baton, GYRE_TURN_OVER, NULL) == GYRE_OK);
    gyre_baton_close(baton);
    close(fd);
}

/* Both sides in one process: the thread sanitizer sees what the baton makes visible. */
typedef struct shared {
    gyre_baton *baton;
    uint64_t work; /* plain: only who has the baton may touch it */
    _Atomic int inside, most_inside;
    uint32_t fail_after; /* epochs of the new side; 0 never */
} shared;

typedef struct runner {
    shared *s;
    gyre_turn side;
    gyre_status status;
    uint64_t done;
    volatile sig_atomic_t interrupted;
} runner;

static void work(void *fixture, uint64_t iterations)
{
    runner *r = fixture;
    shared *s = r->s;
    const int inside = atomic_fetch_add(&s->inside, 1) + 1;

    if (inside > atomic_load(&s->most_inside))
        atomic_store(&s->most_inside, inside);
    for (uint64_t i = 0; i < iterations; i++) {
        const uint64_t start_ns = gyre_clock_now_ns();

        s->work++;
        while (gyre_clock_now_ns() - start_ns < 1000)
            continue;
    }
    r->done += iterations;
    if (s->fail_after && r->side == GYRE_TURN_NEW &&
        s->baton->taken[GYRE_TURN_NEW] >= s->fail_after)
        r->interrupted = 1;
    atomic_fetch_sub(&s->inside, 1);
}

static void *run_side(void *arg)
{
    runner *r = arg;
    static const gyre_bench_case c = {.bench = {.name = "g/f", .run = work}, .id = "g/f"};
    const gyre_turns turns = {.baton = r->s->baton, .side = r->side};
    gyre_drive drive = {.c = &c,
                        .fixture = r,
                        .now_ns = gyre_clock_now_ns,
                        .interrupted = &r->interrupted,
                        .turns = &turns};

    r->status = gyre_turns_take(&drive, &turns);
    return NULL;
}

static void race(shared *s, runner runners[GYRE_SIDES], uint64_t seed)
{
    pthread_t threads[GYRE_SIDES];
    int fd;

    REQUIRE(gyre_baton_create(seed, &fd, &s->baton) == GYRE_OK);
    close(fd);
    for (int side = 0; side < GYRE_SIDES; side++) {
        runners[side] = (runner){.s = s, .side = (gyre_turn)side};
        REQUIRE(pthread_create(&threads[side], NULL, run_side, &runners[side]) == 0);
    }
    for (int side = 0; side < GYRE_SIDES; side++)
        pthread_join(threads[side], NULL);
}

static void sides_take_turns_and_never_run_at_once(void)
{
    for (uint64_t seed = 4; seed < 12; seed++) { /* either side leads, either begins */
        runner runners[GYRE_SIDES] = {0};
        shared s = {0};
        gyre_baton *b;

        race(&s, runners, seed);
        b = s.baton;
        CHECK(runners[0].status == GYRE_OK && runners[1].status == GYRE_OK);
        CHECK(atomic_load(&s.most_inside) == 1);
        CHECK(s.work == runners[0].done + runners[1].done);
        CHECK(b->turn == GYRE_TURN_OVER && b->pairs >= 2 && b->pairs % 2 == 0);
        CHECK(gyre_baton_kept(b));
        b->epochs[1][b->pairs - 1].end_ns += 3600000000000; /* now something overlaps, or ends it */
        b->epochs[0][b->pairs - 1].end_ns += 3600000000000;
        CHECK(!gyre_baton_kept(b));
        gyre_baton_close(b);
    }
}

static void a_side_that_stops_lets_the_other_go(void)
{
    runner runners[GYRE_SIDES] = {0};
    shared s = {.fail_after = 3};

    race(&s, runners, 3);
    CHECK(runners[1].status == GYRE_CANCELLED);
    CHECK(runners[0].status == GYRE_CLOSED);
    CHECK(!gyre_baton_kept(s.baton));
    gyre_baton_close(s.baton);
}

static gyre_baton fake(size_t pairs)
{
    gyre_baton b = {.pairs = (uint32_t)pairs, .iterations = 1, .seed = 5};
    char letters[2 * GYRE_BATON_PAIRS + 1];
    size_t next[GYRE_SIDES] = {0};

    gyre_baton_order(b.seed, pairs, letters);
    for (size_t i = 0; letters[i]; i++) {
        const int side = letters[i] == 'B';

        b.epochs[side][next[side]++] =
            (gyre_epoch){.start_ns = 100 * i + 1, .end_ns = 100 * i + 90, .time_ns = 80};
    }
    b.taken[0] = b.taken[1] = (uint32_t)pairs;
    return b;
}

static void ignored_turns_are_seen(void)
{
    gyre_baton b = fake(6);

    CHECK(gyre_baton_kept(&b));
    b.taken[1] = 5;
    CHECK(!gyre_baton_kept(&b));
    b = fake(6);
    b.pairs = 7;
    CHECK(!gyre_baton_kept(&b));
    b.pairs = GYRE_BATON_PAIRS + 2;
    b.taken[0] = b.taken[1] = b.pairs;
    CHECK(!gyre_baton_kept(&b));
    b = fake(6);
    b.iterations = 0;
    CHECK(!gyre_baton_kept(&b));
    b = fake(6);
    b.epochs[0][3].start_ns -= 20; /* begun in the other's turn */
    CHECK(!gyre_baton_kept(&b));
    b = fake(6);
    b.epochs[1][2].time_ns = 0;
    CHECK(!gyre_baton_kept(&b));
    b.epochs[1][2].time_ns = (double)NAN;
    CHECK(!gyre_baton_kept(&b));
    b.epochs[1][2].time_ns = (double)INFINITY;
    CHECK(!gyre_baton_kept(&b));
}

static const test_case cases[] = {
    TEST(order_is_balanced_in_whole_blocks),
    TEST(another_version_is_refused),
    TEST(what_is_over_stays_over),
    TEST(sides_take_turns_and_never_run_at_once),
    TEST(a_side_that_stops_lets_the_other_go),
    TEST(ignored_turns_are_seen),
};
TEST_MAIN(cases)
