/* SPDX-License-Identifier: Apache-2.0
 *
 * moment: see moment.h.
 */
#include "record/moment.h"

#include <stdio.h>
#include <string.h>

static const char FORM[] = "dddd-dd-ddTdd:dd:ddZ"; /* d is any digit */

void gyre_moment_print(time_t moment, char text[GYRE_MOMENT_BYTES])
{
    struct tm utc;

    if (!gmtime_r(&moment, &utc) || utc.tm_year < -900 || utc.tm_year > 9999 - 1900)
        utc = (struct tm){.tm_year = 70, .tm_mday = 1};
    strftime(text, GYRE_MOMENT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static bool has_form(const char *text)
{
    for (size_t i = 0; i < sizeof FORM; i++) {
        const bool digit = text[i] >= '0' && text[i] <= '9';

        if (FORM[i] == 'd' ? !digit : text[i] != FORM[i])
            return false;
    }
    return true;
}

/* What reads back differently was no moment: the 30th of February, 25 o'clock. */
bool gyre_moment_parse(const char *text, time_t *out_moment)
{
    char again[GYRE_MOMENT_BYTES];
    struct tm utc = {0};
    time_t moment;

    *out_moment = 0;
    if (!has_form(text) || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &utc.tm_year, &utc.tm_mon,
                                  &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec) != 6)
        return false;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    moment = timegm(&utc);
    gyre_moment_print(moment, again);
    if (strcmp(text, again) != 0)
        return false;
    *out_moment = moment;
    return true;
}
