/* SPDX-License-Identifier: Apache-2.0
 *
 * pen: writes lines of plain ASCII that keep to a width, for a terminal.
 *
 * Whatever comes from outside is written without what could drive the terminal. Lines beyond the
 * last that there may be are counted and not written, so that who draws can see by how much it was
 * too much.
 *
 * Threads   one.
 * Owns      nothing. The lines are the caller's.
 * Not here  what is drawn (screen.h).
 */
#ifndef GYRE_PEN_H
#define GYRE_PEN_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"
#include "report/terminal.h"

enum { PEN_LINE_BYTES = 640 };

/* Text without its end of line. */
typedef struct pen_line {
    char text[PEN_LINE_BYTES];
} pen_line;

/* Where the next piece is written. */
typedef struct pen {
    pen_line *lines;
    size_t count, most; /* lines begun, and how many there may be */
    int columns;        /* of a line at most */
    bool coloured;      /* with sequences for colours */
    size_t bytes;       /* of the last line */
    int width;          /* of it, as it is seen */
} pen;

/* Begins the next line, empty. */
void pen_begin(pen *p);

/* Puts a piece behind the others, as far as it fits the columns. */
void pen_put(pen *p, gyre_ink ink, const char *format, ...) GYRE_PRINTF(3, 4);

#endif
