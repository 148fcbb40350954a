/* SPDX-License-Identifier: Apache-2.0
 *
 * callgrind: see callgrind.h.
 */
#include "main/callgrind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "bench/count.h"

gyre_status gyre_callgrind_init(gyre_callgrind *callgrind)
{
    int fd;

    memset(callgrind, 0, sizeof *callgrind);
    strcpy(callgrind->path, "/tmp/gyre-callgrind-XXXXXX");
    fd = mkstemp(callgrind->path);
    if (fd < 0) {
        callgrind->path[0] = '\0';
        return gyre_fail_native(GYRE_IO, errno, "cannot make a file in /tmp: %s", strerror(errno));
    }
    close(fd);
    snprintf(callgrind->option, sizeof callgrind->option, "--callgrind-out-file=%s",
             callgrind->path);
    callgrind->words[0] = "valgrind";
    callgrind->words[1] = "--tool=callgrind";
    callgrind->words[2] = "-q";
    callgrind->words[3] = "--collect-atstart=no";
    callgrind->words[4] = "--toggle-collect=" GYRE_COUNTED_FUNCTION;
    callgrind->words[5] = callgrind->option;
    return GYRE_OK;
}

gyre_status gyre_callgrind_read(const gyre_callgrind *callgrind, uint64_t *out_total)
{
    FILE *file = fopen(callgrind->path, "re");
    char line[512];
    bool found = false;

    *out_total = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "totals: %" SCNu64, out_total) == 1)
            found = true;
    if (file)
        fclose(file);
    (void)!truncate(callgrind->path, 0); /* not to be taken for the next one's */
    return found ? GYRE_OK : gyre_fail(GYRE_CORRUPT, "callgrind's file has no totals");
}

void gyre_callgrind_fini(gyre_callgrind *callgrind)
{
    if (callgrind->path[0])
        unlink(callgrind->path);
    callgrind->path[0] = '\0';
}
