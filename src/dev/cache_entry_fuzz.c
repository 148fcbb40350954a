/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the head of a kernel cache's entry; and with a sum that is right, so that what is
 * behind the sum is reached, too.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/crc32c.h"
#include "dev/cache_file.h"

enum { SUM_AT = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const uint8_t *bytes, size_t size)
{
    gyre_cache_head head;
    const char *why = gyre_cache_head_read(bytes, size, &head);

    assert(memchr(head.program, 0, sizeof head.program));
    assert(memchr(head.device, 0, sizeof head.device));
    assert(memchr(head.compiler, 0, sizeof head.compiler));
    if (why) {
        assert(head.key[0] == '\0' && head.image_bytes == 0);
        return;
    }
    assert(size >= GYRE_CACHE_HEAD_BYTES && gyre_cache_is_entry(head.key));
    assert(head.image_bytes > 0 && head.image_bytes <= GYRE_CACHE_IMAGE_MOST);
    for (const char *c = head.program; *c; c++)
        assert((unsigned char)*c >= 0x20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t head[GYRE_CACHE_HEAD_BYTES];
    uint32_t sum;

    look(data, size);
    if (size < sizeof head)
        return 0;
    memcpy(head, data, sizeof head);
    memset(head + SUM_AT, 0, 4);
    sum = gyre_crc32c(head, sizeof head, 0);
    for (int i = 0; i < 4; i++)
        head[SUM_AT + i] = (uint8_t)(sum >> (8 * i));
    look(head, sizeof head);
    return 0;
}
