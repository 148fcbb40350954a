/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_facts: what there is to know of the processor as a device.
 *
 * Asks the processor and a few files; never reads the whole topology, which takes long on a large
 * machine. What cannot be read is unknown.
 *
 * Threads   any.
 * Owns      the last reading of /proc/stat, for the process.
 * Not here  which CPUs share what (gyre/topology.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/topology.h"
#include "gyre/cpu.h"
#include "gyre/library.h"

enum {
    BLOCK_THREADS_MOST = 1024,
    GRID_X_MOST = 0x7fffffff,
    GRID_YZ_MOST = 65535,
    CACHE_LEVELS = 8, /* indices of sysfs */
};

static gyre_status check_index(uint32_t index)
{
    return index == 0 ? GYRE_OK : gyre_fail(GYRE_INVALID, "there is no cpu:%u", index);
}

gyre_status gyre_cpu_probe(uint32_t *out_count, char *text, size_t text_size)
{
    const uint32_t cpus = gyre_topology_worker_count(NULL);

    *out_count = 1;
    snprintf(text, text_size, "%u CPU%s", cpus, cpus == 1 ? "" : "s");
    return GYRE_OK;
}

/* Total and available memory of the machine. */
static gyre_status read_memory(uint64_t *out_total, uint64_t *out_free)
{
    gyre_sysfile file = {.root = ""};
    gyre_status status;
    void *block;

    *out_total = *out_free = 0;
    status = gyre_alloc(NULL, 1, GYRE_SYSFILE_BYTES, &block);
    if (status != GYRE_OK)
        return status;
    file.text = block;
    if (!gyre_sysfile_read(&file, "/proc/meminfo") ||
        !gyre_parse_meminfo(file.text, "MemTotal", out_total))
        status =
            gyre_fail(GYRE_UNAVAILABLE, "/proc/meminfo does not tell how much memory there is");
    else
        (void)gyre_parse_meminfo(file.text, "MemAvailable", out_free);
    gyre_free(NULL, block, 1, GYRE_SYSFILE_BYTES);
    return status;
}

/* The largest cache of the first CPU. */
static uint64_t read_cache_bytes(void)
{
    uint64_t most = 0, bytes;
    char path[80], line[32];

    for (int i = 0; i < CACHE_LEVELS; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (gyre_sysfile_line(path, line, sizeof line) && gyre_parse_size(line, &bytes) &&
            bytes > most)
            most = bytes;
    }
    return most;
}

static uint32_t read_clock_mhz(void)
{
    uint64_t khz;
    char line[32];

    if (!gyre_sysfile_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", line,
                           sizeof line) ||
        !gyre_parse_u64(line, &khz) || khz / 1000 > UINT32_MAX)
        return 0;
    return (uint32_t)(khz / 1000);
}

static const char *architecture(void)
{
#if defined(__x86_64__)
    if (gyre_cpu_has(GYRE_CPU_AVX512F))
        return "x86_64 avx512";
    return gyre_cpu_has(GYRE_CPU_AVX2) ? "x86_64 avx2" : "x86_64";
#else
    return gyre_cpu_has(GYRE_CPU_SVE) ? "aarch64 sve" : "aarch64";
#endif
}

gyre_status gyre_cpu_describe_device(uint32_t index, gyre_device *out_device)
{
    const gyre_cpu_info *cpu = gyre_cpu_describe();
    const gyre_status status = check_index(index);
    uint64_t free_bytes;

    if (status != GYRE_OK)
        return status;
    out_device->kind = GYRE_DEVICE_CPU;
    if (cpu->model_name[0])
        snprintf(out_device->title, sizeof out_device->title, "%s", cpu->model_name);
    else
        snprintf(out_device->title, sizeof out_device->title, "%s processor 0x%x", cpu->vendor,
                 cpu->model);
    snprintf(out_device->driver, sizeof out_device->driver, "gyre %s", gyre_version());
    snprintf(out_device->architecture, sizeof out_device->architecture, "%s", architecture());
    out_device->features = GYRE_FEATURE_FUNCTIONS | GYRE_FEATURE_GRAPHS | GYRE_FEATURE_TIMING |
                           GYRE_FEATURE_HOST_REACH | GYRE_FEATURE_MAPPED | GYRE_FEATURE_MONITOR |
                           GYRE_FEATURE_WAITS | GYRE_FEATURE_F64 | GYRE_FEATURE_INTEGRATED;
    if (read_memory(&out_device->memory_bytes, &free_bytes) != GYRE_OK)
        out_device->memory_bytes = 0;
    out_device->cache_bytes = read_cache_bytes();
    out_device->units = gyre_topology_worker_count(NULL);
    out_device->lanes = 1;
    out_device->clock_mhz = read_clock_mhz();
    out_device->numa_node = -1;
    out_device->reach = 1;
    out_device->block_threads_most = BLOCK_THREADS_MOST;
    for (int i = 0; i < 3; i++) {
        out_device->block_most[i] = BLOCK_THREADS_MOST;
        out_device->grid_most[i] = i == 0 ? GRID_X_MOST : GRID_YZ_MOST;
    }
    out_device->shared_bytes_most = GYRE_CPU_SHARED_MOST;
    out_device->parameters_most = GYRE_CPU_PARAMETERS_MOST;
    return GYRE_OK;
}

/* How much of the time since the last call all CPUs were busy; -1 at the first, when nobody tells,
 * or it was too short a time. */
static int32_t read_busy_percent(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t idle_before, all_before;
    uint64_t part[8] = {0}, idle, all = 0;
    int32_t percent = -1;
    char line[256];

    /* user nice system idle iowait irq softirq steal, in ticks; guests count as user */
    if (!gyre_sysfile_line("/proc/stat", line, sizeof line) ||
        sscanf(line,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &part[0], &part[1], &part[2], &part[3], &part[4], &part[5], &part[6], &part[7]) < 4)
        return -1;
    for (int i = 0; i < 8; i++)
        all += part[i];
    idle = part[3] + part[4];
    pthread_mutex_lock(&lock);
    /* iowait may go backwards, as the kernel's documentation says */
    if (all_before > 0 && all > all_before && idle >= idle_before &&
        all - all_before >= idle - idle_before)
        percent = (int32_t)(100 - 100 * (idle - idle_before) / (all - all_before));
    idle_before = idle;
    all_before = all;
    pthread_mutex_unlock(&lock);
    return percent;
}

gyre_status gyre_cpu_look(uint32_t index, gyre_device_state *out_state)
{
    uint64_t total, free_bytes;
    gyre_status status = check_index(index);

    if (status == GYRE_OK)
        status = read_memory(&total, &free_bytes);
    if (status != GYRE_OK)
        return status;
    out_state->memory_total_bytes = (int64_t)total;
    if (free_bytes > 0 && free_bytes <= total)
        out_state->memory_used_bytes = (int64_t)(total - free_bytes);
    out_state->busy_percent = read_busy_percent();
    return GYRE_OK;
}

gyre_status gyre_cpu_room(gyre_dev *dev, uint64_t *out_free, uint64_t *out_total)
{
    (void)dev;
    return read_memory(out_total, out_free);
}
