/* SPDX-License-Identifier: Apache-2.0 */
#include "record/trust.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gyre/settings.h"
#include "test.h"

static char root[] = "/tmp/gyre_trust_test_XXXXXX", state[PATH_MAX], folder[PATH_MAX];
static const gyre_run_machine machine = {.cpu = "A CPU", .cpus = 4, .hypervisor = "KVM"};

static void put(const char *where, const char *text)
{
    char path[2 * PATH_MAX];
    FILE *file;

    snprintf(path, sizeof path, "%s/selftest.json", where);
    file = fopen(path, "w");
    if (!file)
        abort();
    fputs(text, file);
    fclose(file);
}

static void record(const char *where, bool full, bool passed, const char *cpu)
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"schema\": \"gyre.selftest/1\", \"full\": %s, \"passed\": %s, \"proved\": true, "
             "\"machine\": {\"cpu\": "
             "\"%s\", \"cpus\": 4, \"hypervisor\": \"KVM\", \"kernel\": \"6\"}}",
             full ? "true" : "false", passed ? "true" : "false", cpu);
    put(where, text);
}

static void forget(const char *where)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/selftest.json", where);
    unlink(path);
}

static bool distrusts(const char *words)
{
    const gyre_trust trust = gyre_trust_find(folder, &machine);
    const bool does = !trust.tested && strstr(trust.why, words);

    if (!does)
        fprintf(stderr, "  tested %d: %s\n", trust.tested, trust.why);
    return does;
}

static bool trusts(void)
{
    const gyre_trust trust = gyre_trust_find(folder, &machine);

    return trust.tested && trust.why[0] == '\0';
}

static void nothing_on_record_is_no_reason_to_trust(void)
{
    CHECK(distrusts("no full self-test of this machine is on record"));
}

static void record_of_the_folder_comes_first(void)
{
    record(folder, true, true, "A CPU");
    record(state, true, false, "A CPU");
    CHECK(trusts());
    record(folder, true, false, "A CPU");
    record(state, true, true, "A CPU");
    CHECK(distrusts("the self-test of this machine failed"));
    forget(folder);
    CHECK(trusts());
    forget(state);
}

static void quick_one_is_not_enough(void)
{
    record(state, false, true, "A CPU");
    CHECK(distrusts("only a quick self-test"));
    record(folder, false, true, "A CPU");
    CHECK(distrusts("only a quick self-test"));
    record(state, true, true, "A CPU"); /* which the quick one does not hide */
    CHECK(trusts());
    record(folder, false, false, "A CPU");
    CHECK(trusts());
    forget(folder);
    forget(state);
}

static void record_of_another_machine_does_not_count(void)
{
    static const gyre_run_machine others[] = {
        {.cpu = "B CPU", .cpus = 4, .hypervisor = "KVM"},
        {.cpu = "A CPU", .cpus = 8, .hypervisor = "KVM"},
        {.cpu = "A CPU", .cpus = 4, .hypervisor = "Xen"},
        {.cpu = "A CPU", .cpus = 4},
        {.cpus = 4, .hypervisor = "KVM"},
    };

    record(folder, true, true, "A CPU");
    CHECK(trusts());
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(!gyre_trust_find(folder, &others[i]).tested);
    record(folder, true, true, "another");
    CHECK(distrusts("of another machine"));
    record(state, true, true, "A CPU");
    CHECK(trusts());
    forget(folder);
    forget(state);
}

static void damaged_record_is_a_reason_not_to_trust(void)
{
    put(folder, "{\"schema\": \"gyre.selftest/1\"}");
    CHECK(distrusts("the record of the self-test is damaged: full is missing"));
    put(folder, "{");
    CHECK(distrusts("selftest.json'"));
    put(folder, "{\"schema\": \"gyre.selftest/2\"}");
    CHECK(distrusts("newer Gyre"));
    forget(folder);
}

static void state_folder_is_the_convention_s(void)
{
    char path[PATH_MAX], expected[2 * PATH_MAX];

    REQUIRE(gyre_trust_path(path, sizeof path));
    snprintf(expected, sizeof expected, "%s/selftest.json", state);
    CHECK(strcmp(path, expected) == 0);
    CHECK(!gyre_trust_path(path, 8));
    REQUIRE(gyre_trust_path_of("relative", "/home/x", path, sizeof path));
    CHECK(strcmp(path, "/home/x/.local/state/gyre/selftest.json") == 0);
    CHECK(!gyre_trust_path_of("", "", path, sizeof path));
    CHECK(!gyre_trust_path_of("", "x", path, sizeof path));
}

static const test_case cases[] = {
    TEST(nothing_on_record_is_no_reason_to_trust),
    TEST(record_of_the_folder_comes_first),
    TEST(quick_one_is_not_enough),
    TEST(record_of_another_machine_does_not_count),
    TEST(damaged_record_is_a_reason_not_to_trust),
    TEST(state_folder_is_the_convention_s),
};

int main(int argc, char **argv)
{
    int code;

    if (!mkdtemp(root))
        return 1;
    snprintf(folder, sizeof folder, "%s/out", root);
    snprintf(state, sizeof state, "%s/gyre", root);
    if (mkdir(folder, 0700) || mkdir(state, 0700) ||
        gyre_settings_set("XDG_STATE_HOME", root) != GYRE_OK)
        return 1;
    code = test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);
    return rmdir(folder) || rmdir(state) || rmdir(root) ? 1 : code; /* all records are gone */
}
