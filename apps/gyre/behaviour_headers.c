/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_headers: see behaviour_headers.h.
 */
#include "behaviour_headers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

enum { DEEPEST = 64 };

static const char own[] = "gyre/"; /* what the library brings */

static const char *past_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Behind a word and blanks; NULL: another stands here. */
static const char *past_word(const char *at, const char *word)
{
    const size_t length = strlen(word);
    char next;

    if (strncmp(at, word, length) != 0)
        return NULL;
    next = at[length];
    if ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_' ||
        (next >= '0' && next <= '9'))
        return NULL;
    return past_blanks(at + length);
}

/* Whether a condition is that there is a host; `alone`: and nothing else. */
static bool asks_for_host(const char *at, bool alone)
{
    const char *const defined = past_word(at, "defined");
    const char *name;

    if (!defined)
        return false;
    name = past_word(defined[0] == '(' ? past_blanks(defined + 1) : defined, "GYRE_HOST");
    if (name && defined[0] == '(')
        name = name[0] == ')' ? past_blanks(name + 1) : NULL;
    return name && (strchr("\r\n/", name[0]) || (name[0] == '&' && !alone));
}

static void open_condition(behaviour_conditions *c, bool host, bool other)
{
    const uint64_t bit = c->depth < DEEPEST ? UINT64_C(1) << c->depth : 0;

    c->depth++;
    c->host = host ? c->host | bit : c->host & ~bit;
    c->other = other ? c->other | bit : c->other & ~bit;
}

/* What follows #else or #elif is not for devices when what was before is. */
static void turn_condition(behaviour_conditions *c)
{
    const uint64_t bit = c->depth > 0 && c->depth <= DEEPEST ? UINT64_C(1) << (c->depth - 1) : 0;

    c->host = c->other & bit ? c->host | bit : c->host & ~bit;
}

/* Takes note of a condition; `at` is behind the #. */
static void note_condition(behaviour_conditions *c, const char *at)
{
    const char *rest;

    if ((rest = past_word(at, "ifdef")) != NULL) {
        open_condition(c, past_word(rest, "GYRE_HOST") != NULL, false);
    } else if ((rest = past_word(at, "ifndef")) != NULL) {
        open_condition(c, false, past_word(rest, "GYRE_HOST") != NULL);
    } else if ((rest = past_word(at, "if")) != NULL) {
        const bool zero = rest[0] == '0' && strchr(" \t\r\n/", rest[1]);

        open_condition(c, zero || asks_for_host(rest, false),
                       rest[0] == '!' && asks_for_host(past_blanks(rest + 1), true));
    } else if (past_word(at, "else") || past_word(at, "elif")) {
        turn_condition(c);
    } else if (past_word(at, "endif") && c->depth > 0) {
        c->depth--;
        c->host &= c->depth < DEEPEST ? (UINT64_C(1) << c->depth) - 1 : UINT64_MAX;
    }
}

/* The name between quotes that a directive includes; `at` is behind the #. */
static bool is_header(const char *at, const char **out_name, size_t *out_length)
{
    const char *const quote = past_word(at, "include");

    if (!quote || *quote != '"')
        return false;
    *out_name = quote + 1;
    *out_length = strcspn(quote + 1, "\"\n");
    return quote[1 + *out_length] == '"' && *out_length > 0;
}

bool behaviour_next_header(const char **in_out_at, behaviour_conditions *conditions,
                           const char **out_name, size_t *out_length)
{
    const char *at = *in_out_at;
    bool found = false;

    while (*at && !found) {
        const char *const after = behaviour_past_asides(at);

        if (*at == '#' && !conditions->inside) {
            note_condition(conditions, past_blanks(at + 1));
            found = conditions->host == 0 && is_header(past_blanks(at + 1), out_name, out_length);
        }
        if (after != at) {
            conditions->inside |= *at != '/'; /* a comment is as good as a blank */
            at = after;
        } else if (at[0] == '\\' && at[1] == '\n') {
            at += 2;
        } else {
            if (*at == '\n')
                conditions->inside = false;
            else if (*at != ' ' && *at != '\t')
                conditions->inside = true;
            at++;
        }
    }
    *in_out_at = at;
    return found;
}

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* One that is there by this name already. */
static gyre_status meet(const behaviour_headers *h, size_t index, const char *path)
{
    if (same_file(h->paths[index], path))
        return GYRE_OK;
    return gyre_fail(GYRE_INVALID,
                     "two headers are included as \"%s\", '%.*s' and '%.*s': give one of them "
                     "another name",
                     h->names[index], gyre_text_cut(strlen(h->paths[index])), h->paths[index],
                     gyre_text_cut(strlen(path)), path);
}

/* A header by the name that `from` includes it by. */
static gyre_status add(behaviour_headers *h, const behaviour_file *from, const char *name,
                       size_t length)
{
    const char *const slash = strrchr(from->path, '/');
    const size_t folder = name[0] != '/' && slash ? (size_t)(slash - from->path) + 1 : 0;
    char path[PATH_MAX];
    gyre_status status;

    if (length >= BEHAVIOUR_HEADER_BYTES || folder + length >= sizeof path)
        return gyre_fail(GYRE_INVALID, "'%.*s' includes a header by a name of %zu bytes",
                         gyre_text_cut(strlen(from->path)), from->path, length);
    snprintf(path, sizeof path, "%.*s%.*s", (int)folder, from->path, (int)length, name);
    for (size_t i = 0; i < h->count; i++)
        if (strlen(h->names[i]) == length && memcmp(h->names[i], name, length) == 0)
            return meet(h, i, path);
    if (access(path, F_OK) != 0) {
        if (!h->missing_from) {
            snprintf(h->missing, sizeof h->missing, "%.*s", (int)length, name);
            h->missing_from = from->path;
        }
        return GYRE_OK;
    }
    if (h->count == BEHAVIOUR_HEADERS_MOST)
        return gyre_fail(GYRE_INVALID,
                         "a behaviour has %d headers of its own at most; '%.*s' is "
                         "one more",
                         BEHAVIOUR_HEADERS_MOST, gyre_text_cut(strlen(path)), path);
    snprintf(h->names[h->count], sizeof h->names[0], "%.*s", (int)length, name);
    memcpy(h->paths[h->count], path, sizeof path);
    status = behaviour_text_read(&h->files[h->count], h->paths[h->count]);
    if (status != GYRE_OK)
        return status;
    h->list[h->count] = (gyre_include){h->names[h->count], h->files[h->count].text};
    h->count++;
    return GYRE_OK;
}

static gyre_status add_all(behaviour_headers *h, const behaviour_file *from)
{
    behaviour_conditions conditions = {0};
    gyre_status status = GYRE_OK;
    const char *at = from->text, *name;
    size_t length;

    while (status == GYRE_OK && behaviour_next_header(&at, &conditions, &name, &length))
        if (strncmp(name, own, sizeof own - 1) != 0)
            status = add(h, from, name, length);
    return status;
}

gyre_status behaviour_headers_read(behaviour_headers *headers, const behaviour_file *file)
{
    gyre_status status;

    memset(headers, 0, sizeof *headers);
    status = add_all(headers, file);
    for (size_t i = 0; status == GYRE_OK && i < headers->count; i++)
        status = add_all(headers, &headers->files[i]);
    if (status != GYRE_OK)
        behaviour_headers_fini(headers);
    return status;
}

void behaviour_headers_fini(behaviour_headers *headers)
{
    for (size_t i = 0; i < headers->count; i++)
        behaviour_file_fini(&headers->files[i]);
    headers->list[0] = (gyre_include){NULL, NULL};
    headers->count = 0;
}
