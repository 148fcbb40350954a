/* SPDX-License-Identifier: Apache-2.0
 *
 * The first byte chooses a setting, the rest is its value. A refusal must have a sentence that
 * cannot drive a terminal.
 */
#include <assert.h>
#include <string.h>

#include "base/settings.h"

enum { BYTES = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[BYTES + 1], problem[192] = "";
    int64_t number;

    if (size == 0)
        return 0;
    size = size - 1 < BYTES ? size - 1 : BYTES;
    memcpy(text, data + 1, size);
    text[size] = '\0';
    if (!gyre_setting_parse((gyre_setting_id)(data[0] % GYRE_SETTING_COUNT), text, &number, problem,
                            sizeof problem)) {
        assert(problem[0] != '\0');
        for (const char *c = problem; *c; c++)
            assert((unsigned char)*c >= 0x20);
    }
    return 0;
}
