/* SPDX-License-Identifier: Apache-2.0
 *
 * cache: finds, keeps and counts compiled kernels in a folder that others may use, too.
 *
 * Nothing here may make a kernel fail: whatever the disk does, the way without the cache is open.
 * There is no lock between processes: a file appears whole by rename, two that store the same entry
 * store the same bytes, and one that is removed under a reader stays readable to it.
 *
 * Threads   any; the counters are atomic, the folder's name is constant once asked for.
 * Owns      the name of the folder. It is opened for each use, as somebody may remove it.
 * Not here  the bytes of an entry (cache_file.c), what must go (cache_limit.c), the key's pieces
 *           (load.c).
 */
#include "dev/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "dev/cache_file.h"
#include "dev/cache_limit.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char folder_name[PATH_MAX]; /* "": the cache is off */
static _Atomic uint64_t hits, misses, unsound, stores, store_failures, evictions;
static _Atomic bool told; /* a store that failed was logged */

/* relaxed, both: tallies */
static void count(_Atomic uint64_t *tally, uint64_t more)
{
    atomic_fetch_add_explicit(tally, more, memory_order_relaxed);
}

static uint64_t counted(_Atomic uint64_t *tally)
{
    return atomic_load_explicit(tally, memory_order_relaxed);
}

void gyre_digest_begin(gyre_digest *digest)
{
    digest->half[0] = 0;
    digest->half[1] = UINT64_C(0x9e3779b97f4a7c15);
}

void gyre_digest_add(gyre_digest *digest, const void *piece, size_t size)
{
    const uint64_t length = size;

    for (int i = 0; i < 2; i++) {
        digest->half[i] = gyre_hash64(&length, sizeof length, digest->half[i]);
        digest->half[i] = gyre_hash64(piece, size, digest->half[i]);
    }
}

void gyre_digest_end(const gyre_digest *digest, char text[33])
{
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, digest->half[0], digest->half[1]);
}

/* A folder that was given relative to another is that one for good, wherever the process goes. */
static int fix_folder(const char *given)
{
    char here[PATH_MAX];

    if (given[0] == '/')
        return snprintf(folder_name, sizeof folder_name, "%s", given);
    return getcwd(here, sizeof here)
               ? snprintf(folder_name, sizeof folder_name, "%s/%s", here, given)
               : 0;
}

/* A name that does not fit is no folder. XDG's convention: a path that is not absolute counts as
 * not set. */
static void choose_folder(void)
{
    const char *given = gyre_settings_text(GYRE_SETTING_CACHE);
    const char *base = gyre_settings_text(GYRE_SETTING_CACHE_HOME);
    const char *home = gyre_settings_text(GYRE_SETTING_HOME);
    int length = 0;

    if (strcmp(given, "off") == 0)
        return;
    if (given[0])
        length = fix_folder(given);
    else if (base[0] == '/')
        length = snprintf(folder_name, sizeof folder_name, "%s/gyre/kernels", base);
    else if (home[0] == '/')
        length = snprintf(folder_name, sizeof folder_name, "%s/.cache/gyre/kernels", home);
    if (length < 0 || (size_t)length >= sizeof folder_name)
        folder_name[0] = '\0';
}

static const char *folder(void)
{
    pthread_once(&once, choose_folder);
    return folder_name;
}

static uint64_t limit_bytes(void)
{
    return (uint64_t)gyre_settings_number(GYRE_SETTING_CACHE_MIB) << 20;
}

static int open_folder(void)
{
    return open(folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* As mkdir -p does, for nobody else to read. False, with errno. */
static bool make_folder(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s", folder());
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

gyre_status gyre_cache_find(const gyre_cache_key *key, void **out_image, size_t *out_size)
{
    gyre_cache_file file = {.why = "there is no folder"};
    int fd;

    *out_image = NULL;
    *out_size = 0;
    fd = folder()[0] ? open_folder() : -1;
    if (fd >= 0) {
        gyre_cache_file_read(fd, key->text, GYRE_CACHE_READ_IMAGE, &file);
        close(fd);
    }
    if (file.why) {
        count(&misses, 1);
        count(&unsound, file.there);
        if (file.there)
            gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE, "kernel cache: %s is not used: %s",
                     key->text, file.why);
        return GYRE_NOT_FOUND;
    }
    count(&hits, 1);
    *out_image = file.image;
    *out_size = (size_t)file.head.image_bytes;
    return GYRE_OK;
}

/* The reason is in `problem` as errno, or 0. */
static void store_failed(const char *step, int problem)
{
    count(&store_failures, 1);
    /* relaxed: who is first to tell publishes nothing */
    if (!atomic_exchange_explicit(&told, true, memory_order_relaxed))
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE,
                 "kernel cache: %s in '%.300s': %s; kernels are compiled again each time", step,
                 folder(), problem ? strerror(problem) : "beyond GYRE_CACHE_MIB");
}

void gyre_cache_store(const gyre_cache_key *key, const void *image, size_t size)
{
    const char *failed;
    int fd;

    if (!folder()[0] || size == 0)
        return;
    if (size > GYRE_CACHE_IMAGE_MOST || size + GYRE_CACHE_HEAD_BYTES > limit_bytes()) {
        store_failed("keep", 0);
        return;
    }
    fd = open_folder();
    if (fd < 0 && errno == ENOENT && make_folder())
        fd = open_folder();
    if (fd < 0) {
        store_failed("open", errno);
        return;
    }
    failed = gyre_cache_file_write(fd, key, image, size);
    if (failed) {
        store_failed(failed, errno);
    } else {
        count(&stores, 1);
        count(&evictions, gyre_cache_shrink(fd, limit_bytes(), key->text));
    }
    close(fd);
}

void gyre_cache_refuse(const gyre_cache_key *key)
{
    const int fd = folder()[0] ? open_folder() : -1;

    /* relaxed: as count */
    atomic_fetch_sub_explicit(&hits, 1, memory_order_relaxed);
    count(&misses, 1);
    count(&unsound, 1);
    if (fd < 0)
        return;
    (void)gyre_cache_file_remove(fd, key->text);
    close(fd);
}

/* The folder and what is in it, for the calls that people make. GYRE_NOT_FOUND without a folder. */
static gyre_status open_list(int *out_fd, gyre_cache_list *out_list)
{
    gyre_status status = gyre_process_check();

    *out_fd = -1;
    *out_list = (gyre_cache_list){0};
    if (status != GYRE_OK)
        return status;
    if (!folder()[0])
        return gyre_fail(GYRE_UNAVAILABLE, "the kernel cache is off: see GYRE_CACHE");
    *out_fd = open_folder();
    if (*out_fd < 0)
        return gyre_fail_native(errno == ENOENT ? GYRE_NOT_FOUND : GYRE_IO, errno,
                                "the kernel cache '%.120s' cannot be opened: %s", folder(),
                                strerror(errno));
    status = gyre_cache_list_create(*out_fd, out_list);
    if (status != GYRE_OK)
        close(*out_fd);
    return status;
}

static void describe(const gyre_cache_item *item, const gyre_cache_file *file,
                     gyre_cache_entry *out_entry)
{
    gyre_cache_entry e = {.struct_size = sizeof e,
                          .size_bytes = item->size_bytes,
                          .used = item->used_ns / 1000000000,
                          .sound = !file->why};

    memcpy(e.key, item->name, sizeof e.key);
    memcpy(e.program, file->head.program, sizeof e.program);
    memcpy(e.device, file->head.device, sizeof e.device);
    memcpy(e.compiler, file->head.compiler, sizeof e.compiler);
    snprintf(e.why, sizeof e.why, "%s", file->why ? file->why : "");
    *out_entry = e;
}

gyre_status gyre_cache_visit(bool verify, bool (*visit)(void *user, const gyre_cache_entry *entry),
                             void *user)
{
    gyre_cache_list list;
    bool more = true;
    int fd;
    const gyre_status status = open_list(&fd, &list);

    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < list.count && more; i++) {
        gyre_cache_entry entry;
        gyre_cache_file file;

        gyre_cache_file_read(fd, list.items[i].name,
                             verify ? GYRE_CACHE_READ_SUM : GYRE_CACHE_READ_HEAD, &file);
        if (!file.there)
            continue; /* another process removed it */
        describe(&list.items[i], &file, &entry);
        more = visit(user, &entry);
    }
    gyre_cache_list_destroy(&list);
    close(fd);
    return GYRE_OK;
}

gyre_status gyre_cache_clear(bool only_unsound, uint64_t *out_count, uint64_t *out_bytes)
{
    gyre_cache_list list;
    int fd;
    gyre_status status = open_list(&fd, &list);

    *out_count = *out_bytes = 0;
    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < list.count; i++) {
        const gyre_cache_item *item = &list.items[i];
        gyre_cache_file file;
        int problem;

        if (only_unsound) {
            gyre_cache_file_read(fd, item->name, GYRE_CACHE_READ_SUM, &file);
            if (!file.there || !file.why)
                continue;
        }
        problem = gyre_cache_file_remove(fd, item->name);
        if (problem == 0) {
            *out_count += 1;
            *out_bytes += item->size_bytes;
        } else if (problem != ENOENT && status == GYRE_OK) {
            status = gyre_fail_native(GYRE_IO, problem, "%s in '%.120s' cannot be removed: %s",
                                      item->name, folder(), strerror(problem));
        }
    }
    gyre_cache_list_destroy(&list);
    close(fd);
    return status;
}

gyre_status gyre_cache_describe(gyre_cache_statistics *out_statistics)
{
    gyre_cache_statistics s = {.struct_size = out_statistics->struct_size};
    const gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    if (s.struct_size < sizeof s.struct_size)
        return gyre_fail(GYRE_INVALID, "set struct_size of the kernel cache's statistics");
    s.folder = folder();
    s.limit_bytes = limit_bytes();
    s.hits = counted(&hits);
    s.misses = counted(&misses);
    s.unsound = counted(&unsound);
    s.stores = counted(&stores);
    s.store_failures = counted(&store_failures);
    s.evictions = counted(&evictions);
    memcpy(out_statistics, &s, s.struct_size < sizeof s ? s.struct_size : sizeof s);
    return GYRE_OK;
}
