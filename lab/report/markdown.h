/* SPDX-License-Identifier: Apache-2.0
 *
 * markdown: somebody's text inside Markdown, so that it is shown as it is: it opens no table cell,
 * no tag and no link, and mentions nobody.
 *
 * Threads   any.
 * Owns      nothing.
 */
#ifndef GYRE_REPORT_MARKDOWN_H
#define GYRE_REPORT_MARKDOWN_H

#include <stdio.h>

#include "gyre/common.h"

/* On one line; control characters become '?'. */
void gyre_markdown_text(FILE *stream, const char *text);

#endif
