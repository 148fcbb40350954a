/* SPDX-License-Identifier: Apache-2.0
 *
 * facts: see facts.h.
 */
#include "facts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/quantity.h"
#include "report/terminal.h"

enum { KEY_WIDTH = 24 };

static void underscores_to_blanks(char *words)
{
    for (char *c = words; *c; c++)
        if (*c == '_')
            *c = ' ';
}

/* The key as words: "memory_bytes" reads "memory", for the value shows its own unit. */
static void print_key(const facts *f, const char *key)
{
    char words[64];
    char *unit;

    snprintf(words, sizeof words, "%s", key);
    unit = strstr(words, "_bytes");
    if (unit && unit[6] == '\0')
        *unit = '\0';
    underscores_to_blanks(words);
    fprintf(f->json.stream, "  %-*s", KEY_WIDTH, words);
}

void facts_begin(facts *f)
{
    if (f->as_json)
        gyre_json_begin_object(&f->json, NULL);
}

void facts_end(facts *f)
{
    if (f->as_json)
        gyre_json_end(&f->json);
}

void facts_section(facts *f, const char *name)
{
    FILE *stream = f->json.stream;
    char words[64];

    if (f->as_json) {
        gyre_json_begin_object(&f->json, name);
        return;
    }
    snprintf(words, sizeof words, "%s", name);
    underscores_to_blanks(words);
    fprintf(stream, "%s%s%s\n", gyre_terminal_ink(stream, GYRE_INK_BOLD), words,
            gyre_terminal_ink(stream, GYRE_INK_PLAIN));
}

void facts_section_end(facts *f)
{
    if (f->as_json)
        gyre_json_end(&f->json);
}

void facts_text(facts *f, const char *key, const char *value)
{
    if (f->as_json) {
        gyre_json_string(&f->json, key, value);
        return;
    }
    print_key(f, key);
    gyre_text_print(f->json.stream, *value ? value : "none");
    fputc('\n', f->json.stream);
}

void facts_count(facts *f, const char *key, uint64_t value)
{
    if (f->as_json) {
        gyre_json_unsigned(&f->json, key, value);
        return;
    }
    print_key(f, key);
    fprintf(f->json.stream, "%" PRIu64 "\n", value);
}

void facts_known(facts *f, const char *key, uint64_t value)
{
    if (value > 0)
        facts_count(f, key, value);
    else if (f->as_json)
        gyre_json_string(&f->json, key, NULL);
    else
        facts_text(f, key, "unknown");
}

void facts_bytes(facts *f, const char *key, uint64_t bytes)
{
    if (f->as_json) {
        gyre_json_unsigned(&f->json, key, bytes);
        return;
    }
    print_key(f, key);
    fprintf(f->json.stream, "%s\n", bytes ? gyre_quantity_bytes(bytes).text : "unknown");
}

void facts_real(facts *f, const char *key, double value)
{
    if (f->as_json) {
        gyre_json_double(&f->json, key, value);
        return;
    }
    print_key(f, key);
    if (isnan(value))
        fputs("none\n", f->json.stream);
    else
        fprintf(f->json.stream, "%.4g\n", value);
}

void facts_bool(facts *f, const char *key, bool value)
{
    if (f->as_json) {
        gyre_json_bool(&f->json, key, value);
        return;
    }
    print_key(f, key);
    fprintf(f->json.stream, "%s\n", value ? "yes" : "no");
}
