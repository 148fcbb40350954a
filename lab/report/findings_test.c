/* SPDX-License-Identifier: Apache-2.0 */
#include "report/findings.h"

#include <math.h>
#include <stdlib.h>

#include "test.h"

static gyre_finding items[] = {
    {GYRE_FINDING_NOTE, GYRE_ABOUT_MISSING, "g/added", "only the new version has it", 0, 0, 0, -1,
     false},
    {GYRE_FINDING_FAIL, GYRE_ABOUT_TIME, "g/a,b:c%d", "time +12 %\n::error::x", 0.12, 0.11, 0.13,
     -1, true},
    {GYRE_FINDING_WARN, GYRE_ABOUT_MEMORY, "g/<b>", "memory\x1b[31m", (double)INFINITY, 0, 0, -1,
     false},
    {GYRE_FINDING_UNDECIDED, GYRE_ABOUT_TIME, "g/once", "open", 0.1, -1, (double)INFINITY, -1,
     false},
};
static gyre_findings findings = {.items = items, .count = 4, .gated = 9};
static char *text;

static const char *printed(void (*print)(FILE *, const gyre_gate_report *), const char *advisory,
                           const char *policy)
{
    const gyre_gate_report report = {&findings, advisory, policy};
    size_t size;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &size);
    if (!stream)
        abort();
    print(stream, &report);
    fclose(stream);
    return text;
}

static void gravest_come_first(void)
{
    CHECK(
        strcmp(printed(gyre_findings_print, "", ""),
               "gate failed: 9 gated, 1 failed, 1 warned of, 1 undecided, 1 noted; default policy\n"
               "  fail      g/a,b:c%d: time +12 %?::error::x\n"
               "  warn      g/<b>: memory?[31m\n"
               "  undecided g/once: open\n"
               "  note      g/added: only the new version has it\n") == 0);
}

static void advisory_is_said_in_every_form(void)
{
    CHECK(strstr(printed(gyre_findings_print, "never tested", "p.json"),
                 "gate failed (advisory): 9 gated"));
    CHECK(strstr(text, "; policy p.json\nadvisory: never tested\n"));
    CHECK(strstr(printed(gyre_findings_markdown, "never tested", "p_q.json"),
                 "### Gate failed (advisory)\n\n"));
    CHECK(strstr(text, "policy p\\_q.json\n\nAdvisory: never tested\n"));
    CHECK(strstr(printed(gyre_findings_annotate, "never tested", ""), " (advisory)\n"));
    CHECK(strstr(text, "::notice title=gyre gate%3A advisory::never tested\n"));
    CHECK(strstr(printed(gyre_findings_write, "never tested", ""), "\"advisory\": true"));
    CHECK(strstr(text, "\"advisory_reason\": \"never tested\""));
}

/* Percent, newline, colon and comma could end the title or begin another command. */
static void annotations_escape_what_github_reads(void)
{
    CHECK(strcmp(printed(gyre_findings_annotate, "", ""),
                 "::error title=gyre gate%3A g/a%2Cb%3Ac%25d::time +12 %25%0A::error::x\n"
                 "::warning title=gyre gate%3A g/<b>::memory?[31m\n"
                 "::warning title=gyre gate%3A g/once::open\n"
                 "::notice title=gyre gate%3A g/added::only the new version has it\n") == 0);
}

static void markdown_lists_them(void)
{
    printed(gyre_findings_markdown, "", "");
    CHECK(strstr(text, "- **fail** g/a,b&#58;c%d: time +12 %?&#58;&#58;error"));
    CHECK(strstr(text, "- **warn** g/&#60;b&#62;: memory?\\[31m\n"));
}

static void json_has_no_endless_number(void)
{
    printed(gyre_findings_write, "", "p.json");
    CHECK(strstr(text, "\"schema\": \"gyre.gate-result/1\""));
    CHECK(strstr(text, "\"outcome\": \"failed\"") && strstr(text, "\"advisory\": false"));
    CHECK(strstr(text, "\"policy\": \"p.json\"") && strstr(text, "\"gated\": 9"));
    CHECK(strstr(text, "\"change\": 0.12") && strstr(text, "\"repeated\": true"));
    CHECK(!strstr(text, "null"));
}

static void outcome_is_that_of_the_gravest(void)
{
    gyre_findings some = {.items = items, .count = 1};

    CHECK(gyre_gate_outcome_of(&findings) == GYRE_GATE_FAILED);
    CHECK(gyre_gate_outcome_of(&some) == GYRE_GATE_PASSED);
    some = (gyre_findings){.items = items + 2, .count = 2};
    CHECK(gyre_gate_outcome_of(&some) == GYRE_GATE_UNDECIDED);
    some.count = 1;
    CHECK(gyre_gate_outcome_of(&some) == GYRE_GATE_PASSED);
}

static const test_case cases[] = {
    TEST(gravest_come_first),
    TEST(advisory_is_said_in_every_form),
    TEST(annotations_escape_what_github_reads),
    TEST(markdown_lists_them),
    TEST(json_has_no_endless_number),
    TEST(outcome_is_that_of_the_gravest),
};
TEST_MAIN(cases)
