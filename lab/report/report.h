/* SPDX-License-Identifier: Apache-2.0
 *
 * report: the page of a run, and of the baseline it is compared with.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  the page around the data (report/html.h).
 */
#ifndef GYRE_REPORT_REPORT_H
#define GYRE_REPORT_REPORT_H

#include <stdio.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "record/run.h"
#include "report/trends.h"

typedef struct gyre_report {
    const gyre_run *run;
    const gyre_run *base;      /* NULL none */
    const char *base_name;     /* NULL none */
    const gyre_trends *trends; /* NULL none */
} gyre_report;

/* Errors stay in the stream. Long series are thinned evenly, and the page says so. */
void gyre_report_write(FILE *stream, const gyre_report *report);

/* Replaces FOLDER/report/NAME.html; where it is goes to `out_path`, of `size` bytes. GYRE_IO with
 * the reason, and then an older one is as it was. */
GYRE_MUST_USE gyre_status gyre_report_save(const char *folder, const char *name,
                                           const gyre_report *report, char *out_path, size_t size);

#endif
