/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_message: what the messages of the suites of actors carry, through a port and by hand.
 *
 * Each has a number, and all of its longs are that number, with other bits turned over in each
 * place: what belongs to another message, or to another place, is found.
 *
 * One way nobody compares them one by one. The other side counts, adds up what is in front and
 * takes the xor of the last eight bytes, and who sends keeps the same. Numbers in a row would not
 * do: if a whole ring kept the messages of the lap before, the xor would be right, and a sum of 32
 * bits once in sixteen times. So one is a large odd step from the next.
 *
 * Threads   one for each gyre_sent.
 * Owns      nothing.
 * Not here  the other side (behaviours/tally_quad.c, behaviours/tally_block.c, suites/bare_seat.c).
 */
#ifndef GYRE_SUITES_ACTOR_MESSAGE_H
#define GYRE_SUITES_ACTOR_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gyre/actor_abi.h"
#include "gyre/common.h"

enum { GYRE_MESSAGE_LONGS = 5 };

/* From one number to the next, one way. The lowest six bits go up by one each time. */
#define GYRE_MESSAGE_STEP UINT64_C(0x9e3779b97f4a7c41)

/* What a message has in one of its places; in the last it is the inverse of its number. */
GYRE_INLINE uint64_t gyre_message_long(uint64_t number, int place)
{
    static const uint64_t turned[GYRE_MESSAGE_LONGS] = {0, UINT64_C(0x00ff00ff0f0f3355),
                                                        UINT64_C(0x5533f0f000ffff00),
                                                        UINT64_C(0xff0000ffaacc0ff0), UINT64_MAX};

    return number ^ turned[place];
}

GYRE_INLINE void gyre_message_fill(gyre_brief *message, uint64_t number)
{
    for (int i = 0; i < GYRE_MESSAGE_LONGS; i++)
        message->body.longs[i] = gyre_message_long(number, i);
}

/* Two longs in a register. */
typedef uint64_t gyre_message_pair __attribute__((vector_size(16)));

/* The bits in which it differs from what it should carry, those of two places in one long. Pairs
 * are a third faster than longs, where a rate is measured by it. */
GYRE_INLINE gyre_message_pair gyre_message_wrong(const gyre_brief *message, uint64_t number)
{
    const gyre_message_pair plain = {number, number};
    gyre_message_pair middle, last;

    memcpy(&middle, &message->body.longs[1], sizeof middle);
    memcpy(&last, &message->body.longs[3], sizeof last);
    middle ^= plain ^ (gyre_message_pair) { gyre_message_long(0, 1), gyre_message_long(0, 2) };
    last ^= plain ^ (gyre_message_pair) { gyre_message_long(0, 3), gyre_message_long(0, 4) };
    return middle | last | (gyre_message_pair){message->body.longs[0] ^ number, 0};
}

GYRE_INLINE bool gyre_message_is(const gyre_brief *message, uint64_t number)
{
    const gyre_message_pair wrong = gyre_message_wrong(message, number);

    return (wrong[0] | wrong[1]) == 0;
}

/* What was sent one way; all zero at first, or with another number to begin after. */
typedef struct gyre_sent {
    uint64_t number; /* of the last */
    uint64_t count;
    uint64_t sum; /* of what is in front, */
    uint64_t mix; /* and the xor of what is in the last place */
} gyre_sent;

/* The number of the next one, which is counted as sent. */
GYRE_INLINE uint64_t gyre_sent_next(gyre_sent *sent)
{
    sent->number += GYRE_MESSAGE_STEP;
    sent->count++;
    sent->sum += sent->number;
    sent->mix ^= gyre_message_long(sent->number, GYRE_MESSAGE_LONGS - 1);
    return sent->number;
}

#endif
