/* SPDX-License-Identifier: Apache-2.0
 *
 * library: which Gyre is linked, how it was built, and getting it ready.
 *
 * Nothing has to be called first: every function prepares what it needs. gyre_prepare does all of
 * it at a moment of the caller's choosing, so that the first hot call is as fast as the second.
 *
 * Threads   any.
 * Owns      nothing the caller sees.
 * Not here  settings one by one (gyre/settings.h).
 */
#ifndef GYRE_LIBRARY_H
#define GYRE_LIBRARY_H

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* The version stands here once; the build reads it from these lines. */
#define GYRE_VERSION_MAJOR 0
#define GYRE_VERSION_MINOR 1
#define GYRE_VERSION_PATCH 0

/* "0.1.0": the library that is linked, which may be newer than these headers. Borrowed, static.
 * Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API const char *gyre_version(void);

/* How the library was built, in words: compiler, build type, sanitizers. Borrowed, static.
 * Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API const char *gyre_build(void);

/* Reads the settings and calibrates the clock, once; later calls return at once. GYRE_INVALID when
 * a setting is malformed (everything else is ready nonetheless, with that setting's default),
 * GYRE_UNAVAILABLE in a child forked after the library was used.
 * Thread-safe; the first call blocks for about 2 ms; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_prepare(void);

GYRE_END_DECLS

#endif
