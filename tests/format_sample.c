/* SPDX-License-Identifier: Apache-2.0
 *
 * format_sample: writes a fixed run in one format, for script tests of what other people's tools
 * make of it. Usage: format_sample csv|bencher|google [SCALE], format_sample criterion FOLDER
 *
 * SCALE multiplies every time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/bencher.h"
#include "report/criterion.h"
#include "report/csv.h"
#include "report/google.h"
#include "sample_run.h"

static const struct {
    const char *name;
    void (*write)(FILE *stream, const gyre_run *run);
} formats[] = {
    {"csv", gyre_csv_write},
    {"bencher", gyre_bencher_write},
    {"google", gyre_google_write},
};

int main(int argc, char **argv)
{
    static sample_run sample;
    const char *format = argc > 1 ? argv[1] : "";
    const char *word = argc > 2 ? argv[2] : "1";

    if (strcmp(format, "criterion") == 0) {
        sample_run_init(&sample, SAMPLE_MOST, 1);
        return gyre_criterion_export(&sample.run, word, NULL) != GYRE_OK;
    }
    sample_run_init(&sample, SAMPLE_MOST, atof(word));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(format, formats[i].name) != 0)
            continue;
        formats[i].write(stdout, &sample.run);
        return ferror(stdout) != 0;
    }
    fputs("usage: format_sample csv|bencher|google [SCALE], format_sample criterion FOLDER\n",
          stderr);
    return 2;
}
