/* SPDX-License-Identifier: Apache-2.0
 *
 * peers: one piece of work done in one way: with Gyre, with somebody else's library, or bare.
 *
 * Each library has a file of its own in this folder, which exports a table of its ways; the build
 * links those that could be compiled into one program, and its runner (runner/) takes turns between
 * them. What a work is, and how many threads take part in it, stands in runner/works.c; ways of the
 * same work move the same bytes through the same capacity, and say so where they cannot.
 *
 * Threads   the runner calls `run` and `hand_over` once in each thread that takes part, all at the
 *           same time, and everything else alone.
 * Owns      a way owns what it created until it is destroyed.
 * Not here  clocks, repetition, judging (runner/).
 */
#ifndef GYRE_PEERS_H
#define GYRE_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PEERS_CAPACITY = 1024,  /* items that a queue holds */
    PEERS_CHANNEL = 100,    /* items that a channel of commands holds, as in the seeds */
    PEERS_BULK = 32,        /* items that the bulk forms move at once */
    PEERS_PRODUCERS = 4,    /* at most, towards one consumer */
    PEERS_PARAMETERS = 128, /* bytes, of a launch */
};

/* What travels through queues. Every word of it is moved; the first and the last say which it is:
 * its producer, from this bit on, and its number. */
enum { PEERS_PRODUCER_SHIFT = 48 };

typedef struct peers_item8 {
    uint64_t word[1];
} peers_item8;

typedef struct peers_item48 { /* a small command */
    uint64_t word[6];
} peers_item48;

typedef struct peers_item64 {
    uint64_t word[8];
} peers_item64;

/* One thread's part in a sample. */
typedef struct peers_turn {
    uint32_t role;       /* 0 is who sees the end: the consumer, the caller, the only thread */
    uint32_t roles;      /* threads that take part */
    uint64_t count;      /* items, round trips or cycles, of all roles together */
    uint64_t elapsed_ns; /* set by role 0 of a way that leaves something out; else the runner's */
} peers_turn;

/* Where the items of the last sample are. */
typedef struct peers_account {
    uint64_t sent, received, lost;
} peers_account;

/* Texts are static. */
typedef struct peers_way {
    const char *work;      /* what is done: an id of runner/works.c */
    const char *name;      /* how: "spsc_queue" */
    const char *capacity;  /* "1024", "none": it grows */
    const char *policy;    /* when full: "retry", "block", "drop oldest" */
    const char *in_flight; /* items between the two sides, at most */
    bool lossless;
    const char *aside; /* why it is shown and not compared; NULL: it is compared */
    void *(*create)(void);
    /* Does turn->count times what the work is. Role 0 returns how many of them came out right, in
     * order and unharmed; the others anything. */
    uint64_t (*run)(void *state, peers_turn *turn);
    /* The same kind of object goes from role 1 to role 0, or back, `count` times; as `run`. */
    uint64_t (*hand_over)(void *state, peers_turn *turn);
    /* After each sample, untimed: takes out what is left and compares it; false when something is
     * not where it should be. NULL: nothing is left. */
    bool (*settle)(void *state, peers_account *out_account);
    void (*destroy)(void *state);
} peers_way;

typedef enum peers_kind {
    PEERS_PEER = 0,
    PEERS_GYRE = 1,  /* the first way of each work is its figure, the others are shown */
    PEERS_FLOOR = 2, /* the least that the machine can do for that work */
} peers_kind;

typedef struct peers_library {
    const char *name, *version;
    peers_kind kind;
    const peers_way *ways;
    size_t count;
} peers_library;

/* What the build made of the libraries; written by peers/build, or by a test. */
typedef struct peers_absent {
    const char *name, *reason;
} peers_absent;

extern const peers_library *const peers_libraries[]; /* ends with NULL */
extern const peers_absent peers_absents[];           /* ends with a name of NULL */

/* For ways, from the runner. */

/* Nanoseconds of the clock that everything is measured with. */
uint64_t peers_now_ns(void);

/* Between two tries of something that was full or empty: pauses, and after a while yields the CPU.
 * `tries` counts those since the last success. False: the runner has given the sample up, return.
 */
bool peers_wait(uint32_t *tries);

/* Whether the runner has given the sample up; for loops in which nothing ever has to wait, and yet
 * everything takes for ever. */
bool peers_is_over(void);

/* The compiler must have the bytes in memory here, and believe that they may have changed. */
static inline void peers_keep(void *bytes)
{
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
