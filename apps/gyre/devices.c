/* SPDX-License-Identifier: Apache-2.0
 *
 * devices: see devices.h.
 */
#include "devices.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "gyre/device.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum { ARCHITECTURE_WIDTH = 14, DRIVER_WIDTH = 18 };

static const struct {
    gyre_feature bit;
    const char *name;
} features[] = {
    {GYRE_FEATURE_FUNCTIONS, "functions"},
    {GYRE_FEATURE_SOURCE, "source"},
    {GYRE_FEATURE_IMAGES, "images"},
    {GYRE_FEATURE_COOPERATIVE, "cooperative"},
    {GYRE_FEATURE_RESIDENCY, "residency"},
    {GYRE_FEATURE_GRAPHS, "graphs"},
    {GYRE_FEATURE_TIMING, "timing"},
    {GYRE_FEATURE_HOST_REACH, "host_reach"},
    {GYRE_FEATURE_MAPPED, "mapped"},
    {GYRE_FEATURE_PRIORITIES, "priorities"},
    {GYRE_FEATURE_MONITOR, "monitor"},
    {GYRE_FEATURE_F16, "f16"},
    {GYRE_FEATURE_F64, "f64"},
    {GYRE_FEATURE_ECC, "ecc"},
    {GYRE_FEATURE_INTEGRATED, "integrated"},
    {GYRE_FEATURE_TIME_LIMIT, "time_limit"},
    {GYRE_FEATURE_FAULTS, "faults"},
    {GYRE_FEATURE_WAITS, "waits"},
};

static const char *kind_name(gyre_device_kind kind)
{
    switch (kind) {
    case GYRE_DEVICE_CPU:
        return "cpu";
    case GYRE_DEVICE_GPU:
        return "gpu";
    case GYRE_DEVICE_ACCELERATOR:
        return "accelerator";
    case GYRE_DEVICE_NULL:
        return "null";
    }
    return NULL; /* a device that could not be described */
}

static void show_driver(facts *f, const gyre_driver *driver)
{
    char value[256];

    if (f->as_json) {
        gyre_json_begin_object(&f->json, NULL);
        gyre_json_string(&f->json, "backend", driver->backend);
        gyre_json_string(&f->json, "status", gyre_status_name(driver->status));
        gyre_json_unsigned(&f->json, "devices", driver->device_count);
        gyre_json_string(&f->json, "text", driver->text);
        gyre_json_end(&f->json);
        return;
    }
    if (driver->status != GYRE_OK)
        snprintf(value, sizeof value, "%s: %s", gyre_status_name(driver->status), driver->text);
    else
        snprintf(value, sizeof value, "%s%s%u device%s", driver->text, driver->text[0] ? ", " : "",
                 driver->device_count, driver->device_count == 1 ? "" : "s");
    facts_text(f, driver->backend, value);
}

/* Nothing is null where nobody knows. */
static void json_known(gyre_json *json, const char *key, uint64_t value)
{
    if (value > 0)
        gyre_json_unsigned(json, key, value);
    else
        gyre_json_string(json, key, NULL);
}

static void json_text(gyre_json *json, const char *key, const char *text)
{
    gyre_json_string(json, key, text[0] ? text : NULL);
}

static void json_sizes(gyre_json *json, const char *key, const uint32_t sizes[3])
{
    gyre_json_begin_array(json, key);
    for (int i = 0; i < 3; i++)
        gyre_json_unsigned(json, NULL, sizes[i]);
    gyre_json_end(json);
}

static void json_limits(gyre_json *json, const gyre_device *device)
{
    gyre_json_begin_object(json, "limits");
    gyre_json_unsigned(json, "block_threads", device->block_threads_most);
    json_sizes(json, "block", device->block_most);
    json_sizes(json, "grid", device->grid_most);
    gyre_json_unsigned(json, "shared_bytes", device->shared_bytes_most);
    json_known(json, "unit_threads", device->unit_threads_most);
    gyre_json_unsigned(json, "parameters_bytes", device->parameters_most);
    gyre_json_end(json);
}

static void json_device(gyre_json *json, const gyre_device *device)
{
    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "name", device->name);
    gyre_json_string(json, "backend", device->backend);
    gyre_json_string(json, "kind", kind_name(device->kind));
    json_text(json, "title", device->title);
    json_text(json, "driver", device->driver);
    json_text(json, "architecture", device->architecture);
    json_text(json, "place", device->place);
    json_text(json, "trouble", device->trouble);
    json_known(json, "memory_bytes", device->memory_bytes);
    json_known(json, "cache_bytes", device->cache_bytes);
    json_known(json, "units", device->units);
    json_known(json, "lanes", device->lanes);
    json_known(json, "clock_mhz", device->clock_mhz);
    if (device->numa_node >= 0)
        gyre_json_signed(json, "numa_node", device->numa_node);
    else
        gyre_json_string(json, "numa_node", NULL);
    gyre_json_begin_array(json, "features");
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (gyre_device_has(device, features[i].bit))
            gyre_json_string(json, NULL, features[i].name);
    gyre_json_end(json);
    gyre_json_begin_array(json, "reaches"); /* besides itself */
    for (size_t i = 0; i < gyre_device_count(); i++)
        if (gyre_device_at(i) != device && gyre_device_reaches(device, gyre_device_at(i)))
            gyre_json_string(json, NULL, gyre_device_at(i)->name);
    gyre_json_end(json);
    json_limits(json, device);
    gyre_json_end(json);
}

/* Padded to `width`; what is longer is cut, but not within a character, and says so. */
static void print_cell(FILE *stream, const char *text, int width)
{
    int letters = width - 2;

    if (strlen(text) <= (size_t)width) {
        fprintf(stream, "%-*s ", width, text[0] ? text : "-");
        return;
    }
    while (letters > 0 && ((unsigned char)text[letters] & 0xC0) == 0x80)
        letters--;
    fprintf(stream, "%.*s%-*s ", letters, text, width - letters, "..");
}

/* The title comes last: it alone is never cut. */
static void print_device(FILE *stream, const gyre_device *device)
{
    char units[16] = "-";

    if (device->units > 0)
        snprintf(units, sizeof units, "%u", device->units);
    fprintf(stream, "  %-10s %10s %6s  ", device->name,
            device->memory_bytes ? gyre_quantity_bytes(device->memory_bytes).text : "-", units);
    print_cell(stream, device->architecture, ARCHITECTURE_WIDTH);
    print_cell(stream, device->driver, DRIVER_WIDTH);
    gyre_text_print(stream, device->title[0] ? device->title : "-");
    fputc('\n', stream);
    if (!device->trouble[0])
        return;
    fprintf(stream, "  %-10s %scannot be used: ", "", gyre_terminal_ink(stream, GYRE_INK_WARN));
    gyre_text_print(stream, device->trouble);
    fprintf(stream, "%s\n", gyre_terminal_ink(stream, GYRE_INK_PLAIN));
}

void devices_show(facts *f)
{
    const gyre_driver *driver;
    FILE *stream = f->json.stream;

    if (f->as_json)
        gyre_json_begin_array(&f->json, "drivers");
    else
        facts_section(f, "drivers");
    for (size_t i = 0; (driver = gyre_driver_at(i)); i++)
        show_driver(f, driver);
    facts_section_end(f);
    if (f->as_json) {
        gyre_json_begin_array(&f->json, "devices");
    } else {
        facts_section(f, "devices");
        if (gyre_device_count() > 0)
            fprintf(stream, "  %-10s %10s %6s  %-*s %-*s %s\n", "name", "memory", "units",
                    ARCHITECTURE_WIDTH, "architecture", DRIVER_WIDTH, "driver", "title");
        else
            fputs("  none\n", stream);
    }
    for (size_t i = 0; i < gyre_device_count(); i++) {
        if (f->as_json)
            json_device(&f->json, gyre_device_at(i));
        else
            print_device(stream, gyre_device_at(i));
    }
    facts_section_end(f);
}
