/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_file: joins what was recorded of the cases into one file (docs/formats/trace.md).
 *
 * Until the end it is kept in a file without a name, so that an interrupted run leaves nothing
 * half done. What worker processes say is read as JSON before it is believed.
 *
 * Threads   one.
 * Owns      the nameless file, from open to fini.
 * Not here  recording (bench/spans.h).
 */
#ifndef GYRE_MAIN_TRACE_FILE_H
#define GYRE_MAIN_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/case.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* Zero is a closed one. */
typedef struct gyre_trace_file {
    const char *path;
    FILE *spool;
    int error;     /* errno of the first write that failed */
    bool some;     /* events are there */
    uint64_t lost; /* events that were not recorded, or not readable */
} gyre_trace_file;

/* Proves that the file can be written. GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status gyre_trace_file_open(gyre_trace_file *file, const char *path);

/* Adds an array of events. What fails is told by gyre_trace_file_write. */
void gyre_trace_file_add(gyre_trace_file *file, const char *json, size_t length, uint64_t lost);

/* Puts all of it in place of what is at the path, with a process for each group of the list.
 * GYRE_IO with the reason, and then what was there is as it was. */
GYRE_MUST_USE gyre_status gyre_trace_file_write(gyre_trace_file *file, const gyre_case_list *list);

void gyre_trace_file_fini(gyre_trace_file *file);

#endif
