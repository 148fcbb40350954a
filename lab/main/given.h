/* SPDX-License-Identifier: Apache-2.0
 *
 * given: what an option of a command line was given, as a time, a number, a share or CPUs.
 *
 * An option that was not given leaves the caller's default. One that cannot be understood is
 * GYRE_INVALID with a sentence: "option '--timeout' takes ..., not 'soon'".
 *
 * Threads   any; on the caller's data.
 * Owns      nothing.
 */
#ifndef GYRE_MAIN_GIVEN_H
#define GYRE_MAIN_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/args.h"
#include "base/topology.h"
#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_given {
    const gyre_option *options; /* the table that `args` were read by */
    const gyre_args *args;
} gyre_given;

typedef struct gyre_range {
    double low, high;
    const char *want; /* in words: "a share from 1% to 50%" */
} gyre_range;

/* A time of at least a microsecond and at most a day, or 0 where that means something. */
GYRE_MUST_USE gyre_status gyre_given_time(const gyre_given *given, size_t row, bool may_be_zero,
                                          uint64_t *ns);

/* A whole number of the range. */
GYRE_MUST_USE gyre_status gyre_given_count(const gyre_given *given, size_t row, gyre_range allowed,
                                           uint64_t *count);

/* A number of the range; it may be in per cent if the option's argument says so ("X%"). */
GYRE_MUST_USE gyre_status gyre_given_number(const gyre_given *given, size_t row, gyre_range allowed,
                                            double *number);

/* CPUs that are there and for us; whether some were given goes to `pinned`. */
GYRE_MUST_USE gyre_status gyre_given_cpus(const gyre_given *given, size_t row, gyre_cpu_set *cpus,
                                          bool *pinned);

/* Which of the words "a|b|c"; 0 when it was not given. */
int gyre_given_choice(const gyre_given *given, size_t row);

#endif
