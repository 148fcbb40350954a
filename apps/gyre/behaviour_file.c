/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_file: see behaviour_file.h.
 */
#include "behaviour_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

enum { MOST_BYTES = 4 << 20 };

static const char macro[] = "GYRE_BEHAVIOUR";

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const char *behaviour_past_asides(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *const end = strstr(at + 2, "*/");

        return end ? end + 2 : at + strlen(at);
    }
    if (at[0] == '"' || at[0] == '\'') {
        const char quote = *at++;

        while (*at && *at != quote && *at != '\n')
            at += at[0] == '\\' && at[1] ? 2 : 1;
        return at + (*at == quote);
    }
    return at;
}

/* The next behaviour from here on: its name, and how long that is. NULL: there is none. */
static const char *next_name(const char *at, size_t *out_length)
{
    while (*at) {
        const char *const after = behaviour_past_asides(at);
        size_t length = 0;

        if (after != at) {
            at = after;
            continue;
        }
        while (is_word(at[length]))
            length++;
        if (length == 0) {
            at++;
            continue;
        }
        at += length;
        if (length != sizeof macro - 1 || memcmp(at - length, macro, length) != 0)
            continue;
        at += strspn(at, " \t\r\n");
        if (*at != '(')
            continue;
        at++;
        at += strspn(at, " \t\r\n");
        *out_length = 0;
        while (is_word(at[*out_length]))
            (*out_length)++;
        if (*out_length > 0)
            return at;
    }
    return NULL;
}

/* Behind a word and what space follows it; NULL: another stands here. */
static const char *past_word(const char *at, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(at, word, length) != 0 || (is_word(word[0]) && is_word(at[length])))
        return NULL;
    at += length;
    return at + strspn(at, " \t\r\n");
}

bool behaviour_names(const char *text, const char *object, const char *member)
{
    for (const char *at = text; *at;) {
        const char *const after = behaviour_past_asides(at);
        const char *next;

        if (after != at) {
            at = after;
            continue;
        }
        if (!is_word(*at)) {
            at++;
            continue;
        }
        next = past_word(at, object);
        next = next ? past_word(next, "->") : NULL;
        if (next && past_word(next, member))
            return true;
        while (is_word(*at))
            at++;
    }
    return false;
}

static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;

    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

gyre_status behaviour_scan(const char *path, const char *text, char name[BEHAVIOUR_NAME_BYTES])
{
    const int path_cut = gyre_text_cut(strlen(path));
    size_t length = 0, other_length = 0;
    const char *const first = next_name(text, &length);
    const char *const second = first ? next_name(first + length, &other_length) : NULL;

    name[0] = '\0';
    if (!first)
        return gyre_fail(GYRE_INVALID,
                         "there is no GYRE_BEHAVIOUR(name, state, width) in '%.*s'; "
                         "gyre/behaviour.h says how one is written",
                         path_cut, path);
    if (second)
        return gyre_fail(GYRE_INVALID,
                         "'%.*s' has two behaviours, '%.*s' in line %zu and '%.*s' in line %zu; "
                         "a file has one",
                         path_cut, path, gyre_text_cut(length), first, line_of(text, first),
                         gyre_text_cut(other_length), second, line_of(text, second));
    if (length >= BEHAVIOUR_NAME_BYTES)
        return gyre_fail(GYRE_INVALID, "'%.*s': a behaviour's name of %zu bytes; %d are the most",
                         path_cut, path, length, BEHAVIOUR_NAME_BYTES - 1);
    memcpy(name, first, length);
    name[length] = '\0';
    return GYRE_OK;
}

/* One byte more is read than a file may have. */
static gyre_status read_text(FILE *stream, behaviour_file *file)
{
    const int path_cut = gyre_text_cut(strlen(file->path));
    size_t size;
    void *block;
    const gyre_status status = gyre_alloc(NULL, MOST_BYTES + 2, 1, &block);

    if (status != GYRE_OK)
        return status;
    file->text = block;
    file->room = MOST_BYTES + 2;
    size = fread(file->text, 1, MOST_BYTES + 1, stream);
    file->text[size] = '\0';
    if (ferror(stream))
        return gyre_fail_native(GYRE_IO, errno, "cannot read '%.*s': %s", path_cut, file->path,
                                strerror(errno));
    if (size > MOST_BYTES)
        return gyre_fail(GYRE_INVALID, "'%.*s' has more than %d bytes: that is no behaviour",
                         path_cut, file->path, MOST_BYTES);
    if (strlen(file->text) != size)
        return gyre_fail(GYRE_INVALID, "'%.*s' has a zero byte in it: that is no C file", path_cut,
                         file->path);
    return GYRE_OK;
}

gyre_status behaviour_text_read(behaviour_file *file, const char *path)
{
    FILE *const stream = fopen(path, "re");
    gyre_status status;

    *file = (behaviour_file){.path = path};
    if (!stream)
        return gyre_fail_native(GYRE_IO, errno, "cannot open '%.*s': %s",
                                gyre_text_cut(strlen(path)), path, strerror(errno));
    status = read_text(stream, file);
    fclose(stream);
    if (status != GYRE_OK)
        behaviour_file_fini(file);
    return status;
}

gyre_status behaviour_file_read(behaviour_file *file, const char *path)
{
    gyre_status status = behaviour_text_read(file, path);

    if (status != GYRE_OK)
        return status;
    status = behaviour_scan(path, file->text, file->name);
    if (status != GYRE_OK)
        behaviour_file_fini(file);
    return status;
}

void behaviour_file_fini(behaviour_file *file)
{
    gyre_free(NULL, file->text, file->room, 1);
    *file = (behaviour_file){0};
}
