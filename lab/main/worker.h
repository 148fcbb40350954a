/* SPDX-License-Identifier: Apache-2.0
 *
 * worker: a process in which this program, or one that it is asked about, visits some of the cases,
 * and which can crash, hang or print without harm.
 *
 * It leads a process group of its own: ending it ends what it has started. It dies with whoever
 * started it. Its input is empty; what it prints is read, counted, and kept at its end.
 *
 * Threads   one.
 * Owns      the process and the pipes to it, from start to stop.
 * Not here  what it does (main/serve.h), which cases it gets (main/supervise.h).
 */
#ifndef GYRE_MAIN_WORKER_H
#define GYRE_MAIN_WORKER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gyre/common.h"
#include "gyre/status.h"
#include "main/message.h"
#include "main/spawn.h"

enum { GYRE_WORDS_BYTES = 2048 };

typedef struct gyre_worker {
    pid_t pid;
    int messages, output; /* -1 when closed */
    int end_fd;           /* readable when it has ended; -1 where the kernel has no such thing */
    bool hung_up;         /* it has closed its end of `messages` */
    gyre_message_reader reader;
    uint64_t timeout_ns, heard_ns, interrupted_ns;
    void (*tick)(void *user);
    void (*echo)(void *user, const char *bytes, size_t length);
    void *user;
    uint64_t printed_bytes;
    char words[GYRE_WORDS_BYTES]; /* the last of what it printed, in a ring */
    bool ended;                   /* by itself: a status is there */
    int status;                   /* of waitpid */
    bool timed_out, gave_up;      /* ended by us: silent too long; deaf to the interrupt */
} gyre_worker;

/* Starts one. GYRE_IO or GYRE_NO_MEMORY with the reason. */
GYRE_MUST_USE gyre_status gyre_worker_init(gyre_worker *worker, const gyre_worker_order *order,
                                           const gyre_worker_start *start);

/* The next message. GYRE_CLOSED when the process has ended or was ended, GYRE_CORRUPT when it
 * speaks nonsense. When *interrupted is 1, the process is asked to stop, and ended if it does not
 * within two seconds; when it is more, it is ended at once. Blocks. */
GYRE_MUST_USE gyre_status gyre_worker_next(gyre_worker *worker,
                                           const volatile sig_atomic_t *interrupted,
                                           gyre_message *out_message);

/* The same without waiting: GYRE_AGAIN when there is no whole message yet. */
GYRE_MUST_USE gyre_status gyre_worker_look(gyre_worker *worker,
                                           const volatile sig_atomic_t *interrupted,
                                           gyre_message *out_message);

/* Waits until there may be something to see at one of them, a tenth of a second at most. */
void gyre_worker_wait(const gyre_worker *const *workers, size_t count);

/* How it ended, as a phrase: "was killed by signal 11 (Segmentation fault)". */
void gyre_worker_epitaph(const gyre_worker *worker, char *text, size_t size);

/* The last of what it printed, cleaned of what could drive a terminal. */
void gyre_worker_last_words(const gyre_worker *worker, char *text, size_t size);

/* Ends the process and everything of its group that is left, and frees what init made. */
void gyre_worker_fini(gyre_worker *worker);

#endif
