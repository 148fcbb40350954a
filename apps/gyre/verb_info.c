/* SPDX-License-Identifier: Apache-2.0
 *
 * info: prints what this machine is, which drivers and devices it has, and how Gyre was built.
 *
 * No device is opened. The drivers' files are looked for as files, too: that tells a driver that is
 * missing from one that is there and does not work.
 */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "devices.h"
#include "facts.h"
#include "gyre/clock.h"
#include "gyre/cpu.h"
#include "gyre/library.h"
#include "gyre/topology.h"
#include "layout.h"
#include "report/quantity.h"
#include "verb.h"

enum { JSON, LAYOUT };

static const gyre_option options[] = {
    [JSON] = {"--json", 0, NULL, "print as JSON"},
    [LAYOUT] = {"--layout", 0, NULL, "print sizes and offsets of the shared structs instead"},
    {NULL, 0, NULL, NULL},
};

static void show_machine(facts *f, const gyre_topology_info *info)
{
    struct utsname names;

    facts_section(f, "machine");
    facts_text(f, "architecture", uname(&names) == 0 ? names.machine : "");
    facts_text(f, "kernel", info->kernel_release);
    facts_text(f, "hypervisor", gyre_cpu_describe()->hypervisor);
    facts_text(f, "container", info->container);
    facts_bool(f, "wsl2", info->wsl);
    facts_section_end(f);
}

static void show_features(facts *f)
{
    char line[1024] = "";

    if (f->as_json)
        gyre_json_begin_array(&f->json, "features");
    for (int i = 0; i < GYRE_CPU_FEATURE_COUNT; i++) {
        const char *name = gyre_cpu_feature_name((gyre_cpu_feature)i);
        const size_t used = strlen(line);

        if (!gyre_cpu_has((gyre_cpu_feature)i))
            continue;
        if (f->as_json)
            gyre_json_string(&f->json, NULL, name);
        else
            snprintf(line + used, sizeof line - used, "%s%s", used ? " " : "", name);
    }
    if (f->as_json)
        gyre_json_end(&f->json);
    else
        facts_text(f, "features", line);
}

static void show_cpu(facts *f, const gyre_topology_info *info, const gyre_topology *topology)
{
    const gyre_cpu_info *cpu = gyre_cpu_describe();
    facts_section(f, "cpu");
    facts_text(f, "vendor", cpu->vendor);
    facts_text(f, "model_name", cpu->model_name);
    facts_count(f, "family", cpu->family);
    facts_count(f, "model", cpu->model);
    facts_count(f, "stepping", cpu->stepping);
    facts_count(f, "cpus", info->cpu_count);
    facts_count(f, "allowed_cpus", info->allowed_count);
    facts_known(f, "cores", info->core_count);
    facts_known(f, "packages", info->package_count);
    facts_known(f, "numa_nodes", info->node_count);
    facts_bool(f, "smt_visible", info->smt_visible);
    facts_real(f, "cpu_quota", info->cpu_quota > 0 ? info->cpu_quota : (double)NAN);
    facts_count(f, "workers", gyre_topology_worker_count(topology));
    show_features(f);
    facts_section_end(f);
}

/* How many caches of the same kind there are before `index`, and in all. */
static void count_alike(const gyre_topology *topology, uint32_t index, uint32_t *out_before,
                        uint32_t *out_all)
{
    const gyre_topology_cache *cache = gyre_topology_cache_at(topology, index), *other;

    *out_before = *out_all = 0;
    for (uint32_t i = 0; (other = gyre_topology_cache_at(topology, i)); i++) {
        if (other->level == cache->level && other->type == cache->type &&
            other->size_bytes == cache->size_bytes && other->line_bytes == cache->line_bytes &&
            other->cpu_count == cache->cpu_count) {
            *out_before += i < index;
            *out_all += 1;
        }
    }
}

static void show_cache(facts *f, const gyre_topology_cache *cache, uint32_t count)
{
    char key[32], value[96];

    if (f->as_json) {
        gyre_json_begin_object(&f->json, NULL);
        gyre_json_unsigned(&f->json, "level", cache->level);
        gyre_json_string(&f->json, "type", gyre_cache_type_name(cache->type));
        gyre_json_unsigned(&f->json, "count", count);
        gyre_json_unsigned(&f->json, "size_bytes", cache->size_bytes);
        gyre_json_unsigned(&f->json, "line_bytes", cache->line_bytes);
        gyre_json_unsigned(&f->json, "shared_by_cpus", cache->cpu_count);
        gyre_json_end(&f->json);
        return;
    }
    snprintf(key, sizeof key, "l%u_%s", cache->level, gyre_cache_type_name(cache->type));
    snprintf(value, sizeof value, "%u x %s, line %u, shared by %u", count,
             gyre_quantity_bytes(cache->size_bytes).text, cache->line_bytes, cache->cpu_count);
    facts_text(f, key, value);
}

/* One entry for each kind of cache: the machine may have many of a kind. */
static void show_caches(facts *f, const gyre_topology *topology)
{
    const gyre_topology_cache *cache;
    uint32_t before, all;

    if (f->as_json)
        gyre_json_begin_array(&f->json, "caches");
    else
        facts_section(f, "caches");
    for (uint32_t i = 0; (cache = gyre_topology_cache_at(topology, i)); i++) {
        count_alike(topology, i, &before, &all);
        if (before == 0)
            show_cache(f, cache, all);
    }
    facts_section_end(f);
}

static void show_memory(facts *f, const gyre_topology_info *info)
{
    facts_section(f, "memory");
    facts_bytes(f, "total_bytes", info->memory_bytes);
    facts_bytes(f, "available_bytes", info->available_bytes);
    if (info->memory_limit_bytes)
        facts_bytes(f, "limit_bytes", info->memory_limit_bytes);
    facts_bytes(f, "page_bytes", info->page_bytes);
    facts_bytes(f, "huge_page_bytes", info->huge_page_bytes);
    facts_text(f, "transparent_huge_pages", gyre_thp_mode_name(info->thp));
    facts_section_end(f);
}

static void show_clock(facts *f)
{
    gyre_clock_info clock = {.struct_size = sizeof clock};

    if (gyre_clock_describe(&clock) != GYRE_OK)
        return;
    facts_section(f, "clock");
    facts_text(f, "source", clock.source);
    facts_text(f, "reason", clock.reason);
    facts_real(f, "ticks_per_ns", clock.ticks_per_ns);
    facts_real(f, "error_ppm", clock.error_ppm);
    facts_real(f, "resolution_ns", clock.resolution_ns);
    facts_real(f, "cost_ns", clock.cost_ns);
    facts_section_end(f);
}

/* The first of these files in the folders where drivers usually are, without loading it; "" when
 * there is none. */
static const char *find_library(const char *const *names, char *path, size_t size)
{
    static const char *const folders[] = {
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/nvidia/lib64",
        "/usr/local/cuda/lib64",
        "/usr/local/lib",
        "/usr/lib/wsl/lib",
    };

    for (; *names; names++) {
        for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
            snprintf(path, size, "%s/%s", folders[i], *names);
            if (access(path, R_OK) == 0)
                return path;
        }
    }
    return "";
}

/* Entries of a folder that begin with `start`; 0 when it cannot be read. */
static uint64_t count_entries(const char *folder, const char *start, const char *end)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    uint64_t count = 0;

    if (!d)
        return 0;
    while ((entry = readdir(d)) != NULL) {
        const size_t length = strlen(entry->d_name), tail = strlen(end);

        count += strncmp(entry->d_name, start, strlen(start)) == 0 && length >= tail &&
                 strcmp(entry->d_name + length - tail, end) == 0;
    }
    closedir(d);
    return count;
}

static void show_driver_files(facts *f)
{
    static const struct {
        const char *key, *files[4];
    } libraries[] = {
        {"cuda_driver", {"libcuda.so.1"}},
        {"nvml", {"libnvidia-ml.so.1"}},
        {"nvrtc", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}},
        {"opencl_loader", {"libOpenCL.so.1"}},
    };
    char path[PATH_MAX], line[160];

    facts_section(f, "driver_files");
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        facts_text(f, libraries[i].key, find_library(libraries[i].files, path, sizeof path));
    facts_count(f, "opencl_vendors", count_entries("/etc/OpenCL/vendors", "", ".icd"));
    facts_count(f, "nvidia_devices",
                count_entries("/dev", "nvidia", "") - count_entries("/dev", "nvidia-", "") -
                    (access("/dev/nvidiactl", F_OK) == 0));
    (void)gyre_sysfile_line("/proc/driver/nvidia/version", line, sizeof line);
    facts_text(f, "nvidia_kernel_module", line);
    facts_section_end(f);
}

static uint64_t file_size(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

static void show_build(facts *f)
{
    char program[PATH_MAX] = "", library[PATH_MAX + 32];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    program[length > 0 ? length : 0] = '\0';
    facts_section(f, "build");
    facts_text(f, "version", gyre_version());
    facts_text(f, "build", gyre_build());
    facts_bytes(f, "program_bytes", file_size(program));
    /* the shared library that was built or installed with this program */
    slash = strrchr(program, '/');
    if (slash) {
        *slash = '\0';
        snprintf(library, sizeof library, "%s/../lib/libgyre.so.%d", program, GYRE_VERSION_MAJOR);
        facts_bytes(f, "library_bytes", file_size(library));
    }
    facts_section_end(f);
}

static int run_info(const gyre_args *args, int argc, char **argv)
{
    facts f = {.as_json = gyre_args_given(args, JSON), .json = {.stream = stdout}};
    const gyre_topology_info *info;
    gyre_topology *topology;

    (void)argc, (void)argv;
    if (gyre_args_given(args, LAYOUT)) {
        layout_print(f.as_json);
        return GYRE_EXIT_DONE;
    }
    if (gyre_topology_create(NULL, &topology) != GYRE_OK) {
        fprintf(stderr, "gyre info: %s\n", gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    info = gyre_topology_describe(topology);
    facts_begin(&f);
    show_machine(&f, info);
    show_cpu(&f, info, topology);
    show_caches(&f, topology);
    show_memory(&f, info);
    show_clock(&f);
    devices_show(&f);
    show_driver_files(&f);
    show_build(&f);
    facts_end(&f);
    gyre_topology_destroy(topology);
    return GYRE_EXIT_DONE;
}

const gyre_verb verb_info = {
    .name = "info",
    .operands = "",
    .summary = "print what this machine is and how Gyre was built",
    .description = "Prints the machine, the CPU with its features and caches, memory, the clock "
                   "with its measured cost and resolution, the drivers and devices, those that "
                   "cannot be used with the reason, which drivers' files are present, and the "
                   "build. No device is opened. --layout tells of the structs that hosts and "
                   "devices share who writes each word and what it means, and of those that "
                   "callers fill how they lie.",
    .options = options,
    .run = run_info,
};
