/* SPDX-License-Identifier: Apache-2.0
 *
 * What the doctor says of devices: of each thing alone, of nothing known, and of hostile names.
 */
#include "doctor_devices.h"

#include <stdio.h>

#include "test.h"

static gyre_device device;
static gyre_monitor_report report;

/* A device of which nothing is known. */
static void reset(void)
{
    device = (gyre_device){.name = "cuda:0", .title = "NVIDIA H200"};
    report = (gyre_monitor_report){.struct_size = sizeof report, .device = &device};
    memset(&report.state, 0xff, sizeof report.state);
}

static void add_reason(gyre_concern concern, gyre_level level, const char *text)
{
    gyre_monitor_reason *r = &report.reasons[report.reason_count++];

    *r = (gyre_monitor_reason){.concern = concern, .level = level};
    snprintf(r->text, sizeof r->text, "%s", text);
}

/* The weight of the only finding, which has that id; -1 when there is none, -2 when it is another.
 */
static int weight_of(const char *id)
{
    gyre_diagnosis d = {.verdict = GYRE_NOISE_NOTE};

    doctor_judge_device(&report, &d);
    if (d.count == 0)
        return -1;
    return d.count == 1 && strcmp(d.findings[0].id, id) == 0 &&
                   strncmp(d.findings[0].evidence, "cuda:0", 6) == 0 && d.findings[0].advice[0] &&
                   d.verdict == d.findings[0].noise
               ? (int)d.verdict
               : -2;
}

static void what_is_not_known_is_no_finding(void)
{
    reset();
    CHECK(weight_of("") == -1);
}

static void faults_make_it_unusable(void)
{
    static const gyre_concern faults[] = {GYRE_CONCERN_LOST, GYRE_CONCERN_ECC, GYRE_CONCERN_XID};

    for (size_t i = 0; i < 3; i++) {
        reset();
        add_reason(faults[i], GYRE_LEVEL_CRITICAL, "it is broken");
        CHECK(weight_of("gpu_faults") == GYRE_NOISE_UNUSABLE);
    }
}

static void heat_and_power_make_it_noisy(void)
{
    reset();
    add_reason(GYRE_CONCERN_TEMPERATURE, GYRE_LEVEL_WARNING, "temperature is 83 C");
    CHECK(weight_of("gpu_heat") == GYRE_NOISE_NOISY);
    add_reason(GYRE_CONCERN_THROTTLE, GYRE_LEVEL_WARNING, "lowered by heat"); /* one finding */
    CHECK(weight_of("gpu_heat") == GYRE_NOISE_NOISY);
    reset();
    report.state.throttle = GYRE_THROTTLE_POWER;
    CHECK(weight_of("gpu_power") == GYRE_NOISE_NOISY);
    reset();
    add_reason(GYRE_CONCERN_POWER, GYRE_LEVEL_WARNING, "power is 699 W of 700 W");
    CHECK(weight_of("gpu_power") == GYRE_NOISE_NOISY);
}

static void clock_that_somebody_set_is_a_note(void)
{
    reset();
    report.state.throttle = GYRE_THROTTLE_SETTING | GYRE_THROTTLE_IDLE;
    CHECK(weight_of("gpu_clock") == GYRE_NOISE_NOTE);
}

static void other_programs_are_found(void)
{
    reset();
    report.state.busy_percent = 4;
    report.state.memory_total_bytes = 1000;
    report.state.memory_used_bytes = 499;
    CHECK(weight_of("") == -1);
    report.state.busy_percent = 5;
    CHECK(weight_of("gpu_busy") == GYRE_NOISE_NOISY);
    report.state.busy_percent = 0;
    report.state.memory_used_bytes = 500;
    CHECK(weight_of("gpu_memory") == GYRE_NOISE_NOTE);
}

static void device_in_trouble_is_a_note(void)
{
    reset();
    memset(device.trouble, 'x', sizeof device.trouble - 1);
    CHECK(weight_of("gpu_trouble") == GYRE_NOISE_NOTE);
}

static void every_finding_is_in_the_list_of_checks(void)
{
    gyre_diagnosis d = {.verdict = GYRE_NOISE_NOTE};

    reset();
    for (int c = GYRE_CONCERN_LOST; c <= GYRE_CONCERN_AGE; c++)
        add_reason((gyre_concern)c, GYRE_LEVEL_CRITICAL, "so");
    snprintf(device.trouble, sizeof device.trouble, "no permission");
    report.state.throttle = 63;
    report.state.busy_percent = 100;
    report.state.memory_total_bytes = report.state.memory_used_bytes = 1;
    for (int i = 0; i < GYRE_MONITOR_DEVICES; i++) /* more than there is room for */
        doctor_judge_device(&report, &d);
    CHECK(d.count == GYRE_FINDINGS_MAX && d.verdict == GYRE_NOISE_UNUSABLE);
    for (size_t i = 0; i < d.count; i++) {
        size_t k = 0;

        while (doctor_device_check_at(k) &&
               strcmp(doctor_device_check_at(k), d.findings[i].id) != 0)
            k++;
        CHECK(doctor_device_check_at(k));
    }
}

static void line_tells_what_is_known(void)
{
    char line[256], small[12];

    reset();
    doctor_device_line(&report, line, sizeof line);
    CHECK(strcmp(line, "cuda:0 (NVIDIA H200) tells neither temperature nor power") == 0);
    report.state.temperature_c = 41;
    report.state.power_mw = 120400;
    report.state.power_limit_mw = 700000;
    report.state.throttle = GYRE_THROTTLE_IDLE;
    doctor_device_line(&report, line, sizeof line);
    CHECK(strcmp(line, "cuda:0 (NVIDIA H200): 41 C, 120 W of 700, lowered by idleness") == 0);
    doctor_device_line(&report, small, sizeof small);
    CHECK(strcmp(small, "cuda:0 (NVI") == 0);
    snprintf(device.title, sizeof device.title, "\033[2J\n");
    doctor_device_line(&report, line, sizeof line);
    CHECK(!strpbrk(line, "\033\n"));
}

static const test_case cases[] = {
    TEST(what_is_not_known_is_no_finding),
    TEST(faults_make_it_unusable),
    TEST(heat_and_power_make_it_noisy),
    TEST(clock_that_somebody_set_is_a_note),
    TEST(other_programs_are_found),
    TEST(device_in_trouble_is_a_note),
    TEST(every_finding_is_in_the_list_of_checks),
    TEST(line_tells_what_is_known),
};
TEST_MAIN(cases)
