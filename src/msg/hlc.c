/* SPDX-License-Identifier: Apache-2.0
 *
 * hlc: one word, moved by compare-and-swap. See gyre/hlc.h.
 *
 * The next time is the wall clock's upper 48 bits, or the last time plus one where that is later. A
 * counter that is full carries into the wall clock's bits, which costs 65 us of truth, not order.
 *
 * Threads   any. All accesses are relaxed: the times are a total order on one word, and who learns
 *           of an earlier call by other means sees what that call left.
 * Owns      nothing.
 */
#include "msg/hlc.h"

#include <stdbool.h>
#include <time.h>

#include "base/fail.h"

_Static_assert(sizeof(gyre_hlc) == 8, "layout is public");

static uint64_t wall_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t gyre_hlc_tick(gyre_hlc *clock, uint64_t wall_ns, uint64_t after)
{
    uint64_t last = __atomic_load_n(&clock->last, __ATOMIC_RELAXED), next;

    do {
        const uint64_t wall = gyre_hlc_wall_ns(wall_ns), floor = last > after ? last : after;

        next = wall > floor ? wall : floor + 1;
    } while (!__atomic_compare_exchange_n(&clock->last, &last, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return next;
}

gyre_status gyre_hlc_receive_at(gyre_hlc *clock, uint64_t wall_ns, uint64_t remote,
                                uint64_t ahead_ns, uint64_t *out_time)
{
    const uint64_t allowed = ahead_ns ? ahead_ns : GYRE_HLC_AHEAD_NS,
                   remote_ns = gyre_hlc_wall_ns(remote);

    *out_time = 0;
    /* nor any that the clock could come to the end of its bits from, whatever is allowed */
    if ((remote_ns > wall_ns && remote_ns - wall_ns > allowed) || remote > INT64_MAX)
        return gyre_fail(GYRE_INVALID,
                         "hlc: a time %llu ns ahead of this machine's, where %llu are allowed",
                         (unsigned long long)(remote_ns - wall_ns), (unsigned long long)allowed);
    *out_time = gyre_hlc_tick(clock, wall_ns, remote);
    return GYRE_OK;
}

uint64_t gyre_hlc_now(gyre_hlc *clock)
{
    return gyre_hlc_tick(clock, wall_now_ns(), 0);
}

gyre_status gyre_hlc_receive(gyre_hlc *clock, uint64_t remote, uint64_t ahead_ns,
                             uint64_t *out_time)
{
    return gyre_hlc_receive_at(clock, wall_now_ns(), remote, ahead_ns, out_time);
}
