/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text as faults: it is refused with a sentence that cannot drive a terminal and sets nothing,
 * or gives rules whose ranges are in order.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/null/null_faults.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gyre_null_faults faults;
    char text[512];

    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (gyre_null_faults_parse(text, &faults) != GYRE_OK) {
        must(faults.count == 0 && gyre_error_last()->status == GYRE_INVALID);
        for (const char *c = gyre_error_last()->text; *c; c++)
            must((unsigned char)*c >= 0x20);
        return 0;
    }
    must(faults.count <= GYRE_NULL_RULES);
    for (uint32_t i = 0; i < faults.count; i++) {
        const gyre_null_rule *const rule = &faults.rules[i];

        must(rule->first <= rule->last && rule->value >= -1 && rule->value <= 1000000000);
        must(gyre_null_faults_find(&faults, rule->word, rule->first) != NULL);
    }
    return 0;
}
