/* SPDX-License-Identifier: Apache-2.0
 *
 * screen: lines for `gyre top`. See screen.h.
 */
#include "screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pen.h"
#include "report/terminal.h"
#include "screen_actors.h"

enum { LABEL = 9, FIGURE = 8, BAR_LEAST = 10, BAR_MOST = 60, KEPT = 8, SMALL = 16 };

static int columns_of(const screen_view *view)
{
    return view->columns < 1                     ? 1
           : view->columns > SCREEN_COLUMNS_MOST ? SCREEN_COLUMNS_MOST
                                                 : view->columns;
}

static gyre_ink ink_of(gyre_level level)
{
    static const gyre_ink of[] = {GYRE_INK_GOOD, GYRE_INK_WARN, GYRE_INK_BAD};

    return of[level];
}

/* A value as text; "-" when nobody tells it. */
typedef struct figure {
    char text[48];
} figure;

static figure number(int64_t value, const char *unit)
{
    figure f = {"-"};

    if (value >= 0)
        snprintf(f.text, sizeof f.text, "%" PRId64 "%s", value, unit);
    return f;
}

static figure scaled(double value, double scale, int digits)
{
    figure f = {"-"};

    if (value >= 0)
        snprintf(f.text, sizeof f.text, "%.*f", digits, value / scale);
    return f;
}

/* A part of a whole in percent; -1 when one of them is not told. */
static double percent(double part, double whole)
{
    return part >= 0 && whole > 0 ? 100 * part / whole : -1;
}

/* "  memory  [|||||     ]", and its figure; without a bar when there is no room for one, or no
 * percent. */
static void put_bar(pen *p, const char *label, double part, gyre_ink ink, const char *figure_text)
{
    int cells = p->columns - LABEL - FIGURE - 34;
    char bar[BAR_MOST + 1];

    cells = cells > BAR_MOST ? BAR_MOST : cells;
    pen_begin(p);
    pen_put(p, GYRE_INK_PLAIN, "  %-*s", LABEL - 2, label);
    if (cells >= BAR_LEAST) {
        const double full = part < 0 ? 0 : part > 100 ? cells : part * cells / 100;

        memset(bar, ' ', (size_t)cells);
        memset(bar, '|', (size_t)full);
        bar[cells] = '\0';
        pen_put(p, GYRE_INK_PLAIN, "[");
        pen_put(p, ink, "%.*s", (int)full, bar);
        pen_put(p, GYRE_INK_PLAIN, "%s]", bar + (int)full);
    }
    pen_put(p, GYRE_INK_PLAIN, " %*s", FIGURE - 2, figure_text);
}

/* The ink of what is wrong with a concern, if something is. */
static gyre_ink worst(const gyre_monitor_report *r, gyre_concern concern)
{
    for (uint32_t i = 0; i < r->reason_count; i++)
        if (r->reasons[i].concern == concern)
            return ink_of(r->reasons[i].level);
    return GYRE_INK_GOOD;
}

static void put_throttle(pen *p, int64_t throttle)
{
    static const char *const names[] = {"power", "heat", "board", "setting", "idle", "other"};
    bool some = false;

    pen_put(p, GYRE_INK_PLAIN, "  throttle");
    for (size_t i = 0; throttle > 0 && i < sizeof names / sizeof names[0]; i++) {
        const int64_t bit = (int64_t)1 << i;

        if (!(throttle & bit))
            continue;
        pen_put(p,
                bit & (GYRE_THROTTLE_THERMAL | GYRE_THROTTLE_HARDWARE) ? GYRE_INK_WARN
                                                                       : GYRE_INK_PLAIN,
                "%s%s", some ? "+" : " ", names[i]);
        some = true;
    }
    if (!some)
        pen_put(p, GYRE_INK_PLAIN, throttle < 0 ? " -" : " none");
}

/* One that tells nothing of itself is not called healthy. */
static bool is_judged(const gyre_monitor_report *r)
{
    const gyre_device_state *s = &r->state;

    return r->reason_count > 0 || s->memory_used_bytes >= 0 || s->busy_percent >= 0 ||
           s->power_mw >= 0 || s->temperature_c >= 0 || s->clock_mhz >= 0 || s->throttle >= 0;
}

static const char *level_text(const gyre_monitor_report *r)
{
    return r->sample_count == 0 ? "looking" : is_judged(r) ? gyre_level_name(r->level) : "-";
}

static gyre_ink level_ink(const gyre_monitor_report *r)
{
    return r->sample_count > 0 && is_judged(r) ? ink_of(r->level) : GYRE_INK_FAINT;
}

static void draw_title(pen *p, const gyre_monitor_report *r)
{
    pen_begin(p);
    pen_put(p, GYRE_INK_BOLD, "%s", r->device->name);
    pen_put(p, GYRE_INK_PLAIN, "  %s  ", r->device->title);
    pen_put(p, level_ink(r), "%s", level_text(r));
}

static void draw_reasons(pen *p, const gyre_monitor_report *r)
{
    if (r->device->trouble[0]) {
        pen_begin(p);
        pen_put(p, GYRE_INK_WARN, "  cannot be used: %s", r->device->trouble);
    }
    for (uint32_t i = 0; i < r->reason_count; i++) {
        pen_begin(p);
        pen_put(p, ink_of(r->reasons[i].level), "  %s: ", gyre_level_name(r->reasons[i].level));
        pen_put(p, GYRE_INK_PLAIN, "%s", r->reasons[i].text);
    }
}

static void draw_board(pen *p, const gyre_monitor_report *r)
{
    const gyre_device_state *s = &r->state;
    const double power = percent(s->power_mw, s->power_limit_mw),
                 heat = percent(s->temperature_c, s->temperature_limit_c);

    put_bar(p, "power", power, worst(r, GYRE_CONCERN_POWER),
            number(power < 0 ? -1 : (int64_t)power, " %").text);
    pen_put(p, GYRE_INK_PLAIN, "  %s of %s W", scaled(s->power_mw, 1000, 0).text,
            scaled(s->power_limit_mw, 1000, 0).text);
    put_bar(p, "heat", heat, worst(r, GYRE_CONCERN_TEMPERATURE),
            number(s->temperature_c, " C").text);
    pen_put(p, GYRE_INK_PLAIN, "  limit %s", number(s->temperature_limit_c, " C").text);
    pen_begin(p);
    pen_put(p, GYRE_INK_PLAIN, "  clock  %s of %s MHz, memory %s MHz",
            number(s->clock_mhz, "").text, number(s->clock_most_mhz, "").text,
            number(s->memory_clock_mhz, "").text);
    put_throttle(p, s->throttle);
}

/* A CPU tells nothing of its board, and the lines are worth more to other devices. */
static bool has_board(const gyre_monitor_report *r)
{
    const gyre_device_state *s = &r->state;

    return r->device->kind != GYRE_DEVICE_CPU || s->power_mw >= 0 || s->temperature_c >= 0 ||
           s->clock_mhz >= 0 || s->throttle >= 0;
}

static void draw_block(pen *p, const gyre_monitor_report *r)
{
    const gyre_device_state *s = &r->state;
    const double memory = percent((double)s->memory_used_bytes, (double)s->memory_total_bytes);

    draw_title(p, r);
    put_bar(p, "memory", memory, worst(r, GYRE_CONCERN_MEMORY),
            number(memory < 0 ? -1 : (int64_t)memory, " %").text);
    pen_put(p, GYRE_INK_PLAIN, "  %s of %s GiB",
            scaled((double)s->memory_used_bytes, 1073741824.0, 1).text,
            scaled((double)s->memory_total_bytes, 1073741824.0, 1).text);
    put_bar(p, "busy", s->busy_percent, GYRE_INK_GOOD, number(s->busy_percent, " %").text);
    pen_put(p, GYRE_INK_PLAIN, "  its memory %s", number(s->memory_busy_percent, " %").text);
    if (has_board(r))
        draw_board(p, r);
    if (r->context_count > 0) {
        pen_begin(p);
        pen_put(p, GYRE_INK_PLAIN, "  tickets  %s pending, the oldest for %s ms; %u contexts",
                number(r->pending, "").text, scaled((double)r->oldest_ns, 1e6, 0).text,
                r->context_count);
    }
    draw_reasons(p, r);
}

/* A device in one line. */
static void draw_row(pen *p, const gyre_monitor_report *r)
{
    const gyre_device_state *s = &r->state;
    const double memory = percent((double)s->memory_used_bytes, (double)s->memory_total_bytes);

    pen_begin(p);
    pen_put(p, GYRE_INK_BOLD, "%-10s", r->device->name);
    pen_put(p, level_ink(r), " %-8s", level_text(r));
    pen_put(p, GYRE_INK_PLAIN, "  mem %5s  busy %5s  %5s  %5s W",
            number(memory < 0 ? -1 : (int64_t)memory, " %").text,
            number(s->busy_percent, " %").text, number(s->temperature_c, " C").text,
            scaled(s->power_mw, 1000, 0).text);
    if (r->reason_count > 0)
        pen_put(p, GYRE_INK_PLAIN, "  %s", r->reasons[0].text);
}

/* As many rows as there is room for, and a line about the rest. */
static void draw_rows(pen *p, const screen_view *view)
{
    const size_t room = p->most > p->count ? p->most - p->count : 0;
    const size_t shown = view->count <= room ? view->count : room > 0 ? room - 1 : 0;
    gyre_level level = GYRE_LEVEL_HEALTHY;

    for (size_t i = 0; i < shown; i++)
        draw_row(p, &view->reports[i]);
    for (size_t i = shown; i < view->count; i++)
        if (view->reports[i].level > level)
            level = view->reports[i].level;
    if (shown == view->count || room == 0)
        return;
    pen_begin(p);
    pen_put(p, ink_of(level), "and %zu more, the worst of them %s", view->count - shown,
            gyre_level_name(level));
}

static void draw_head(pen *p, const screen_view *view)
{
    pen_begin(p);
    pen_put(p, GYRE_INK_BOLD, "gyre top");
    pen_put(p, GYRE_INK_PLAIN, "  %s  every %.3g s", view->daytime, view->interval_s);
    if (view->paused)
        pen_put(p, GYRE_INK_WARN, "  paused");
    else if (view->age_s > 3 * view->interval_s + 1)
        pen_put(p, GYRE_INK_BAD, "  no answer for %.0f s", view->age_s);
    pen_put(p, GYRE_INK_FAINT, "  q quit, h help, space pause");
}

static void draw_help(pen *p)
{
    static const char *const text[] = {
        "",
        "  q      quit",
        "  h      this help, and back",
        "  space  pause, and go on",
        "",
        "  memory   used by all processes",
        "  busy     part of the last while in which a kernel ran",
        "  power    of the board, and its limit",
        "  heat     temperature, and where the device slows down",
        "  clock    now, and the highest; throttle says who lowers it",
        "  -        nobody tells",
        "  actors   of your processes, or of all when you are root; silent: the process does not",
        "           get to tell; mean: from when a message is taken to when it is handled",
        "",
        "  A level is healthy, warning or critical; reasons are listed below the bars.",
    };

    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        pen_begin(p);
        pen_put(p, GYRE_INK_PLAIN, "%s", text[i]);
    }
}

static void draw_blocks(pen *p, const screen_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        if (p->count > 0)
            pen_begin(p);
        draw_block(p, &view->reports[i]);
    }
}

/* Devices as blocks, or where these do not fit as rows. Some lines are kept for actors, if there
 * are any; of a small screen, one. */
static void draw_devices(pen *p, const screen_view *view)
{
    const size_t head = p->count, most = p->most;
    const size_t wanted = screen_actors_lines(view->actor_count);
    const size_t kept = most >= SMALL ? KEPT : most > 2;

    p->most -= wanted < kept ? wanted : kept;
    draw_blocks(p, view);
    if (p->count > p->most) { /* they do not fit; what was drawn is drawn over */
        p->count = head;
        draw_rows(p, view);
    }
    p->most = most;
}

size_t screen_draw(const screen_view *view, pen_line lines[SCREEN_ROWS_MOST])
{
    pen p = {.lines = lines,
             .most = SCREEN_ROWS_MOST,
             .columns = columns_of(view),
             .coloured = view->coloured};

    if (view->rows > 0) {
        p.most = view->rows < SCREEN_ROWS_MOST ? (size_t)view->rows : SCREEN_ROWS_MOST;
        draw_head(&p, view);
    }
    if (view->help) {
        draw_help(&p);
    } else {
        draw_devices(&p, view);
        if (view->rows <= 0)
            p.columns = SCREEN_COLUMNS_MOST; /* no terminal would break the lines of the table */
        screen_actors_draw(&p, view->actors, view->actor_count);
    }
    return p.count < p.most ? p.count : p.most;
}
