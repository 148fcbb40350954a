/* SPDX-License-Identifier: Apache-2.0
 *
 * findings: see findings.h.
 */
#include "report/findings.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "report/markdown.h"
#include "report/terminal.h"

gyre_gate_outcome gyre_gate_outcome_of(const gyre_findings *findings)
{
    if (gyre_findings_count(findings, GYRE_FINDING_FAIL) > 0)
        return GYRE_GATE_FAILED;
    return gyre_findings_count(findings, GYRE_FINDING_UNDECIDED) > 0 ? GYRE_GATE_UNDECIDED
                                                                     : GYRE_GATE_PASSED;
}

const char *gyre_gate_outcome_name(gyre_gate_outcome outcome)
{
    static const char *const names[] = {"passed", "failed", "undecided"};

    return names[outcome];
}

/* "3 of 20 benchmarks" would be wrong: a benchmark may have several findings. */
static void put_counts(FILE *stream, const gyre_findings *findings)
{
    static const char *const words[] = {"failed", "warned of", "undecided", "noted"};

    fprintf(stream, "%zu gated", findings->gated);
    for (int kind = 0; kind < GYRE_FINDINGS; kind++)
        fprintf(stream, ", %zu %s", gyre_findings_count(findings, (gyre_finding_kind)kind),
                words[kind]);
}

void gyre_findings_print(FILE *stream, const gyre_gate_report *report)
{
    static const gyre_ink inks[] = {GYRE_INK_BAD, GYRE_INK_WARN, GYRE_INK_WARN, GYRE_INK_FAINT};
    static const gyre_ink outcome_inks[] = {GYRE_INK_GOOD, GYRE_INK_BAD, GYRE_INK_WARN};
    const gyre_findings *findings = report->findings;
    const gyre_gate_outcome outcome = gyre_gate_outcome_of(findings);
    const char *plain = gyre_terminal_ink(stream, GYRE_INK_PLAIN);

    fprintf(stream, "gate %s%s%s%s: ", gyre_terminal_ink(stream, outcome_inks[outcome]),
            gyre_gate_outcome_name(outcome), plain, report->advisory[0] ? " (advisory)" : "");
    put_counts(stream, findings);
    fputs(report->policy[0] ? "; policy " : "; default policy", stream);
    gyre_text_print(stream, report->policy);
    fputc('\n', stream);
    if (report->advisory[0]) {
        fputs("advisory: ", stream);
        gyre_text_print(stream, report->advisory);
        fputc('\n', stream);
    }
    for (int kind = 0; kind < GYRE_FINDINGS; kind++)
        for (size_t i = 0; i < findings->count; i++) {
            const gyre_finding *f = &findings->items[i];

            if (f->kind != (gyre_finding_kind)kind)
                continue;
            fprintf(stream, "  %s%-10s%s", gyre_terminal_ink(stream, inks[kind]),
                    gyre_finding_kind_name(f->kind), plain);
            gyre_text_print(stream, f->id);
            fputs(": ", stream);
            gyre_text_print(stream, f->text);
            fputc('\n', stream);
        }
}

void gyre_findings_markdown(FILE *stream, const gyre_gate_report *report)
{
    const gyre_findings *findings = report->findings;

    fprintf(stream, "### Gate %s%s\n\n", gyre_gate_outcome_name(gyre_gate_outcome_of(findings)),
            report->advisory[0] ? " (advisory)" : "");
    put_counts(stream, findings);
    fputs(report->policy[0] ? "; policy " : "; default policy", stream);
    gyre_markdown_text(stream, report->policy);
    fputs("\n\n", stream);
    if (report->advisory[0]) {
        fputs("Advisory: ", stream);
        gyre_markdown_text(stream, report->advisory);
        fputs("\n\n", stream);
    }
    for (int kind = 0; kind < GYRE_FINDINGS; kind++)
        for (size_t i = 0; i < findings->count; i++) {
            const gyre_finding *f = &findings->items[i];

            if (f->kind != (gyre_finding_kind)kind)
                continue;
            fprintf(stream, "- **%s** ", gyre_finding_kind_name(f->kind));
            gyre_markdown_text(stream, f->id);
            fputs(": ", stream);
            gyre_markdown_text(stream, f->text);
            fputc('\n', stream);
        }
    if (findings->count > 0)
        fputc('\n', stream);
}

/* A workflow command ends with its line, its properties with a colon or a comma. */
static void put_escaped(FILE *stream, const char *text, const char *special)
{
    for (const char *c = text; *c; c++)
        if (strchr("%\r\n", *c) || strchr(special, *c))
            fprintf(stream, "%%%02X", (unsigned char)*c);
        else if ((unsigned char)*c < ' ')
            fputc('?', stream);
        else
            fputc(*c, stream);
}

static void put_annotation(FILE *stream, const char *level, const char *id, const char *text)
{
    fprintf(stream, "::%s title=", level);
    put_escaped(stream, "gyre gate: ", ":,");
    put_escaped(stream, id, ":,");
    fputs("::", stream);
    put_escaped(stream, text, "");
}

void gyre_findings_annotate(FILE *stream, const gyre_gate_report *report)
{
    static const char *const levels[] = {"error", "warning", "warning", "notice"};
    const gyre_findings *findings = report->findings;

    for (int kind = 0; kind < GYRE_FINDINGS; kind++)
        for (size_t i = 0; i < findings->count; i++) {
            const gyre_finding *f = &findings->items[i];

            if (f->kind != (gyre_finding_kind)kind)
                continue;
            put_annotation(stream, levels[kind], f->id, f->text);
            fprintf(stream, "%s\n", report->advisory[0] ? " (advisory)" : "");
        }
    if (report->advisory[0]) {
        put_annotation(stream, "notice", "advisory", report->advisory);
        fputc('\n', stream);
    }
}

static void write_finding(gyre_json *json, const gyre_finding *f)
{
    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "kind", gyre_finding_kind_name(f->kind));
    gyre_json_string(json, "about", gyre_finding_about_name(f->about));
    gyre_json_string(json, "id", f->id);
    gyre_json_string(json, "text", f->text);
    gyre_json_bool(json, "repeated", f->repeated);
    if (f->about <= GYRE_ABOUT_INSTRUCTIONS && isfinite(f->change)) {
        gyre_json_double(json, "change", f->change);
        gyre_json_double(json, "low", f->low);
        if (isfinite(f->high))
            gyre_json_double(json, "high", f->high);
    }
    gyre_json_end(json);
}

void gyre_findings_write(FILE *stream, const gyre_gate_report *report)
{
    const gyre_findings *findings = report->findings;
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "schema", "gyre.gate-result/1");
    gyre_json_string(&json, "outcome", gyre_gate_outcome_name(gyre_gate_outcome_of(findings)));
    gyre_json_bool(&json, "advisory", report->advisory[0] != '\0');
    if (report->advisory[0])
        gyre_json_string(&json, "advisory_reason", report->advisory);
    gyre_json_string(&json, "policy", report->policy);
    gyre_json_unsigned(&json, "gated", findings->gated);
    gyre_json_begin_object(&json, "counts");
    for (int kind = 0; kind < GYRE_FINDINGS; kind++)
        gyre_json_unsigned(&json, gyre_finding_kind_name((gyre_finding_kind)kind),
                           gyre_findings_count(findings, (gyre_finding_kind)kind));
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "findings");
    for (size_t i = 0; i < findings->count; i++)
        write_finding(&json, &findings->items[i]);
    gyre_json_end(&json);
    gyre_json_end(&json);
}
