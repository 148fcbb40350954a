/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_limit: see cache_limit.h.
 *
 * The folder is listed anew each time: other processes write to it, and listing costs little beside
 * the compiler that has just run.
 */
#include "dev/cache_limit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { FIRST_ROOM = 64, STALE_S = 3600, NS_PER_S = 1000000000 };

static gyre_status grow(gyre_cache_list *list)
{
    const size_t room = list->room ? 2 * list->room : FIRST_ROOM;
    void *items;
    const gyre_status status = gyre_alloc(NULL, room, sizeof list->items[0], &items);

    if (status != GYRE_OK)
        return status;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof list->items[0]);
    gyre_free(NULL, list->items, list->room, sizeof list->items[0]);
    list->items = items;
    list->room = room;
    return GYRE_OK;
}

static gyre_status add(int folder, const char *name, gyre_cache_list *list)
{
    struct stat about;
    gyre_cache_item *item;

    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return GYRE_OK; /* gone in the meantime */
    if (list->count == list->room) {
        const gyre_status status = grow(list);

        if (status != GYRE_OK)
            return status;
    }
    item = &list->items[list->count++];
    memcpy(item->name, name, sizeof item->name);
    item->size_bytes = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    item->used_ns = (int64_t)about.st_mtim.tv_sec * NS_PER_S + about.st_mtim.tv_nsec;
    list->size_bytes += item->size_bytes;
    return GYRE_OK;
}

static void remove_stale(int folder, const char *name)
{
    struct stat about;

    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        time(NULL) - about.st_mtime > STALE_S)
        (void)unlinkat(folder, name, 0);
}

static int last_used_first(const void *a, const void *b)
{
    const gyre_cache_item *x = a, *y = b;

    if (x->used_ns != y->used_ns)
        return x->used_ns < y->used_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

gyre_status gyre_cache_list_create(int folder, gyre_cache_list *out_list)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    gyre_status status = GYRE_OK;

    *out_list = (gyre_cache_list){0};
    if (!d) {
        const int problem = errno;

        if (fd >= 0)
            close(fd);
        return gyre_fail_native(GYRE_IO, problem, "the kernel cache cannot be listed: %s",
                                strerror(problem));
    }
    for (struct dirent *e = readdir(d); e && status == GYRE_OK; e = readdir(d)) {
        if (gyre_cache_is_entry(e->d_name))
            status = add(folder, e->d_name, out_list);
        else if (gyre_cache_is_temporary(e->d_name))
            remove_stale(folder, e->d_name);
    }
    closedir(d);
    if (status != GYRE_OK)
        gyre_cache_list_destroy(out_list);
    else if (out_list->count > 1)
        qsort(out_list->items, out_list->count, sizeof out_list->items[0], last_used_first);
    return status;
}

void gyre_cache_list_destroy(gyre_cache_list *list)
{
    gyre_free(NULL, list->items, list->room, sizeof list->items[0]);
    *list = (gyre_cache_list){0};
}

uint64_t gyre_cache_shrink(int folder, uint64_t limit_bytes, const char *keep)
{
    gyre_cache_list list;
    uint64_t gone = 0;

    if (gyre_cache_list_create(folder, &list) != GYRE_OK)
        return 0;
    for (size_t i = list.count; i > 0 && list.size_bytes > limit_bytes; i--) {
        const gyre_cache_item *item = &list.items[i - 1];
        int problem;

        if (strcmp(item->name, keep) == 0)
            continue;
        problem = gyre_cache_file_remove(folder, item->name);
        gone += problem == 0;
        if (problem == 0 || problem == ENOENT)
            list.size_bytes -= item->size_bytes;
    }
    gyre_cache_list_destroy(&list);
    return gone;
}
