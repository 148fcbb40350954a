/* SPDX-License-Identifier: Apache-2.0
 *
 * duty: a thread that is there while there is something to look after, and sleeps in between until
 * it is woken, or a time has come.
 *
 * Threads   who starts and stops it does so under a lock of his own, which the thread does not
 *           take; the thread sleeps on `park`: [park-handshake].
 * Owns      the thread.
 */
#ifndef GYRE_BASE_DUTY_H
#define GYRE_BASE_DUTY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/park.h"
#include "gyre/thread.h"

/* All zeros: nobody is there. */
typedef struct gyre_duty {
    gyre_thread *thread; /* NULL: none */
    gyre_park park;
    _Atomic uint32_t changes, over;
} gyre_duty;

GYRE_MUST_USE gyre_status gyre_duty_start(gyre_duty *duty, void (*body)(void *arg), void *arg,
                                          const gyre_thread_options *options);

/* Waits until the thread has seen that it is over; nothing where there is none. */
void gyre_duty_stop(gyre_duty *duty);

/* Something has changed. Any thread; where there is none nothing happens. */
void gyre_duty_wake(gyre_duty *duty);

/* For the thread. How often something has changed: before it looks what. */
uint32_t gyre_duty_changes(const gyre_duty *duty);
bool gyre_duty_is_over(const gyre_duty *duty);

/* Sleeps until something changes that was not seen, or until then. False: it is over. */
bool gyre_duty_rest(gyre_duty *duty, uint32_t seen, uint64_t until_ns);

#endif
