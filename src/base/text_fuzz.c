/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that reaches the readers of words: durations, counts, distances.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

enum { BYTES = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[BYTES + 1];
    long long count;
    double ns;

    size = size < BYTES ? size : BYTES;
    memcpy(text, data, size);
    text[size] = '\0';
    if (gyre_text_duration(text, &ns))
        assert(ns >= 0 && ns <= 9.2e18);
    if (gyre_text_count(text, -5, 1000, &count))
        assert(count >= -5 && count <= 1000);
    assert(gyre_text_distance(text, text) == 0);
    assert(gyre_text_choice("a|b|auto", text) < 3);
    assert(gyre_text_distance(text, "--measurement-time") ==
           gyre_text_distance("--measurement-time", text));
    gyre_text_plain(text);
    for (const char *c = text; *c; c++)
        assert((unsigned char)*c >= 0x20);
    return 0;
}
