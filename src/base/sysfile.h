/* SPDX-License-Identifier: Apache-2.0
 *
 * sysfile: short reads of the files by which the kernel describes the machine.
 *
 * Never blocks on what it finds, never reads without end, and a file that is not there is no error.
 *
 * Threads   any; all on the caller's data.
 * Owns      nothing.
 * Not here  what the texts mean (base/topology.h, base/cgroup.h).
 */
#ifndef GYRE_BASE_SYSFILE_H
#define GYRE_BASE_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"

enum { GYRE_SYSFILE_BYTES = 64 * 1024 };

/* The first line of a file of this machine, without its newline and cut at the buffer's end. False,
 * and an empty line, when it cannot be read. Writes no error detail. */
GYRE_API bool gyre_sysfile_line(const char *path, char *line, size_t size);

/* Where files are looked for, and the last one read. */
typedef struct gyre_sysfile {
    const char *root; /* put before every path; "" is this machine */
    char *text;       /* GYRE_SYSFILE_BYTES, the caller's; terminated */
} gyre_sysfile;

/* Reads a file into `text`, cut at the buffer's end; the path is formatted as by printf. False,
 * and an empty text, when it cannot be read. Writes no error detail. */
GYRE_API bool gyre_sysfile_read(gyre_sysfile *file, const char *format, ...) GYRE_PRINTF(2, 3);

/* Whether there is something at `path`. */
bool gyre_sysfile_exists(const gyre_sysfile *file, const char *path);

#endif
