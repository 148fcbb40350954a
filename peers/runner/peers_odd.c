/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_odd: the runner with peers that do what peers should not: one is right, one answers wrong,
 * one hands over something else, one collapses, one loses what it should keep.
 *
 * Threads   as peers.h says.
 * Owns      a byte for each way.
 */
#include <stdlib.h>

#include "peers/tables.h"

static void *byte_create(void)
{
    return calloc(1, 1);
}

static void *nothing_create(void)
{
    return NULL;
}

static uint64_t right(void *state, peers_turn *turn)
{
    for (uint64_t i = 0; i < turn->count; i++)
        peers_keep(state);
    return turn->count;
}

static uint64_t wrong(void *state, peers_turn *turn)
{
    return right(state, turn) - 1;
}

/* Right as long as nobody asks for much, then never ready. */
static uint64_t collapse(void *state, peers_turn *turn)
{
    uint32_t tries = 0;

    (void)state;
    if (turn->count <= 10000)
        return turn->count;
    while (peers_wait(&tries))
        ;
    return 17;
}

static bool all_here(void *state, peers_account *out_account)
{
    (void)state;
    *out_account = (peers_account){100, 25, 75};
    return true;
}

static bool something_missing(void *state, peers_account *out_account)
{
    (void)state;
    *out_account = (peers_account){100, 25, 74};
    return false;
}

static const peers_way gyre_ways[] = {
    {"spsc_cycle_8", "ours", "1", "retry", "1", true, NULL, byte_create, right, right, NULL, free},
    {"spsc_cycle_8", "ours, in another way", "1", "retry", "1", true, "another", byte_create, right,
     right, NULL, free},
    {"mpmc_cycle_8", "ours", "1", "retry", "1", true, NULL, byte_create, wrong, right, NULL, free},
    {"stream_1p1c_64", "ours", "1", "retry", "1", true, NULL, byte_create, right, right, NULL,
     free},
    {"send_small", "ours", "1", "drop oldest", "1", false, NULL, byte_create, right, right,
     all_here, free},
};

static const peers_way peer_ways[] = {
    {"spsc_cycle_8", "right", "1", "retry", "1", true, NULL, byte_create, right, right, NULL, free},
    {"spsc_cycle_8", "wrong", "1", "retry", "1", true, NULL, byte_create, wrong, right, NULL, free},
    {"spsc_cycle_8", "other", "1", "retry", "1", true, NULL, byte_create, right, wrong, NULL, free},
    {"spsc_cycle_8", "nothing", "1", "retry", "1", true, NULL, nothing_create, right, right, NULL,
     free},
    {"mpmc_cycle_8", "right", "1", "retry", "1", true, NULL, byte_create, right, right, NULL, free},
    {"stream_1p1c_64", "right", "1", "retry", "1", true, NULL, byte_create, right, right, NULL,
     free},
    {"stream_1p1c_64", "collapse", "1", "retry", "1", true, NULL, byte_create, collapse, collapse,
     NULL, free},
    {"send_small", "lossy", "1", "drop oldest", "1", false, NULL, byte_create, right, right,
     all_here, free},
    {"send_small", "missing", "1", "drop oldest", "1", false, NULL, byte_create, right, right,
     something_missing, free},
};

static const peers_library gyre = {"Gyre", "0", PEERS_GYRE, gyre_ways,
                                   sizeof gyre_ways / sizeof gyre_ways[0]};
static const peers_library odd = {"tokio", "9", PEERS_PEER, peer_ways,
                                  sizeof peer_ways / sizeof peer_ways[0]};

const peers_library *const peers_libraries[] = {&gyre, &odd, NULL};
const peers_absent peers_absents[] = {{"a library", "somebody | forgot it"}, {NULL, NULL}};
