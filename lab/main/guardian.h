/* SPDX-License-Identifier: Apache-2.0
 *
 * guardian: a small process that ends groups of processes when the one that watches them is gone.
 *
 * A worker asks the kernel for a signal when its parent dies, but a benchmark may block signals.
 * The guardian cannot be blocked by it: it sleeps until the parent's end of a pipe is closed, by
 * gyre_guardian_stop or by the parent's death. It is a process and no thread of the worker, because
 * many a library is faster in a process that has only one.
 *
 * Threads   one.
 * Owns      the process, from start to stop.
 */
#ifndef GYRE_MAIN_GUARDIAN_H
#define GYRE_MAIN_GUARDIAN_H

#include <stddef.h>
#include <sys/types.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_GUARDIAN_PLACES = 2 }; /* groups watched at once */

typedef struct gyre_guardian {
    pid_t pid;
    int fd; /* where it is told whom to watch */
} gyre_guardian;

/* GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status gyre_guardian_start(gyre_guardian *guardian);

/* From now on this group is the one to end in place `place`; 0 is none. */
void gyre_guardian_watch(const gyre_guardian *guardian, size_t place, pid_t group);
void gyre_guardian_stop(gyre_guardian *guardian);

#endif
