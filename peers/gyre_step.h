/* SPDX-License-Identifier: Apache-2.0
 *
 * gyre_step: what ways in C have in common: two roles in step, a pattern, and the version of Gyre.
 *
 * Threads   a counter is written by one role.
 * Owns      nothing.
 */
#ifndef GYRE_PEERS_STEP_H
#define GYRE_PEERS_STEP_H

#include "gyre/atomic.h"
#include "gyre/library.h"
#include "peers/peers.h"

#define PEERS_TEXT_(text) #text
#define PEERS_TEXT(number) PEERS_TEXT_(number)
#define PEERS_GYRE_VERSION                                                                         \
    PEERS_TEXT(GYRE_VERSION_MAJOR)                                                                 \
    "." PEERS_TEXT(GYRE_VERSION_MINOR) "." PEERS_TEXT(GYRE_VERSION_PATCH)

/* Waits until the other role has come this far; false when the runner has given up. */
static inline bool peers_reached(const uint64_t *counter, uint64_t value)
{
    uint32_t tries = 0;

    /* acquire [peers-step]: pairs with the release in peers_step; what was handed over is visible
     */
    while (gyre_load_acquire(counter) < value)
        if (!peers_wait(&tries))
            return false;
    return true;
}

static inline void peers_step(uint64_t *counter, uint64_t value)
{
    /* release [peers-step]: pairs with the acquire in peers_reached */
    gyre_store_release(counter, value);
}

/* What large bytes hold. */
static inline void peers_fill_pattern(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 31);
}

static inline bool peers_is_pattern(const unsigned char *bytes, size_t size)
{
    unsigned char different = 0;

    for (size_t i = 0; i < size; i++)
        different |= (unsigned char)(bytes[i] ^ (unsigned char)(i * 31));
    return different == 0;
}

#endif
