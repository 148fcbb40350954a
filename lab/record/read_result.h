/* SPDX-License-Identifier: Apache-2.0
 *
 * read_result: one element of "benchmarks", as a result.
 *
 * A result that older files recorded without estimates is analysed anew from its samples, so that
 * whoever uses it finds intervals.
 *
 * Threads   one.
 * Owns      nothing; the result is the caller's.
 * Not here  the file around it and the words for errors (record/read.h).
 */
#ifndef GYRE_RECORD_READ_RESULT_H
#define GYRE_RECORD_READ_RESULT_H

#include "bench/method.h"
#include "bench/result.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/value.h"

/* GYRE_CORRUPT when there is a complaint about the value, and GYRE_NO_MEMORY. The result is empty
 * then. `method` is what the run was measured by. */
GYRE_MUST_USE gyre_status gyre_result_take(const gyre_value *value, const gyre_method *method,
                                           gyre_result *out_result);

#endif
