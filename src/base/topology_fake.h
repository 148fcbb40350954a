/* SPDX-License-Identifier: Apache-2.0
 *
 * topology_fake: a machine made of files under a temporary directory, for the tests beside it.
 */
#ifndef GYRE_BASE_TOPOLOGY_FAKE_H
#define GYRE_BASE_TOPOLOGY_FAKE_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/topology.h"

typedef struct fake_file {
    const char *path;
    const char *content;
    size_t size;
} fake_file;

/* clang-format off */
#define FAKE(path, content) {(path), (content), sizeof(content) - 1}
/* clang-format on */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char fake_root[64]; /* of the tree that stands now */

static inline int fake_remove_one(const char *path, const struct stat *info, int type,
                                  struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static inline void fake_remove(void)
{
    nftw(fake_root, fake_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file and the directories above it. */
static inline bool fake_write(const fake_file *file)
{
    char path[1024];
    FILE *stream;
    bool done;

    snprintf(path, sizeof path, "%s%s", fake_root, file->path);
    for (char *at = path + strlen(fake_root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    stream = fopen(path, "we");
    if (!stream)
        return false;
    done = fwrite(file->content, 1, file->size, stream) == file->size;
    return fclose(stream) == 0 && done;
}

/* False when the disk refuses; fake_remove is due either way. */
static inline bool fake_build(const fake_file *files, size_t count)
{
    snprintf(fake_root, sizeof fake_root, "/tmp/gyre-topology-XXXXXX");
    if (!mkdtemp(fake_root))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!fake_write(&files[i]))
            return false;
    }
    return true;
}

/* The topology of a machine of these files; NULL when it fails. The tree is gone on return. */
static inline gyre_topology *fake_read(const fake_file *files, size_t count, const char *allowed,
                                       bool virtual_machine)
{
    const gyre_topology_source source = {fake_root, allowed, virtual_machine};
    gyre_topology *topology = NULL;

    if (fake_build(files, count) && gyre_topology_read(&source, NULL, &topology) != GYRE_OK)
        topology = NULL;
    fake_remove();
    return topology;
}

#endif
