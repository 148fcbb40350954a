/* SPDX-License-Identifier: Apache-2.0
 *
 * report: see report.h.
 */
#include "report/report.h"

#include <limits.h>
#include <stdbool.h>

#include "base/fail.h"
#include "base/json.h"
#include "record/file.h"
#include "report/html.h"

enum { MOST_SAMPLES = 400 }; /* of a series: as many as a chart can show */

static bool is_thinned(const gyre_run *run)
{
    for (size_t i = 0; run && i < run->count; i++)
        if (run->results[i].time.samples.count > MOST_SAMPLES ||
            run->results[i].latency.count > MOST_SAMPLES)
            return true;
    return false;
}

/* The document that the page reads: objects written by others, between keys of ours. */
static void write_data(FILE *stream, const void *arg)
{
    const gyre_report *report = arg;
    gyre_json name = {.stream = stream};

    fputs("{\"run\": ", stream);
    gyre_run_write(report->run, MOST_SAMPLES, stream);
    fputs(", \"baseline\": ", stream);
    if (report->base)
        gyre_run_write(report->base, MOST_SAMPLES, stream);
    else
        fputs("null", stream);
    fputs(", \"baseline_name\": ", stream);
    gyre_json_string(&name, NULL, report->base ? report->base_name : NULL);
    fputs(", \"history\": ", stream);
    if (report->trends && report->trends->count > 0)
        gyre_trends_write(stream, report->trends);
    else
        fputs("null", stream);
    fprintf(stream, ", \"thinned\": %s}\n",
            is_thinned(report->run) || is_thinned(report->base) ? "true" : "false");
}

void gyre_report_write(FILE *stream, const gyre_report *report)
{
    gyre_html_write(stream, write_data, report);
}

static void write_page(FILE *stream, const void *arg)
{
    gyre_report_write(stream, arg);
}

gyre_status gyre_report_save(const char *folder, const char *name, const gyre_report *report,
                             char *out_path, size_t size)
{
    char report_folder[PATH_MAX];
    const int length = snprintf(report_folder, sizeof report_folder, "%s/report", folder);
    gyre_status status;

    if (length < 0 || (size_t)length >= sizeof report_folder ||
        (size_t)snprintf(out_path, size, "%s/%s.html", report_folder, name) >= size)
        return gyre_fail(GYRE_IO, "the path of the folder is too long");
    status = gyre_folder_open(report_folder);
    return status == GYRE_OK ? gyre_file_replace(out_path, write_page, report) : status;
}
