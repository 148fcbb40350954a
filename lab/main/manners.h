/* SPDX-License-Identifier: Apache-2.0
 *
 * manners: how a command that starts processes behaves towards signals while it does.
 *
 * The first SIGINT, SIGTERM or SIGHUP asks for an end, the second ends what does not listen; one
 * that the caller ignores (nohup) stays ignored. A reader of our output that goes away does not
 * take the work with it, and children are ours to wait for.
 *
 * Threads   the main thread.
 * Owns      the handlers of these signals, from take to forget.
 */
#ifndef GYRE_MAIN_MANNERS_H
#define GYRE_MAIN_MANNERS_H

#include <signal.h>
#include <stdbool.h>

#include "gyre/common.h"

enum { GYRE_MANNERS_HELD = 3 };

/* What the process did with signals before. */
typedef struct gyre_manners {
    struct sigaction held[GYRE_MANNERS_HELD], pipe, child;
} gyre_manners;

/* How many signals have asked for an end since gyre_manners_take: 0, 1, or 2 for more. */
extern volatile sig_atomic_t gyre_interrupted;

/* `once`: the second signal is not held, because only it can end what runs in this process. */
void gyre_manners_take(gyre_manners *out_before, bool once);
void gyre_manners_forget(const gyre_manners *before);

#endif
