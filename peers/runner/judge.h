/* SPDX-License-Identifier: Apache-2.0
 *
 * judge: makes the rows of the table from what was measured, and holds them against their limits.
 *
 * A ratio is the median of Gyre's good samples over that of the fastest peer's, within one class. A
 * row is undecided without 20 good samples of both; then it has figures, and no verdict.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_PEERS_RUNNER_JUDGE_H
#define GYRE_PEERS_RUNNER_JUDGE_H

#include <stddef.h>

#include "peers/runner/result.h"

/* The rows of all rules whose work was measured, in their order; how many. `rows` has room for
 * PEERS_ROWS. */
size_t peers_judge(const peers_result *results, size_t count, peers_row rows[PEERS_ROWS]);

#endif
