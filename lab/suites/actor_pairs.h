/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_pairs: many calls at once, and a check of every answer.
 *
 * A bulk of messages is called with in one call; each carries its number in all of its longs
 * (suites/actor_message.h), and answers are compared one by one, in their order, and added up. So a
 * message that is lost, doubled, mixed up or in the wrong place is found. Who compares the answers
 * of a bulk makes the messages of the next meanwhile.
 *
 * Threads   one for a bulk.
 * Owns      the messages and answers, from init to fini.
 */
#ifndef GYRE_SUITES_ACTOR_PAIRS_H
#define GYRE_SUITES_ACTOR_PAIRS_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/port.h"

enum {
    GYRE_BULK = 8192,      /* messages */
    GYRE_BULK_RING = 8192, /* slots */
};

typedef struct gyre_bulk {
    alignas(128) gyre_brief *messages; /* owned; GYRE_BULK of them */
    gyre_brief *answers;               /* likewise */
    uint64_t first;                    /* number of the next message, */
    uint32_t made;                     /* of which so many are made */
    uint64_t answered;                 /* in their place, with the right words */
    uint64_t sum, mix;                 /* of what came back */
} gyre_bulk;

/* The first message is number `first`. GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_bulk_init(gyre_bulk *bulk, uint64_t first);

/* Zero is fine. */
void gyre_bulk_fini(gyre_bulk *bulk);

/* Calls with the next `count` messages, at most GYRE_BULK, and looks at the answers. */
GYRE_MUST_USE gyre_status gyre_bulk_call(gyre_bulk *bulk, gyre_port *port, uint32_t count,
                                         uint64_t deadline_ns);

/* The part of that after the call: compares `count` answers, and makes as many messages. */
void gyre_bulk_compare(gyre_bulk *bulk, uint32_t count);

/* Whether `count` messages from `first` on were called with, and each was answered once. */
GYRE_MUST_USE bool gyre_bulk_is_right(const gyre_bulk *bulk, uint64_t first, uint64_t count);

#endif
