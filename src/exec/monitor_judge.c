/* SPDX-License-Identifier: Apache-2.0
 *
 * monitor_judge: what reaches a threshold, said in a sentence. See gyre/monitor.h.
 *
 * A value that is not told is negative and reaches nothing. Comparisons are made in doubles, exact
 * for whatever a device may have, so that a value at its threshold has reached it.
 *
 * Threads   any; pure.
 * Owns      nothing.
 * Not here  taking samples (monitor.c).
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "exec/monitor.h"
#include "gyre/clock.h"

enum { WARNING = 0, CRITICAL = 1 }; /* indices of a pair of thresholds */

/* For devices that tell no limit, and how far below a limit it is warm. */
enum { WARM_C = 85, HOT_C = 95, MARGIN_C = 5 };

static int32_t or_default(int32_t given, int32_t fallback)
{
    return given ? given : fallback;
}

static gyre_status check_pair(const char *what, int64_t warning, int64_t critical)
{
    if (warning >= 0 && critical >= 0 && warning > critical)
        return gyre_fail(GYRE_INVALID,
                         "monitor: %s is warned from %" PRId64 " and critical from %" PRId64
                         " on; give both, the warning first",
                         what, warning, critical);
    return GYRE_OK;
}

gyre_status gyre_monitor_limits_read(const gyre_monitor_options *options,
                                     gyre_monitor_limits *out_limits)
{
    const int64_t timeout_ns = gyre_settings_number(GYRE_SETTING_SYNC_TIMEOUT);
    const gyre_monitor_options *o = options;
    gyre_status status;
    gyre_monitor_limits l = {
        .memory_percent = {or_default(o->memory_warning_percent, 70),
                           or_default(o->memory_critical_percent, 90)},
        .temperature_c = {o->temperature_warning_c, o->temperature_critical_c},
        .power_percent = or_default(o->power_warning_percent, 98),
        .pending = {or_default(o->pending_warning, 20), or_default(o->pending_critical, 100)},
        .age_ns = {o->age_warning_ns ? o->age_warning_ns : timeout_ns / 2,
                   o->age_critical_ns ? o->age_critical_ns : timeout_ns},
        .horizon_ns = o->horizon_ns ? o->horizon_ns : UINT64_C(60000000000),
    };

    for (int i = WARNING; i <= CRITICAL; i++)
        if (l.age_ns[i] == 0) /* a timeout of 0 is one that everything misses */
            l.age_ns[i] = -1;
    *out_limits = l;
    status = check_pair("memory", l.memory_percent[WARNING], l.memory_percent[CRITICAL]);
    /* one that is the device's own is compared when it is known, and then the critical one wins */
    if (status == GYRE_OK && l.temperature_c[WARNING] && l.temperature_c[CRITICAL])
        status = check_pair("temperature", l.temperature_c[WARNING], l.temperature_c[CRITICAL]);
    if (status == GYRE_OK)
        status = check_pair("pending", l.pending[WARNING], l.pending[CRITICAL]);
    if (status == GYRE_OK)
        status = check_pair("age", l.age_ns[WARNING], l.age_ns[CRITICAL]);
    return status;
}

static int32_t temperature_limit(const gyre_monitor_limits *l, const gyre_device_state *state,
                                 int which)
{
    const int32_t own = state->temperature_limit_c;

    if (l->temperature_c[which])
        return l->temperature_c[which];
    if (own > 0)
        return which == CRITICAL ? own : own - MARGIN_C;
    return which == CRITICAL ? HOT_C : WARM_C;
}

double gyre_monitor_critical(const gyre_monitor_limits *limits, gyre_concern concern,
                             const gyre_device_state *state)
{
    const double percent = limits->memory_percent[CRITICAL];

    switch (concern) {
    case GYRE_CONCERN_MEMORY:
        return percent < 0 || state->memory_total_bytes <= 0
                   ? -1
                   : percent * (double)state->memory_total_bytes / 100;
    case GYRE_CONCERN_TEMPERATURE:
        return temperature_limit(limits, state, CRITICAL);
    case GYRE_CONCERN_PENDING:
        return limits->pending[CRITICAL];
    case GYRE_CONCERN_LOST:
    case GYRE_CONCERN_XID:
    case GYRE_CONCERN_ECC:
    case GYRE_CONCERN_POWER:
    case GYRE_CONCERN_THROTTLE:
    case GYRE_CONCERN_AGE:
        break;
    }
    return -1;
}

/* Puts a reason behind those that are as bad. */
GYRE_PRINTF(4, 5)
static gyre_monitor_reason *add(gyre_monitor_report *r, gyre_level level, gyre_concern concern,
                                const char *format, ...)
{
    uint32_t place = r->reason_count;
    gyre_monitor_reason *reason;
    va_list args;

    if (r->reason_count == GYRE_MONITOR_REASONS)
        return &r->reasons[GYRE_MONITOR_REASONS - 1];
    while (place > 0 && r->reasons[place - 1].level < level)
        place--;
    reason = &r->reasons[place];
    memmove(reason + 1, reason, (r->reason_count - place) * sizeof *reason);
    r->reason_count++;
    *reason = (gyre_monitor_reason){.level = level, .concern = concern};
    va_start(args, format);
    vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
    gyre_text_plain(reason->text);
    if (level > r->level)
        r->level = level;
    return reason;
}

/* Which of two thresholds a value has reached. */
static gyre_level reached(double value, double warning, double critical)
{
    if (value < 0)
        return GYRE_LEVEL_HEALTHY;
    if (critical >= 0 && value >= critical)
        return GYRE_LEVEL_CRITICAL;
    return warning >= 0 && value >= warning ? GYRE_LEVEL_WARNING : GYRE_LEVEL_HEALTHY;
}

static const char *from(gyre_level level)
{
    return level == GYRE_LEVEL_CRITICAL ? "critical" : "warned";
}

static void judge_faults(const char *unwell, const char *lost, gyre_monitor_report *r)
{
    const gyre_device_state *s = &r->state;

    if (r->looked == GYRE_DEVICE_LOST)
        add(r, GYRE_LEVEL_CRITICAL, GYRE_CONCERN_LOST, "the device is lost: %s", unwell);
    else if (r->looked != GYRE_OK && r->looked != GYRE_UNSUPPORTED)
        add(r, GYRE_LEVEL_WARNING, GYRE_CONCERN_LOST, "the device tells nothing: %s", unwell);
    if (r->lost_count == 1 && r->context_count == 1)
        add(r, GYRE_LEVEL_CRITICAL, GYRE_CONCERN_LOST, "the context is lost: %s", lost);
    else if (r->lost_count > 0)
        add(r, GYRE_LEVEL_CRITICAL, GYRE_CONCERN_LOST, "%u of %u contexts are lost: %s",
            r->lost_count, r->context_count, lost);
    if (s->xid_count > 0)
        add(r, GYRE_LEVEL_CRITICAL, GYRE_CONCERN_XID,
            "the driver reported %" PRId64 " %s, Xid %" PRId64 " the last", s->xid_count,
            s->xid_count == 1 ? "fault" : "faults", s->xid);
    if (s->ecc_uncorrected > 0)
        add(r, GYRE_LEVEL_CRITICAL, GYRE_CONCERN_ECC, "%" PRId64 " uncorrected memory %s",
            s->ecc_uncorrected, s->ecc_uncorrected == 1 ? "error" : "errors");
}

static void judge_memory(const gyre_monitor_limits *l, gyre_monitor_report *r)
{
    const double used = (double)r->state.memory_used_bytes,
                 total = (double)r->state.memory_total_bytes;
    const int32_t *limit = l->memory_percent;
    const gyre_level level =
        total > 0 ? reached(100 * used, limit[WARNING] * total, limit[CRITICAL] * total)
                  : GYRE_LEVEL_HEALTHY;

    if (level != GYRE_LEVEL_HEALTHY)
        add(r, level, GYRE_CONCERN_MEMORY, "memory is %.0f %% used, %s from %d %%",
            floor(100 * used / total), from(level), limit[level == GYRE_LEVEL_CRITICAL]);
}

static void judge_board(const gyre_monitor_limits *l, gyre_monitor_report *r)
{
    const gyre_device_state *s = &r->state;
    const int32_t warm = temperature_limit(l, s, WARNING), hot = temperature_limit(l, s, CRITICAL);
    const gyre_level level = reached(s->temperature_c, warm, hot);
    const int64_t slowed =
        s->throttle < 0 ? 0 : s->throttle & (GYRE_THROTTLE_THERMAL | GYRE_THROTTLE_HARDWARE);

    if (level != GYRE_LEVEL_HEALTHY)
        add(r, level, GYRE_CONCERN_TEMPERATURE, "temperature is %d C, %s from %d C",
            s->temperature_c, from(level), level == GYRE_LEVEL_CRITICAL ? hot : warm);
    if (s->power_limit_mw > 0 &&
        reached(100.0 * s->power_mw, (double)l->power_percent * s->power_limit_mw, -1))
        add(r, GYRE_LEVEL_WARNING, GYRE_CONCERN_POWER, "power is %.0f W of %.0f W",
            s->power_mw / 1e3, s->power_limit_mw / 1e3);
    if (slowed == (GYRE_THROTTLE_THERMAL | GYRE_THROTTLE_HARDWARE))
        add(r, GYRE_LEVEL_CRITICAL, GYRE_CONCERN_THROTTLE,
            "the clock is lowered by heat, and by the board itself");
    else if (slowed)
        add(r, GYRE_LEVEL_WARNING, GYRE_CONCERN_THROTTLE, "the clock is lowered by %s",
            slowed == GYRE_THROTTLE_THERMAL ? "heat" : "the board");
}

static void judge_work(const gyre_monitor_limits *l, gyre_monitor_report *r)
{
    gyre_level level = reached((double)r->pending, l->pending[WARNING], l->pending[CRITICAL]);

    if (level != GYRE_LEVEL_HEALTHY)
        add(r, level, GYRE_CONCERN_PENDING, "%" PRId64 " tickets are pending, %s from %d",
            r->pending, from(level), l->pending[level == GYRE_LEVEL_CRITICAL]);
    level = r->pending > 0 ? reached((double)r->oldest_ns, (double)l->age_ns[WARNING],
                                     (double)l->age_ns[CRITICAL])
                           : GYRE_LEVEL_HEALTHY;
    if (level != GYRE_LEVEL_HEALTHY)
        add(r, level, GYRE_CONCERN_AGE, "the oldest ticket is pending for %.3g s, %s from %.3g s",
            (double)r->oldest_ns / 1e9, from(level),
            (double)l->age_ns[level == GYRE_LEVEL_CRITICAL] / 1e9);
}

/* "about 40 s", in steps that a guess deserves; never "0 s". */
static uint64_t rounded_s(uint64_t ns)
{
    const uint64_t s = ns / 1000000000 + (ns % 1000000000 >= 500000000);

    return s >= 20 ? (s + 5) / 10 * 10 : s > 0 ? s : 1;
}

static void judge_trends(const gyre_monitor_limits *l, gyre_monitor_report *r)
{
    const struct {
        const gyre_monitor_trend *trend;
        gyre_concern concern;
        const char *what, *unit;
        int32_t critical;
    } rows[] = {
        {&r->memory, GYRE_CONCERN_MEMORY, "memory reaches", " %", l->memory_percent[CRITICAL]},
        {&r->temperature, GYRE_CONCERN_TEMPERATURE, "temperature reaches", " C",
         temperature_limit(l, &r->state, CRITICAL)},
        {&r->pending_trend, GYRE_CONCERN_PENDING, "pending tickets reach", "",
         l->pending[CRITICAL]},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool critical = rows[i].critical < 0 || !rows[i].trend->known || !rows[i].trend->rising;

        for (uint32_t k = 0; k < r->reason_count; k++)
            critical |= r->reasons[k].concern == rows[i].concern &&
                        r->reasons[k].level == GYRE_LEVEL_CRITICAL;
        if (critical || l->horizon_ns == UINT64_MAX ||
            rows[i].trend->critical_in_ns > l->horizon_ns)
            continue;
        add(r, GYRE_LEVEL_WARNING, rows[i].concern, "%s %d%s in about %" PRIu64 " s", rows[i].what,
            rows[i].critical, rows[i].unit, rounded_s(rows[i].trend->critical_in_ns))
            ->early = 1;
    }
}

void gyre_monitor_judge(const gyre_monitor_limits *limits, const char *unwell, const char *lost,
                        gyre_monitor_report *report)
{
    report->level = GYRE_LEVEL_HEALTHY;
    report->reason_count = 0;
    memset(report->reasons, 0, sizeof report->reasons);
    judge_faults(unwell, lost, report);
    judge_memory(limits, report);
    judge_board(limits, report);
    judge_work(limits, report);
    judge_trends(limits, report);
}

const char *gyre_level_name(gyre_level level)
{
    static const char *const names[] = {"healthy", "warning", "critical"};

    return (unsigned)level < sizeof names / sizeof names[0] ? names[level] : "unknown";
}

const char *gyre_concern_name(gyre_concern concern)
{
    static const char *const names[] = {
        "unknown",     "lost",  "xid",      "ecc",     "memory",
        "temperature", "power", "throttle", "pending", "age",
    };

    return (unsigned)concern < sizeof names / sizeof names[0] ? names[concern] : "unknown";
}
