/* SPDX-License-Identifier: Apache-2.0
 *
 * A turn alone: when a thread comes to hold it, and how others take it back. Most cases need a
 * system that has the heavy barrier; without it, nothing is ever held, which is a case too.
 */
#include "flow/turn.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "test.h"

enum {
    AT_ONCE = GYRE_TURN_LOOK, /* moves after which a new turn is held */
    LONG = 2000,              /* moves that pay for a recall */
    MANY = 100000,            /* moves after which a turn that is not held never will be */
};

static gyre_turn turn;

static uint64_t word_now(void)
{
    return atomic_load(&turn.word);
}

static bool is_held(void)
{
    return word_now() & GYRE_TURN_HELD;
}

/* Moves it by one; the word as it was. */
static uint64_t move_one(void)
{
    for (;;) {
        const gyre_move move = gyre_turn_begin(&turn);

        if (gyre_turn_end(&turn, move, 1))
            return move.word;
    }
}

/* Moves it until it is held: how often that took; at most MANY. */
static uint32_t move_until_held(void)
{
    uint32_t moves = 0;

    while (moves < MANY && !is_held()) {
        (void)move_one();
        moves++;
    }
    return moves;
}

static void start(bool may_hold)
{
    memset(&turn, 0, sizeof turn);
    gyre_turn_init(&turn, UINT64_MAX, may_hold);
}

/* Whether the calling thread holds it, and finds it as it was. */
static bool is_mine(void)
{
    _Atomic uint8_t *const busy = gyre_turn_enter(&turn);

    if (busy)
        gyre_turn_leave(&turn, busy, word_now());
    return busy != NULL;
}

static bool nobody_is_busy(void)
{
    for (int i = 0; i < GYRE_TURN_PLACES; i++)
        if (atomic_load(&turn.busy[i]))
            return false;
    return true;
}

/* Does something on a thread of its own, and waits for it. */
static void elsewhere(void *(*what)(void *), void *arg)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, what, arg) == 0)
        pthread_join(thread, NULL);
    else
        CHECK(!"a thread");
}

static void *other_moves(void *out_word)
{
    *(uint64_t *)out_word = move_one();
    return NULL;
}

static void *other_holds(void *unused)
{
    (void)move_until_held();
    CHECK(is_mine());
    return unused;
}

static void *other_wants(void *unused)
{
    gyre_turn_mark(&turn, GYRE_TURN_WANTED);
    return unused;
}

#define NEED_BARRIER()                                                                             \
    do {                                                                                           \
        if (!gyre_barrier_is_there())                                                              \
            SKIP("the system has no membarrier");                                                  \
    } while (0)

static void thread_that_moves_alone_comes_to_hold(void)
{
    NEED_BARRIER();
    start(true);
    for (uint64_t i = 0; i < AT_ONCE; i++) {
        CHECK(!is_held() && !is_mine());
        CHECK(move_one() == i * GYRE_TURN_STEP);
    }
    CHECK(is_held() && is_mine() && nobody_is_busy());
    for (uint64_t i = AT_ONCE; i < LONG; i++) {
        CHECK(gyre_turn_position(move_one()) == i);
        CHECK(is_held() && nobody_is_busy());
    }
    CHECK(gyre_turn_position(word_now()) == LONG);
}

static void move_by_several_counts_like_several(void)
{
    NEED_BARRIER();
    start(true);
    for (uint64_t i = 0; i < 100; i++) {
        const gyre_move move = gyre_turn_begin(&turn);

        CHECK(gyre_turn_position(move.word) == 7 * i);
        CHECK(gyre_turn_end(&turn, move, 7)); /* nobody disturbs */
        CHECK(is_held() == (7 * (i + 1) >= AT_ONCE));
    }
}

static void move_by_none_changes_nothing(void)
{
    gyre_move move;

    NEED_BARRIER();
    start(true);
    for (int i = 0; i < AT_ONCE + 5; i++) {
        const uint64_t word = word_now();

        move = gyre_turn_begin(&turn);
        CHECK(gyre_turn_end(&turn, move, 0) && word_now() == word && nobody_is_busy());
        (void)move_one();
    }
    /* but it says when the word is not the one that was looked at */
    start(true);
    move = gyre_turn_begin(&turn);
    (void)move_one();
    CHECK(!gyre_turn_end(&turn, move, 0) && !gyre_turn_end(&turn, move, 1));
    CHECK(gyre_turn_position(word_now()) == 1);
}

static void turn_that_may_not_be_held_never_is(void)
{
    start(false);
    CHECK(move_until_held() == MANY && !is_mine());
    CHECK(gyre_turn_position(word_now()) == MANY);
}

static void other_mover_takes_it_back(void)
{
    uint64_t word = 0, next;

    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    next = gyre_turn_position(word_now());
    elsewhere(other_moves, &word);
    CHECK(gyre_turn_position(word) == next && !(word & GYRE_TURN_MARKS));
    CHECK(!is_held() && !is_mine() && nobody_is_busy());
    CHECK(atomic_load(&turn.holder) == GYRE_TURN_NOBODY);
    CHECK(gyre_turn_position(move_one()) == next + 1);
}

static void mark_takes_it_back_and_the_next_move_sees_it(void)
{
    uint64_t next, word;

    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    next = gyre_turn_position(word_now());
    elsewhere(other_wants, NULL);
    CHECK(word_now() == (next << GYRE_TURN_MARK_BITS | GYRE_TURN_WANTED));
    word = move_one();
    CHECK(gyre_turn_position(word) == next && (word & GYRE_TURN_WANTED));
    CHECK(move_one() == (next + 1) * GYRE_TURN_STEP); /* and only that one */
}

static void own_mark_takes_it_back_too(void)
{
    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    gyre_turn_mark(&turn, GYRE_TURN_CLOSED);
    CHECK(!is_held() && !is_mine() && (word_now() & GYRE_TURN_CLOSED));
    gyre_turn_mark(&turn, GYRE_TURN_WANTED);
    CHECK((word_now() & GYRE_TURN_MARKS) == (GYRE_TURN_CLOSED | GYRE_TURN_WANTED));
}

static void marked_word_is_not_held(void)
{
    uint64_t word;

    NEED_BARRIER();
    start(true);
    (void)move_one();
    gyre_turn_mark(&turn, GYRE_TURN_WANTED);
    word = word_now();
    gyre_turn_look(&turn);
    CHECK(word_now() == word && !is_mine());
    CHECK(atomic_load(&turn.holder) == GYRE_TURN_NOBODY);
    (void)move_one();
    gyre_turn_look(&turn);
    CHECK(is_held() && is_mine());
}

static void wanting_needs_the_word_that_was_seen(void)
{
    uint64_t word;

    NEED_BARRIER();
    start(true);
    word = word_now();
    (void)move_one();
    CHECK(!gyre_turn_want(&turn, word) && word_now() == GYRE_TURN_STEP);
    word = word_now();
    CHECK(gyre_turn_want(&turn, word) && word_now() == (GYRE_TURN_STEP | GYRE_TURN_WANTED));
    CHECK(gyre_turn_want(&turn, word_now())); /* somebody else does already */
    (void)move_until_held();
    word = word_now();
    (void)move_one();
    CHECK(!gyre_turn_want(&turn, word)); /* held or not, it moved */
    CHECK((word_now() & GYRE_TURN_MARKS) == 0);
}

static void wanting_a_held_word_takes_it_back_and_marks_it(void)
{
    uint64_t word;

    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    word = word_now();
    CHECK(gyre_turn_want(&turn, word));
    CHECK(gyre_turn_same(word, word_now()) && (word_now() & GYRE_TURN_MARKS) == GYRE_TURN_WANTED);
}

/* Each recall that comes soon makes it take longer, up to a bound; one that comes late makes it
 * take short again. */
static void holding_comes_later_the_sooner_it_is_taken_back(void)
{
    uint32_t before = 0, moves;

    NEED_BARRIER();
    start(true);
    for (int i = 0; i < 20; i++) {
        moves = move_until_held();
        CHECK(moves < MANY && moves >= (i < 2 ? (uint32_t)AT_ONCE : before + (before < 4096)));
        before = moves;
        elsewhere(other_wants, NULL);
    }
    CHECK(before > 100 * AT_ONCE); /* one recall among so many moves is nothing */
    CHECK(move_until_held() < MANY);
    for (int i = 0; i < LONG; i++)
        (void)move_one();
    elsewhere(other_wants, NULL);
    CHECK(move_until_held() <= 2 * AT_ONCE);
}

/* The next to move is one who is seen. */
static void move_to_the_look(void)
{
    while (gyre_turn_position(word_now()) % GYRE_TURN_LOOK != GYRE_TURN_LOOK - 1)
        (void)move_one();
}

static void two_who_alternate_do_not_hold(void)
{
    uint64_t word;

    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    elsewhere(other_moves, &word);
    for (int i = 0; i < 50; i++) {
        /* one of them is there whenever somebody looks, then the other */
        move_to_the_look();
        elsewhere(other_moves, &word);
        CHECK(!is_held());
        move_to_the_look();
        (void)move_one();
        CHECK(!is_held());
    }
}

/* What a thread that recalls waits for, and what it does not. */
static uint32_t recalled;

static void *other_recalls(void *unused)
{
    gyre_turn_recall(&turn);
    __atomic_store_n(&recalled, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void recall_waits_for_a_busy_holder(void)
{
    _Atomic uint8_t *busy;
    pthread_t thread;
    uint64_t word;

    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    busy = gyre_turn_enter(&turn);
    REQUIRE(busy != NULL);
    word = word_now();
    recalled = 0;
    REQUIRE(pthread_create(&thread, NULL, other_recalls, NULL) == 0);
    while (atomic_load(&turn.holder) == gyre_turn_self())
        sched_yield();
    usleep(5000);
    CHECK(!__atomic_load_n(&recalled, __ATOMIC_SEQ_CST) && is_held());
    gyre_turn_leave(&turn, busy, word + GYRE_TURN_STEP);
    pthread_join(thread, NULL);
    CHECK(word_now() == (word & ~(uint64_t)GYRE_TURN_HELD) + GYRE_TURN_STEP);
}

typedef struct urgent {
    bool may;           /* have real-time priority */
    uint64_t worked_ms; /* in the recall */
} urgent;

static void *recall_urgently(void *arg)
{
    urgent *u = arg;
    struct timespec time;

    u->may = pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){1}) == 0;
    gyre_turn_recall(&turn);
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        u->worked_ms = (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
    return NULL;
}

/* It would do so for ever, or until the system stops it after most of a second. */
static void recall_does_not_keep_the_holder_from_the_cpu(void)
{
    urgent u = {false, 0};
    cpu_set_t before, one;
    _Atomic uint8_t *busy;
    pthread_t thread;

    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0); /* and of the thread to come */
    busy = gyre_turn_enter(&turn);
    REQUIRE(busy != NULL);
    CHECK(pthread_create(&thread, NULL, recall_urgently, &u) == 0);
    while (atomic_load(&turn.holder) == gyre_turn_self())
        continue;
    gyre_turn_leave(&turn, busy, word_now());
    pthread_join(thread, NULL);
    REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK(!is_held());
    if (!u.may)
        SKIP("no right to real-time priority");
    CHECK(u.worked_ms < 300);
}

static void recall_waits_for_nobody_else(void)
{
    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    for (int i = 1; i < GYRE_TURN_PLACES; i++)
        atomic_store(&turn.busy[i], 1); /* they held it once, and are late */
    elsewhere(other_recalls, NULL);
    CHECK(!is_held());
}

/* Whether a child that is forked now can move the word. */
static bool child_moves(void)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        uint64_t word;

        alarm(10); /* a wait that goes on kills it */
        elsewhere(other_moves, &word);
        _exit(is_held() || test_failed() ? 1 : 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void forked_child_waits_for_nobody(void)
{
    _Atomic uint8_t *busy;

    NEED_BARRIER();
    CHECK(gyre_process_use() == GYRE_OK);
    start(true);
    (void)move_until_held();
    CHECK(child_moves());
    busy = gyre_turn_enter(&turn);
    REQUIRE(busy != NULL);
    CHECK(child_moves()); /* the holder is at work */
    gyre_turn_leave(&turn, busy, word_now());
    atomic_store(&turn.holder, GYRE_TURN_CHANGING);
    CHECK(child_moves()); /* somebody who recalls it is */
}

static void former_holder_does_not_stay_busy(void)
{
    uint64_t word;

    NEED_BARRIER();
    start(true);
    (void)move_until_held();
    elsewhere(other_moves, &word);
    for (int i = 0; i < 5; i++) {
        CHECK(!is_mine() && nobody_is_busy());
        (void)move_one();
    }
}

/* Two who recall at once: both return, and it is recalled once. */
static void recall_of_what_is_not_held_returns(void)
{
    start(true);
    (void)move_one();
    gyre_turn_recall(&turn);
    CHECK(word_now() == GYRE_TURN_STEP && atomic_load(&turn.holder) == GYRE_TURN_NOBODY);
}

/* Its place is free of it, whoever gets its thread pointer next. */
static void thread_that_ends_leaves_a_turn_that_can_be_recalled(void)
{
    uint64_t next, word;

    NEED_BARRIER();
    start(true);
    for (int i = 0; i < 20; i++) {
        elsewhere(other_holds, NULL);
        CHECK(is_held() && !is_mine());
        next = gyre_turn_position(word_now());
        word = move_one();
        CHECK(gyre_turn_position(word) == next && !is_held());
    }
}

/* Threads that live at the same time, one at work after another. */
typedef struct guest {
    pthread_t thread;
    uint32_t number, moves;
    uintptr_t self;
} guest;

static uint32_t at_work; /* the guest whose turn it is; seq_cst */

static void await_work(uint32_t number)
{
    while (__atomic_load_n(&at_work, __ATOMIC_SEQ_CST) != number)
        sched_yield();
}

static void *be_guest(void *arg)
{
    guest *g = arg;

    await_work(g->number);
    g->self = gyre_turn_self();
    (void)move_one(); /* which recalls it from the one before */
    g->moves = move_until_held();
    for (int i = 1; i < LONG; i++)
        (void)move_one(); /* so that the next need not be patient */
    CHECK(is_mine() == (g->moves < MANY));
    __atomic_fetch_add(&at_work, 1, __ATOMIC_SEQ_CST);
    await_work(GYRE_TURN_PLACES + 1);
    return NULL;
}

static void ninth_thread_does_without(void)
{
    guest guests[GYRE_TURN_PLACES + 1] = {{0}};
    uint64_t moves = 0;

    NEED_BARRIER();
    start(true);
    at_work = 0;
    for (uint32_t i = 0; i <= GYRE_TURN_PLACES; i++) {
        guests[i].number = i;
        REQUIRE(pthread_create(&guests[i].thread, NULL, be_guest, &guests[i]) == 0);
    }
    for (uint32_t i = 0; i <= GYRE_TURN_PLACES; i++) {
        pthread_join(guests[i].thread, NULL);
        moves += guests[i].moves + LONG;
        CHECK((guests[i].moves < MANY) == (i < GYRE_TURN_PLACES));
        CHECK(guests[i].self % GYRE_TURN_PLACES == 0);
        for (uint32_t k = 0; k < i; k++)
            CHECK(guests[k].self != guests[i].self);
        if (i < GYRE_TURN_PLACES)
            CHECK(turn.places[i] == guests[i].self);
    }
    CHECK(gyre_turn_position(word_now()) == moves && nobody_is_busy());
    CHECK(atomic_load(&turn.holder) == GYRE_TURN_NOBODY && !is_held());
}

static void place_is_kept_for_its_thread(void)
{
    uint64_t word;

    NEED_BARRIER();
    start(true);
    elsewhere(other_holds, NULL);
    for (int i = 0; i < 3; i++) {
        CHECK(move_until_held() < MANY || is_mine());
        (void)move_one();
        (void)move_until_held();
        CHECK(is_mine() && atomic_load(&turn.holder) == gyre_turn_self() + 1);
        elsewhere(other_moves, &word);
    }
    CHECK(turn.places[2] == 0);
}

static const test_case cases[] = {
    TEST(thread_that_moves_alone_comes_to_hold),
    TEST(move_by_several_counts_like_several),
    TEST(move_by_none_changes_nothing),
    TEST(turn_that_may_not_be_held_never_is),
    TEST(other_mover_takes_it_back),
    TEST(mark_takes_it_back_and_the_next_move_sees_it),
    TEST(own_mark_takes_it_back_too),
    TEST(marked_word_is_not_held),
    TEST(wanting_needs_the_word_that_was_seen),
    TEST(wanting_a_held_word_takes_it_back_and_marks_it),
    TEST(holding_comes_later_the_sooner_it_is_taken_back),
    TEST(two_who_alternate_do_not_hold),
    TEST(recall_waits_for_a_busy_holder),
    TEST(recall_does_not_keep_the_holder_from_the_cpu),
    TEST(recall_waits_for_nobody_else),
    TEST(forked_child_waits_for_nobody),
    TEST(former_holder_does_not_stay_busy),
    TEST(recall_of_what_is_not_held_returns),
    TEST(thread_that_ends_leaves_a_turn_that_can_be_recalled),
    TEST(ninth_thread_does_without),
    TEST(place_is_kept_for_its_thread),
};
TEST_MAIN(cases)
