/* SPDX-License-Identifier: Apache-2.0
 *
 * result: what was measured of each way, and the rows that were made of it.
 *
 * Threads   one.
 * Owns      the results and the rows; texts of ways are static.
 * Not here  measuring (runner/measure.h), judging (runner/judge.h), files (runner/file.h).
 */
#ifndef GYRE_PEERS_RUNNER_RESULT_H
#define GYRE_PEERS_RUNNER_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "peers/peers.h"
#include "peers/runner/works.h"

enum { PEERS_SAMPLES = 400, PEERS_PROBLEM = 160, PEERS_NAME = 96 };

/* Good samples of one class, in the order of time. */
typedef struct peers_series {
    size_t count;
    double ns[PEERS_SAMPLES];          /* per item, trip or cycle */
    double pingpong_ns[PEERS_SAMPLES]; /* the mean of the two beside it; of two threads only */
} peers_series;

/* One way of one work. */
typedef struct peers_result {
    const peers_library *library;
    const peers_way *way;
    const peers_work *work;
    char problem[PEERS_PROBLEM]; /* why there is no figure to compare; "" none */
    bool skipped;                /* the problem is the machine's */
    uint64_t count;              /* items, trips or cycles of a sample */
    peers_series series[PEERS_CLASSES];
    size_t stolen;       /* samples left out: the hypervisor took time meanwhile */
    size_t unsteady;     /* samples left out: the two ping-pongs disagree */
    uint64_t sent, lost; /* of all samples, where the way may lose */
} peers_result;

typedef enum peers_verdict {
    PEERS_MET = 0,
    PEERS_MISSED = 1,
    PEERS_UNDECIDED = 2,
    PEERS_NOT_JUDGED = 3, /* there is no limit */
} peers_verdict;

/* Figures that are not known are NaN. */
typedef struct peers_row {
    char work[PEERS_NAME];
    double gyre_ns;
    char best_peer[PEERS_NAME]; /* "" none */
    double best_peer_ns, ratio, limit, floor_ns;
    /* capacity, policy when full, items on their way: "1024, retry, 1"; "" where there is no peer
     */
    char conditions[PEERS_NAME], best_peer_conditions[PEERS_NAME];
    char limit_text[PEERS_NAME];
    peers_class class_;
    double loss;    /* of Gyre's items, 0 to 1 */
    size_t samples; /* good ones, of the side that has fewer */
    peers_verdict verdict;
    char reason[PEERS_PROBLEM];   /* of an undecided one, or of a miss that is not the ratio's */
    char faster_peer[PEERS_NAME]; /* that the rule does not name, and that does the same work; "" */
    double faster_peer_ns;
    char also[PEERS_NAME]; /* what else it is held against; "" nothing */
    double also_value, also_limit;
} peers_row;

enum { PEERS_ROWS = 64 };

/* "met", "missed", "undecided", "not judged". Borrowed, static. */
const char *peers_verdict_name(peers_verdict verdict);

/* The middle of a series of at least one sample; and the quantile p. */
double peers_series_median(const peers_series *series);
double peers_series_quantile(const peers_series *series, double p);

/* The middle of the ping-pongs beside it. */
double peers_series_pingpong(const peers_series *series);

#endif
