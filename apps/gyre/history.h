/* SPDX-License-Identifier: Apache-2.0
 *
 * history: what the verb of that name was asked for, shared by the files that do it.
 *
 * Threads   one.
 * Owns      nothing; the history is closed by the verb.
 */
#ifndef GYRE_HISTORY_H
#define GYRE_HISTORY_H

#include <stdbool.h>

#include "base/args.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/history.h"

typedef struct history_request {
    const gyre_args *args;
    const char *folder, *operand; /* NULL: none */
    bool json, csv;
    char machine[GYRE_MACHINE_KEY_BYTES]; /* the one here */
    gyre_history_query query;
    gyre_history *history;
} history_request;

GYRE_MUST_USE gyre_status history_plot(history_request *r);
GYRE_MUST_USE gyre_status history_export(history_request *r);

/* An empty answer is no failure, but it may be the filter's doing: says so on stderr. */
void history_say_none(const history_request *r);

#endif
