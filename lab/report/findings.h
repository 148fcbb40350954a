/* SPDX-License-Identifier: Apache-2.0
 *
 * findings: what a gate says, as text, as Markdown for a pull request, as annotations of a GitHub
 * workflow, and as JSON (gyre.gate-result/1, docs/formats/gate.md).
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  finding (record/gate.h), exit statuses (apps/gyre/verb_gate.c).
 */
#ifndef GYRE_REPORT_FINDINGS_H
#define GYRE_REPORT_FINDINGS_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/gate.h"

typedef enum gyre_gate_outcome {
    GYRE_GATE_PASSED = 0,
    GYRE_GATE_FAILED = 1,
    GYRE_GATE_UNDECIDED = 2, /* nothing failed, but whether it would is open for some */
} gyre_gate_outcome;

typedef struct gyre_gate_report {
    const gyre_findings *findings;
    const char *advisory; /* why this is advice and no proof; "" when it is more than that */
    const char *policy;   /* the file, or "" for the defaults */
} gyre_gate_report;

gyre_gate_outcome gyre_gate_outcome_of(const gyre_findings *findings);

/* "passed", "failed", "undecided". Borrowed, static. */
const char *gyre_gate_outcome_name(gyre_gate_outcome outcome);

/* Errors stay in the stream. */
void gyre_findings_print(FILE *stream, const gyre_gate_report *report);
void gyre_findings_markdown(FILE *stream, const gyre_gate_report *report);
void gyre_findings_annotate(FILE *stream, const gyre_gate_report *report);
void gyre_findings_write(FILE *stream, const gyre_gate_report *report);

#endif
