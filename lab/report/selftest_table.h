/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest_table: a self-test as text: what each row shows, and which targets were met.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  figures and targets themselves (record/selftest.h).
 */
#ifndef GYRE_REPORT_SELFTEST_TABLE_H
#define GYRE_REPORT_SELFTEST_TABLE_H

#include <stdio.h>

#include "gyre/common.h"
#include "record/selftest.h"

/* Errors stay in the stream. */
void gyre_selftest_table_print(FILE *stream, const gyre_selftest *selftest);

#endif
