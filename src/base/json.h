/* SPDX-License-Identifier: Apache-2.0
 *
 * json: writes JSON to a stream, correct by construction where that is cheap.
 *
 * The writer puts commas, quotes, escapes and indentation (an array of numbers or strings stays on
 * one line); the caller keeps begin and end in pairs and gives keys inside objects only (asserted).
 * Bytes that are not UTF-8 become U+FFFD; numbers that JSON does not have become null. Errors of
 * the stream stay in the stream: ask ferror at the end.
 *
 * Threads   one writer, one thread.
 * Owns      nothing. Borrows the stream.
 * Not here  reading (lab/record/).
 */
#ifndef GYRE_BASE_JSON_H
#define GYRE_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gyre/common.h"

enum { GYRE_JSON_DEPTH = 32 };

typedef struct gyre_json {
    FILE *stream;
    int depth;
    bool array[GYRE_JSON_DEPTH]; /* what is open at each depth: an array or an object */
    bool some[GYRE_JSON_DEPTH];  /* whether it has a member already */
    bool lines[GYRE_JSON_DEPTH]; /* whether members stand on lines of their own */
} gyre_json;

/* `{.stream = stdout}` is a writer. In all that follows `key` is NULL at the top and in arrays. */
GYRE_API void gyre_json_begin_object(gyre_json *json, const char *key);
GYRE_API void gyre_json_begin_array(gyre_json *json, const char *key);

/* Closes the innermost object or array; at the top, ends the text with a newline. */
GYRE_API void gyre_json_end(gyre_json *json);

GYRE_API void gyre_json_string(gyre_json *json, const char *key,
                               const char *value); /* NULL: null */
GYRE_API void gyre_json_signed(gyre_json *json, const char *key, int64_t value);
GYRE_API void gyre_json_unsigned(gyre_json *json, const char *key, uint64_t value);
GYRE_API void gyre_json_double(gyre_json *json, const char *key, double value); /* round-trips */
GYRE_API void gyre_json_bool(gyre_json *json, const char *key, bool value);

#endif
