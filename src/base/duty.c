/* SPDX-License-Identifier: Apache-2.0
 *
 * duty: see duty.h.
 */
#include "base/duty.h"

typedef struct look {
    const gyre_duty *duty;
    uint32_t seen;
} look;

uint32_t gyre_duty_changes(const gyre_duty *duty)
{
    return atomic_load(&duty->changes); /* seq_cst [park-handshake] */
}

bool gyre_duty_is_over(const gyre_duty *duty)
{
    return atomic_load(&duty->over) != 0; /* seq_cst [park-handshake] */
}

static bool is_wanted(void *arg)
{
    const look *const l = arg;

    return gyre_duty_is_over(l->duty) || gyre_duty_changes(l->duty) != l->seen;
}

bool gyre_duty_rest(gyre_duty *duty, uint32_t seen, uint64_t until_ns)
{
    look l = {duty, seen};

    (void)!gyre_park_wait(&duty->park, NULL, is_wanted, &l, until_ns);
    return !gyre_duty_is_over(duty);
}

void gyre_duty_wake(gyre_duty *duty)
{
    atomic_fetch_add(&duty->changes, 1); /* seq_cst [park-handshake] */
    gyre_park_wake(&duty->park, 1);
}

gyre_status gyre_duty_start(gyre_duty *duty, void (*body)(void *arg), void *arg,
                            const gyre_thread_options *options)
{
    atomic_store(&duty->over, 0); /* nobody sleeps: there is no thread */
    return gyre_thread_start(body, arg, options, &duty->thread);
}

void gyre_duty_stop(gyre_duty *duty)
{
    atomic_store(&duty->over, 1); /* seq_cst [park-handshake] */
    gyre_park_wake(&duty->park, 1);
    gyre_thread_stop(duty->thread);
    duty->thread = NULL;
}
