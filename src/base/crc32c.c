/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c: see crc32c.h.
 */
#include "base/crc32c.h"

enum { POLYNOMIAL = (int)0x82f63b78 };

uint32_t gyre_crc32c_plain(const void *data, size_t size, uint32_t seed)
{
    const unsigned char *const bytes = data;
    uint32_t crc = ~seed;

    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) ? (uint32_t)POLYNOMIAL : 0);
    }
    return ~crc;
}

uint32_t gyre_crc32c(const void *data, size_t size, uint32_t seed)
{
    return gyre_crc32c_plain(data, size, seed);
}
