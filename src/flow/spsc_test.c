/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/spsc.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "chance.h"
#include "flow/slots_fake.h"
#include "test.h"

enum {
    CAPACITY = 8,
    LARGEST_SLOT = 200,
    LARGEST_CAPACITY = 64, /* enough for a push that leaves the consumer in peace for a while */
    LARGEST_BULK = 20,
    ROUNDS = 300,
    STEPS = 300,
    TRANSFERS = 300000,
};

static gyre_spsc queue;
static alignas(64) uint64_t slots[CAPACITY];

static void make(void)
{
    CHECK(gyre_spsc_init(&queue, slots, sizeof slots[0], CAPACITY) == GYRE_OK);
}

static bool refused(gyre_spsc *at, void *storage, size_t slot_size, uint64_t capacity,
                    const char *advice)
{
    return gyre_spsc_init(at, storage, slot_size, capacity) == GYRE_INVALID &&
           strstr(gyre_error_last()->text, advice) != NULL;
}

static void capacity_must_be_a_power_of_two(void)
{
    CHECK(refused(&queue, slots, 8, 0, "capacity 0 is not a power of two; take 1, 2, 4"));
    CHECK(refused(&queue, slots, 8, 7, "capacity 7"));
    CHECK(refused(&queue, slots, 8, UINT64_MAX, "power of two"));
    for (uint64_t capacity = 1; capacity <= CAPACITY; capacity *= 2)
        CHECK(gyre_spsc_init(&queue, slots, 8, capacity) == GYRE_OK);
}

static void sizes_must_fit_into_memory(void)
{
    CHECK(refused(&queue, slots, 0, 8, "slot size is 0; give"));
    CHECK(refused(&queue, slots, 8, UINT64_C(1) << 61, "fewer or smaller"));
    CHECK(refused(&queue, slots, SIZE_MAX, 2, "fewer or smaller"));
}

static void storage_must_be_there_and_the_queue_aligned(void)
{
    gyre_spsc two[2];
    unsigned char *const between = (unsigned char *)two + 16;

    CHECK(refused(&queue, NULL, 8, 8, "give 64 bytes"));
    CHECK(refused(NULL, slots, 8, 8, "aligned to 64"));
    CHECK(refused((gyre_spsc *)(void *)between, slots, 8, 8, "aligned_alloc"));
}

static void full_queue_refuses_one_more(void)
{
    make();
    for (uint64_t i = 0; i < CAPACITY; i++)
        REQUIRE(gyre_spsc_push(&queue, &i, sizeof i));

    CHECK(!gyre_spsc_push(&queue, &(uint64_t){99}, sizeof(uint64_t)));
    CHECK(gyre_spsc_begin_push(&queue, sizeof(uint64_t)) == NULL);
    CHECK(gyre_spsc_push_bulk(&queue, &(uint64_t){99}, sizeof(uint64_t), 1) == 0);
    CHECK(gyre_spsc_room(&queue, 5) == 0);
    CHECK(gyre_spsc_filled(&queue, 100) == CAPACITY);
}

static void empty_queue_has_nothing_to_pop(void)
{
    uint64_t got = 42;

    make();
    CHECK(!gyre_spsc_pop(&queue, &got, sizeof got));
    CHECK(gyre_spsc_begin_pop(&queue, sizeof got) == NULL);
    CHECK(gyre_spsc_pop_bulk(&queue, &got, sizeof got, 1) == 0);
    CHECK(gyre_spsc_filled(&queue, 5) == 0);
    CHECK(gyre_spsc_room(&queue, 100) == CAPACITY);
    CHECK(got == 42);
}

static void full_queue_takes_as_many_as_were_popped(void)
{
    static alignas(64) uint64_t many[LARGEST_CAPACITY];
    uint64_t next = 0, first = 0, got;

    CHECK(gyre_spsc_init(&queue, many, sizeof many[0], LARGEST_CAPACITY) == GYRE_OK);
    for (uint64_t popped = 0; popped <= LARGEST_CAPACITY; popped++) {
        while (gyre_spsc_push(&queue, &next, sizeof next))
            next++;
        CHECK(next - first == LARGEST_CAPACITY);
        for (uint64_t i = 0; i < popped; i++, first++)
            CHECK(gyre_spsc_pop(&queue, &got, sizeof got) && got == first);
    }
}

static void bulk_moves_what_fits(void)
{
    uint64_t some[12], got[12] = {0};

    make();
    fake_slots(some, 8, 12, 0);
    CHECK(gyre_spsc_push_bulk(&queue, some, 8, 0) == 0);
    CHECK(gyre_spsc_push_bulk(&queue, some, 8, 5) == 5);
    CHECK(gyre_spsc_push_bulk(&queue, some + 5, 8, 7) == 3);
    CHECK(gyre_spsc_pop_bulk(&queue, got, 8, 0) == 0);
    CHECK(gyre_spsc_pop_bulk(&queue, got, 8, 6) == 6);
    CHECK(gyre_spsc_push_bulk(&queue, some + 8, 8, 4) == 4); /* around the end */
    CHECK(gyre_spsc_pop_bulk(&queue, got + 6, 8, 12) == 6);
    CHECK(memcmp(got, some, sizeof got) == 0);
}

static void begin_without_commit_takes_nothing(void)
{
    const uint64_t *front;
    uint64_t *next, got;

    make();
    next = gyre_spsc_begin_push(&queue, sizeof *next);
    REQUIRE(next);
    *next = 1;
    CHECK(!gyre_spsc_pop(&queue, &got, sizeof got));
    CHECK(gyre_spsc_begin_push(&queue, sizeof *next) == next);
    gyre_spsc_commit_push(&queue, 1);
    front = gyre_spsc_begin_pop(&queue, sizeof *front);
    REQUIRE(front);
    CHECK(gyre_spsc_begin_pop(&queue, sizeof *front) == front && *front == 1);
    gyre_spsc_commit_pop(&queue, 1);
    CHECK(gyre_spsc_begin_pop(&queue, sizeof *front) == NULL);
}

/* In storage that a sanitizer watches on both sides, at any alignment. */
static void slots_of_every_size_arrive_whole(void)
{
    for (size_t slot_size = 1; slot_size <= LARGEST_SLOT; slot_size++) {
        for (uint64_t capacity = 1; capacity <= CAPACITY; capacity *= 2) {
            const size_t shift = slot_size % 16;
            unsigned char *const storage = malloc(shift + slot_size * capacity);
            unsigned char sent[LARGEST_SLOT], got[LARGEST_SLOT];

            REQUIRE(storage);
            CHECK(gyre_spsc_init(&queue, storage + shift, slot_size, capacity) == GYRE_OK);
            for (uint64_t i = 0; i < 3 * capacity; i++) {
                fake_slot(sent, slot_size, i * 12345);
                CHECK(gyre_spsc_push(&queue, sent, slot_size));
                CHECK(gyre_spsc_pop(&queue, got, slot_size));
                CHECK(memcmp(got, sent, slot_size) == 0);
            }
            free(storage);
        }
    }
}

/* The queue against two numbers: everything from `first` up to `next` is in it. */
typedef struct model {
    size_t slot_size;
    uint64_t capacity, first, next;
} model;

static bool step_agrees(model *m, uint64_t *chance)
{
    static unsigned char buffer[(LARGEST_BULK + 1) * LARGEST_SLOT];
    const uint64_t room = m->capacity - (m->next - m->first), filled = m->next - m->first;
    const uint64_t wanted = chance_below(chance, LARGEST_BULK + 1);
    const uint64_t in = wanted < room ? wanted : room, out = wanted < filled ? wanted : filled;

    fake_slots(buffer, m->slot_size, wanted + 1, m->next);
    switch (chance_below(chance, 6)) {
    case 0:
        m->next += room > 0;
        return gyre_spsc_push(&queue, buffer, m->slot_size) == (room > 0);
    case 1:
        m->first += filled > 0;
        return gyre_spsc_pop(&queue, buffer, m->slot_size) == (filled > 0) &&
               (filled == 0 || is_fake_slot(buffer, m->slot_size, m->first - 1));
    case 2:
        m->next += in;
        return gyre_spsc_push_bulk(&queue, buffer, m->slot_size, wanted) == in;
    case 3:
        m->first += out;
        return gyre_spsc_pop_bulk(&queue, buffer, m->slot_size, wanted) == out &&
               are_fake_slots(buffer, m->slot_size, out, m->first - out);
    case 4: {
        void *const into = gyre_spsc_begin_push(&queue, m->slot_size);

        if (!into || wanted % 4 == 0)
            return (into != NULL) == (room > 0);
        memcpy(into, buffer, m->slot_size);
        gyre_spsc_commit_push(&queue, 1);
        m->next++;
        return room > 0;
    }
    default: {
        const void *const from = gyre_spsc_begin_pop(&queue, m->slot_size);

        if (!from)
            return filled == 0;
        if (!is_fake_slot(from, m->slot_size, m->first))
            return false;
        gyre_spsc_commit_pop(&queue, wanted % 4 != 0);
        m->first += wanted % 4 != 0;
        return true;
    }
    }
}

static void random_steps_agree_with_a_list(void)
{
    static alignas(64) unsigned char storage[LARGEST_CAPACITY * LARGEST_SLOT];
    const uint64_t seed = chance_seed();
    uint64_t chance = seed;

    for (int round = 0; round < ROUNDS; round++) {
        model m = {1 + chance_below(&chance, LARGEST_SLOT), UINT64_C(1) << chance_below(&chance, 7),
                   0, 0};

        CHECK(gyre_spsc_init(&queue, storage, m.slot_size, m.capacity) == GYRE_OK);
        for (int step = 0; step < STEPS; step++) {
            if (!step_agrees(&m, &chance)) {
                printf("round %d, step %d: -DCHANCE_SEED=%llu\n", round, step,
                       (unsigned long long)seed);
                REQUIRE(!"the queue and the list agree");
            }
        }
    }
}

/* Single, in bulk and in place, as it comes. */
static void *produce(void *arg)
{
    uint64_t chance = *(const uint64_t *)arg, some[LARGEST_BULK];

    for (uint64_t next = 0; next < TRANSFERS;) {
        uint64_t wanted = 1 + chance_below(&chance, LARGEST_BULK), *into, done = 0;

        wanted = wanted < TRANSFERS - next ? wanted : TRANSFERS - next;
        for (uint64_t i = 0; i < wanted; i++)
            some[i] = next + i;
        if (wanted % 3 == 0) {
            done = gyre_spsc_push(&queue, some, sizeof some[0]);
        } else if (wanted % 3 == 1) {
            done = gyre_spsc_push_bulk(&queue, some, sizeof some[0], wanted);
        } else if ((into = gyre_spsc_begin_push(&queue, sizeof some[0]))) {
            *into = next;
            gyre_spsc_commit_push(&queue, 1);
            done = 1;
        }
        next += done;
        if (done == 0)
            sched_yield();
    }
    return NULL;
}

static void two_threads_lose_and_reorder_nothing(uint64_t capacity)
{
    static alignas(64) uint64_t storage[LARGEST_CAPACITY];
    uint64_t seed = chance_seed(), chance = seed + 1, some[LARGEST_BULK], wrong = 0;
    pthread_t producer;

    CHECK(gyre_spsc_init(&queue, storage, sizeof storage[0], capacity) == GYRE_OK);
    REQUIRE(pthread_create(&producer, NULL, produce, &seed) == 0);
    for (uint64_t next = 0; next < TRANSFERS;) {
        const uint64_t wanted = 1 + chance_below(&chance, LARGEST_BULK);
        const uint64_t *from;
        uint64_t done = 0;

        if (wanted % 3 == 0) {
            done = gyre_spsc_pop(&queue, some, sizeof some[0]);
        } else if (wanted % 3 == 1) {
            done = gyre_spsc_pop_bulk(&queue, some, sizeof some[0], wanted);
        } else if ((from = gyre_spsc_begin_pop(&queue, sizeof some[0]))) {
            some[0] = *from;
            gyre_spsc_commit_pop(&queue, 1);
            done = 1;
        }
        for (uint64_t i = 0; i < done; i++)
            wrong += some[i] != next++;
        if (done == 0)
            sched_yield();
    }
    pthread_join(producer, NULL);
    CHECK(wrong == 0);
    CHECK(!gyre_spsc_pop(&queue, some, sizeof some[0]));
}

static void two_threads_lose_and_reorder_nothing_in_few_slots(void)
{
    two_threads_lose_and_reorder_nothing(CAPACITY);
}

static void two_threads_lose_and_reorder_nothing_in_many_slots(void)
{
    two_threads_lose_and_reorder_nothing(LARGEST_CAPACITY);
}

static const test_case cases[] = {
    /* init */
    TEST(capacity_must_be_a_power_of_two),
    TEST(sizes_must_fit_into_memory),
    TEST(storage_must_be_there_and_the_queue_aligned),
    /* one thread */
    TEST(full_queue_refuses_one_more),
    TEST(empty_queue_has_nothing_to_pop),
    TEST(full_queue_takes_as_many_as_were_popped),
    TEST(bulk_moves_what_fits),
    TEST(begin_without_commit_takes_nothing),
    TEST(slots_of_every_size_arrive_whole),
    TEST(random_steps_agree_with_a_list),
    /* two threads */
    TEST(two_threads_lose_and_reorder_nothing_in_few_slots),
    TEST(two_threads_lose_and_reorder_nothing_in_many_slots),
};
TEST_MAIN(cases)
