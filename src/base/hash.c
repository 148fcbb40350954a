/* SPDX-License-Identifier: Apache-2.0
 *
 * hash: XXH64, written from its published description. See hash.h.
 */
#include "base/hash.h"

#include <string.h>

static const uint64_t P1 = 0x9E3779B185EBCA87u, P2 = 0xC2B2AE3D27D4EB4Fu, P3 = 0x165667B19E3779F9u,
                      P4 = 0x85EBCA77C2B2AE63u, P5 = 0x27D4EB2F165667C5u;

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* Both architectures are little-endian, as the description wants. */
static uint64_t read64(const unsigned char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

static uint64_t read32(const unsigned char *p)
{
    uint32_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * P2, 31) * P1;
}

static uint64_t merge(uint64_t hash, uint64_t lane)
{
    return (hash ^ mix(0, lane)) * P1 + P4;
}

static uint64_t stripes(const unsigned char *p, size_t count, uint64_t seed)
{
    uint64_t lane[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
    uint64_t hash;

    for (; count > 0; count--, p += 32)
        for (int i = 0; i < 4; i++)
            lane[i] = mix(lane[i], read64(p + 8 * (size_t)i));
    hash = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
    for (int i = 0; i < 4; i++)
        hash = merge(hash, lane[i]);
    return hash;
}

uint64_t gyre_hash64(const void *data, size_t size_bytes, uint64_t seed)
{
    const unsigned char *p = data;
    size_t left = size_bytes;
    uint64_t hash = seed + P5;

    if (left >= 32) {
        hash = stripes(p, left / 32, seed);
        p += left / 32 * 32;
        left %= 32;
    }
    hash += size_bytes;
    for (; left >= 8; left -= 8, p += 8)
        hash = rotate(hash ^ mix(0, read64(p)), 27) * P1 + P4;
    if (left >= 4) {
        hash = rotate(hash ^ read32(p) * P1, 23) * P2 + P3;
        left -= 4;
        p += 4;
    }
    for (; left > 0; left--, p++)
        hash = rotate(hash ^ *p * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
