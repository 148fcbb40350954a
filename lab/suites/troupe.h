/* SPDX-License-Identifier: Apache-2.0
 *
 * troupe: actors on a device, with ports, for a case.
 *
 * Cases that take turns share the context of a device: kernels of two contexts would not be on a
 * GPU at once, but in turns of milliseconds.
 *
 * On the CPU an actor is a thread that spins, so the threads are placed: actors on the last CPUs,
 * the host's on those before. Those of OpenCL on a CPU are the driver's, and only the host's are
 * placed. Where there are too few CPUs, the case is refused with the numbers.
 *
 * Threads   the one that runs the case opens and closes; each port belongs to one.
 * Owns      the actors and ports, and with others of the same device its context.
 */
#ifndef GYRE_SUITES_TROUPE_H
#define GYRE_SUITES_TROUPE_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/actor.h"
#include "gyre/bench.h"
#include "gyre/port.h"
#include "suites/actor_message.h"
#include "suites/device_clock.h"
#include "suites/partner.h"

extern const gyre_behaviour echo_block;
extern const gyre_behaviour echo_quad;
extern const gyre_behaviour echo_warp;
extern const gyre_behaviour sum_payload;
extern const gyre_behaviour tally_block;
extern const gyre_behaviour tally_quad;

enum {
    GYRE_TROUPE_MOST = 256,
    GYRE_TROUPE_PORTS =
        4, /* and as many senders for tally_quad, whose messages have types from 1 on */
    GYRE_TALLY_SEATS = 64,  /* most, for tally_block */
    GYRE_TALLY_SHARED = 64, /* bytes of each block that it needs */
};

/* For everything that is waited for. */
#define GYRE_TROUPE_PATIENCE_NS UINT64_C(30000000000)

typedef struct gyre_troupe_options {
    const gyre_behaviour *behaviour;
    uint32_t actors;  /* as many, or as fit: 0 */
    uint32_t threads; /* of the host that spin, and have a port each; 0: one */
    bool unplaced;    /* threads run where the system puts them */
    gyre_actor_launch_options launch;
} gyre_troupe_options;

/* Zero is a closed one. */
typedef struct gyre_troupe {
    gyre_bench_device *device; /* shared */
    uint32_t count;            /* of actors */
    uint32_t threads;
    gyre_actor *actor[GYRE_TROUPE_MOST];
    gyre_port *port[GYRE_TROUPE_MOST][GYRE_TROUPE_PORTS];
    gyre_partner cpus; /* where the case's thread may run again */
} gyre_troupe;

/* Opens the device of the case and launches. GYRE_UNSUPPORTED, refused with the reason, when they
 * do not all fit. What was begun before a failure is ended again. */
GYRE_MUST_USE gyre_status gyre_troupe_open(gyre_troupe *troupe, const gyre_bench_case *c,
                                           const gyre_troupe_options *options);

/* Ends an open one, or half of one, and its actors. */
void gyre_troupe_close(gyre_troupe *troupe);

/* Reports the device, how many actors there were, how they waited, and who had to share a CPU. */
void gyre_troupe_tell(const gyre_troupe *troupe, gyre_bench_facts *facts);

/* How many replicas the bell of one such actor has on the case's device, with requests in host
 * memory: it is launched, asked and ended. */
GYRE_MUST_USE gyre_status gyre_troupe_replicas(const gyre_bench_case *c,
                                               const gyre_behaviour *behaviour,
                                               uint32_t *out_replicas);

/* The case's value on the axis `threads`. */
uint32_t gyre_troupe_threads(const gyre_bench_case *c);

/* What tally_quad has counted of a sender, or tally_block of all. */
typedef struct gyre_tally {
    uint64_t count;
    uint64_t mix;   /* xor of the last eight bytes */
    uint64_t early; /* that were handled after a later one, or twice; by tally_block */
    uint32_t sum;   /* of first words */
} gyre_tally;

/* Sender 0 has type 1. */
GYRE_MUST_USE gyre_status gyre_tally_read(gyre_actor *actor, uint32_t sender,
                                          gyre_tally *out_tally);

/* Asks every seat, behind what was sent before; each begins once, before anything else. */
GYRE_MUST_USE gyre_status gyre_tally_begin_block(gyre_port *port, uint32_t seats);
GYRE_MUST_USE gyre_status gyre_tally_read_block(gyre_port *port, uint32_t seats,
                                                gyre_tally *out_tally);

/* Whether each message that was sent is in it once. */
GYRE_MUST_USE bool gyre_tally_is(const gyre_tally *tally, const gyre_sent *sent);

#endif
