/* SPDX-License-Identifier: Apache-2.0
 *
 * resident: see resident.h.
 *
 * One list has all that are known, on a device or off it. While a device is kept free nobody is
 * taken out of it, and it can be walked without the lock.
 *
 * What hangs stays to the end of the process, longer than its maker: so its place is noted here.
 */
#include "dev/resident.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for what follows */
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static gyre_resident *residents;

static const char *kept; /* whose device is kept free; NULL: none, */
static uint32_t kept_index;
static const gyre_resident *restored; /* who may come onto it all the same */

/* Of a device: what never ends. */
typedef struct hung {
    const char *backend; /* static */
    uint32_t index, units, count;
    char name[32]; /* of the last */
} hung;

enum { DEVICES = 64 }; /* on which something may hang; more are not remembered */

static hung hangs[DEVICES];
static uint32_t hang_count;

static bool is_of(const gyre_resident *resident, const char *backend, uint32_t index)
{
    return resident->index == index && strcmp(resident->backend, backend) == 0;
}

/* What hangs on a device; NULL: nothing. Under the lock. */
static hung *hung_on(const char *backend, uint32_t index)
{
    for (uint32_t i = 0; i < hang_count; i++)
        if (hangs[i].index == index && strcmp(hangs[i].backend, backend) == 0)
            return &hangs[i];
    return NULL;
}

/* Units that are taken, by how many; under the lock. */
static uint64_t count_taken(const char *backend, uint32_t index, uint32_t *out_count)
{
    const hung *const hangs_there = hung_on(backend, index);
    uint64_t units = hangs_there ? hangs_there->units : 0;

    *out_count = hangs_there ? hangs_there->count : 0;
    for (const gyre_resident *r = residents; r; r = r->next)
        if (r->on && is_of(r, backend, index)) {
            units += r->units;
            ++*out_count;
        }
    return units;
}

uint32_t gyre_resident_units(const char *backend, uint32_t index)
{
    uint32_t units, count;

    pthread_mutex_lock(&lock);
    units = (uint32_t)count_taken(backend, index, &count);
    pthread_mutex_unlock(&lock);
    return units;
}

uint32_t gyre_resident_lines(const char *backend, uint32_t index)
{
    uint32_t lines = 0;

    pthread_mutex_lock(&lock);
    for (const gyre_resident *r = residents; r; r = r->next)
        lines += r->on && is_of(r, backend, index) ? r->lines : 0;
    pthread_mutex_unlock(&lock);
    return lines;
}

/* The lock is held. */
static bool is_barred(const gyre_resident *resident)
{
    return kept && is_of(resident, kept, kept_index);
}

bool gyre_resident_is_barred(const gyre_resident *resident)
{
    bool barred;

    pthread_mutex_lock(&lock);
    barred = is_barred(resident);
    pthread_mutex_unlock(&lock);
    return barred;
}

/* Whether there is room for one more; the lock is held. */
static gyre_status check_room(const gyre_resident *resident)
{
    const gyre_resident_room room = resident->room;
    uint32_t others = 0;
    const uint64_t needed =
        resident->units + count_taken(resident->backend, resident->index, &others);

    if (needed > room.units)
        return gyre_fail(
            GYRE_NO_MEMORY,
            "'%s' needs %u units of %s:%u; with %u others that are resident that makes "
            "%llu, and actors can have %u",
            resident->name, resident->units, resident->backend, resident->index, others,
            (unsigned long long)needed, room.units);
    if (room.kernels && others >= room.kernels)
        return gyre_fail(GYRE_NO_MEMORY,
                         "'%s' would be one kernel more on %s:%u than the %u that it can have "
                         "resident beside others that come and go",
                         resident->name, resident->backend, resident->index, room.kernels);
    return GYRE_OK;
}

gyre_status gyre_resident_add(gyre_resident *resident)
{
    gyre_status status = GYRE_AGAIN;

    pthread_mutex_lock(&lock);
    if (!is_barred(resident) || resident == restored)
        status = check_room(resident);
    if (status == GYRE_OK) {
        resident->on = true;
        if (!resident->listed) {
            resident->listed = true;
            resident->next = residents;
            residents = resident;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void gyre_resident_remove(gyre_resident *resident)
{
    pthread_mutex_lock(&lock);
    resident->on = false;
    pthread_mutex_unlock(&lock);
}

void gyre_resident_hang(gyre_resident *resident)
{
    hung *h;

    pthread_mutex_lock(&lock);
    resident->on = false;
    h = hung_on(resident->backend, resident->index);
    if (!h && hang_count < DEVICES) {
        h = &hangs[hang_count++];
        h->backend = resident->backend;
        h->index = resident->index;
    }
    if (h) {
        h->units += resident->units;
        h->count++;
        snprintf(h->name, sizeof h->name, "%s", resident->name);
    }
    pthread_mutex_unlock(&lock);
}

void gyre_resident_forget(gyre_resident *resident)
{
    pthread_mutex_lock(&lock);
    while (kept)
        pthread_cond_wait(&given_back, &lock);
    for (gyre_resident **r = &residents; resident->listed && *r; r = &(*r)->next)
        if (*r == resident) {
            *r = resident->next;
            break;
        }
    resident->listed = resident->on = false;
    pthread_mutex_unlock(&lock);
}

/* The lock is held. */
static bool is_taken(const char *backend, uint32_t index)
{
    uint32_t count;

    (void)count_taken(backend, index, &count);
    return count > 0;
}

bool gyre_resident_on(const char *backend, uint32_t index)
{
    bool taken;

    pthread_mutex_lock(&lock);
    taken = is_taken(backend, index);
    pthread_mutex_unlock(&lock);
    return taken;
}

bool gyre_residents_try_keep(const char *backend, uint32_t index)
{
    bool mine;

    pthread_mutex_lock(&lock);
    mine = !kept && !is_taken(backend, index);
    if (mine) {
        kept = backend;
        kept_index = index;
    }
    pthread_mutex_unlock(&lock);
    return mine;
}

/* GYRE_OK, or why the device will not be idle any more. */
static gyre_status check_hangs(const char *backend, uint32_t index)
{
    gyre_status status = GYRE_OK;
    const hung *h;

    pthread_mutex_lock(&lock);
    h = hung_on(backend, index);
    if (h)
        status = gyre_fail(GYRE_UNAVAILABLE,
                           "'%s' hangs on %s:%u, and would be waited for: until this process ends "
                           "it can have no new kernels there",
                           h->name, backend, index);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Keeps the device free of others, as soon as nobody else keeps one. All that are known. */
static gyre_resident *keep(const char *backend, uint32_t index)
{
    gyre_resident *first;

    pthread_mutex_lock(&lock);
    while (kept)
        pthread_cond_wait(&given_back, &lock);
    kept = backend;
    kept_index = index;
    first = residents;
    pthread_mutex_unlock(&lock);
    return first;
}

gyre_status gyre_residents_suspend(const char *backend, uint32_t index)
{
    gyre_resident *r = keep(backend, index);
    gyre_status status = check_hangs(backend, index); /* also of what was waited for there */

    for (; r && status == GYRE_OK; r = r->next) {
        if (!is_of(r, backend, index))
            continue;
        r->suspended = true;
        status = r->suspend(r);
        if (status == GYRE_OK) {
            gyre_resident_remove(r);
            status = check_hangs(backend, index); /* that may be what became of it */
        }
    }
    if (status != GYRE_OK)
        gyre_residents_restore();
    return status;
}

/* Lets one come back, or all others if there is none. */
static void let(const gyre_resident *resident)
{
    pthread_mutex_lock(&lock);
    restored = resident;
    if (!resident) {
        kept = NULL;
        pthread_cond_broadcast(&given_back);
    }
    pthread_mutex_unlock(&lock);
}

void gyre_residents_restore(void)
{
    gyre_resident *first;

    pthread_mutex_lock(&lock);
    first = residents;
    pthread_mutex_unlock(&lock);
    for (gyre_resident *r = first; r; r = r->next)
        if (r->suspended) {
            r->suspended = false;
            let(r);
            r->restore(r);
        }
    let(NULL);
}
