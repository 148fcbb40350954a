/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal: results as text, in the shape that Criterion's users know.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  progress (main/progress.h), other formats (one file each beside this one).
 */
#ifndef GYRE_REPORT_TERMINAL_H
#define GYRE_REPORT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/method.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "record/run.h"

/* What a piece of text is, for colouring. */
typedef enum gyre_ink {
    GYRE_INK_PLAIN,
    GYRE_INK_BOLD,
    GYRE_INK_GOOD,
    GYRE_INK_WARN,
    GYRE_INK_BAD,
    GYRE_INK_FAINT,
} gyre_ink;

/* How much is told of a result. */
typedef enum gyre_detail {
    GYRE_DETAIL_BRIEF,   /* without when the clock started and stopped */
    GYRE_DETAIL_USUAL,   /* with it */
    GYRE_DETAIL_VERBOSE, /* and with the other estimates */
} gyre_detail;

/* Whether this stream is coloured: GYRE_COLOR, else NO_COLOR and TERM, else when a terminal. */
bool gyre_terminal_coloured(FILE *stream);

/* Whether lines of this stream may be written over: a terminal that is not dumb. */
bool gyre_terminal_live(FILE *stream);

/* The sequence that starts an ink, "" when the stream is not coloured; PLAIN ends it. */
const char *gyre_terminal_ink(FILE *stream, gyre_ink ink);

/* One result. */
void gyre_terminal_result(FILE *stream, const gyre_result *result, const gyre_method *method,
                          gyre_detail detail);

/* What a process said last, line by line behind a bar. */
void gyre_terminal_last_words(FILE *stream, const char *words, int indent);

/* The end of a run of `planned` cases: how many of what, the slowest, the failed and the skipped
 * with their reasons, and what has changed. */
void gyre_terminal_summary(FILE *stream, const gyre_run *run, size_t planned);

#endif
