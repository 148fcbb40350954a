/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_devices: see doctor_devices.h.
 *
 * The doctor itself runs nothing on a device: whatever is busy there is somebody else's.
 */
#include "doctor_devices.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { BUSY_PERCENT = 5, FULL_PERCENT = 50 };

static const char *const checks[] = {
    "gpu_trouble", "gpu_faults", "gpu_heat", "gpu_power", "gpu_clock", "gpu_busy", "gpu_memory",
};

const char *doctor_device_check_at(size_t index)
{
    return index < sizeof checks / sizeof checks[0] ? checks[index] : NULL;
}

size_t doctor_look(const gyre_device *const *devices, size_t count,
                   gyre_monitor_report reports[GYRE_MONITOR_DEVICES])
{
    const gyre_monitor_options options = {
        .struct_size = sizeof options, .devices = devices, .device_count = count};
    gyre_monitor *monitor;
    size_t looked = 0;

    if (count == 0 || gyre_monitor_create(&options, &monitor) != GYRE_OK)
        return 0;
    if (gyre_monitor_sample(monitor) == GYRE_OK)
        for (; looked < count; looked++) {
            reports[looked].struct_size = sizeof reports[looked];
            (void)!gyre_monitor_report_at(monitor, looked, &reports[looked]);
        }
    gyre_monitor_destroy(monitor);
    return looked;
}

/* The first reason about it, or NULL. */
static const char *reason(const gyre_monitor_report *r, gyre_concern concern)
{
    for (uint32_t i = 0; i < r->reason_count; i++)
        if (r->reasons[i].concern == concern)
            return r->reasons[i].text;
    return NULL;
}

static void judge_faults(const gyre_monitor_report *r, gyre_diagnosis *d)
{
    static const gyre_concern faults[] = {GYRE_CONCERN_LOST, GYRE_CONCERN_XID, GYRE_CONCERN_ECC};

    if (r->device->trouble[0])
        gyre_doctor_find(d, "gpu_trouble", GYRE_NOISE_NOTE, "benchmarks on it are skipped",
                         "%s cannot be used: %.100s", r->device->name, r->device->trouble);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (reason(r, faults[i]))
            gyre_doctor_find(d, "gpu_faults", GYRE_NOISE_UNUSABLE,
                             "reset the device or restart the machine; if it stays, replace it",
                             "%s: %s", r->device->name, reason(r, faults[i]));
}

static void judge_speed(const gyre_monitor_report *r, gyre_diagnosis *d)
{
    const int64_t throttle = r->state.throttle < 0 ? 0 : r->state.throttle;
    const char *why = reason(r, GYRE_CONCERN_THROTTLE);

    if (!why)
        why = reason(r, GYRE_CONCERN_TEMPERATURE);
    if (why)
        gyre_doctor_find(d, "gpu_heat", GYRE_NOISE_NOISY,
                         "let it cool down, and look at its fans and at what else is in the box",
                         "%s: %s", r->device->name, why);
    if (throttle & GYRE_THROTTLE_POWER || reason(r, GYRE_CONCERN_POWER))
        gyre_doctor_find(d, "gpu_power", GYRE_NOISE_NOISY,
                         "end what keeps it busy; else its speed depends on the limit of power",
                         "%s: %s", r->device->name,
                         reason(r, GYRE_CONCERN_POWER) ? reason(r, GYRE_CONCERN_POWER)
                                                       : "the limit of power lowers the clock");
    if (throttle & GYRE_THROTTLE_SETTING)
        gyre_doctor_find(d, "gpu_clock", GYRE_NOISE_NOTE,
                         "steady, but figures are those of this clock: nvidia-smi -rgc frees it",
                         "%s: somebody has set its clock", r->device->name);
}

void doctor_judge_device(const gyre_monitor_report *report, gyre_diagnosis *diagnosis)
{
    const gyre_device_state *s = &report->state;
    const double used = s->memory_used_bytes >= 0 && s->memory_total_bytes > 0
                            ? 100 * (double)s->memory_used_bytes / (double)s->memory_total_bytes
                            : -1;

    judge_faults(report, diagnosis);
    judge_speed(report, diagnosis);
    if (s->busy_percent >= BUSY_PERCENT)
        gyre_doctor_find(diagnosis, "gpu_busy", GYRE_NOISE_NOISY,
                         "end the other programs that use it",
                         "%s: somebody keeps it busy for %d %% of the time", report->device->name,
                         s->busy_percent);
    if (used >= FULL_PERCENT)
        gyre_doctor_find(diagnosis, "gpu_memory", GYRE_NOISE_NOTE,
                         "large benchmarks may be skipped for want of memory",
                         "%s: %.0f %% of its memory is taken", report->device->name, used);
}

/* Appends, as far as it fits. */
GYRE_PRINTF(3, 4)
static void say(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* ", 41 C of 87": nothing at all when it is not told, and without a limit that is not. */
static void say_pair(char *text, size_t size, int32_t value, int32_t limit, const char *unit)
{
    if (value < 0)
        return;
    say(text, size, ", %d %s", value, unit);
    if (limit > 0)
        say(text, size, " of %d", limit);
}

void doctor_device_line(const gyre_monitor_report *report, char *text, size_t size)
{
    static const char *const names[] = {"power",     "heat",     "the board",
                                        "a setting", "idleness", "something"};
    const gyre_device_state *s = &report->state;
    size_t bare;
    bool some = false;

    snprintf(text, size, "%s (%s)", report->device->name, report->device->title);
    bare = strlen(text);
    say_pair(text, size, s->temperature_c, s->temperature_limit_c, "C");
    say_pair(text, size, s->power_mw < 0 ? -1 : s->power_mw / 1000,
             s->power_limit_mw < 0 ? -1 : s->power_limit_mw / 1000, "W");
    say_pair(text, size, s->clock_mhz, s->clock_most_mhz, "MHz");
    for (size_t i = 0; s->throttle > 0 && i < sizeof names / sizeof names[0]; i++)
        if (s->throttle >> i & 1) {
            say(text, size, "%s %s", some ? " and" : ", lowered by", names[i]);
            some = true;
        }
    if (s->ecc_uncorrected >= 0)
        say(text, size, ", %" PRId64 " uncorrected memory errors", s->ecc_uncorrected);
    if (strlen(text) == bare)
        say(text, size, " tells neither temperature nor power");
    else if (bare < strlen(text))
        text[bare] = ':'; /* in place of the first comma */
    gyre_text_plain(text);
}
