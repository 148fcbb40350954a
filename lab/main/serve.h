/* SPDX-License-Identifier: Apache-2.0
 *
 * serve: what a worker process does: visits the cases it was ordered to and sends what came of
 * them.
 *
 * Threads   the main thread; holds the handlers of SIGINT and SIGTERM.
 * Owns      nothing.
 * Not here  the other side (main/worker.h, main/supervise.h).
 */
#ifndef GYRE_MAIN_SERVE_H
#define GYRE_MAIN_SERVE_H

#include <stdbool.h>

#include "bench/case.h"
#include "bench/method.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/worker.h"

/* Ties this process to the one that started it: to be called as soon as there is an order.
 * GYRE_INVALID when the order is not from our parent. */
GYRE_MUST_USE gyre_status gyre_serve_prepare(const gyre_worker_order *order);

/* Visits the cases of the order and returns the exit status. `list` is the whole list, in the order
 * of the schedule. With `trace`, what goes on in each is recorded and sent. */
int gyre_serve(const gyre_worker_order *order, const gyre_case_list *list,
               const gyre_method *method, bool trace);

/* What tells two lists of cases apart. */
uint64_t gyre_serve_hash(const gyre_case_list *list);

#endif
