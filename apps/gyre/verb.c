/* SPDX-License-Identifier: Apache-2.0
 *
 * verb: the table of verbs, and reading a command line by it. See verb.h.
 */
#include "verb.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"

const gyre_verb *const gyre_verbs[] = {
    &verb_bench,  &verb_compare, &verb_ab,        &verb_gate,  &verb_selftest,
    &verb_report, &verb_history, &verb_behaviour, &verb_cache, &verb_info,
    &verb_doctor, &verb_top,     &verb_env,       &verb_help,  NULL,
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

gyre_status verb_part(const gyre_verb *verb, const char *const *names, const char *word,
                      size_t *out_part)
{
    const char *guess = gyre_text_nearest(word, word_at, names);

    for (*out_part = 0; names[*out_part]; (*out_part)++)
        if (strcmp(names[*out_part], word) == 0)
            return GYRE_OK;
    if (guess)
        return gyre_fail(GYRE_INVALID, "%s has no '%.*s'; did you mean '%s'?", verb->name,
                         gyre_text_cut(strlen(word)), word, guess);
    return gyre_fail(GYRE_INVALID, "%s has no '%.*s'; it takes %s", verb->name,
                     gyre_text_cut(strlen(word)), word, verb->operands);
}

gyre_status verb_parse(int argc, char *const *argv, const gyre_verb **out_verb, gyre_args *out_args,
                       gyre_common *out_common)
{
    *out_verb = NULL;
    *out_common = (gyre_common){0};
    memset(out_args, 0, sizeof *out_args);
    if (argc == 0)
        return gyre_fail(GYRE_INVALID, "say what to do; 'gyre help' lists the verbs");
    *out_verb = verb_find(argv[0]);
    if (!*out_verb)
        return verb_unknown(argv[0]);
    return gyre_args_parse_common((*out_verb)->options, (*out_verb)->most_operands, argc - 1,
                                  argv + 1, out_args, out_common);
}
