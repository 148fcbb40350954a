/* SPDX-License-Identifier: Apache-2.0
 *
 * log: what the library says while it works, and to whom.
 *
 * A line has a level and a topic. GYRE_LOG decides which are said: a level for all ("info"), or
 * levels by topic ("warn,base:debug"). They go to stderr unless a sink is set. A failure that a
 * call returns is never logged too.
 *
 * Threads   any. Calls of the sink are serialised by the library.
 * Owns      nothing of the sink's.
 * Not here  events with times (gyre/trace.h).
 */
#ifndef GYRE_LOG_H
#define GYRE_LOG_H

#include "gyre/common.h"

GYRE_BEGIN_DECLS

/* Values are frozen. A level includes those before it. */
typedef enum gyre_log_level {
    GYRE_LOG_OFF = 0,
    GYRE_LOG_ERROR = 1,
    GYRE_LOG_WARN = 2,
    GYRE_LOG_INFO = 3,
    GYRE_LOG_DEBUG = 4,
    GYRE_LOG_TRACE = 5,
} gyre_log_level;

/* One line without its newline; `topic` is static, `text` is valid during the call. Must not set
 * a sink, and must not make the library log: a line from inside a line would wait for itself. */
typedef void (*gyre_log_sink)(void *user, gyre_log_level level, const char *topic,
                              const char *text);

/* Sends lines to `sink`, or to stderr for NULL. When it returns, the previous sink is not running
 * and will not run again. Thread-safe; waits for a line being written; not for signal handlers. */
GYRE_API void gyre_log_set_sink(gyre_log_sink sink, void *user);

/* "off", "error", ...; "unknown" outside the enum. Borrowed, static. Thread-safe, never blocks, may
 * be called from a signal handler. */
GYRE_API const char *gyre_log_level_name(gyre_log_level level);

GYRE_END_DECLS

#endif
