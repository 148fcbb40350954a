/* SPDX-License-Identifier: Apache-2.0
 *
 * screen: reports of a monitor as lines of text, for a terminal of any size.
 *
 * Each device has a block of bars; when the blocks do not fit, a line. Where lines do not fit
 * either, the last one says how many devices are missing and how the worst of them is. Below them
 * is a table of actors, when there are any. A value that nobody tells is shown as "-". Whatever
 * comes from outside is shown in plain ASCII.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  the terminal (tty.h), when to draw (verb_top.c).
 */
#ifndef GYRE_SCREEN_H
#define GYRE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "actors.h"
#include "gyre/monitor.h"
#include "pen.h"

enum {
    SCREEN_COLUMNS_MOST = 240,
    SCREEN_ROWS_MOST = 512, /* more than 16 devices can fill */
};

typedef struct screen_view {
    const gyre_monitor_report *reports;
    size_t count;
    const actors_row *actors;
    size_t actor_count;
    int columns;         /* at least 1 is used */
    int rows;            /* of the terminal; 0: as many as it takes, without the line of keys */
    bool coloured;       /* with sequences for colours */
    bool paused;         /* what is shown is old on purpose */
    bool help;           /* the keys instead of the devices */
    double interval_s;   /* between samples, */
    double age_s;        /* since the last of them: told when it is late */
    const char *daytime; /* "12:34:56" */
} screen_view;

/* Writes the lines, none wider than a terminal of the view; how many, at most `rows` and
 * SCREEN_ROWS_MOST. */
size_t screen_draw(const screen_view *view, pen_line lines[SCREEN_ROWS_MOST]);

#endif
