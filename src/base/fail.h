/* SPDX-License-Identifier: Apache-2.0
 *
 * fail: the only way to write the thread's error detail. See fail.c.
 */
#ifndef GYRE_BASE_FAIL_H
#define GYRE_BASE_FAIL_H

#include "gyre/common.h"
#include "gyre/status.h"

/* `return gyre_fail(GYRE_INVALID, "capacity %d", n);` records the sentence and the call site, and
 * evaluates to the status. Not for GYRE_AGAIN and GYRE_TIMEOUT: return those as they are. */
#define gyre_fail(status, ...) gyre_fail_at((status), 0, __FILE__, __LINE__, __VA_ARGS__)

/* The same with the code that the system or a driver gave: errno, CUresult, cl_int. */
#define gyre_fail_native(status, native, ...)                                                      \
    gyre_fail_at((status), (native), __FILE__, __LINE__, __VA_ARGS__)

GYRE_API GYRE_MUST_USE gyre_status gyre_fail_at(gyre_status status, int32_t native,
                                                const char *file, int32_t line, const char *format,
                                                ...) GYRE_PRINTF(5, 6);

/* Forgets the detail, so that what is there afterwards was written by what is called next. */
GYRE_API void gyre_fail_clear(void);

#endif
