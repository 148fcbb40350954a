/* SPDX-License-Identifier: Apache-2.0
 *
 * resident: see resident.h.
 *
 * A resident that is suspended is out of the list of those on the device, by its own doing, and in
 * that of the suspended. `turn` is held from suspend to restore, and never by residents themselves.
 *
 * What hangs stays to the end of the process, longer than its maker: so its place is noted here.
 */
#include "dev/resident.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for what follows */
static gyre_resident *residents;

/* Of a device: what never ends. */
typedef struct hung {
    const char *backend; /* static */
    uint32_t index, units, count;
    char name[32]; /* of the last */
} hung;

enum { DEVICES = 64 }; /* on which something may hang; more are not remembered */

static hung hangs[DEVICES];
static uint32_t hang_count;

static gyre_resident *suspended; /* under `turn` */

static bool is_on(const gyre_resident *resident, const char *backend, uint32_t index)
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
        if (is_on(r, backend, index)) {
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

gyre_status gyre_resident_add(gyre_resident *resident, gyre_resident_room room)
{
    gyre_status status = GYRE_OK;
    uint32_t others = 0;
    uint64_t needed;

    pthread_mutex_lock(&lock);
    needed = resident->units + count_taken(resident->backend, resident->index, &others);
    if (needed > room.units) {
        status =
            gyre_fail(GYRE_NO_MEMORY,
                      "'%s' needs %u multiprocessors of %s:%u; with %u others that are resident "
                      "that makes %llu, and there are %u",
                      resident->name, resident->units, resident->backend, resident->index, others,
                      (unsigned long long)needed, room.units);
    } else if (room.kernels && others >= room.kernels) {
        status = gyre_fail(GYRE_NO_MEMORY,
                           "'%s' would be one kernel more on %s:%u than the %u that it can have "
                           "resident beside others that come and go",
                           resident->name, resident->backend, resident->index, room.kernels);
    } else if (!resident->listed) {
        resident->next = residents;
        resident->listed = true;
        residents = resident;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* The lock is held. */
static void unlist(gyre_resident *resident)
{
    for (gyre_resident **r = &residents; resident->listed && *r; r = &(*r)->next)
        if (*r == resident) {
            *r = resident->next;
            break;
        }
    resident->listed = false;
}

void gyre_resident_remove(gyre_resident *resident)
{
    pthread_mutex_lock(&lock);
    unlist(resident);
    pthread_mutex_unlock(&lock);
}

void gyre_resident_hang(gyre_resident *resident)
{
    hung *h;

    pthread_mutex_lock(&lock);
    unlist(resident);
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
    pthread_mutex_lock(&turn);
    gyre_resident_remove(resident);
    pthread_mutex_unlock(&turn);
}

bool gyre_residents_try_hold(void)
{
    return pthread_mutex_trylock(&turn) == 0;
}

void gyre_residents_let_go(void)
{
    pthread_mutex_unlock(&turn);
}

bool gyre_resident_on(const char *backend, uint32_t index)
{
    const gyre_resident *r;
    bool found;

    pthread_mutex_lock(&lock);
    for (r = residents; r && !is_on(r, backend, index); r = r->next)
        ;
    found = r != NULL || hung_on(backend, index) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* One that is on the device now; NULL: there is none. */
static gyre_resident *first_on(const char *backend, uint32_t index)
{
    gyre_resident *r;

    pthread_mutex_lock(&lock);
    for (r = residents; r && !is_on(r, backend, index); r = r->next)
        ;
    pthread_mutex_unlock(&lock);
    return r;
}

static void restore_all(void)
{
    while (suspended) {
        gyre_resident *const r = suspended;

        suspended = r->next;
        r->restore(r);
    }
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

gyre_status gyre_residents_suspend(const char *backend, uint32_t index)
{
    gyre_resident *r;
    gyre_status hangs_there = check_hangs(backend, index);

    if (hangs_there != GYRE_OK)
        return hangs_there;
    pthread_mutex_lock(&turn);
    while ((r = first_on(backend, index))) {
        const gyre_status status = r->suspend(r);

        if (status != GYRE_OK) {
            restore_all();
            pthread_mutex_unlock(&turn);
            return status;
        }
        gyre_resident_remove(r);
        r->next = suspended;
        suspended = r;
    }
    return GYRE_OK;
}

void gyre_residents_restore(void)
{
    restore_all();
    pthread_mutex_unlock(&turn);
}
