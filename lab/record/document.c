/* SPDX-License-Identifier: Apache-2.0
 *
 * document: see document.h.
 */
#include "record/document.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "bench/case.h"

enum { NAME_BYTES = 96, REASON_BYTES = 56 };

static const size_t MOST_BYTES = (size_t)1 << 30;

const char *gyre_document_tail(const char *name)
{
    const size_t length = strlen(name);

    if (length <= NAME_BYTES)
        return name;
    name += length - NAME_BYTES;
    while (((unsigned char)*name & 0xC0) == 0x80) /* not the rest of a character */
        name++;
    return name;
}

gyre_status gyre_document_damaged(const gyre_document_kind *kind, const char *name,
                                  const char *what)
{
    return gyre_fail(GYRE_CORRUPT, "'%s': %s; %s", gyre_document_tail(name), what,
                     kind->remedy ? kind->remedy : "it is damaged: remove it or choose another");
}

static gyre_status not_json(const gyre_document_kind *kind, const char *name,
                            const json_error_t *error)
{
    char what[REASON_BYTES + 32];

    if (json_error_code(error) == json_error_out_of_memory)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory reading '%s'", gyre_document_tail(name));
    snprintf(what, sizeof what, "line %d: %.*s", error->line, REASON_BYTES, error->text);
    return gyre_document_damaged(kind, name, what);
}

static gyre_status check_schema(const gyre_document_kind *kind, const json_t *root,
                                const char *name)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const size_t length = strlen(kind->family);
    char *end = NULL;
    unsigned long number = 0;

    if (schema && strncmp(schema, kind->family, length) == 0) {
        number = strtoul(schema + length, &end, 10);
        if (strcmp(schema + length, "1") == 0)
            return GYRE_OK;
    }
    if (number > 1 && *end == '\0')
        return gyre_fail(
            GYRE_UNSUPPORTED,
            "'%s' was written by a newer Gyre (%.20s): update Gyre, remove the file or "
            "choose another",
            gyre_document_tail(name), schema);
    return gyre_fail(GYRE_CORRUPT, "'%s' is not %s (%s1); choose another", gyre_document_tail(name),
                     kind->what, kind->family);
}

/* Hands the root on if it is of the kind. */
static gyre_status accept(const gyre_document_kind *kind, json_t *root, const char *name,
                          json_t **out_root)
{
    const gyre_status status = check_schema(kind, root, name);

    if (status == GYRE_OK)
        *out_root = root;
    else
        json_decref(root);
    return status;
}

gyre_status gyre_document_parse(const gyre_document_kind *kind, const char *bytes, size_t length,
                                const char *name, json_t **out_root)
{
    json_error_t error;
    json_t *root;

    *out_root = NULL;
    root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    return root ? accept(kind, root, name, out_root) : not_json(kind, name, &error);
}

typedef struct source {
    FILE *stream;
    size_t left; /* bytes that may still come */
    bool large;  /* more came */
    int error;   /* errno of a read that failed */
} source;

static size_t give_bytes(void *buffer, size_t size, void *arg)
{
    source *from = arg;
    const size_t got = fread(buffer, 1, size, from->stream);

    if (ferror(from->stream))
        from->error = errno ? errno : EIO;
    from->large = got > from->left;
    if (from->error || from->large)
        return (size_t)-1;
    from->left -= got;
    return got;
}

static gyre_status cannot_read(const char *path, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return gyre_fail_native(GYRE_NOT_FOUND, error, "there is no file '%s'",
                                gyre_document_tail(path));
    return gyre_fail_native(GYRE_IO, error, "cannot read '%s': %s", gyre_document_tail(path),
                            strerror(error));
}

/* Says so before a gigabyte is read, where that can be known. */
static bool is_large(FILE *stream)
{
    struct stat about;

    return fstat(fileno(stream), &about) == 0 && S_ISREG(about.st_mode) &&
           (uintmax_t)about.st_size > MOST_BYTES;
}

gyre_status gyre_document_read(const gyre_document_kind *kind, const char *path, json_t **out_root)
{
    source from = {.stream = fopen(path, "rbe"), .left = MOST_BYTES};
    json_error_t error;
    gyre_status status;
    json_t *root = NULL;

    *out_root = NULL;
    if (!from.stream)
        return cannot_read(path, errno);
    from.large = is_large(from.stream);
    if (!from.large)
        root = json_load_callback(give_bytes, &from, JSON_REJECT_DUPLICATES, &error);
    if (root)
        status = accept(kind, root, path, out_root);
    else if (from.error)
        status = cannot_read(path, from.error);
    else if (from.large)
        status = gyre_fail(GYRE_UNSUPPORTED, "'%s' is larger than 1 GiB: choose another",
                           gyre_document_tail(path));
    else
        status = not_json(kind, path, &error);
    fclose(from.stream);
    return status;
}

void gyre_document_check_ids(const char **ids, size_t count, gyre_complaint *complaint)
{
    const char *twin = gyre_ids_twin(ids, count);

    if (twin && !complaint->text[0])
        snprintf(complaint->text, sizeof complaint->text, "the id '%.64s' is there twice", twin);
}
