/* SPDX-License-Identifier: Apache-2.0
 *
 * text_whole: a behaviour's program with its includes in their places.
 *
 * Headers of Gyre have guards and come once, where they are first asked for; the behaviour's own
 * come as often as they are. What is included by a name that nobody has stays as it is: it is the
 * host's part of a file. A line that is inside a comment is no directive.
 *
 * Threads   any.
 * Owns      nothing.
 */
#include "gyre/behaviour_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "actor/text.h"
#include "base/fail.h"
#include "base/options.h"

enum { DEEPEST = 16, NUMBER_BYTES = 24 };

typedef struct writer {
    char *into;
    size_t room, size;
    const gyre_behaviour *behaviour;
    uint32_t written; /* of gyre_actor_texts, a bit for each */
    int depth;
} writer;

static void put(writer *w, const char *text, size_t length)
{
    const size_t left = w->size + 1 < w->room ? w->room - 1 - w->size : 0;

    if (w->into && left > 0)
        memcpy(w->into + w->size, text, length < left ? length : left);
    w->size += length;
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_line(writer *w, size_t number, const char *file)
{
    char digits[NUMBER_BYTES];

    snprintf(digits, sizeof digits, "%zu", number);
    put_text(w, "#line ");
    put_text(w, digits);
    put_text(w, " \"");
    for (; *file; file++) {
        const char letter = gyre_actor_text_letter(*file);

        put(w, &letter, 1);
    }
    put_text(w, "\"\n");
}

/* Past blanks and a word, if it is there. */
static bool skip(const char **at, const char *word)
{
    while (**at == ' ' || **at == '\t')
        (*at)++;
    if (strncmp(*at, word, strlen(word)) != 0)
        return false;
    *at += strlen(word);
    return true;
}

/* Whether the line includes something, by which name, and where the rest of it begins. */
static bool is_include(const char *line, const char *end, const char **out_name, size_t *out_length,
                       const char **out_rest)
{
    const char *at = line, *last;

    if (!skip(&at, "#") || !skip(&at, "include"))
        return false;
    (void)skip(&at, "");
    if (*at != '"' && *at != '<')
        return false;
    last = memchr(at + 1, *at == '<' ? '>' : '"', (size_t)(end - at) - 1);
    if (!last)
        return false;
    *out_name = at + 1;
    *out_length = (size_t)(last - at) - 1;
    *out_rest = last + 1;
    return true;
}

static const gyre_include *find(const gyre_include *list, const char *name, size_t length)
{
    for (; list && list->name; list++)
        if (strlen(list->name) == length && memcmp(list->name, name, length) == 0)
            return list;
    return NULL;
}

/* Whether a comment is open where the line ends, if one was where it begins or not. */
static bool stays_open(const char *at, const char *end, bool open)
{
    char quote = '\0';

    for (; at < end; at++) {
        if (open) {
            if (at[0] == '*' && at[1] == '/') {
                open = false;
                at++;
            }
        } else if (quote) {
            if (at[0] == '\\')
                at++;
            else if (at[0] == quote)
                quote = '\0';
        } else if (at[0] == '/' && at[1] == '/') {
            return false;
        } else if (at[0] == '/' && at[1] == '*') {
            open = true;
            at++;
        } else if (at[0] == '"' || at[0] == '\'') {
            quote = at[0];
        }
    }
    return open;
}

bool gyre_actor_text_misses(const gyre_behaviour *behaviour, const char *complaint, char *name,
                            size_t room)
{
    for (const char *line = behaviour->text; line && *line;) {
        const char *const end = strchrnul(line, '\n');
        const char *included, *rest;
        size_t length;

        if (is_include(line, end, &included, &length, &rest) && length > 0 &&
            !find(gyre_actor_texts, included, length) &&
            !find(behaviour->includes, included, length) &&
            memmem(complaint, strlen(complaint), included, length)) {
            snprintf(name, room, "%.*s", (int)(length < room ? length : room), included);
            return true;
        }
        line = end + (*end != '\0');
    }
    return false;
}

static gyre_status expand(writer *w, const char *file, const char *text);

/* Whether there is such a text; then it is there now. */
static bool put_include(writer *w, const char *name, size_t length, gyre_status *out_status)
{
    const gyre_include *found = find(gyre_actor_texts, name, length);

    if (found) {
        const uint32_t bit = (uint32_t)1 << (found - gyre_actor_texts);

        if (w->written & bit)
            return true;
        w->written |= bit;
    } else {
        found = find(w->behaviour->includes, name, length);
    }
    if (found && !found->text)
        *out_status = gyre_fail(GYRE_INVALID, "the text of include '%s' is NULL", found->name);
    else if (found)
        *out_status = expand(w, found->name, found->text);
    return found != NULL;
}

static gyre_status expand(writer *w, const char *file, const char *text)
{
    gyre_status status = GYRE_OK;
    bool open = false; /* a comment, where the line begins */
    size_t number = 1;

    if (++w->depth > DEEPEST)
        return gyre_fail(GYRE_INVALID, "behaviour '%s': '%s' includes itself, or %d others",
                         w->behaviour->name ? w->behaviour->name : "", file, DEEPEST);
    put_line(w, 1, file);
    for (const char *line = text; *line && status == GYRE_OK; number++) {
        const char *const end = strchrnul(line, '\n');
        const char *name, *rest = line;
        size_t length;

        if (!open && is_include(line, end, &name, &length, &rest) &&
            put_include(w, name, length, &status))
            put_line(w, number, file);
        else
            rest = line;
        put(w, rest, (size_t)(end - rest));
        put(w, "\n", 1);
        open = stays_open(rest, end, open);
        line = end + (*end != '\0');
    }
    w->depth--;
    return status;
}

static void put_defines(writer *w)
{
    for (const char *const *d = w->behaviour->defines; d && *d; d++) {
        const char *const value = strchr(*d, '=');

        put_text(w, "#define ");
        put(w, *d, value ? (size_t)(value - *d) : strlen(*d));
        put_text(w, " ");
        put_text(w, value ? value + 1 : "1");
        put_text(w, "\n");
    }
}

gyre_status gyre_behaviour_text(const gyre_behaviour *behaviour, gyre_behaviour_language language,
                                char *into, size_t room, size_t *out_size)
{
    const bool cuda = language == GYRE_BEHAVIOUR_IN_CUDA;
    gyre_behaviour mine;
    writer w = {.into = into, .room = into ? room : 0, .behaviour = &mine};
    gyre_status status = GYRE_OPTIONS_READ(mine, behaviour);

    *out_size = 0;
    if (status != GYRE_OK)
        return status;
    if (!mine.text || !mine.file)
        return gyre_fail(GYRE_INVALID, "a behaviour without a text or a file has no program");
    if (!cuda && language != GYRE_BEHAVIOUR_IN_OPENCL)
        return gyre_fail(GYRE_INVALID, "there is no language %d", (int)language);
    put_text(&w, gyre_actor_text_before(cuda));
    put_defines(&w);
    status = expand(&w, mine.file, mine.text);
    if (status == GYRE_OK)
        status = expand(&w, "gyre",
                        cuda ? "#include \"actor/loop_cuda.h\"\n"
                             : "#include \"actor/loop_opencl.h\"\n");
    if (into && w.room > 0)
        into[w.size < w.room ? w.size : w.room - 1] = '\0';
    *out_size = w.size;
    return status;
}
