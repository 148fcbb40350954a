/* SPDX-License-Identifier: Apache-2.0
 *
 * works: the pieces of work that are compared, and the limits that Gyre's figure is held against.
 *
 * A work is measured; a rule makes a row of the table from what was measured. One work may have
 * several rules: a round trip is held against the bare ping-pong and against a peer.
 *
 * Threads   any; the tables are constant.
 * Owns      nothing.
 * Not here  how a library does a work (peers/), how it is measured (runner/measure.h).
 */
#ifndef GYRE_PEERS_RUNNER_WORKS_H
#define GYRE_PEERS_RUNNER_WORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the two CPUs were while a sample was taken; works of one thread have no such place. */
typedef enum peers_class { PEERS_SINGLE = 0, PEERS_NEAR = 1, PEERS_FAR = 2 } peers_class;
enum { PEERS_CLASSES = 3, PEERS_ANY_CLASS = -1 };

enum {
    PEERS_ENOUGH = 20, /* good samples of both sides that a row needs */
    PEERS_TAIL = 50,   /* of Gyre, where their 95th percentile is judged */
    PEERS_ROLES = 5,   /* threads that take part, at most */
};

typedef struct peers_work {
    const char *id;
    const char *what; /* from when to when, and who saw it */
    uint32_t group;   /* works of one group take turns in the same rounds */
    uint32_t roles;   /* threads: 1; 2, pinned to two CPUs; 5, wherever there is room on both */
    uint32_t handed;  /* objects that go to another thread before anything is measured */
    uint64_t count;   /* of a sample; 0: as many as fill its time */
    uint32_t unit;    /* of which that is a multiple; 0: as the threads want it */
    uint32_t samples; /* good ones that Gyre's side should have; 0: PEERS_ENOUGH */
    bool apart;       /* in a process of its own, whose waits never spin */
    double quick_s, full_s; /* the longest that it may take when time is short, and when not */
} peers_work;

size_t peers_work_count(void);
const peers_work *peers_work_at(size_t index); /* NULL past the last */
const peers_work *peers_work_find(const char *id);

/* What Gyre's figure is divided by. */
typedef enum peers_against {
    PEERS_AGAINST_BEST,     /* the fastest of the peers that `library` and `way` allow */
    PEERS_AGAINST_FLOOR,    /* the work's floor */
    PEERS_AGAINST_PINGPONG, /* the bare ping-pong beside each sample */
} peers_against;

typedef enum peers_limit_form {
    PEERS_LIMIT_NONE,          /* printed, not judged */
    PEERS_LIMIT_TIMES,         /* at most `times` as long */
    PEERS_LIMIT_TIMES_OR_PLUS, /* or at most `plus_ns` longer, whichever allows more */
    PEERS_LIMIT_PLUS,          /* at most `plus_ns` longer */
} peers_limit_form;

/* What else a row is held against. */
typedef enum peers_also {
    PEERS_ALSO_NOTHING,
    PEERS_ALSO_TAIL, /* the 95th percentile of Gyre's samples is at most 3 times their median */
    PEERS_ALSO_FLAT, /* Gyre's figure is within 5 % of that of the work `flat_with` */
} peers_also;

typedef struct peers_rule {
    const char *id;   /* of the row */
    const char *work; /* that it is made from */
    peers_against against;
    const char *library; /* NULL: any */
    const char *way;     /* the beginning of its name; NULL: any */
    int class_;          /* peers_class, or PEERS_ANY_CLASS */
    peers_limit_form form;
    double times, plus_ns;
    peers_also also;
    const char *flat_with;
} peers_rule;

const peers_rule *peers_rule_at(size_t index); /* NULL past the last */

/* The work that the rule is about. Borrowed, static. */
const char *peers_rule_work(const peers_rule *rule);

/* Whether Gyre may be compared with that peer. */
bool peers_rule_allows(const peers_rule *rule, const char *library, const char *way);

/* The largest ratio that the rule allows beside a figure of `other_ns`; a rule with a limit. */
double peers_rule_limit(const peers_rule *rule, double other_ns);

/* "0.6x", "max(1.3x, +0.5 ns)", "+50 ns", "-". */
void peers_rule_print_limit(const peers_rule *rule, char *text, size_t size);

/* "single", "near", "far". Borrowed, static. */
const char *peers_class_name(peers_class class_);

#endif
