/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal: results as text, in the shape that Criterion's users know.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  JSON (record/run.h).
 */
#ifndef GYRE_REPORT_TERMINAL_H
#define GYRE_REPORT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/measure.h"
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

/* Whether this stream is coloured: GYRE_COLOR, else NO_COLOR and TERM, else when a terminal. */
bool gyre_terminal_coloured(FILE *stream);

/* Whether lines of this stream may be written over: a terminal that is not dumb. */
bool gyre_terminal_live(FILE *stream);

/* The sequence that starts an ink, "" when the stream is not coloured; PLAIN ends it. */
const char *gyre_terminal_ink(FILE *stream, gyre_ink ink);

/* One result; `brief` leaves out the words for t0, t1 and observer. */
void gyre_terminal_result(FILE *stream, const gyre_result *result, bool brief);

/* The end of a run: how many of what, then the failed and the skipped with their reasons. */
void gyre_terminal_summary(FILE *stream, const gyre_run *run);

#endif
