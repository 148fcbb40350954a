/* SPDX-License-Identifier: Apache-2.0
 *
 * actor: what the rooms of actor/ share. See gyre/actor.h for the contract.
 *
 * Where the seats of an actor live is its residence: threads of this process (actor/seat_cpu.c), or
 * a kernel that does not end (actor/seat_kernel.c). Everything above that is the same for both.
 *
 * Threads   `status` by any; the rest under the lock, except what a launch sets and ports only
 *           read. Edges: [actor-lock], [actor-order] orders and their completion, [actor-status].
 *           `hearing` and `view` are inside the lock.
 * Owns      the mailbox, the state, the residence, the ports.
 */
#ifndef GYRE_ACTOR_ACTOR_H
#define GYRE_ACTOR_ACTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor/annex_abi.h"
#include "actor/latch.h"
#include "actor/mailbox_abi.h"
#include "actor/mailbox_words.h"
#include "actor/warden.h"
#include "dev/backend.h"
#include "dev/resident.h"
#include "gyre/actor.h"
#include "gyre/kernel.h"
#include "gyre/port.h"
#include "gyre/stream.h"

enum { GYRE_ACTOR_NAME = 32, GYRE_ACTOR_SCHEME = 320 };

typedef struct gyre_residence gyre_residence;

/* What seats are told. */
typedef struct gyre_order {
    bool active;        /* 0: up to the gates, which are moved to what was sent so far, */
    bool keep_gates;    /* unless they stay, */
    bool here;          /* or are moved to what was handled so far */
    uint32_t terminate; /* 1: at once; 2: at the gates */
} gyre_order;

/* When a seat was last seen to move, as far as somebody looked. */
typedef struct gyre_seat_watch {
    uint64_t told; /* what it had told then */
    uint64_t since_ns;
    uint64_t sound_ns; /* when it last told of no more than it was sent */
} gyre_seat_watch;

struct gyre_actor {
    gyre_context *context;
    gyre_behaviour given;            /* the caller's, with zeros for what an older one lacks */
    const gyre_behaviour *behaviour; /* that */
    const gyre_residence *residence;
    char name[GYRE_ACTOR_NAME];
    void *first_state; /* owned; NULL: zeros */
    uint64_t stall_ns;
    gyre_actor_printer print; /* NULL: the log */
    void *print_arg;

    /* Set by a launch. */
    gyre_mailbox_shape shape;
    gyre_actor_launch_options launched;
    unsigned char *mailbox; /* owned: pinned memory */
    size_t mailbox_bytes;
    gyre_dev_window bells;  /* owned: apart from the mailbox; no `by`: pinned memory */
    void *state;            /* owned: device memory */
    bool hung;              /* the mailbox and the state are left to seats that do not end */
    gyre_seat_watch *watch; /* owned; one for each seat */
    char scheme[GYRE_ACTOR_SCHEME];

    _Atomic uint32_t status;  /* gyre_actor_status [actor-status] */
    _Atomic uint64_t returns; /* from being away [actor-status] */

    gyre_latch lock;     /* given back by gyre_actor_release */
    bool yields;         /* who holds it waits, but for nobody who terminates the actor */
    uint32_t order;      /* the last: its number */
    gyre_order told;     /* what it is to do in the end, */
    bool gathers;        /* but first all seats end, since some have */
    gyre_error fault;    /* once it has failed */
    bool watches;        /* who holds it waits, and finds out whether seats hang */
    uint64_t looked_ns;  /* when somebody last did that; 0: the seats have just begun */
    bool ending;         /* seats were told to end, and it is not known that they have */
    uint32_t before;     /* status to which it comes back, parked as it is; 0: none */
    uint64_t began_ns;   /* when its seats last began */
    uint32_t time_order; /* with which the seats' time was last asked */
    gyre_port *port[GYRE_MAILBOX_PORTS]; /* owned; made by a launch */

    pthread_mutex_t view; /* held by who reads counts without the lock, for no longer than that */
    bool in_view;         /* under it: there is a mailbox, with its ports, to read them from */

    pthread_mutex_t hearing;  /* held by who reads prints, or takes the mailbox away from him */
    _Atomic uint64_t printed; /* since the launch */
    gyre_warden_place warden; /* see there */

    /* deadline.c: the clock of seats that have one of their own */
    _Atomic uint64_t time_asked_ns; /* by the host's, when the seats were last asked for theirs */
    _Atomic uint64_t time_known_ns; /* the last of these that was answered; 0: none is */
    _Atomic uint64_t time_apart;    /* what the seats' clock is ahead of the host's, modulo 2^64 */

    /* The residence's own. */
    struct gyre_seat_thread *threads; /* owned; one for each seat */
    gyre_kernel *kernel;              /* owned */
    gyre_stream *stream;              /* owned; the kernel runs on it */
    gyre_stream *copies;              /* owned; for the state while the kernel runs */
    bool quarters;                    /* OpenCL: the kernel knows them, as CUDA's always does */
    uint32_t readers;                 /* warps of a block that read */
    gyre_resident resident;           /* on its device; no backend: it is in nobody's way */
    bool aside;                       /* for who suspends, whose it is: it is to come back */
};

/* behaviour.c: the caller's, with zeros for what an older one lacks. GYRE_INVALID, GYRE_UNSUPPORTED
 * with what is wrong. */
GYRE_MUST_USE gyre_status gyre_behaviour_read(const gyre_behaviour *behaviour,
                                              gyre_behaviour *out_behaviour);

/* Where seats live. */
struct gyre_residence {
    /* Once: what a launch needs and takes long. */
    gyre_status (*prepare)(gyre_actor *actor);
    /* Fills in what the device decides: lanes, wide, in_place, replicas, the scheme; and refuses
     * what cannot be resident. */
    gyre_status (*plan)(gyre_actor *actor, const gyre_actor_launch_options *options);
    /* Whether the number of replicas is worth a trial. */
    bool (*tries)(const gyre_actor *actor);
    /* All seats begin; `fresh`: with the first state. */
    gyre_status (*start)(gyre_actor *actor, bool fresh);
    /* GYRE_AGAIN: they run; GYRE_OK: they have ended; else what became of them. */
    gyre_status (*look)(gyre_actor *actor);
    /* After they have ended: gives back what start took. */
    void (*finish)(gyre_actor *actor);
    /* They do not end: leaves everything that they might still touch. */
    void (*leave)(gyre_actor *actor);
    gyre_status (*read_state)(gyre_actor *actor, void *into, size_t size);
    void (*destroy)(gyre_actor *actor);
};

extern const gyre_residence gyre_residence_threads, gyre_residence_kernel;

GYRE_INLINE gyre_seat *gyre_actor_seat(const gyre_actor *actor, uint32_t seat)
{
    return (gyre_seat *)(void *)(actor->mailbox + seat * actor->shape.seat_bytes);
}

/* Of memory for its state: one at least. */
GYRE_INLINE size_t gyre_actor_state_bytes(const gyre_actor *actor)
{
    return actor->behaviour->state_bytes ? actor->behaviour->state_bytes : 1;
}

GYRE_INLINE gyre_annex *gyre_actor_annex(const gyre_actor *actor, uint32_t seat)
{
    return (gyre_annex *)(void *)(actor->mailbox + seat * actor->shape.seat_bytes +
                                  gyre_mailbox_annex_at(&actor->shape));
}

/* actor.c: a mailbox and ports as those options wish, and away with them. The lock is held. */
GYRE_MUST_USE gyre_status gyre_actor_ready(gyre_actor *actor,
                                           const gyre_actor_launch_options *options);
void gyre_actor_forget(gyre_actor *actor);

/* For who waits: GYRE_OK while there is hope; GYRE_CLOSED or GYRE_DEVICE_LOST, with the reason,
 * when it has ended or failed, which may be found out by this call. Takes the lock, asks the
 * driver. */
GYRE_MUST_USE gyre_status gyre_actor_look(gyre_actor *actor);

/* The same for who has the lock, but for what it printed. */
GYRE_MUST_USE gyre_status gyre_actor_look_held(gyre_actor *actor);

/* Why it has ended or failed: GYRE_CLOSED or GYRE_DEVICE_LOST, with the reason; GYRE_OK: it has
 * not. Takes no lock, so that nobody who holds it is in the way: for who has a port open, which
 * keeps the next launch and its faults away, or holds the lock. */
GYRE_MUST_USE gyre_status gyre_actor_why_ended(gyre_actor *actor);

/* watch.c: GYRE_OK, or it has failed now: for stall_ns a seat has something to do and has not told
 * that it did anything, or tells of more than it was sent. The lock is held. */
GYRE_MUST_USE gyre_status gyre_actor_watch(gyre_actor *actor);

/* Whether a seat tells of more than it was sent, now. */
bool gyre_actor_is_beyond(const gyre_actor *actor);

/* away.c: for others who need the device for a moment: off it, and back to what it was. One that
 * did not leave within stall_ns is what it was, and goes on: GYRE_UNAVAILABLE. One that had been
 * told to end becomes what that order was for, and does not come back. */
GYRE_MUST_USE gyre_status gyre_actor_suspend(gyre_resident *resident);
void gyre_actor_restore(gyre_resident *resident);

/* deadline.c: before the seats begin or are given an order; and when they have begun. The lock is
 * held. */
void gyre_actor_time_ask(gyre_actor *actor);
void gyre_actor_time_learn(gyre_actor *actor);

/* A deadline of the host's clock as the seat compares it, which is told the host's time. */
uint64_t gyre_actor_deadline(gyre_actor *actor, gyre_seat *seat, uint64_t deadline_ns);

/* How it fares, without reading what it printed. Never blocks, but for `view`. */
void gyre_actor_survey(gyre_actor *actor, gyre_actor_statistics *out_statistics);

/* Messages handled, and sent to all seats and not handled, as far as these told. */
uint64_t gyre_actor_processed(const gyre_actor *actor);
uint64_t gyre_actor_waiting(const gyre_actor *actor);

/* Whether this host moves 16 bytes at once: found out at the first question. */
bool gyre_actor_quarters(void);

/* warps.c: how many lanes handle a message and how many warps read, on a GPU; GYRE_INVALID for what
 * no GPU could do. And how many warps do not read: a steward, and where whole blocks handle
 * messages those that do, and a clerk. */
GYRE_MUST_USE gyre_status gyre_actor_plan_warps(gyre_actor *actor);
uint32_t gyre_actor_other_warps(const gyre_actor *actor);

/* bells.c: places the bells of a launch that is planned but for them, and says so in the scheme;
 * and gives back what that took. */
GYRE_MUST_USE gyre_status gyre_bells_take(gyre_actor *actor);
void gyre_bells_give(gyre_actor *actor);

/* The bell of a seat's port, its first replica, as the host has it. */
unsigned char *gyre_bells_of(const gyre_actor *actor, uint32_t seat, uint32_t port);

/* port.c: the ports of a launch, all closed. `first` is what sequences begin with. */
GYRE_MUST_USE gyre_status gyre_ports_create(gyre_actor *actor, uint32_t first);
void gyre_ports_destroy(gyre_actor *actor);

bool gyre_port_is_open(const gyre_port *port);

/* Whether a message waits in its slot for a stream. Any thread. */
bool gyre_port_is_held(const gyre_port *port, uint32_t seat, uint32_t sequence);

/* port_stream.c: lets streams go on that wait for answers of an actor that has ended. */
void gyre_streams_release(gyre_actor *actor);

/* Whether a stream waits for an answer of an actor that is off the device. */
bool gyre_streams_wait(gyre_actor *actor);

/* Waits until no stream reads or writes the mailbox any more: GYRE_OK; GYRE_TIMEOUT. */
GYRE_MUST_USE gyre_status gyre_streams_await(gyre_actor *actor, uint64_t deadline_ns);

/* How many requests and bells a port has sent to a seat, for the gates. Any thread. */
void gyre_port_sent(const gyre_port *port, uint32_t seat, uint32_t *out_requests,
                    uint32_t *out_bells);

#endif
