/* SPDX-License-Identifier: Apache-2.0
 *
 * cache: how the loader finds and keeps compiled code. See gyre/cache.h for the contract.
 */
#ifndef GYRE_DEV_CACHE_H
#define GYRE_DEV_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/cache.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* A digest of pieces, each with its length, so that no two lists of pieces run together. */
typedef struct gyre_digest {
    uint64_t half[2];
} gyre_digest;

void gyre_digest_begin(gyre_digest *digest);
void gyre_digest_add(gyre_digest *digest, const void *piece, size_t size);
void gyre_digest_end(const gyre_digest *digest, char text[33]);

/* Who wants the image, in words that are kept in the entry; and a digest of all that decides it. */
typedef struct gyre_cache_key {
    char text[33]; /* hexadecimal */
    const char *program, *device, *compiler;
} gyre_cache_key;

/* The image, from gyre_alloc(NULL, size, 1). GYRE_NOT_FOUND when there is none that is sound; the
 * detail is not written. Counts a hit or a miss. Never fails otherwise. Blocks on the disk. */
GYRE_MUST_USE gyre_status gyre_cache_find(const gyre_cache_key *key, void **out_image,
                                          size_t *out_size);

/* Keeps an image, as far as the disk allows: what goes wrong is counted, logged once, and over.
 * Blocks on the disk. */
void gyre_cache_store(const gyre_cache_key *key, const void *image, size_t size);

/* The entry that was just found is of no use to the driver: removes it, and counts the hit as a
 * miss after all. */
void gyre_cache_refuse(const gyre_cache_key *key);

#endif
