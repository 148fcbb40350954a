/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_abi: the control block and the telemetry of an actor, which its host and its device share.
 *
 * Each is declared once, as tables of rows F(offset, type, name, what it means), from which the
 * struct, the assertions of its offsets and the layout that gyre/layout.h tells are made. Offsets
 * are from the beginning of the whole; those of released rows stay, and what is between and behind
 * them is zero.
 *
 * Every word has one writer, and words of different writers are on different lines of 64 bytes:
 * what one side writes never takes the other's with it. Nobody writes a line as a whole.
 *
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2; see gyre/abi.h.
 *
 * Threads   words are read and written whole, by atomic accesses of their size. A count is released
 *           after what it counts, and acquired before it. A snapshot of several words may mix
 *           moments.
 * Owns      nothing.
 * Not here  the slots of the rings (flow/ring_abi.h), messages (gyre/message_abi.h).
 */
#ifndef GYRE_ACTOR_ABI_H
#define GYRE_ACTOR_ABI_H

#ifndef GYRE_ABI_H
#include "gyre/abi.h"
#endif

/* What went wrong, in last_error. */
enum {
    GYRE_ACTOR_NO_ERROR = 0,
    GYRE_ACTOR_INPUT_OVERFLOW = 1,  /* more messages came than the ring to it holds */
    GYRE_ACTOR_OUTPUT_OVERFLOW = 2, /* an answer found no room */
    GYRE_ACTOR_BAD_MESSAGE = 3,     /* one that is not valid, or of a type that it does not know */
    GYRE_ACTOR_NO_MEMORY = 4,
    GYRE_ACTOR_TIMEOUT = 5,  /* a message's deadline had passed */
    GYRE_ACTOR_INTERNAL = 6, /* the behaviour itself failed */
};

/* The line that the host writes. Heads and tails count slots since the launch: a ring has tail -
 * head of them, and slot i is at i modulo its capacity. */
#define GYRE_CONTROL_HOST_FIELDS(F)                                                                \
    F(0, u32, active, "1: it handles messages; 0: it is paused, and they wait")                    \
    F(4, u32, should_terminate, "1: it is to end after the message in hand")                       \
    F(8, u32, incarnation, "of this launch; stamps of slots are salted with it")                   \
    F(12, u32, input_capacity, "slots of the ring to the actor, a power of two")                   \
    F(16, u32, output_capacity, "slots of the ring from the actor, a power of two")                \
    F(24, u64, input_tail, "messages that were put into the ring to the actor")                    \
    F(32, u64, output_head, "messages that were taken from the ring from the actor")               \
    F(40, u64, time, "hybrid logical time that the host has come to")

/* The line that the device writes. */
#define GYRE_CONTROL_DEVICE_FIELDS(F)                                                              \
    F(64, u32, has_terminated, "1: it has ended, and writes nothing any more")                     \
    F(68, u32, last_error, "of the last message that failed: GYRE_ACTOR_...; 0: none did")         \
    F(72, u64, error_count, "messages that failed")                                                \
    F(80, u64, processed, "messages that were handled, failed ones too")                           \
    F(88, u64, in_flight, "messages that were taken and are not handled yet")                      \
    F(96, u64, input_head, "messages that were taken from the ring to the actor")                  \
    F(104, u64, output_tail, "messages that were put into the ring from the actor")                \
    F(112, u64, time, "hybrid logical time that the actor has come to")

/* How it fares; all written by the device. Latency is from when a message is taken to when it is
 * handled, by the device's clock. */
#define GYRE_TELEMETRY_FIELDS(F)                                                                   \
    F(0, u64, processed, "messages that were handled")                                             \
    F(8, u64, dropped, "messages that were taken and let go: late, or not valid")                  \
    F(16, u64, total_latency_ns, "of all that were handled, together")                             \
    F(24, u64, min_latency_ns, "the shortest; all ones before the first")                          \
    F(32, u64, max_latency_ns, "the longest")                                                      \
    F(40, u32, input_depth, "messages that waited in the ring to it, when it last looked")         \
    F(44, u32, output_depth, "messages that waited in the ring from it, when it last looked")      \
    F(48, u32, last_error, "as in the control block")

#define GYRE_ACTOR_MEMBER_(offset, type, name, what) gyre_abi_##type name;

typedef struct __attribute__((aligned(64))) gyre_control_host {
    GYRE_CONTROL_HOST_FIELDS(GYRE_ACTOR_MEMBER_)
} gyre_control_host;

typedef struct __attribute__((aligned(64))) gyre_control_device {
    GYRE_CONTROL_DEVICE_FIELDS(GYRE_ACTOR_MEMBER_)
} gyre_control_device;

typedef struct __attribute__((aligned(128))) gyre_control_block {
    gyre_control_host host;
    gyre_control_device device;
} gyre_control_block;

typedef struct __attribute__((aligned(64))) gyre_telemetry {
    GYRE_TELEMETRY_FIELDS(GYRE_ACTOR_MEMBER_)
} gyre_telemetry;

#define GYRE_ACTOR_HOST_AT_(offset, type, name, what)                                              \
    GYRE_ABI_ASSERT(control_host_##name##_at,                                                      \
                    GYRE_ABI_OFFSET(gyre_control_block, host.name) == (offset));
#define GYRE_ACTOR_DEVICE_AT_(offset, type, name, what)                                            \
    GYRE_ABI_ASSERT(control_device_##name##_at,                                                    \
                    GYRE_ABI_OFFSET(gyre_control_block, device.name) == (offset));
#define GYRE_ACTOR_TELEMETRY_AT_(offset, type, name, what)                                         \
    GYRE_ABI_ASSERT(telemetry_##name##_at, GYRE_ABI_OFFSET(gyre_telemetry, name) == (offset));

GYRE_CONTROL_HOST_FIELDS(GYRE_ACTOR_HOST_AT_)
GYRE_CONTROL_DEVICE_FIELDS(GYRE_ACTOR_DEVICE_AT_)
GYRE_TELEMETRY_FIELDS(GYRE_ACTOR_TELEMETRY_AT_)
GYRE_ABI_ASSERT(control_lines,
                sizeof(gyre_control_host) == 64 && sizeof(gyre_control_device) == 64);
GYRE_ABI_ASSERT(control_size, sizeof(gyre_control_block) == 128);
GYRE_ABI_ASSERT(telemetry_size, sizeof(gyre_telemetry) == 64);

#endif
