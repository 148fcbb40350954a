/* SPDX-License-Identifier: Apache-2.0
 *
 * judge: what replicated launches say about two versions of one benchmark.
 *
 * A launch is a fresh pair of processes that took turns; its word is one number, the median over
 * its pairs of ln(new / old). Launches are the replicates; pairs inside a launch share pages and
 * cores and are not. The mean over the launches has a t interval from their spread.
 *
 * Looks are taken after 8, 16, 32 and 48 launches, and alpha is split over the four. A question is
 * one bound: is the new version slower than old * (1 + bound)? Verdicts are made of such answers,
 * so that `gyre ab` and the margins of a gate are judged alike. Over a suite, Holm's method holds
 * the probability that anything is falsely called faster or slower at alpha; an equivalent is false
 * with that probability each.
 *
 * Everything follows from the launches, in order, and the rule: a file that holds them can be
 * judged again, to the last bit.
 *
 * Threads   any; pure functions on the caller's data.
 * Owns      nothing.
 * Not here  taking launches (main/ab.h), files (record/ab.h), the gate's policy (record/gate.h).
 */
#ifndef GYRE_RECORD_JUDGE_H
#define GYRE_RECORD_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum {
    GYRE_JUDGE_LOOKS = 4,
    GYRE_JUDGE_FIRST = 8,     /* launches until the first look */
    GYRE_JUDGE_LAUNCHES = 48, /* at most */
    GYRE_JUDGE_PAIRS = 100,   /* in a launch, at most */
};

typedef enum gyre_ab_verdict {
    GYRE_AB_UNDECIDED = 0,
    GYRE_AB_EQUIVALENT = 1, /* the change is inside the margin, either way */
    GYRE_AB_FASTER = 2,     /* the new version is, by more than the margin */
    GYRE_AB_SLOWER = 3,
} gyre_ab_verdict;

typedef struct gyre_rule {
    double margin; /* 0.01: changes within 1 % do not matter */
    double alpha;  /* probability that any change of the whole suite is a false one: 0.01 */
} gyre_rule;

/* The answer to one question: the p values, corrected for the looks. */
typedef struct gyre_answer {
    double p_above; /* that it would look so much slower, were it not slower than the bound */
    double p_below; /* that it would look so much faster, were it not faster than the bound; of the
                     * last look alone */
} gyre_answer;

/* Changes are relative: 0.05 is 5 % slower. */
typedef struct gyre_judgement {
    size_t launches;       /* that were judged */
    double change;         /* the estimate */
    double low, high;      /* its interval: each end with alpha split over the looks */
    double hodges_lehmann; /* a sturdier estimate, for display */
    double sd;             /* of the launches, of ln(new / old) */
    double mde;            /* what a change must be to be found with probability 0.9 */
    double p_slower, p_faster, p_equivalent; /* corrected for the looks, not for the suite */
    gyre_ab_verdict verdict;
} gyre_judgement;

/* The word of one launch: the median of ln(new / old) over `pairs` pairs, 1 to GYRE_JUDGE_PAIRS, of
 * times above 0. */
double gyre_judge_launch(const double *old_ns, const double *new_ns, size_t pairs);

/* Whether a look is due after so many launches. */
bool gyre_judge_is_look(size_t launches);

/* How many launches there are to be at the next look after so many; `launches` when that was the
 * last. */
size_t gyre_judge_next_look(size_t launches);

/* One question about `bound`, relative, more than -1. With fewer than two launches both p are 1. */
gyre_answer gyre_judge_ask(const double *words, size_t launches, double bound);

/* The judgement of one benchmark that is alone in its suite. With fewer than two launches it is
 * undecided, and the interval is without end. */
gyre_judgement gyre_judge(const double *words, size_t launches, const gyre_rule *rule);

/* Whether launches may end here, in a suite of `family` benchmarks: only at a look. */
bool gyre_judge_settled(const gyre_judgement *judgement, const gyre_rule *rule, size_t family);

/* Makes the verdicts of a whole suite, by Holm's method. `judgements` are those that were judged;
 * `family` is at least `count`: what failed still counts. GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_judge_suite(gyre_judgement *judgements, size_t count, size_t family,
                                           const gyre_rule *rule);

/* "undecided", "equivalent", "faster", "slower". Borrowed, static. */
const char *gyre_ab_verdict_name(gyre_ab_verdict verdict);

#endif
