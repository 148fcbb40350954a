/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_file: one entry of the kernel cache as bytes and as a file (docs/formats/cache.md).
 *
 * What is wrong with an entry is a phrase, not a status: finding a damaged one is no failure of the
 * caller's, and the thread's detail stays as it was.
 *
 * Threads   any, and any number of processes.
 * Owns      nothing. Borrows the folder's descriptor.
 * Not here  which entries stay (dev/cache_limit.h), counting (dev/cache.c).
 */
#ifndef GYRE_DEV_CACHE_FILE_H
#define GYRE_DEV_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/cache.h"

enum { GYRE_CACHE_HEAD_BYTES = 256, GYRE_CACHE_KEY_BYTES = 32 };

/* No compiler makes more; a larger claim is damage. */
#define GYRE_CACHE_IMAGE_MOST ((uint64_t)1 << 30)

/* The head of an entry with this image. */
void gyre_cache_head_write(const gyre_cache_key *key, const void *image, size_t size,
                           unsigned char head[GYRE_CACHE_HEAD_BYTES]);

/* What a head says. */
typedef struct gyre_cache_head {
    char key[GYRE_CACHE_KEY_BYTES + 1];
    char program[64], device[48], compiler[64]; /* terminated, without control characters */
    uint64_t image_bytes;                       /* from 1 to GYRE_CACHE_IMAGE_MOST */
    uint32_t image_sum;
} gyre_cache_head;

/* Reads the first `size` bytes of a file. NULL, or why it is no head of ours; then all of
 * `out_head` is zero. Pure. */
const char *gyre_cache_head_read(const unsigned char *bytes, size_t size,
                                 gyre_cache_head *out_head);

/* How far an entry is read. */
typedef enum gyre_cache_depth {
    GYRE_CACHE_READ_HEAD,  /* its size is compared, too */
    GYRE_CACHE_READ_SUM,   /* and the image's sum */
    GYRE_CACHE_READ_IMAGE, /* and the image is kept, and the file marked as used */
} gyre_cache_depth;

typedef struct gyre_cache_file {
    gyre_cache_head head;
    bool there;      /* something has that name */
    const char *why; /* NULL: it is there and sound */
    uint64_t size_bytes;
    void *image; /* from gyre_alloc(NULL, head.image_bytes, 1); the caller's */
} gyre_cache_file;

/* Reads the entry `name` of a folder. Blocks on the disk. */
void gyre_cache_file_read(int folder, const char *name, gyre_cache_depth depth,
                          gyre_cache_file *out_file);

/* Whether a file of this name is an entry, or one that was being written. */
bool gyre_cache_is_entry(const char *name);
bool gyre_cache_is_temporary(const char *name);

/* Writes an entry under a temporary name, and then renames it. NULL, or which step failed, with
 * errno; nothing stays behind then. Blocks on the disk. */
const char *gyre_cache_file_write(int folder, const gyre_cache_key *key, const void *image,
                                  size_t size);

/* Removes an entry, whatever has its name. 0 or errno. */
int gyre_cache_file_remove(int folder, const char *name);

#endif
