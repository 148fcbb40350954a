/* SPDX-License-Identifier: Apache-2.0
 *
 * given: see given.h.
 */
#include "main/given.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

static gyre_status bad_value(const gyre_given *given, size_t row, const char *want)
{
    const char *value = given->args->value[row];

    return gyre_fail(GYRE_INVALID, "option '%s' takes %s, not '%.*s'", given->options[row].name,
                     want, gyre_text_cut(strlen(value)), value);
}

gyre_status gyre_given_time(const gyre_given *given, size_t row, bool may_be_zero, uint64_t *ns)
{
    const char *text = given->args->value[row];
    double value;

    if (!text)
        return GYRE_OK;
    if (!gyre_text_duration(text, &value) || value > 86400e9 ||
        (value < 1000 && !(may_be_zero && value == 0)))
        return bad_value(given, row, "a time from 1us to 24 hours, like 500ms or 3 (seconds)");
    *ns = (uint64_t)value;
    return GYRE_OK;
}

gyre_status gyre_given_count(const gyre_given *given, size_t row, gyre_range allowed,
                             uint64_t *count)
{
    const char *text = given->args->value[row];
    long long value;

    if (!text)
        return GYRE_OK;
    if (!gyre_text_count(text, (long long)allowed.low,
                         allowed.high < 9.2e18 ? (long long)allowed.high : INT64_MAX, &value))
        return bad_value(given, row, allowed.want);
    *count = (uint64_t)value;
    return GYRE_OK;
}

gyre_status gyre_given_number(const gyre_given *given, size_t row, gyre_range allowed,
                              double *number)
{
    const bool percent = strchr(given->options[row].argument, '%') != NULL;
    const char *text = given->args->value[row];
    double value;
    char end[2] = "", rest;
    int fields;

    if (!text)
        return GYRE_OK;
    fields = sscanf(text, "%lf %1[%]%c", &value, end, &rest);
    if (fields < 1 || fields > 2 || (fields == 2 && !percent) ||
        (fields == 1 && strspn(text, "0123456789.eE+-") != strlen(text)))
        return bad_value(given, row, allowed.want);
    if (end[0] == '%')
        value /= 100;
    if (!(value >= allowed.low && value <= allowed.high))
        return bad_value(given, row, allowed.want);
    *number = value;
    return GYRE_OK;
}

gyre_status gyre_given_cpus(const gyre_given *given, size_t row, gyre_cpu_set *cpus, bool *pinned)
{
    const char *text = given->args->value[row];
    cpu_set_t allowed;

    *pinned = text != NULL;
    if (!text)
        return GYRE_OK;
    if (text[0] == '\0' || !gyre_parse_cpu_list(text, cpus))
        return bad_value(given, row, "numbers of CPUs, like 2 or 0-3,8");
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return GYRE_OK; /* more CPUs than it can tell: the kernel will say */
    for (uint32_t i = 0; i < GYRE_CPU_LIMIT; i++)
        if (gyre_cpu_set_has(cpus, i) && (i >= CPU_SETSIZE || !CPU_ISSET(i, &allowed)))
            return gyre_fail(GYRE_INVALID, "%s: CPU %u is not there, or not for us",
                             given->options[row].name, i);
    return GYRE_OK;
}

int gyre_given_choice(const gyre_given *given, size_t row)
{
    const char *text = given->args->value[row];

    return text ? gyre_text_choice(given->options[row].argument, text) : 0;
}
