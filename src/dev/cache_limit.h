/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_limit: what is in the cache's folder, and what must go.
 *
 * Threads   any, and any number of processes: a file that another one removed is gone, no more.
 * Owns      a list, until it is freed.
 * Not here  what the files hold (dev/cache_file.h).
 */
#ifndef GYRE_DEV_CACHE_LIMIT_H
#define GYRE_DEV_CACHE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include "dev/cache_file.h"
#include "gyre/common.h"
#include "gyre/status.h"

typedef struct gyre_cache_item {
    char name[GYRE_CACHE_KEY_BYTES + 1];
    uint64_t size_bytes;
    int64_t used_ns; /* since 1970 */
} gyre_cache_item;

typedef struct gyre_cache_list {
    gyre_cache_item *items; /* the last used first */
    size_t count, room;
    uint64_t size_bytes; /* of all */
} gyre_cache_list;

/* The entries of a folder. Removes temporary files that nobody has written to for an hour.
 * GYRE_IO, GYRE_NO_MEMORY. */
GYRE_MUST_USE gyre_status gyre_cache_list_create(int folder, gyre_cache_list *out_list);
void gyre_cache_list_destroy(gyre_cache_list *list);

/* Removes the entries that were not used for longest until the rest fits `limit_bytes`; never
 * `keep`. Returns how many went. */
uint64_t gyre_cache_shrink(int folder, uint64_t limit_bytes, const char *keep);

#endif
