/* SPDX-License-Identifier: Apache-2.0
 *
 * html: a run as one page that needs nothing else: style, script and data are inside, and no
 * request leaves it. The page is web/report.html; its parts are in the library.
 *
 * Threads   any; one stream each.
 * Owns      nothing.
 * Not here  what the data says (record/run.h), what the page makes of it (web/).
 */
#ifndef GYRE_REPORT_HTML_H
#define GYRE_REPORT_HTML_H

#include <stdio.h>

#include "gyre/common.h"

/* Writes the page around one JSON document, which `write_data` writes with `arg`:
 * {"run": gyre.run/1, "baseline": gyre.run/1 or null, "baseline_name": string or null,
 * "history": see report/trends.h, or null, "thinned": boolean}. Whatever its strings hold, none of
 * it can become markup. Errors stay in the stream, but for one: without memory for the filter the
 * page says so in place of the run. */
void gyre_html_write(FILE *stream, void (*write_data)(FILE *stream, const void *arg),
                     const void *arg);

#endif
