/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_sample: keeps an image in the kernel cache as a program of that name would.
 *
 *   cache_sample PROGRAM BYTES [DEVICE [COMPILER]]
 *
 * Prints the entry's key.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dev/cache.h"

int main(int argc, char **argv)
{
    gyre_cache_key key = {.program = argc > 1 ? argv[1] : "",
                          .device = argc > 3 ? argv[3] : "fake gen_1",
                          .compiler = argc > 4 ? argv[4] : "fakecc 1.0"};
    gyre_cache_statistics counts = {.struct_size = sizeof counts};
    gyre_digest digest;
    long long bytes;
    void *image;

    if (argc < 3 || !gyre_text_count(argv[2], 1, 1 << 30, &bytes))
        return 2;
    image = malloc((size_t)bytes);
    if (!image)
        return 3;
    memset(image, 'k', (size_t)bytes);
    gyre_digest_begin(&digest);
    gyre_digest_add(&digest, key.program, strlen(key.program));
    gyre_digest_add(&digest, key.device, strlen(key.device));
    gyre_digest_end(&digest, key.text);
    gyre_cache_store(&key, image, (size_t)bytes);
    free(image);
    puts(key.text);
    return gyre_cache_describe(&counts) == GYRE_OK && counts.stores == 1 ? 0 : 1;
}
