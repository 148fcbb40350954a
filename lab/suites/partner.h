/* SPDX-License-Identifier: Apache-2.0
 *
 * partner: a second thread for cases that take two, on another CPU than the first.
 *
 * Also how the two wait for each other where the waiting itself is not measured, and the least that
 * it can cost: a ball, one word that both poll.
 *
 * Threads   the one that runs the case starts and stops; what is shared says so.
 * Owns      the thread. The struct is the caller's; zero is ready for use.
 * Not here  waiting as the library does it (gyre/park.h, gyre/channel.h).
 */
#ifndef GYRE_SUITES_PARTNER_H
#define GYRE_SUITES_PARTNER_H

#include <sched.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "gyre/atomic.h"
#include "gyre/bench.h"
#include "gyre/park.h"
#include "gyre/thread.h"

enum { GYRE_PARTNER_CPUS = 1024 };

typedef struct gyre_partner {
    gyre_thread *thread;
    uint32_t cpu_count;               /* that the process may use; more than fit are left out */
    uint32_t cpus[GYRE_PARTNER_CPUS]; /* where the caller may run again after the case */
} gyre_partner;

/* Finds the CPUs, for a case that places threads of the harness itself. */
GYRE_MUST_USE gyre_status gyre_partner_find_cpus(gyre_partner *partner);

/* Puts the calling thread on the first CPU that the process may use, and starts `body(arg)` on the
 * last. With a single CPU both share it, and the figures measure the scheduler: gyre_partner_tell
 * says so. */
GYRE_MUST_USE gyre_status gyre_partner_start(gyre_partner *partner, void (*body)(void *arg),
                                             void *arg);

/* Waits until the body has returned, for which the caller must have given it a reason, and lets the
 * calling thread run where it might before. A partner that was never started is fine. */
void gyre_partner_stop(gyre_partner *partner);

/* Reports whether the two had a CPU each. */
void gyre_partner_tell(const gyre_partner *partner, gyre_bench_facts *facts);

/* A second thread that only sleeps. A process with one thread takes a mutex without an atomic
 * operation, which no program that needs the mutex does; so cases of one thread that use or are
 * compared with one keep such a thread beside them. Zero is ready for use. */
typedef struct gyre_idler {
    gyre_thread *thread;
    gyre_park park;
    uint32_t quit; /* shared */
} gyre_idler;

GYRE_MUST_USE gyre_status gyre_idler_start(gyre_idler *idler);

/* One that was never started is fine. */
void gyre_idler_stop(gyre_idler *idler);

/* Between two looks at what another thread does; gives the CPU away now and then, since the two may
 * share one. `looks` counts them. */
GYRE_INLINE void gyre_partner_pause(uint32_t *looks)
{
    if (++*looks % 256 == 0)
        sched_yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Looks until `counter`, which the other thread raises with gyre_store_release, is at least
 * `value`; false when that takes ten seconds, and something was lost. acquire: what the other
 * thread wrote before is visible. */
GYRE_MUST_USE bool gyre_partner_wait(const uint64_t *counter, uint64_t value);

/* Even: the driver's turn, odd: the partner's. Nothing else lies on its line, nor on the neighbour
 * that is fetched along with it. */
typedef struct gyre_ball {
    alignas(128) uint64_t turn; /* shared */
    alignas(128) uint64_t quit; /* shared; the partner ends */
} gyre_ball;

/* The driver's side of so many round trips, and the partner's of all until quit. A partner to whom
 * nothing comes for a while sleeps a millisecond between looks. */
void gyre_ball_drive(gyre_ball *ball, uint64_t iterations);
void gyre_ball_return(gyre_ball *ball);

/* The functions of a case in which two threads have nothing but a ball. The second one is for a
 * case beside another, whose threads need a moment to leave the CPUs: when it has not run for a
 * while it waits for that, and for the partner to be awake. */
GYRE_MUST_USE gyre_status gyre_ball_setup(const gyre_bench_case *c, void **out_fixture);
void gyre_ball_settle(void *fixture, uint64_t iterations);
void gyre_ball_run(void *fixture, uint64_t iterations);
GYRE_MUST_USE bool gyre_ball_check(const void *fixture, uint64_t iterations);
void gyre_ball_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts);
void gyre_ball_teardown(void *fixture);

/* That case as an entry of a table: the floor beside figures of two threads, which vary with where
 * the two happen to run. By its name; other fields may follow. */
/* clang-format off */
#define GYRE_PING_PONG(...)                                                                        \
    {                                                                                              \
        .name = __VA_ARGS__,                                                                       \
        .t0 = "the store that gives the turn away",                                                \
        .t1 = "the poll that sees the turn come back from the other thread",                       \
        .observer = "the same thread, which counts the turns of both",                             \
        .setup = gyre_ball_setup,                                                                  \
        .run = gyre_ball_run,                                                                      \
        .check = gyre_ball_check,                                                                  \
        .tell = gyre_ball_tell,                                                                    \
        .teardown = gyre_ball_teardown,                                                            \
    }
#define GYRE_FLOOR_PING_PONG(group) GYRE_PING_PONG(group "/floor_ping_pong")
/* clang-format on */

#endif
