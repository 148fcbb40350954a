/* SPDX-License-Identifier: Apache-2.0
 *
 * top_json: one sample of devices as gyre.top/1 (docs/formats/top.md).
 *
 * Threads   any.
 * Owns      nothing.
 */
#ifndef GYRE_TOP_JSON_H
#define GYRE_TOP_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "gyre/monitor.h"

void top_json(FILE *stream, const gyre_monitor_report *reports, size_t count);

#endif
