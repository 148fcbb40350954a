/* SPDX-License-Identifier: Apache-2.0
 *
 * park: an event count over a futex, with a spin in front while spinning pays.
 *
 * Sleeper: sleepers += 1, read epoch, ask `ready`, sleep while epoch is still that one.
 * Waker:   change the condition, read sleepers, and if there are any: epoch += 1, wake.
 * Either the waker sees the sleeper counted, or the sleeper, which counts itself first, sees the
 * changed condition: the four operations are seq_cst, so both cannot miss. And a wake between the
 * sleeper's question and its sleep has changed the epoch, so the futex refuses to sleep.
 * tests/models/park.pml is this protocol for spin. Edge: [park-handshake].
 *
 * Threads   any.
 * Owns      nothing.
 */
#include "gyre/park.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "base/settings.h"
#include "base/wait.h"
#include "gyre/clock.h"

/* Both are part of the caller's structs. */
_Static_assert(sizeof(gyre_park) == 8 && offsetof(gyre_park, sleepers) == 4, "layout is public");
_Static_assert(sizeof(gyre_spin) == 12 && offsetof(gyre_spin, failures) == 8, "layout is public");

enum {
    POLLS_PER_CLOCK = 16, /* a reading costs 10-20 ns, a poll 1-50 */
    PATIENCE = 3,         /* spins in a row that may fail before spinning stops */
    TRIAL_PERIOD = 16,    /* then every so many waits spin again, to notice a faster partner */
};

void gyre_futex_sleep(const uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
    struct timespec timeout, *limit = NULL;

    if (deadline_ns != GYRE_NEVER) {
        const uint64_t now_ns = gyre_clock_now_ns();
        const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;

        timeout = (struct timespec){(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)};
        limit = &timeout;
    }
    /* Every return leads to another look: woken, changed, interrupted or timed out. */
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
}

void gyre_futex_wake(const uint32_t *word, uint32_t count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count < INT_MAX ? (int)count : INT_MAX, NULL,
                  NULL, 0);
}

/* Polls until ready or until `end_ns`. */
static bool poll_until(bool (*ready)(void *), void *arg, uint64_t now_ns, uint64_t end_ns)
{
    for (; now_ns < end_ns; now_ns = gyre_clock_now_ns()) {
        for (int i = 0; i < POLLS_PER_CLOCK; i++) {
            if (ready(arg))
                return true;
            gyre_relax();
        }
    }
    return false;
}

/* Until when this wait spins; `now_ns` for not at all. Spinning is all or nothing: a shorter spin
 * would be a middle way, but two threads that both fall short of each other's wake would never find
 * out that neither needs to sleep. */
static uint64_t spin_end_ns(gyre_spin *spin, uint64_t now_ns)
{
    const bool promising = spin->failures < PATIENCE || spin->waits % TRIAL_PERIOD == 0;

    spin->waits++;
    return promising ? now_ns + (uint64_t)gyre_settings_number(GYRE_SETTING_SPIN) : now_ns;
}

bool gyre_may_spin(void)
{
    return gyre_settings_number(GYRE_SETTING_SPIN) > 0;
}

bool gyre_spin_until(gyre_spin *spin, bool (*ready)(void *), void *arg, uint64_t deadline_ns)
{
    const uint64_t now_ns = gyre_clock_now_ns(), end_ns = spin_end_ns(spin, now_ns);

    if (poll_until(ready, arg, now_ns, end_ns < deadline_ns ? end_ns : deadline_ns)) {
        spin->failures = 0;
        return true;
    }
    /* a spin that the deadline cut short says nothing about spinning */
    spin->failures += end_ns > now_ns && end_ns <= deadline_ns;
    spin->sleeps += deadline_ns > gyre_clock_now_ns();
    return false;
}

static gyre_status sleep_until_ready(gyre_park *park, bool (*ready)(void *), void *arg,
                                     uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;

    /* seq_cst [park-handshake]: counted before the condition is read; pairs with gyre_park_wake */
    __atomic_fetch_add(&park->sleepers, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        /* seq_cst [park-handshake]: the epoch is read before the condition, so that a wake after
         * the question changes it */
        const uint32_t epoch = __atomic_load_n(&park->epoch, __ATOMIC_SEQ_CST);

        if (ready(arg))
            break;
        if (deadline_ns != GYRE_NEVER && gyre_clock_now_ns() >= deadline_ns) {
            status = GYRE_TIMEOUT;
            break;
        }
        gyre_futex_sleep(&park->epoch, epoch, deadline_ns);
    }
    /* relaxed: a waker that still counts this thread makes one call too many */
    __atomic_fetch_sub(&park->sleepers, 1, __ATOMIC_RELAXED);
    return status;
}

gyre_status gyre_park_wait(gyre_park *park, gyre_spin *spin, bool (*ready)(void *), void *arg,
                           uint64_t deadline_ns)
{
    gyre_status status;

    if (ready(arg))
        return GYRE_OK;
    if (spin && gyre_spin_until(spin, ready, arg, deadline_ns))
        return GYRE_OK;
    status = gyre_process_check();
    return status == GYRE_OK ? sleep_until_ready(park, ready, arg, deadline_ns) : status;
}

void gyre_park_wake(gyre_park *park, uint32_t count)
{
    /* seq_cst [park-handshake]: after the caller's seq_cst change of the condition; pairs with the
     * fetch_add in sleep_until_ready */
    if (__atomic_load_n(&park->sleepers, __ATOMIC_SEQ_CST) == 0)
        return;
    /* seq_cst [park-handshake]: pairs with the load of the epoch there */
    __atomic_fetch_add(&park->epoch, 1, __ATOMIC_SEQ_CST);
    gyre_futex_wake(&park->epoch, count);
}
