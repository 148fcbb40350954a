/* SPDX-License-Identifier: Apache-2.0
 *
 * verb: the table of verbs, and reading a command line by it. See verb.h.
 */
#include "verb.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

const gyre_verb *const gyre_verbs[] = {
    &verb_bench, &verb_info, &verb_doctor, &verb_env, &verb_help, NULL,
};

enum { COMMON_HELP, COMMON_COLOR, COMMON_COUNT };

const gyre_option gyre_common_options[] = {
    [COMMON_HELP] = {"--help", 'h', NULL, "print this help"},
    [COMMON_COLOR] = {"--color", 0, "auto|always|never", "coloured output (default GYRE_COLOR)"},
    {NULL, 0, NULL, NULL},
};

const gyre_verb *verb_find(const char *name)
{
    for (size_t i = 0; gyre_verbs[i]; i++)
        if (strcmp(gyre_verbs[i]->name, name) == 0)
            return gyre_verbs[i];
    return NULL;
}

const gyre_verb *verb_guess(const char *name)
{
    const gyre_verb *nearest = NULL;
    size_t best = (size_t)-1;

    for (size_t i = 0; gyre_verbs[i]; i++) {
        const size_t distance = gyre_text_distance(name, gyre_verbs[i]->name);

        if (distance < best && gyre_text_resembles(name, gyre_verbs[i]->name)) {
            best = distance;
            nearest = gyre_verbs[i];
        }
    }
    return nearest;
}

static gyre_status unknown_verb(const char *name)
{
    const gyre_verb *guess = verb_guess(name);
    char shown[65];

    snprintf(shown, sizeof shown, "%s", name);
    gyre_text_plain(shown);
    if (name[0] == '-')
        return gyre_fail(GYRE_INVALID,
                         "there is no option '%s'; '--help' and '--version' may stand "
                         "before a verb",
                         shown);
    if (guess)
        return gyre_fail(GYRE_INVALID, "there is no verb '%s'; did you mean '%s'?", shown,
                         guess->name);
    return gyre_fail(GYRE_INVALID, "there is no verb '%s'; 'gyre help' lists them", shown);
}

gyre_status verb_parse(int argc, char *const *argv, const gyre_verb **out_verb, gyre_args *out_args,
                       const char **out_color, bool *out_help)
{
    gyre_option rows[GYRE_OPTIONS_MAX + 1]; /* the common ones, then the verb's */
    gyre_args all;
    size_t own = 0;
    gyre_status status;

    *out_verb = NULL;
    *out_color = NULL;
    *out_help = false;
    memset(out_args, 0, sizeof *out_args);
    if (argc == 0)
        return gyre_fail(GYRE_INVALID, "say what to do; 'gyre help' lists the verbs");
    *out_verb = verb_find(argv[0]);
    if (!*out_verb)
        return unknown_verb(argv[0]);
    while ((*out_verb)->options[own].name)
        own++;
    assert(COMMON_COUNT + own <= GYRE_OPTIONS_MAX);
    memcpy(rows, gyre_common_options, COMMON_COUNT * sizeof rows[0]);
    memcpy(rows + COMMON_COUNT, (*out_verb)->options, (own + 1) * sizeof rows[0]);
    status = gyre_args_parse(rows, (*out_verb)->most_operands, argc - 1, argv + 1, &all);
    if (status != GYRE_OK)
        return status;
    memcpy(out_args->value, all.value + COMMON_COUNT, own * sizeof all.value[0]);
    memcpy(out_args->operands, all.operands, sizeof all.operands);
    out_args->operand_count = all.operand_count;
    *out_color = all.value[COMMON_COLOR];
    *out_help = gyre_args_given(&all, COMMON_HELP);
    return GYRE_OK;
}
