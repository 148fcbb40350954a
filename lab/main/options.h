/* SPDX-License-Identifier: Apache-2.0
 *
 * options: the benchmark command line: its table, and what its words ask for.
 *
 * Threads   any; on the caller's data.
 * Owns      nothing: a request points into the arguments.
 * Not here  doing it (main/bench_main.c).
 */
#ifndef GYRE_MAIN_OPTIONS_H
#define GYRE_MAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/args.h"
#include "base/topology.h"
#include "bench/case.h"
#include "bench/filter.h"
#include "bench/method.h"
#include "bench/schedule.h"
#include "gyre/common.h"
#include "gyre/status.h"
#include "report/terminal.h"

/* The rows, for whoever parses or prints them. */
extern const gyre_option gyre_bench_options[];

typedef enum gyre_format {
    GYRE_FORMAT_CRITERION = 0, /* text, result by result */
    GYRE_FORMAT_BENCHER = 1,   /* the others at the end */
    GYRE_FORMAT_JSON = 2,
    GYRE_FORMAT_CSV = 3,
    GYRE_FORMAT_GOOGLE = 4,
    GYRE_FORMAT_HTML = 5,
} gyre_format;

/* A behaviour of the user's own, and what is sent to it. */
typedef struct gyre_behaviour_request {
    const char *file;        /* NULL: none */
    uint16_t type;           /* of the messages */
    uint32_t seats, threads; /* 0: the default */
    unsigned char body[40];  /* what they carry, zeros behind it */
    size_t body_bytes;       /* that were given */
    size_t payload_bytes;    /* that they refer to; 0: nothing */
    uint32_t shared_bytes;   /* of a block */
    bool list;               /* nothing will be run */
    bool worker;             /* this is a process that Gyre has started */
} gyre_behaviour_request;

typedef struct gyre_request {
    gyre_case_choice choice;
    const char *skip[GYRE_FILTER_PATTERNS], *axes[GYRE_FILTER_PATTERNS]; /* behind `choice` */
    gyre_method method;
    bool own_times; /* the user said how long to measure */
    bool quick;
    gyre_order order;
    gyre_isolation isolation;
    bool memory, instructions;
    uint64_t timeout_ns, cooldown_ns;
    gyre_cpu_set cpus;
    bool pinned; /* to `cpus` */

    bool list, terse;
    gyre_format format;
    gyre_detail detail;
    bool quiet, plots;

    const char *folder;        /* for results */
    bool keep;                 /* anything at all */
    const char *save;          /* the baseline to write; NULL none */
    const char *compare_with;  /* the baseline to read; NULL none */
    bool lenient;              /* it need not be there */
    const char *load;          /* the baseline that stands for this run; NULL: measure */
    const char *export_folder; /* for Criterion's layout; NULL none */
    const char *targets;       /* NULL none */
    const char *trace;         /* the file for the trace; NULL none */
    gyre_behaviour_request behaviour;
} gyre_request;

/* GYRE_INVALID with a sentence about the first thing that is wrong. */
GYRE_MUST_USE gyre_status gyre_request_read(const gyre_args *args, gyre_request *out_request);

/* Shortens the times of measuring so that `cases` take no longer than a run should: about 100 s
 * when quick, 800 s else. Whether it did. Times that the user gave stay. */
bool gyre_request_fit(gyre_request *request, size_t cases);

#endif
