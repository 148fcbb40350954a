/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/ring_abi.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "gyre/atomic.h"
#include "gyre/clock.h"
#include "test.h"

enum { SLOTS = 4, MESSAGES = 4000, ROUNDS = 50, SALT = 7 };

static gyre_ring_payload payload_of(uint64_t sequence)
{
    gyre_ring_payload payload;

    for (unsigned q = 0; q < 4; q++) {
        payload.eight[q] = (sequence + 1) * 0x9e3779b97f4a7c15u + q;
        payload.four[q] = (uint32_t)sequence * 0x85ebca6bu + q;
    }
    return payload;
}

static int is_payload_of(const gyre_ring_payload *payload, uint64_t sequence)
{
    const gyre_ring_payload whole = payload_of(sequence);

    return memcmp(payload, &whole, sizeof whole) == 0;
}

static void packed_payload_comes_back(void)
{
    const gyre_ring_payload sent = payload_of(3);
    gyre_ring_wide_slot wide;
    gyre_ring_payload got;
    gyre_ring_slot slot;

    gyre_ring_pack(&sent, 99, &slot);
    CHECK(gyre_ring_unpack(&slot, 99, &got) == GYRE_RING_READY && is_payload_of(&got, 3));
    memset(&got, 0, sizeof got);
    gyre_ring_wide_pack(&sent, 99, &wide);
    CHECK(gyre_ring_wide_unpack(&wide, 99, &got) == GYRE_RING_READY && is_payload_of(&got, 3));
}

static void one_other_stamp_says_not_yet(void)
{
    const gyre_ring_payload sent = payload_of(3), before = payload_of(4);
    gyre_ring_wide_slot wide;
    gyre_ring_payload got = before;
    gyre_ring_slot slot;

    for (int q = 0; q < 4; q++) {
        gyre_ring_pack(&sent, 99, &slot);
        slot.quarter[q].stamp ^= 1u << (q * 9);
        CHECK(gyre_ring_unpack(&slot, 99, &got) == GYRE_RING_NOT_YET);
    }
    for (int i = 0; i < GYRE_RING_WORDS; i++) {
        gyre_ring_wide_pack(&sent, 99, &wide);
        wide.word[i] ^= UINT64_C(1) << (32 + i);
        CHECK(gyre_ring_wide_unpack(&wide, 99, &got) == GYRE_RING_NOT_YET);
    }
    CHECK(is_payload_of(&got, 4));
}

static void zeroed_ring_holds_no_message(void)
{
    const gyre_ring_wide_slot wide = {{0}};
    const gyre_ring_slot slot = {{{0, 0, 0}}};
    gyre_ring_payload got;

    for (uint32_t incarnation = 0; incarnation < 100; incarnation++)
        for (uint64_t sequence = 0; sequence < 1 << 14; sequence++) {
            const uint32_t stamp = gyre_ring_stamp(sequence, gyre_ring_salt(incarnation));

            CHECK(gyre_ring_unpack(&slot, stamp, &got) == GYRE_RING_NOT_YET);
            CHECK(gyre_ring_wide_unpack(&wide, stamp, &got) == GYRE_RING_NOT_YET);
        }
}

static void stamps_of_other_laps_differ(void)
{
    const uint64_t sequence = UINT64_C(0xfffffff0); /* the low half is about to wrap */
    const uint32_t mine = gyre_ring_stamp(sequence, gyre_ring_salt(1));

    for (uint64_t laps = 1; laps < 1000; laps++)
        CHECK(gyre_ring_stamp(sequence + laps * SLOTS, gyre_ring_salt(1)) != mine);
    CHECK(gyre_ring_stamp(sequence + (UINT64_C(1) << 32), gyre_ring_salt(1)) == mine);
}

/* Sequences of one slot have the same low bits; the stamps of two incarnations do not. */
static void stamps_of_other_incarnations_differ(void)
{
    for (uint32_t one = 0; one < 100; one++)
        for (uint32_t other = one + 1; other < one + SLOTS; other++)
            for (uint64_t lap = 0; lap < 100; lap++)
                CHECK(gyre_ring_stamp(5, gyre_ring_salt(one)) % SLOTS !=
                      gyre_ring_stamp(5 + lap * SLOTS, gyre_ring_salt(other)) % SLOTS);
}

static void forty_bytes_of_a_payload_lie_together(void)
{
    unsigned char text[40] = "0123456789abcdefghijklmnopqrstuvwxyz.,;";
    gyre_ring_payload sent = payload_of(0), got;
    gyre_ring_slot slot;

    memcpy(&sent, text, sizeof text);
    gyre_ring_pack(&sent, 1, &slot);
    REQUIRE(gyre_ring_unpack(&slot, 1, &got) == GYRE_RING_READY);
    CHECK(memcmp(&got, text, sizeof text) == 0);
    CHECK(got.four[2] == payload_of(0).four[2] && got.four[3] == payload_of(0).four[3]);
}

/* A ring between two threads: stamps one way, one counter of credits the other. */
static gyre_ring_slot ring[SLOTS];
static gyre_ring_wide_slot wide_ring[SLOTS];
static uint64_t consumed; /* shared */

static void *write_both(void *unused)
{
    (void)unused;
    for (uint64_t sequence = 0; sequence < MESSAGES; sequence++) {
        const uint32_t stamp = gyre_ring_stamp(sequence, gyre_ring_salt(SALT));
        const gyre_ring_payload payload = payload_of(sequence);

        /* acquire [ring-test-credit]: pairs with the release below; the reads are done */
        while (sequence - gyre_load_acquire(&consumed) >= SLOTS)
            sched_yield();
        gyre_ring_write(&ring[sequence % SLOTS], stamp, &payload);
        gyre_ring_wide_write(&wide_ring[sequence % SLOTS], stamp, &payload);
    }
    return NULL;
}

static void pass_all(void)
{
    uint64_t wrong = 0;
    pthread_t writer;

    memset(ring, 0, sizeof ring);
    memset(wide_ring, 0, sizeof wide_ring);
    consumed = 0;
    REQUIRE(pthread_create(&writer, NULL, write_both, NULL) == 0);
    for (uint64_t sequence = 0; sequence < MESSAGES; sequence++) {
        const uint32_t stamp = gyre_ring_stamp(sequence, gyre_ring_salt(SALT));
        gyre_ring_payload got, wide_got;

        while (gyre_ring_read(&ring[sequence % SLOTS], stamp, &got) == GYRE_RING_NOT_YET)
            sched_yield();
        while (gyre_ring_wide_read(&wide_ring[sequence % SLOTS], stamp, &wide_got) ==
               GYRE_RING_NOT_YET)
            sched_yield();
        wrong += !is_payload_of(&got, sequence) || !is_payload_of(&wide_got, sequence);
        /* release [ring-test-credit]: pairs with the acquire above */
        gyre_store_release(&consumed, sequence + 1);
    }
    pthread_join(writer, NULL);
    CHECK(wrong == 0);
}

/* On a busy machine a credit takes as long as a neighbour's time slice: then fewer rounds must do.
 */
static void message_is_whole_whenever_it_is_ready(void)
{
    const uint64_t enough_ns = gyre_clock_after_ns(UINT64_C(5000000000));

    pass_all();
    for (int round = 1; round < ROUNDS && gyre_clock_now_ns() < enough_ns; round++)
        pass_all();
}

static const test_case cases[] = {
    TEST(packed_payload_comes_back),
    TEST(one_other_stamp_says_not_yet),
    TEST(zeroed_ring_holds_no_message),
    TEST(stamps_of_other_laps_differ),
    TEST(stamps_of_other_incarnations_differ),
    TEST(forty_bytes_of_a_payload_lie_together),
    TEST(message_is_whole_whenever_it_is_ready),
};
TEST_MAIN(cases)
