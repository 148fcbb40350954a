/* SPDX-License-Identifier: Apache-2.0
 *
 * message_bytes_fuzz: any bytes, as messages from outside, at an address that is aligned and at one
 * that is not. What no validator may do is told by message_look.h.
 */
#include <string.h>

#include "msg/message_look.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* blocks that end with the bytes: the sanitizer sees what is read behind them */
    unsigned char *const aligned = malloc(size), *const odd = malloc(size + 1);

    if (aligned && odd && size > 0) {
        memcpy(aligned, data, size);
        memcpy(odd + 1, data, size);
        look_into_all(aligned, size);
        look_require(look_into_all(odd + 1, size) == 0, "nothing is read where it is not aligned");
    }
    free(aligned);
    free(odd);
    return 0;
}
