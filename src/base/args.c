/* SPDX-License-Identifier: Apache-2.0
 *
 * args: see args.h.
 */
#include "base/args.h"

#include <assert.h>
#include <errno.h>
#include <stdio_ext.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

enum { HELP_COLUMN = 30 };

static size_t row_count(const gyre_option *options)
{
    size_t count = 0;

    while (options[count].name)
        count++;
    assert(count <= GYRE_OPTIONS_MAX);
    return count;
}

/* The row of "--name", of "--name=value" or of "-n"; the number of rows when there is none. */
static size_t find_row(const gyre_option *options, const char *word, size_t length)
{
    size_t i = 0;

    for (; options[i].name; i++) {
        if (strlen(options[i].name) == length && strncmp(options[i].name, word, length) == 0)
            break;
        if (length == 2 && options[i].letter && word[1] == options[i].letter)
            break;
    }
    return i;
}

static const char *name_at(const void *options, size_t index)
{
    return ((const gyre_option *)options)[index].name;
}

static gyre_status unknown_option(const gyre_option *options, const char *word, size_t length)
{
    char name[65];
    const char *nearest;

    snprintf(name, sizeof name, "%.*s", gyre_text_cut(length), word);
    nearest = gyre_text_nearest(name, name_at, options);
    if (nearest)
        return gyre_fail(GYRE_INVALID, "there is no option '%s'; did you mean '%s'?", name,
                         nearest);
    return gyre_fail(GYRE_INVALID, "there is no option '%s'", name);
}

/* Takes one option at argv[*at]; moves on over its value. */
static gyre_status take_option(const gyre_option *options, int argc, char *const *argv, int *at,
                               gyre_args *args)
{
    const char *word = argv[*at];
    const bool is_long = word[1] == '-';
    const size_t length = is_long ? strcspn(word, "=") : 2;
    const size_t row = find_row(options, word, length);
    const gyre_option *option = &options[row];
    const char *attached = is_long && word[length] == '=' ? word + length + 1
                           : !is_long && word[2]          ? word + 2
                                                          : NULL;

    if (!option->name)
        return unknown_option(options, word, is_long ? length : strlen(word));
    if (!option->argument) {
        if (attached)
            return gyre_fail(GYRE_INVALID, "option '%s' takes no value", option->name);
        args->value[row] = "";
        return GYRE_OK;
    }
    if (!attached && *at + 1 < argc)
        attached = argv[++*at];
    if (!attached)
        return gyre_fail(GYRE_INVALID, "option '%s' needs a value: %s", option->name,
                         option->argument);
    if (strchr(option->argument, '|') && gyre_text_choice(option->argument, attached) < 0)
        return gyre_fail(GYRE_INVALID, "option '%s' takes %s, not '%.*s'", option->name,
                         option->argument, gyre_text_cut(strlen(attached)), attached);
    if (args->repeat_count == GYRE_REPEATS_MAX)
        return gyre_fail(GYRE_INVALID, "more than %d options with a value", GYRE_REPEATS_MAX);
    args->repeat[args->repeat_count].row = row;
    args->repeat[args->repeat_count++].value = attached;
    args->value[row] = attached;
    return GYRE_OK;
}

gyre_status gyre_args_parse(const gyre_option *options, size_t most_operands, int argc,
                            char *const *argv, gyre_args *out_args)
{
    bool only_operands = false;

    memset(out_args, 0, sizeof *out_args);
    assert(most_operands <= GYRE_OPERANDS_MAX);
    (void)row_count(options);
    for (int at = 0; at < argc; at++) {
        const char *word = argv[at];

        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            const gyre_status status = take_option(options, argc, argv, &at, out_args);

            if (status != GYRE_OK)
                return status;
        } else {
            if (out_args->operand_count == most_operands)
                return gyre_fail(GYRE_INVALID, "'%.*s' is one word too many",
                                 gyre_text_cut(strlen(word)), word);
            out_args->operands[out_args->operand_count++] = word;
        }
    }
    return GYRE_OK;
}

enum { COMMON_HELP, COMMON_COLOR, COMMON_COUNT };

static const gyre_option common_rows[] = {
    [COMMON_HELP] = {"--help", 'h', NULL, "print this help"},
    [COMMON_COLOR] = {"--color", 'c', "auto|always|never", "coloured output (default GYRE_COLOR)"},
    {NULL, 0, NULL, NULL},
};

const gyre_option *gyre_args_common(void)
{
    return common_rows;
}

gyre_status gyre_args_parse_common(const gyre_option *options, size_t most_operands, int argc,
                                   char *const *argv, gyre_args *out_args, gyre_common *out_common)
{
    gyre_option rows[GYRE_OPTIONS_MAX + 1]; /* the common ones, then the command's */
    const size_t own = row_count(options);
    gyre_args all;
    gyre_status status;

    assert(COMMON_COUNT + own <= GYRE_OPTIONS_MAX);
    memset(out_args, 0, sizeof *out_args);
    *out_common = (gyre_common){0};
    memcpy(rows, common_rows, COMMON_COUNT * sizeof rows[0]);
    memcpy(rows + COMMON_COUNT, options, (own + 1) * sizeof rows[0]);
    status = gyre_args_parse(rows, most_operands, argc, argv, &all);
    if (status != GYRE_OK)
        return status;
    memcpy(out_args->value, all.value + COMMON_COUNT, own * sizeof all.value[0]);
    for (size_t i = 0; i < all.repeat_count; i++) {
        if (all.repeat[i].row < COMMON_COUNT)
            continue;
        out_args->repeat[out_args->repeat_count] = all.repeat[i];
        out_args->repeat[out_args->repeat_count++].row -= COMMON_COUNT;
    }
    memcpy(out_args->operands, all.operands, sizeof all.operands);
    out_args->operand_count = all.operand_count;
    out_common->help = gyre_args_given(&all, COMMON_HELP);
    out_common->color = all.value[COMMON_COLOR];
    return GYRE_OK;
}

size_t gyre_args_values(const gyre_args *args, size_t index, const char **values, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < args->repeat_count; i++)
        if (args->repeat[i].row == index && count < most)
            values[count++] = args->repeat[i].value;
    return count;
}

void gyre_args_help(FILE *stream, const gyre_option *options)
{
    for (size_t i = 0; options[i].name; i++) {
        const gyre_option *o = &options[i];
        char left[80], letter[5] = "    ";

        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "  %s%s%s%s", letter, o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        if (strlen(left) < HELP_COLUMN)
            fprintf(stream, "%-*s%s\n", HELP_COLUMN, left, o->help);
        else
            fprintf(stream, "%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
    }
}

int gyre_args_flush(const char *program, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "%s: cannot write the output: %s; free some space, or write it elsewhere\n",
            program, strerror(errno));
    __fpurge(stdout); /* said once, and not tried again at exit */
    clearerr(stdout);
    return GYRE_EXIT_ENVIRONMENT;
}
