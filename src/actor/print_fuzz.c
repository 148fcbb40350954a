/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as what a slot holds that a behaviour printed to.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "actor/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[GYRE_PRINT_TEXT + 1], line[160];
    gyre_actor_print print;
    gyre_brief slot = {.type = 0};

    memcpy(&slot, data, size < sizeof slot ? size : sizeof slot);
    memset(text, 'x', sizeof text);
    gyre_print_read(&slot, text, &print);
    assert(print.text == text && memchr(text, '\0', sizeof text));
    for (const char *c = text; *c; c++)
        assert(*c >= 0x20 && *c < 0x7f);
    print.actor = "a";
    gyre_print_line(&print, line, sizeof line);
    assert(strlen(line) < sizeof line - 1);
    return 0;
}
