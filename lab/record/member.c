/* SPDX-License-Identifier: Apache-2.0
 *
 * member: see member.h.
 */
#include "record/member.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "record/moment.h"

void gyre_member_count(gyre_json *json, const char *key, uint64_t value)
{
    gyre_json_unsigned(json, key, value < INT64_MAX ? value : INT64_MAX);
}

void gyre_member_bits(gyre_json *json, const char *key, uint64_t value)
{
    char digits[17];

    snprintf(digits, sizeof digits, "%016" PRIx64, value);
    gyre_json_string(json, key, digits);
}

void gyre_member_text(gyre_json *json, const char *key, const char *text)
{
    gyre_json_string(json, key, text ? text : "");
}

void gyre_member_finite(gyre_json *json, const char *key, double value)
{
    if (isfinite(value))
        gyre_json_double(json, key, value);
}

void gyre_member_some(gyre_json *json, const char *key, const char *text)
{
    if (text && text[0])
        gyre_json_string(json, key, text);
}

void gyre_member_known(gyre_json *json, const char *key, const char *text)
{
    if (text)
        gyre_json_string(json, key, text);
}

void gyre_member_moment(gyre_json *json, const char *key, time_t moment)
{
    char text[GYRE_MOMENT_BYTES];

    gyre_moment_print(moment, text);
    gyre_json_string(json, key, text);
}
