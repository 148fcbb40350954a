/* SPDX-License-Identifier: Apache-2.0
 *
 * manual: help, manual page and completion, printed from the tables of verbs and settings.
 */
#include <string.h>

#include "gyre/library.h"
#include "gyre/settings.h"
#include "verb.h"

enum { WIDTH = 80 };

static const char about[] = "Gyre is a library for programs that stay alive on the GPU; this "
                            "command measures it, and tells "
                            "what the machine is and what will disturb measurements.";

static const struct {
    const char *status, *meaning;
} exits[] = {
    {"0", "done"},
    {"1", "a gate, a check or a benchmark failed"},
    {"2", "the command line is wrong"},
    {"3", "something is missing, unreadable or unwritable"},
    {"130", "interrupted"},
};

/* Prose in lines of WIDTH. */
static void print_wrapped(FILE *stream, const char *text)
{
    int column = 0;

    while (*text) {
        const int length = (int)strcspn(text, " ");

        if (column > 0 && column + 1 + length > WIDTH) {
            fputc('\n', stream);
            column = 0;
        }
        fprintf(stream, "%s%.*s", column > 0 ? " " : "", length, text);
        column += length + (column > 0);
        text += length + (text[length] == ' ');
    }
    fputc('\n', stream);
}

void manual_overview(FILE *stream)
{
    fputs("usage: gyre VERB [OPTIONS] [ARGUMENTS]\n\n", stream);
    print_wrapped(stream, about);
    fputs("\nverbs:\n", stream);
    for (size_t i = 0; gyre_verbs[i]; i++)
        fprintf(stream, "  %-10s %s\n", gyre_verbs[i]->name, gyre_verbs[i]->summary);
    fputs("\n'gyre help VERB' explains one; 'gyre --version' prints the version.\n", stream);
}

void manual_verb(FILE *stream, const gyre_verb *verb)
{
    fprintf(stream, "usage: gyre %s [OPTIONS]%s%s\n\n", verb->name, verb->operands[0] ? " " : "",
            verb->operands);
    print_wrapped(stream, verb->description);
    fputs("\noptions:\n", stream);
    gyre_args_help(stream, verb->options);
    gyre_args_help(stream, gyre_args_common());
}

/* Text for roff: backslashes and hyphens escaped, a leading dot or quote kept from being a
 * request. */
static void put_roff(FILE *stream, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stream);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stream);
        else if (*text == '-')
            fputs("\\-", stream);
        else
            fputc(*text, stream);
    }
}

/* ".TP", a bold term with an italic argument, and its explanation. */
static void put_term(FILE *stream, const char *term, const char *argument, const char *text)
{
    fputs(".TP\n\\fB", stream);
    put_roff(stream, term);
    fputs("\\fR", stream);
    if (argument) {
        fputs(" \\fI", stream);
        put_roff(stream, argument);
        fputs("\\fR", stream);
    }
    fputc('\n', stream);
    put_roff(stream, text);
    fputc('\n', stream);
}

static void put_options(FILE *stream, const gyre_option *options)
{
    for (size_t i = 0; options[i].name; i++) {
        char term[64];

        if (options[i].letter)
            snprintf(term, sizeof term, "-%c, %s", options[i].letter, options[i].name);
        else
            snprintf(term, sizeof term, "%s", options[i].name);
        put_term(stream, term, options[i].argument, options[i].help);
    }
}

void manual_page(FILE *stream)
{
    fprintf(stream, ".TH GYRE 1 \"\" \"gyre %s\" \"User Commands\"\n", gyre_version());
    fputs(".SH NAME\ngyre \\- measure Gyre, and the machine it runs on\n", stream);
    fputs(".SH SYNOPSIS\n", stream);
    for (size_t i = 0; gyre_verbs[i]; i++) {
        if (i > 0)
            fputs(".br\n", stream);
        fprintf(stream, "\\fBgyre %s\\fR [\\fIOPTIONS\\fR] ", gyre_verbs[i]->name);
        put_roff(stream, gyre_verbs[i]->operands);
        fputc('\n', stream);
    }
    fputs(".SH DESCRIPTION\n", stream);
    put_roff(stream, about);
    fputs("\n.SH COMMON OPTIONS\n", stream);
    put_options(stream, gyre_args_common());
    put_term(stream, "-V, --version", NULL, "instead of a verb: print the version");
    for (size_t i = 0; gyre_verbs[i]; i++) {
        fputs(".SH \"GYRE ", stream);
        for (const char *c = gyre_verbs[i]->name; *c; c++)
            fputc(*c - 'a' + 'A', stream);
        fputs("\"\n", stream);
        put_roff(stream, gyre_verbs[i]->description);
        fputc('\n', stream);
        put_options(stream, gyre_verbs[i]->options);
    }
    fputs(".SH ENVIRONMENT\n", stream);
    for (size_t i = 0; gyre_settings_at(i); i++)
        put_term(stream, gyre_settings_at(i)->name, gyre_settings_at(i)->form,
                 gyre_settings_at(i)->help);
    fputs(".SH EXIT STATUS\n", stream);
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++)
        put_term(stream, exits[i].status, NULL, exits[i].meaning);
}

/* The words that complete the value of an option: the choices, or files for anything else. */
static void put_value_case(FILE *stream, const gyre_option *option)
{
    if (!option->argument)
        return;
    fprintf(stream, "        %s) ", option->name);
    if (strchr(option->argument, '|')) {
        fputs("COMPREPLY=($(compgen -W '", stream);
        for (const char *c = option->argument; *c; c++)
            fputc(*c == '|' ? ' ' : *c, stream);
        fputs("' -- \"$word\")); return ;;\n", stream);
    } else if (strcmp(option->argument, "DIR") == 0) {
        fputs("COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n", stream);
    } else {
        fputs("return ;;\n", stream);
    }
}

static void put_names(FILE *stream, const gyre_option *options)
{
    for (size_t i = 0; options[i].name; i++)
        fprintf(stream, " %s", options[i].name);
}

/* The words of "[a|b|c] [RUN]", which are operands as they stand. */
static void put_words(FILE *stream, const char *operands)
{
    const size_t length = strcspn(operands, "]");

    if (operands[0] != '[' || operands[1] < 'a' || operands[1] > 'z')
        return;
    for (size_t i = 0; i < length; i++)
        fputc(operands[i] == '[' || operands[i] == '|' ? ' ' : operands[i], stream);
}

void manual_completion(FILE *stream)
{
    fputs("# bash completion for gyre; printed by 'gyre help --completion'\n"
          "_gyre()\n"
          "{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words\n"
          "    COMPREPLY=()\n"
          "    case $before in\n",
          stream);
    for (size_t i = 0; gyre_args_common()[i].name; i++)
        put_value_case(stream, &gyre_args_common()[i]);
    for (size_t v = 0; gyre_verbs[v]; v++)
        for (size_t i = 0; gyre_verbs[v]->options[i].name; i++)
            put_value_case(stream, &gyre_verbs[v]->options[i]);
    fputs("    esac\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words='--help --version",
          stream);
    for (size_t v = 0; gyre_verbs[v]; v++)
        fprintf(stream, " %s", gyre_verbs[v]->name);
    fputs("'\n    else\n        case ${COMP_WORDS[1]} in\n", stream);
    for (size_t v = 0; gyre_verbs[v]; v++) {
        fprintf(stream, "            %s) words='", gyre_verbs[v]->name);
        fputs("--help --color", stream);
        put_names(stream, gyre_verbs[v]->options);
        put_words(stream, gyre_verbs[v]->operands);
        if (gyre_verbs[v] == &verb_help)
            for (size_t i = 0; gyre_verbs[i]; i++)
                fprintf(stream, " %s", gyre_verbs[i]->name);
        fputs("' ;;\n", stream);
    }
    fputs("        esac\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "}\n"
          "complete -F _gyre gyre\n",
          stream);
}
