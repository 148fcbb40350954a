/* SPDX-License-Identifier: Apache-2.0
 *
 * screen_actors: see screen_actors.h.
 */
#include "screen_actors.h"

#include <stdio.h>
#include <string.h>

#include "report/quantity.h"

/* In the order in which they stand. */
typedef enum column {
    PID,
    PROGRAM,
    ACTOR,
    BEHAVIOUR,
    DEVICE,
    STATUS,
    SEATS,
    HANDLED,
    RATE,
    WAITING,
    FAILED,
    MEAN,
    COLUMNS,
} column;

enum { NAME_MOST = 24, GAP = 2, ABOVE = 3 }; /* lines above the first actor */

static const char *const titles[COLUMNS] = {
    [PID] = "pid",       [PROGRAM] = "program", [ACTOR] = "actor",     [BEHAVIOUR] = "behaviour",
    [DEVICE] = "device", [STATUS] = "status",   [SEATS] = "seats",     [HANDLED] = "handled",
    [RATE] = "per s",    [WAITING] = "waiting", [FAILED] = "failures", [MEAN] = "mean",
};

/* The first to go where there is no room. */
static const column spare[] = {BEHAVIOUR, SEATS, PROGRAM, FAILED, DEVICE, WAITING};

typedef struct cell {
    char text[40];
} cell;

/* At most five digits and a letter. */
static cell number(double value)
{
    static const char units[] = " kMGTPE";
    size_t unit = 0;
    cell c = {"-"};

    if (value < 0)
        return c;
    if (value < 99999.5) {
        snprintf(c.text, sizeof c.text, "%.*f", value > 0 && value < 9.95 && value != (int)value,
                 value);
        return c;
    }
    for (; value >= 999.5 && unit + 2 < sizeof units; unit++)
        value /= 1000;
    snprintf(c.text, sizeof c.text, "%.*f%c",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, units[unit]);
    return c;
}

static cell text_of(const actors_row *r, column which)
{
    const gyre_board_row *const told = &r->told;
    const char *text = NULL;
    cell c = {"-"};

    switch (which) {
    case PID:
        snprintf(c.text, sizeof c.text, "%u", told->pid);
        break;
    case PROGRAM:
        text = told->program;
        break;
    case ACTOR:
        text = told->actor;
        break;
    case BEHAVIOUR:
        text = told->behaviour;
        break;
    case DEVICE:
        text = told->device;
        break;
    case STATUS:
        text = r->silent ? "silent" : gyre_actor_status_name(told->status);
        break;
    case SEATS:
        return number(told->seats);
    case HANDLED:
        return number((double)told->processed);
    case RATE:
        return number(r->per_second);
    case WAITING:
        return number((double)told->waiting);
    case FAILED:
        return number((double)told->failed);
    case MEAN:
        if (told->mean_ns > 0)
            snprintf(c.text, sizeof c.text, "%s", gyre_quantity_time(told->mean_ns).text);
        break;
    case COLUMNS:
        break;
    }
    if (text && *text)
        snprintf(c.text, sizeof c.text, "%.*s", NAME_MOST, text);
    return c;
}

static gyre_ink ink_of(const actors_row *r, column which)
{
    if (which == FAILED && r->told.failed > 0)
        return GYRE_INK_WARN;
    if (which != STATUS)
        return GYRE_INK_PLAIN;
    if (r->told.status == GYRE_ACTOR_FAILED)
        return GYRE_INK_BAD;
    if (r->silent)
        return GYRE_INK_WARN;
    return r->told.status == GYRE_ACTOR_ACTIVE ? GYRE_INK_GOOD : GYRE_INK_PLAIN;
}

/* How wide each column is; 0 for those that go. */
static void plan(const actors_row *rows, size_t count, int columns, int widths[COLUMNS])
{
    int all = 0;

    for (column c = PID; c < COLUMNS; c++) {
        size_t width = strlen(titles[c]);

        for (size_t i = 0; i < count; i++) {
            const cell shown = text_of(&rows[i], c);

            width = strlen(shown.text) > width ? strlen(shown.text) : width;
        }
        widths[c] = (int)width;
        all += widths[c] + GAP;
    }
    for (size_t i = 0; all > columns && i < sizeof spare / sizeof spare[0]; i++) {
        all -= widths[spare[i]] + GAP;
        widths[spare[i]] = 0;
    }
}

static void put_cell(pen *p, gyre_ink ink, column which, int width, const char *text)
{
    const int blank = width - (int)strlen(text);
    const bool left = which >= PROGRAM && which <= STATUS;

    if (width == 0)
        return;
    pen_put(p, GYRE_INK_PLAIN, "%*s", GAP + (left ? 0 : blank), "");
    pen_put(p, ink, "%s", text);
    if (left && blank > 0)
        pen_put(p, GYRE_INK_PLAIN, "%*s", blank, "");
}

size_t screen_actors_lines(size_t count)
{
    return count ? ABOVE + count : 0;
}

void screen_actors_draw(pen *p, const actors_row *rows, size_t count)
{
    const size_t room = p->most > p->count ? p->most - p->count : 0;
    size_t shown = count;
    int widths[COLUMNS];

    if (count == 0 || room == 0)
        return;
    if (screen_actors_lines(count) > room)
        shown = room > ABOVE + 1 ? room - ABOVE - 1 : 0;
    if (shown > 0) {
        plan(rows, shown, p->columns, widths);
        pen_begin(p);
        pen_begin(p);
        pen_put(p, GYRE_INK_BOLD, "actors");
        pen_begin(p);
        for (column c = PID; c < COLUMNS; c++)
            put_cell(p, GYRE_INK_FAINT, c, widths[c], titles[c]);
    }
    for (size_t i = 0; i < shown; i++) {
        pen_begin(p);
        for (column c = PID; c < COLUMNS; c++)
            put_cell(p, ink_of(&rows[i], c), c, widths[c], text_of(&rows[i], c).text);
    }
    if (shown == count)
        return;
    pen_begin(p);
    if (shown > 0)
        pen_put(p, GYRE_INK_PLAIN, "  and %zu more", count - shown);
    else
        pen_put(p, GYRE_INK_PLAIN, "%zu actor%s", count, count == 1 ? "" : "s");
}
