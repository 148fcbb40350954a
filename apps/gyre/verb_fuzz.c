/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line, and what it asks `gyre bench` for: zero bytes separate words. Reading must end,
 * and an error must have a sentence that cannot drive a terminal.
 */
#include <assert.h>
#include <string.h>

#include "gyre/status.h"
#include "main/options.h"
#include "verb.h"

enum { WORDS = 100, BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char bytes[BYTES + 1], *words[WORDS];
    const gyre_verb *verb;
    gyre_common common;
    gyre_request request;
    gyre_status status;
    gyre_args args;
    size_t at = 0;
    int count = 0;

    size = size < BYTES ? size : BYTES;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    while (at < size && count < WORDS) {
        words[count++] = bytes + at;
        at += strlen(bytes + at) + 1;
    }
    status = verb_parse(count, words, &verb, &args, &common);
    if (status == GYRE_OK) {
        assert(verb);
        assert(args.operand_count <= verb->most_operands);
        if (verb == &verb_bench)
            status = gyre_request_read(&args, &request);
        if (status == GYRE_OK && verb == &verb_bench)
            (void)gyre_request_fit(&request, 1 + size);
    }
    if (status != GYRE_OK) {
        assert(gyre_error_last()->text[0] != '\0');
        for (const char *c = gyre_error_last()->text; *c; c++)
            assert((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    return 0;
}
