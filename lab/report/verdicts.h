/* SPDX-License-Identifier: Apache-2.0
 *
 * verdicts: two versions side by side, as a reviewer reads it: what has changed, by how much, how
 * sure that is, and how it was measured.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  the judging (record/judge.h), the policy of a gate (record/gate.h).
 */
#ifndef GYRE_REPORT_VERDICTS_H
#define GYRE_REPORT_VERDICTS_H

#include <stddef.h>
#include <stdio.h>

#include "gyre/common.h"
#include "record/ab.h"

enum { GYRE_ADVICE_BYTES = 160 };

/* As text, for a terminal or a file. Errors stay in the stream. */
void gyre_verdicts_print(FILE *stream, const gyre_ab *ab);

/* As a table of Markdown, for a pull request. */
void gyre_verdicts_markdown(FILE *stream, const gyre_ab *ab);

/* One sentence on what would help an undecided benchmark. */
void gyre_verdicts_advise(const gyre_ab_bench *bench, const gyre_rule *rule,
                          char advice[GYRE_ADVICE_BYTES]);

#endif
