/* SPDX-License-Identifier: Apache-2.0
 *
 * topology: puts the description of the machine together. See gyre/topology.h.
 *
 * The online list names the CPUs and the affinity mask adds its own, because a container may show
 * a shorter list than it runs on. Everything else hangs on these and may be missing.
 *
 * Threads   none of its own; constant after create.
 * Owns      its arrays, all from the caller's allocator.
 * Not here  CPUs, caches and nodes one by one (topology_sysfs.c), formats (topology_parse.c),
 *           limits (cgroup.c).
 */
#include "base/topology.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cgroup.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "base/text.h"
#include "gyre/cpu.h"

/* The CPUs in `list`, for NULL those this thread may run on; else as many as sysconf counts. */
static void read_allowed(const char *list, gyre_cpu_set *out_set)
{
    long count;

    memset(out_set, 0, sizeof *out_set);
    if (list) {
        (void)gyre_parse_cpu_list(list, out_set);
    } else {
        /* The kernel refuses a mask shorter than its own, hence the longest it can have; its words
         * are unsigned long, as ours are on every 64-bit Linux. */
        (void)sched_getaffinity(0, sizeof out_set->word, (cpu_set_t *)(void *)out_set->word);
    }
    if (gyre_cpu_set_count(out_set) > 0)
        return;
    count = sysconf(_SC_NPROCESSORS_ONLN);
    gyre_cpu_set_add(out_set, 0);
    for (uint32_t cpu = 1; cpu < GYRE_CPU_LIMIT && cpu < count; cpu++)
        gyre_cpu_set_add(out_set, cpu);
}

static void read_online(gyre_topology_work *work)
{
    (void)gyre_sysfile_read(&work->file, "/sys/devices/system/cpu/online");
    (void)gyre_parse_cpu_list(work->text, &work->online);
    for (size_t i = 0; i < sizeof work->online.word / sizeof work->online.word[0]; i++)
        work->online.word[i] |= work->allowed.word[i];
}

static void read_memory(gyre_sysfile *file, gyre_topology_info *info)
{
    const long page_bytes = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);

    info->page_bytes = page_bytes > 0 ? (uint64_t)page_bytes : 0;
    (void)gyre_sysfile_read(file, "/proc/meminfo");
    if (!gyre_parse_meminfo(file->text, "MemTotal", &info->memory_bytes) && pages > 0)
        info->memory_bytes = (uint64_t)pages * info->page_bytes;
    (void)gyre_parse_meminfo(file->text, "MemAvailable", &info->available_bytes);
    (void)gyre_parse_meminfo(file->text, "Hugepagesize", &info->huge_page_bytes);
    (void)gyre_sysfile_read(file, "/sys/kernel/mm/transparent_hugepage/enabled");
    info->thp = gyre_parse_thp(file->text);
}

static void read_surroundings(gyre_sysfile *file, gyre_topology *topology)
{
    gyre_topology_info *info = &topology->info;
    struct utsname system;

    if (gyre_sysfile_read(file, "/proc/sys/kernel/osrelease"))
        snprintf(topology->kernel_release, sizeof topology->kernel_release, "%.*s",
                 (int)strcspn(file->text, "\n"), file->text);
    else if (uname(&system) == 0)
        snprintf(topology->kernel_release, sizeof topology->kernel_release, "%s", system.release);
    gyre_text_plain(topology->kernel_release);
    info->kernel_release = topology->kernel_release;
    (void)gyre_sysfile_read(file, "/proc/version");
    info->wsl = strcasestr(topology->kernel_release, "microsoft") != NULL ||
                strcasestr(file->text, "microsoft") != NULL;
    info->container = "";
    if (gyre_sysfile_exists(file, "/run/.containerenv"))
        info->container = "podman";
    else if (gyre_sysfile_exists(file, "/.dockerenv"))
        info->container = "docker";
}

static void read_limits(gyre_topology_work *work, gyre_topology *topology)
{
    gyre_topology_info *info = &topology->info;
    gyre_cgroup_limits limits;

    gyre_cgroup_read(&work->file, &limits);
    info->cgroup_version = limits.version;
    info->cpu_quota = limits.cpu_quota;
    info->memory_limit_bytes = limits.memory_bytes;
    for (size_t i = 0; i < sizeof limits.cpuset.word / sizeof limits.cpuset.word[0]; i++)
        limits.cpuset.word[i] &= work->online.word[i];
    info->cpuset = gyre_topology_keep(topology, &limits.cpuset, &info->cpuset_count);
}

gyre_status gyre_topology_read(const gyre_topology_source *source, const gyre_allocator *allocator,
                               gyre_topology **out_topology)
{
    gyre_topology *topology;
    gyre_topology_work *work;
    void *block;
    gyre_status status;

    *out_topology = NULL;
    status = gyre_alloc(allocator, 1, sizeof *topology, &block);
    if (status != GYRE_OK)
        return status;
    topology = block;
    if (allocator) {
        topology->allocator_copy = *allocator;
        topology->allocator = &topology->allocator_copy;
    }
    status = gyre_alloc(allocator, 1, sizeof *work, &block);
    if (status != GYRE_OK)
        goto fail;
    work = block;
    work->file = (gyre_sysfile){.root = source->root, .text = work->text};
    work->virtual_machine = source->virtual_machine;
    read_allowed(source->allowed, &work->allowed);
    read_online(work);
    read_memory(&work->file, &topology->info);
    read_surroundings(&work->file, topology);
    status = gyre_topology_read_sysfs(topology, work);
    if (status == GYRE_OK)
        read_limits(work, topology);
    gyre_free(allocator, work, 1, sizeof *work);
    if (status != GYRE_OK)
        goto fail;
    *out_topology = topology;
    return GYRE_OK;
fail:
    gyre_topology_destroy(topology);
    return status;
}

gyre_status gyre_topology_create(const gyre_topology_options *options, gyre_topology **out_topology)
{
    const gyre_topology_source source = {
        .root = "",
        .virtual_machine = gyre_cpu_has(GYRE_CPU_HYPERVISOR),
    };
    gyre_topology_options given;
    gyre_status status;

    if (!out_topology)
        return gyre_fail(GYRE_INVALID, "topology: out_topology is NULL");
    *out_topology = NULL;
    status = GYRE_OPTIONS_READ(given, options);
    if (status == GYRE_OK)
        status = gyre_allocator_check(given.allocator);
    if (status == GYRE_OK)
        status = gyre_process_use();
    return status == GYRE_OK ? gyre_topology_read(&source, given.allocator, out_topology) : status;
}

const gyre_topology_info *gyre_topology_describe(const gyre_topology *topology)
{
    return &topology->info;
}

const gyre_topology_cpu *gyre_topology_cpu_at(const gyre_topology *topology, uint32_t index)
{
    return index < topology->info.cpu_count ? &topology->cpus[index] : NULL;
}

const gyre_topology_cache *gyre_topology_cache_at(const gyre_topology *topology, uint32_t index)
{
    return index < topology->info.cache_count ? &topology->caches[index] : NULL;
}

const gyre_topology_node *gyre_topology_node_at(const gyre_topology *topology, uint32_t index)
{
    return index < topology->info.node_count ? &topology->nodes[index] : NULL;
}

/* The lesser of `allowed` and the quota rounded up. */
static uint32_t count_workers(uint32_t allowed, double quota)
{
    uint32_t whole;

    if (quota <= 0 || quota >= allowed)
        return allowed;
    whole = (uint32_t)quota;
    return whole + (whole < quota);
}

uint32_t gyre_topology_worker_count(const gyre_topology *topology)
{
    gyre_cgroup_limits limits = {0};
    gyre_cpu_set allowed;
    void *block;

    if (topology)
        return count_workers(topology->info.allowed_count, topology->info.cpu_quota);
    read_allowed(NULL, &allowed);
    /* Without memory for the reading, the affinity still answers. */
    if (gyre_alloc(NULL, 1, GYRE_SYSFILE_BYTES, &block) == GYRE_OK) {
        gyre_cgroup_read(&(gyre_sysfile){.root = "", .text = block}, &limits);
        gyre_free(NULL, block, 1, GYRE_SYSFILE_BYTES);
    }
    return count_workers(gyre_cpu_set_count(&allowed), limits.cpu_quota);
}

const char *gyre_thp_mode_name(gyre_thp_mode mode)
{
    static const char *const names[] = {
        [GYRE_THP_UNKNOWN] = "unknown",
        [GYRE_THP_NEVER] = "never",
        [GYRE_THP_MADVISE] = "madvise",
        [GYRE_THP_ALWAYS] = "always",
    };

    return (size_t)mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
}

const char *gyre_cache_type_name(gyre_cache_type type)
{
    static const char *const names[] = {
        [GYRE_CACHE_DATA] = "data",
        [GYRE_CACHE_INSTRUCTION] = "instruction",
        [GYRE_CACHE_UNIFIED] = "unified",
    };

    return (size_t)type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}

void gyre_topology_destroy(gyre_topology *topology)
{
    const gyre_topology_info *info;
    const gyre_allocator *allocator;
    gyre_allocator copy;

    if (!topology)
        return;
    info = &topology->info;
    copy = topology->allocator_copy; /* its first copy lies in the block that goes last */
    allocator = topology->allocator ? &copy : NULL;
    gyre_free(allocator, topology->ids, info->cpu_count, GYRE_ID_LISTS * sizeof *topology->ids);
    gyre_free(allocator, topology->nodes, info->node_count, sizeof *topology->nodes);
    gyre_free(allocator, topology->caches, info->cpu_count,
              GYRE_CACHE_INDICES * sizeof *topology->caches);
    gyre_free(allocator, topology->cpus, info->cpu_count, sizeof *topology->cpus);
    gyre_free(allocator, topology, 1, sizeof *topology);
}
