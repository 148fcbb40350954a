/* SPDX-License-Identifier: Apache-2.0
 *
 * evidence: see evidence.h.
 */
#include "bench/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "bench/count.h"
#include "bench/pingpong.h"
#include "gyre/cpu.h"
#include "gyre/library.h"
#include "gyre/topology.h"

enum { SPIN_NS = 400000000, GAP_NS = 10000, BETWEEN_PINGPONGS_NS = 100000000 };

typedef struct accounts {
    double busy, steal, all; /* of all CPUs since boot, in ticks */
} accounts;

static bool read_accounts(accounts *out_accounts)
{
    uint64_t t[8] = {0}; /* user nice system idle iowait irq softirq steal */
    char line[256];

    (void)gyre_sysfile_line("/proc/stat", line, sizeof line);
    if (sscanf(line,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 8)
        return false;
    out_accounts->steal = (double)t[7];
    out_accounts->busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6]);
    out_accounts->all = out_accounts->busy + (double)(t[3] + t[4] + t[7]);
    return true;
}

/* Reads the clock without pause and notes when it jumps: somebody else had the CPU. */
static void spin(gyre_evidence *e)
{
    const uint64_t start_ns = gyre_clock_now_ns();
    uint64_t last_ns = start_ns, lost_ns = 0;

    while (last_ns - start_ns < SPIN_NS) {
        const uint64_t now_ns = gyre_clock_now_ns(), gap_ns = now_ns - last_ns;

        if (gap_ns > GAP_NS) {
            e->gap_count++;
            lost_ns += gap_ns;
            e->longest_gap_ns = gap_ns > e->longest_gap_ns ? gap_ns : e->longest_gap_ns;
        }
        last_ns = now_ns;
    }
    e->spin_ns = last_ns - start_ns;
    e->gap_share = (double)lost_ns / (double)e->spin_ns;
}

static void watch_activity(gyre_evidence *e)
{
    const double ticks_per_ns = (double)sysconf(_SC_CLK_TCK) / 1e9;
    accounts before, after;
    char line[64];
    bool known;

    (void)gyre_sysfile_line("/proc/loadavg", line, sizeof line);
    e->load_1min = -1;
    (void)sscanf(line, "%lf", &e->load_1min);
    known = read_accounts(&before);
    spin(e);
    e->others_share = e->steal_share = -1;
    if (known && read_accounts(&after) && after.all > before.all) {
        const double all = after.all - before.all;
        const double others = after.busy - before.busy - (double)e->spin_ns * ticks_per_ns;

        e->others_share = others > 0 ? others / all : 0; /* ticks are coarse: it may be below 0 */
        e->steal_share = (after.steal - before.steal) / all;
    }
}

static void look_at_frequency(gyre_evidence *e)
{
    char line[64];

    (void)gyre_sysfile_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", e->governor,
                            sizeof e->governor);
    e->turbo = -1;
    (void)gyre_sysfile_line("/sys/devices/system/cpu/intel_pstate/no_turbo", line, sizeof line);
    if (line[0])
        e->turbo = line[0] == '0';
    (void)gyre_sysfile_line("/sys/devices/system/cpu/cpufreq/boost", line, sizeof line);
    if (line[0])
        e->turbo = line[0] == '1';
}

/* The first allowed CPU and the last: on a machine with several sockets the farthest pair. */
static void measure_placement(const gyre_topology *topology, gyre_evidence *e)
{
    const struct timespec pause = {.tv_nsec = BETWEEN_PINGPONGS_NS};
    uint32_t found = 0;

    for (int i = 0; i < GYRE_EVIDENCE_PINGPONGS; i++)
        e->pingpong_ns[i] = -1;
    for (uint32_t i = 0; i < e->cpu_count; i++) {
        const gyre_topology_cpu *cpu = gyre_topology_cpu_at(topology, i);

        if (cpu->allowed)
            e->pingpong_cpus[found++ ? 1 : 0] = cpu->id;
    }
    for (int i = 0; i < GYRE_EVIDENCE_PINGPONGS && found >= 2; i++) {
        gyre_pingpong result;

        if (i > 0)
            nanosleep(&pause, NULL);
        if (gyre_pingpong_measure(e->pingpong_cpus[0], e->pingpong_cpus[1], &result) == GYRE_OK)
            e->pingpong_ns[i] = result.median_ns;
    }
}

static void look_at_machine(const gyre_topology *topology, gyre_evidence *e)
{
    const gyre_topology_info *info = gyre_topology_describe(topology);

    e->cpu_count = info->cpu_count;
    e->allowed_count = info->allowed_count;
    e->core_count = info->core_count;
    e->cpu_quota = info->cpu_quota;
    e->memory_limit_bytes = info->memory_limit_bytes;
    e->memory_bytes = info->memory_bytes;
    e->available_bytes = info->available_bytes;
    e->smt_visible = info->smt_visible;
    for (uint32_t i = 0; i < info->cpu_count; i++)
        e->smt |= gyre_topology_cpu_at(topology, i)->sibling_count > 1;
    e->wsl = info->wsl;
    snprintf(e->container, sizeof e->container, "%s", info->container);
    snprintf(e->hypervisor, sizeof e->hypervisor, "%s", gyre_cpu_describe()->hypervisor);
    snprintf(e->thp, sizeof e->thp, "%s", gyre_thp_mode_name(info->thp));
}

gyre_status gyre_evidence_collect(gyre_evidence *out_evidence)
{
    gyre_topology *topology;
    gyre_status status;

    memset(out_evidence, 0, sizeof *out_evidence);
    status = gyre_topology_create(NULL, &topology);
    if (status != GYRE_OK)
        return status;
    look_at_machine(topology, out_evidence);
    watch_activity(out_evidence);
    look_at_frequency(out_evidence);
    measure_placement(topology, out_evidence);
    out_evidence->counters_errno = gyre_count_probe();
#if defined(__OPTIMIZE__) && defined(NDEBUG)
    out_evidence->optimised = true;
#endif
    out_evidence->sanitized = strstr(gyre_build(), "sanitizers none") == NULL;
    out_evidence->clock.struct_size = sizeof out_evidence->clock;
    status = gyre_clock_describe(&out_evidence->clock);
    gyre_topology_destroy(topology);
    return status;
}
