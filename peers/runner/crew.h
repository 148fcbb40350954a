/* SPDX-License-Identifier: Apache-2.0
 *
 * crew: the threads that do the work, started once and asleep in between.
 *
 * A job is one function, called by so many threads at the same moment. The clock runs from that
 * moment until the first of them, who sees the end, returns. All five threads exist while any of
 * them works, so no library ever finds itself in a process of one thread.
 *
 * Threads   one owner calls; the crew are five more.
 * Owns      its threads.
 * Not here  what is called (peers/), how often (runner/measure.h).
 */
#ifndef GYRE_PEERS_RUNNER_CREW_H
#define GYRE_PEERS_RUNNER_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "peers/peers.h"

typedef struct peers_crew peers_crew;

typedef struct peers_job {
    uint64_t (*run)(void *state, peers_turn *turn);
    void *state;
    uint32_t roles;    /* 1 and 2 are pinned, one to each CPU; more run where there is room */
    uint64_t count;    /* for every role's turn */
    uint32_t patience; /* of peers_wait, in pauses */
    uint64_t cap_ns;   /* afterwards peers_wait says that it is over */
} peers_job;

typedef struct peers_done {
    uint64_t right;    /* as role 0 returned */
    double elapsed_ns; /* its own figure where it gave one */
    bool given_up;     /* it took longer than the cap */
} peers_done;

/* Starts the threads, on the CPUs given: two different ones, or the same one twice. */
GYRE_MUST_USE gyre_status peers_crew_create(const uint32_t cpus[2], peers_crew **out_crew);

/* Blocks until every role has returned. Ends the process, with a sentence, when a job has not ended
 * a minute after its cap: a thread that listens to nobody cannot be stopped otherwise. */
peers_done peers_crew_run(peers_crew *crew, const peers_job *job);

void peers_crew_destroy(peers_crew *crew);

#endif
