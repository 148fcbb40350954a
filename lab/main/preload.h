/* SPDX-License-Identifier: Apache-2.0
 *
 * preload: the counting library of lab/preload, carried inside this one, so that it need not be
 * found on a disk.
 */
#ifndef GYRE_MAIN_PRELOAD_H
#define GYRE_MAIN_PRELOAD_H

#include "gyre/common.h"

/* A descriptor of a file in memory that holds it; -1 when there is none, or when a sanitizer serves
 * allocations in this program. Thread-safe. */
int gyre_preload_open(void);
void gyre_preload_close(int fd);

#endif
