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
    &verb_bench, &verb_compare, &verb_report, &verb_info, &verb_doctor, &verb_env, &verb_help, NULL,
};

enum { COMMON_HELP, COMMON_COLOR, COMMON_COUNT };

const gyre_option gyre_common_options[] = {
    [COMMON_HELP] = {"--help", 'h', NULL, "print this help"},
    [COMMON_COLOR] = {"--color", 'c', "auto|always|never", "coloured output (default GYRE_COLOR)"},
    {NULL, 0, NULL, NULL},
};

const gyre_verb *verb_find(const char *name)
{
    for (size_t i = 0; gyre_verbs[i]; i++)
        if (strcmp(gyre_verbs[i]->name, name) == 0)
            return gyre_verbs[i];
    return NULL;
}

static const char *verb_name_at(const void *verbs, size_t index)
{
    const gyre_verb *verb = ((const gyre_verb *const *)verbs)[index];

    return verb ? verb->name : NULL;
}

static const char *word_at(const void *words, size_t index)
{
    return ((const char *const *)words)[index];
}

gyre_status verb_unknown(const char *name)
{
    static const char *const bare[] = {"--help", "--version", NULL};
    const bool is_option = name[0] == '-';
    const char *what = is_option ? "option" : "verb";
    const char *guess = is_option ? gyre_text_nearest(name, word_at, bare)
                                  : gyre_text_nearest(name, verb_name_at, gyre_verbs);

    if (guess)
        return gyre_fail(GYRE_INVALID, "there is no %s '%.*s'; did you mean '%s'?", what,
                         gyre_text_cut(strlen(name)), name, guess);
    return gyre_fail(GYRE_INVALID, "there is no %s '%.*s' here; 'gyre help' lists the verbs", what,
                     gyre_text_cut(strlen(name)), name);
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
        return verb_unknown(argv[0]);
    while ((*out_verb)->options[own].name)
        own++;
    assert(COMMON_COUNT + own <= GYRE_OPTIONS_MAX);
    memcpy(rows, gyre_common_options, COMMON_COUNT * sizeof rows[0]);
    memcpy(rows + COMMON_COUNT, (*out_verb)->options, (own + 1) * sizeof rows[0]);
    status = gyre_args_parse(rows, (*out_verb)->most_operands, argc - 1, argv + 1, &all);
    if (status != GYRE_OK)
        return status;
    memcpy(out_args->value, all.value + COMMON_COUNT, own * sizeof all.value[0]);
    for (size_t i = 0; i < all.repeat_count; i++) {
        if (all.repeat[i].row < COMMON_COUNT)
            continue;
        out_args->repeat[out_args->repeat_count].row = all.repeat[i].row - COMMON_COUNT;
        out_args->repeat[out_args->repeat_count++].value = all.repeat[i].value;
    }
    memcpy(out_args->operands, all.operands, sizeof all.operands);
    out_args->operand_count = all.operand_count;
    *out_color = all.value[COMMON_COLOR];
    *out_help = gyre_args_given(&all, COMMON_HELP);
    return GYRE_OK;
}
