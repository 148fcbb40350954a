/* SPDX-License-Identifier: Apache-2.0
 *
 * pen: see pen.h.
 */
#include "pen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 256 };

/* The same as the streams' (report/terminal.c), which ask the environment. */
static const char *const inks[] = {"\033[0m",  "\033[1m",  "\033[32m",
                                   "\033[33m", "\033[31m", "\033[2m"};

void pen_begin(pen *p)
{
    p->count++;
    p->bytes = 0;
    p->width = 0;
    if (p->count <= p->most)
        p->lines[p->count - 1].text[0] = '\0';
}

static void append(pen *p, const char *text, size_t length)
{
    char *line = p->lines[p->count - 1].text;

    if (p->bytes + length >= PEN_LINE_BYTES)
        return;
    memcpy(line + p->bytes, text, length);
    p->bytes += length;
    line[p->bytes] = '\0';
}

void pen_put(pen *p, gyre_ink ink, const char *format, ...)
{
    const int room = p->columns - p->width;
    const bool dyed = p->coloured && ink != GYRE_INK_PLAIN;
    char piece[PIECE];
    size_t length;
    va_list args;

    va_start(args, format);
    vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    length = strlen(piece);
    if (p->count > p->most || room <= 0 || length == 0)
        return;
    length = length < (size_t)room ? length : (size_t)room;
    for (size_t i = 0; i < length; i++)
        if (piece[i] < ' ' || piece[i] > '~')
            piece[i] = '?';
    /* all of it or nothing, so that a colour always ends */
    if (p->bytes + length + 16 >= PEN_LINE_BYTES)
        return;
    if (dyed)
        append(p, inks[ink], strlen(inks[ink]));
    append(p, piece, length);
    if (dyed)
        append(p, inks[GYRE_INK_PLAIN], strlen(inks[GYRE_INK_PLAIN]));
    p->width += (int)length;
}
