/* SPDX-License-Identifier: Apache-2.0
 *
 * Writers that meet or are killed are history_crash_test.c's affair.
 */
#include "record/history.h"

#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "record/file.h"
#include "record/history_fake.h"
#include "test.h"

static const uint64_t SHORT_NS = 50000000;
static const gyre_history_query ALL = {0};

static bool error_says(const char *text)
{
    if (strstr(gyre_error_last()->text, text))
        return true;
    fprintf(stderr, "the error is: %s\n", gyre_error_last()->text);
    return false;
}

static bool is(const char *text, const char *expected)
{
    return expected ? text && strcmp(text, expected) == 0 : !text;
}

/* How many runs there are; -1 when it cannot be read. */
static int runs_in(const char *folder)
{
    gyre_history *history;
    gyre_history_runs runs;
    int count = -1;

    if (gyre_history_open(folder, GYRE_HISTORY_READ, SHORT_NS, &history) != GYRE_OK)
        return -1;
    if (gyre_history_list(history, &ALL, &runs) == GYRE_OK) {
        count = (int)runs.count;
        gyre_history_runs_fini(&runs);
    }
    gyre_history_close(history);
    return count;
}

static gyre_status open_status(const char *folder, gyre_history_use use)
{
    gyre_history *history;
    const gyre_status status = gyre_history_open(folder, use, SHORT_NS, &history);

    CHECK((history != NULL) == (status == GYRE_OK));
    gyre_history_close(history);
    return status;
}

static void run_comes_back_as_it_was(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_full_run();
    gyre_history *history;
    gyre_history_runs runs;
    const gyre_history_run *r;
    char key[GYRE_MACHINE_KEY_BYTES];
    uint64_t number;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    CHECK(number == 1);
    REQUIRE(gyre_history_list(history, &ALL, &runs) == GYRE_OK);
    REQUIRE(runs.count == 1);
    r = &runs.run[0];
    gyre_machine_key(&run->machine, key);
    CHECK(r->number == 1 && r->started == 1234567890 && r->duration_s == 65.658465777);
    CHECK(r->interrupted && is(r->gyre, "0.1.0") && is(r->build, "gcc"));
    CHECK(strstr(r->command, "\"sum\"") && strstr(r->options, "\"sample_count\": 11"));
    CHECK(strstr(r->settings, "\"GYRE_LOG\": \"info\""));
    CHECK(is(r->commit, "1a2b3c") && is(r->branch, "topic") && r->dirty);
    CHECK(is(r->machine, key) && is(r->cpu, "cpu") && is(r->hypervisor, "KVM"));
    CHECK(is(r->kernel, "6.1") && r->cpus == 8 && r->allowed_cpus == 4);
    CHECK(r->memory_bytes == 1024 && r->results == 5 && r->measured == 1 && r->failed == 1);
    gyre_history_runs_fini(&runs);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void results_come_back_in_their_order(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_full_run();
    gyre_history *history;
    gyre_history_points points;
    const gyre_history_point *p;
    uint64_t number;

    gyre_bench_note(&run->results[0].facts, "device", "H200");
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.run = number}, &points) == GYRE_OK);
    REQUIRE(points.count == 5);
    p = points.point;
    CHECK(p->run == 1 && p->started == 1234567890 && is(p->commit, "1a2b3c") && p->dirty);
    CHECK(p->position == 1 && is(p->id, "g/full") && is(p->suite, "s"));
    CHECK(is(p->outcome, "measured") && is(p->reason, NULL));
    CHECK(p->median_ns == 15.25 && p->low_ns == 15.25 - 0.1 && p->high_ns == 15.25 + 1 / 3.0);
    CHECK(p->coverage == 0.95 && p->min_ns == 14 && p->mean_ns == 1 && p->std_dev_ns == 3);
    CHECK(p->samples == FAKE_SAMPLES && p->threads == 4);
    CHECK(is(p->device, "H200") && is(p->device_clock, "CUDA events"));
    CHECK(p->cold_ns == 30 && p->hot_ns == 20 && p->peak_rss_bytes == 4096);
    CHECK(p->allocations == 1.5 && p->allocated_bytes == 96 && p->instructions == 123.5);
    CHECK(is(p[1].id, "g/failed") && is(p[1].outcome, "failed"));
    CHECK(is(p[1].reason, "the check says that its answer is wrong"));
    CHECK(isnan(p[1].median_ns) && isnan(p[1].coverage) && isnan(p[1].cold_ns));
    CHECK(isnan(p[1].allocations) && isnan(p[1].instructions) && is(p[1].device, NULL));
    CHECK(is(p[2].outcome, "skipped") && is(p[3].outcome, "checked"));
    CHECK(is(p[4].outcome, "interrupted") && p[4].position == 5 && p[4].threads == 1);
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void series_is_of_one_benchmark_oldest_first(void)
{
    const char *folder = fake_folder();
    gyre_history *history;
    gyre_history_points points;

    for (int i = 0; i < 5; i++)
        REQUIRE(fake_history_add(folder, 3, 100 + i, 0) == (uint64_t)i + 1);
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_READ, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.id = "g/1"}, &points) == GYRE_OK);
    REQUIRE(points.count == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK(points.point[i].median_ns == 101 + (double)i && points.point[i].run == i + 1);
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.id = "g/1", .most = 2}, &points) ==
            GYRE_OK);
    REQUIRE(points.count == 2);
    CHECK(points.point[0].run == 4 && points.point[1].run == 5); /* the newest */
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.id = "g"}, &points) == GYRE_OK);
    CHECK(points.count == 0);
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_ids(history, &points) == GYRE_OK);
    REQUIRE(points.count == 3);
    CHECK(is(points.point[0].id, "g/0") && is(points.point[2].id, "g/2"));
    gyre_history_points_fini(&points);
    gyre_history_close(history);
}

/* Neighbours of the same text share it, and only those. */
static void names_that_begin_alike_stay_apart(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(4, 10);
    gyre_history_points points;
    gyre_history *history;
    uint64_t number;

    run->results[0].id = "g/a";
    run->results[1].id = "g/ab";
    run->results[2].id = "g/abc";
    run->results[3].id = "g/a ";
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &ALL, &points) == GYRE_OK);
    REQUIRE(points.count == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(is(points.point[i].id, run->results[i].id) && is(points.point[i].suite, "s"));
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void only_what_was_measured_is_in_a_measured_series(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_full_run();
    gyre_history *history;
    gyre_history_points points;
    uint64_t number;

    fake_samples(&run->results[3], &run->results[3].time.samples, 10, 1);
    run->results[3].outcome = GYRE_OUTCOME_MEASURED; /* in no time: there is no ratio to it */
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.measured = true}, &points) ==
            GYRE_OK);
    CHECK(points.count == 1 && is(points.point[0].id, "g/full"));
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void machines_are_kept_apart(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(1, 10);
    char one[GYRE_MACHINE_KEY_BYTES], two[GYRE_MACHINE_KEY_BYTES];
    gyre_history *history;
    gyre_history_runs runs;
    gyre_history_points points;
    uint64_t number;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    gyre_machine_key(&run->machine, one);
    run->machine.cpus = 9;
    run->started += 10;
    gyre_machine_key(&run->machine, two);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_list(history, &(gyre_history_query){.machine = two}, &runs) == GYRE_OK);
    CHECK(runs.count == 1 && runs.run[0].number == 2);
    gyre_history_runs_fini(&runs);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.machine = one}, &points) ==
            GYRE_OK);
    CHECK(points.count == 1 && points.point[0].run == 1);
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_list(history, &(gyre_history_query){.since = run->started}, &runs) ==
            GYRE_OK);
    CHECK(runs.count == 1 && runs.run[0].number == 2);
    gyre_history_runs_fini(&runs);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void key_is_of_the_processor_and_nothing_that_an_update_changes(void)
{
    gyre_run_machine machine = {.cpu = "a", .hypervisor = "b", .cpus = 2, .kernel = "6.1"};
    char first[GYRE_MACHINE_KEY_BYTES], other[GYRE_MACHINE_KEY_BYTES];

    gyre_machine_key(&machine, first);
    CHECK(strlen(first) == 8 && strspn(first, "0123456789abcdef") == 8);
    machine.kernel = "6.2";
    machine.memory_bytes = 1;
    machine.clock_cost_ns = 3;
    gyre_machine_key(&machine, other);
    CHECK(strcmp(first, other) == 0);
    machine.hypervisor = NULL;
    gyre_machine_key(&machine, other);
    CHECK(strcmp(first, other) != 0);
    machine.cpu = "ab"; /* not the same letters in another place */
    machine.hypervisor = "";
    gyre_machine_key(&machine, other);
    CHECK(strcmp(first, other) != 0);
}

static void same_run_is_found_again(void)
{
    const char *folder = fake_folder();
    gyre_run *run = fake_history_run(2, 10);
    gyre_history *history;
    uint64_t number, found;

    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_find(history, run, &found) == GYRE_OK);
    CHECK(found == 0);
    REQUIRE(gyre_history_add(history, run, &number) == GYRE_OK);
    REQUIRE(gyre_history_find(history, run, &found) == GYRE_OK);
    CHECK(found == number);
    run->duration_s += 1e-9;
    REQUIRE(gyre_history_find(history, run, &found) == GYRE_OK);
    CHECK(found == 0);
    gyre_history_close(history);
    gyre_run_destroy(run);
}

static void run_that_does_not_fit_is_not_kept_in_part(void)
{
    char folder[64];
    gyre_run *run = fake_history_run(3, 10);
    gyre_history *history;
    uint64_t number;

    snprintf(folder, sizeof folder, "%s", fake_folder());
    REQUIRE(fake_history_add(folder, 3, 10, 0) == 1);
    run->results[2].id = run->results[0].id; /* twice, which no run has */
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_WRITE, 0, &history) == GYRE_OK);
    CHECK(gyre_history_add(history, run, &number) == GYRE_IO && number == 0);
    CHECK(error_says("UNIQUE constraint failed"));
    run->results[2].id = "g/2";
    CHECK(gyre_history_add(history, run, &number) == GYRE_OK &&
          number == 2); /* nothing is left open */
    gyre_history_close(history);
    CHECK(runs_in(folder) == 2);
    CHECK(is(fake_sql(fake_db(folder), "SELECT count(*) FROM result"), "6"));
    gyre_run_destroy(run);
}

static void folder_may_look_like_an_address(void)
{
    static const char name[] = "file:odd?mode=memory";
    char before[PATH_MAX];

    REQUIRE(getcwd(before, sizeof before) && chdir(fake_folder()) == 0);
    REQUIRE(mkdir(name, 0777) == 0);
    CHECK(fake_history_add(name, 1, 1, 0) == 1);
    CHECK(runs_in(name) == 1 && access("file:odd?mode=memory/history.db", F_OK) == 0);
    REQUIRE(chdir(before) == 0);
}

static void missing_history_is_not_made_by_reading(void)
{
    const char *folder = fake_folder();

    CHECK(open_status(folder, GYRE_HISTORY_READ) == GYRE_NOT_FOUND);
    CHECK(error_says("there is no history"));
    CHECK(access(fake_db(folder), F_OK) != 0);
}

/* A writer that was killed before its first commit leaves one. */
static void empty_file_is_a_history_without_runs(void)
{
    const char *folder = fake_folder();
    FILE *file = fopen(fake_db(folder), "w");

    REQUIRE(file != NULL);
    fclose(file);
    CHECK(open_status(folder, GYRE_HISTORY_READ) == GYRE_NOT_FOUND);
    CHECK(fake_history_add(folder, 1, 1, 0) == 1 && runs_in(folder) == 1);
}

/* Neither reads nor writes it, and leaves every byte. */
static void left_alone(const char *folder, gyre_status expected, const char *says)
{
    char before[16384], after[16384];
    FILE *file = fopen(fake_db(folder), "r");
    size_t size, again;

    REQUIRE(file != NULL);
    size = fread(before, 1, sizeof before, file);
    fclose(file);
    CHECK(open_status(folder, GYRE_HISTORY_READ) == expected && error_says(says));
    CHECK(open_status(folder, GYRE_HISTORY_WRITE) == expected && error_says(says));
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0);
    file = fopen(fake_db(folder), "r");
    REQUIRE(file != NULL);
    again = fread(after, 1, sizeof after, file);
    fclose(file);
    CHECK(size == again && memcmp(before, after, size) == 0);
}

static void newer_history_is_refused(void)
{
    const char *folder = fake_folder();

    REQUIRE(fake_history_add(folder, 1, 1, 0) == 1);
    fake_sql(fake_db(folder), "PRAGMA user_version = 2");
    left_alone(folder, GYRE_UNSUPPORTED, "newer Gyre (version 2");
}

static void database_of_another_program_is_refused(void)
{
    const char *folder = fake_folder();

    fake_sql(fake_db(folder), "CREATE TABLE bookmarks (url TEXT)");
    left_alone(folder, GYRE_CORRUPT, "belongs to another program");
    folder = fake_folder();
    fake_sql(fake_db(folder), "PRAGMA application_id = 7");
    left_alone(folder, GYRE_CORRUPT, "belongs to another program");
}

static void other_tables_under_our_name_are_refused(void)
{
    static const char *const changes[] = {
        "ALTER TABLE run RENAME COLUMN cpu TO gpu",
        "DROP TABLE result",
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM result; END",
        "DROP TABLE result; CREATE VIEW result AS SELECT 1 AS run",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *folder = fake_folder();

        REQUIRE(fake_history_add(folder, 1, 1, 0) == 1);
        fake_sql(fake_db(folder), changes[i]);
        left_alone(folder, GYRE_CORRUPT, "other tables than a history");
    }
}

static void other_bytes_are_no_database(void)
{
    const char *folder = fake_folder();
    FILE *file = fopen(fake_db(folder), "w");

    REQUIRE(file != NULL);
    for (int i = 0; i < 2000; i++)
        fputs("not a database ", file);
    fclose(file);
    left_alone(folder, GYRE_CORRUPT, "is no database, or damaged; move it away");
}

/* Whatever is overwritten or missing: no crash, no hang, and never a run that was not there. */
static void damaged_file_is_told_or_read_within_limits(void)
{
    const char *folder = fake_folder();
    char good[PATH_MAX], command[64];
    struct stat there;
    int told = 0;

    for (int i = 0; i < 20; i++)
        REQUIRE(fake_history_add(folder, 40, 100, 0) > 0);
    snprintf(good, sizeof good, "%s/good", folder);
    REQUIRE(rename(fake_db(folder), good) == 0 && stat(good, &there) == 0);
    for (int round = 0; round < 120; round++) {
        const off_t at = (off_t)((unsigned long long)there.st_size * (unsigned)(round % 60) / 60);
        FILE *from = fopen(good, "r"), *to = fopen(fake_db(folder), "w+");
        int byte, count;

        REQUIRE(from && to);
        while ((byte = fgetc(from)) != EOF)
            fputc(byte, to);
        fclose(from);
        fflush(to);
        if (round < 60) {
            fseek(to, (long)at, SEEK_SET);
            for (int i = 0; i < 2048; i++)
                fputc(i * 37 + round, to);
        } else {
            REQUIRE(ftruncate(fileno(to), at) == 0);
        }
        fclose(to);
        count = runs_in(folder);
        CHECK(count <= 20);
        told += count < 0 && gyre_error_last()->status == GYRE_CORRUPT;
        if (count < 0)
            CHECK(gyre_error_last()->status == GYRE_CORRUPT ||
                  gyre_error_last()->status == GYRE_NOT_FOUND);
        if (fake_history_add(folder, 2, 1, SHORT_NS) == 0)
            CHECK(error_says("move it away"));
        unlink(fake_db(folder));
    }
    snprintf(command, sizeof command, "%d of 120 damages were seen by listing", told);
    puts(command);
    CHECK(told > 30);
}

static void damage_is_named(void)
{
    const char *folder = fake_folder();
    gyre_history_points points;
    gyre_history *history;
    gyre_status status;
    FILE *file;

    for (int i = 0; i < 20; i++)
        REQUIRE(fake_history_add(folder, 40, 100, 0) > 0);
    file = fopen(fake_db(folder), "r+");
    REQUIRE(file != NULL);
    fseek(file, 3L * 4096, SEEK_SET);
    for (int i = 0; i < 20 * 4096; i++)
        fputc(0xa5, file);
    fclose(file);
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_READ, 0, &history) == GYRE_OK);
    status = gyre_history_series(history, &ALL, &points);
    CHECK(status == GYRE_CORRUPT && points.count == 0);
    CHECK(error_says("is damaged (") && strcasestr(gyre_error_last()->text, "page ")); /* which */
    CHECK(error_says("move it away, and the next run begins a new one"));
    gyre_history_close(history);
}

static void something_else_in_its_place_is_told(void)
{
    const char *folder = fake_folder();

    REQUIRE(mkdir(fake_db(folder), 0777) == 0);
    CHECK(open_status(folder, GYRE_HISTORY_WRITE) == GYRE_IO && error_says("is no plain file"));
    CHECK(open_status(folder, GYRE_HISTORY_READ) == GYRE_IO);
    folder = fake_folder();
    REQUIRE(mkfifo(fake_db(folder), 0666) == 0);
    CHECK(open_status(folder, GYRE_HISTORY_WRITE) == GYRE_IO && error_says("is no plain file"));
    CHECK(open_status("/nonexistent/folder", GYRE_HISTORY_WRITE) == GYRE_IO);
    CHECK(error_says("cannot use '/nonexistent/folder/history.db': "));
}

/* In a child, as somebody whom permissions bind. Its exit status is that of the claims in it. */
static bool as_nobody(void (*claims)(const char *folder), const char *folder)
{
    const pid_t pid = fork();
    int state = -1;

    if (pid == 0) {
        if (getuid() == 0 && setuid(65534) != 0)
            _exit(3);
        claims(folder);
        _exit(test_failed() ? 1 : 0);
    }
    return pid > 0 && waitpid(pid, &state, 0) == pid && state == 0;
}

static void refused_but_read(const char *folder)
{
    CHECK(runs_in(folder) == 1);
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0);
    CHECK(error_says("cannot write") && gyre_error_last()->status == GYRE_IO);
}

static void not_made(const char *folder)
{
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0);
    CHECK(error_says("cannot use") && gyre_error_last()->status == GYRE_IO);
}

static void read_only_history_is_read_and_not_written(void)
{
    char folder[64];

    snprintf(folder, sizeof folder, "%s", fake_folder());
    REQUIRE(fake_history_add(folder, 1, 1, 0) == 1);
    REQUIRE(chmod(fake_db(folder), 0444) == 0 && chmod(folder, 0555) == 0);
    CHECK(as_nobody(refused_but_read, folder));
    REQUIRE(chmod(folder, 0777) == 0 && unlink(fake_db(folder)) == 0 && chmod(folder, 0555) == 0);
    CHECK(as_nobody(not_made, folder));
    chmod(folder, 0777);
}

/* Writes until a file may not grow any more; what was acknowledged goes to the pipe. */
static void fill(const char *folder, int fd)
{
    const struct rlimit limit = {200000, 200000};
    uint64_t number;

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    while ((number = fake_history_add(folder, 40, 1, 0)) > 0)
        if (write(fd, &number, sizeof number) != sizeof number)
            _exit(2);
    CHECK(gyre_error_last()->status == GYRE_IO && error_says("cannot "));
    CHECK(runs_in(folder) > 0); /* it can be read still */
    _exit(test_failed() ? 1 : 0);
}

static void full_disk_loses_nothing_old(void)
{
    char folder[64];
    uint64_t number, acknowledged = 0;
    int ends[2], state = -1;
    pid_t pid;

    snprintf(folder, sizeof folder, "%s", fake_folder());
    REQUIRE(pipe(ends) == 0);
    pid = fork();
    if (pid == 0)
        fill(folder, ends[1]);
    close(ends[1]);
    while (read(ends[0], &number, sizeof number) == sizeof number)
        acknowledged = number;
    close(ends[0]);
    REQUIRE(pid > 0 && waitpid(pid, &state, 0) == pid);
    CHECK(state == 0 && acknowledged > 2);
    CHECK(runs_in(folder) == (int)acknowledged);
    CHECK(is(fake_sql(fake_db(folder), "PRAGMA integrity_check"), "ok"));
    CHECK(fake_history_add(folder, 40, 1, 0) == acknowledged + 1); /* there is room again */
}

static void locked_history_is_waited_for_and_then_told(void)
{
    char folder[64];
    sqlite3 *holder = NULL;

    snprintf(folder, sizeof folder, "%s", fake_folder());
    REQUIRE(fake_history_add(folder, 1, 1, 0) == 1);
    REQUIRE(sqlite3_open(fake_db(folder), &holder) == SQLITE_OK);
    REQUIRE(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0);
    CHECK(gyre_error_last()->status == GYRE_IO);
    CHECK(error_says("in use by another program, for longer than 0.05 s; try again"));
    CHECK(runs_in(folder) == 1); /* who is about to write keeps nobody from reading */
    REQUIRE(sqlite3_exec(holder, "COMMIT; BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(runs_in(folder) == -1 && error_says("in use by another program"));
    REQUIRE(sqlite3_exec(holder, "COMMIT; BEGIN; SELECT * FROM run", NULL, NULL, NULL) ==
            SQLITE_OK);
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0 && error_says("in use")); /* at COMMIT */
    REQUIRE(sqlite3_exec(holder, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(holder);
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 2 && runs_in(folder) == 2);
}

static const char hostile[] =
    "INSERT INTO run (number, started, machine, commit_id, cpus, duration_s, dirty, results) "
    "VALUES (-5, 'yesterday', x'00ff', 7, 'many', 'long', 'yes', -3);"
    "INSERT INTO run (number, started, machine, duration_s, cpus, cpu) VALUES "
    "(9223372036854775807, x'32303039', '', 9e999, 1e300, 'a' || char(27) || '[31m');"
    "INSERT INTO result (run, position, id, outcome, median_ns, low_ns, samples, threads) VALUES "
    "(1, 'x', x'0102', 9, 'fast', -1, -7, 'two'), (1, 99, 'g/' || char(27) || '[2J', 'measured', "
    "9e999, -9e999, 1e18, 3.5), ('one', 1, 'lost', 'measured', 1, 1, 1, 1), "
    "(1, 100, hex(zeroblob(50000)), 'measured', 1e300, 5, 9223372036854775807, 1), "
    "(1, 101, 'g/text', 'measured', 'abc', 5, 1, 1)";

static void hostile_rows_are_unknown_not_believed(void)
{
    const char *folder = fake_folder();
    gyre_history *history;
    gyre_history_runs runs;
    gyre_history_points points;

    REQUIRE(fake_history_add(folder, 1, 1, 0) == 1);
    REQUIRE(is(fake_sql(fake_db(folder), hostile), ""));
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_READ, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_list(history, &ALL, &runs) == GYRE_OK);
    REQUIRE(runs.count == 3);
    CHECK(runs.run[0].number == 0 && runs.run[0].started == 0 && is(runs.run[0].machine, NULL));
    CHECK(runs.run[0].cpus == 0 && isnan(runs.run[0].duration_s) && runs.run[0].results == 0);
    CHECK(is(runs.run[0].commit, "7")); /* which the column has made a text */
    CHECK(runs.run[2].number == INT64_MAX && runs.run[2].cpus == 0);
    CHECK(isnan(runs.run[2].duration_s) && is(runs.run[2].machine, ""));
    gyre_history_runs_fini(&runs);
    REQUIRE(gyre_history_series(history, &ALL, &points) == GYRE_OK);
    REQUIRE(points.count == 5);
    for (size_t i = 0; i < points.count; i++) {
        const gyre_history_point *p = &points.point[i];

        CHECK(isnan(p->median_ns) || (p->median_ns >= 0 && p->median_ns <= 1e18));
        CHECK(isnan(p->low_ns) || p->low_ns >= 0);
        CHECK(!p->id || strlen(p->id) <= 65536);
    }
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_series(history, &(gyre_history_query){.measured = true}, &points) ==
            GYRE_OK);
    CHECK(points.count == 1 && is(points.point[0].id, "g/0"));
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_ids(history, &points) == GYRE_OK);
    CHECK(points.count == 5); /* a blob is no id */
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    CHECK(fake_history_add(folder, 1, 1, 0) > 0 ||
          error_says("history.db")); /* numbers are used up */
}

static const test_case cases[] = {
    TEST(run_comes_back_as_it_was),
    TEST(results_come_back_in_their_order),
    TEST(series_is_of_one_benchmark_oldest_first),
    TEST(names_that_begin_alike_stay_apart),
    TEST(only_what_was_measured_is_in_a_measured_series),
    TEST(machines_are_kept_apart),
    TEST(key_is_of_the_processor_and_nothing_that_an_update_changes),
    TEST(same_run_is_found_again),
    TEST(run_that_does_not_fit_is_not_kept_in_part),
    TEST(folder_may_look_like_an_address),
    TEST(missing_history_is_not_made_by_reading),
    TEST(empty_file_is_a_history_without_runs),
    TEST(newer_history_is_refused),
    TEST(database_of_another_program_is_refused),
    TEST(other_tables_under_our_name_are_refused),
    TEST(other_bytes_are_no_database),
    TEST(damaged_file_is_told_or_read_within_limits),
    TEST(damage_is_named),
    TEST(something_else_in_its_place_is_told),
    TEST(read_only_history_is_read_and_not_written),
    TEST(full_disk_loses_nothing_old),
    TEST(locked_history_is_waited_for_and_then_told),
    TEST(hostile_rows_are_unknown_not_believed),
};

int main(int argc, char **argv)
{
    int code;

    fake_root_make();
    code = test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);
    fake_root_forget();
    return code;
}
