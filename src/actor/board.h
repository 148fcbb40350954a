/* SPDX-License-Identifier: Apache-2.0
 *
 * board: what this process writes on its notice board, for `gyre top`. See gyre/board.h.
 *
 * A thread writes how the actors are, four times a second and when one comes or goes. It begins
 * with the first actor that is launched and ends with the last; the file does likewise, and ends
 * with the process. Nothing here fails: what cannot be shown is not, and the log says so.
 *
 * Threads   any. The thread reads an actor without the actor's lock, which is held by whoever waits
 *           for a pause, as long as the actor is on the board; so an actor leaves it before the
 *           memory of its launch goes.
 * Owns      the thread, the file. Borrows the actors.
 * Not here  the file's layout (actor/board_file.h), reading others' (actor/board_read.c).
 */
#ifndef GYRE_ACTOR_BOARD_H
#define GYRE_ACTOR_BOARD_H

#include "gyre/actor.h"

/* An actor was launched. Nothing for one that is there already. */
void gyre_board_add(gyre_actor *actor);

/* Its launch is over: it leaves the board; one that has failed stays on it as it last was, and is
 * not read any more. Nothing for one that is not there. May wait for the thread. */
void gyre_board_end(const gyre_actor *actor);

/* It leaves the board, whatever it is. */
void gyre_board_remove(const gyre_actor *actor);

#endif
