/* SPDX-License-Identifier: Apache-2.0
 *
 * verb: what a verb of the gyre command is.
 *
 * A verb parses by its table of options, calls the library, prints, and maps the outcome to an exit
 * status (base/args.h). Help, manual page and completion are printed from the same tables.
 *
 * Threads   verbs run on the main thread.
 * Owns      nothing.
 * Not here  any decision about numbers: those are the library's.
 */
#ifndef GYRE_VERB_H
#define GYRE_VERB_H

#include <stddef.h>
#include <stdio.h>

#include "base/args.h"

typedef struct gyre_verb {
    const char *name;
    const char *operands; /* "[FILTER...]"; "" when it takes none */
    size_t most_operands;
    const char *summary;        /* a phrase, no full stop */
    const char *description;    /* sentences; lines are broken when printed */
    const gyre_option *options; /* ends with a row without name; --help and --color are common */
    /* argc and argv are the whole command line, for verbs that record it. */
    int (*run)(const gyre_args *args, int argc, char **argv);
} gyre_verb;

extern const gyre_verb verb_ab;
extern const gyre_verb verb_behaviour;
extern const gyre_verb verb_bench;
extern const gyre_verb verb_cache;
extern const gyre_verb verb_compare;
extern const gyre_verb verb_doctor;
extern const gyre_verb verb_env;
extern const gyre_verb verb_gate;
extern const gyre_verb verb_help;
extern const gyre_verb verb_history;
extern const gyre_verb verb_info;
extern const gyre_verb verb_report;
extern const gyre_verb verb_selftest;
extern const gyre_verb verb_top;

/* All verbs, NULL-terminated, in the order in which help lists them. */
extern const gyre_verb *const gyre_verbs[];

/* Reads the words after "gyre". On success the verb, its arguments, and the common options, which
 * have been taken out. GYRE_INVALID with a sentence, and then `out_verb` is the verb when it was
 * found. Touches only its arguments. */
GYRE_MUST_USE gyre_status verb_parse(int argc, char *const *argv, const gyre_verb **out_verb,
                                     gyre_args *out_args, gyre_common *out_common);

/* The verb of that name, or NULL. */
const gyre_verb *verb_find(const char *name);

/* GYRE_INVALID with a sentence about a word that is no verb, and a guess at what was meant. */
gyre_status verb_unknown(const char *name);

/* Which of the names, up to a NULL, a verb's first word is. GYRE_INVALID with a sentence, and a
 * guess at what was meant. Pure. */
GYRE_MUST_USE gyre_status verb_part(const gyre_verb *verb, const char *const *names,
                                    const char *word, size_t *out_part);

/* manual.c: all of it from the tables. */
void manual_overview(FILE *stream);
void manual_verb(FILE *stream, const gyre_verb *verb);
void manual_page(FILE *stream);
void manual_completion(FILE *stream);

#endif
