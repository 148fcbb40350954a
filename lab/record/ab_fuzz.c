/* SPDX-License-Identifier: Apache-2.0
 *
 * ab_fuzz: any bytes, as a measurement of two versions.
 *
 * They are refused with a sentence, or they are one that can be judged and that is written and read
 * back as the same bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/status.h"
#include "record/ab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static char *text_of(const gyre_ab *ab, size_t *out_size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, out_size);

    require(stream != NULL);
    gyre_ab_write(ab, stream);
    fclose(stream);
    return text;
}

static void write_and_read_back(const gyre_ab *ab)
{
    size_t first_size, second_size;
    char *first = text_of(ab, &first_size), *second;
    gyre_ab *again;

    require(gyre_ab_parse(first, first_size, "again", &again) == GYRE_OK);
    second = text_of(again, &second_size);
    require(first_size == second_size && memcmp(first, second, first_size) == 0);
    gyre_ab_destroy(again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gyre_ab *ab;

    if (gyre_ab_parse((const char *)data, size, "fuzz", &ab) == GYRE_OK) {
        write_and_read_back(ab);
        require(gyre_ab_judge(ab) == GYRE_OK);
        write_and_read_back(ab);
    } else {
        require(ab == NULL && strstr(gyre_error_last()->text, "'fuzz'") != NULL);
    }
    gyre_ab_destroy(ab);
    return 0;
}
