/* SPDX-License-Identifier: Apache-2.0
 *
 * layouts: every member of what a host and its actors share, as rows SIZE(type) and
 * AT(type, member). The host makes a table of its offsets of them, and a kernel, of which this is
 * the text in CUDA C and in OpenCL C, writes down what its compiler has made.
 */
#ifndef GYRE_TESTS_LAYOUTS_H
#define GYRE_TESTS_LAYOUTS_H

#ifndef GYRE_ACTOR_ANNEX_ABI_H
#include "actor/annex_abi.h"
#endif

/* Not shared with anybody: the same for all, unless a device is told to have another. */
#ifdef LAYOUTS_PLANTED
typedef struct __attribute__((packed)) layouts_planted {
#else
typedef struct layouts_planted {
#endif
    gyre_abi_u32 first;
    gyre_abi_u64 second;
} layouts_planted;

#define LAYOUTS_HOST_(offset, type, name, what) AT(gyre_control_block, host.name)
#define LAYOUTS_DEVICE_(offset, type, name, what) AT(gyre_control_block, device.name)
#define LAYOUTS_TELEMETRY_(offset, type, name, what) AT(gyre_telemetry, name)

/* clang-format off */
#define LAYOUTS_ROWS                                                                               \
    SIZE(gyre_control_block) SIZE(gyre_control_host) SIZE(gyre_control_device)                     \
    GYRE_CONTROL_HOST_FIELDS(LAYOUTS_HOST_)                                                        \
    GYRE_CONTROL_DEVICE_FIELDS(LAYOUTS_DEVICE_)                                                    \
    SIZE(gyre_telemetry)                                                                           \
    GYRE_TELEMETRY_FIELDS(LAYOUTS_TELEMETRY_)                                                      \
    SIZE(gyre_brief) AT(gyre_brief, type) AT(gyre_brief, flags) AT(gyre_brief, priority)           \
    AT(gyre_brief, correlation) AT(gyre_brief, body) AT(gyre_brief, body.bytes[39])                \
    AT(gyre_brief, body.words[9]) AT(gyre_brief, body.floats[9]) AT(gyre_brief, body.longs[4])     \
    AT(gyre_brief, body.reference.address) AT(gyre_brief, body.reference.size)                     \
    AT(gyre_brief, body.reference.longs[1]) AT(gyre_brief, body.reference.deadline_ns)             \
    SIZE(gyre_ring_payload) AT(gyre_ring_payload, eight[3]) AT(gyre_ring_payload, four[0])         \
    AT(gyre_ring_payload, four[3]) SIZE(gyre_mailbox_message)                                      \
    SIZE(gyre_ring_slot) SIZE(gyre_ring_quarter) AT(gyre_ring_slot, quarter[0].four)               \
    AT(gyre_ring_slot, quarter[0].stamp) AT(gyre_ring_slot, quarter[1])                            \
    AT(gyre_ring_slot, quarter[3].eight) AT(gyre_ring_slot, quarter[3].stamp)                      \
    SIZE(gyre_ring_wide_slot) AT(gyre_ring_wide_slot, word[1]) AT(gyre_ring_wide_slot, word[11])   \
    SIZE(gyre_seat) AT(gyre_seat, control) AT(gyre_seat, telemetry) AT(gyre_seat, heads)           \
    AT(gyre_seat, rung) AT(gyre_seat, gates) AT(gyre_seat, bell_gates[GYRE_MAILBOX_PORTS - 1])     \
    SIZE(gyre_mailbox_shape) AT(gyre_mailbox_shape, seat_bytes) AT(gyre_mailbox_shape, bells)      \
    AT(gyre_mailbox_shape, seats) AT(gyre_mailbox_shape, ports) AT(gyre_mailbox_shape, capacity)   \
    AT(gyre_mailbox_shape, replicas) AT(gyre_mailbox_shape, incarnation)                           \
    AT(gyre_mailbox_shape, wide) AT(gyre_mailbox_shape, lanes) AT(gyre_mailbox_shape, in_place)    \
    AT(gyre_mailbox_shape, idle) AT(gyre_mailbox_shape, spin_us) AT(gyre_mailbox_shape, nap_us)    \
    AT(gyre_mailbox_shape, telemetry) AT(gyre_mailbox_shape, prints)                               \
    SIZE(gyre_mailbox_about) AT(gyre_mailbox_about, state_bytes)                                   \
    SIZE(gyre_annex) SIZE(gyre_annex_host) SIZE(gyre_annex_seat) AT(gyre_annex, host.read)         \
    AT(gyre_annex, seat.claimed) AT(gyre_annex, seat.lost) AT(gyre_annex, histogram[1])            \
    SIZE(layouts_planted) AT(layouts_planted, second)
/* clang-format on */

enum { LAYOUTS_ROOM = 256 }; /* words for the kernel: how many rows, then the rows */

#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)

#if defined(__OPENCL_VERSION__)
#define LAYOUTS_GLOBAL __global
#define LAYOUTS_KERNEL __kernel void
#else
#define LAYOUTS_GLOBAL
#define LAYOUTS_KERNEL extern "C" __global__ void
#endif

/* `at` is where one of each might be; nothing is read or written there. */
LAYOUTS_KERNEL layouts(LAYOUTS_GLOBAL gyre_abi_u64 *out, LAYOUTS_GLOBAL gyre_abi_u8 *at)
{
    gyre_abi_u32 count = 0;

#define SIZE(type_) out[++count] = sizeof(type_);
#define AT(type_, member_)                                                                         \
    out[++count] =                                                                                 \
        (gyre_abi_u64)((LAYOUTS_GLOBAL gyre_abi_u8 *)&((LAYOUTS_GLOBAL type_ *)at)->member_ - at);
    LAYOUTS_ROWS
#undef SIZE
#undef AT
    out[0] = count;
}

#endif

#endif
