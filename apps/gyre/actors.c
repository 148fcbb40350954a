/* SPDX-License-Identifier: Apache-2.0
 *
 * actors: see actors.h.
 */
#include "actors.h"

#include <string.h>

#define SILENT_NS UINT64_C(2000000000) /* boards are written every quarter of a second */

static const actors_row *find_before(const actors *a, const gyre_board_row *told)
{
    for (size_t i = 0; i < a->before_count; i++) {
        const gyre_board_row *const b = &a->before[i].told;

        if (b->pid == told->pid && b->started == told->started && b->launch == told->launch)
            return &a->before[i];
    }
    return NULL;
}

actors_row actors_compare(const gyre_board_row *told, const actors_row *last)
{
    actors_row row = {.told = *told, .per_second = -1, .silent = told->age_ns > SILENT_NS};

    if (told->status == GYRE_ACTOR_FAILED)
        row.per_second = 0; /* it is told as it last was */
    else if (last && !row.silent && told->told_ns <= last->told.told_ns)
        row.per_second = last->per_second;
    else if (last && !row.silent)
        row.per_second = told->processed > last->told.processed
                             ? (double)(told->processed - last->told.processed) /
                                   ((double)(told->told_ns - last->told.told_ns) / 1e9)
                             : 0;
    return row;
}

static bool is_asked_for(const actors *a, const gyre_board_row *told)
{
    for (size_t i = 0; i < a->device_count; i++)
        if (strcmp(a->devices[i]->name, told->device) == 0)
            return true;
    return !a->devices;
}

static bool take(void *user, const gyre_board_row *told)
{
    actors *const a = user;

    if (is_asked_for(a, told))
        a->rows[a->count++] = actors_compare(told, find_before(a, told));
    return a->count < ACTORS_MOST;
}

void actors_look(actors *a)
{
    memcpy(a->before, a->rows, a->count * sizeof a->rows[0]);
    a->before_count = a->count;
    a->count = 0;
    (void)!gyre_board_visit(take, a); /* without memory for it, nobody is shown */
}

bool actors_are_new(const actors *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->rows[i].per_second < 0 && !a->rows[i].silent)
            return true;
    return false;
}
