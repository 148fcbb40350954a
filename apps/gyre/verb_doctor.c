/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor: prints what will disturb measurements on this machine. The rules are bench/doctor.c's.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "bench/doctor.h"
#include "report/terminal.h"
#include "verb.h"

enum { JSON };

static const gyre_option options[] = {
    [JSON] = {"--json", 0, NULL, "print as JSON"},
    {NULL, 0, NULL, NULL},
};

static const char *weight(gyre_noise noise)
{
    static const char *const names[] = {"note", "noisy", "unusable"};

    return names[noise];
}

static void print_json(const gyre_evidence *e, const gyre_diagnosis *d)
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
    gyre_json_end(&json);
    gyre_json_end(&json);
}

static void print_text(const gyre_evidence *e, const gyre_diagnosis *d)
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
    printf("verdict: %s%s%s\n", gyre_terminal_ink(stdout, inks[d->verdict]),
           gyre_noise_name(d->verdict), plain);
}

static int run_doctor(const gyre_args *args, int argc, char **argv)
{
    gyre_evidence evidence;
    gyre_diagnosis diagnosis;

    (void)argc, (void)argv;
    if (gyre_terminal_live(stderr))
        fputs("looking, for about a second ...\r", stderr);
    if (gyre_evidence_collect(&evidence) != GYRE_OK) {
        fprintf(stderr, "gyre doctor: %s\n", gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    if (gyre_terminal_live(stderr))
        fputs("\033[K", stderr);
    diagnosis = gyre_doctor_judge(&evidence);
    if (gyre_args_given(args, JSON))
        print_json(&evidence, &diagnosis);
    else
        print_text(&evidence, &diagnosis);
    return GYRE_EXIT_DONE;
}

const gyre_verb verb_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "say what will disturb measurements on this machine",
    .description =
        "Looks for about a second and measures: other programs, time taken by the hypervisor, how "
        "often a spinning thread is interrupted, frequency scaling, how far apart two CPUs are, "
        "huge pages, hardware counters, the timer, limits of the container, and WSL2. Each finding "
        "has its evidence and an advice; the verdict is quiet, noisy or unusable, the heaviest of "
        "them. It reports, so it exits with 0 whatever it finds.",
    .options = options,
    .run = run_doctor,
};
