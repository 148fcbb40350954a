/* SPDX-License-Identifier: Apache-2.0
 *
 * read: reads run files (gyre.run/1, docs/formats/run.md), trusting nothing in them.
 *
 * A file is refused whole or understood within the limits that the format states. Members that are
 * not known are ignored. Errors name the file, what is wrong with which member, and what to do.
 * Files written before there were estimates are analysed anew.
 *
 * Threads   one.
 * Owns      nothing; the run is the caller's.
 * Not here  writing (record/run.h), merging into a baseline (record/baseline.h).
 */
#ifndef GYRE_RECORD_READ_H
#define GYRE_RECORD_READ_H

#include <stddef.h>

#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/run.h"

enum { GYRE_RUN_BENCHMARKS = 10000 }; /* at most, in one file */

/* GYRE_NOT_FOUND when there is no such file, GYRE_IO when it cannot be read, GYRE_CORRUPT when it
 * is damaged or no run file, GYRE_UNSUPPORTED when it is too large or a newer Gyre wrote it,
 * GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_run_read(const char *path, gyre_run **out_run);

/* The same of bytes in memory, which errors call `name`. */
GYRE_MUST_USE gyre_status gyre_run_parse(const char *bytes, size_t length, const char *name,
                                         gyre_run **out_run);

/* One element of "benchmarks", as gyre_result_write wrote it. GYRE_CORRUPT with what is wrong, and
 * GYRE_NO_MEMORY; the result is empty then. */
GYRE_MUST_USE gyre_status gyre_result_parse(const char *bytes, size_t length,
                                            gyre_result *out_result);

#endif
