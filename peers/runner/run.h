/* SPDX-License-Identifier: Apache-2.0
 *
 * run: everything one run of the peers measured, and its file (gyre.peers/1,
 * docs/formats/peers.md).
 *
 * Threads   one.
 * Owns      its head and its results.
 * Not here  tables for people (runner/table.h).
 */
#ifndef GYRE_PEERS_RUNNER_RUN_H
#define GYRE_PEERS_RUNNER_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "peers/runner/result.h"
#include "record/run.h"

typedef struct peers_run {
    gyre_run *head; /* who, when, where; it has no results of its own */
    uint64_t seed;
    bool quick;
    uint32_t cpus[2];
    peers_result *results;
    size_t count;
    peers_row rows[PEERS_ROWS];
    size_t row_count;
} peers_run;

/* Of every way that is linked and whose work `wanted` likes (NULL: all), in the order of the works;
 * starting now on this machine. */
GYRE_MUST_USE gyre_status peers_run_create(int argc, char *const *argv,
                                           bool (*wanted)(const void *arg, const char *work),
                                           const void *arg, peers_run **out_run);

/* The run as JSON. Errors stay in the stream. */
void peers_run_write(const peers_run *run, FILE *stream);

/* Replaces `path` by it, and makes the folder when it is missing. GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status peers_run_save(const peers_run *run, const char *path);

/* The rows of a file. As gyre_document_read. */
GYRE_MUST_USE gyre_status peers_rows_read(const char *path, peers_row rows[PEERS_ROWS],
                                          size_t *out_count);

void peers_run_destroy(peers_run *run);

#endif
