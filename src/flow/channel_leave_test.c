/* SPDX-License-Identifier: Apache-2.0
 *
 * Sleepers who give up. One patient thread and two with short deadlines wait on a channel, and at
 * about the moment at which they give up something comes for one of the three. Whoever leaves must
 * not take the wake along: the patient one gets it, or the next.
 */
#include "flow/channel_fake.h"

enum { ROUNDS = 300 };

static uint64_t far_away(void)
{
    return gyre_clock_after_ns(10000ull * MILLISECOND);
}

typedef struct round_table {
    gyre_channel *channel;
    pthread_barrier_t begin, over;
    uint32_t gave_up;  /* of this round; seq_cst */
    uint32_t received; /* those who did not; seq_cst */
    bool sends;        /* they wait for room, not for items */
} round_table;

typedef struct guest {
    round_table *table;
    uint64_t seed;
    bool patient;
} guest;

static gyre_status wait_once(const round_table *t, uint64_t deadline_ns)
{
    uint32_t item[4] = {0};

    return t->sends ? gyre_channel_send(t->channel, item[0], item, 8, deadline_ns)
                    : gyre_channel_receive(t->channel, item, NULL, deadline_ns);
}

static void *sit(void *arg)
{
    guest *g = arg;
    fake_random random = {g->seed};

    for (int i = 0; i < ROUNDS; i++) {
        gyre_status status;
        uint64_t deadline_ns;

        pthread_barrier_wait(&g->table->begin);
        deadline_ns = g->patient ? far_away() : gyre_clock_after_ns(fake_below(&random, 200000));
        status = wait_once(g->table, deadline_ns);
        if (g->patient) /* and not only because it looked again at its deadline */
            CHECK(status == GYRE_OK && gyre_clock_now_ns() < deadline_ns);
        else
            CHECK(status == GYRE_OK ||
                  (status == GYRE_TIMEOUT && gyre_clock_now_ns() >= deadline_ns));
        if (!g->patient)
            __atomic_fetch_add(status == GYRE_OK ? &g->table->received : &g->table->gave_up, 1,
                               __ATOMIC_SEQ_CST);
        pthread_barrier_wait(&g->table->over);
    }
    return NULL;
}

static void serve_one(const round_table *t)
{
    uint32_t item[4] = {0};

    CHECK((t->sends ? gyre_channel_try_receive(t->channel, item, NULL)
                    : gyre_channel_try_send(t->channel, 0, item, 8)) == GYRE_OK);
}

static void play_rounds(bool sends, bool banded)
{
    round_table t = {
        .channel = fake_channel(
            (gyre_channel_options){.capacity = 1, .item_bytes = 16, .banded = banded}, NULL),
        .sends = sends};
    guest guests[3];
    pthread_t threads[3];
    fake_random random = {4711};
    uint32_t item[2] = {0, 0};

    REQUIRE(t.channel != NULL);
    if (sends)
        CHECK(gyre_channel_try_send(t.channel, 0, item, 8) == GYRE_OK);
    pthread_barrier_init(&t.begin, NULL, 4);
    pthread_barrier_init(&t.over, NULL, 4);
    for (uint64_t i = 0; i < 3; i++) {
        guests[i] = (guest){&t, i, i == 0};
        REQUIRE(pthread_create(&threads[i], NULL, sit, &guests[i]) == 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t end_ns;

        __atomic_store_n(&t.gave_up, 0, __ATOMIC_SEQ_CST);
        __atomic_store_n(&t.received, 0, __ATOMIC_SEQ_CST);
        pthread_barrier_wait(&t.begin);
        end_ns = gyre_clock_after_ns(fake_below(&random, 200000));
        while (gyre_clock_now_ns() < end_ns)
            sched_yield();
        serve_one(&t);
        while (__atomic_load_n(&t.gave_up, __ATOMIC_SEQ_CST) +
                   __atomic_load_n(&t.received, __ATOMIC_SEQ_CST) <
               2)
            sched_yield();
        if (__atomic_load_n(&t.received, __ATOMIC_SEQ_CST) > 0)
            serve_one(&t);
        pthread_barrier_wait(&t.over);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(fake_describe(t.channel).queued == sends && fake_accounts_hold(t.channel));
    pthread_barrier_destroy(&t.begin);
    pthread_barrier_destroy(&t.over);
    gyre_channel_destroy(t.channel);
}

static void receivers_who_give_up_take_no_wake_along(void)
{
    play_rounds(false, false);
    play_rounds(false, true);
}

static void senders_who_give_up_take_no_wake_along(void)
{
    play_rounds(true, false);
    play_rounds(true, true);
}

static const test_case cases[] = {
    TEST(receivers_who_give_up_take_no_wake_along),
    TEST(senders_who_give_up_take_no_wake_along),
};
TEST_MAIN(cases)
