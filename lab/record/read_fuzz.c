/* SPDX-License-Identifier: Apache-2.0
 *
 * read_fuzz: any bytes, as a run file and as the result of a worker.
 *
 * They are refused with a sentence, or they are a run that is written and read back as the same
 * bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/status.h"
#include "record/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static char *text_of(const gyre_run *run, size_t *out_size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, out_size);

    require(stream != NULL);
    gyre_run_write(run, 0, stream);
    fclose(stream);
    return text;
}

static void write_and_read_back(const gyre_run *run)
{
    size_t first_size, second_size;
    char *first = text_of(run, &first_size), *second;
    gyre_run *again;

    require(gyre_run_parse(first, first_size, "again", &again) == GYRE_OK);
    second = text_of(again, &second_size);
    require(first_size == second_size && memcmp(first, second, first_size) == 0);
    gyre_run_destroy(again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    gyre_result result;
    gyre_run *run;

    if (gyre_run_parse(bytes, size, "fuzz", &run) == GYRE_OK) {
        write_and_read_back(run);
    } else {
        require(run == NULL && strstr(gyre_error_last()->text, "'fuzz'") != NULL);
    }
    gyre_run_destroy(run);
    if (gyre_result_parse(bytes, size, &result) != GYRE_OK)
        require(result.id == NULL && gyre_error_last()->text[0] != '\0');
    gyre_result_fini(&result);
    return 0;
}
