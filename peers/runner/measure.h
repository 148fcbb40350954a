/* SPDX-License-Identifier: Apache-2.0
 *
 * measure: takes turns between all ways of a work until there are samples enough.
 *
 * A round is one sample of every way, in an order drawn from the seed. Before the first round each
 * way is created, hands its object to another thread, which compares it, and is warmed up. A sample
 * of two threads or more stands between two bare ping-pongs on the same CPUs: it counts when they
 * agree, and belongs to their class. A sample during which the hypervisor took time is counted and
 * left out. A way that answers wrong, or takes longer than the cap, is out.
 *
 * Threads   one caller; the crew works.
 * Owns      the states of the ways, from the first round to the last.
 * Not here  the works (runner/works.h), what follows (runner/judge.h).
 */
#ifndef GYRE_PEERS_RUNNER_MEASURE_H
#define GYRE_PEERS_RUNNER_MEASURE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/usage.h"
#include "gyre/common.h"
#include "peers/runner/crew.h"
#include "peers/runner/result.h"
#include "stat/random.h"

typedef struct peers_measuring {
    peers_crew *crew;
    uint32_t cpus[2]; /* the same one twice where there is no second */
    bool quick;       /* a peer that is far behind is not measured to the end */
    bool once;        /* one sample of each, for its answer only */
    uint32_t pass;    /* of `passes`, from 0: results keep what the passes before have found */
    uint32_t passes;  /* at least 1 */
    gyre_stat_random random;
    gyre_usage usage;
    const volatile sig_atomic_t *interrupted; /* not 0: stop after this sample */
} peers_measuring;

/* Measures the results, which are the ways of one group, of two threads only where there are two
 * CPUs; *out_rounds is how many rounds it took. In each pass a part of the samples is taken, so
 * that between the passes others can be measured, and the machine change its pace. GYRE_NO_MEMORY.
 */
GYRE_MUST_USE gyre_status peers_measure(peers_measuring *how, peers_result *results, size_t count,
                                        size_t *out_rounds);

/* Whether ping-pongs before and after a sample agree, and the class that they speak of. */
GYRE_MUST_USE bool peers_classify(double before_ns, double after_ns, peers_class *out_class);

#endif
