/* SPDX-License-Identifier: Apache-2.0
 *
 * compare: a run against a base run, benchmark by benchmark.
 *
 * Only what was measured in both is judged; what one of them lacks is listed, or refused.
 *
 * Threads   one.
 * Owns      the lists of ids, until gyre_compared_fini.
 * Not here  the judging of one benchmark (bench/analyse.h), exit statuses (main/).
 */
#ifndef GYRE_RECORD_COMPARE_H
#define GYRE_RECORD_COMPARE_H

#include <stddef.h>

#include "bench/arena.h"
#include "bench/method.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "record/run.h"

typedef enum gyre_missing {
    GYRE_MISSING_SKIPPED = 0, /* a benchmark that the base has not measured is left alone */
    GYRE_MISSING_REFUSED = 1, /* it is an error, and nothing is judged */
} gyre_missing;

enum { GYRE_VERDICTS = GYRE_VERDICT_REGRESSED + 1 };

/* Ids, borrowed from the runs. */
typedef struct gyre_id_list {
    const char **ids;
    size_t count;
} gyre_id_list;

typedef struct gyre_compared {
    size_t count;                   /* of benchmarks that were judged */
    size_t verdicts[GYRE_VERDICTS]; /* how many of them got each, by gyre_verdict */
    gyre_id_list only_run;          /* measured in the run, but not in the base */
    gyre_id_list only_base;         /* and the other way round */
    gyre_id_list unjudged; /* measured in both, but there is no ratio: times of 0 in the base */
    gyre_arena arena;
} gyre_compared;

/* Judges each result of `run` that was measured there and in `base`, which is called `name`, and
 * leaves the answer in its `change`; other results have none afterwards. GYRE_NOT_FOUND with the
 * first benchmark that the base lacks, if that is refused, and GYRE_NO_MEMORY; there is nothing to
 * fini then. */
GYRE_MUST_USE gyre_status gyre_compare(gyre_run *run, const gyre_run *base, const char *name,
                                       const gyre_method *method, gyre_missing missing,
                                       gyre_compared *out_compared);
void gyre_compared_fini(gyre_compared *compared);

#endif
