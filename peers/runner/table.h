/* SPDX-License-Identifier: Apache-2.0
 *
 * table: rows and figures as people read them, on a terminal and in Markdown.
 *
 * Threads   one.
 * Owns      nothing.
 */
#ifndef GYRE_PEERS_RUNNER_TABLE_H
#define GYRE_PEERS_RUNNER_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "peers/runner/run.h"

/* The rows, what is undecided and why, what was not built or has collapsed, and how many are met;
 * `verbose`: every way's figure too. */
void peers_table_print(FILE *stream, const peers_run *run, bool verbose);

/* Which ways answered right when each was tried once; `verbose`: those too. How many did not. */
size_t peers_table_answers(FILE *stream, const peers_run *run, bool verbose);

/* The rows as a table of a README, under the name of the file that they are from. */
void peers_table_markdown(FILE *stream, const char *path, const peers_row *rows, size_t count);

/* Every work with its ways, measured or not. */
void peers_table_list(FILE *stream, const peers_run *run);

#endif
