/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/slot.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/clock.h"
#include "test.h"

enum { NARROW, WIDE, FORMS, MESSAGES = 2000, ROUNDS = 50, STAMP = 99 };

static gyre_brief brief_of(uint32_t sequence)
{
    gyre_brief brief = {.type = (gyre_abi_u16)sequence,
                        .flags = GYRE_BRIEF_CALL,
                        .priority = (gyre_abi_u8)(sequence * 3),
                        .correlation = sequence};

    for (uint32_t i = 0; i < 10; i++)
        brief.body.words[i] = sequence * 0x9e3779b1u + i;
    return brief;
}

static bool same(const gyre_brief *a, const gyre_brief *b)
{
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*): bytes are what travels */
    return memcmp(a, b, sizeof *a) == 0;
}

static uint64_t head_of(const gyre_brief *brief)
{
    return gyre_slot_head(brief, brief->flags, brief->correlation);
}

static void what_is_written_is_read(void)
{
    for (uint32_t form = 0; form < FORMS; form++) {
        const gyre_brief sent = brief_of(7);
        gyre_ring_wide_slot slot = {{0}};
        gyre_brief got = {0};

        gyre_slot_write((unsigned char *)&slot, form == WIDE, STAMP, head_of(&sent), &sent);
        REQUIRE(gyre_slot_read((unsigned char *)&slot, form == WIDE, STAMP, &got));
        CHECK(same(&got, &sent));
    }
}

/* Where there is a quicker way, each has to understand the other. */
static void both_ways_are_the_same(void)
{
    const gyre_brief sent = brief_of(8);
    gyre_ring_slot quick = {{{0}}}, parts = {{{0}}};
    gyre_brief got = {0};

    gyre_slot_write((unsigned char *)&quick, 0, STAMP, head_of(&sent), &sent);
    gyre_slot_write_parts((unsigned char *)&parts, 0, STAMP, head_of(&sent), &sent);
    CHECK(memcmp(&quick, &parts, sizeof quick) == 0);
    REQUIRE(gyre_slot_read_parts((unsigned char *)&quick, 0, STAMP, &got));
    CHECK(same(&got, &sent));
}

static void copies_go_where_they_should(void)
{
    const gyre_brief sent = brief_of(13);
    const gyre_ring_wide_slot untouched = {{0}};

    for (uint32_t form = 0; form < FORMS; form++) {
        gyre_ring_wide_slot slots[6] = {{{0}}};

        gyre_slot_write_copies((unsigned char *)&slots[0], 2 * sizeof slots[0], 2, form == WIDE,
                               STAMP, head_of(&sent), &sent);
        for (int i = 0; i < 6; i++) {
            gyre_brief got = {0};

            if (i == 0 || i == 2) {
                REQUIRE(gyre_slot_read((unsigned char *)&slots[i], form == WIDE, STAMP, &got));
                CHECK(same(&got, &sent));
            } else {
                CHECK(memcmp(&slots[i], &untouched, sizeof untouched) == 0);
            }
        }
    }
}

static void the_head_is_the_one_that_was_given(void)
{
    for (uint32_t form = 0; form < FORMS; form++) {
        const gyre_brief sent = brief_of(9), other = brief_of(10);
        gyre_ring_wide_slot slot = {{0}};
        gyre_brief got = {0}, wanted = sent;

        gyre_slot_write((unsigned char *)&slot, form == WIDE, STAMP,
                        gyre_slot_head(&other, GYRE_BRIEF_EMPTY, 0xfedcba98u), &sent);
        REQUIRE(gyre_slot_read((unsigned char *)&slot, form == WIDE, STAMP, &got));
        wanted.type = other.type;
        wanted.priority = other.priority;
        wanted.flags = GYRE_BRIEF_EMPTY;
        wanted.correlation = 0xfedcba98u;
        CHECK(same(&got, &wanted));
    }
}

static void one_other_stamp_says_not_yet(void)
{
    const gyre_brief sent = brief_of(11), before = brief_of(12);
    gyre_brief got = before;

    for (int q = 0; q < 4; q++) {
        gyre_ring_slot slot;

        gyre_slot_write((unsigned char *)&slot, 0, STAMP, head_of(&sent), &sent);
        slot.quarter[q].stamp ^= 1u << (q * 9);
        CHECK(gyre_slot_read((unsigned char *)&slot, 0, STAMP, &got) == GYRE_RING_NOT_YET);
    }
    for (int i = 0; i < GYRE_RING_WORDS; i++) {
        gyre_ring_wide_slot slot;

        gyre_slot_write((unsigned char *)&slot, 1, STAMP, head_of(&sent), &sent);
        slot.word[i] ^= UINT64_C(1) << (32 + i);
        CHECK(gyre_slot_read((unsigned char *)&slot, 1, STAMP, &got) == GYRE_RING_NOT_YET);
    }
    CHECK(same(&got, &before)); /* left alone */
}

typedef struct table {
    gyre_ring_wide_slot slot;
    uint32_t wide;
    uint32_t wrong;
} table;

/* Takes turns with the other thread in one slot, as a bell and its answer do. */
static void take_turns(table *t, uint32_t first, uint32_t *wrong)
{
    unsigned char *const slot = (unsigned char *)&t->slot;

    for (uint32_t n = first; n < MESSAGES; n += 2) {
        const gyre_brief sent = brief_of(n), expected = brief_of(n - 1);
        gyre_brief got = {0};

        while (n > 0 && !gyre_slot_read(slot, t->wide, n, &got))
            sched_yield();
        if (n > 0)
            *wrong += !same(&got, &expected);
        gyre_slot_write(slot, t->wide, n + 1, head_of(&sent), &sent);
    }
}

static void *answer(void *arg)
{
    table *const t = arg;

    take_turns(t, 1, &t->wrong);
    return NULL;
}

static void play(uint32_t form)
{
    table t = {.wide = form == WIDE};
    uint32_t wrong = 0;
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, answer, &t) == 0);
    take_turns(&t, 0, &wrong);
    pthread_join(thread, NULL);
    CHECK(wrong == 0 && t.wrong == 0);
}

/* On a busy machine a turn takes as long as a neighbour's time slice: then fewer rounds must do. */
static void two_threads_take_turns_in_a_slot(void)
{
#if defined(__SANITIZE_THREAD__)
    const uint32_t first = WIDE; /* it does not see accesses of 16 bytes */
#else
    const uint32_t first = NARROW;
#endif
    for (uint32_t form = first; form < FORMS; form++) {
        const uint64_t enough_ns = gyre_clock_after_ns(UINT64_C(5000000000));

        play(form);
        for (int round = 1; round < ROUNDS && gyre_clock_now_ns() < enough_ns; round++)
            play(form);
    }
}

static const test_case cases[] = {
    TEST(what_is_written_is_read),      TEST(both_ways_are_the_same),
    TEST(copies_go_where_they_should),  TEST(the_head_is_the_one_that_was_given),
    TEST(one_other_stamp_says_not_yet), TEST(two_threads_take_turns_in_a_slot),
};
TEST_MAIN(cases)
