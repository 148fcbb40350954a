/* SPDX-License-Identifier: Apache-2.0
 *
 * args: a command line read by a table of options, and what a command's exit status means.
 *
 * The same table prints the help, the manual page and the completion, so they cannot drift.
 *
 * Threads   any; parsing touches only its arguments.
 * Owns      nothing: values point into argv.
 * Not here  the tables (apps/gyre/verb_*.c, lab/main/).
 */
#ifndef GYRE_BASE_ARGS_H
#define GYRE_BASE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "gyre/common.h"
#include "gyre/status.h"

enum {
    GYRE_EXIT_DONE = 0,
    GYRE_EXIT_FAILED = 1,      /* a gate, a check or a benchmark failed */
    GYRE_EXIT_USAGE = 2,       /* the command line is wrong */
    GYRE_EXIT_ENVIRONMENT = 3, /* something is missing, unreadable or unwritable */
    GYRE_EXIT_UNDECIDED = 4,   /* nothing failed, but not everything could be decided (--strict) */
    GYRE_EXIT_INTERRUPTED = 130,
};

enum { GYRE_OPTIONS_MAX = 64, GYRE_OPERANDS_MAX = 64, GYRE_REPEATS_MAX = 64 };

/* A table of them ends with a row whose name is NULL. */
typedef struct gyre_option {
    const char *name;     /* "--save-baseline" */
    char letter;          /* 's' for -s; 0 for none */
    const char *argument; /* "NAME", "a|b" for a choice; NULL for a flag */
    const char *help;     /* a phrase, no full stop */
} gyre_option;

typedef struct gyre_args {
    const char *value[GYRE_OPTIONS_MAX]; /* by row; NULL when not given, "" for a flag */
    struct {
        size_t row;
        const char *value;
    } repeat[GYRE_REPEATS_MAX]; /* every value that was given, in order */
    size_t repeat_count;
    const char *operands[GYRE_OPERANDS_MAX]; /* what is not an option, in order */
    size_t operand_count;
} gyre_args;

/* Reads argv, the words after the command, by the table. Options may stand anywhere, as "--name
 * value", "--name=value" or "-n value"; the last of several wins, and all are kept; "--" makes the
 * rest operands, of which there may be `most_operands`. GYRE_INVALID with a sentence, and a guess
 * at what was meant, for an unknown option, a missing or unwanted value, a value that is no choice,
 * or too many operands. */
GYRE_MUST_USE gyre_status gyre_args_parse(const gyre_option *options, size_t most_operands,
                                          int argc, char *const *argv, gyre_args *out_args);

/* What every command takes besides its own options: the rows of --help and --color. */
GYRE_API const gyre_option *gyre_args_common(void);

typedef struct gyre_common {
    bool help;
    const char *color; /* NULL when not given */
} gyre_common;

/* The same with the common options, which are taken out: rows are those of `options`. */
GYRE_API GYRE_MUST_USE gyre_status gyre_args_parse_common(const gyre_option *options,
                                                          size_t most_operands, int argc,
                                                          char *const *argv, gyre_args *out_args,
                                                          gyre_common *out_common);

/* Whether row `index` of the table was given. */
static inline bool gyre_args_given(const gyre_args *args, size_t index)
{
    return args->value[index] != NULL;
}

/* All values that row `index` was given, in order, at most `most`; how many. */
GYRE_API size_t gyre_args_values(const gyre_args *args, size_t index, const char **values,
                                 size_t most);

/* The table, one row a line, aligned. */
GYRE_API void gyre_args_help(FILE *stream, const gyre_option *options);

/* Makes sure that what was printed has arrived: `code`, or GYRE_EXIT_ENVIRONMENT and a sentence
 * when a full disk or a closed pipe took it. The last act of a command. */
GYRE_API int gyre_args_flush(const char *program, int code);

#endif
