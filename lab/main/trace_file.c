/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_file: see trace_file.h.
 */
#include "main/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "record/file.h"

gyre_status gyre_trace_file_open(gyre_trace_file *file, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct stat there;
    gyre_status status = GYRE_OK;
    const bool exists = stat(path, &there) == 0;

    *file = (gyre_trace_file){.path = path};
    if (path[0] == '\0' || (slash && slash[1] == '\0') || (exists && S_ISDIR(there.st_mode)))
        return gyre_fail(GYRE_IO, "--trace: '%.128s' is no name for a file", path);
    if (strlen(path) >= sizeof folder)
        return gyre_fail(GYRE_IO, "--trace: the path '%.64s...' is too long", path);
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (!exists || S_ISREG(there.st_mode)) /* a pipe or a device is written to as it is */
        status = gyre_folder_open(folder);
    if (status != GYRE_OK)
        return status;
    file->spool = tmpfile();
    if (!file->spool)
        return gyre_fail_native(GYRE_IO, errno, "cannot make a temporary file for --trace: %s",
                                strerror(errno));
    return GYRE_OK;
}

/* Whether it is an array of objects, and nothing else. */
static bool is_array(const char *json, size_t length)
{
    json_t *root = json_loadb(json, length, 0, NULL);
    bool right = json_is_array(root) && length > 2;

    for (size_t i = 0; right && i < json_array_size(root); i++)
        right = json_is_object(json_array_get(root, i));
    json_decref(root);
    return right && json[0] == '[' && json[length - 1] == ']';
}

void gyre_trace_file_add(gyre_trace_file *file, const char *json, size_t length, uint64_t lost)
{
    file->lost += lost;
    if (file->error || !file->spool)
        return;
    if (!is_array(json, length)) {
        file->lost++;
        return;
    }
    errno = 0;
    if ((file->some && fputs(",\n", file->spool) < 0) ||
        fwrite(json + 1, 1, length - 2, file->spool) != length - 2)
        file->error = errno ? errno : EIO;
    file->some = true;
}

typedef struct joined {
    gyre_trace_file *file;
    const gyre_case_list *list;
} joined;

static void write_joined(FILE *stream, const void *arg)
{
    const joined *all = arg;
    char chunk[65536];
    size_t length;

    fprintf(stream,
            "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"schema\": \"gyre.trace/1\", "
            "\"lost_events\": %" PRIu64 "}, \"traceEvents\": [",
            all->file->lost);
    for (size_t i = 0; i < all->list->count; i++) {
        const char *id = all->list->cases[i].id; /* of letters that need no escape */

        if (gyre_case_group_first(all->list, i) == i)
            fprintf(stream,
                    "%s\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %zu, \"tid\": 0, "
                    "\"args\": {\"name\": \"%.*s\"}}",
                    i > 0 ? "," : "", i + 1, (int)gyre_case_group_length(id), id);
    }
    if (all->file->some)
        fputs(",\n", stream);
    rewind(all->file->spool);
    while ((length = fread(chunk, 1, sizeof chunk, all->file->spool)) > 0)
        if (fwrite(chunk, 1, length, stream) != length)
            break; /* the stream knows */
    fputs("\n]}\n", stream);
}

gyre_status gyre_trace_file_write(gyre_trace_file *file, const gyre_case_list *list)
{
    const joined all = {file, list};

    if (!file->error && fflush(file->spool) != 0)
        file->error = errno;
    if (file->error)
        return gyre_fail_native(GYRE_IO, file->error,
                                "cannot keep the trace in a temporary file: %s",
                                strerror(file->error));
    return gyre_file_replace(file->path, write_joined, &all);
}

void gyre_trace_file_fini(gyre_trace_file *file)
{
    if (file->spool)
        fclose(file->spool);
    *file = (gyre_trace_file){0};
}
