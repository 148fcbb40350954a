/* SPDX-License-Identifier: Apache-2.0
 *
 * build_log: what a compiler said, kept for this thread until its next build.
 */
#ifndef GYRE_DEV_BUILD_LOG_H
#define GYRE_DEV_BUILD_LOG_H

#include <stddef.h>

/* Keeps a copy of up to 64 KiB, without the white space at its end; what is longer loses its
 * middle. NULL or size 0 forgets. Without memory for it, says so instead. */
void gyre_build_log_set(const char *text, size_t size);

/* Never NULL. Borrowed until this thread's next set. */
const char *gyre_build_log(void);

#endif
