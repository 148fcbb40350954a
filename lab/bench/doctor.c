/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor: the rules. See doctor.h.
 *
 * The limits are those at which the effect reaches the size of what people want to see, a percent
 * or two; they are rules of thumb and are printed with the evidence, so that one may disagree.
 */
#include "bench/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const checks[] = {
    "build", "cpus",       "quota",    "load",  "steal",  "interruptions", "frequency", "placement",
    "smt",   "huge_pages", "counters", "timer", "memory", "container",     "vm",        "wsl2",
};

const char *gyre_doctor_check_at(size_t index)
{
    return index < sizeof checks / sizeof checks[0] ? checks[index] : NULL;
}

const char *gyre_noise_name(gyre_noise verdict)
{
    static const char *const names[] = {"quiet", "noisy", "unusable"};

    return names[verdict];
}

void gyre_doctor_find(gyre_diagnosis *diagnosis, const char *id, gyre_noise noise,
                      const char *advice, const char *format, ...)
{
    gyre_finding *finding = &diagnosis->findings[diagnosis->count];
    va_list args;

    if (noise > diagnosis->verdict)
        diagnosis->verdict = noise;
    if (diagnosis->count == GYRE_FINDINGS_MAX)
        return;
    diagnosis->count++;
    *finding = (gyre_finding){.id = id, .noise = noise, .advice = advice};
    va_start(args, format);
    vsnprintf(finding->evidence, sizeof finding->evidence, format, args);
    va_end(args);
}

static void judge_build(const gyre_evidence *e, gyre_diagnosis *d)
{
    if (e->sanitized)
        gyre_doctor_find(d, "build", GYRE_NOISE_UNUSABLE, "measure with the release build: make",
                         "this build runs under a sanitizer");
    else if (!e->optimised)
        gyre_doctor_find(d, "build", GYRE_NOISE_UNUSABLE, "measure with the release build: make",
                         "this build is not optimised, or has its assertions on");
}

static void judge_limits(const gyre_evidence *e, gyre_diagnosis *d)
{
    if (e->allowed_count == 1)
        gyre_doctor_find(
            d, "cpus", GYRE_NOISE_NOISY,
            "allow a second CPU (taskset, cpuset); two-thread figures measure the scheduler here",
            "this process may run on 1 of %u CPUs", e->cpu_count);
    else if (e->allowed_count < e->cpu_count)
        gyre_doctor_find(d, "cpus", GYRE_NOISE_NOTE, "fine when it is meant (taskset, cpuset)",
                         "this process may run on %u of %u CPUs", e->allowed_count, e->cpu_count);
    if (e->cpu_quota > 0)
        gyre_doctor_find(
            d, "quota", e->cpu_quota < e->allowed_count ? GYRE_NOISE_NOISY : GYRE_NOISE_NOTE,
            "lift the container's CPU quota: it stops threads for milliseconds at a time",
            "the control group grants the time of %.2f CPUs to %u", e->cpu_quota, e->allowed_count);
    if (e->available_bytes > 0 && e->available_bytes < e->memory_bytes / 10)
        gyre_doctor_find(
            d, "memory", GYRE_NOISE_NOISY, "end what uses it: reclaim and swap disturb everything",
            "%.1f of %.1f GiB are available", (double)e->available_bytes / 1073741824.0,
            (double)e->memory_bytes / 1073741824.0);
    if (e->memory_limit_bytes > 0)
        gyre_doctor_find(d, "memory", GYRE_NOISE_NOTE, "keep working sets well below it",
                         "the control group allows %.1f GiB",
                         (double)e->memory_limit_bytes / 1073741824.0);
}

static void judge_activity(const gyre_evidence *e, gyre_diagnosis *d)
{
    if (e->others_share >= 0.02)
        gyre_doctor_find(d, "load", e->others_share >= 0.5 ? GYRE_NOISE_UNUSABLE : GYRE_NOISE_NOISY,
                         "end or pause the other programs",
                         "others used %.0f %% of the CPU time during %.1f s; 1-minute load %.2f",
                         100 * e->others_share, (double)e->spin_ns / 1e9, e->load_1min);
    else if (e->load_1min > 0.5 * e->cpu_count)
        gyre_doctor_find(d, "load", GYRE_NOISE_NOTE, "wait a minute when caches and heat matter",
                         "1-minute load %.2f on %u CPUs, quiet at the moment", e->load_1min,
                         e->cpu_count);
    if (e->steal_share >= 0.005)
        gyre_doctor_find(
            d, "steal", e->steal_share >= 0.2 ? GYRE_NOISE_UNUSABLE : GYRE_NOISE_NOISY,
            "the host is overcommitted: use ratios from one interleaved run, or another machine",
            "the hypervisor took %.1f %% of the CPU time during %.1f s", 100 * e->steal_share,
            (double)e->spin_ns / 1e9);
    if (e->gap_share >= 0.001)
        gyre_doctor_find(
            d, "interruptions", e->gap_share >= 0.2 ? GYRE_NOISE_UNUSABLE : GYRE_NOISE_NOISY,
            "look at medians, never at means; isolate a CPU (isolcpus, nohz_full) for tails",
            "a spinning thread was away %" PRIu64
            " times in %.1f s, %.2f %% of it, %.0f us at most",
            e->gap_count, (double)e->spin_ns / 1e9, 100 * e->gap_share,
            (double)e->longest_gap_ns / 1e3);
    else if (e->gap_count > 0)
        gyre_doctor_find(d, "interruptions", GYRE_NOISE_NOTE, "tails of latency will show them",
                         "a spinning thread was away %" PRIu64 " times in %.1f s, %.0f us at most",
                         e->gap_count, (double)e->spin_ns / 1e9, (double)e->longest_gap_ns / 1e3);
}

static void judge_speed(const gyre_evidence *e, gyre_diagnosis *d)
{
    if (e->governor[0] && strcmp(e->governor, "performance") != 0)
        gyre_doctor_find(d, "frequency", GYRE_NOISE_NOISY,
                         "cpupower frequency-set -g performance, while you measure",
                         "the frequency governor is '%s'", e->governor);
    else if (e->turbo == 1)
        gyre_doctor_find(d, "frequency", GYRE_NOISE_NOTE,
                         "switch turbo off for the steadiest figures, or compare side by side",
                         "turbo is on: speed depends on heat and on the other cores");
    else if (!e->governor[0] && e->hypervisor[0])
        gyre_doctor_find(d, "frequency", GYRE_NOISE_NOTE,
                         "compare side by side: the host may change it",
                         "the CPU's frequency cannot be seen from this virtual machine");
    if (e->counters_errno)
        gyre_doctor_find(
            d, "counters", GYRE_NOISE_NOTE,
            e->counters_errno == ENOENT
                ? "this machine shows none, as many virtual ones; callgrind counts instructions"
                : "set kernel.perf_event_paranoid to 2 or less, or run as root",
            "no hardware counters: perf_event_open says %s", strerror(e->counters_errno));
    if (e->clock.resolution_ns > 100 || e->clock.cost_ns > 100)
        gyre_doctor_find(d, "timer", GYRE_NOISE_NOISY,
                         "let the kernel use the TSC (tsc=reliable), if it is",
                         "the clock (%s) steps by %.0f ns and costs %.0f ns", e->clock.source,
                         e->clock.resolution_ns, e->clock.cost_ns);
    if (strcmp(e->thp, "always") != 0)
        gyre_doctor_find(
            d, "huge_pages", GYRE_NOISE_NOTE,
            "page placement differs from run to run; repeat over launches, or madvise large blocks",
            "transparent huge pages: %s", e->thp);
}

/* The fastest and the slowest of the ping-pongs; false when there was none. */
static bool pingpong_range(const gyre_evidence *e, double *out_low, double *out_high)
{
    *out_low = *out_high = -1;
    for (int i = 0; i < GYRE_EVIDENCE_PINGPONGS; i++) {
        if (e->pingpong_ns[i] < 0)
            continue;
        if (*out_low < 0 || e->pingpong_ns[i] < *out_low)
            *out_low = e->pingpong_ns[i];
        if (e->pingpong_ns[i] > *out_high)
            *out_high = e->pingpong_ns[i];
    }
    return *out_low >= 0;
}

const char *gyre_doctor_placement(const gyre_evidence *evidence)
{
    double low, high;

    if (!pingpong_range(evidence, &low, &high))
        return "unknown";
    return high > GYRE_DOCTOR_FAR_NS ? "far" : "near";
}

static void judge_placement(const gyre_evidence *e, gyre_diagnosis *d)
{
    double low, high;

    if (!pingpong_range(e, &low, &high))
        low = high = 0;
    if (high > 1.5 * low)
        gyre_doctor_find(
            d, "placement", GYRE_NOISE_NOISY,
            "the host moves the CPUs: read two-thread figures only beside a bare ping-pong",
            "a line between CPU %u and %u takes %.0f to %.0f ns and back", e->pingpong_cpus[0],
            e->pingpong_cpus[1], low, high);
    else if (high > GYRE_DOCTOR_FAR_NS)
        gyre_doctor_find(d, "placement", GYRE_NOISE_NOTE,
                         "two-thread figures contain it: read them beside the bare ping-pong",
                         "CPU %u and %u are far: a line takes up to %.0f ns and back",
                         e->pingpong_cpus[0], e->pingpong_cpus[1], high);
    if (e->smt)
        gyre_doctor_find(d, "smt", GYRE_NOISE_NOTE,
                         "pin single threads to different cores, not to siblings",
                         "%u CPUs are %u cores", e->cpu_count, e->core_count);
    else if (!e->smt_visible && e->hypervisor[0])
        gyre_doctor_find(d, "smt", GYRE_NOISE_NOTE, "two CPUs may be one core: watch the ping-pong",
                         "whether CPUs share a core cannot be seen from this virtual machine");
}

static void judge_surroundings(const gyre_evidence *e, gyre_diagnosis *d)
{
    if (e->container[0])
        gyre_doctor_find(d, "container", GYRE_NOISE_NOTE,
                         "neighbours on the host are invisible from here", "this is a %s container",
                         e->container);
    if (e->wsl)
        gyre_doctor_find(d, "wsl2", GYRE_NOISE_NOISY, "measure on Linux itself",
                         "this is WSL2: the scheduler and the clock are Windows'");
    else if (e->hypervisor[0])
        gyre_doctor_find(d, "vm", GYRE_NOISE_NOTE,
                         "absolute figures do not carry over to other hosts",
                         "this is a virtual machine under %s", e->hypervisor);
}

gyre_diagnosis gyre_doctor_judge(const gyre_evidence *evidence)
{
    gyre_diagnosis diagnosis = {.verdict = GYRE_NOISE_NOTE};

    judge_build(evidence, &diagnosis);
    judge_limits(evidence, &diagnosis);
    judge_activity(evidence, &diagnosis);
    judge_speed(evidence, &diagnosis);
    judge_placement(evidence, &diagnosis);
    judge_surroundings(evidence, &diagnosis);
    return diagnosis;
}
