/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/doctor.h"

#include <errno.h>
#include <stdio.h>

#include "test.h"

/* Bare metal, nothing going on. */
static gyre_evidence quiet(void)
{
    gyre_evidence e = {
        .cpu_count = 8,
        .allowed_count = 8,
        .core_count = 8,
        .memory_bytes = 64ull << 30,
        .available_bytes = 60ull << 30,
        .smt_visible = true,
        .spin_ns = 400000000,
        .governor = "performance",
        .turbo = 0,
        .pingpong_ns = {50, 52, 51},
        .thp = "always",
        .clock = {.source = "tsc", .resolution_ns = 9, .cost_ns = 10},
        .optimised = true,
    };

    return e;
}

/* The finding of that id, or NULL. */
static const gyre_finding *find(const gyre_diagnosis *d, const char *id)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->findings[i].id, id) == 0)
            return &d->findings[i];
    return NULL;
}

/* Whether this evidence gives that finding with that weight, and a verdict at least as heavy. */
static bool finds(const gyre_evidence *e, const char *id, gyre_noise noise)
{
    const gyre_diagnosis d = gyre_doctor_judge(e);
    const gyre_finding *f = find(&d, id);

    return f && f->noise == noise && f->evidence[0] && f->advice[0] && d.verdict >= noise;
}

static void quiet_machine_has_no_findings(void)
{
    const gyre_evidence e = quiet();
    const gyre_diagnosis d = gyre_doctor_judge(&e);

    CHECK(d.count == 0);
    CHECK(d.verdict == GYRE_NOISE_NOTE);
    CHECK(strcmp(gyre_noise_name(d.verdict), "quiet") == 0);
}

static void load_is_weighed(void)
{
    gyre_evidence e = quiet();

    e.others_share = 0.01;
    CHECK(gyre_doctor_judge(&e).count == 0);
    e.others_share = 0.1;
    CHECK(finds(&e, "load", GYRE_NOISE_NOISY));
    e.others_share = 0.9;
    CHECK(finds(&e, "load", GYRE_NOISE_UNUSABLE));
    e.others_share = 0;
    e.load_1min = 7;
    CHECK(finds(&e, "load", GYRE_NOISE_NOTE));
}

static void steal_is_weighed(void)
{
    gyre_evidence e = quiet();

    e.steal_share = 0.02;
    CHECK(finds(&e, "steal", GYRE_NOISE_NOISY));
    e.steal_share = 0.3;
    CHECK(finds(&e, "steal", GYRE_NOISE_UNUSABLE));
}

static void interruptions_are_weighed(void)
{
    gyre_evidence e = quiet();

    e.gap_count = 2;
    e.longest_gap_ns = 15000;
    CHECK(finds(&e, "interruptions", GYRE_NOISE_NOTE));
    e.gap_share = 0.01;
    CHECK(finds(&e, "interruptions", GYRE_NOISE_NOISY));
    e.gap_share = 0.5;
    CHECK(finds(&e, "interruptions", GYRE_NOISE_UNUSABLE));
}

static void frequency_scaling_is_found(void)
{
    gyre_evidence e = quiet();

    snprintf(e.governor, sizeof e.governor, "powersave");
    CHECK(finds(&e, "frequency", GYRE_NOISE_NOISY));
    e = quiet();
    e.turbo = 1;
    CHECK(finds(&e, "frequency", GYRE_NOISE_NOTE));
}

static void placement_is_found_from_the_pingpong(void)
{
    gyre_evidence e = quiet();

    e.pingpong_ns[1] = 260;
    CHECK(finds(&e, "placement", GYRE_NOISE_NOISY)); /* it changed */
    e.pingpong_ns[0] = e.pingpong_ns[2] = 255;
    CHECK(finds(&e, "placement", GYRE_NOISE_NOTE)); /* far, but steady */
    CHECK(strcmp(gyre_doctor_placement(&e), "far") == 0);
    e.pingpong_ns[0] = e.pingpong_ns[1] = e.pingpong_ns[2] = 60;
    CHECK(strcmp(gyre_doctor_placement(&e), "near") == 0);
    e.pingpong_ns[0] = e.pingpong_ns[1] = e.pingpong_ns[2] = -1;
    CHECK(gyre_doctor_judge(&e).count == 0);
    CHECK(strcmp(gyre_doctor_placement(&e), "unknown") == 0);
}

static void container_limits_are_found(void)
{
    gyre_evidence e = quiet();

    e.cpu_quota = 1.5;
    CHECK(finds(&e, "quota", GYRE_NOISE_NOISY));
    e = quiet();
    e.allowed_count = 1;
    CHECK(finds(&e, "cpus", GYRE_NOISE_NOISY));
    e.allowed_count = 4;
    CHECK(finds(&e, "cpus", GYRE_NOISE_NOTE));
    e = quiet();
    e.memory_limit_bytes = 1 << 30;
    CHECK(finds(&e, "memory", GYRE_NOISE_NOTE));
    e.available_bytes = 1 << 30;
    CHECK(finds(&e, "memory", GYRE_NOISE_NOISY));
    snprintf(e.container, sizeof e.container, "docker");
    CHECK(finds(&e, "container", GYRE_NOISE_NOTE));
}

static void the_rest_is_found(void)
{
    gyre_evidence e = quiet();

    e.counters_errno = ENOENT;
    CHECK(finds(&e, "counters", GYRE_NOISE_NOTE));
    snprintf(e.thp, sizeof e.thp, "never");
    CHECK(finds(&e, "huge_pages", GYRE_NOISE_NOTE));
    e.clock.resolution_ns = 1000;
    CHECK(finds(&e, "timer", GYRE_NOISE_NOISY));
    e.smt = true;
    CHECK(finds(&e, "smt", GYRE_NOISE_NOTE));
    snprintf(e.hypervisor, sizeof e.hypervisor, "KVM");
    CHECK(finds(&e, "vm", GYRE_NOISE_NOTE));
    e.wsl = true;
    CHECK(finds(&e, "wsl2", GYRE_NOISE_NOISY));
}

static void wrong_build_is_unusable(void)
{
    gyre_evidence e = quiet();

    e.optimised = false;
    CHECK(finds(&e, "build", GYRE_NOISE_UNUSABLE));
    e.optimised = e.sanitized = true;
    CHECK(finds(&e, "build", GYRE_NOISE_UNUSABLE));
}

static void every_finding_is_in_the_list_of_checks(void)
{
    gyre_evidence e = {.allowed_count = 1,
                       .cpu_quota = 0.5,
                       .others_share = 1,
                       .steal_share = 1,
                       .gap_share = 1,
                       .governor = "powersave",
                       .pingpong_ns = {80, 300, -1},
                       .smt = true,
                       .counters_errno = EPERM,
                       .container = "podman",
                       .wsl = true,
                       .memory_bytes = 100,
                       .available_bytes = 1,
                       .clock = {.source = "x", .resolution_ns = 1e6}};
    gyre_diagnosis d = gyre_doctor_judge(&e);

    CHECK(d.count >= 10 && d.verdict == GYRE_NOISE_UNUSABLE);
    for (size_t i = 0; i < d.count; i++) {
        bool listed = false;

        for (size_t j = 0; gyre_doctor_check_at(j); j++)
            listed = listed || strcmp(gyre_doctor_check_at(j), d.findings[i].id) == 0;
        CHECK(listed);
    }
}

static void this_machine_can_be_looked_at(void)
{
    gyre_evidence e;
    gyre_diagnosis d;

    REQUIRE(gyre_evidence_collect(&e) == GYRE_OK);
    CHECK(e.cpu_count >= 1 && e.allowed_count >= 1 && e.memory_bytes > 0);
    CHECK(e.spin_ns >= 400000000);
    CHECK(e.gap_share >= 0 && e.gap_share <= 1);
    CHECK(e.clock.cost_ns > 0);
    d = gyre_doctor_judge(&e);
    CHECK(d.verdict <= GYRE_NOISE_UNUSABLE);
}

static const test_case cases[] = {
    TEST(quiet_machine_has_no_findings),
    TEST(load_is_weighed),
    TEST(steal_is_weighed),
    TEST(interruptions_are_weighed),
    TEST(frequency_scaling_is_found),
    TEST(placement_is_found_from_the_pingpong),
    TEST(container_limits_are_found),
    TEST(the_rest_is_found),
    TEST(wrong_build_is_unusable),
    TEST(every_finding_is_in_the_list_of_checks),
    TEST(this_machine_can_be_looked_at),
};
TEST_MAIN(cases)
