/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_abi: what an actor's host and its device share: the control block, the telemetry, and the
 * brief, which is what a message looks like in a mailbox.
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

/* What went wrong, in last_error and in answers that failed. GYRE_ACTOR_TIMEOUT is the only one
 * that the runtime itself says: its rings do not overflow, since who sends waits for room. The
 * others are there for behaviours, by gyre_self_fail. */
enum {
    GYRE_ACTOR_NO_ERROR = 0,
    GYRE_ACTOR_INPUT_OVERFLOW = 1,  /* there was more to take than it holds */
    GYRE_ACTOR_OUTPUT_OVERFLOW = 2, /* there was no room for what it made */
    GYRE_ACTOR_BAD_MESSAGE = 3,     /* one that is not valid, or of a type that it does not know */
    GYRE_ACTOR_NO_MEMORY = 4,       /* it had no memory left of its own */
    GYRE_ACTOR_TIMEOUT = 5,         /* a message's deadline had passed */
    GYRE_ACTOR_INTERNAL = 6,        /* the behaviour itself is wrong */
    GYRE_ACTOR_OWN = 1000,          /* this and above: what a behaviour calls its own failures */
};

/* What travels in a slot, and what a behaviour gets: 8 bytes that say what it is, and 40 of its own
 * or where to find more. A deadline lies over the last 8 of the 40: a message that has one has 32
 * bytes of its own, or `longs` beside its reference. Answers have none, and always 40. */
typedef struct gyre_brief {
    gyre_abi_u16 type;        /* what is asked; 0xff00 and above are the runtime's own */
    gyre_abi_u8 flags;        /* GYRE_BRIEF_... */
    gyre_abi_u8 priority;     /* higher is sooner, by bands of 64, among those that wait */
    gyre_abi_u32 correlation; /* which call it is, or answers; set by the port */
    union {
        gyre_abi_u8 bytes[40];
        gyre_abi_u32 words[10];
        gyre_abi_f32 floats[10];
        gyre_abi_u64 longs[5];
        struct {
            gyre_abi_address address; /* of memory that host and device reach */
            gyre_abi_u64 size;        /* bytes there */
            gyre_abi_u64 longs[2];    /* what else there is to say */
            gyre_abi_u64 deadline_ns; /* with GYRE_BRIEF_DEADLINE: by the host's clock; the
                                       * behaviour sees it by the device's */
        } reference;
    } body;
} gyre_brief;

enum {
    GYRE_BRIEF_CALL = 1,     /* an answer is waited for; set by the port */
    GYRE_BRIEF_REFERS = 2,   /* body.reference says where the rest is */
    GYRE_BRIEF_DEADLINE = 4, /* body.reference.deadline_ns holds: afterwards it is let go */
    GYRE_BRIEF_FAILED = 8, /* an answer: body.words[0] is a GYRE_ACTOR_... or the behaviour's own */
    GYRE_BRIEF_EMPTY = 16, /* an answer: the behaviour gave none */
    GYRE_BRIEF_READS = 32, /* with GYRE_BRIEF_REFERS: who gets the answer need not see what was
                            * written there, because nothing was, say; it comes sooner */
    GYRE_BRIEF_MISSING = 64, /* in the place of an answer: gyre_port_call_many got none */
};

/* Types from here on are the runtime's, and answered empty. */
enum {
    GYRE_BRIEF_OWN = 0xff00,
};

/* How long messages took is counted by so many spans: see gyre/histogram.h. */
enum {
    GYRE_HISTOGRAM_BUCKETS = 128,
};

/* The line that the host writes. Heads and tails count slots since the launch: a ring has tail -
 * head of them, and slot i is at i modulo its capacity. Input is counted for all ports together,
 * output is what the actor says unasked. */
#define GYRE_CONTROL_HOST_FIELDS(F)                                                                \
    F(0, u32, active, "1: it handles messages; 0: it is paused, and they wait")                    \
    F(4, u32, should_terminate, "1: it is to end after the message in hand; 2: when drained")      \
    F(8, u32, incarnation, "of this launch; stamps of slots are salted with it")                   \
    F(12, u32, input_capacity, "slots of the ring to the actor, a power of two")                   \
    F(16, u32, output_capacity, "slots of the ring from the actor, a power of two")                \
    F(20, u32, order, "counts changes of the two words above and of the gates")                    \
    F(24, u64, input_tail, "reserved: messages put into the ring to the actor; ports keep it")     \
    F(32, u64, output_head,                                                                        \
      "reserved: messages taken from the ring from the actor; ports keep it")                      \
    F(40, u64, time, "the host's clock when it last gave an order, or waited with a deadline")

/* The line that the device writes. */
#define GYRE_CONTROL_DEVICE_FIELDS(F)                                                              \
    F(64, u32, has_terminated, "1: it has ended, and writes nothing any more")                     \
    F(68, u32, last_error, "of the last message that failed or was late: GYRE_ACTOR_...; 0: none") \
    F(72, u64, error_count, "messages that the behaviour called failures")                         \
    F(80, u64, processed, "messages that were handled; failed and late ones too")                  \
    F(88, u64, in_flight, "reserved: messages taken and not handled; nobody writes it")            \
    F(96, u64, input_head, "messages that were taken from the ring to the actor")                  \
    F(104, u64, output_tail, "reserved: messages put into the ring from the actor")                \
    F(112, u64, time, "its own clock at the last order, in ns; 0: it goes by the host's")          \
    F(120, u32, incarnation, "of the launch that runs: the first thing that it writes")            \
    F(124, u32, order, "the last of the host's orders that was carried out")

/* How it fares; all written by the device. Latency is from when a message is taken to when it is
 * handled, by the device's clock. */
#define GYRE_TELEMETRY_FIELDS(F)                                                                   \
    F(0, u64, processed, "messages that were handled")                                             \
    F(8, u64, dropped, "messages that were taken and let go, because they were late")              \
    F(16, u64, total_latency_ns, "of all that were handled, together")                             \
    F(24, u64, min_latency_ns, "the shortest; all ones before the first")                          \
    F(32, u64, max_latency_ns, "the longest")                                                      \
    F(40, u32, input_depth, "reserved: nobody writes it; gyre_actor_describe tells what waits")    \
    F(44, u32, output_depth, "reserved: nobody writes it")                                         \
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
GYRE_ABI_ASSERT(brief_size, sizeof(gyre_brief) == 48);
GYRE_ABI_ASSERT(brief_body_at, GYRE_ABI_OFFSET(gyre_brief, body) == 8);
GYRE_ABI_ASSERT(brief_size_at, GYRE_ABI_OFFSET(gyre_brief, body.reference.size) == 16);
GYRE_ABI_ASSERT(brief_deadline_at, GYRE_ABI_OFFSET(gyre_brief, body.reference.deadline_ns) == 40);

#endif
