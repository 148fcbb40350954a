/* SPDX-License-Identifier: Apache-2.0
 *
 * callgrind: counts the instructions of a process where the processor's own counters cannot be had.
 *
 * Threads   one.
 * Owns      a file in the folder for temporary files, until gyre_callgrind_fini.
 */
#ifndef GYRE_MAIN_CALLGRIND_H
#define GYRE_MAIN_CALLGRIND_H

#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_CALLGRIND_WORDS = 8, GYRE_CALLGRIND_BYTES = 128 };

typedef struct gyre_callgrind {
    const char *words[GYRE_CALLGRIND_WORDS]; /* to be put in front of a command; ends with NULL */
    char path[GYRE_CALLGRIND_BYTES];         /* of the file it writes; "" for none */
    char option[GYRE_CALLGRIND_BYTES + 32];
} gyre_callgrind;

/* GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status gyre_callgrind_init(gyre_callgrind *callgrind);

/* What the last process was counted to have done. GYRE_CORRUPT when its file does not say. */
GYRE_MUST_USE gyre_status gyre_callgrind_read(const gyre_callgrind *callgrind, uint64_t *out_total);
void gyre_callgrind_fini(gyre_callgrind *callgrind);

#endif
