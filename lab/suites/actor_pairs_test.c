/* SPDX-License-Identifier: Apache-2.0 */
#include "suites/actor_pairs.h"

#include <string.h>

#include "suites/actor_message.h"
#include "test.h"

enum { SOME = 100 };
static const uint64_t FIRST = UINT64_C(3) << 48;

/* A bulk whose first messages are answered as they ought to be. */
static void begin(gyre_bulk *bulk)
{
    REQUIRE(gyre_bulk_init(bulk, FIRST) == GYRE_OK);
    for (uint32_t i = 0; i < SOME; i++)
        gyre_message_fill(&bulk->answers[i], FIRST + i);
}

static bool is_right(gyre_bulk *bulk)
{
    bool right;

    gyre_bulk_compare(bulk, SOME);
    right = gyre_bulk_is_right(bulk, FIRST, SOME);
    gyre_bulk_fini(bulk);
    return right;
}

static void right_answers_are_right(void)
{
    gyre_bulk bulk;

    begin(&bulk);
    CHECK(is_right(&bulk));
}

static void messages_of_the_next_bulk_are_made(void)
{
    gyre_bulk bulk;

    begin(&bulk);
    gyre_bulk_compare(&bulk, SOME);
    CHECK(bulk.first == FIRST + SOME && bulk.made == SOME);
    for (uint64_t i = 0; i < SOME; i++)
        CHECK(bulk.messages[i].body.longs[0] == FIRST + SOME + i &&
              bulk.messages[i].body.longs[4] == ~(FIRST + SOME + i) &&
              gyre_message_is(&bulk.messages[i], FIRST + SOME + i));
    memcpy(bulk.answers, bulk.messages, SOME * sizeof bulk.answers[0]);
    gyre_bulk_compare(&bulk, SOME);
    CHECK(gyre_bulk_is_right(&bulk, FIRST, (uint64_t)2 * SOME));
    CHECK(!gyre_bulk_is_right(&bulk, FIRST, SOME));
    gyre_bulk_fini(&bulk);
}

static void wrong_words_are_found(void)
{
    for (uint32_t i = 0; i < SOME; i += 33)
        for (int bit = 0; bit < 64; bit++)
            for (int word = 0; word < GYRE_MESSAGE_LONGS; word++) {
                gyre_bulk bulk;

                begin(&bulk);
                bulk.answers[i].body.longs[word] ^= UINT64_C(1) << bit;
                CHECK(!is_right(&bulk));
            }
}

static void longs_of_another_message_are_found(void)
{
    for (int word = 0; word < GYRE_MESSAGE_LONGS; word++) {
        gyre_bulk bulk;

        begin(&bulk);
        bulk.answers[3].body.longs[word] = bulk.answers[4].body.longs[word];
        CHECK(!is_right(&bulk));
    }
}

static void longs_in_each_others_places_are_found(void)
{
    for (int word = 1; word < GYRE_MESSAGE_LONGS; word++) {
        gyre_bulk bulk;
        uint64_t *longs;

        begin(&bulk);
        longs = bulk.answers[3].body.longs;
        longs[word] ^= longs[0];
        longs[0] ^= longs[word];
        longs[word] ^= longs[0];
        CHECK(!is_right(&bulk));
    }
}

static void only_the_wrong_ones_are_not_counted(void)
{
    gyre_bulk bulk;

    begin(&bulk);
    bulk.answers[3].body.longs[4]++;
    bulk.answers[7].body.longs[0]++;
    gyre_bulk_compare(&bulk, SOME);
    CHECK(bulk.answered == SOME - 2);
    gyre_bulk_fini(&bulk);
}

static void answers_in_each_others_places_are_found(void)
{
    gyre_bulk bulk;
    gyre_brief first;

    begin(&bulk);
    first = bulk.answers[10];
    bulk.answers[10] = bulk.answers[11];
    bulk.answers[11] = first;
    CHECK(!is_right(&bulk));
}

static void answer_that_came_twice_is_found(void)
{
    gyre_bulk bulk;

    begin(&bulk);
    bulk.answers[SOME - 1] = bulk.answers[SOME - 2];
    CHECK(!is_right(&bulk));
}

static void answers_of_the_last_bulk_are_found(void)
{
    gyre_bulk bulk;

    begin(&bulk);
    gyre_bulk_compare(&bulk, SOME);
    gyre_bulk_compare(&bulk, SOME); /* the same again */
    CHECK(bulk.answered == SOME && !gyre_bulk_is_right(&bulk, FIRST, (uint64_t)2 * SOME));
    gyre_bulk_fini(&bulk);
}

static const test_case cases[] = {
    TEST(right_answers_are_right),
    TEST(messages_of_the_next_bulk_are_made),
    TEST(wrong_words_are_found),
    TEST(longs_of_another_message_are_found),
    TEST(longs_in_each_others_places_are_found),
    TEST(only_the_wrong_ones_are_not_counted),
    TEST(answers_in_each_others_places_are_found),
    TEST(answer_that_came_twice_is_found),
    TEST(answers_of_the_last_bulk_are_found),
};
TEST_MAIN(cases)
