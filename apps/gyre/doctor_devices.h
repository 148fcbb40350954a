/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_devices: the doctor's rules about GPUs: heat, power, faults, and who else is there.
 *
 * The harness knows no devices, so these rules stand here, and add to its diagnosis.
 *
 * Threads   any; judging is pure.
 * Owns      nothing.
 * Not here  the machine's rules (bench/doctor.h), thresholds (gyre/monitor.h).
 */
#ifndef GYRE_DOCTOR_DEVICES_H
#define GYRE_DOCTOR_DEVICES_H

#include <stddef.h>

#include "bench/doctor.h"
#include "gyre/monitor.h"

/* Looks at the devices once. How many reports there are: 0 when looking is not possible at all. */
size_t doctor_look(const gyre_device *const *devices, size_t count,
                   gyre_monitor_report reports[GYRE_MONITOR_DEVICES]);

/* Adds what disturbs measurements on this device. */
void doctor_judge_device(const gyre_monitor_report *report, gyre_diagnosis *diagnosis);

/* The ids that are looked for, found or not; NULL past the last. Borrowed, static. */
const char *doctor_device_check_at(size_t index);

/* "cuda:0 (NVIDIA H200): 41 C of 87, 120 W of 700, ...": what is known of it. Cut to size. */
void doctor_device_line(const gyre_monitor_report *report, char *text, size_t size);

#endif
