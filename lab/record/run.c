/* SPDX-License-Identifier: Apache-2.0
 *
 * run: see run.h.
 */
#include "record/run.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "gyre/clock.h"
#include "gyre/cpu.h"
#include "gyre/library.h"
#include "gyre/settings.h"
#include "gyre/topology.h"
#include "record/file.h"
#include "record/moment.h"

gyre_status gyre_run_create_blank(size_t capacity, gyre_run **out_run)
{
    gyre_run *run;
    gyre_status status;
    void *block;

    *out_run = NULL;
    status = gyre_alloc(NULL, 1, sizeof *run, &block);
    if (status != GYRE_OK)
        return status;
    run = block;
    run->version = run->build = "";
    run->method = gyre_method_defaults(NULL);
    if (capacity > 0) {
        status = gyre_alloc(NULL, capacity, sizeof run->results[0], &block);
        if (status != GYRE_OK) {
            gyre_run_destroy(run);
            return status;
        }
        run->results = block;
        run->capacity = capacity;
    }
    *out_run = run;
    return GYRE_OK;
}

static void copy_command(gyre_run *run, int argc, char *const *argv)
{
    if (argc < 1)
        return;
    run->command = gyre_arena_array(&run->arena, (size_t)argc, sizeof run->command[0]);
    if (!run->command)
        return;
    run->command_count = (size_t)argc;
    for (int i = 0; i < argc; i++)
        run->command[i] = gyre_arena_text(&run->arena, argv[i]);
}

static void copy_settings(gyre_run *run)
{
    size_t count = 0;

    while (gyre_settings_at(count))
        count++;
    run->settings = gyre_arena_array(&run->arena, count, sizeof run->settings[0]);
    for (size_t i = 0; run->settings && i < count; i++) {
        const gyre_setting *setting = gyre_settings_at(i);
        gyre_run_setting *copy = &run->settings[run->setting_count];

        /* ours, not the terminal's */
        if (setting->origin == GYRE_ORIGIN_DEFAULT || strncmp(setting->name, "GYRE_", 5) != 0)
            continue;
        copy->name = gyre_arena_text(&run->arena, setting->name);
        copy->value = gyre_arena_text(&run->arena, setting->value);
        run->setting_count++;
    }
}

/* What cannot be found out about the machine stays unknown: it does not stop a run. */
static void describe_machine(gyre_run *run)
{
    gyre_run_machine *machine = &run->machine;
    const gyre_cpu_info *cpu = gyre_cpu_describe();
    gyre_clock_info clock = {.struct_size = sizeof clock};
    gyre_topology *topology;

    machine->cpu = gyre_arena_text(&run->arena, cpu->model_name);
    machine->hypervisor = gyre_arena_text(&run->arena, cpu->hypervisor);
    if (gyre_topology_create(NULL, &topology) == GYRE_OK) {
        const gyre_topology_info *info = gyre_topology_describe(topology);

        machine->kernel = gyre_arena_text(&run->arena, info->kernel_release);
        machine->huge_pages = gyre_arena_text(&run->arena, gyre_thp_mode_name(info->thp));
        machine->cpus = info->cpu_count;
        machine->allowed_cpus = info->allowed_count;
        machine->memory_bytes = info->memory_bytes;
        machine->cpu_quota = info->cpu_quota;
        gyre_topology_destroy(topology);
    }
    if (gyre_clock_describe(&clock) == GYRE_OK) {
        machine->clock_source = gyre_arena_text(&run->arena, clock.source);
        machine->clock_cost_ns = clock.cost_ns;
        machine->clock_resolution_ns = clock.resolution_ns;
        machine->clock_error_ppm = clock.error_ppm;
    }
}

gyre_status gyre_run_create(size_t capacity, int argc, char *const *argv, gyre_run **out_run)
{
    gyre_run *run;
    gyre_status status = gyre_run_create_blank(capacity, &run);

    *out_run = NULL;
    if (status != GYRE_OK)
        return status;
    run->started = time(NULL);
    run->version = gyre_arena_text(&run->arena, gyre_version());
    run->build = gyre_arena_text(&run->arena, gyre_build());
    copy_command(run, argc, argv);
    copy_settings(run);
    describe_machine(run);
    if (run->arena.exhausted) {
        gyre_run_destroy(run);
        return gyre_fail(GYRE_NO_MEMORY, "out of memory for a run");
    }
    *out_run = run;
    return GYRE_OK;
}

void gyre_run_add(gyre_run *run, gyre_result *result)
{
    gyre_result *place = &run->results[run->count];

    assert(run->count < run->capacity);
    *place = *result;
    if (place->facts.owner)
        place->facts.owner = place;
    *result = (gyre_result){0};
    run->count++;
}

size_t gyre_run_count(const gyre_run *run, gyre_outcome outcome)
{
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++)
        count += run->results[i].outcome == outcome;
    return count;
}

const gyre_result *gyre_run_find(const gyre_run *run, const char *id)
{
    for (size_t i = 0; i < run->count; i++)
        if (strcmp(run->results[i].id, id) == 0)
            return &run->results[i];
    return NULL;
}

static void write_to(FILE *stream, const void *run)
{
    gyre_run_write(run, 0, stream);
}

gyre_status gyre_run_save(const gyre_run *run, const char *path)
{
    return gyre_file_replace(path, write_to, run);
}

void gyre_run_destroy(gyre_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < run->count; i++)
        gyre_result_fini(&run->results[i]);
    gyre_free(NULL, run->results, run->capacity, sizeof run->results[0]);
    gyre_arena_fini(&run->arena);
    gyre_free(NULL, run, 1, sizeof *run);
}
