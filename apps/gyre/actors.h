/* SPDX-License-Identifier: Apache-2.0
 *
 * actors: those of all processes, as their boards tell (gyre/board.h), and how many messages each
 * handles a second, which takes two looks.
 *
 * Threads   one.
 * Owns      the rows.
 * Not here  how they are shown (screen_actors.h, top_json.h).
 */
#ifndef GYRE_ACTORS_H
#define GYRE_ACTORS_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/board.h"
#include "gyre/device.h"

enum { ACTORS_MOST = 500 }; /* that are shown; a screen has no more rows */

typedef struct actors_row {
    gyre_board_row told;
    double per_second; /* between the last two times that its process told; -1: not known */
    bool silent;       /* its process has told nothing for seconds, as one that is stopped */
} actors_row;

typedef struct actors {
    const gyre_device *const *devices; /* only actors on these; NULL: on all. Borrowed */
    size_t device_count;
    size_t count, before_count;
    actors_row rows[ACTORS_MOST], before[ACTORS_MOST];
} actors;

/* Reads all boards; what was there before is compared. Zero, with or without devices, is an actors
 * that has not looked yet. */
void actors_look(actors *a);

/* Whether another look would tell more: some rate is not known, and its process does tell. */
bool actors_are_new(const actors *a);

/* What a row becomes after the last one about the same launch; NULL: there was none. Pure. */
actors_row actors_compare(const gyre_board_row *told, const actors_row *last);

#endif
