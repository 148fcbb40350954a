/* SPDX-License-Identifier: Apache-2.0
 *
 * device: asks every backend once what there is, and keeps the answers as rows.
 *
 * A backend that has no driver, or that GYRE_BACKENDS leaves out, is a driver's row with the reason
 * and no devices; a device that cannot be described is a row in trouble. The CPU cannot be left
 * out. The rows are static, so looking around needs no memory and cannot fail half way.
 *
 * Threads   the first caller fills the rows under pthread_once; they are constant afterwards.
 * Owns      the rows.
 * Not here  the list of backends (backends/backends.c), opening (exec/context.c).
 */
#include "gyre/device.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/text.h"
#include "dev/backend.h"

/* Device `i` of a backend is bit i of a reach, so that no backend has more than 64. */
enum { DRIVERS_MOST = 8, DEVICES_MOST = 128, BACKEND_DEVICES_MOST = 64, NAMES_BYTES = 160 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static gyre_driver drivers[DRIVERS_MOST];
static gyre_device devices[DEVICES_MOST];
static size_t driver_count, device_count;
static char unknown[NAMES_BYTES]; /* names in GYRE_BACKENDS that no backend has */
static _Atomic bool told;         /* they were logged */

static void append(char *list, size_t size, const char *name, size_t length)
{
    const size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", gyre_text_cut(length), name);
}

static bool is_backend(const char *name, size_t length)
{
    for (size_t i = 0; gyre_backends[i]; i++)
        if (strlen(gyre_backends[i]->name) == length &&
            strncmp(gyre_backends[i]->name, name, length) == 0)
            return true;
    return false;
}

/* The words of GYRE_BACKENDS, separated by commas and blanks: the next one, and its length; 0 at
 * the end. */
static const char *next_word(const char *text, size_t *out_length)
{
    text += strspn(text, ", \t");
    *out_length = strcspn(text, ", \t");
    return text;
}

static bool wanted(const char *name)
{
    const char *text = gyre_settings_text(GYRE_SETTING_BACKENDS), *word;
    size_t length;

    if (strcmp(name, gyre_backends[0]->name) == 0)
        return true;
    for (word = next_word(text, &length); length > 0; word = next_word(word + length, &length))
        if ((length == 3 && strncmp(word, "all", 3) == 0) ||
            (strlen(name) == length && strncmp(word, name, length) == 0))
            return true;
    return false;
}

static void note_unknown_names(void)
{
    const char *text = gyre_settings_text(GYRE_SETTING_BACKENDS), *word;
    size_t length;

    for (word = next_word(text, &length); length > 0; word = next_word(word + length, &length))
        if (!(length == 3 && strncmp(word, "all", 3) == 0) && !is_backend(word, length))
            append(unknown, sizeof unknown, word, length);
    gyre_text_plain(unknown);
}

/* An empty row, but for what the device is called. */
static void begin_row(gyre_device *row, const gyre_backend *backend, uint32_t index)
{
    *row = (gyre_device){
        .struct_size = sizeof *row, .backend = backend->name, .index = index, .numa_node = -1};
    snprintf(row->name, sizeof row->name, "%.12s:%u", backend->name, index);
}

static void describe(const gyre_backend *backend, uint32_t index)
{
    gyre_device *row = &devices[device_count++];

    begin_row(row, backend, index);
    if (backend->describe(index, row) != GYRE_OK) {
        begin_row(row, backend, index);
        snprintf(row->trouble, sizeof row->trouble, "%.191s", gyre_error_last()->text);
    }
    gyre_text_plain(row->title);
    gyre_text_plain(row->driver);
    gyre_text_plain(row->architecture);
    gyre_text_plain(row->trouble);
}

static void probe(const gyre_backend *backend)
{
    gyre_driver *driver = &drivers[driver_count++];
    uint32_t count = 0;

    driver->backend = backend->name;
    if (!wanted(backend->name)) {
        driver->status = GYRE_UNAVAILABLE;
        snprintf(driver->text, sizeof driver->text, "left out by GYRE_BACKENDS");
        return;
    }
    driver->status = backend->probe(&count, driver->text, sizeof driver->text);
    if (driver->status != GYRE_OK) {
        snprintf(driver->text, sizeof driver->text, "%.191s", gyre_error_last()->text);
        count = 0;
    }
    gyre_text_plain(driver->text);
    if (count > BACKEND_DEVICES_MOST)
        count = BACKEND_DEVICES_MOST;
    while (driver->device_count < count && device_count < DEVICES_MOST)
        describe(backend, driver->device_count++);
}

static void enumerate(void)
{
    for (size_t i = 0; gyre_backends[i]; i++) {
        assert(i < DRIVERS_MOST);
        probe(gyre_backends[i]);
    }
    note_unknown_names();
    gyre_fail_clear(); /* an absent driver is no failure of the caller's */
}

/* False, with a detail, in a forked child. Logs outside of the pthread_once: a sink may ask for
 * devices. */
static bool ready(void)
{
    if (gyre_process_use() != GYRE_OK)
        return false;
    pthread_once(&once, enumerate);
    /* relaxed: who is first to tell publishes nothing */
    if (unknown[0] && !atomic_exchange_explicit(&told, true, memory_order_relaxed))
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE, "GYRE_BACKENDS: there is no backend '%s'",
                 unknown);
    return true;
}

size_t gyre_device_count(void)
{
    return ready() ? device_count : 0;
}

const gyre_device *gyre_device_at(size_t index)
{
    return ready() && index < device_count ? &devices[index] : NULL;
}

const gyre_driver *gyre_driver_at(size_t index)
{
    return ready() && index < driver_count ? &drivers[index] : NULL;
}

/* The driver that a device of this name would have, if there is something the matter with it. */
static const gyre_driver *find_absent(const char *name)
{
    for (size_t i = 0; name && i < driver_count; i++) {
        const size_t length = strlen(drivers[i].backend);

        if (drivers[i].status != GYRE_OK && strncmp(drivers[i].backend, name, length) == 0 &&
            (name[length] == '\0' || name[length] == ':'))
            return &drivers[i];
    }
    return NULL;
}

const gyre_device *gyre_device_find(const char *name)
{
    const gyre_driver *absent;
    char names[NAMES_BYTES] = "";
    char shown[48];

    if (!ready())
        return NULL;
    for (size_t i = 0; name && i < device_count; i++)
        if (strcmp(devices[i].name, name) == 0 || strcmp(devices[i].backend, name) == 0)
            return &devices[i];
    for (size_t i = 0; i < device_count; i++)
        append(names, sizeof names, devices[i].name, sizeof devices[i].name);
    snprintf(shown, sizeof shown, "%s", name ? name : "(null)");
    gyre_text_plain(shown);
    absent = find_absent(name);
    (void)!gyre_fail(GYRE_NOT_FOUND, "there is no device '%s'; there is %s%s%s%s%s", shown,
                     device_count > 0 ? names : "none at all", absent ? "; " : "",
                     absent ? absent->backend : "", absent ? " has none: " : "",
                     absent ? absent->text : "");
    return NULL;
}

bool gyre_device_reaches(const gyre_device *device, const gyre_device *other)
{
    if (strcmp(device->backend, other->backend) != 0)
        return false;
    if (device->index == other->index)
        return true;
    return other->index < BACKEND_DEVICES_MOST && (device->reach >> other->index & 1) != 0;
}

gyre_status gyre_device_look(const gyre_device *device, gyre_device_state *out_state)
{
    const size_t size = out_state->struct_size;
    gyre_device_state state;
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "%s: set struct_size of the state", device->name);
    memset(&state, 0xff, sizeof state); /* -1, in all of them */
    status = gyre_backend_of(device)->look(device->index, &state);
    state.struct_size = size;
    memcpy(out_state, &state, size < sizeof state ? size : sizeof state);
    return status;
}

const gyre_backend *gyre_backend_of(const gyre_device *device)
{
    size_t i = 0;

    while (gyre_backends[i] && strcmp(gyre_backends[i]->name, device->backend) != 0)
        i++;
    assert(gyre_backends[i]);
    return gyre_backends[i];
}
