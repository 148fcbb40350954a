/* SPDX-License-Identifier: Apache-2.0
 *
 * file: replaces a file whole or not at all: write beside it, fsync, rename.
 *
 * Threads   any; two writers of one file leave one of the two, whole.
 * Owns      nothing.
 */
#ifndef GYRE_RECORD_FILE_H
#define GYRE_RECORD_FILE_H

#include <stdio.h>

#include "gyre/common.h"
#include "gyre/status.h"

/* Makes the folder, and those above it, when missing, and proves that a file can be written there.
 * GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status gyre_folder_open(const char *folder);

/* Calls `write` with a stream and puts what it wrote in place of `path`; through a symbolic link,
 * in place of what it points to. What is there and no plain file (a device, a pipe) is written to
 * as it is. GYRE_IO with the reason when it cannot be written, and then the old file is as it was.
 */
GYRE_MUST_USE gyre_status gyre_file_replace(const char *path,
                                            void (*write)(FILE *stream, const void *arg),
                                            const void *arg);

#endif
