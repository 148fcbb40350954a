/* SPDX-License-Identifier: Apache-2.0
 *
 * bencher: a run in the lines of Rust's libtest, which many dashboards read
 * (docs/formats/exports.md).
 *
 *     test channel/send ... bench:       1,234 ns/iter (+/- 56)
 *
 * The figure is the median. What follows "+/-" is the longer arm of its interval, so that median
 * plus or minus that number covers the interval; libtest itself puts the whole range from fastest
 * to slowest there, which grows with the number of samples and is read as an error bar all the
 * same.
 *
 * Threads   one.
 * Owns      nothing.
 */
#ifndef GYRE_REPORT_BENCHER_H
#define GYRE_REPORT_BENCHER_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/run.h"

/* Errors stay in the stream. */
void gyre_bencher_write(FILE *stream, const gyre_run *run);

#endif
