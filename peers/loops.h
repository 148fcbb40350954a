/* SPDX-License-Identifier: Apache-2.0
 *
 * loops: what is done with a queue, for every queue in the same words.
 *
 * Included once for each kind of queue and size of item, by C and by C++. Before that, define
 *
 *     WAY    the prefix of its functions, among them
 *                bool WAY_push(void *state, uint32_t producer, const ITEM *item)  false: full
 *                bool WAY_pop(void *state, ITEM *item)                            false: empty
 *     ITEM   peers_item8, peers_item48 or peers_item64
 *     BULK   when it also has the bulk forms, which return how many they moved
 *                uint32_t WAY_push_bulk(void *state, uint32_t producer, const ITEM *, uint32_t n)
 *                uint32_t WAY_pop_bulk(void *state, ITEM *items, uint32_t n)
 *     BULK_ONLY  when the single forms are not wanted
 *
 * and get WAY_cycle and WAY_stream, and WAY_cycle_bulk and WAY_stream_bulk. A cycle is a push and
 * the pop of the same item by one thread; a stream goes from roles 1 and up to role 0, which
 * compares every item: each producer's come in order, and both ends of an item are alike.
 *
 * Threads   as peers.h says.
 * Owns      nothing.
 */
#include <string.h>

#include "peers/peers.h"

#ifndef GYRE_PEERS_LOOPS_H
#define GYRE_PEERS_LOOPS_H

#define LOOPS_JOIN_(a, b) a##_##b
#define LOOPS_JOIN(a, b) LOOPS_JOIN_(a, b)
#define NAMED(part) LOOPS_JOIN(WAY, part)
#define LOOPS_PART static __attribute__((unused)) /* not every queue does every work */

/* An item is filled so many turns before it is pushed: one that was just written in words and is
 * then copied in wider pieces would stall each copy, and hide what the queue costs. */
enum { PEERS_AHEAD = 8, PEERS_MADE = 2 * PEERS_AHEAD };

enum { PEERS_GLANCE = 32 }; /* items between two looks at whether all this is over */

/* Both ends of the item say which it is. */
static inline void peers_mark(uint64_t *word, size_t words, uint64_t value)
{
    word[0] = value;
    word[words - 1] = value;
}

static inline bool peers_is(uint64_t *word, size_t words, uint64_t value)
{
    if (words > 1)
        peers_keep(word);
    return (word[0] == value) & (word[words - 1] == value);
}

/* What a consumer expects of each producer. */
typedef struct peers_expected {
    uint64_t next[PEERS_PRODUCERS];
} peers_expected;

static inline peers_expected peers_expect(void)
{
    peers_expected expected;

    for (uint64_t i = 0; i < PEERS_PRODUCERS; i++)
        expected.next[i] = i << PEERS_PRODUCER_SHIFT;
    return expected;
}

static inline bool peers_is_next(peers_expected *expected, uint64_t *word, size_t words)
{
    uint64_t *const next = &expected->next[(word[0] >> PEERS_PRODUCER_SHIFT) % PEERS_PRODUCERS];

    return peers_is(word, words, (*next)++);
}

#endif

#define WORDS (sizeof(ITEM) / sizeof(uint64_t))

/* The item of that value, from those that are made ahead; a single word is made at once and stays
 * in its register. */
LOOPS_PART inline const ITEM *NAMED(next)(ITEM made[PEERS_MADE], uint64_t value)
{
    if (WORDS == 1) {
        made[0].word[0] = value;
        __asm__ volatile("" : "+r"(made[0].word[0]));
        return &made[0];
    }
    peers_mark(made[(value + PEERS_AHEAD) % PEERS_MADE].word, WORDS, value + PEERS_AHEAD);
    peers_keep(made);
    return &made[value % PEERS_MADE];
}

LOOPS_PART inline void NAMED(make)(ITEM made[PEERS_MADE], uint64_t first)
{
    for (uint64_t i = 0; i < PEERS_MADE; i++) {
        memset(&made[i], 0, sizeof made[i]);
        peers_mark(made[i].word, WORDS, first + i);
    }
}

#ifndef BULK_ONLY

LOOPS_PART uint64_t NAMED(cycle)(void *state, peers_turn *turn)
{
    ITEM made[PEERS_MADE], out = {{0}};
    uint64_t right = 0;

    NAMED(make)(made, 0);
    for (uint64_t i = 0; i < turn->count; i++) {
        if (!NAMED(push)(state, 0, NAMED(next)(made, i)) || !NAMED(pop)(state, &out))
            return right;
        right += peers_is(out.word, WORDS, i);
    }
    return right;
}

LOOPS_PART void NAMED(produce)(void *state, uint32_t producer, uint64_t count)
{
    const uint64_t first = (uint64_t)producer << PEERS_PRODUCER_SHIFT;
    uint32_t tries = 0;
    ITEM made[PEERS_MADE];

    NAMED(make)(made, first);
    for (uint64_t i = 0; i < count; i++) {
        const ITEM *const in = NAMED(next)(made, first + i);

        if (i % PEERS_GLANCE == 0 && peers_is_over())
            return;
        while (!NAMED(push)(state, producer, in))
            if (!peers_wait(&tries))
                return;
        tries = 0;
    }
}

LOOPS_PART uint64_t NAMED(stream)(void *state, peers_turn *turn)
{
    peers_expected expected = peers_expect();
    uint64_t right = 0;
    uint32_t tries = 0;
    ITEM out = {{0}};

    if (turn->role > 0) {
        NAMED(produce)(state, turn->role - 1, turn->count / (turn->roles - 1));
        return turn->count;
    }
    for (uint64_t i = 0; i < turn->count; i++) {
        if (i % PEERS_GLANCE == 0 && peers_is_over())
            return right;
        while (!NAMED(pop)(state, &out))
            if (!peers_wait(&tries))
                return right;
        tries = 0;
        right += peers_is_next(&expected, out.word, WORDS);
    }
    return right;
}

#endif

#ifdef BULK

LOOPS_PART uint64_t NAMED(cycle_bulk)(void *state, peers_turn *turn)
{
    ITEM in[PEERS_BULK] = {{{0}}}, out[PEERS_BULK] = {{{0}}};
    uint64_t right = 0;

    for (uint64_t i = 0; i < turn->count; i += PEERS_BULK) {
        for (uint64_t k = 0; k < PEERS_BULK; k++)
            peers_mark(in[k].word, WORDS, i + k);
        peers_keep(in);
        if (NAMED(push_bulk)(state, 0, in, PEERS_BULK) != PEERS_BULK ||
            NAMED(pop_bulk)(state, out, PEERS_BULK) != PEERS_BULK)
            return right;
        peers_keep(out);
        for (uint64_t k = 0; k < PEERS_BULK; k++) {
            right += (out[k].word[0] == i + k) & (out[k].word[WORDS - 1] == i + k);
            __asm__("" : "+r"(right)); /* one by one, whatever flags a peer is built with */
        }
    }
    return right;
}

LOOPS_PART void NAMED(produce_bulk)(void *state, uint32_t producer, uint64_t count)
{
    const uint64_t first = (uint64_t)producer << PEERS_PRODUCER_SHIFT;
    uint32_t tries = 0;
    ITEM in[PEERS_BULK] = {{{0}}};

    for (uint64_t i = 0; i < count; i += PEERS_BULK) {
        const uint32_t some = count - i < PEERS_BULK ? (uint32_t)(count - i) : (uint32_t)PEERS_BULK;
        uint32_t done = 0;

        for (uint64_t k = 0; k < some; k++)
            peers_mark(in[k].word, WORDS, first + i + k);
        peers_keep(in);
        while ((done += NAMED(push_bulk)(state, producer, in + done, some - done)) < some)
            if (!peers_wait(&tries))
                return;
        tries = 0;
    }
}

LOOPS_PART uint64_t NAMED(stream_bulk)(void *state, peers_turn *turn)
{
    peers_expected expected = peers_expect();
    uint64_t right = 0, seen = 0;
    uint32_t tries = 0, some;
    ITEM out[PEERS_BULK] = {{{0}}};

    if (turn->role > 0) {
        NAMED(produce_bulk)(state, turn->role - 1, turn->count / (turn->roles - 1));
        return turn->count;
    }
    while (seen < turn->count) {
        while ((some = NAMED(pop_bulk)(state, out, PEERS_BULK)) == 0)
            if (!peers_wait(&tries))
                return right;
        tries = 0;
        peers_keep(out);
        for (uint32_t k = 0; k < some; k++)
            right += peers_is_next(&expected, out[k].word, WORDS);
        seen += some;
    }
    return right;
}

#endif

#undef WORDS
#undef WAY
#undef ITEM
#undef BULK
#undef BULK_ONLY
