/* SPDX-License-Identifier: Apache-2.0
 *
 * dynlib: opens a shared library at run time and resolves a list of symbols, all or none.
 *
 * A driver that is absent, or too old to have every symbol, is GYRE_UNAVAILABLE and never a crash.
 *
 * Threads   any; a table is constant once opened.
 * Owns      the library until it is closed.
 * Not here  which symbols: each user lists its own (backends/cuda/cuda_api.h).
 */
#ifndef GYRE_BASE_DYNLIB_H
#define GYRE_BASE_DYNLIB_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_dynlib gyre_dynlib;

/* Opens the first of `files` (NULL-terminated, file names or paths) that loads, and stores the
 * addresses of `symbols` (NULL-terminated) in `table`, in order. GYRE_UNAVAILABLE, with what was
 * missing, when no file loads or a symbol is absent; then the table is all NULL and nothing stays
 * open. May block: it reads files and runs the library's constructors. */
GYRE_MUST_USE gyre_status gyre_dynlib_open(const char *const *files, const char *const *symbols,
                                           void **table, gyre_dynlib **out_library);

/* The address of one more symbol, or NULL: for what newer versions have. Writes no detail. */
void *gyre_dynlib_symbol(const gyre_dynlib *library, const char *symbol);

/* The file that was loaded, as it was named. Borrowed; valid until close. */
const char *gyre_dynlib_file(const gyre_dynlib *library);

/* Unloads; the addresses are dead from then on. NULL is a no-op. */
void gyre_dynlib_close(gyre_dynlib *library);

#endif
