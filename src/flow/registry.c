/* SPDX-License-Identifier: Apache-2.0
 *
 * registry: a sorted array of channels behind a lock. See gyre/registry.h.
 *
 * Channels are added seldom and looked up seldom: whoever uses one keeps the pointer. Room in the
 * array is made before a channel, so that what was created can always be kept.
 *
 * Threads   any; the lock guards the array. Destroying takes no lock: nobody else may be here.
 * Owns      the array and the channels in it.
 */
#include "gyre/registry.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "gyre/command.h"

enum { LONGEST_NAME = 31, FIRST_ROOM = 16, REQUEST_CHANNELS = 5, DEFAULTS = 3 + REQUEST_CHANNELS };

typedef struct entry {
    gyre_channel *channel; /* owned */
} entry;

struct gyre_registry {
    gyre_allocator allocator; /* copied; all NULL for malloc */
    pthread_mutex_t lock;
    entry *entries; /* by name, ascending; owned */
    size_t count, room;
};

gyre_status gyre_registry_create(const gyre_registry_options *options, gyre_registry **out_registry)
{
    gyre_registry_options with;
    gyre_registry *registry;
    gyre_status status;
    void *memory;

    *out_registry = NULL;
    status = GYRE_OPTIONS_READ(with, options);
    if (status == GYRE_OK)
        status = gyre_process_use();
    if (status == GYRE_OK)
        status = gyre_allocator_check(with.allocator);
    if (status == GYRE_OK)
        status = gyre_alloc(with.allocator, 1, sizeof *registry, &memory);
    if (status != GYRE_OK)
        return status;
    registry = memory;
    if (with.allocator)
        registry->allocator = *with.allocator;
    pthread_mutex_init(&registry->lock, NULL);
    *out_registry = registry;
    return GYRE_OK;
}

static gyre_status check_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = name ? strnlen(name, LONGEST_NAME + 1) : 0;

    if (length == 0 || length > LONGEST_NAME || strspn(name, letters) < length)
        return gyre_fail(GYRE_INVALID,
                         "registry: '%.*s' is no name: 1 to %d letters, digits, '.', '_', '-'",
                         (int)length, name ? name : "", LONGEST_NAME);
    return GYRE_OK;
}

/* Whether there is a channel of that name; where it is, or where it belongs. */
static bool find(const gyre_registry *registry, const char *name, size_t *out_index)
{
    size_t low = 0, high = registry->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(gyre_channel_name(registry->entries[middle].channel), name);

        if (order == 0) {
            *out_index = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out_index = low;
    return false;
}

/* Room for `more` channels. */
static gyre_status make_room(gyre_registry *registry, size_t more)
{
    const size_t needed = registry->count + more;
    size_t room = registry->room ? registry->room : FIRST_ROOM;
    gyre_status status;
    void *memory;

    if (needed <= registry->room)
        return GYRE_OK;
    while (room < needed)
        room *= 2;
    status = gyre_alloc(gyre_allocator_kept(&registry->allocator), room,
                        sizeof registry->entries[0], &memory);
    if (status != GYRE_OK)
        return status;
    if (registry->count > 0)
        memcpy(memory, registry->entries, registry->count * sizeof registry->entries[0]);
    gyre_free(gyre_allocator_kept(&registry->allocator), registry->entries, registry->room,
              sizeof registry->entries[0]);
    registry->entries = memory;
    registry->room = room;
    return GYRE_OK;
}

/* A channel that is not in the array yet. */
static gyre_status create_channel(gyre_registry *registry, const gyre_channel_options *options,
                                  gyre_channel **out_channel)
{
    gyre_channel_options with;
    gyre_status status;
    size_t index;

    *out_channel = NULL;
    status = GYRE_OPTIONS_READ(with, options);
    if (status == GYRE_OK)
        status = check_name(with.name);
    if (status == GYRE_OK && find(registry, with.name, &index))
        status = gyre_fail(GYRE_INVALID, "registry: there is a channel '%s' already", with.name);
    if (status != GYRE_OK)
        return status;
    with.struct_size = sizeof with;
    if (!with.allocator)
        with.allocator = gyre_allocator_kept(&registry->allocator);
    return gyre_channel_create(&with, out_channel);
}

/* Into its place; there is room. */
static void insert(gyre_registry *registry, gyre_channel *channel)
{
    size_t index;

    (void)find(registry, gyre_channel_name(channel), &index);
    memmove(&registry->entries[index + 1], &registry->entries[index],
            (registry->count - index) * sizeof registry->entries[0]);
    registry->entries[index].channel = channel;
    registry->count++;
}

gyre_status gyre_registry_add(gyre_registry *registry, const gyre_channel_options *options,
                              gyre_channel **out_channel)
{
    gyre_channel *channel = NULL;
    gyre_status status = gyre_process_check();

    if (out_channel)
        *out_channel = NULL;
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&registry->lock);
    status = make_room(registry, 1);
    if (status == GYRE_OK)
        status = create_channel(registry, options, &channel);
    if (status == GYRE_OK)
        insert(registry, channel);
    pthread_mutex_unlock(&registry->lock);
    if (out_channel)
        *out_channel = channel;
    return status;
}

/* The options of the index-th of the seeds' channels; `name` has room for the longest. */
static gyre_channel_options default_at(size_t index, char name[LONGEST_NAME + 1])
{
    gyre_channel_options options = {.struct_size = sizeof options, .name = name};

    switch (index) {
    case 0:
        options = gyre_command_channel();
        options.name = "gpu";
        options.delivery = GYRE_DELIVER_ALL;
        options.capacity = 100;
        break;
    case 1:
        options.name = "evolution";
        options.capacity = 10000;
        break;
    case 2:
        options.name = "events";
        options.delivery = GYRE_DELIVER_ALL;
        options.when_full = GYRE_FULL_DROP_OLDEST;
        options.capacity = 1000;
        break;
    default:
        snprintf(name, LONGEST_NAME + 1, "requests.%zu", index - 2);
        options.capacity = 1000;
        options.calls = 1000;
    }
    return options;
}

gyre_status gyre_registry_add_defaults(gyre_registry *registry)
{
    gyre_channel *channels[DEFAULTS] = {NULL};
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&registry->lock);
    status = make_room(registry, DEFAULTS);
    for (size_t i = 0; i < DEFAULTS && status == GYRE_OK; i++) {
        char name[LONGEST_NAME + 1];
        const gyre_channel_options options = default_at(i, name);

        status = create_channel(registry, &options, &channels[i]);
    }
    for (size_t i = 0; i < DEFAULTS; i++) {
        if (status == GYRE_OK)
            insert(registry, channels[i]);
        else
            gyre_channel_destroy(channels[i]);
    }
    pthread_mutex_unlock(&registry->lock);
    return status;
}

gyre_status gyre_registry_find(gyre_registry *registry, const char *name,
                               gyre_channel **out_channel)
{
    gyre_status status = gyre_process_check();
    size_t index;

    *out_channel = NULL;
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&registry->lock);
    if (find(registry, name, &index))
        *out_channel = registry->entries[index].channel;
    pthread_mutex_unlock(&registry->lock);
    return *out_channel
               ? GYRE_OK
               : gyre_fail(GYRE_NOT_FOUND, "registry: there is no channel '%.*s'", 64, name);
}

void gyre_registry_visit(gyre_registry *registry, void (*visit)(void *user, gyre_channel *channel),
                         void *user)
{
    if (gyre_process_check() != GYRE_OK)
        return;
    pthread_mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count; i++)
        visit(user, registry->entries[i].channel);
    pthread_mutex_unlock(&registry->lock);
}

static void close_channel(void *user, gyre_channel *channel)
{
    (void)user;
    gyre_channel_close(channel);
}

void gyre_registry_close(gyre_registry *registry)
{
    gyre_registry_visit(registry, close_channel, NULL);
}

void gyre_registry_destroy(gyre_registry *registry)
{
    gyre_allocator allocator;

    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++)
        gyre_channel_destroy(registry->entries[i].channel);
    gyre_free(gyre_allocator_kept(&registry->allocator), registry->entries, registry->room,
              sizeof registry->entries[0]);
    pthread_mutex_destroy(&registry->lock);
    allocator = registry->allocator;
    gyre_free(gyre_allocator_kept(&allocator), registry, 1, sizeof *registry);
}
