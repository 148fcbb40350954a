/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_fake: a kernel cache in a folder of the test's own.
 */
#ifndef GYRE_DEV_CACHE_FAKE_H
#define GYRE_DEV_CACHE_FAKE_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "dev/cache.h"
#include "dev/cache_file.h"
#include "gyre/settings.h"
#include "test.h"

static char fake_root[64];    /* is there */
static char fake_folder[128]; /* is not, at first */

/* Before the library's first use. */
static inline bool fake_cache(const char *mib)
{
    snprintf(fake_root, sizeof fake_root, "/tmp/gyre-cache-XXXXXX");
    if (!mkdtemp(fake_root))
        return false;
    snprintf(fake_folder, sizeof fake_folder, "%s/some/where", fake_root);
    return gyre_settings_set("GYRE_CACHE", fake_folder) == GYRE_OK &&
           gyre_settings_set("GYRE_CACHE_MIB", mib) == GYRE_OK &&
           gyre_settings_set("GYRE_LOG", "off") == GYRE_OK;
}

/* A path in the folder; valid until the next call. */
static inline const char *fake_path(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", fake_folder, name);
    return path;
}

static inline int fake_remove_one(const char *path, const struct stat *about, int kind,
                                  struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static inline void fake_remove(const char *path)
{
    CHECK(nftw(path, fake_remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* How many files in the folder are temporary ones. */
static inline int fake_temporaries(void)
{
    DIR *d = opendir(fake_folder);
    int count = 0;

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        count += gyre_cache_is_temporary(e->d_name);
    if (d)
        closedir(d);
    return count;
}

static inline gyre_cache_key fake_key(uint64_t number)
{
    gyre_cache_key key = {.program = "saxpy", .device = "fake gen_1", .compiler = "fakecc 1.0"};
    gyre_digest digest;

    gyre_digest_begin(&digest);
    gyre_digest_add(&digest, &number, sizeof number);
    gyre_digest_end(&digest, key.text);
    return key;
}

/* Bytes that only this key's image has. */
static inline void fake_image(const gyre_cache_key *key, unsigned char *image, size_t size)
{
    for (size_t i = 0; i < size; i++)
        image[i] = (unsigned char)((unsigned char)key->text[i % 32] * (i / 32 + 1) + i);
}

static inline void fake_store(const gyre_cache_key *key, size_t size)
{
    unsigned char *image = malloc(size);

    if (!image)
        return;
    fake_image(key, image, size);
    gyre_cache_store(key, image, size);
    free(image);
}

/* Whether it is found with the bytes that fake_store stored; -1 when with others. */
static inline int fake_found(const gyre_cache_key *key)
{
    unsigned char *want;
    void *image;
    size_t size;
    int found = -1;

    if (gyre_cache_find(key, &image, &size) != GYRE_OK)
        return image || size ? -1 : 0;
    want = malloc(size);
    if (want) {
        fake_image(key, want, size);
        found = memcmp(image, want, size) == 0 ? 1 : -1;
    }
    free(want);
    gyre_free(NULL, image, size, 1);
    return found;
}

static inline gyre_cache_statistics fake_counts(void)
{
    gyre_cache_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_cache_describe(&s) == GYRE_OK);
    return s;
}

#endif
