/* SPDX-License-Identifier: Apache-2.0
 *
 * progress: one line on a terminal that says what is measured and how long it will still take.
 *
 * Threads   one.
 * Owns      nothing.
 */
#ifndef GYRE_MAIN_PROGRESS_H
#define GYRE_MAIN_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gyre/common.h"

enum { GYRE_PHASE_BYTES = 48 };

typedef struct gyre_progress_line {
    FILE *stream; /* NULL: nobody looks */
    size_t total;
    double case_ns; /* what a case takes, as far as is known */
    uint64_t started_ns, drawn_ns, case_started_ns;
    size_t done, index;
    uint64_t phase_end_ns; /* 0: not known */
    char phase[GYRE_PHASE_BYTES];
} gyre_progress_line;

/* Begins; draws only if the stream is a terminal. `case_ns` is a first guess. */
void gyre_progress_begin(gyre_progress_line *line, FILE *stream, size_t total, double case_ns);

/* What goes on, on case `index`; phase NULL: still the same. `id` is the case's. */
void gyre_progress_show(gyre_progress_line *line, size_t index, const char *id, const char *phase,
                        size_t phase_length, uint64_t left_ns);

/* The same for work that goes round and round, whose remaining time the caller knows. */
void gyre_progress_tell(gyre_progress_line *line, size_t done, double left_ns, const char *what);

/* One more case is done. */
void gyre_progress_done(gyre_progress_line *line);

/* Takes the line away, before something else is printed. */
void gyre_progress_wipe(gyre_progress_line *line);

#endif
