/* SPDX-License-Identifier: Apache-2.0
 *
 * print: what behaviours print, read by the host and handed to the caller's function or the log.
 * Whoever waits for an actor, changes its life or asks how it is does that: there is no thread for
 * it.
 *
 * Threads   any; one at a time hears, by actor->hearing. Edges: [ring-slot], [print-read] with the
 *           seats.
 * Owns      nothing.
 * Not here  how seats print (actor/print_single.h, actor/cuda_annex.h).
 */
#ifndef GYRE_ACTOR_PRINT_H
#define GYRE_ACTOR_PRINT_H

#include "actor/actor.h"

/* A launch has this mailbox, of zeros; from now on prints in it are heard. */
void gyre_prints_begin(gyre_actor *actor, unsigned char *mailbox);

/* Hears what was printed before, at most a ring of each seat; after who hears already. */
void gyre_prints_hear(gyre_actor *actor);

/* The same, or nothing when somebody else does. Never blocks. */
void gyre_prints_overhear(gyre_actor *actor);

/* Hears the last, and then the mailbox is nobody's. */
void gyre_prints_end(gyre_actor *actor);

/* What a slot holds, which may be anything. The text is `text`. Pure. */
void gyre_print_read(const gyre_brief *slot, char text[GYRE_PRINT_TEXT + 1],
                     gyre_actor_print *out_print);

/* A print as a line of the log: "actor 'name' seat 3: text 42". */
void gyre_print_line(const gyre_actor_print *print, char *into, size_t size);

#endif
