/* SPDX-License-Identifier: Apache-2.0
 *
 * What is meant for the warps of a block (actor/cuda_annex.h), by threads of the host: prints of
 * many at once while somebody reads them, and counts.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "actor/print.h"
#include "actor/slot.h"
#include "test.h"

/* NOLINTBEGIN(cert-dcl51-cpp,bugprone-reserved-identifier): CUDA's words */
#define __shared__ static
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
/* NOLINTEND(cert-dcl51-cpp,bugprone-reserved-identifier) */
#define gyre_self_say block_say
#undef GYRE_FUNCTION
#define GYRE_FUNCTION static

static const struct {
    uint32_t x;
} threadIdx = {0}, blockDim = {1};

static uint32_t atomicAdd(uint32_t *at, uint32_t value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

static uint32_t atomicCAS(uint32_t *at, uint32_t expected, uint32_t desired)
{
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

#include "actor/cuda_annex.h"

enum { CAPACITY = 16, SPEAKERS = 3, TIMES = 30000, INCARNATION = 5 };

static const gyre_mailbox_shape shape = {.incarnation = INCARNATION,
                                         .telemetry = GYRE_SEAT_TELEMETRY | GYRE_SEAT_HISTOGRAM,
                                         .prints = CAPACITY};

static struct {
    gyre_annex annex;
    gyre_ring_slot slots[CAPACITY];
} memory;

static void begin(uint32_t number)
{
    memset(&memory, 0, sizeof memory);
    memory.annex.host.read = memory.annex.seat.claimed = number;
    gyre_books_init(&memory.annex, &shape);
}

/* The next print, as the host reads it. */
static bool hear(gyre_actor_print *out_print)
{
    static char text[GYRE_PRINT_TEXT + 1];
    const uint32_t number = memory.annex.host.read;
    gyre_brief slot;

    if (!gyre_slot_read((unsigned char *)&memory + gyre_annex_slot_at(number, CAPACITY, 0), 0,
                        gyre_ring_stamp(number, gyre_ring_salt(INCARNATION)), &slot))
        return false;
    gyre_mailbox_release(&memory.annex.host.read, number + 1); /* [print-read] */
    gyre_print_read(&slot, text, out_print);
    return true;
}

static atomic_int speaking;

static void *speak(void *arg)
{
    gyre_self self = {.lanes = 4};
    const uint64_t me = *(const uint64_t *)arg;

    for (uint64_t i = 0; i < TIMES; i++) {
        gyre_self_print(&self, "me", me << 32 | i);
        self.lane = 1;
        gyre_self_print(&self, "not heard", i);
        self.lane = 0;
    }
    atomic_fetch_sub(&speaking, 1);
    return NULL;
}

static void prints_of_many_are_whole_and_in_order(void)
{
    static uint64_t numbers[SPEAKERS] = {0, 1, 2};
    uint64_t next[SPEAKERS] = {0}, heard = 0;
    pthread_t threads[SPEAKERS];
    gyre_actor_print print;
    bool over;

    begin(UINT32_MAX - 100); /* numbers go round, too */
    atomic_store(&speaking, SPEAKERS);
    for (size_t i = 0; i < SPEAKERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, speak, &numbers[i]) == 0);
    do {
        over = atomic_load(&speaking) == 0;
        while (hear(&print)) {
            const uint64_t who = print.value >> 32, what = print.value & UINT32_MAX;

            REQUIRE(who < SPEAKERS && strcmp(print.text, "me") == 0);
            CHECK(what >= next[who]);
            next[who] = what + 1;
            heard++;
        }
    } while (!over);
    for (size_t i = 0; i < SPEAKERS; i++)
        pthread_join(threads[i], NULL);
    gyre_books_tell(0, 0);
    gyre_books_end();
    CHECK(heard >= CAPACITY && heard + memory.annex.seat.lost == (uint64_t)SPEAKERS * TIMES);
    CHECK(memory.annex.seat.claimed == memory.annex.host.read);
    CHECK(memory.annex.seat.claimed == (uint32_t)(UINT32_MAX - 100 + heard));
}

static void what_is_full_stays_as_it_is(void)
{
    gyre_self self = {.lanes = 1};
    gyre_actor_print print;

    begin(0);
    for (uint32_t i = 0; i < CAPACITY + 5; i++)
        gyre_self_print(&self, "number", i);
    for (uint32_t i = 0; i < CAPACITY; i++)
        CHECK(hear(&print) && print.value == i);
    CHECK(!hear(&print));
    gyre_self_print(&self, "again", 7);
    CHECK(hear(&print) && print.value == 7 && strcmp(print.text, "again") == 0);
    gyre_books_tell(0, 0);
    CHECK(memory.annex.seat.lost == 5);
}

static void counts_go_on_beyond_32_bits(void)
{
    begin(0);
    memory.annex.histogram[gyre_annex_bucket(1000)] = UINT64_C(0x2ffffffff);
    gyre_books_init(&memory.annex, &shape);
    gyre_books_sort(1000);
    gyre_books_sort(1001);
    gyre_books_sort(3);
    for (uint32_t lane = 0; lane < 32; lane++)
        gyre_books_tell(lane, GYRE_SEAT_TELEMETRY | GYRE_SEAT_HISTOGRAM);
    CHECK(memory.annex.histogram[gyre_annex_bucket(1000)] == UINT64_C(0x300000001));
    CHECK(memory.annex.histogram[3] == 1 && memory.annex.histogram[4] == 0);
}

static const test_case cases[] = {
    TEST(prints_of_many_are_whole_and_in_order),
    TEST(what_is_full_stays_as_it_is),
    TEST(counts_go_on_beyond_32_bits),
};
TEST_MAIN(cases)
