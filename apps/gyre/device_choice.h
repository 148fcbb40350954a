/* SPDX-License-Identifier: Apache-2.0
 *
 * device_choice: which devices a verb is about: those named with --device, else those it wants.
 *
 * Threads   any.
 * Owns      nothing.
 */
#ifndef GYRE_DEVICE_CHOICE_H
#define GYRE_DEVICE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/args.h"
#include "gyre/monitor.h"

/* Fills `list` with each device once: the values of row `row`, or what `wanted` takes. What is more
 * than a monitor watches is left out, but refused when it was named. GYRE_NOT_FOUND and
 * GYRE_INVALID with a sentence for the user. May block as gyre_device_count. */
GYRE_MUST_USE gyre_status device_choice(const gyre_args *args, size_t row,
                                        bool (*wanted)(const gyre_device *device),
                                        const gyre_device *list[GYRE_MONITOR_DEVICES],
                                        size_t *out_count);

#endif
