/* SPDX-License-Identifier: Apache-2.0
 *
 * baseline: see baseline.h.
 *
 * The lock is a file of its own, which stays: the baseline itself is replaced, and a lock on what
 * was replaced would keep nobody out.
 */
#include "record/baseline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "record/file.h"
#include "record/read.h"

enum { LIST_BYTES = 80 };

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
static const char SUFFIX[] = ".json";

static bool is_name(const char *name)
{
    const size_t length = strlen(name);

    return length > 0 && length <= GYRE_BASELINE_NAME_BYTES && name[0] != '.' &&
           strspn(name, LETTERS) == length;
}

gyre_status gyre_baseline_check(const char *name)
{
    if (strcmp(name, "latest") == 0)
        return gyre_fail(GYRE_INVALID, "'%s' means the last run; choose another name", name);
    if (is_name(name))
        return GYRE_OK;
    return gyre_fail(
        GYRE_INVALID,
        "'%.*s' is no name for a baseline: it takes letters, digits, '_', '-' and '.', "
        "not '.' first, at most %d",
        gyre_text_cut(strlen(name)), name, GYRE_BASELINE_NAME_BYTES);
}

/* FOLDER/baselines/NAME and a suffix. */
static gyre_status path_of(const char *folder, const char *name, const char *suffix,
                           char path[PATH_MAX])
{
    const int length = snprintf(path, PATH_MAX, "%s/baselines/%s%s", folder, name, suffix);

    if (length < 0 || length >= PATH_MAX)
        return gyre_fail(GYRE_INVALID, "the path '%.64s...' is too long", folder);
    return GYRE_OK;
}

static int is_baseline(const struct dirent *entry)
{
    char name[sizeof entry->d_name];
    const size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);

    if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)(length - suffix), entry->d_name);
    return is_name(name);
}

/* "there are none", "there are: a, b, ..." */
static void list_baselines(const char *folder, char list[LIST_BYTES])
{
    static const char more[] = ", ...";
    char path[PATH_MAX];
    struct dirent **entries;
    int count = -1, used = 0;

    if (path_of(folder, "", "", path) == GYRE_OK)
        count = scandir(path, &entries, is_baseline, alphasort);
    snprintf(list, LIST_BYTES, "there are none");
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *lead = i == 0 ? "there are: " : ", ";
        const int length = (int)(strlen(name) - strlen(SUFFIX));
        const int after = used + (int)strlen(lead) + length;

        if (after + (int)sizeof more <= LIST_BYTES)
            snprintf(list + used, LIST_BYTES - (size_t)used, "%s%.*s", lead, length, name);
        else if (used < LIST_BYTES)
            snprintf(list + used, LIST_BYTES - (size_t)used, "%s", more);
        used = after + (int)sizeof more <= LIST_BYTES ? after : LIST_BYTES;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

gyre_status gyre_baseline_load(const char *folder, const char *name, gyre_run **out_run)
{
    char path[PATH_MAX], list[LIST_BYTES];
    gyre_status status;

    *out_run = NULL;
    status = gyre_baseline_check(name);
    if (status == GYRE_OK)
        status = path_of(folder, name, SUFFIX, path);
    if (status == GYRE_OK)
        status = gyre_run_read(path, out_run);
    if (status != GYRE_NOT_FOUND)
        return status;
    list_baselines(folder, list);
    return gyre_fail(GYRE_NOT_FOUND, "there is no baseline '%s' in '%.*s'; %s", name,
                     gyre_text_cut(strlen(folder)), folder, list);
}

static gyre_status lock(const char *path, int *out_fd)
{
    int locked = -1;

    *out_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*out_fd >= 0)
        while ((locked = flock(*out_fd, LOCK_EX)) != 0 && errno == EINTR)
            ;
    if (locked == 0)
        return GYRE_OK;
    (void)!gyre_fail_native(GYRE_IO, errno, "cannot lock '%s': %s", path, strerror(errno));
    if (*out_fd >= 0)
        close(*out_fd);
    return GYRE_IO;
}

/* Puts a result in the place of that of the same id, or behind all. */
static void put(gyre_run *merged, const gyre_result *result)
{
    size_t place = 0;

    while (place < merged->count && strcmp(merged->results[place].id, result->id) != 0)
        place++;
    merged->results[place] = *result;
    merged->count += place == merged->count;
}

/* Saves the old results with those of the run among them. All are borrowed. */
static gyre_status save_merged(const gyre_run *old, const gyre_run *run, const char *path)
{
    const size_t kept = old ? old->count : 0, room = kept + run->count + 1;
    gyre_run merged = *run;
    gyre_status status;
    void *block;

    status = gyre_alloc(NULL, room, sizeof merged.results[0], &block);
    if (status != GYRE_OK)
        return status;
    merged.results = block;
    for (merged.count = 0; merged.count < kept; merged.count++)
        merged.results[merged.count] = old->results[merged.count];
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome == GYRE_OUTCOME_MEASURED)
            put(&merged, &run->results[i]);
    if (merged.count > GYRE_RUN_BENCHMARKS)
        status = gyre_fail(GYRE_INVALID, "'%s' would hold more than %d benchmarks", path,
                           GYRE_RUN_BENCHMARKS);
    else
        status = gyre_run_save(&merged, path);
    gyre_free(NULL, block, room, sizeof merged.results[0]);
    return status;
}

gyre_status gyre_baseline_save(const char *folder, const char *name, const gyre_run *run)
{
    char place[PATH_MAX], path[PATH_MAX], lock_path[PATH_MAX];
    gyre_run *old = NULL;
    gyre_status status;
    int fd;

    status = gyre_baseline_check(name);
    if (status == GYRE_OK)
        status = path_of(folder, "", "", place);
    if (status == GYRE_OK)
        status = path_of(folder, name, SUFFIX, path);
    if (status == GYRE_OK)
        status = path_of(folder, name, ".lock", lock_path);
    if (status == GYRE_OK)
        status = gyre_folder_open(place);
    if (status == GYRE_OK)
        status = lock(lock_path, &fd);
    if (status != GYRE_OK)
        return status;
    status = gyre_run_read(path, &old);
    if (status == GYRE_OK || status == GYRE_NOT_FOUND)
        status = save_merged(old, run, path);
    gyre_run_destroy(old);
    close(fd); /* and with it the lock */
    return status;
}

gyre_status gyre_run_locate(const char *folder, const char *word, char *out_path, size_t size)
{
    const bool name = is_name(word);
    char list[LIST_BYTES];
    int length = -1;

    if (name) {
        length = snprintf(out_path, size, "%s/baselines/%s%s", folder, word, SUFFIX);
        if (length >= 0 && (size_t)length < size && access(out_path, F_OK) == 0)
            return GYRE_OK;
    }
    if (strcmp(word, "latest") == 0) {
        length = snprintf(out_path, size, "%s/latest.json", folder);
        if (length >= 0 && (size_t)length < size && access(out_path, F_OK) == 0)
            return GYRE_OK;
    }
    length = snprintf(out_path, size, "%s", word);
    if (length < 0 || (size_t)length >= size)
        return gyre_fail(GYRE_INVALID, "the path '%.64s...' is too long", word);
    if (word[0] != '\0' && access(out_path, F_OK) == 0)
        return GYRE_OK;
    list_baselines(folder, list);
    return gyre_fail(GYRE_NOT_FOUND, "'%.*s' is neither a file nor a baseline in '%.*s'; %s",
                     gyre_text_cut(strlen(word)), word, gyre_text_cut(strlen(folder)), folder,
                     list);
}

gyre_status gyre_run_load(const char *folder, const char *word, gyre_run **out_run)
{
    char path[PATH_MAX];
    const gyre_status status = gyre_run_locate(folder, word, path, sizeof path);

    *out_run = NULL;
    return status == GYRE_OK ? gyre_run_read(path, out_run) : status;
}
