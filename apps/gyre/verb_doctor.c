/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor: prints what will disturb measurements on this machine. The rules are bench/doctor.c's and
 * doctor_devices.c's.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "bench/doctor.h"
#include "device_choice.h"
#include "doctor_devices.h"
#include "report/terminal.h"
#include "top_json.h"
#include "verb.h"

enum { JSON, DEVICE };

static const gyre_option options[] = {
    [JSON] = {"--json", 0, NULL, "print as JSON"},
    [DEVICE] = {"--device", 'd', "NAME", "look at this device, not at every GPU; may be repeated"},
    {NULL, 0, NULL, NULL},
};

/* GPUs that were looked at. */
typedef struct gpus {
    gyre_monitor_report reports[GYRE_MONITOR_DEVICES];
    size_t count;
} gpus;

static const char *weight(gyre_noise noise)
{
    static const char *const names[] = {"note", "noisy", "unusable"};

    return names[noise];
}

static void print_json(const gyre_evidence *e, const gyre_diagnosis *d, const gpus *g)
{
    gyre_json json = {.stream = stdout};

    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "verdict", gyre_noise_name(d->verdict));
    gyre_json_begin_array(&json, "findings");
    for (size_t i = 0; i < d->count; i++) {
        gyre_json_begin_object(&json, NULL);
        gyre_json_string(&json, "id", d->findings[i].id);
        gyre_json_string(&json, "weight", weight(d->findings[i].noise));
        gyre_json_string(&json, "evidence", d->findings[i].evidence);
        gyre_json_string(&json, "advice", d->findings[i].advice);
        gyre_json_end(&json);
    }
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "looked_for");
    for (size_t i = 0; gyre_doctor_check_at(i); i++)
        gyre_json_string(&json, NULL, gyre_doctor_check_at(i));
    for (size_t i = 0; doctor_device_check_at(i); i++)
        gyre_json_string(&json, NULL, doctor_device_check_at(i));
    gyre_json_end(&json);
    gyre_json_begin_object(&json, "measured");
    gyre_json_double(&json, "load_1min", e->load_1min);
    gyre_json_double(&json, "others_share", e->others_share);
    gyre_json_double(&json, "steal_share", e->steal_share);
    gyre_json_unsigned(&json, "spin_ns", e->spin_ns);
    gyre_json_unsigned(&json, "gap_count", e->gap_count);
    gyre_json_unsigned(&json, "longest_gap_ns", e->longest_gap_ns);
    gyre_json_double(&json, "gap_share", e->gap_share);
    gyre_json_begin_array(&json, "pingpong_ns");
    for (int i = 0; i < GYRE_EVIDENCE_PINGPONGS; i++) /* null for one that failed */
        gyre_json_double(&json, NULL, e->pingpong_ns[i] < 0 ? (double)NAN : e->pingpong_ns[i]);
    gyre_json_end(&json);
    gyre_json_string(&json, "placement", gyre_doctor_placement(e));
    gyre_json_string(&json, "clock_source", e->clock.source);
    gyre_json_double(&json, "clock_resolution_ns", e->clock.resolution_ns);
    gyre_json_double(&json, "clock_cost_ns", e->clock.cost_ns);
    gyre_json_bool(&json, "hardware_counters", e->counters_errno == 0);
    gyre_json_begin_array(&json, "devices");
    for (size_t i = 0; i < g->count; i++)
        top_json_device(&json, &g->reports[i]);
    gyre_json_end(&json);
    gyre_json_end(&json);
    gyre_json_end(&json);
}

static void print_text(const gyre_evidence *e, const gyre_diagnosis *d, const gpus *g)
{
    static const gyre_ink inks[] = {GYRE_INK_GOOD, GYRE_INK_WARN, GYRE_INK_BAD};
    const char *plain = gyre_terminal_ink(stdout, GYRE_INK_PLAIN);

    for (size_t i = 0; i < d->count; i++) {
        const gyre_finding *f = &d->findings[i];

        printf("%s%-8s%s  %s: %s\n          %s\n",
               f->noise == GYRE_NOISE_NOTE ? "" : gyre_terminal_ink(stdout, inks[f->noise]),
               weight(f->noise), plain, f->id, f->evidence, f->advice);
    }
    if (strcmp(gyre_doctor_placement(e), "unknown") != 0) {
        printf("placement: CPU %u and %u are %s: a line takes", e->pingpong_cpus[0],
               e->pingpong_cpus[1], gyre_doctor_placement(e));
        for (int i = 0; i < GYRE_EVIDENCE_PINGPONGS; i++)
            if (e->pingpong_ns[i] >= 0)
                printf(" %.0f", e->pingpong_ns[i]);
        puts(" ns and back");
    }
    printf("clock: %s, %.1f ns a reading, steps of %.0f ns\n", e->clock.source, e->clock.cost_ns,
           e->clock.resolution_ns);
    for (size_t i = 0; i < g->count; i++) {
        char line[256];

        doctor_device_line(&g->reports[i], line, sizeof line);
        puts(line);
    }
    printf("verdict: %s%s%s\n", gyre_terminal_ink(stdout, inks[d->verdict]),
           gyre_noise_name(d->verdict), plain);
}

static bool is_gpu(const gyre_device *device)
{
    return device->kind == GYRE_DEVICE_GPU &&
           (device->trouble[0] || gyre_device_has(device, GYRE_FEATURE_MONITOR));
}

static int run_doctor(const gyre_args *args, int argc, char **argv)
{
    const gyre_device *devices[GYRE_MONITOR_DEVICES];
    size_t count;
    gpus g;
    gyre_evidence evidence;
    gyre_diagnosis diagnosis;

    (void)argc, (void)argv;
    if (device_choice(args, DEVICE, is_gpu, devices, &count) != GYRE_OK) {
        fprintf(stderr, "gyre doctor: %s\n", gyre_error_last()->text);
        return GYRE_EXIT_USAGE;
    }
    if (gyre_terminal_live(stderr))
        fputs("looking, for about a second ...\r", stderr);
    if (gyre_evidence_collect(&evidence) != GYRE_OK) {
        fprintf(stderr, "gyre doctor: %s\n", gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    if (gyre_terminal_live(stderr))
        fputs("\033[K", stderr);
    diagnosis = gyre_doctor_judge(&evidence);
    g.count = doctor_look(devices, count, g.reports);
    for (size_t i = 0; i < g.count; i++)
        doctor_judge_device(&g.reports[i], &diagnosis);
    if (gyre_args_given(args, JSON))
        print_json(&evidence, &diagnosis, &g);
    else
        print_text(&evidence, &diagnosis, &g);
    return GYRE_EXIT_DONE;
}

const gyre_verb verb_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "say what will disturb measurements on this machine",
    .description =
        "Looks for about a second and measures: other programs, time taken by the hypervisor, how "
        "often a spinning thread is interrupted, frequency scaling, how far apart two CPUs are, "
        "huge pages, hardware counters, the timer, limits of the container, WSL2, and of each GPU "
        "heat, power, faults and other programs. Each finding "
        "has its evidence and an advice; the verdict is quiet, noisy or unusable, the heaviest of "
        "them. It reports, so it exits with 0 whatever it finds.",
    .options = options,
    .run = run_doctor,
};
