/* SPDX-License-Identifier: Apache-2.0
 *
 * report_page: the report around the document on stdin, to stdout. For report_test.sh.
 */
#include "report/html.h"

static void copy(FILE *stream, const void *arg)
{
    char bytes[4096];
    size_t count;

    (void)arg;
    while ((count = fread(bytes, 1, sizeof bytes, stdin)) > 0)
        fwrite(bytes, 1, count, stream);
}

int main(void)
{
    gyre_html_write(stdout, copy, NULL);
    return fflush(stdout) != 0 || ferror(stdout) || ferror(stdin);
}
