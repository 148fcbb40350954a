/* SPDX-License-Identifier: Apache-2.0
 *
 * copy: short runs of bytes, in line.
 *
 * A call of memcpy costs more than the copy when the run is short and its length not a constant.
 *
 * Threads   any.
 * Owns      nothing.
 */
#ifndef GYRE_BASE_COPY_H
#define GYRE_BASE_COPY_H

#include <stddef.h>
#include <string.h>

#include "gyre/common.h"

/* For runs that do not overlap each other. The last two pieces of one may. */
GYRE_INLINE void gyre_copy(unsigned char *into, const unsigned char *from, size_t size)
{
    if (size > 256) {
        memcpy(into, from, size);
    } else if (size >= 64) {
        for (size_t done = 0; done < size - 64; done += 64)
            memcpy(into + done, from + done, 64);
        memcpy(into + size - 64, from + size - 64, 64);
    } else if (size >= 32) {
        memcpy(into, from, 32);
        memcpy(into + size - 32, from + size - 32, 32);
    } else if (size >= 16) {
        memcpy(into, from, 16);
        memcpy(into + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
        memcpy(into, from, 8);
        memcpy(into + size - 8, from + size - 8, 8);
    } else {
        for (size_t done = 0; done < size; done++)
            into[done] = from[done];
    }
}

#endif
