/* SPDX-License-Identifier: Apache-2.0
 *
 * log: how the library writes a log line. See gyre/log.h for where lines go.
 */
#ifndef GYRE_BASE_LOG_H
#define GYRE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"
#include "gyre/log.h"

/* Topics, in the order of the layers. */
#define GYRE_TOPICS(ROW)                                                                           \
    ROW(BASE, "base")                                                                              \
    ROW(MEM, "mem")                                                                                \
    ROW(DEVICE, "device")                                                                          \
    ROW(LAB, "lab")

typedef enum gyre_topic {
#define ROW(id, name) GYRE_TOPIC_##id,
    GYRE_TOPICS(ROW)
#undef ROW
        GYRE_TOPIC_COUNT
} gyre_topic;

/* gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_BASE, "clock: %s", source): the arguments are evaluated only
 * when the line is wanted. */
#define gyre_log(level, topic, ...)                                                                \
    (gyre_log_wants((level), (topic)) ? gyre_log_write((level), (topic), __VA_ARGS__) : (void)0)

bool gyre_log_wants(gyre_log_level level, gyre_topic topic);
void gyre_log_write(gyre_log_level level, gyre_topic topic, const char *format, ...)
    GYRE_PRINTF(3, 4);

/* The levels that a GYRE_LOG value asks for. */
typedef struct gyre_log_spec {
    unsigned char level[GYRE_TOPIC_COUNT];
} gyre_log_spec;

/* Reads "level" or "level,topic:level,...". False, with a sentence in `problem`, when malformed;
 * `out_spec` is whole either way. Pure. */
bool gyre_log_parse(const char *text, gyre_log_spec *out_spec, char *problem, size_t problem_size);

#endif
