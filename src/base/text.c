/* SPDX-License-Identifier: Apache-2.0
 *
 * text: see text.h.
 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 64, COMPARED = 63 };

int gyre_text_cut(size_t length)
{
    return length < SHOWN ? (int)length : SHOWN;
}

/* Bytes of the control character at `p`; 0 when it is none. U+0080 to U+009F are C2 80 to C2 9F. */
static int control_length(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;

    if (u[0] < 0x20 || u[0] == 0x7f)
        return 1;
    return u[0] == 0xC2 && u[1] >= 0x80 && u[1] < 0xA0 ? 2 : 0;
}

void gyre_text_plain(char *text)
{
    while (*text) {
        const int length = control_length(text);

        for (int i = 0; i < length; i++)
            text[i] = '?';
        text += length ? length : 1;
    }
}

void gyre_text_print(FILE *stream, const char *text)
{
    while (*text) {
        const int length = control_length(text);

        fputc(length ? '?' : *text, stream);
        text += length ? length : 1;
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t gyre_text_distance(const char *a, const char *b)
{
    const size_t rows = strnlen(a, COMPARED), columns = strnlen(b, COMPARED);
    size_t two_above[COMPARED + 1], above[COMPARED + 1], row[COMPARED + 1];

    for (size_t j = 0; j <= columns; j++)
        above[j] = j;
    memcpy(two_above, above, sizeof above);
    memcpy(row, above, sizeof above);
    for (size_t i = 1; i <= rows; i++) {
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = least(above[j], row[j - 1]) + 1;
            row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
        memcpy(two_above, above, sizeof above);
        memcpy(above, row, sizeof row);
    }
    return row[columns];
}

const char *gyre_text_nearest(const char *word,
                              const char *(*name_at)(const void *names, size_t index),
                              const void *names)
{
    const char *nearest = NULL, *name;
    size_t best = (size_t)-1;

    for (size_t i = 0; (name = name_at(names, i)); i++) {
        const size_t length = strlen(name), distance = gyre_text_distance(word, name);

        if (distance < best && distance <= (length < 3 ? 1 : length / 3)) {
            best = distance;
            nearest = name;
        }
    }
    return nearest;
}

int gyre_text_choice(const char *choices, const char *word)
{
    const size_t length = strlen(word);

    for (int index = 0;; index++) {
        const size_t choice = strcspn(choices, "|");

        if (choice == length && strncmp(choices, word, length) == 0)
            return index;
        if (choices[choice] == '\0')
            return -1;
        choices += choice + 1;
    }
}

bool gyre_text_duration(const char *text, double *out_ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"", 1e9}};
    char *end;
    double number;

    *out_ns = 0;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return false; /* strtod would take "inf", "nan", signs and leading blanks */
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return false;
    number = strtod(text, &end);
    if (end == text || !isfinite(number))
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) == 0) {
            *out_ns = number * units[i].ns;
            return *out_ns <= 9.2e18;
        }
    }
    return false;
}

bool gyre_text_count(const char *text, long long low, long long high, long long *out_count)
{
    char *end;

    *out_count = 0;
    if (!isdigit((unsigned char)*text) && *text != '-')
        return false;
    errno = 0;
    *out_count = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *out_count >= low && *out_count <= high;
}
