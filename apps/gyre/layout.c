/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: a table of the structs whose layout is part of the interface. See layout.h; those that
 * devices share are told by the library.
 */
#include "layout.h"

#include <stddef.h>
#include <stdio.h>

#include "base/json.h"
#include "gyre/alloc.h"
#include "gyre/bench.h"
#include "gyre/clock.h"
#include "gyre/cpu.h"
#include "gyre/layout.h"
#include "gyre/park.h"
#include "gyre/settings.h"
#include "gyre/status.h"
#include "gyre/thread.h"
#include "gyre/topology.h"
#include "gyre/trace.h"

enum { FIELDS = 24 };

typedef struct field {
    const char *name;
    size_t offset, size;
} field;

typedef struct shape {
    const char *name;
    size_t size, align;
    field fields[FIELDS];
} shape;

#define FIELD(type, member)                                                                        \
    {                                                                                              \
#member, offsetof(type, member), sizeof(__typeof__(((type *)0)->member))                   \
    }
#define SHAPE(type) .name = #type, .size = sizeof(type), .align = _Alignof(type)

static const shape shapes[] = {
    {SHAPE(gyre_error),
     {FIELD(gyre_error, status), FIELD(gyre_error, native), FIELD(gyre_error, line),
      FIELD(gyre_error, file), FIELD(gyre_error, text)}},
    {SHAPE(gyre_allocator),
     {FIELD(gyre_allocator, allocate), FIELD(gyre_allocator, release),
      FIELD(gyre_allocator, user)}},
    {SHAPE(gyre_clock_info),
     {FIELD(gyre_clock_info, struct_size), FIELD(gyre_clock_info, source),
      FIELD(gyre_clock_info, reason), FIELD(gyre_clock_info, ticks_per_ns),
      FIELD(gyre_clock_info, error_ppm), FIELD(gyre_clock_info, resolution_ns),
      FIELD(gyre_clock_info, cost_ns)}},
    {SHAPE(gyre_setting),
     {FIELD(gyre_setting, name), FIELD(gyre_setting, form), FIELD(gyre_setting, default_value),
      FIELD(gyre_setting, help), FIELD(gyre_setting, value), FIELD(gyre_setting, origin),
      FIELD(gyre_setting, problem)}},
    {SHAPE(gyre_thread_options),
     {FIELD(gyre_thread_options, struct_size), FIELD(gyre_thread_options, name),
      FIELD(gyre_thread_options, allocator), FIELD(gyre_thread_options, stack_bytes),
      FIELD(gyre_thread_options, cpus), FIELD(gyre_thread_options, cpu_count)}},
    {SHAPE(gyre_park), {FIELD(gyre_park, epoch), FIELD(gyre_park, sleepers)}},
    {SHAPE(gyre_spin),
     {FIELD(gyre_spin, waits), FIELD(gyre_spin, sleeps), FIELD(gyre_spin, failures)}},
    {SHAPE(gyre_trace_options),
     {FIELD(gyre_trace_options, struct_size), FIELD(gyre_trace_options, allocator),
      FIELD(gyre_trace_options, events_per_thread), FIELD(gyre_trace_options, threads)}},
    {SHAPE(gyre_trace_event),
     {FIELD(gyre_trace_event, time_ns), FIELD(gyre_trace_event, name),
      FIELD(gyre_trace_event, value), FIELD(gyre_trace_event, kind),
      FIELD(gyre_trace_event, thread)}},
    {SHAPE(gyre_trace_totals),
     {FIELD(gyre_trace_totals, visited), FIELD(gyre_trace_totals, overwritten),
      FIELD(gyre_trace_totals, refused)}},
    {SHAPE(gyre_cpu_info),
     {FIELD(gyre_cpu_info, vendor), FIELD(gyre_cpu_info, model_name),
      FIELD(gyre_cpu_info, hypervisor), FIELD(gyre_cpu_info, family), FIELD(gyre_cpu_info, model),
      FIELD(gyre_cpu_info, stepping)}},
    {SHAPE(gyre_topology_info),
     {FIELD(gyre_topology_info, cpu_count),
      FIELD(gyre_topology_info, allowed_count),
      FIELD(gyre_topology_info, core_count),
      FIELD(gyre_topology_info, package_count),
      FIELD(gyre_topology_info, cache_count),
      FIELD(gyre_topology_info, node_count),
      FIELD(gyre_topology_info, smt_visible),
      FIELD(gyre_topology_info, wsl),
      FIELD(gyre_topology_info, thp),
      FIELD(gyre_topology_info, page_bytes),
      FIELD(gyre_topology_info, huge_page_bytes),
      FIELD(gyre_topology_info, memory_bytes),
      FIELD(gyre_topology_info, available_bytes),
      FIELD(gyre_topology_info, memory_limit_bytes),
      FIELD(gyre_topology_info, cpu_quota),
      FIELD(gyre_topology_info, cgroup_version),
      FIELD(gyre_topology_info, cpuset_count),
      FIELD(gyre_topology_info, cpuset),
      FIELD(gyre_topology_info, container),
      FIELD(gyre_topology_info, kernel_release)}},
    {SHAPE(gyre_topology_cpu),
     {FIELD(gyre_topology_cpu, id), FIELD(gyre_topology_cpu, core_id),
      FIELD(gyre_topology_cpu, package_id), FIELD(gyre_topology_cpu, node_id),
      FIELD(gyre_topology_cpu, sibling_count), FIELD(gyre_topology_cpu, smt_index),
      FIELD(gyre_topology_cpu, sibling), FIELD(gyre_topology_cpu, allowed)}},
    {SHAPE(gyre_topology_cache),
     {FIELD(gyre_topology_cache, level), FIELD(gyre_topology_cache, type),
      FIELD(gyre_topology_cache, size_bytes), FIELD(gyre_topology_cache, line_bytes),
      FIELD(gyre_topology_cache, cpu_count), FIELD(gyre_topology_cache, cpus)}},
    {SHAPE(gyre_topology_node),
     {FIELD(gyre_topology_node, id), FIELD(gyre_topology_node, cpu_count),
      FIELD(gyre_topology_node, cpus), FIELD(gyre_topology_node, memory_bytes),
      FIELD(gyre_topology_node, free_bytes)}},
    {SHAPE(gyre_topology_options),
     {FIELD(gyre_topology_options, struct_size), FIELD(gyre_topology_options, allocator)}},
    {SHAPE(gyre_axis), {FIELD(gyre_axis, name), FIELD(gyre_axis, count), FIELD(gyre_axis, values)}},
    {SHAPE(gyre_bench),
     {FIELD(gyre_bench, name), FIELD(gyre_bench, axes), FIELD(gyre_bench, t0),
      FIELD(gyre_bench, t1), FIELD(gyre_bench, observer), FIELD(gyre_bench, setup),
      FIELD(gyre_bench, run), FIELD(gyre_bench, check), FIELD(gyre_bench, teardown),
      FIELD(gyre_bench, bytes), FIELD(gyre_bench, items)}},
    {SHAPE(gyre_suite),
     {FIELD(gyre_suite, bench_size), FIELD(gyre_suite, name), FIELD(gyre_suite, benches),
      FIELD(gyre_suite, count)}},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Opens the struct and its fields. */
static void begin_json(gyre_json *json, const char *name, size_t size, size_t align)
{
    gyre_json_begin_object(json, name);
    gyre_json_unsigned(json, "size", size);
    gyre_json_unsigned(json, "align", align);
    gyre_json_begin_object(json, "fields");
}

static void shared_json(gyre_json *json, const gyre_layout *layout)
{
    begin_json(json, layout->name, layout->size, layout->alignment);
    for (size_t i = 0; i < layout->field_count; i++) {
        const gyre_layout_field *const f = &layout->fields[i];

        gyre_json_begin_object(json, f->name);
        gyre_json_unsigned(json, "offset", f->offset);
        gyre_json_unsigned(json, "size", f->size);
        gyre_json_string(json, "type", f->type);
        gyre_json_string(json, "writer", f->writer);
        gyre_json_string(json, "meaning", f->meaning);
        gyre_json_end(json);
    }
    gyre_json_end(json);
    gyre_json_end(json);
}

static void print_json(void)
{
    gyre_json json = {.stream = stdout};

    gyre_json_begin_object(&json, NULL);
    for (size_t i = 0; gyre_layout_at(i); i++)
        shared_json(&json, gyre_layout_at(i));
    for (size_t i = 0; i < SHAPES; i++) {
        begin_json(&json, shapes[i].name, shapes[i].size, shapes[i].align);
        for (const field *f = shapes[i].fields; f < shapes[i].fields + FIELDS && f->name; f++) {
            gyre_json_begin_object(&json, f->name);
            gyre_json_unsigned(&json, "offset", f->offset);
            gyre_json_unsigned(&json, "size", f->size);
            gyre_json_end(&json);
        }
        gyre_json_end(&json);
        gyre_json_end(&json);
    }
    gyre_json_end(&json);
}

static void print_text(void)
{
    const gyre_layout *layout;

    for (size_t i = 0; (layout = gyre_layout_at(i)); i++) {
        printf("%s: %zu bytes, aligned to %zu\n", layout->name, layout->size, layout->alignment);
        for (const gyre_layout_field *f = layout->fields; f < layout->fields + layout->field_count;
             f++)
            printf("  %5zu  %-24s %-4s %-7s %s\n", f->offset, f->name, f->type, f->writer,
                   f->meaning);
    }
    for (size_t i = 0; i < SHAPES; i++) {
        printf("%s: %zu bytes, aligned to %zu\n", shapes[i].name, shapes[i].size, shapes[i].align);
        for (const field *f = shapes[i].fields; f < shapes[i].fields + FIELDS && f->name; f++)
            printf("  %5zu  %-20s %zu\n", f->offset, f->name, f->size);
    }
}

void layout_print(bool as_json)
{
    if (as_json)
        print_json();
    else
        print_text();
}
