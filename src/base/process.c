/* SPDX-License-Identifier: Apache-2.0
 *
 * process: marks the child of a fork. See process.h.
 *
 * Threads   any; `state` is the only thing shared.
 * Owns      one pthread_atfork registration.
 */
#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/fail.h"

enum { UNUSED, IN_USE, FORKED };

static _Atomic int state = UNUSED;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void mark_child(void)
{
    /* relaxed: the child has one thread, this one */
    atomic_store_explicit(&state, FORKED, memory_order_relaxed);
}

static void first_use(void)
{
    int expected = UNUSED;

    /* Without a handler (no memory for it) a child goes unnoticed; nothing else depends on it. */
    (void)pthread_atfork(NULL, NULL, mark_child);
    /* relaxed: a flag; nothing is published with it */
    atomic_compare_exchange_strong_explicit(&state, &expected, IN_USE, memory_order_relaxed,
                                            memory_order_relaxed);
}

gyre_status gyre_process_use(void)
{
    pthread_once(&once, first_use);
    return gyre_process_check();
}

gyre_status gyre_process_check(void)
{
    /* relaxed: written before this process had a second thread, or by this thread */
    if (atomic_load_explicit(&state, memory_order_relaxed) == FORKED)
        return gyre_fail(GYRE_UNAVAILABLE, "this process was forked after Gyre was in use; a "
                                           "child may only destroy, or exec");
    return GYRE_OK;
}
