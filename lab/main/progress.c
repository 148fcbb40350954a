/* SPDX-License-Identifier: Apache-2.0
 *
 * progress: see progress.h.
 */
#include "main/progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gyre/clock.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum { DRAW_EVERY_NS = 100000000, BAR = 20, LINE_BYTES = 512, USUAL_COLUMNS = 80 };

void gyre_progress_begin(gyre_progress_line *line, FILE *stream, size_t total, double case_ns)
{
    *line = (gyre_progress_line){.total = total, .case_ns = case_ns};
    line->stream = stream && gyre_terminal_live(stream) ? stream : NULL;
    line->started_ns = line->case_started_ns = gyre_clock_now_ns();
}

static size_t columns_of(FILE *stream)
{
    struct winsize size;

    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return USUAL_COLUMNS;
}

/* For the whole run: the cases to come take as long as those that were, the present one the rest.
 */
static double left_ns(const gyre_progress_line *line, uint64_t now_ns)
{
    const double spent_here = (double)(now_ns - line->case_started_ns);
    const double to_come = (double)(line->total - line->done);
    const double left = to_come * line->case_ns - spent_here;
    const double least = (to_come - 1) * line->case_ns;

    return left > least ? left : least;
}

static void format_seconds(double ns, char *text, size_t size)
{
    const unsigned long seconds = ns > 0 ? (unsigned long)(ns / 1e9 + 0.5) : 0;

    if (seconds >= 3600)
        snprintf(text, size, "%lu h %lu min", seconds / 3600, seconds / 60 % 60);
    else if (seconds >= 60)
        snprintf(text, size, "%lu min %lu s", seconds / 60, seconds % 60);
    else
        snprintf(text, size, "%lu s", seconds);
}

static void draw(const gyre_progress_line *line, size_t shown, double to_come_ns, const char *what)
{
    const size_t filled = line->total ? line->done * BAR / line->total : 0;
    const size_t columns = columns_of(line->stream);
    char text[LINE_BYTES], left[32], bar[BAR + 1];

    memset(bar, '-', BAR);
    memset(bar, '#', filled < BAR ? filled : BAR);
    bar[BAR] = '\0';
    format_seconds(to_come_ns, left, sizeof left);
    snprintf(text, sizeof text, "[%s] %zu/%zu, %s left  %s", bar, shown, line->total, left, what);
    fprintf(line->stream, "\r\033[K%.*s", (int)(columns < sizeof text ? columns - 1 : sizeof text),
            text);
    fflush(line->stream);
}

static void draw_case(const gyre_progress_line *line, const char *id, uint64_t now_ns)
{
    char what[LINE_BYTES], phase_left[40] = "";

    if (line->phase_end_ns > now_ns)
        snprintf(phase_left, sizeof phase_left, ", %s",
                 gyre_quantity_time((double)(line->phase_end_ns - now_ns)).text);
    snprintf(what, sizeof what, "Benchmarking %s: %s%s", id, line->phase, phase_left);
    draw(line, line->index + 1, left_ns(line, now_ns), what);
}

void gyre_progress_tell(gyre_progress_line *line, size_t done, double to_come_ns, const char *what)
{
    const uint64_t now_ns = gyre_clock_now_ns();

    if (!line->stream || (done == line->done && now_ns - line->drawn_ns < DRAW_EVERY_NS))
        return;
    line->done = done;
    line->drawn_ns = now_ns;
    draw(line, done, to_come_ns, what);
}

void gyre_progress_show(gyre_progress_line *line, size_t index, const char *id, const char *phase,
                        size_t phase_length, uint64_t left)
{
    const uint64_t now_ns = gyre_clock_now_ns();
    bool same = true;

    if (!line->stream)
        return;
    if (phase) {
        const size_t length =
            phase_length < sizeof line->phase - 1 ? phase_length : sizeof line->phase - 1;

        same = strlen(line->phase) == length && memcmp(line->phase, phase, length) == 0;
        memcpy(line->phase, phase, length);
        line->phase[length] = '\0';
        line->phase_end_ns = left ? now_ns + left : 0;
    }
    if (index != line->index) {
        line->index = index;
        line->case_started_ns = now_ns;
    }
    if (same && now_ns - line->drawn_ns < DRAW_EVERY_NS)
        return;
    line->drawn_ns = now_ns;
    draw_case(line, id, now_ns);
}

void gyre_progress_done(gyre_progress_line *line)
{
    const uint64_t now_ns = gyre_clock_now_ns();

    if (line->done < line->total)
        line->done++;
    line->case_ns = (double)(now_ns - line->started_ns) / (double)line->done;
    line->case_started_ns = now_ns;
}

void gyre_progress_wipe(gyre_progress_line *line)
{
    if (line->stream && line->drawn_ns) {
        fputs("\r\033[K", line->stream);
        fflush(line->stream);
    }
    line->drawn_ns = 0;
}
