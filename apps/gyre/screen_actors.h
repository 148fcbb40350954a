/* SPDX-License-Identifier: Apache-2.0
 *
 * screen_actors: the table of actors below the devices.
 *
 * Columns are as wide as what is in them; where they do not fit beside each other, some go.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_SCREEN_ACTORS_H
#define GYRE_SCREEN_ACTORS_H

#include <stddef.h>

#include "actors.h"
#include "pen.h"

/* Lines that the table takes when it is whole; none without actors. */
size_t screen_actors_lines(size_t count);

/* Draws as much of the table as the pen has lines for, and says how much is missing. */
void screen_actors_draw(pen *p, const actors_row *rows, size_t count);

#endif
