/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour: the suite of a behaviour that the user brings, each figure beside an echo of the same
 * width on the same device. It is no part of the table of suites: there is one only when somebody
 * asks for it.
 *
 * Threads   one.
 * Owns      its tables, which are the last asked for.
 * Not here  where the behaviour comes from (apps/gyre/behaviour_bench.c).
 */
#ifndef GYRE_SUITES_BEHAVIOUR_H
#define GYRE_SUITES_BEHAVIOUR_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/actor_abi.h"
#include "gyre/behaviour.h"
#include "gyre/bench.h"

/* With a payload, its address and size are in front of what else a message carries. */
enum { GYRE_BEHAVIOUR_NAME_BYTES = 96, GYRE_BEHAVIOUR_FRONT_BYTES = 16 };

typedef struct gyre_behaviour_bench {
    const char *name; /* of the behaviour; the group is behaviour.NAME; copied */
    /* The behaviour, at the first set-up: listing needs none. Anything but GYRE_OK fails the case,
     * with its reason. */
    gyre_status (*load)(const gyre_behaviour **out_behaviour);
    gyre_brief message;    /* that is sent all the time */
    size_t body_bytes;     /* of it that were given, for the record */
    size_t payload_bytes;  /* that it refers to; 0: nothing, else the given bytes are behind that */
    uint32_t shared_bytes; /* of a block */
    uint32_t seats, threads; /* 0: the default */
} gyre_behaviour_bench;

/* The suite, with what was given copied. */
const gyre_suite *gyre_suite_behaviour(const gyre_behaviour_bench *bench);

#endif
