/* SPDX-License-Identifier: Apache-2.0
 *
 * board: which actors the processes of this machine keep alive, and how they fare.
 *
 * A process that has launched an actor keeps a notice board, a small file in /dev/shm
 * (docs/formats/board.md), and writes on it four times a second how its actors are. Whoever may
 * read that file can look, `gyre top` for one: the same user, and root. Nobody can change anything
 * by it. GYRE_BOARD=off keeps none.
 *
 * What others wrote is not trusted: texts have no control characters, and a row is whole, or not
 * shown. Boards of processes that are no more are removed by whoever looks and may.
 *
 * Threads   any.
 * Owns      nothing.
 * Not here  actors of this process (gyre/actor.h), devices (gyre/monitor.h).
 */
#ifndef GYRE_BOARD_H
#define GYRE_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/actor.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* One actor of a process, as that process told. */
typedef struct gyre_board_row {
    size_t struct_size; /* of the library's struct: a newer one has more at its end */
    uint32_t pid;       /* of the process */
    uint32_t uid;       /* whose process it is */
    uint64_t started;   /* clock ticks from boot to its start: processes of one number differ */
    uint64_t age_ns;    /* since it last wrote on its board; more than a second or two: it does not
                         * get to it, or is stopped */
    char program[48];
    uint64_t launch; /* counts launches of all actors of the process */
    char actor[32], behaviour[48];
    char device[24];          /* as that process calls it: "cuda:0" */
    gyre_actor_status status; /* */
    uint32_t incarnation;     /* which launch of this actor it is */
    uint32_t seats, replicas;
    uint32_t last_error;     /* as are those above and below, see gyre_actor_statistics */
    uint64_t processed;      /* */
    uint64_t failed;         /* */
    uint64_t dropped;        /* */
    uint64_t waiting;        /* */
    double mean_ns;          /* */
    uint64_t min_ns, max_ns; /* */
    uint64_t launched_ns;    /* when, by CLOCK_MONOTONIC, which processes share; */
    uint64_t told_ns;        /* and when the counts were taken */
} gyre_board_row;

/* Hands every row of every board that can be read to `visit`, by process and launch, until that
 * returns false. This process is among them. No row when there is no /dev/shm; GYRE_NO_MEMORY.
 * Reads memory, and may sleep for milliseconds when somebody is writing; not for signal handlers.
 */
GYRE_API GYRE_MUST_USE gyre_status gyre_board_visit(bool (*visit)(void *user,
                                                                  const gyre_board_row *row),
                                                    void *user);

GYRE_END_DECLS

#endif
