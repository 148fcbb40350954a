/* SPDX-License-Identifier: Apache-2.0
 *
 * top_json: see top_json.h.
 */
#include "top_json.h"

#include <time.h>

#include "gyre/clock.h"
#include "gyre/library.h"

static const char *throttle_name(size_t bit)
{
    static const char *const names[] = {"power", "thermal", "hardware", "setting", "idle", "other"};

    return bit < sizeof names / sizeof names[0] ? names[bit] : NULL;
}

/* Null for what nobody tells. */
static void known(gyre_json *json, const char *key, int64_t value)
{
    if (value < 0)
        gyre_json_string(json, key, NULL);
    else
        gyre_json_signed(json, key, value);
}

static void trend(gyre_json *json, const char *key, const gyre_monitor_trend *t)
{
    if (!t->known) {
        gyre_json_string(json, key, NULL);
        return;
    }
    gyre_json_begin_object(json, key);
    gyre_json_double(json, "per_second", t->per_second);
    gyre_json_bool(json, "rising", t->rising != 0);
    if (t->critical_in_ns == GYRE_NEVER)
        gyre_json_string(json, "critical_in_ns", NULL);
    else
        gyre_json_unsigned(json, "critical_in_ns", t->critical_in_ns);
    gyre_json_end(json);
}

static void state(gyre_json *json, const gyre_device_state *s)
{
    known(json, "memory_total_bytes", s->memory_total_bytes);
    known(json, "memory_used_bytes", s->memory_used_bytes);
    known(json, "busy_percent", s->busy_percent);
    known(json, "memory_busy_percent", s->memory_busy_percent);
    known(json, "temperature_c", s->temperature_c);
    known(json, "temperature_limit_c", s->temperature_limit_c);
    known(json, "power_mw", s->power_mw);
    known(json, "power_limit_mw", s->power_limit_mw);
    known(json, "clock_mhz", s->clock_mhz);
    known(json, "clock_most_mhz", s->clock_most_mhz);
    known(json, "memory_clock_mhz", s->memory_clock_mhz);
    if (s->throttle < 0) {
        gyre_json_string(json, "throttle", NULL);
    } else {
        gyre_json_begin_array(json, "throttle");
        for (size_t i = 0; throttle_name(i); i++)
            if (s->throttle >> i & 1)
                gyre_json_string(json, NULL, throttle_name(i));
        gyre_json_end(json);
    }
    known(json, "ecc_corrected", s->ecc_corrected);
    known(json, "ecc_uncorrected", s->ecc_uncorrected);
    known(json, "xid", s->xid_count > 0 ? s->xid : -1);
    known(json, "xid_count", s->xid_count);
}

void top_json_device(gyre_json *json, const gyre_monitor_report *report)
{
    const gyre_monitor_report *r = report;

    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "name", r->device->name);
    gyre_json_string(json, "title", r->device->title);
    gyre_json_string(json, "trouble", r->device->trouble[0] ? r->device->trouble : NULL);
    gyre_json_string(json, "looked", gyre_status_name(r->looked));
    gyre_json_string(json, "level", gyre_level_name(r->level));
    gyre_json_begin_array(json, "reasons");
    for (uint32_t i = 0; i < r->reason_count; i++) {
        gyre_json_begin_object(json, NULL);
        gyre_json_string(json, "level", gyre_level_name(r->reasons[i].level));
        gyre_json_string(json, "about", gyre_concern_name(r->reasons[i].concern));
        gyre_json_bool(json, "early", r->reasons[i].early != 0);
        gyre_json_string(json, "text", r->reasons[i].text);
        gyre_json_end(json);
    }
    gyre_json_end(json);
    state(json, &r->state);
    trend(json, "memory_trend", &r->memory);
    trend(json, "temperature_trend", &r->temperature);
    gyre_json_end(json);
}

/* Null for what is not known. */
static void measured(gyre_json *json, const char *key, double value, bool known)
{
    if (known)
        gyre_json_double(json, key, value);
    else
        gyre_json_string(json, key, NULL);
}

static void actor(gyre_json *json, const actors_row *row)
{
    const gyre_board_row *const told = &row->told;
    const bool timed = told->mean_ns > 0;

    gyre_json_begin_object(json, NULL);
    gyre_json_unsigned(json, "pid", told->pid);
    gyre_json_unsigned(json, "uid", told->uid);
    gyre_json_string(json, "program", told->program);
    gyre_json_bool(json, "silent", row->silent);
    gyre_json_unsigned(json, "told_ago_ns", told->age_ns);
    gyre_json_string(json, "actor", told->actor);
    gyre_json_string(json, "behaviour", told->behaviour);
    gyre_json_string(json, "device", told->device);
    gyre_json_string(json, "status", gyre_actor_status_name(told->status));
    gyre_json_unsigned(json, "launch", told->launch);
    gyre_json_unsigned(json, "incarnation", told->incarnation);
    gyre_json_unsigned(json, "resident_ns",
                       told->told_ns > told->launched_ns ? told->told_ns - told->launched_ns : 0);
    gyre_json_unsigned(json, "seats", told->seats);
    gyre_json_unsigned(json, "replicas", told->replicas);
    gyre_json_unsigned(json, "processed", told->processed);
    measured(json, "per_second", row->per_second, row->per_second >= 0);
    gyre_json_unsigned(json, "waiting", told->waiting);
    gyre_json_unsigned(json, "failed", told->failed);
    gyre_json_unsigned(json, "dropped", told->dropped);
    gyre_json_unsigned(json, "last_error", told->last_error);
    measured(json, "mean_ns", told->mean_ns, timed);
    measured(json, "min_ns", (double)told->min_ns, timed);
    measured(json, "max_ns", (double)told->max_ns, timed);
    gyre_json_end(json);
}

void top_json(FILE *stream, const gyre_monitor_report *reports, size_t count,
              const actors *residents)
{
    gyre_json json = {.stream = stream};
    const time_t now = time(NULL);
    char text[32] = "";
    struct tm parts;

    if (gmtime_r(&now, &parts))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "schema", "gyre.top/1");
    gyre_json_string(&json, "version", gyre_version());
    gyre_json_string(&json, "time", text);
    gyre_json_begin_array(&json, "devices");
    for (size_t i = 0; i < count; i++)
        top_json_device(&json, &reports[i]);
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "actors");
    for (size_t i = 0; i < residents->count; i++)
        actor(&json, &residents->rows[i]);
    gyre_json_end(&json);
    gyre_json_end(&json);
}
