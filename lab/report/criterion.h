/* SPDX-License-Identifier: Apache-2.0
 *
 * criterion: a run as the folders that Criterion 0.5 to 0.7 leaves behind, for critcmp and others
 * (docs/formats/exports.md).
 *
 * FOLDER/GROUP/FUNCTION/VALUE/{new,BASELINE}/{benchmark,estimates,sample,tukey}.json for each
 * measured benchmark. The value is that of the axes, all in one; slashes in it, and characters that
 * file systems dislike, become '_' in the names of folders, which end after 64 bytes.
 *
 * Threads   one; two exports to one folder leave files of both, each whole.
 * Owns      nothing.
 */
#ifndef GYRE_REPORT_CRITERION_H
#define GYRE_REPORT_CRITERION_H

#include "gyre/common.h"
#include "gyre/status.h"
#include "record/run.h"

/* Makes what is missing of `folder` and replaces the files of each measured benchmark in it.
 * `baseline` is the folder that holds the same files as "new"; NULL is Criterion's own, "base".
 * GYRE_INVALID, and nothing is written, when the baseline or an id is no name for a folder; GYRE_IO
 * with the reason, and then some are written. */
GYRE_MUST_USE gyre_status gyre_criterion_export(const gyre_run *run, const char *folder,
                                                const char *baseline);

#endif
