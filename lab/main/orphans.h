/* SPDX-License-Identifier: Apache-2.0
 *
 * orphans: ends processes that benchmarks have left behind, those too that have left their group.
 *
 * While gyre_orphans_adopt holds, whatever a descendant leaves behind becomes a child of this
 * process instead of the system's first one, and can be found among its children.
 *
 * Threads   the main thread; gyre_orphans_end may be called from a signal handler.
 * Owns      nothing.
 */
#ifndef GYRE_MAIN_ORPHANS_H
#define GYRE_MAIN_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "gyre/common.h"

enum { GYRE_ORPHANS_SPARED = 64 };

/* Children that this process had before, and that are none of our business. Those that another
 * thread starts meanwhile cannot be told from orphans. */
typedef struct gyre_orphans {
    pid_t spared[GYRE_ORPHANS_SPARED];
    size_t count;
    bool too_many;       /* to remember: then nobody is ended */
    bool adopted_before; /* somebody else had asked for it */
} gyre_orphans;

void gyre_orphans_adopt(gyre_orphans *orphans);

/* Ends and reaps every child that is not spared (NULL: every child), and the groups that they lead.
 * May be called from a signal handler. */
void gyre_orphans_end(const gyre_orphans *orphans);

/* Lets orphans go to the system's first process again. */
void gyre_orphans_release(const gyre_orphans *orphans);

#endif
