/* SPDX-License-Identifier: Apache-2.0
 *
 * top_json: one sample of devices and actors as gyre.top/1 (docs/formats/top.md).
 *
 * Threads   any.
 * Owns      nothing.
 */
#ifndef GYRE_TOP_JSON_H
#define GYRE_TOP_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "actors.h"
#include "base/json.h"
#include "gyre/monitor.h"

/* One device, as an object of the array that is open. */
void top_json_device(gyre_json *json, const gyre_monitor_report *report);

void top_json(FILE *stream, const gyre_monitor_report *reports, size_t count,
              const actors *residents);

#endif
