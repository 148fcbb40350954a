/* SPDX-License-Identifier: Apache-2.0
 *
 * log: filters lines by level and topic and hands them to one sink.
 *
 * Threads   any. The mutex serialises the sink; the levels are constant once the settings are read.
 * Owns      nothing of the sink's.
 * Not here  the value of GYRE_LOG (base/settings.c reads it, through gyre_log_parse).
 */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "base/text.h"

static const char *const topics[] = {
#define ROW(id, name) [GYRE_TOPIC_##id] = (name),
    GYRE_TOPICS(ROW)
#undef ROW
};

static const char *const levels[] = {
    [GYRE_LOG_OFF] = "off",   [GYRE_LOG_ERROR] = "error", [GYRE_LOG_WARN] = "warn",
    [GYRE_LOG_INFO] = "info", [GYRE_LOG_DEBUG] = "debug", [GYRE_LOG_TRACE] = "trace",
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static gyre_log_sink current_sink; /* under the mutex; NULL is stderr */
static void *current_user;         /* under the mutex */

const char *gyre_log_level_name(gyre_log_level level)
{
    const size_t index = (size_t)level;

    return index < sizeof levels / sizeof levels[0] ? levels[index] : "unknown";
}

void gyre_log_set_sink(gyre_log_sink sink, void *user)
{
    pthread_mutex_lock(&mutex);
    current_sink = sink;
    current_user = user;
    pthread_mutex_unlock(&mutex);
}

bool gyre_log_wants(gyre_log_level level, gyre_topic topic)
{
    return (int)level <= gyre_settings_log()->level[topic];
}

void gyre_log_write(gyre_log_level level, gyre_topic topic, const char *format, ...)
{
    char text[512]; /* longer lines are cut: a log line never allocates */
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&mutex);
    if (current_sink)
        current_sink(current_user, level, topics[topic], text);
    else
        fprintf(stderr, "gyre: %s: %s: %s\n", gyre_log_level_name(level), topics[topic], text);
    pthread_mutex_unlock(&mutex);
}

static int find(const char *const *names, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0)
            return (int)i;
    return -1;
}

/* One "level" or "topic:level" of `length` bytes. */
static bool parse_part(const char *part, size_t length, gyre_log_spec *spec, char *problem,
                       size_t problem_size)
{
    const char *colon = memchr(part, ':', length);
    const char *name = colon ? colon + 1 : part;
    const size_t name_length = length - (size_t)(name - part);
    const int level = find(levels, sizeof levels / sizeof levels[0], name, name_length);
    const int topic = colon ? find(topics, GYRE_TOPIC_COUNT, part, (size_t)(colon - part)) : 0;

    if (level < 0) {
        snprintf(problem, problem_size,
                 "'%.*s' is no log level; use off, error, warn, info, debug or trace",
                 gyre_text_cut(name_length), name);
        return false;
    }
    if (topic < 0) {
#define ROW(id, name) " " name
        snprintf(problem, problem_size, "'%.*s' is no log topic; there are" GYRE_TOPICS(ROW),
                 gyre_text_cut((size_t)(colon - part)), part);
#undef ROW
        return false;
    }
    if (colon)
        spec->level[topic] = (unsigned char)level;
    else
        memset(spec->level, level, sizeof spec->level);
    return true;
}

bool gyre_log_parse(const char *text, gyre_log_spec *out_spec, char *problem, size_t problem_size)
{
    memset(out_spec->level, GYRE_LOG_WARN, sizeof out_spec->level);
    for (;;) {
        const size_t length = strcspn(text, ",");

        if (!parse_part(text, length, out_spec, problem, problem_size))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}
