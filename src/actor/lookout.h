/* SPDX-License-Identifier: Apache-2.0
 *
 * lookout: makes the descriptors of ports readable (gyre_port_descriptor).
 *
 * A device cannot write to a descriptor, so a thread looks at the slots in which the next answers
 * of such ports will be: without pause for 20 us after something was asked, then with pauses that
 * grow to 50 us; not at all while nothing is due. The thread of a port says after each question and
 * each receive which slots those are, and itself makes the descriptor unreadable when nothing is
 * there. Nobody waits for an actor while its event loop sleeps, so the thread also asks now and
 * then how the actor is. It begins with the first descriptor and ends with the last.
 *
 * Threads   a port's functions: its own. Locks, from the outside: `life`, `books`, a post's.
 * Owns      the thread, the posts, the descriptors.
 */
#ifndef GYRE_ACTOR_LOOKOUT_H
#define GYRE_ACTOR_LOOKOUT_H

#include "actor/wire.h"

/* Something was asked or received by a port that has a post. */
void gyre_lookout_note(gyre_port *port);

/* Closes the descriptor of a port; nothing when it has none. May wait for the thread. In a forked
 * child it frees only. */
void gyre_lookout_close(gyre_port *port);

#endif
