/* SPDX-License-Identifier: Apache-2.0
 *
 * member: members of JSON files, written so that record/value.h reads them back: no null, and no
 * whole number of 2^63 or more, which readers do not have.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  quotes, commas and digits (base/json.h).
 */
#ifndef GYRE_RECORD_MEMBER_H
#define GYRE_RECORD_MEMBER_H

#include <stdint.h>
#include <time.h>

#include "base/json.h"
#include "gyre/common.h"

void gyre_member_count(gyre_json *json, const char *key, uint64_t value);

/* All 64 bits, as 16 hexadecimal digits. */
void gyre_member_bits(gyre_json *json, const char *key, uint64_t value);

/* A text that is there; "" for NULL. */
void gyre_member_text(gyre_json *json, const char *key, const char *text);

/* Not when it is infinite or no number. */
void gyre_member_finite(gyre_json *json, const char *key, double value);

/* Not when it is NULL or empty; not when it is NULL. */
void gyre_member_some(gyre_json *json, const char *key, const char *text);
void gyre_member_known(gyre_json *json, const char *key, const char *text);

void gyre_member_moment(gyre_json *json, const char *key, time_t moment);

#endif
