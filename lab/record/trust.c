/* SPDX-License-Identifier: Apache-2.0
 *
 * trust: see trust.h.
 */
#include "record/trust.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "gyre/status.h"
#include "record/document.h"
#include "record/head.h"

static const gyre_document_kind kind = {"gyre.selftest/", "the record of a self-test", NULL};

bool gyre_trust_path_of(const char *state, const char *home, char *out_path, size_t size)
{
    int length;

    if (state[0] == '/')
        length = snprintf(out_path, size, "%s/gyre/selftest.json", state);
    else if (home[0] == '/')
        length = snprintf(out_path, size, "%s/.local/state/gyre/selftest.json", home);
    else
        return false;
    return length > 0 && (size_t)length < size;
}

bool gyre_trust_path(char *out_path, size_t size)
{
    return gyre_trust_path_of(gyre_settings_text(GYRE_SETTING_STATE_HOME),
                              gyre_settings_text(GYRE_SETTING_HOME), out_path, size);
}

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* What a record says, if it is about the machine; whether that is the last word. */
static bool judge_record(json_t *json, const gyre_run_machine *machine, gyre_trust *trust)
{
    gyre_complaint complaint = {""};
    const gyre_value root = {.json = json, .complaint = &complaint};
    const bool full = gyre_value_bool(gyre_value_need(&root, "full"));
    const bool passed = gyre_value_bool(gyre_value_need(&root, "passed"));
    const bool proved = gyre_value_bool(gyre_value_need(&root, "proved"));
    gyre_run_machine tested = {0};
    gyre_arena arena = {0};
    bool here;

    gyre_machine_take(&root, &tested, &arena);
    here = same(tested.cpu, machine->cpu) && tested.cpus == machine->cpus &&
           same(tested.hypervisor, machine->hypervisor);
    gyre_arena_fini(&arena);
    if (complaint.text[0])
        snprintf(trust->why, sizeof trust->why, "the record of the self-test is damaged: %s",
                 complaint.text);
    else if (!here)
        snprintf(trust->why, sizeof trust->why,
                 "the self-test on record is of another machine; run 'gyre selftest --full'");
    else if (!passed)
        snprintf(trust->why, sizeof trust->why, "the self-test of this machine failed");
    else if (!full)
        snprintf(trust->why, sizeof trust->why,
                 "only a quick self-test of this machine is on record; run 'gyre selftest --full'");
    else if (!proved)
        snprintf(trust->why, sizeof trust->why,
                 "the self-test of this machine did not count the work that it added; install "
                 "valgrind and run 'gyre selftest --full'");
    trust->tested = here && passed && full && proved && !complaint.text[0];
    return (here && full) || complaint.text[0]; /* a quick one says too little to end the search */
}

/* True when the search is over. */
static bool look_at(const char *path, const gyre_run_machine *machine, gyre_trust *trust)
{
    json_t *root;
    const gyre_status status = gyre_document_read(&kind, path, &root);
    bool over;

    if (status == GYRE_NOT_FOUND)
        return false;
    if (status != GYRE_OK) {
        snprintf(trust->why, sizeof trust->why, "%.*s", (int)sizeof trust->why - 1,
                 gyre_error_last()->text);
        return true;
    }
    over = judge_record(root, machine, trust);
    json_decref(root);
    return over;
}

gyre_trust gyre_trust_find(const char *folder, const gyre_run_machine *machine)
{
    gyre_trust trust = {
        .why = "no full self-test of this machine is on record; run 'gyre selftest --full'"};
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/selftest.json", folder);
    bool over = false;

    if (length > 0 && (size_t)length < sizeof path)
        over = look_at(path, machine, &trust);
    if (!over && gyre_trust_path(path, sizeof path))
        (void)look_at(path, machine, &trust);
    if (trust.tested)
        trust.why[0] = '\0';
    return trust;
}
