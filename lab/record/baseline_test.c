/* SPDX-License-Identifier: Apache-2.0 */
#include "record/baseline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/file.h"
#include "record/run_fake.h"
#include "test.h"

static char root[] = "/tmp/gyre-baseline-test-XXXXXX";

static char *at(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static bool error_says(const char *text)
{
    if (strstr(gyre_error_last()->text, text))
        return true;
    fprintf(stderr, "the error is: %s\n", gyre_error_last()->text);
    return false;
}

static void put_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    if (!file)
        abort();
    fwrite(bytes, 1, length, file);
    fclose(file);
}

static bool holds(const char *path, const char *bytes, size_t length)
{
    char got[4096];
    FILE *file = fopen(path, "r");
    size_t size;

    if (!file)
        abort();
    size = fread(got, 1, sizeof got, file);
    fclose(file);
    return size == length && memcmp(got, bytes, size) == 0;
}

/* A run with one benchmark. */
static gyre_run *run_of(const char *id, double ns)
{
    gyre_run *run = fake_run();

    fake_add(run, fake_measured(id, ns));
    return run;
}

static gyre_status save_of(const char *folder, const char *name, const char *id, double ns)
{
    gyre_run *run = run_of(id, ns);
    const gyre_status status = gyre_baseline_save(folder, name, run);

    gyre_run_destroy(run);
    return status;
}

/* The median recorded for that id; 0 when there is none, -1 when the baseline cannot be read. */
static double recorded(const char *folder, const char *name, const char *id)
{
    const gyre_result *result;
    gyre_run *run;
    double ns;

    if (gyre_baseline_load(folder, name, &run) != GYRE_OK)
        return -1;
    result = gyre_run_find(run, id);
    ns = result ? result->time.median_ns : 0;
    gyre_run_destroy(run);
    return ns;
}

static void names_are_checked(void)
{
    static const char *const wrong[] = {
        "",        ".",   "..",
        ".hidden", "a/b", "../x",
        "a b",     "a\n", "\xc3\xa9",
        "a\\b",    "a:b", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    };
    gyre_run *run = run_of("g/a", 1), *none;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(gyre_baseline_save(at("names"), wrong[i], run) == GYRE_INVALID);
        CHECK(error_says("is no name for a baseline"));
        CHECK(gyre_baseline_load(at("names"), wrong[i], &none) == GYRE_INVALID && !none);
    }
    CHECK(access(at("names"), F_OK) != 0); /* nothing was made */
    CHECK(gyre_baseline_save(at("names"), "Az09_-.", run) == GYRE_OK);
    CHECK(gyre_baseline_check(wrong[11] + 1) == GYRE_OK); /* 64 */
    gyre_run_destroy(run);
}

static void missing_baseline_is_not_found(void)
{
    gyre_run *run;

    CHECK(gyre_baseline_load(at("none"), "base", &run) == GYRE_NOT_FOUND && !run);
    CHECK(error_says("no baseline 'base' in") && error_says("there are none"));
    CHECK(save_of(at("few"), "b", "g/a", 1) == GYRE_OK);
    CHECK(save_of(at("few"), "a", "g/a", 1) == GYRE_OK);
    put_bytes(at("few/baselines/.x.json"), "", 0);
    CHECK(gyre_baseline_load(at("few"), "base", &run) == GYRE_NOT_FOUND);
    CHECK(error_says("there are: a, b") && !strstr(gyre_error_last()->text, ".x"));
    for (char name[] = "c_long_long_name"; name[0] < 'z'; name[0]++)
        CHECK(save_of(at("few"), name, "g/a", 1) == GYRE_OK);
    CHECK(gyre_baseline_load(at("few"), "base", &run) == GYRE_NOT_FOUND);
    CHECK(error_says("there are: a, b, c_long_long_name, ") && error_says("_name, ..."));
}

static void measured_results_replace_and_others_stay(void)
{
    char folder[sizeof root + 16];
    gyre_run *run = fake_run();

    snprintf(folder, sizeof folder, "%s/merge", root);
    fake_add(run, fake_measured("g/a", 10));
    fake_add(run, fake_measured("g/b", 20));
    fake_add(run, fake_result("g/c", GYRE_OUTCOME_FAILED));
    REQUIRE(gyre_baseline_save(folder, "base", run) == GYRE_OK);
    gyre_run_destroy(run);
    CHECK(recorded(folder, "base", "g/c") == 0); /* was not measured: not in it */

    run = fake_run();
    run->version = "0.2.0";
    fake_add(run, fake_result("g/a", GYRE_OUTCOME_SKIPPED));
    fake_add(run, fake_measured("g/b", 21));
    fake_add(run, fake_measured("g/d", 40));
    REQUIRE(gyre_baseline_save(folder, "base", run) == GYRE_OK);
    gyre_run_destroy(run);
    CHECK(recorded(folder, "base", "g/a") == 10);
    CHECK(recorded(folder, "base", "g/b") == 21);
    CHECK(recorded(folder, "base", "g/d") == 40);
    REQUIRE(gyre_baseline_load(folder, "base", &run) == GYRE_OK);
    CHECK(run->count == 3 && strcmp(run->version, "0.2.0") == 0);
    CHECK(strcmp(run->results[1].id, "g/b") == 0); /* in its old place */
    gyre_run_destroy(run);
}

static void full_baseline_comes_back(void)
{
    gyre_run *run = fake_full_run(), *again;
    char *first, *second;

    run->count = 1;
    REQUIRE(gyre_baseline_save(at("full"), "base", run) == GYRE_OK);
    REQUIRE(gyre_baseline_load(at("full"), "base", &again) == GYRE_OK);
    first = fake_text(run, 0);
    second = fake_text(again, 0);
    CHECK(strcmp(first, second) == 0);
    free(first);
    free(second);
    run->count = 5;
    gyre_run_destroy(run);
    gyre_run_destroy(again);
}

static void runs_that_save_at_once_are_both_in_it(void)
{
    enum { PROCESSES = 4, ROUNDS = 10 };
    char folder[sizeof root + 16], id[32];
    pid_t children[PROCESSES];

    snprintf(folder, sizeof folder, "%s/both", root);
    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        REQUIRE(children[p] >= 0);
        for (int i = 0; children[p] == 0 && i < ROUNDS; i++) {
            snprintf(id, sizeof id, "g/%d/%d", p, i);
            if (save_of(folder, "base", id, 1 + p) != GYRE_OK)
                _exit(1);
        }
        if (children[p] == 0)
            _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;

        CHECK(waitpid(children[p], &status, 0) == children[p]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        for (int i = 0; i < ROUNDS; i++) {
            snprintf(id, sizeof id, "g/%d/%d", p, i);
            CHECK(recorded(folder, "base", id) == 1 + p);
        }
    }
}

static void save_waits_for_the_lock(void)
{
    char folder[sizeof root + 16];
    struct pollfd done = {.events = POLLIN};
    int ends[2], fd;
    pid_t child;

    snprintf(folder, sizeof folder, "%s/wait", root);
    REQUIRE(save_of(folder, "base", "g/a", 1) == GYRE_OK && pipe(ends) == 0);
    fd = open(at("wait/baselines/base.lock"), O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0 && flock(fd, LOCK_EX) == 0);
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(fd); /* the parent's open file has the lock until both have closed it */
        _exit(save_of(folder, "base", "g/b", 2) != GYRE_OK || write(ends[1], "x", 1) != 1);
    }
    done.fd = ends[0];
    CHECK(poll(&done, 1, 200) == 0);
    CHECK(recorded(folder, "base", "g/b") == 0);
    close(fd);
    CHECK(poll(&done, 1, 20000) == 1);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(recorded(folder, "base", "g/a") == 1 && recorded(folder, "base", "g/b") == 2);
    close(ends[0]);
    close(ends[1]);
}

/* Whether saving over these bytes is refused and leaves them as they are. */
static bool is_left_alone(const char *bytes, size_t length, gyre_status expected)
{
    char folder[sizeof root + 16], path[sizeof folder + 32];

    snprintf(folder, sizeof folder, "%s/damaged", root);
    snprintf(path, sizeof path, "%s/baselines/base.json", folder);
    put_bytes(path, bytes, length);
    return save_of(folder, "base", "g/a", 1) == expected && holds(path, bytes, length) &&
           error_says("/damaged/baselines/base.json'");
}

static void damaged_baseline_is_left_alone(void)
{
    static const char smallest[] =
        "{\"schema\":\"gyre.run/1\",\"benchmarks\":[{\"id\":\"g/b\",\"suite\":\"s\",\"axes\":{},"
        "\"t0\":\"\",\"t1\":\"\",\"observer\":\"\",\"outcome\":\"checked\"}]}";
    static const char newer[] = "{\"schema\": \"gyre.run/2\"}", other[] = "{\"schema\": \"x\"}";
    char folder[sizeof root + 16];

    snprintf(folder, sizeof folder, "%s/damaged", root);
    REQUIRE(save_of(folder, "base", "g/a", 1) == GYRE_OK);
    for (size_t length = 0; length < sizeof smallest - 1; length++)
        CHECK(is_left_alone(smallest, length, GYRE_CORRUPT) && error_says("remove it or choose"));
    CHECK(is_left_alone(newer, sizeof newer - 1, GYRE_UNSUPPORTED) && error_says("newer Gyre"));
    CHECK(is_left_alone(other, sizeof other - 1, GYRE_CORRUPT) && error_says("not a run file"));
    put_bytes(at("damaged/baselines/base.json"), smallest, sizeof smallest - 1);
    CHECK(save_of(folder, "base", "g/a", 3) == GYRE_OK); /* whole, and merged into */
    CHECK(recorded(folder, "base", "g/a") == 3);
}

static void baseline_that_would_be_too_long_is_refused(void)
{
    char id[32];
    gyre_run *run;

    REQUIRE(gyre_run_create_blank(10001, &run) == GYRE_OK);
    for (int i = 0; i < 10001; i++) {
        gyre_result result = fake_result("", GYRE_OUTCOME_MEASURED);

        snprintf(id, sizeof id, "g/%d", i);
        result.id = gyre_arena_text(&result.arena, id);
        fake_samples(&result, &result.time.samples, 1, 1);
        gyre_run_add(run, &result);
    }
    CHECK(gyre_baseline_save(at("long"), "base", run) == GYRE_INVALID);
    CHECK(error_says("more than 10000 benchmarks"));
    CHECK(access(at("long/baselines/base.json"), F_OK) != 0);
    gyre_run_destroy(run);
}

static void folder_that_cannot_be_written_is_a_status(void)
{
    CHECK(save_of("/proc/gyre-out", "base", "g/a", 1) == GYRE_IO);
    CHECK(error_says("/proc/gyre-out"));
    put_bytes(at("plain"), "x", 1);
    CHECK(save_of(at("plain"), "base", "g/a", 1) == GYRE_IO);
    REQUIRE(gyre_folder_open(at("way/baselines/base.lock")) == GYRE_OK); /* not a file */
    CHECK(save_of(at("way"), "base", "g/a", 1) == GYRE_IO && error_says("cannot lock"));
}

static void words_are_baselines_then_latest_then_paths(void)
{
    char folder[sizeof root + 16], path[PATH_MAX], expected[PATH_MAX];

    snprintf(folder, sizeof folder, "%s/words", root);
    REQUIRE(save_of(folder, "base", "g/a", 1) == GYRE_OK);
    put_bytes(at("words/latest.json"), "", 0);
    CHECK(gyre_run_locate(folder, "base", path, sizeof path) == GYRE_OK);
    CHECK(strcmp(path, at("words/baselines/base.json")) == 0);
    CHECK(gyre_run_locate(folder, "latest", path, sizeof path) == GYRE_OK);
    CHECK(strcmp(path, at("words/latest.json")) == 0);
    CHECK(save_of(folder, "latest", "g/a", 1) == GYRE_INVALID); /* it would be hidden */
    snprintf(expected, sizeof expected, "%s", at("words/latest.json"));
    CHECK(gyre_run_locate(folder, expected, path, sizeof path) == GYRE_OK);
    CHECK(strcmp(path, expected) == 0);
    CHECK(gyre_run_locate(folder, "other", path, sizeof path) == GYRE_NOT_FOUND);
    CHECK(error_says("'other' is neither a file nor a baseline in"));
    CHECK(error_says("there are: base"));
    CHECK(gyre_run_locate(folder, "", path, sizeof path) == GYRE_NOT_FOUND);
    CHECK(gyre_run_locate(folder, expected, path, 8) == GYRE_INVALID);
}

static int remove_entry(const char *name, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(name);
}

static const test_case cases[] = {
    TEST(names_are_checked),
    TEST(missing_baseline_is_not_found),
    TEST(measured_results_replace_and_others_stay),
    TEST(full_baseline_comes_back),
    TEST(runs_that_save_at_once_are_both_in_it),
    TEST(save_waits_for_the_lock),
    TEST(damaged_baseline_is_left_alone),
    TEST(baseline_that_would_be_too_long_is_refused),
    TEST(folder_that_cannot_be_written_is_a_status),
    TEST(words_are_baselines_then_latest_then_paths),
};

int main(int argc, char **argv)
{
    int code;

    if (!mkdtemp(root))
        return 1;
    code = test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);
    (void)nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return code;
}
