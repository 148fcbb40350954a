/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl: to be written.
 */
#include "base/fail.h"
#include "dev/backend.h"

extern const gyre_backend gyre_backend_opencl;

static gyre_status probe(uint32_t *out_count, char *text, size_t text_size)
{
    (void)text, (void)text_size;
    *out_count = 0;
    return gyre_fail(GYRE_UNAVAILABLE, "not here yet");
}

const gyre_backend gyre_backend_opencl = {.name = "opencl", .probe = probe};
