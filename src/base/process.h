/* SPDX-License-Identifier: Apache-2.0
 *
 * process: whether this process is the one that started using the library.
 *
 * After fork the child has the library's memory but none of its threads, so the child may only
 * destroy; every call that would start something asks here first.
 */
#ifndef GYRE_BASE_PROCESS_H
#define GYRE_BASE_PROCESS_H

#include "gyre/common.h"
#include "gyre/status.h"

/* GYRE_OK, and from then on this process counts as a user; GYRE_UNAVAILABLE in a child forked after
 * such a call. For whatever creates or starts. Thread-safe; costs one load after the first call. */
GYRE_MUST_USE gyre_status gyre_process_use(void);

/* The same question without becoming a user, for calls that leave nothing behind. */
GYRE_MUST_USE gyre_status gyre_process_check(void);

#endif
