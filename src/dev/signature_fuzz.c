/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text as a signature: what is accepted lies in order, aligned and within the limits.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dev/signature.h"

enum { BYTES = 2048 };

/* Also where assertions are off. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[BYTES + 1];
    gyre_signature s;
    uint32_t end = 0;

    size = size < BYTES ? size : BYTES;
    memcpy(text, data, size);
    text[size] = '\0';
    if (gyre_signature_parse(text, &s) != GYRE_OK)
        return 0;
    must(s.count <= GYRE_ARGUMENTS_MOST && s.bytes <= 4096);
    for (uint32_t i = 0; i < s.count; i++) {
        const gyre_dev_argument *a = &s.arguments[i];

        must(a->offset >= end);
        must(a->size > 0 ? a->offset % (a->size < 8 ? a->size : 8) == 0 : i + 1 == s.count);
        must(!a->pointer || a->size == sizeof(void *));
        end = a->offset + a->size;
    }
    must(s.bytes == end && s.padded_bytes >= end && s.padded_bytes < end + 8);
    return 0;
}
