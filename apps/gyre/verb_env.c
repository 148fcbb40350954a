/* SPDX-License-Identifier: Apache-2.0
 *
 * env: prints every setting, its value, and where the value came from.
 */
#include "base/json.h"
#include "base/text.h"
#include "gyre/settings.h"
#include "report/terminal.h"
#include "verb.h"

enum { JSON };

static const gyre_option options[] = {
    [JSON] = {"--json", 0, NULL, "print as JSON"},
    {NULL, 0, NULL, NULL},
};

static const char *origin_name(gyre_origin origin)
{
    static const char *const names[] = {"default", "environment", "command line"};

    return names[origin];
}

static const char *name_at(const void *unused, size_t index)
{
    const gyre_setting *setting = gyre_settings_at(index);

    (void)unused;
    return setting ? setting->name : NULL;
}

static void print_json(void)
{
    gyre_json json = {.stream = stdout};

    gyre_json_begin_object(&json, NULL);
    gyre_json_begin_array(&json, "settings");
    for (size_t i = 0; gyre_settings_at(i); i++) {
        const gyre_setting *s = gyre_settings_at(i);

        gyre_json_begin_object(&json, NULL);
        gyre_json_string(&json, "name", s->name);
        gyre_json_string(&json, "value", s->value);
        gyre_json_string(&json, "origin", origin_name(s->origin));
        gyre_json_string(&json, "default", s->default_value);
        gyre_json_string(&json, "form", s->form);
        gyre_json_string(&json, "help", s->help);
        gyre_json_string(&json, "problem", s->problem);
        gyre_json_end(&json);
    }
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "unknown");
    for (size_t i = 0; gyre_settings_unknown(i); i++)
        gyre_json_string(&json, NULL, gyre_settings_unknown(i));
    gyre_json_end(&json);
    gyre_json_end(&json);
}

static void print_text(void)
{
    const char *plain = gyre_terminal_ink(stdout, GYRE_INK_PLAIN);

    for (size_t i = 0; gyre_settings_at(i); i++) {
        const gyre_setting *s = gyre_settings_at(i);

        printf("%s%s%s=", gyre_terminal_ink(stdout, GYRE_INK_BOLD), s->name, plain);
        gyre_text_print(stdout, s->value);
        printf("  (%s)\n", origin_name(s->origin));
        printf("    %s\n    takes %s", s->help, s->form);
        if (s->origin != GYRE_ORIGIN_DEFAULT)
            printf("; default '%s'", s->default_value);
        putchar('\n');
        if (s->problem)
            printf("    %srefused%s: %s\n", gyre_terminal_ink(stdout, GYRE_INK_BAD), plain,
                   s->problem);
    }
    for (size_t i = 0; gyre_settings_unknown(i); i++) {
        const char *name = gyre_settings_unknown(i), *near = gyre_text_nearest(name, name_at, NULL);

        printf("%s%s%s is no setting", gyre_terminal_ink(stdout, GYRE_INK_WARN), name, plain);
        if (near)
            printf("; did you mean %s?", near);
        putchar('\n');
    }
}

static int run_env(const gyre_args *args, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (gyre_args_given(args, JSON))
        print_json();
    else
        print_text();
    if (gyre_settings_check() == GYRE_OK)
        return GYRE_EXIT_DONE;
    fflush(stdout);
    fprintf(stderr, "gyre env: %s\n", gyre_error_last()->text);
    return GYRE_EXIT_ENVIRONMENT;
}

const gyre_verb verb_env = {
    .name = "env",
    .operands = "",
    .summary = "print every setting, its value and where it came from",
    .description = "Settings are environment variables; an option of the command line goes before "
                   "the variable, and the variable before the default. Variables that begin with "
                   "GYRE_ and are no settings are listed too, as likely misspellings. Exits with 3 "
                   "when a setting is malformed.",
    .options = options,
    .run = run_env,
};
