/* SPDX-License-Identifier: Apache-2.0
 *
 * top: shows how devices are, and the actors of other processes, once or live.
 *
 * The monitor's own thread asks the drivers, so that the keys work while a driver does not answer;
 * this one draws what was told last, a few times a second, when it has changed. Boards of actors
 * are read by this one: that is memory, and waits for nobody.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actors.h"
#include "base/text.h"
#include "device_choice.h"
#include "gyre/clock.h"
#include "gyre/log.h"
#include "gyre/monitor.h"
#include "report/terminal.h"
#include "screen.h"
#include "top_json.h"
#include "tty.h"
#include "verb.h"

enum { DEVICE, INTERVAL, ONCE, JSON };
enum {
    FRAME_BYTES = SCREEN_ROWS_MOST * (PEN_LINE_BYTES + 8),
    ONCE_COLUMNS = 100,
    LOOK_NS = 200000000,
    AGAIN_NS = 50000000, /* between looks at boards until there are rates, */
    AGAIN_MOST = 12,     /* so many times */
};

#define TICK_S 0.25 /* how long a change or a resize may wait to be seen */

static const gyre_option options[] = {
    [DEVICE] = {"--device", 'd', "NAME", "watch this device, in trouble or not; may be repeated"},
    [INTERVAL] = {"--interval", 'i', "DURATION", "between two samples, 100ms to 60m; default 1s"},
    [ONCE] = {"--once", 0, NULL, "print one sample and end; also when stdout is no terminal"},
    [JSON] = {"--json", 0, NULL, "print one sample as JSON and end"},
    {NULL, 0, NULL, NULL},
};

typedef struct top {
    gyre_monitor *monitor;
    size_t count;
    double interval_s;
    uint64_t started_ns;
    gyre_monitor_report reports[GYRE_MONITOR_DEVICES]; /* what is shown */
    actors actors;                                     /* likewise */
    uint64_t looked_ns;                                /* when boards were read */
    char daytime[16];                                  /* when it was copied */
    screen_view view;
    pen_line lines[SCREEN_ROWS_MOST];
    char frame[FRAME_BYTES], last[FRAME_BYTES];
    size_t last_bytes; /* of what is on the terminal; 0: draw whatever it is */
} top;

/* The CPU, and all that tell how they are. */
static bool is_watched(const gyre_device *device)
{
    return !device->trouble[0] && device->kind != GYRE_DEVICE_NULL &&
           (device == gyre_device_at(0) || gyre_device_has(device, GYRE_FEATURE_MONITOR));
}

/* Copies the reports that are there now. */
static void collect(top *t)
{
    for (size_t i = 0; i < t->count; i++) {
        t->reports[i].struct_size = sizeof t->reports[i];
        (void)!gyre_monitor_report_at(t->monitor, i, &t->reports[i]);
    }
    t->view.actor_count = t->actors.count;
}

/* Reads the boards again until a rate is known of each actor, whose process tells four times a
 * second. */
static void await_rates(top *t)
{
    const struct timespec pause = {.tv_nsec = AGAIN_NS};

    actors_look(&t->actors);
    for (int i = 0; i < AGAIN_MOST && actors_are_new(&t->actors); i++) {
        nanosleep(&pause, NULL);
        actors_look(&t->actors);
    }
}

/* The second of two samples: how busy a CPU is can be told of the time between two looks only. */
static int print_once(top *t, bool json)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    size_t count;

    actors_look(&t->actors);
    for (int i = 0; i < 2; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        if (gyre_monitor_sample(t->monitor) != GYRE_OK) {
            fprintf(stderr, "gyre top: %s\n", gyre_error_last()->text);
            return GYRE_EXIT_ENVIRONMENT;
        }
    }
    await_rates(t);
    collect(t);
    if (json) {
        top_json(stdout, t->reports, t->count, &t->actors);
        return GYRE_EXIT_DONE;
    }
    t->view.columns = ONCE_COLUMNS;
    count = screen_draw(&t->view, t->lines);
    for (size_t i = 0; i < count; i++)
        puts(t->lines[i].text);
    return GYRE_EXIT_DONE;
}

/* Draws when something has changed; false when the terminal is gone. */
static bool draw(top *t)
{
    const time_t now = time(NULL);
    const uint64_t now_ns = gyre_clock_now_ns();
    uint64_t sampled_ns;
    size_t count, bytes = 0;
    struct tm parts;

    if (!t->view.paused) {
        if (t->looked_ns == 0 || (double)(now_ns - t->looked_ns) / 1e9 >= t->interval_s) {
            actors_look(&t->actors);
            t->looked_ns = now_ns;
        }
        collect(t);
    }
    sampled_ns = t->started_ns;
    for (size_t i = 0; i < t->count; i++)
        if (t->reports[i].sampled_ns > sampled_ns)
            sampled_ns = t->reports[i].sampled_ns;
    t->view.age_s = (double)(int64_t)(now_ns - sampled_ns) / 1e9;
    if (!t->view.paused && localtime_r(&now, &parts))
        strftime(t->daytime, sizeof t->daytime, "%H:%M:%S", &parts);
    tty_size(&t->view.rows, &t->view.columns);
    count = screen_draw(&t->view, t->lines);
    bytes += (size_t)snprintf(t->frame, sizeof t->frame, "\033[H");
    for (size_t i = 0; i < count; i++)
        bytes += (size_t)snprintf(t->frame + bytes, sizeof t->frame - bytes, "%s%s\033[K",
                                  i > 0 ? "\r\n" : "", t->lines[i].text);
    bytes += (size_t)snprintf(t->frame + bytes, sizeof t->frame - bytes, "\033[J");
    if (bytes == t->last_bytes && memcmp(t->frame, t->last, bytes) == 0)
        return true;
    memcpy(t->last, t->frame, bytes);
    t->last_bytes = bytes;
    return tty_write(t->frame, bytes);
}

/* Lines of the log would be written into the picture. */
static void swallow(void *user, gyre_log_level level, const char *topic, const char *text)
{
    (void)user, (void)level, (void)topic, (void)text;
}

/* Until a key, a signal or the terminal ends it. */
static int watch(top *t, tty *terminal)
{
    for (;;) {
        if (!draw(t))
            return GYRE_EXIT_ENVIRONMENT;
        switch (tty_wait(terminal, TICK_S)) {
        case 'q':
        case 'Q':
            return GYRE_EXIT_DONE;
        case 'h':
        case 'H':
        case '?':
            t->view.help = !t->view.help;
            break;
        case ' ':
            t->view.paused = !t->view.paused;
            break;
        case TTY_RESIZED:
            t->last_bytes = 0;
            break;
        case TTY_INTERRUPTED:
            return GYRE_EXIT_INTERRUPTED;
        case TTY_GONE:
            return GYRE_EXIT_ENVIRONMENT;
        default:
            break;
        }
    }
}

static int run_live(top *t)
{
    tty terminal;
    int code;

    t->started_ns = gyre_clock_now_ns();
    if (gyre_monitor_start(t->monitor) != GYRE_OK) {
        fprintf(stderr, "gyre top: %s\n", gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    fflush(stdout);
    gyre_log_set_sink(swallow, NULL);
    tty_open(&terminal);
    code = watch(t, &terminal);
    tty_close(&terminal); /* before the thread, which may wait for a driver that hangs */
    gyre_log_set_sink(NULL, NULL);
    return code;
}

static int run_top(const gyre_args *args, int argc, char **argv)
{
    const bool json = gyre_args_given(args, JSON),
               once = json || gyre_args_given(args, ONCE) || !gyre_terminal_live(stdout);
    const gyre_device *devices[GYRE_MONITOR_DEVICES];
    gyre_monitor_options monitor = {.struct_size = sizeof monitor, .devices = devices};
    double interval_ns = 1e9;
    int code = GYRE_EXIT_ENVIRONMENT;
    top *t;

    (void)argc, (void)argv;
    if (gyre_args_given(args, INTERVAL) &&
        (!gyre_text_duration(args->value[INTERVAL], &interval_ns) || interval_ns < 1e8 ||
         interval_ns > 3600e9)) {
        fprintf(stderr, "gyre top: --interval takes a duration from 100ms to 60m\n");
        return GYRE_EXIT_USAGE;
    }
    if (device_choice(args, DEVICE, is_watched, devices, &monitor.device_count) != GYRE_OK) {
        fprintf(stderr, "gyre top: %s\n", gyre_error_last()->text);
        return GYRE_EXIT_USAGE;
    }
    if (monitor.device_count == 0) {
        fprintf(stderr, "gyre top: there is no device to watch; 'gyre info' lists them\n");
        return GYRE_EXIT_ENVIRONMENT;
    }
    monitor.period_ns = (uint64_t)interval_ns;
    t = calloc(1, sizeof *t);
    if (!t || gyre_monitor_create(&monitor, &t->monitor) != GYRE_OK) {
        fprintf(stderr, "gyre top: %s\n", t ? gyre_error_last()->text : "no memory");
        free(t);
        return code;
    }
    t->count = gyre_monitor_count(t->monitor);
    t->interval_s = interval_ns / 1e9;
    if (gyre_args_given(args, DEVICE)) {
        t->actors.devices = devices;
        t->actors.device_count = monitor.device_count;
    }
    t->view = (screen_view){.reports = t->reports,
                            .count = t->count,
                            .actors = t->actors.rows,
                            .coloured = gyre_terminal_coloured(stdout),
                            .interval_s = t->interval_s,
                            .daytime = t->daytime};
    code = once ? print_once(t, json) : run_live(t);
    gyre_monitor_destroy(t->monitor);
    free(t);
    return code;
}

const gyre_verb verb_top = {
    .name = "top",
    .operands = "",
    .summary = "show how devices are, and the actors that live on them",
    .description =
        "Shows the CPU and every device that tells how it is, live: memory, how busy it is, power, "
        "temperature, clocks and what lowers them, and a level, healthy, warning or critical, with "
        "its reasons. A warning may be early: memory or temperature will be critical within a "
        "minute, by the last ten samples. Below are the actors that processes of this user keep "
        "alive, of all users for root; with --device, those on the devices asked for. Keys: q "
        "quits, h is for help, space pauses. What nobody "
        "tells is '-'. With --once, and when stdout is no terminal, prints one sample; --json "
        "prints it as gyre.top/1. It reports, so it exits with 0 whatever the levels are.",
    .options = options,
    .run = run_top,
};
