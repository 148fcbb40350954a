/* SPDX-License-Identifier: Apache-2.0
 *
 * options: see options.h.
 */
#include "base/options.h"

#include <string.h>

#include "base/fail.h"

enum { MOST_BYTES = 4096 }; /* far beyond any options struct: the size was never set */

gyre_status gyre_options_read(void *into, size_t size, const void *options)
{
    const unsigned char *bytes = options;
    size_t given;

    memset(into, 0, size);
    if (!options)
        return GYRE_OK;
    memcpy(&given, options, sizeof given);
    if (given < sizeof given)
        return gyre_fail(GYRE_INVALID, "options: struct_size is not set");
    if (given > MOST_BYTES)
        return gyre_fail(GYRE_INVALID, "options: struct_size %zu is not a size", given);
    for (size_t i = size; i < given; i++)
        if (bytes[i] != 0)
            return gyre_fail(GYRE_UNSUPPORTED, "options: the caller uses a field that this version "
                                               "does not know");
    memcpy(into, options, given < size ? given : size);
    return GYRE_OK;
}
