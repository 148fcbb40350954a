/* SPDX-License-Identifier: Apache-2.0
 *
 * trust: whether verdicts of this machine have been put to the test.
 *
 * `gyre selftest` measures how often the judge is wrong here, and leaves a record (gyre.selftest/1)
 * in the folder for results and in the user's state folder. A record counts for machines with the
 * same processor, number of CPUs and hypervisor.
 *
 * Threads   any.
 * Owns      nothing.
 * Not here  the self-test.
 */
#ifndef GYRE_RECORD_TRUST_H
#define GYRE_RECORD_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"
#include "record/run.h"

typedef struct gyre_trust {
    bool tested;   /* a full self-test of such a machine is on record, proved and passed */
    char why[200]; /* why not: a phrase; "" when tested */
} gyre_trust;

/* The machine-wide record: $XDG_STATE_HOME/gyre/selftest.json, else that below ~/.local/state.
 * False when neither is set to an absolute path, or it does not fit. */
GYRE_MUST_USE bool gyre_trust_path(char *out_path, size_t size);

/* The same with XDG_STATE_HOME and HOME as they are given. */
GYRE_MUST_USE bool gyre_trust_path_of(const char *state, const char *home, char *out_path,
                                      size_t size);

/* Looks at FOLDER/selftest.json, then at the machine-wide record; the first full one that is about
 * `machine` counts. A record that cannot be read counts as a reason not to trust. */
gyre_trust gyre_trust_find(const char *folder, const gyre_run_machine *machine);

#endif
