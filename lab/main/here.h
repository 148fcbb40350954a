/* SPDX-License-Identifier: Apache-2.0
 *
 * here: visits cases in this very process (--isolate none), where a debugger or a profiler looks.
 *
 * A case that calls exit is still reported, and what was measured before it is kept. One that
 * crashes or hangs takes the run with it.
 *
 * Threads   the main thread.
 * Owns      nothing.
 */
#ifndef GYRE_MAIN_HERE_H
#define GYRE_MAIN_HERE_H

#include "gyre/common.h"
#include "gyre/status.h"
#include "main/supervise.h"

/* As gyre_supervise. `over` is called when a case ends the process: it must not return to it. */
GYRE_MUST_USE gyre_status gyre_visit_here(const gyre_supervision *s, void (*over)(void *user));

#endif
