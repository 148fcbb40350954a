/* SPDX-License-Identifier: Apache-2.0
 *
 * board_file: a notice board as bytes, and the file that holds them (docs/formats/board.md).
 *
 * The owner maps the file and writes; everybody else reads it by pread, so that an owner who cuts
 * it short harms himself only. A line has a sequence, odd while the line is being written: a line
 * that was read between two looks at an even sequence, which is the same both times, is whole.
 *
 * What is wrong with a board is a phrase, not a status: finding one is no failure of the caller's.
 *
 * Threads   one writer; any number of readers, of any process. Edge: [board-line].
 * Owns      nothing; the mapping is the caller's.
 * Not here  what is written when (actor/board.c), finding boards (actor/board_read.c).
 */
#ifndef GYRE_ACTOR_BOARD_FILE_H
#define GYRE_ACTOR_BOARD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/board.h"

#define GYRE_BOARD_FOLDER "/dev/shm"

enum { GYRE_BOARD_VERSION = 1, GYRE_BOARD_LINES = 256, GYRE_BOARD_NAME = 64 };

/* Words are those of the machine: nobody else reads them. */
typedef struct gyre_board_head {
    char magic[4]; /* "GYRB"; written last */
    uint32_t version;
    uint64_t size; /* of the file */
    uint64_t started;
    uint64_t space;   /* of process numbers: the inode of /proc/self/ns/pid */
    uint64_t told_ns; /* when the owner last wrote, by CLOCK_MONOTONIC */
    uint32_t pid;
    uint32_t lines;
    char program[48];
    unsigned char zero[32];
} gyre_board_head;

/* One actor. All zero: none. */
typedef struct gyre_board_line {
    uint64_t launch; /* from 1 */
    uint32_t status, incarnation, seats, replicas, last_error, zero;
    uint64_t processed, failed, dropped, waiting;
    double mean_ns;
    uint64_t min_ns, max_ns;
    uint64_t launched_ns, told_ns;
    char actor[32], behaviour[48], device[24];
    unsigned char rest[48];
} gyre_board_line;

typedef struct gyre_board_file {
    gyre_board_head head;
    uint64_t sequence[GYRE_BOARD_LINES];
    gyre_board_line line[GYRE_BOARD_LINES];
} gyre_board_file;

_Static_assert(sizeof(gyre_board_head) == 128, "head");
_Static_assert(offsetof(gyre_board_head, started) == 16, "started");
_Static_assert(offsetof(gyre_board_head, pid) == 40, "pid");
_Static_assert(offsetof(gyre_board_head, program) == 48, "program");
_Static_assert(sizeof(gyre_board_line) == 256, "line");
_Static_assert(offsetof(gyre_board_line, processed) == 32, "processed");
_Static_assert(offsetof(gyre_board_line, mean_ns) == 64, "mean_ns");
_Static_assert(offsetof(gyre_board_line, launched_ns) == 88, "launched_ns");
_Static_assert(offsetof(gyre_board_line, actor) == 104, "actor");
_Static_assert(offsetof(gyre_board_line, device) == 184, "device");
_Static_assert(offsetof(gyre_board_file, line) == 2176, "lines");
_Static_assert(sizeof(gyre_board_file) == 67712, "file");

/* Whose board it is: three numbers that no two processes ever share, and the file's name. */
typedef struct gyre_board_owner {
    uint32_t uid, pid;
    uint64_t started;
} gyre_board_owner;

/* This process; false when /proc does not tell. */
GYRE_MUST_USE bool gyre_board_self(gyre_board_owner *out_owner);

/* The inode that stands for this process's numbering of processes; 0 when nobody tells. */
uint64_t gyre_board_space(void);

void gyre_board_name(const gyre_board_owner *owner, char name[GYRE_BOARD_NAME]);
GYRE_MUST_USE bool gyre_board_name_read(const char *name, gyre_board_owner *out_owner);

/* What a process's stat of /proc tells. Pure. */
typedef struct gyre_board_process {
    char state; /* 'Z': it has ended, if no other thread goes on */
    uint64_t threads, started;
} gyre_board_process;

GYRE_MUST_USE bool gyre_board_process_read(const char *stat, gyre_board_process *out_process);

typedef enum gyre_board_life {
    GYRE_BOARD_LIVES,
    GYRE_BOARD_GONE,   /* and its number may be another's */
    GYRE_BOARD_UNSURE, /* nobody tells, or the process is another user's */
} gyre_board_life;

gyre_board_life gyre_board_life_of(const gyre_board_owner *owner);

/* CLOCK_MONOTONIC itself: gyre_clock_now_ns is of one process. */
uint64_t gyre_board_now_ns(void);

/* Makes the owner's file and maps it: no lines. NULL, or which step failed, with errno; nothing
 * stays behind then. A forked child does not have the mapping. */
const char *gyre_board_make(const char *path, const gyre_board_owner *owner, const char *program,
                            gyre_board_file **out_file);

/* Writes a line so that a reader sees all of it, or the one before, or that it is being written. By
 * one thread. */
void gyre_board_write(gyre_board_file *file, size_t index, const gyre_board_line *line);

/* Says that the owner was here. */
void gyre_board_beat(gyre_board_file *file);

void gyre_board_unmap(gyre_board_file *file);

/* Reads the first bytes of a file. NULL, or why it is no board of ours; then all of `out_head` is
 * zero. Pure. */
const char *gyre_board_head_read(const void *bytes, size_t size, gyre_board_head *out_head);

/* What a line says, in `out_row`, whose other fields stay. False when there is no actor on it, or
 * none that could be. Pure. */
GYRE_MUST_USE bool gyre_board_line_read(const gyre_board_line *line, gyre_board_row *out_row);

/* board_read.c: gyre_board_visit for boards in another folder. Without `visit` only removes boards
 * of processes that are no more. */
GYRE_MUST_USE gyre_status gyre_board_visit_in(const char *folder,
                                              bool (*visit)(void *user, const gyre_board_row *row),
                                              void *user);

#endif
