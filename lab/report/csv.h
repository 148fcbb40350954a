/* SPDX-License-Identifier: Apache-2.0
 *
 * csv: a run as one table, for spreadsheets and scripts (docs/formats/exports.md).
 *
 * A line of column names, then a line for each benchmark, quoted as in RFC 4180. A cell that does
 * not apply is empty. Texts come from benchmarks and drivers, so nothing in them may act: control
 * characters become '?', which also keeps a row on one line, and a text that a spreadsheet would
 * take for a formula (it begins with = + - or @) gets an apostrophe in front. Numbers are ours and
 * stay numbers.
 *
 * Threads   one.
 * Owns      nothing.
 */
#ifndef GYRE_REPORT_CSV_H
#define GYRE_REPORT_CSV_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/run.h"

/* Errors stay in the stream. */
void gyre_csv_write(FILE *stream, const gyre_run *run);

/* A cell, without its comma. Text is quoted where it must be, never a formula, and without control
 * characters; NULL, and a number that is not finite, is an empty cell. */
void gyre_csv_text(FILE *stream, const char *text);
void gyre_csv_number(FILE *stream, double value);

#endif
