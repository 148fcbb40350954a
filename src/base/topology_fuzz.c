/* SPDX-License-Identifier: Apache-2.0
 *
 * topology_fuzz: any bytes, given to every parser of what the kernel writes about the machine.
 *
 * A text is refused whole or understood within the bounds that the headers state. The same bytes go
 * to all: none of the parsers knows which file it was meant for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void fuzz_numbers(const char *text)
{
    gyre_cpu_set set;
    uint64_t value;
    int32_t small;
    uint32_t seen = 0;
    double cpus;

    require(gyre_parse_cpu_list(text, &set) || gyre_cpu_set_count(&set) == 0);
    for (uint32_t cpu = gyre_cpu_set_next(&set, 0); cpu < GYRE_CPU_LIMIT;
         cpu = gyre_cpu_set_next(&set, cpu + 1)) {
        require(gyre_cpu_set_has(&set, cpu));
        seen++;
    }
    require(seen == gyre_cpu_set_count(&set));
    require(gyre_parse_u64(text, &value) || value == 0);
    require(gyre_parse_i32(text, &small) || small == 0);
    require(gyre_parse_size(text, &value) || value == 0);
    require(gyre_parse_meminfo(text, "MemTotal", &value) || value == 0);
    require(gyre_parse_meminfo(text, "Hugepagesize", &value) || value == 0);
    require(gyre_parse_thp(text) <= GYRE_THP_ALWAYS);
    require(gyre_cgroup_parse_cpu_max(text, &cpus) || cpus == 0);
    require(cpus >= 0 && cpus <= 18446744073709551616.0);
}

static void fuzz_paths(const char *text)
{
    static const char *const controllers[] = {"", "cpu", "memory"};
    char path[GYRE_CGROUP_PATH_BYTES];
    gyre_cgroup_mount mount;

    for (size_t i = 0; i < sizeof controllers / sizeof controllers[0]; i++) {
        if (gyre_cgroup_parse_path(text, controllers[i], path)) {
            require(path[0] == '/' && memchr(path, '\0', sizeof path) != NULL);
            require(strstr(path, "/../") == NULL && strchr(path, '\n') == NULL);
        }
        if (gyre_cgroup_parse_mount(text, controllers[i], &mount)) {
            require(memchr(mount.point, '\0', sizeof mount.point) != NULL);
            require(memchr(mount.root, '\0', sizeof mount.root) != NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Of the exact size, so that the sanitizer sees a byte read beyond the end. */
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    fuzz_numbers(text);
    fuzz_paths(text);
    free(text);
    return 0;
}
