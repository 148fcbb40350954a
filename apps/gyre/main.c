/* SPDX-License-Identifier: Apache-2.0
 *
 * main: finds the verb, prepares the library, runs the verb, and makes sure that the output
 * arrived.
 *
 * --start-only and --prepare-only end the process before and after preparing the library: the suite
 * `base` measures the difference.
 */
#include <stdio.h>
#include <string.h>

#include "gyre/library.h"
#include "gyre/settings.h"
#include "verb.h"

static int usage_error(const gyre_verb *verb)
{
    fprintf(stderr, "gyre: %s\n", gyre_error_last()->text);
    if (verb)
        fprintf(stderr, "gyre: 'gyre %s --help' lists its options\n", verb->name);
    return GYRE_EXIT_USAGE;
}

/* Options that stand before, or instead of, a verb; -1 when the word is none of them. */
static int run_bare_option(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        manual_overview(stdout);
        return GYRE_EXIT_DONE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("gyre %s\n", gyre_version());
        return GYRE_EXIT_DONE;
    }
    if (strcmp(word, "--start-only") == 0)
        return GYRE_EXIT_DONE;
    if (strcmp(word, "--prepare-only") == 0)
        return gyre_prepare() == GYRE_OK ? GYRE_EXIT_DONE : GYRE_EXIT_ENVIRONMENT;
    return -1;
}

static int run(int argc, char **argv)
{
    const gyre_verb *verb;
    gyre_common common;
    gyre_args args;
    int code;

    if (argc < 2) {
        manual_overview(stderr);
        return GYRE_EXIT_USAGE;
    }
    code = argc == 2 ? run_bare_option(argv[1]) : -1;
    if (code >= 0)
        return code;
    if (verb_parse(argc - 1, argv + 1, &verb, &args, &common) != GYRE_OK)
        return usage_error(verb);
    if (common.color && gyre_settings_set("GYRE_COLOR", common.color) != GYRE_OK)
        return usage_error(verb);
    if (common.help) {
        manual_verb(stdout, verb);
        return GYRE_EXIT_DONE;
    }
    /* env shows a malformed setting in its place; everything else refuses to work with one */
    if (gyre_settings_check() != GYRE_OK && verb != &verb_env && verb != &verb_help) {
        fprintf(stderr, "gyre: %s\ngyre: 'gyre env' lists the settings\n", gyre_error_last()->text);
        return GYRE_EXIT_ENVIRONMENT;
    }
    return verb->run(&args, argc, argv);
}

int main(int argc, char **argv)
{
    return gyre_args_flush("gyre", run(argc, argv));
}
