/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: see usage.h.
 */
#include "bench/usage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "base/topology.h"

void gyre_usage_open(gyre_usage *usage)
{
    usage->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
}

/* The eighth number of the first line: user nice system idle iowait irq softirq steal. */
static uint64_t steal_of(const char *line)
{
    uint64_t steal = 0;

    (void)sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &steal);
    return steal;
}

gyre_usage_marks gyre_usage_read(const gyre_usage *usage)
{
    gyre_usage_marks marks = {0};
    struct rusage own;
    char line[256];
    ssize_t length = -1;

    if (usage->stat >= 0)
        length = pread(usage->stat, line, sizeof line - 1, 0);
    if (length > 0) {
        line[length] = '\0';
        marks.steal_ticks = steal_of(line);
    }
    if (getrusage(RUSAGE_SELF, &own) == 0)
        marks.switches = (uint64_t)own.ru_nivcsw;
    return marks;
}

void gyre_usage_close(gyre_usage *usage)
{
    if (usage->stat >= 0)
        close(usage->stat);
    usage->stat = -1;
}

void gyre_usage_forget_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, "5", 1);
    close(fd);
}

uint64_t gyre_usage_peak_bytes(void)
{
    static char text[GYRE_SYSFILE_BYTES];
    gyre_sysfile file = {.root = "", .text = text};
    uint64_t bytes;

    /* the same form as /proc/meminfo */
    (void)gyre_sysfile_read(&file, "/proc/self/status");
    return gyre_parse_meminfo(text, "VmHWM", &bytes) ? bytes : 0;
}
