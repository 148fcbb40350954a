/* SPDX-License-Identifier: Apache-2.0
 *
 * baseline: results kept under a name, to compare later runs with.
 *
 * A baseline is a run file, FOLDER/baselines/NAME.json, that grows: saving a run replaces the
 * results that it measured anew and leaves the others, so that a run of some benchmarks does not
 * lose the rest. What stands above the results (command, options, machine) is the last run's; each
 * result says when it was measured. A lock beside the file is held from the reading to the
 * replacing, so that two runs that save at once are both in it.
 *
 * Threads   any; other processes too.
 * Owns      nothing but FOLDER/baselines.
 * Not here  comparing (record/compare.h).
 */
#ifndef GYRE_RECORD_BASELINE_H
#define GYRE_RECORD_BASELINE_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "record/run.h"

enum { GYRE_BASELINE_NAME_BYTES = 64 };

/* GYRE_INVALID with a sentence unless the name is made of letters, digits, '_', '-' and '.', does
 * not begin with '.', has 1 to 64 bytes, and is not "latest", which means the last run. */
GYRE_MUST_USE gyre_status gyre_baseline_check(const char *name);

/* Reads a baseline. GYRE_INVALID for its name, GYRE_NOT_FOUND with the names that there are, else
 * as gyre_run_read. */
GYRE_MUST_USE gyre_status gyre_baseline_load(const char *folder, const char *name,
                                             gyre_run **out_run);

/* Puts what the run has measured into the baseline, which is made when missing, and waits while
 * somebody else does so. GYRE_INVALID for its name or when it would hold more than a file can,
 * GYRE_IO, and as gyre_run_read when the file that is there cannot be read; it is left as it was
 * then. */
GYRE_MUST_USE gyre_status gyre_baseline_save(const char *folder, const char *name,
                                             const gyre_run *run);

/* The file that a word of a command line means: the baseline of that name if there is one, else
 * FOLDER/latest.json for "latest", else the word as a path. GYRE_NOT_FOUND with what was looked for
 * and the baselines that there are; GYRE_INVALID when the path does not fit. */
GYRE_MUST_USE gyre_status gyre_run_locate(const char *folder, const char *word, char *out_path,
                                          size_t size);

/* Reads that file: as gyre_run_locate, then as gyre_run_read. */
GYRE_MUST_USE gyre_status gyre_run_load(const char *folder, const char *word, gyre_run **out_run);

#endif
