/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn: makes the process of a worker: which program, its words and environment, what it inherits.
 *
 * Threads   one.
 * Owns      nothing: the process and the descriptors are the caller's.
 * Not here  listening to it and ending it (main/worker.h).
 */
#ifndef GYRE_MAIN_SPAWN_H
#define GYRE_MAIN_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/topology.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "main/program.h"

enum { GYRE_SPAWN_FAILED = 127 }; /* its exit status when exec failed, with the reason on stderr */

/* What the process is told, through GYRE_WORKER. */
typedef struct gyre_worker_order {
    int fd;           /* where it writes messages */
    int parent;       /* whose child it is */
    unsigned purpose; /* gyre_purpose */
    uint64_t seed;
    uint64_t ids_hash; /* of the list of cases, which it must come to as well */
    size_t first, count;
    int baton_fd; /* shared with the other side (bench/baton.h); -1 none */
    int side;     /* gyre_turn */
} gyre_worker_order;

/* How it is started. Zero is plainly. */
typedef struct gyre_worker_start {
    const gyre_program *program; /* NULL: this one, by the words that started it */
    bool is_command;             /* it gets no order, and what it prints to stdout is not read */
    const char *const *in_front; /* command and arguments that run the program; ends with NULL */
    int preload_fd;              /* library to put in front of it; 0 none */
    const gyre_cpu_set *cpus;    /* that it may run on; NULL all */
    uint64_t timeout_ns;         /* longest without a sign of life; 0 any */
    void (*tick)(void *user);    /* called about ten times a second while waiting */
    void (*echo)(void *user, const char *bytes, size_t length); /* told what it prints */
    void *user;
} gyre_worker_start;

/* Starts the process, the leader of a group of its own, with `output` for what it prints and the
 * descriptors of order and start left open. GYRE_IO or GYRE_NO_MEMORY with the reason. */
GYRE_MUST_USE gyre_status gyre_spawn(const gyre_worker_order *order, const gyre_worker_start *start,
                                     int output, pid_t *out_pid);

/* The order in GYRE_WORKER's text. GYRE_INVALID when it is none. */
GYRE_MUST_USE gyre_status gyre_worker_order_parse(const char *text, gyre_worker_order *out_order);

#endif
