/* SPDX-License-Identifier: Apache-2.0
 *
 * value: JSON that somebody else wrote, asked for by type and range.
 *
 * A value knows where it stands, so that what is wrong with it can be said:
 * `benchmarks[3].sample.times_ns is not an array`. The first complaint is kept and the rest is read
 * on as if it were absent, so that a reader asks for everything and looks for a complaint once, at
 * the end. A null is as good as absent.
 *
 * Threads   one.
 * Owns      nothing. A value borrows the parsed text and the value that it is in.
 * Not here  what members mean (record/read.c, record/read_result.c).
 */
#ifndef GYRE_RECORD_VALUE_H
#define GYRE_RECORD_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "bench/arena.h"
#include "gyre/common.h"

/* The first one, without the name of the file; "" for none. */
typedef struct gyre_complaint {
    char text[136];
} gyre_complaint;

typedef struct gyre_value {
    json_t *json;                /* NULL: absent */
    const struct gyre_value *in; /* the object or array around it; NULL at the top */
    const char *key;             /* NULL in an array */
    size_t index;
    gyre_complaint *complaint; /* where to complain; never NULL */
} gyre_value;

/* The member of an object; `need` complains when it is absent, unless the object itself is. */
gyre_value gyre_value_get(const gyre_value *object, const char *key);
gyre_value gyre_value_need(const gyre_value *object, const char *key);

/* The same value, absent and complained of unless it is an object, or an array of at most `most`.
 */
gyre_value gyre_value_object(gyre_value value);
gyre_value gyre_value_array(gyre_value value, size_t most);

/* Complains of a member that is none of the words of "a|b|c". */
void gyre_value_members(const gyre_value *object, const char *names);

/* Elements of an array; 0 when it is absent. */
size_t gyre_value_size(const gyre_value *array);
gyre_value gyre_value_at(const gyre_value *array, size_t index);

/* What a value is; 0, false, NULL and the first choice when it is absent or refused. */
double gyre_value_number(gyre_value value, double low, double high);
int64_t gyre_value_integer(gyre_value value, int64_t low, int64_t high);
bool gyre_value_bool(gyre_value value);
const char *gyre_value_text(gyre_value value, gyre_arena *arena);
time_t gyre_value_moment(gyre_value value);

/* 64 bits in exactly 16 hexadecimal digits, lower case. */
uint64_t gyre_value_bits(gyre_value value);

/* The member of an object that counts something: 0 when it is absent. */
uint64_t gyre_value_count(const gyre_value *object, const char *key);

/* The index among the words of "a|b|c". */
int gyre_value_choice(gyre_value value, const char *choices);

/* Complains: "benchmarks[3].id" and then what is said. */
void gyre_value_refuse(const gyre_value *value, const char *format, ...) GYRE_PRINTF(2, 3);

#endif
