/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of benchmarks from somebody's program. The first byte is the number that was announced.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "main/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gyre_listing listing;

    if (size < 1)
        return 0;
    if (gyre_listing_parse((const char *)data + 1, size - 1, data[0], &listing) == GYRE_OK) {
        assert(listing.count == data[0]);
        for (size_t i = 0; i < listing.count; i++) {
            assert(memchr(listing.cases[i].id, '\0', sizeof listing.cases[i].id));
            assert(gyre_listing_find(&listing, listing.cases[i].id) == &listing.cases[i]);
        }
        gyre_listing_fini(&listing);
    }
    return 0;
}
