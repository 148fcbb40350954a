/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that somebody typed: whatever they are, words lie inside the text.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "main/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    gyre_program program;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (gyre_program_split(&program, text) == GYRE_OK) {
        assert(program.count > 0 && program.count <= GYRE_PROGRAM_WORDS);
        for (size_t i = 0; i < program.count; i++)
            assert(program.words[i] >= program.text &&
                   program.words[i] + strlen(program.words[i]) < program.text + program.text_size);
        gyre_program_fini(&program);
    }
    free(text);
    return 0;
}
