/* SPDX-License-Identifier: Apache-2.0
 *
 * html: see html.h.
 */
#include "report/html.h"

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

/* The bytes of a file of web/, between two symbols. The assembler finds the file by the folder
 * given in lab/CMakeLists.txt. */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".hidden gyre_html_" #name "\n"                                                        \
            ".globl gyre_html_" #name "\n"                                                         \
            "gyre_html_" #name ":\n"                                                               \
            ".incbin \"" file "\"\n"                                                               \
            ".hidden gyre_html_" #name "_end\n"                                                    \
            ".globl gyre_html_" #name "_end\n"                                                     \
            "gyre_html_" #name "_end:\n"                                                           \
            ".popsection\n");                                                                      \
    extern const char gyre_html_##name[] __attribute__((visibility("hidden")));                    \
    extern const char gyre_html_##name##_end[] __attribute__((visibility("hidden")))

EMBED(page, "report.html");
EMBED(style, "report.css");
EMBED(data, "report_data.js");
EMBED(plot, "report_plot.js");
EMBED(charts, "report_charts.js");
EMBED(groups, "report_groups.js");
EMBED(trend, "report_trend.js");
EMBED(detail, "report_detail.js");
EMBED(main, "report.js");

/* What the page's line @NAME@ stands for. */
typedef struct part {
    const char *name;
    const char *start;
    const char *end;
} part;

static const part parts[] = {
    {"report.css", gyre_html_style, gyre_html_style_end},
    {"report_data.js", gyre_html_data, gyre_html_data_end},
    {"report_plot.js", gyre_html_plot, gyre_html_plot_end},
    {"report_charts.js", gyre_html_charts, gyre_html_charts_end},
    {"report_groups.js", gyre_html_groups, gyre_html_groups_end},
    {"report_trend.js", gyre_html_trend, gyre_html_trend_end},
    {"report_detail.js", gyre_html_detail, gyre_html_detail_end},
    {"report.js", gyre_html_main, gyre_html_main_end},
};

/* What stands between the data and the page. U+2028 and U+2029 are three bytes that may come in
 * different writes, so those that may begin one wait in `held`. */
typedef struct filter {
    FILE *stream;
    size_t held; /* bytes of E2 80 that were seen and not yet written */
} filter;

static const char separator[] = "\xe2\x80"; /* A8 and A9 follow */

static void let_go(filter *f)
{
    fwrite(separator, 1, f->held, f->stream);
    f->held = 0;
}

static void pass(filter *f, unsigned char byte)
{
    if (f->held == 2 && (byte == 0xa8 || byte == 0xa9)) {
        fprintf(f->stream, "\\u20%02x", byte - 0x80);
        f->held = 0;
        return;
    }
    if (f->held < 2 && byte == (unsigned char)separator[f->held]) {
        f->held++;
        return;
    }
    let_go(f);
    if (byte == (unsigned char)separator[0])
        f->held = 1;
    else if (byte == '<' || byte == '>' || byte == '&') /* in JSON these occur in strings only */
        fprintf(f->stream, "\\u%04x", byte);
    else
        fputc(byte, f->stream);
}

/* Never fails: a failure of the stream behind it stays there. */
static ssize_t pass_all(void *cookie, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        pass(cookie, (unsigned char)bytes[i]);
    return (ssize_t)size;
}

static void write_filtered(FILE *stream, void (*write_data)(FILE *stream, const void *arg),
                           const void *arg)
{
    filter f = {.stream = stream};
    FILE *data = fopencookie(&f, "w", (cookie_io_functions_t){.write = pass_all});

    if (!data) {
        fputs("{\"failure\": \"there was no memory to write its data\"}\n", stream);
        return;
    }
    write_data(data, arg);
    fclose(data);
    let_go(&f);
    fputc('\n', stream);
}

/* The part that this line of the page stands for; NULL when the line is the page's own. */
static const part *part_of(const char *line, size_t length)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t name = strlen(parts[i].name);

        if (length == name + 2 && line[0] == '@' && memcmp(line + 1, parts[i].name, name) == 0)
            return &parts[i];
    }
    return NULL;
}

void gyre_html_write(FILE *stream, void (*write_data)(FILE *stream, const void *arg),
                     const void *arg)
{
    static const char data_line[] = "@data@";
    const char *line = gyre_html_page;

    while (line < gyre_html_page_end) {
        const char *newline = memchr(line, '\n', (size_t)(gyre_html_page_end - line));
        const char *end = newline ? newline : gyre_html_page_end;
        const size_t length = (size_t)(end - line);
        const part *p = part_of(line, length);

        if (p)
            fwrite(p->start, 1, (size_t)(p->end - p->start), stream);
        else if (length == strlen(data_line) && memcmp(line, data_line, length) == 0)
            write_filtered(stream, write_data, arg);
        else
            fprintf(stream, "%.*s\n", (int)length, line);
        line = newline ? newline + 1 : end;
    }
}
