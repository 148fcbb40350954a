/* SPDX-License-Identifier: Apache-2.0
 *
 * resident: kernels that do not end, as far as those must know who share a device with them.
 *
 * Some calls of a driver wait until nothing runs on the device. Who would make one asks here first:
 * it can wait until nobody is resident, or have the residents off the device for a moment. And a
 * launch that is to stay asks whether there is room beside those that do already.
 *
 * Other processes are not counted: their kernels take turns with ours.
 *
 * Threads   any. `suspend` and `restore` of a resident are called by who suspends, one at a time.
 * Owns      the list; residents are their makers'.
 * Not here  what a resident does (actor/).
 */
#ifndef GYRE_DEV_RESIDENT_H
#define GYRE_DEV_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_resident gyre_resident;

struct gyre_resident {
    const char *backend; /* of the device, and */
    uint32_t index;      /* which of its */
    uint32_t units;      /* multiprocessors that it needs */
    const char *name;    /* for messages */
    /* Off the device, and back; the latter is called for those only that the former did. */
    GYRE_MUST_USE gyre_status (*suspend)(gyre_resident *resident);
    void (*restore)(gyre_resident *resident);
    gyre_resident *next;
    bool listed;
};

/* What a device has room for. */
typedef struct gyre_resident_room {
    uint32_t units;   /* multiprocessors */
    uint32_t kernels; /* at once; 0: any number */
} gyre_resident_room;

/* Joins those on the device. GYRE_NO_MEMORY when there would not be room for all. */
GYRE_MUST_USE gyre_status gyre_resident_add(gyre_resident *resident, gyre_resident_room room);

/* Units that are taken on that device. Never blocks for long. */
uint32_t gyre_resident_units(const char *backend, uint32_t index);

/* Leaves; once is enough. */
void gyre_resident_remove(gyre_resident *resident);

/* Leaves the list although it does not leave the device, and never will: from now on its units are
 * taken, the device is never idle, and nobody can be suspended there. */
void gyre_resident_hang(gyre_resident *resident);

/* For who frees a resident: not while somebody suspends. */
void gyre_resident_forget(gyre_resident *resident);

/* For one that comes onto a device unasked, at any moment: from true on nobody suspends until
 * gyre_residents_let_go; false while somebody does. Never blocks. */
GYRE_MUST_USE bool gyre_residents_try_hold(void);
void gyre_residents_let_go(void);

/* Whether anybody is on that device, or hangs there. Never blocks for long. */
bool gyre_resident_on(const char *backend, uint32_t index);

/* Has all of them off the device until gyre_residents_restore, or none: then with why. Blocks while
 * another thread has. */
GYRE_MUST_USE gyre_status gyre_residents_suspend(const char *backend, uint32_t index);
void gyre_residents_restore(void);

#endif
