/* SPDX-License-Identifier: Apache-2.0
 *
 * hash: 64 bits for naming and bucketing things; fast, stable across machines and versions.
 *
 * The function is XXH64, so values can be checked with other programs. It is no defence against
 * somebody who wants collisions.
 *
 * Threads   any; pure.
 */
#ifndef GYRE_BASE_HASH_H
#define GYRE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"

/* Chain several pieces by giving one result as the next seed; start with 0. */
GYRE_API uint64_t gyre_hash64(const void *data, size_t size_bytes, uint64_t seed);

#endif
