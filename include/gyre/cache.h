/* SPDX-License-Identifier: Apache-2.0
 *
 * cache: compiled kernels on disk, for the next process.
 *
 * An entry is a file named by a hash of everything that decides what the compiler makes: source,
 * includes, defines, options, compiler, driver, device architecture. It carries its own size and
 * checksum: an entry that is cut short, damaged or of another kind is never used, it is compiled
 * again and replaced. Files appear by rename, so processes may share the folder, and one that is
 * killed leaves nothing half written behind but a temporary file, which the next one removes. When
 * the folder grows beyond its limit, the entries that were not used for longest go.
 *
 * The folder is GYRE_CACHE, by default gyre/kernels in XDG_CACHE_HOME or ~/.cache; "off" keeps
 * nothing. A folder that cannot be written makes kernels slower to create, and nothing fails.
 *
 * Threads   any, and any number of processes.
 * Owns      the files in the folder that have its names; others it leaves alone.
 * Not here  compiling (gyre/kernel.h).
 */
#ifndef GYRE_CACHE_H
#define GYRE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_cache_entry {
    size_t struct_size;  /* of the library's struct */
    char key[33];        /* the hash, in hexadecimal: the file's name */
    char program[64];    /* its name, as the caller gave it */
    char device[48];     /* backend and architecture: "cuda sm_90" */
    char compiler[64];   /* */
    uint64_t size_bytes; /* of the file */
    int64_t used;        /* last, as seconds since 1970 */
    bool sound;          /* it can be used: size and checksum are right */
    char why[96];        /* why it is not */
} gyre_cache_entry;

/* Hands every entry to `visit`, the last used first, until that returns false. The sums are looked
 * at only when `verify` is true; otherwise `sound` means that the head is. GYRE_NOT_FOUND when
 * there is no folder, GYRE_IO, GYRE_UNAVAILABLE when the cache is off. Blocks on the disk; like all
 * below; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status
gyre_cache_visit(bool verify, bool (*visit)(void *user, const gyre_cache_entry *entry), void *user);

/* Removes all entries, or only those that are not sound. What goes wrong with one does not stop the
 * rest; the first such failure is returned. */
GYRE_API GYRE_MUST_USE gyre_status gyre_cache_clear(bool only_unsound, uint64_t *out_count,
                                                    uint64_t *out_bytes);

typedef struct gyre_cache_statistics {
    size_t struct_size;      /* set by the caller: sizeof(gyre_cache_statistics) */
    const char *folder;      /* "" when the cache is off; static */
    uint64_t limit_bytes;    /* */
    uint64_t hits;           /* of this process: kernels that needed no compiler, */
    uint64_t misses;         /* those that did, */
    uint64_t unsound;        /* entries among these that were there and could not be used, */
    uint64_t stores;         /* entries written, */
    uint64_t store_failures; /* and those that could not be, */
    uint64_t evictions;      /* and removed for the limit */
} gyre_cache_statistics;

/* Fills in no more than struct_size bytes. GYRE_INVALID when that is not set. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_cache_describe(gyre_cache_statistics *out_statistics);

GYRE_END_DECLS

#endif
