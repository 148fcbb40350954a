/* SPDX-License-Identifier: Apache-2.0
 *
 * help: prints help, the manual page and the completion, all from the tables.
 */
#include <string.h>

#include "verb.h"

enum { MAN, COMPLETION };

static const gyre_option options[] = {
    [MAN] = {"--man", 0, NULL, "print the manual page, for man -l"},
    [COMPLETION] = {"--completion", 0, NULL, "print the completion for bash, to be sourced"},
    {NULL, 0, NULL, NULL},
};

static int run_help(const gyre_args *args, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (gyre_args_given(args, MAN)) {
        manual_page(stdout);
    } else if (gyre_args_given(args, COMPLETION)) {
        manual_completion(stdout);
    } else if (args->operand_count == 0) {
        manual_overview(stdout);
    } else {
        const gyre_verb *verb = verb_find(args->operands[0]);

        if (!verb) {
            (void)!verb_unknown(args->operands[0]);
            fprintf(stderr, "gyre help: %s\n", gyre_error_last()->text);
            return GYRE_EXIT_USAGE;
        }
        manual_verb(stdout, verb);
    }
    return GYRE_EXIT_DONE;
}

const gyre_verb verb_help = {
    .name = "help",
    .operands = "[VERB]",
    .most_operands = 1,
    .summary = "explain a verb, or list them",
    .description = "The manual page and the completion are installed with the program; the options "
                   "print them for anyone who did not install it.",
    .options = options,
    .run = run_help,
};
