/* SPDX-License-Identifier: Apache-2.0
 *
 * head: see head.h.
 */
#include "record/head.h"

#include "record/member.h"

static const double MOST = 1e18; /* of what has no limit of its own */

static void write_machine(gyre_json *json, const gyre_run_machine *machine)
{
    gyre_json_begin_object(json, "machine");
    gyre_member_known(json, "cpu", machine->cpu);
    gyre_member_known(json, "hypervisor", machine->hypervisor);
    gyre_member_known(json, "kernel", machine->kernel);
    gyre_member_count(json, "cpus", machine->cpus);
    gyre_member_count(json, "allowed_cpus", machine->allowed_cpus);
    gyre_json_double(json, "cpu_quota", machine->cpu_quota);
    gyre_member_count(json, "memory_bytes", machine->memory_bytes);
    gyre_member_known(json, "transparent_huge_pages", machine->huge_pages);
    if (machine->clock_source) {
        gyre_json_begin_object(json, "clock");
        gyre_json_string(json, "source", machine->clock_source);
        gyre_json_double(json, "cost_ns", machine->clock_cost_ns);
        gyre_json_double(json, "resolution_ns", machine->clock_resolution_ns);
        gyre_json_double(json, "error_ppm", machine->clock_error_ppm);
        gyre_json_end(json);
    }
    gyre_json_end(json);
}

static void write_commit(gyre_json *json, const gyre_commit *commit)
{
    if (!commit->id)
        return;
    gyre_json_begin_object(json, "commit");
    gyre_json_string(json, "id", commit->id);
    gyre_member_known(json, "branch", commit->branch);
    gyre_json_bool(json, "dirty", commit->dirty);
    gyre_json_end(json);
}

void gyre_head_write_start(gyre_json *json, const gyre_run *run)
{
    gyre_member_text(json, "gyre", run->version);
    gyre_member_text(json, "build", run->build);
    gyre_member_moment(json, "started", run->started);
    gyre_json_double(json, "duration_s", run->duration_s);
    gyre_json_bool(json, "interrupted", run->interrupted);
    gyre_run_write_command(json, "command", run);
}

void gyre_head_write_place(gyre_json *json, const gyre_run *run)
{
    gyre_run_write_settings(json, "settings", run);
    write_machine(json, &run->machine);
    write_commit(json, &run->commit);
}

static double measure_of(const gyre_value *object, const char *key)
{
    return gyre_value_number(gyre_value_get(object, key), 0, MOST);
}

static void take_command(const gyre_value *root, gyre_run *run)
{
    const gyre_value command = gyre_value_array(gyre_value_get(root, "command"), SIZE_MAX);
    const size_t count = gyre_value_size(&command);

    if (count == 0)
        return;
    run->command = gyre_arena_array(&run->arena, count, sizeof run->command[0]);
    for (size_t i = 0; run->command && i < count; i++)
        run->command[run->command_count++] =
            gyre_value_text(gyre_value_at(&command, i), &run->arena);
}

static void take_settings(const gyre_value *root, gyre_run *run)
{
    const gyre_value settings = gyre_value_object(gyre_value_get(root, "settings"));
    const size_t count = json_object_size(settings.json);
    const char *name;
    json_t *json;

    if (count == 0)
        return;
    run->settings = gyre_arena_array(&run->arena, count, sizeof run->settings[0]);
    if (!run->settings)
        return;
    json_object_foreach(settings.json, name, json)
    {
        gyre_run_setting *setting = &run->settings[run->setting_count++];

        setting->name = gyre_arena_text(&run->arena, name);
        setting->value = gyre_value_text(gyre_value_need(&settings, name), &run->arena);
    }
}

void gyre_machine_take(const gyre_value *root, gyre_run_machine *machine, gyre_arena *arena)
{
    const gyre_value object = gyre_value_object(gyre_value_get(root, "machine"));
    const gyre_value clock = gyre_value_object(gyre_value_get(&object, "clock"));

    machine->cpu = gyre_value_text(gyre_value_get(&object, "cpu"), arena);
    machine->hypervisor = gyre_value_text(gyre_value_get(&object, "hypervisor"), arena);
    machine->kernel = gyre_value_text(gyre_value_get(&object, "kernel"), arena);
    machine->huge_pages = gyre_value_text(gyre_value_get(&object, "transparent_huge_pages"), arena);
    machine->cpus = gyre_value_count(&object, "cpus");
    machine->allowed_cpus = gyre_value_count(&object, "allowed_cpus");
    machine->memory_bytes = gyre_value_count(&object, "memory_bytes");
    machine->cpu_quota = measure_of(&object, "cpu_quota");
    machine->clock_source = gyre_value_text(gyre_value_get(&clock, "source"), arena);
    machine->clock_cost_ns = measure_of(&clock, "cost_ns");
    machine->clock_resolution_ns = measure_of(&clock, "resolution_ns");
    machine->clock_error_ppm = measure_of(&clock, "error_ppm");
}

/* Without an id there is none. */
static void take_commit(const gyre_value *root, gyre_run *run)
{
    const gyre_value object = gyre_value_object(gyre_value_get(root, "commit"));
    const gyre_commit commit = {
        .id = gyre_value_text(gyre_value_get(&object, "id"), &run->arena),
        .branch = gyre_value_text(gyre_value_get(&object, "branch"), &run->arena),
        .dirty = gyre_value_bool(gyre_value_get(&object, "dirty")),
    };

    run->commit = commit.id ? commit : (gyre_commit){0};
}

void gyre_head_take(const gyre_value *root, gyre_run *run)
{
    const char *version = gyre_value_text(gyre_value_get(root, "gyre"), &run->arena);
    const char *build = gyre_value_text(gyre_value_get(root, "build"), &run->arena);

    run->version = version ? version : "";
    run->build = build ? build : "";
    run->started = gyre_value_moment(gyre_value_get(root, "started"));
    run->duration_s = measure_of(root, "duration_s");
    run->interrupted = gyre_value_bool(gyre_value_get(root, "interrupted"));
    take_command(root, run);
    take_settings(root, run);
    gyre_machine_take(root, &run->machine, &run->arena);
    take_commit(root, run);
}
