/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text for a behaviour's name: there is one of letters, digits and '_', or a sentence that
 * cannot drive a terminal. Headers that it includes are parts of it, in their order.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "behaviour_file.h"
#include "behaviour_headers.h"
#include "gyre/status.h"

enum { BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char name[BEHAVIOUR_NAME_BYTES], text[BYTES + 1];
    behaviour_conditions conditions = {0};
    const char *at = text, *header, *last = text;
    size_t length;
    gyre_status status;

    size = size < BYTES ? size : BYTES;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    status = behaviour_scan("some.c", text, name);
    if (status == GYRE_OK) {
        assert(name[0] != '\0' && strspn(name, letters) == strlen(name));
        assert(strstr(text, "GYRE_BEHAVIOUR") && strstr(text, name));
    } else {
        assert(status == GYRE_INVALID && name[0] == '\0');
        for (const char *c = gyre_error_last()->text; *c; c++)
            assert((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    while (behaviour_next_header(&at, &conditions, &header, &length)) {
        assert(header > last && header[-1] == '"' && header[length] == '"');
        assert(memchr(header, '\n', length) == NULL);
        last = header + length;
        assert(last < text + size && at > text && at <= last + 1);
    }
    assert(*at == '\0');
    return 0;
}
