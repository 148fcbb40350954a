/* SPDX-License-Identifier: Apache-2.0
 *
 * apart: measures a group of works in a process of its own, whose waits never spin.
 *
 * How long waits spin is one setting for a process, read once (GYRE_SPIN). So the works that must
 * sleep are measured by this same program, started again; all of their ways take turns there, and
 * the samples come back through a pipe.
 *
 * Threads   one.
 * Owns      the process, which is ended with us.
 */
#ifndef GYRE_PEERS_RUNNER_APART_H
#define GYRE_PEERS_RUNNER_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "peers/runner/measure.h"

/* The process that is measuring, for a signal handler to pass its signal on; 0: none. */
extern volatile pid_t peers_apart_child;

/* The word that makes the program a part: `--apart SEED quick|full|once GROUP`. */
extern const char peers_apart_word[];

/* The results are all ways of one group, in the order in which every process lists them. GYRE_IO
 * when the process cannot be started or does not do its part; what it sent is kept. */
GYRE_MUST_USE gyre_status peers_apart_measure(const peers_measuring *how, peers_result *results,
                                              size_t count, size_t *out_rounds);

/* The other side: what was measured, for the one who started us. */
void peers_apart_send(FILE *stream, const peers_result *results, size_t count, size_t rounds);

/* What comes besides the results. */
typedef struct peers_apart_news {
    size_t rounds;
    bool sleeps; /* its waits do not spin */
} peers_apart_news;

/* Reads one line of it. False when it makes no sense. */
GYRE_MUST_USE bool peers_apart_take(const char *line, peers_result *results, size_t count,
                                    peers_apart_news *news);

#endif
