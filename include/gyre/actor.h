/* SPDX-License-Identifier: Apache-2.0
 *
 * actor: a program that stays on a device and answers messages.
 *
 * An actor has a behaviour (gyre/behaviour.h), a state, and a mailbox in memory that host and
 * device share. Once launched it stays: a call is a write into that memory and a read of the
 * answer, without the driver.
 * Life: created, launched, active, paused, parked, away, draining, terminated, or failed.
 *
 * A crew is an actor with several seats, which are blocks of a GPU or threads: they share the
 * state, and each message goes to one of them, the one with the least to do.
 *
 * While an actor is resident on a device, nothing of Gyre waits for the device to be idle. What
 * other calls of the driver do wait is told in docs/actors.md.
 *
 * While a kernel is loaded, where that needs the device for itself, its actors are parked and come
 * back. Who changes their life meanwhile, or would bring another one onto the device, waits, up to
 * his deadline or 10 s: GYRE_UNAVAILABLE, and nothing was changed.
 *
 * Calls that change an actor's life, read its state or open a port go one at a time. Who finds
 * another at it, which may wait for as long as it was told, waits up to his own deadline:
 * GYRE_TIMEOUT, and nothing was ordered, so he calls again; or 10 s, if he has none:
 * GYRE_UNAVAILABLE. Only terminate does not queue up: a pause, park or drain that waits returns
 * GYRE_CLOSED then, and a terminate whose deadline passes is carried out by whoever was before it.
 * Bringing an actor back onto the device takes up to its handshake_ns, whatever the deadline.
 *
 * No pointer may be NULL unless it is said below: nobody looks.
 *
 * Threads   life: any, as said. A port belongs to one thread at a time.
 * Owns      the mailbox, the state, the stream that it runs on.
 * Not here  what a message does (gyre/behaviour.h), sending (gyre/port.h).
 */
#ifndef GYRE_ACTOR_H
#define GYRE_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/behaviour.h"
#include "gyre/common.h"
#include "gyre/context.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_actor gyre_actor;

/* Values are frozen. */
typedef enum gyre_actor_status {
    GYRE_ACTOR_CREATED = 0,
    GYRE_ACTOR_LAUNCHED = 1, /* resident, and has not been active: messages wait */
    GYRE_ACTOR_ACTIVE = 2,   /* handles messages */
    GYRE_ACTOR_PAUSED = 3,   /* resident; messages wait */
    GYRE_ACTOR_PARKED = 4,   /* not resident, its state kept; messages wait */
    GYRE_ACTOR_DRAINING = 5, /* handles what was sent before, and then ends */
    GYRE_ACTOR_TERMINATED = 6,
    GYRE_ACTOR_FAILED = 7, /* gyre_actor_fault says why */
    GYRE_ACTOR_AWAY = 8,   /* off the device by itself, its state kept; back at the first message */
} gyre_actor_status;

/* "created", ...; "unknown" for a value outside the enum. Borrowed, static. */
GYRE_API const char *gyre_actor_status_name(gyre_actor_status status);

/* What a seat does when no message comes. */
typedef enum gyre_actor_idle {
    GYRE_ACTOR_IDLE_DEFAULT = 0, /* backs off */
    GYRE_ACTOR_SPIN = 1,         /* looks all the time: the fastest, and never cool */
    GYRE_ACTOR_BACK_OFF = 2, /* looks without pause for spin_us, then with pauses up to nap_us */
    GYRE_ACTOR_LEAVE = 3,    /* backs off, and leaves the device when nothing came for
                              * leave_us: it is away until somebody sends to it */
} gyre_actor_idle;

/* What a behaviour printed (gyre_self_print). */
typedef struct gyre_actor_print {
    const char *actor; /* its name, */
    const char *text;  /* and at most 31 characters, '?' for each that cannot be shown; both valid
                        * during the call */
    uint64_t value;    /* a negative one as 64 bits */
    float f32;         /* instead of that, */
    bool is_f32;       /* if it was a float */
    uint32_t seat;
} gyre_actor_print;

/* Called by the thread that found it, for one at a time. Must call no function of the actor or of
 * its ports. */
typedef void (*gyre_actor_printer)(void *arg, const gyre_actor_print *print);

/* Zero means default, everywhere. */
typedef struct gyre_actor_options {
    size_t struct_size; /* sizeof(gyre_actor_options): lets the struct grow */
    const char *name;   /* for logs; copied, cut to 31 bytes; default the behaviour's */
    const void *state;  /* what the state begins with, state_bytes of it; copied; default zeros */
    uint64_t stall_ns;  /* how long messages may wait for a seat that handles none, or a seat may
                         * tell of messages that it was not sent, before the actor counts as failed:
                         * GYRE_DEVICE_LOST for whoever waits for it, by a port or in pause, park,
                         * drain and terminate. Who finds it out tells it to end, and gives it up to
                         * 200 ms for that, whatever his deadline; default 2 s */
    gyre_actor_printer print; /* gets what the behaviour prints; default the log */
    void *print_arg;          /* for it */
} gyre_actor_options;

/* An actor with a behaviour, which outlives it, on a context, likewise. Compiles the behaviour for
 * the context's device, if that must be, so that a launch does not. NULL options mean all defaults.
 * GYRE_BUILD when the behaviour does not compile: see gyre_kernel_build_log; GYRE_UNSUPPORTED when
 * the device cannot have actors, or there is no code for it; GYRE_CORRUPT, GYRE_NOT_FOUND or
 * GYRE_INVALID for an image that is none, has no such kernels, or is of another width or state;
 * GYRE_TIMEOUT when the device was too busy to be asked about one; GYRE_INVALID, GYRE_NO_MEMORY,
 * GYRE_UNAVAILABLE, GYRE_DEVICE_LOST. May block for seconds in the compiler. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_create(gyre_context *context,
                                                     const gyre_behaviour *behaviour,
                                                     const gyre_actor_options *options,
                                                     gyre_actor **out_actor);

/* Where the bell of a port lies, by which a call comes that finds nothing else under way. */
typedef enum gyre_actor_bells {
    GYRE_ACTOR_BELLS_DEFAULT = 0, /* in the GPU's memory, where the host can write that; else */
    GYRE_ACTOR_BELLS_INSIDE = 1,  /* in the mailbox, which is the host's memory */
    GYRE_ACTOR_BELLS_APART = 2,   /* in host memory of their own: the other way, without its gain */
} gyre_actor_bells;

/* Zero means default, everywhere. */
typedef struct gyre_actor_launch_options {
    size_t struct_size;    /* sizeof(gyre_actor_launch_options): lets the struct grow */
    uint32_t seats;        /* blocks or threads; more than one make a crew; default 1 */
    uint32_t threads;      /* a multiple of 32, up to 1024: of a block, for the narrow widths,
                            * default 1024; that handle a message, for GYRE_WIDTH_BLOCK, default
                            * 256. One warp of the block looks after it, at least one reads for
                            * each port, and one more goes between for GYRE_WIDTH_BLOCK. The CPU
                            * and OpenCL have one thread, and refuse the same */
    uint32_t ports;        /* that can be open at once, up to 16; a power of two; default 1 */
    uint32_t capacity;     /* messages of a port on their way to a seat, and answers back: a power
                            * of two, 16 to 2^20; default 1024 */
    uint32_t shared_bytes; /* of each block for the behaviour; default none */
    uint32_t units;        /* multiprocessors that it may need at most, GYRE_NO_MEMORY for more;
                            * a seat of the CPU or OpenCL is one; default all */
    uint32_t replicas;     /* of a port's bell; default what a trial at the first launch found
                            * best, less when many actors share the device */
    bool not_active;       /* stay GYRE_ACTOR_LAUNCHED until gyre_actor_activate */
    bool no_telemetry;     /* keep no times of messages */
    gyre_actor_idle idle;
    uint32_t spin_us;      /* how long it looks without pause before that; default 10 ms on a GPU,
                            * 1 ms on a CPU */
    uint32_t nap_us;       /* the longest pause between looks; default 50; at most 1 ms on CUDA,
                            * and none on OpenCL, which looks all the time */
    uint64_t handshake_ns; /* until all seats must have come to life; default 2 s */
    uint32_t first;        /* what sequences begin with; default 0 */
    uint32_t prints;       /* of a seat that may wait for the host to read them: a power of two, 16
                            * to 65536; default 64 */
    bool histogram;        /* count messages by how long they took (gyre/histogram.h), which needs
                            * telemetry, and a clock: GYRE_UNSUPPORTED on OpenCL */
    uint32_t leave_us;     /* how long nothing came before it leaves; default 100 ms */
    gyre_actor_bells bells;
} gyre_actor_launch_options;

/* Makes it resident. All seats come to life, or none: GYRE_NO_MEMORY when they cannot all be on the
 * device beside what is resident there already, with what is missing, or were not by handshake_ns:
 * then it is as it was created, and may be launched again. GYRE_INVALID, GYRE_DEVICE_LOST, the
 * latter also when seats that missed the handshake did not go within as long again, or two seconds:
 * then it has failed. An actor that has ended can be launched again, as a new one with the first
 * state; its ports are closed before, else GYRE_INVALID, and opened anew. Blocks until it is
 * resident.
 *
 * GYRE_UNSUPPORTED where the driver ends kernels that run for seconds (GYRE_FEATURE_TIME_LIMIT),
 * unless idle is GYRE_ACTOR_LEAVE: then it is taken off the device and back every half second, and
 * a message must not take longer than what is left of the driver's limit. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_launch(gyre_actor *actor,
                                                     const gyre_actor_launch_options *options);

/* Lets it handle messages, after a launch that said not_active. Nothing for one that is active or
 * away; GYRE_INVALID unless it was launched so. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_activate(gyre_actor *actor);

/* Lets it handle what was sent before, and then nothing until gyre_actor_resume. Waits until that
 * is so, up to the deadline (gyre/clock.h): GYRE_TIMEOUT, and the order stands. GYRE_INVALID when
 * it is not resident; one that is away comes back for it, as after a park. GYRE_CLOSED when
 * somebody else terminates it meanwhile, as for park and drain. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_pause(gyre_actor *actor, uint64_t deadline_ns);

/* Lets it handle messages again, after a pause, or after a park, from which it comes back onto the
 * device: then as gyre_actor_launch. Nothing for one that is active or away; GYRE_INVALID
 * otherwise. GYRE_TIMEOUT after a park that was not over in time, when its seats have not read that
 * within handshake_ns: the order stands. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_resume(gyre_actor *actor);

/* As pause, and takes it off the device, whose driver can then be asked for what waits for it to be
 * idle. The state stays, and so do messages. Nothing for one that is parked already. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_park(gyre_actor *actor, uint64_t deadline_ns);

/* Lets it handle what was sent before, and ends it; one that was never launched has ended then,
 * too. Nothing for one that has ended; after a terminate that timed out it only waits for the end.
 * GYRE_TIMEOUT when it had not by the deadline, and the order stands; GYRE_INVALID for one that has
 * failed; GYRE_DEVICE_LOST when it fails meanwhile, or has passed messages over (stall_ns). */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_drain(gyre_actor *actor, uint64_t deadline_ns);

/* Ends it after the messages in hand; what else was sent is lost, and calls for it get GYRE_CLOSED.
 * One that was never launched has ended then, too. Nothing for one that has ended or failed.
 * GYRE_TIMEOUT when it did not by the deadline: it hangs, or somebody was at it; the order stands,
 * also with a deadline that has passed already. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_terminate(gyre_actor *actor, uint64_t deadline_ns);

/* What it is now. Never blocks. */
GYRE_API gyre_actor_status gyre_actor_state(gyre_actor *actor);

/* Waits until it is that, for no other call; GYRE_TIMEOUT, or GYRE_CLOSED when it has ended and
 * cannot be. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_wait(gyre_actor *actor, gyre_actor_status status,
                                                   uint64_t deadline_ns);

/* What made it fail; NULL while it has not. Borrowed from the actor until its next launch. Never
 * blocks. */
GYRE_API const gyre_error *gyre_actor_fault(const gyre_actor *actor);

/* Copies the first `size` bytes of its state, of which the device may be changing parts meanwhile
 * unless it is paused. GYRE_INVALID for more bytes than it has, before its first launch, and when
 * it hangs; GYRE_TIMEOUT when the device is too busy to copy them: it may do so yet, so `into`
 * stays as long as the context; waits while its life is changed (see above). */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_read_state(gyre_actor *actor, void *into,
                                                         size_t size);

/* How it fares; times are of the device. */
typedef struct gyre_actor_statistics {
    size_t struct_size;      /* set by the caller: sizeof(gyre_actor_statistics) */
    uint64_t processed;      /* messages handled, by all seats, as far as they told */
    uint64_t dropped;        /* of them, let go because they were late */
    uint64_t failed;         /* of them, that the behaviour called failures: none is both */
    uint32_t last_error;     /* of the last of either: GYRE_ACTOR_TIMEOUT for one that was late */
    uint32_t seats;          /* blocks, work-groups or threads */
    uint32_t replicas;       /* of a bell */
    uint32_t incarnation;    /* which launch it is */
    double mean_ns;          /* from when a message was taken to when it was handled; 0: unknown */
    uint64_t min_ns, max_ns; /* likewise */
    uint64_t waiting;        /* messages sent and not handled, as far as was told */
    const char *scheme;   /* how it waits for messages, in words; borrowed until its next launch */
    uint64_t printed;     /* by its behaviour, and read */
    uint64_t prints_lost; /* that found no room, as far as seats told */
    uint64_t returns;     /* how often it left by itself and came back, since its launch */
} gyre_actor_statistics;

/* Fills in no more than struct_size bytes; reads what was printed before. GYRE_INVALID when that is
 * not set. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_actor_describe(gyre_actor *actor,
                                                       gyre_actor_statistics *out_statistics);

/* Terminates it, and frees it; NULL is a no-op. Its ports are closed before, and no other call is
 * at it. One that hangs, and handles nothing for a second, is left where it is, with the memory
 * that it might still touch. */
GYRE_API void gyre_actor_destroy(gyre_actor *actor);

GYRE_END_DECLS

#endif
