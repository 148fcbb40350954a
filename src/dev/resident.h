/* SPDX-License-Identifier: Apache-2.0
 *
 * resident: kernels that do not end, as far as those must know who share a device with them.
 *
 * Some calls of a driver wait until nothing runs on the device. Who would make one asks here first:
 * it can wait until nobody is resident, or have the residents off the device for a moment. And a
 * launch that is to stay asks whether there is room beside those that do already.
 *
 * While a device is kept free for such a call nobody comes onto it. Who wants to is told so, and
 * never waits here: he may hold what the other waits for.
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

/* What a device has room for. */
typedef struct gyre_resident_room {
    uint32_t units;   /* multiprocessors */
    uint32_t kernels; /* at once; 0: any number */
} gyre_resident_room;

struct gyre_resident {
    const char *backend;     /* of the device, and */
    uint32_t index;          /* which of its */
    uint32_t units;          /* multiprocessors that it needs, */
    gyre_resident_room room; /* of those that there are */
    uint32_t lines;          /* of the host's memory that it reads all the time */
    const char *name;        /* for messages */
    /* Off the device, if it is there, so that nothing on it waits for this one either; and back to
     * where it was, which is called after the former, whatever that did. */
    GYRE_MUST_USE gyre_status (*suspend)(gyre_resident *resident);
    void (*restore)(gyre_resident *resident);
    gyre_resident *next;
    bool listed, on, suspended;
};

/* Onto the device; it is known from then on, until it is forgotten. GYRE_NO_MEMORY when there would
 * not be room for all; GYRE_AGAIN while the device is kept free, except for who is restored. */
GYRE_MUST_USE gyre_status gyre_resident_add(gyre_resident *resident);

/* Units that are taken on that device. Never blocks for long. */
uint32_t gyre_resident_units(const char *backend, uint32_t index);

/* Lines of the host's memory that those on that device read all the time. Never blocks for long. */
uint32_t gyre_resident_lines(const char *backend, uint32_t index);

/* Off the device; once is enough. */
void gyre_resident_remove(gyre_resident *resident);

/* Counts as off the device although it does not leave it, and never will: from now on its units are
 * taken, the device is never idle, and nobody can be suspended there. */
void gyre_resident_hang(gyre_resident *resident);

/* For who frees a resident: it is not known any more. Waits while a device is kept free. */
void gyre_resident_forget(gyre_resident *resident);

/* Whether the device of this one is kept free. Never blocks for long. */
bool gyre_resident_is_barred(const gyre_resident *resident);

/* Whether anybody is on that device, or hangs there. Never blocks for long. */
bool gyre_resident_on(const char *backend, uint32_t index);

/* Keeps a device free on which nobody is, until gyre_residents_restore; false: somebody is there,
 * or another thread keeps a device free. Never blocks for long. */
GYRE_MUST_USE bool gyre_residents_try_keep(const char *backend, uint32_t index);

/* Has all of them off the device and keeps it free until gyre_residents_restore, or none: then with
 * why. Those that are known and off the device are asked as well. Blocks while another thread keeps
 * a device free. */
GYRE_MUST_USE gyre_status gyre_residents_suspend(const char *backend, uint32_t index);
void gyre_residents_restore(void);

#endif
