/* SPDX-License-Identifier: Apache-2.0
 *
 * settings: the table, and how the library reads it. See gyre/settings.h for the contract.
 *
 * A new setting is one row here; nothing else in the project calls getenv.
 */
#ifndef GYRE_BASE_SETTINGS_H
#define GYRE_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "gyre/common.h"
#include "gyre/settings.h"

/* What a value must look like. CHOICE takes the words of its form; its number is their index. */
typedef enum gyre_setting_kind {
    GYRE_KIND_TEXT,
    GYRE_KIND_FLAG,     /* 0 or 1; number is that */
    GYRE_KIND_CHOICE,   /* number is the index in the form */
    GYRE_KIND_COUNT,    /* a whole number from 1 to 2^20; number is it, and 0 for "auto" where the
                         * form begins with that */
    GYRE_KIND_DURATION, /* number is nanoseconds */
    GYRE_KIND_LOG,      /* see gyre_log_parse */
} gyre_setting_kind;

/* id, name, kind, form, default, help */
/* clang-format off */
#define GYRE_SETTINGS(ROW)                                                                         \
    ROW(LOG, "GYRE_LOG", LOG, "LEVEL|TOPIC:LEVEL,...", "warn",                                     \
        "what is logged to stderr: off, error, warn, info, debug or trace, for all or by topic")   \
    ROW(CLOCK, "GYRE_CLOCK", CHOICE, "auto|counter|system", "auto",                                \
        "clock source: the processor's counter or clock_gettime; auto takes a trusted counter")    \
    ROW(SPIN, "GYRE_SPIN", DURATION, "DURATION", "50us",                                           \
        "longest a waiting thread spins before it sleeps, for example 20us; 0 never spins")        \
    ROW(POOL_TRACK, "GYRE_POOL_TRACK", CHOICE, "auto|on|off", "auto",                              \
        "whether pools remember who took each block; auto: in debug builds")                       \
    ROW(BACKENDS, "GYRE_BACKENDS", TEXT, "all|NAME,...", "all",                                    \
        "the backends that are looked for: cpu, cuda, opencl, null; the CPU is always there")      \
    ROW(SYNC_TIMEOUT, "GYRE_SYNC_TIMEOUT", DURATION, "DURATION", "2s",                             \
        "longest that a device may take before a wait for it is a miss, for example 500ms")        \
    ROW(CPU_WORKERS, "GYRE_CPU_WORKERS", COUNT, "auto|COUNT", "auto",                              \
        "threads that compute on the CPU; auto: one for each CPU that the process may use")        \
    ROW(CPU_NAME, "GYRE_CPU_NAME", TEXT, "NAME", "gyre-cpu",                                       \
        "what those threads are called, with their number behind it")                              \
    ROW(CPU_STACK_KIB, "GYRE_CPU_STACK_KIB", COUNT, "auto|COUNT", "auto",                          \
        "KiB of stack of each of those threads; auto: the system's default")                       \
    ROW(NULL_FAULTS, "GYRE_NULL_FAULTS", TEXT, "FAULT ...", "",                                    \
        "what shall go wrong on the null device, for example hang@3; docs/backends.md has the list") \
    ROW(CACHE, "GYRE_CACHE", TEXT, "DIR|off", "",                                                  \
        "folder of compiled kernels; unset: gyre/kernels in XDG_CACHE_HOME or ~/.cache")           \
    ROW(CACHE_MIB, "GYRE_CACHE_MIB", COUNT, "COUNT", "256",                                        \
        "MiB of compiled kernels that are kept")                                                   \
    ROW(CACHE_HOME, "XDG_CACHE_HOME", TEXT, "DIR", "",                                             \
        "where programs keep what they can make again (a convention of many programs)")            \
    ROW(BOARD, "GYRE_BOARD", CHOICE, "on|off", "on",                                               \
        "whether gyre top, run by the same user or root, sees the actors of this process")         \
    ROW(TRACE_EVENTS, "GYRE_TRACE_EVENTS", COUNT, "COUNT", "4096",                                 \
        "events that the trace recorder keeps for each thread")                                    \
    ROW(OUT, "GYRE_OUT", TEXT, "DIR", "gyre-out",                                                  \
        "folder in which the command keeps its results")                                           \
    ROW(COMMIT, "GYRE_COMMIT", TEXT, "ID", "",                                                     \
        "the commit under which runs are kept; unset, git is asked about the current folder")      \
    ROW(STATE_HOME, "XDG_STATE_HOME", TEXT, "DIR", "",                                             \
        "where programs keep what they know of this machine (a convention of many programs)")      \
    ROW(HOME, "HOME", TEXT, "DIR", "",                                                             \
        "the user's folder; .local/state and .cache in it stand for the unset two above")            \
    ROW(COLOR, "GYRE_COLOR", CHOICE, "auto|always|never", "auto",                                  \
        "coloured output; auto colours on a terminal")                                             \
    ROW(NO_COLOR, "NO_COLOR", TEXT, "ANY", "",                                                     \
        "set and not empty: no colour unless it is asked for (a convention of many programs)")     \
    ROW(TERM, "TERM", TEXT, "NAME", "",                                                            \
        "the terminal's type; dumb means no colour and no progress line")                          \
    ROW(WORKER, "GYRE_WORKER", TEXT, "ORDER", "",                                                  \
        "set by gyre bench for the processes it starts, and by nobody else")                       \
    ROW(BEHAVIOUR, "GYRE_BEHAVIOUR", TEXT, "NUMBER", "",                                           \
        "set by gyre bench --behaviour for the processes it starts, and by nobody else")           \
    ROW(NO_INSTALL, "GYRE_NO_INSTALL", FLAG, "0|1", "0",                                           \
        "1: tools/setup installs nothing and says what is missing")
/* clang-format on */

typedef enum gyre_setting_id {
#define ROW(id, name, kind, form, fallback, help) GYRE_SETTING_##id,
    GYRE_SETTINGS(ROW)
#undef ROW
        GYRE_SETTING_COUNT
} gyre_setting_id;

/* Values in force; the first call of any reads them all. Choices, counts and durations have a
 * number, everything has its text. Thread-safe. */
GYRE_API int64_t gyre_settings_number(gyre_setting_id id);
GYRE_API const char *gyre_settings_text(gyre_setting_id id);
const gyre_log_spec *gyre_settings_log(void);

/* A variable that is the system's and not ours (PATH, HOME), as it is now; "" when it is not set.
 * Borrowed from the environment. */
GYRE_API const char *gyre_settings_system(const char *name);

/* Judges a value for a setting. False, with a sentence in `problem`, when malformed. Pure. */
GYRE_MUST_USE bool gyre_setting_parse(gyre_setting_id id, const char *text, int64_t *out_number,
                                      char *problem, size_t problem_size);

#endif
