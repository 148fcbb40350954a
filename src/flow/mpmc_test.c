/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/mpmc.h"

#include <stdlib.h>

#include "chance.h"
#include "flow/slots_fake.h"
#include "test.h"

enum {
    CAPACITY = 8,
    LARGEST_SLOT = 200,
    LARGEST_CAPACITY = 32,
    LARGEST_BULK = 40,
    ROUNDS = 200,
    STEPS = 1500, /* of a small queue: more than the 64 laps after which a state comes back */
};

static gyre_mpmc queue;
static alignas(64) unsigned char storage[LARGEST_CAPACITY * LARGEST_SLOT + 128];

/* An empty queue over storage that was full of something, and of something else the next time. */
static void make(size_t slot_size, uint64_t capacity)
{
    static unsigned char dirt;
    size_t bytes = 0;

    CHECK(gyre_mpmc_storage_bytes(slot_size, capacity, &bytes) == GYRE_OK);
    CHECK(bytes <= sizeof storage);
    memset(storage, dirt ^= 0xa5, sizeof storage);
    CHECK(gyre_mpmc_init(&queue, storage, slot_size, capacity) == GYRE_OK);
}

static bool refused(void *from, size_t slot_size, uint64_t capacity, const char *advice)
{
    return gyre_mpmc_init(&queue, from, slot_size, capacity) == GYRE_INVALID &&
           strstr(gyre_error_last()->text, advice) != NULL;
}

static bool push(uint64_t value)
{
    return gyre_mpmc_push(&queue, &value, sizeof value);
}

static bool pops(uint64_t value)
{
    uint64_t got;

    return gyre_mpmc_pop(&queue, &got, sizeof got) && got == value;
}

static bool pops_nothing(void)
{
    uint64_t got;

    return !gyre_mpmc_pop(&queue, &got, sizeof got);
}

static void capacity_must_be_a_power_of_two(void)
{
    CHECK(refused(storage, 8, 0, "capacity 0 is not a power of two; take 1, 2, 4"));
    CHECK(refused(storage, 8, 7, "capacity 7"));
    CHECK(refused(storage, 8, UINT64_MAX, "power of two"));
    for (uint64_t capacity = 1; capacity <= CAPACITY; capacity *= 2)
        CHECK(gyre_mpmc_init(&queue, storage, 8, capacity) == GYRE_OK);
}

static void sizes_must_fit_into_memory(void)
{
    size_t bytes = 99;

    CHECK(refused(storage, 0, 8, "slot size is 0; give"));
    CHECK(refused(storage, 8, UINT64_C(1) << 61, "fewer or smaller"));
    CHECK(refused(storage, SIZE_MAX, 1, "fewer or smaller"));
    CHECK(refused(storage, 1, UINT64_C(1) << 63, "fewer or smaller"));
    CHECK(gyre_mpmc_storage_bytes(1, UINT64_C(1) << 63, &bytes) == GYRE_INVALID && bytes == 0);
}

static void storage_and_queue_must_be_aligned(void)
{
    gyre_mpmc two[2];
    unsigned char *const between = (unsigned char *)two + 16;

    CHECK(refused(NULL, 8, 8, "allocate 128 bytes"));
    CHECK(refused(storage + 8, 8, 8, "aligned_alloc"));
    CHECK(gyre_mpmc_init(NULL, storage, 8, 8) == GYRE_INVALID);
    CHECK(gyre_mpmc_init((gyre_mpmc *)(void *)between, storage, 8, 8) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "the queue at") != NULL);
}

static void full_queue_refuses_one_more(void)
{
    uint64_t position;

    for (uint64_t capacity = 1; capacity <= CAPACITY; capacity *= 2) {
        make(8, capacity);
        for (uint64_t i = 0; i < capacity; i++)
            CHECK(push(i));
        CHECK(!push(99));
        CHECK(gyre_mpmc_begin_push(&queue, 8, &position) == NULL);
        CHECK(gyre_mpmc_push_bulk(&queue, &(uint64_t){99}, 8, 1) == 0);
        for (uint64_t i = 0; i < capacity; i++)
            CHECK(pops(i));
    }
}

static void empty_queue_has_nothing_to_pop(void)
{
    uint64_t got = 42, position;

    make(8, CAPACITY);
    CHECK(!gyre_mpmc_pop(&queue, &got, sizeof got));
    CHECK(gyre_mpmc_begin_pop(&queue, sizeof got, &position) == NULL);
    CHECK(gyre_mpmc_pop_bulk(&queue, &got, sizeof got, 1) == 0);
    CHECK(got == 42);
}

static void bulk_moves_what_fits(void)
{
    for (uint64_t i = 0; i < 12; i++) {
        const uint64_t capacity = UINT64_C(1) << i / 2; /* each twice: both kinds of dirt */
        uint64_t some[100], got[100] = {0};

        make(8, capacity);
        fake_slots(some, 8, 100, 0);
        for (uint64_t lap = 0; lap < 3; lap++) {
            CHECK(push(7) && pops(7)); /* so that each lap begins one slot later */
            CHECK(gyre_mpmc_push_bulk(&queue, some, 8, 0) == 0);
            CHECK(gyre_mpmc_push_bulk(&queue, some, 8, 100) == capacity);
            CHECK(gyre_mpmc_push_bulk(&queue, some, 8, 100) == 0);
            CHECK(gyre_mpmc_pop_bulk(&queue, got, 8, 0) == 0);
            CHECK(gyre_mpmc_pop_bulk(&queue, got, 8, 100) == capacity);
            CHECK(are_fake_slots(got, 8, capacity, 0));
            CHECK(gyre_mpmc_pop_bulk(&queue, got, 8, 100) == 0);
        }
    }
}

static void consumers_wait_for_the_oldest_slot(void)
{
    uint64_t first, second, got[2], *in_first, *in_second;

    make(8, 4);
    in_first = gyre_mpmc_begin_push(&queue, 8, &first);
    in_second = gyre_mpmc_begin_push(&queue, 8, &second);
    REQUIRE(in_first && in_second && in_first != in_second);
    *in_second = 2;
    gyre_mpmc_commit_push(&queue, second);
    CHECK(push(3));
    CHECK(pops_nothing());
    CHECK(gyre_mpmc_pop_bulk(&queue, got, 8, 2) == 0);
    *in_first = 1;
    gyre_mpmc_commit_push(&queue, first);
    CHECK(pops(1) && pops(2) && pops(3) && pops_nothing());
}

static void producers_wait_for_the_oldest_slot(void)
{
    const uint64_t *first, *second;
    uint64_t at_first, at_second;

    make(8, 2);
    CHECK(push(1) && push(2));
    first = gyre_mpmc_begin_pop(&queue, 8, &at_first);
    second = gyre_mpmc_begin_pop(&queue, 8, &at_second);
    REQUIRE(first && second && *first == 1 && *second == 2);
    gyre_mpmc_commit_pop(&queue, at_second);
    CHECK(!push(3));
    gyre_mpmc_commit_pop(&queue, at_first);
    CHECK(push(3) && push(4) && !push(5));
    CHECK(pops(3) && pops(4));
}

static void claimed_slot_is_nobody_elses_on_the_next_lap(void)
{
    uint64_t first, second, third;

    make(8, 2);
    REQUIRE(gyre_mpmc_begin_push(&queue, 8, &first) && gyre_mpmc_begin_push(&queue, 8, &second));
    CHECK(gyre_mpmc_begin_push(&queue, 8, &third) == NULL);
    gyre_mpmc_commit_push(&queue, first);
    gyre_mpmc_commit_push(&queue, second);
    REQUIRE(gyre_mpmc_begin_pop(&queue, 8, &first) && gyre_mpmc_begin_pop(&queue, 8, &second));
    CHECK(gyre_mpmc_begin_pop(&queue, 8, &third) == NULL);
}

/* Although slots behind the end of the ring are in the right state. */
static void bulk_stops_before_a_slot_in_use(void)
{
    uint64_t some[8] = {0}, position, *into;

    make(8, 8);
    CHECK(gyre_mpmc_push_bulk(&queue, some, 8, 4) == 4 &&
          gyre_mpmc_pop_bulk(&queue, some, 8, 4) == 4);
    CHECK(push(4) && push(5));
    into = gyre_mpmc_begin_push(&queue, 8, &position);
    REQUIRE(into);
    CHECK(push(7) && push(8) && push(9));
    CHECK(gyre_mpmc_pop_bulk(&queue, some, 8, 8) == 2);
    *into = 6;
    gyre_mpmc_commit_push(&queue, position);

    REQUIRE(gyre_mpmc_begin_pop(&queue, 8, &position)); /* in slot 6 */
    CHECK(pops(7) && pops(8) && pops(9));
    CHECK(gyre_mpmc_push_bulk(&queue, some, 8, 8) == 4); /* from slot 2 on */
    CHECK(gyre_mpmc_pop_bulk(&queue, some, 8, 2) == 2);  /* 2 and 3 are for the next lap */
    gyre_mpmc_commit_pop(&queue, position);
    CHECK(gyre_mpmc_push_bulk(&queue, some, 8, 8) == 6);
}

static void abandoned_slot_is_passed_over(void)
{
    uint64_t position, got[4] = {0};

    make(8, 4);
    for (int lap = 0; lap < 3; lap++) {
        CHECK(push(1));
        REQUIRE(gyre_mpmc_begin_push(&queue, 8, &position));
        gyre_mpmc_abandon_push(&queue, position);
        REQUIRE(gyre_mpmc_begin_push(&queue, 8, &position));
        gyre_mpmc_abandon_push(&queue, position);
        CHECK(push(2));
        CHECK(!push(3));
        CHECK(gyre_mpmc_pop_bulk(&queue, got, 8, 4) == 1 && got[0] == 1);
        CHECK(pops(2));
        CHECK(pops_nothing());
        REQUIRE(gyre_mpmc_begin_push(&queue, 8, &position));
        gyre_mpmc_abandon_push(&queue, position);
        CHECK(pops_nothing());
    }
}

/* In storage that a sanitizer watches behind its end. */
static void slots_of_every_size_arrive_whole(void)
{
    for (size_t slot_size = 1; slot_size <= LARGEST_SLOT; slot_size++) {
        for (uint64_t capacity = 1; capacity <= CAPACITY; capacity *= 2) {
            unsigned char sent[LARGEST_SLOT], got[LARGEST_SLOT], *exact;
            size_t bytes;

            REQUIRE(gyre_mpmc_storage_bytes(slot_size, capacity, &bytes) == GYRE_OK);
            exact = aligned_alloc(64, bytes);
            REQUIRE(exact);
            CHECK(gyre_mpmc_init(&queue, exact, slot_size, capacity) == GYRE_OK);
            for (uint64_t i = 0; i < 3 * capacity; i++) {
                fake_slot(sent, slot_size, i * 12345);
                CHECK(gyre_mpmc_push(&queue, sent, slot_size));
                CHECK(gyre_mpmc_pop(&queue, got, slot_size));
                CHECK(memcmp(got, sent, slot_size) == 0);
            }
            free(exact);
        }
    }
}

/* The queue against a list of values and holes. */
#define HOLE UINT32_MAX

typedef struct model {
    size_t slot_size;
    uint64_t capacity, count;
    uint32_t next; /* the value to be pushed */
    uint32_t list[LARGEST_CAPACITY];
} model;

static void append(model *m, uint32_t value)
{
    m->list[m->count++] = value;
}

static void remove_first(model *m, uint64_t count)
{
    m->count -= count;
    memmove(m->list, m->list + count, m->count * sizeof m->list[0]);
}

/* What a pop does first. */
static void skip_holes(model *m)
{
    while (m->count > 0 && m->list[0] == HOLE)
        remove_first(m, 1);
}

/* How many values, up to `wanted`, stand before the first hole. */
static uint64_t values(const model *m, uint64_t wanted)
{
    uint64_t run = 0;

    while (run < wanted && run < m->count && m->list[run] != HOLE)
        run++;
    return run;
}

static bool pushes_agree(model *m, uint64_t wanted, unsigned char *buffer, uint64_t kind)
{
    const uint64_t room = m->capacity - m->count, in = wanted < room ? wanted : room;
    uint64_t position;
    void *into;

    fake_slots(buffer, m->slot_size, wanted + 1, m->next);
    if (kind == 0) {
        for (uint64_t i = 0; i < in; i++)
            append(m, m->next++);
        return gyre_mpmc_push_bulk(&queue, buffer, m->slot_size, wanted) == in;
    }
    if (kind == 1) {
        if (room > 0)
            append(m, m->next++);
        return gyre_mpmc_push(&queue, buffer, m->slot_size) == (room > 0);
    }
    into = gyre_mpmc_begin_push(&queue, m->slot_size, &position);
    if (!into)
        return room == 0;
    if (wanted % 2 == 0) {
        append(m, HOLE);
        gyre_mpmc_abandon_push(&queue, position);
    } else {
        append(m, m->next++);
        memcpy(into, buffer, m->slot_size);
        gyre_mpmc_commit_push(&queue, position);
    }
    return room > 0;
}

static bool pops_agree(model *m, uint64_t wanted, unsigned char *buffer, uint64_t kind)
{
    uint64_t out, position;
    const void *from;
    bool agrees;

    skip_holes(m);
    out = values(m, kind == 0 ? wanted : 1);
    if (kind == 0) {
        agrees = gyre_mpmc_pop_bulk(&queue, buffer, m->slot_size, wanted) == out;
    } else if (kind == 1) {
        agrees = gyre_mpmc_pop(&queue, buffer, m->slot_size) == (out == 1);
    } else {
        from = gyre_mpmc_begin_pop(&queue, m->slot_size, &position);
        agrees = (from != NULL) == (out == 1);
        if (from) {
            memcpy(buffer, from, m->slot_size);
            gyre_mpmc_commit_pop(&queue, position);
        }
    }
    for (uint64_t i = 0; i < out; i++)
        agrees = agrees && is_fake_slot(buffer + i * m->slot_size, m->slot_size, m->list[i]);
    remove_first(m, out);
    return agrees;
}

static void random_steps_agree_with_a_list(void)
{
    static unsigned char buffer[(LARGEST_BULK + 1) * LARGEST_SLOT];
    const uint64_t seed = chance_seed();
    uint64_t chance = seed;

    for (int round = 0; round < ROUNDS; round++) {
        model m = {1 + chance_below(&chance, LARGEST_SLOT),
                   UINT64_C(1) << chance_below(&chance, 6),
                   0,
                   0,
                   {0}};

        make(m.slot_size, m.capacity);
        for (int step = 0; step < STEPS; step++) {
            const uint64_t wanted = chance_below(&chance, LARGEST_BULK + 1);
            const uint64_t kind = chance_below(&chance, 3);

            if (chance_below(&chance, 2) ? !pushes_agree(&m, wanted, buffer, kind)
                                         : !pops_agree(&m, wanted, buffer, kind)) {
                printf("round %d, step %d: -DCHANCE_SEED=%llu\n", round, step,
                       (unsigned long long)seed);
                REQUIRE(!"the queue and the list agree");
            }
        }
    }
}

static const test_case cases[] = {
    /* init */
    TEST(capacity_must_be_a_power_of_two),
    TEST(sizes_must_fit_into_memory),
    TEST(storage_and_queue_must_be_aligned),
    /* use */
    TEST(full_queue_refuses_one_more),
    TEST(empty_queue_has_nothing_to_pop),
    TEST(bulk_moves_what_fits),
    TEST(consumers_wait_for_the_oldest_slot),
    TEST(producers_wait_for_the_oldest_slot),
    TEST(claimed_slot_is_nobody_elses_on_the_next_lap),
    TEST(bulk_stops_before_a_slot_in_use),
    TEST(abandoned_slot_is_passed_over),
    TEST(slots_of_every_size_arrive_whole),
    TEST(random_steps_agree_with_a_list),
};
TEST_MAIN(cases)
