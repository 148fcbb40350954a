/* SPDX-License-Identifier: Apache-2.0
 *
 * baton: the memory by which two processes run two versions of a benchmark in turns, on the same
 * CPU and never at once.
 *
 * Who has the baton runs; the other sleeps in the kernel. Both sides come to the same order of
 * turns from the seed: blocks ABBA and BAAB, as many of each, shuffled, so that neither a drift of
 * the machine nor the place in a block favours one side. Every epoch leaves when it began and
 * ended, so that whoever started the two can see that they kept to their turns.
 *
 * Threads   one in each of the two processes, and one that watches and may end it.
 * Owns      the mapping, from gyre_baton_open to gyre_baton_close.
 * Not here  what is done in a turn (bench/turns.h), the processes (lab/main/pair.h).
 */
#ifndef GYRE_BENCH_BATON_H
#define GYRE_BENCH_BATON_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_BATON_PAIRS = 100, GYRE_BATON_VERSION = 1 };

/* Whose turn it is. */
typedef enum gyre_turn {
    GYRE_TURN_OLD = 0,
    GYRE_TURN_NEW = 1,
    GYRE_TURN_NOBODY = 2, /* not both are set up */
    GYRE_TURN_OVER = 3,   /* for good: nobody waits any more */
} gyre_turn;

enum { GYRE_SIDES = 2 };

#define GYRE_BATON_LEAST_NS 1e-9 /* that an epoch takes */

extern const char *const gyre_side_names[GYRE_SIDES]; /* "old", "new" */

typedef struct gyre_epoch {
    uint64_t start_ns, end_ns; /* with what is prepared untimed, by the system's clock */
    double time_ns;            /* of the timed part, by the benchmark's clock */
} gyre_epoch;

/* Zero but for version, seed and turn when it is made. All but the first three and `taken` is
 * written by who has the baton, and read by who has it later or after GYRE_TURN_OVER. */
typedef struct gyre_baton {
    uint32_t version;
    uint32_t turn;    /* gyre_turn; shared, and a futex */
    uint32_t arrived; /* sides that are set up, a bit each; shared */
    uint32_t pairs;   /* the plan, made by who does not lead: even, 2 to GYRE_BATON_PAIRS */
    uint64_t iterations;
    uint64_t seed;                                   /* of the order */
    double spent_ns[GYRE_SIDES];                     /* on one iteration, and what it needs */
    uint32_t taken[GYRE_SIDES];                      /* epochs so far; shared: a sign of life */
    gyre_epoch epochs[GYRE_SIDES][GYRE_BATON_PAIRS]; /* the i-th of each make the i-th pair */
} gyre_baton;

/* Makes one in memory that can be passed on as a descriptor; GYRE_IO with the reason. */
GYRE_MUST_USE gyre_status gyre_baton_create(uint64_t seed, int *out_fd, gyre_baton **out_baton);

/* Maps the one behind a descriptor. GYRE_UNSUPPORTED when another version made it. */
GYRE_MUST_USE gyre_status gyre_baton_open(int fd, gyre_baton **out_baton);
void gyre_baton_close(gyre_baton *baton);

/* The side that has the first turn, by the seed: neither is always the first to do anything. */
gyre_turn gyre_baton_leader(const gyre_baton *baton);

/* That side is set up. The second to say so gives the leader its turn. */
void gyre_baton_arrive(gyre_baton *baton, gyre_turn side);

/* Sleeps until it is that turn. GYRE_CLOSED when it is over instead, GYRE_CANCELLED when
 * `interrupted` (NULL: never) is set. */
GYRE_MUST_USE gyre_status gyre_baton_wait(gyre_baton *baton, gyre_turn turn,
                                          const volatile sig_atomic_t *interrupted);

/* Hands it on. What is over stays over. Never blocks. */
void gyre_baton_pass(gyre_baton *baton, gyre_turn to);

/* The order of `pairs` pairs, even: 2 * pairs letters A (old) and B (new), and a zero. */
void gyre_baton_order(uint64_t seed, size_t pairs, char letters[2 * GYRE_BATON_PAIRS + 1]);

/* Whether there is a plan that can be carried out: the other side may have written anything. */
bool gyre_baton_planned(const gyre_baton *baton);

/* Whether both sides ran all their epochs, one after another in that order, each of some time. */
bool gyre_baton_kept(const gyre_baton *baton);

#endif
