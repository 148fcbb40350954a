/* SPDX-License-Identifier: Apache-2.0
 *
 * hlc: the clock's rules, with the wall clock given. See hlc.c.
 */
#ifndef GYRE_MSG_HLC_H
#define GYRE_MSG_HLC_H

#include "gyre/hlc.h"

/* A time later than the clock's last and than `after`, and no earlier than the wall clock. */
uint64_t gyre_hlc_tick(gyre_hlc *clock, uint64_t wall_ns, uint64_t after);

gyre_status gyre_hlc_receive_at(gyre_hlc *clock, uint64_t wall_ns, uint64_t remote,
                                uint64_t ahead_ns, uint64_t *out_time);

#endif
