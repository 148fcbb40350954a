/* SPDX-License-Identifier: Apache-2.0
 *
 * head: what the files of measurements begin with (docs/formats/run.md): who measured, when, by
 * which command and settings, on which machine.
 *
 * Threads   one.
 * Owns      nothing; texts go into the run's arena.
 * Not here  what was measured (record/write.c, record/read.c, record/ab_write.c, record/ab_read.c).
 */
#ifndef GYRE_RECORD_HEAD_H
#define GYRE_RECORD_HEAD_H

#include "base/json.h"
#include "gyre/common.h"
#include "record/run.h"
#include "record/value.h"

/* The members from "gyre" to "command", and those from "settings" on. */
void gyre_head_write_start(gyre_json *json, const gyre_run *run);
void gyre_head_write_place(gyre_json *json, const gyre_run *run);

/* All of them. What is wrong is a complaint of `root`. */
void gyre_head_take(const gyre_value *root, gyre_run *run);

/* "machine" alone. */
void gyre_machine_take(const gyre_value *root, gyre_run_machine *machine, gyre_arena *arena);

#endif
