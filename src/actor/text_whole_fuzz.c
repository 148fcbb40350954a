/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the text of a behaviour: the program has the same size however much room there is,
 * the same bytes as far as there is some, and ends in a 0.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/behaviour_text.h"

enum { MOST = 4096, SMALL = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check(const gyre_behaviour *behaviour, gyre_behaviour_language language)
{
    char small[SMALL], *whole;
    size_t wanted, again;
    gyre_status status = gyre_behaviour_text(behaviour, language, NULL, 0, &wanted);

    if (status != GYRE_OK)
        return; /* its own include goes round in circles */
    whole = malloc(wanted + 1);
    require(whole);
    require(gyre_behaviour_text(behaviour, language, whole, wanted + 1, &again) == GYRE_OK);
    require(again == wanted && strlen(whole) == wanted);
    require(gyre_behaviour_text(behaviour, language, small, sizeof small, &again) == GYRE_OK);
    require(again == wanted && strlen(small) < SMALL && strncmp(small, whole, SMALL - 1) == 0);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MOST + 2];
    const size_t half = size / 2;
    const gyre_include includes[] = {{"own.h", text + half + 1}, {NULL, NULL}};
    const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                      .name = "any",
                                      .file = "any.c",
                                      .text = text,
                                      .includes = includes};

    if (size >= MOST)
        return 0;
    /* the first half is the file, the second what it includes as "own.h" */
    if (half > 0)
        memcpy(text, data, half);
    text[half] = '\0';
    if (size > half)
        memcpy(text + half + 1, data + half, size - half);
    text[size + 1] = '\0';
    check(&behaviour, GYRE_BEHAVIOUR_IN_CUDA);
    check(&behaviour, GYRE_BEHAVIOUR_IN_OPENCL);
    return 0;
}
