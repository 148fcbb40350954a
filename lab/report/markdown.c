/* SPDX-License-Identifier: Apache-2.0
 *
 * markdown: see markdown.h.
 */
#include "report/markdown.h"

#include <string.h>

void gyre_markdown_text(FILE *stream, const char *text)
{
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;

        if (byte < ' ' || byte == 0x7f)
            fputc('?', stream);
        else if (byte == 0xC2 && ((unsigned char)c[1] & 0xE0) == 0x80) {
            fputc('?', stream); /* Unicode's second block of control characters */
            c++;
        } else if (strchr("<>&@#|`:", *c))
            fprintf(stream, "&#%d;", *c);
        else if (strchr("\\*_[]()~!", *c))
            fprintf(stream, "\\%c", *c);
        else
            fputc(*c, stream);
    }
}
