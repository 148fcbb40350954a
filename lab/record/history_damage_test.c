/* SPDX-License-Identifier: Apache-2.0
 *
 * A history that is damaged, locked, full, read-only or not ours: told, and left as it was.
 */
#include "record/history.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "record/history_fake.h"
#include "test.h"

static const uint64_t SHORT_NS = 50000000;
static const gyre_history_query ALL = {0};

static gyre_status open_status(const char *folder, gyre_history_use use)
{
    gyre_history *history;
    const gyre_status status = gyre_history_open(folder, use, SHORT_NS, &history);

    CHECK((history != NULL) == (status == GYRE_OK));
    gyre_history_close(history);
    return status;
}

static void missing_history_is_not_made_by_reading(void)
{
    const char *folder = fake_folder();

    CHECK(open_status(folder, GYRE_HISTORY_READ) == GYRE_NOT_FOUND);
    CHECK(fake_error_says("there is no history"));
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
    CHECK(fake_history_add(folder, 1, 1, 0) == 1 && fake_runs_in(folder) == 1);
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
    CHECK(open_status(folder, GYRE_HISTORY_READ) == expected && fake_error_says(says));
    CHECK(open_status(folder, GYRE_HISTORY_WRITE) == expected && fake_error_says(says));
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
        count = fake_runs_in(folder);
        CHECK(count <= 20);
        told += count < 0 && gyre_error_last()->status == GYRE_CORRUPT;
        if (count < 0)
            CHECK(gyre_error_last()->status == GYRE_CORRUPT ||
                  gyre_error_last()->status == GYRE_NOT_FOUND);
        if (fake_history_add(folder, 2, 1, SHORT_NS) == 0)
            CHECK(fake_error_says("move it away"));
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
    CHECK(fake_error_says("is damaged (") &&
          strcasestr(gyre_error_last()->text, "page ")); /* which */
    CHECK(fake_error_says("move it away, and the next run begins a new one"));
    gyre_history_close(history);
}

static void something_else_in_its_place_is_told(void)
{
    const char *folder = fake_folder();

    REQUIRE(mkdir(fake_db(folder), 0777) == 0);
    CHECK(open_status(folder, GYRE_HISTORY_WRITE) == GYRE_IO &&
          fake_error_says("is no plain file"));
    CHECK(open_status(folder, GYRE_HISTORY_READ) == GYRE_IO);
    folder = fake_folder();
    REQUIRE(mkfifo(fake_db(folder), 0666) == 0);
    CHECK(open_status(folder, GYRE_HISTORY_WRITE) == GYRE_IO &&
          fake_error_says("is no plain file"));
    CHECK(open_status("/nonexistent/folder", GYRE_HISTORY_WRITE) == GYRE_IO);
    CHECK(fake_error_says("cannot use '/nonexistent/folder/history.db': "));
}

/* In a child, as somebody whom permissions bind. Its exit status is that of the claims in it; 77
 * where root cannot become anybody else. */
static int as_nobody(void (*claims)(const char *folder), const char *folder)
{
    const pid_t pid = fork();
    int state = -1;

    if (pid == 0) {
        if (getuid() == 0 && setuid(65534) != 0)
            _exit(77);
        claims(folder);
        _exit(test_failed() ? 1 : 0);
    }
    return pid > 0 && waitpid(pid, &state, 0) == pid && WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

static void refused_but_read(const char *folder)
{
    CHECK(fake_runs_in(folder) == 1);
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0);
    CHECK(fake_error_says("cannot write") && gyre_error_last()->status == GYRE_IO);
}

static void not_made(const char *folder)
{
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0);
    CHECK(fake_error_says("cannot use") && gyre_error_last()->status == GYRE_IO);
}

static void read_only_history_is_read_and_not_written(void)
{
    char folder[64];
    int code;

    snprintf(folder, sizeof folder, "%s", fake_folder());
    REQUIRE(fake_history_add(folder, 1, 1, 0) == 1);
    REQUIRE(chmod(fake_db(folder), 0444) == 0 && chmod(folder, 0555) == 0);
    code = as_nobody(refused_but_read, folder);
    if (code == 77)
        SKIP("root cannot be somebody else here");
    CHECK(code == 0);
    REQUIRE(chmod(folder, 0777) == 0 && unlink(fake_db(folder)) == 0 && chmod(folder, 0555) == 0);
    CHECK(as_nobody(not_made, folder) == 0);
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
    CHECK(gyre_error_last()->status == GYRE_IO && fake_error_says("cannot "));
    CHECK(fake_runs_in(folder) > 0); /* it can be read still */
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
    CHECK(fake_runs_in(folder) == (int)acknowledged);
    CHECK(fake_is(fake_sql(fake_db(folder), "PRAGMA integrity_check"), "ok"));
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
    CHECK(fake_error_says("in use by another program, for longer than 0.05 s; try again"));
    CHECK(fake_runs_in(folder) == 1); /* who is about to write keeps nobody from reading */
    REQUIRE(sqlite3_exec(holder, "COMMIT; BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(fake_runs_in(folder) == -1 && fake_error_says("in use by another program"));
    REQUIRE(sqlite3_exec(holder, "COMMIT; BEGIN; SELECT * FROM run", NULL, NULL, NULL) ==
            SQLITE_OK);
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 0 &&
          fake_error_says("in use")); /* at COMMIT */
    REQUIRE(sqlite3_exec(holder, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(holder);
    CHECK(fake_history_add(folder, 1, 1, SHORT_NS) == 2 && fake_runs_in(folder) == 2);
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
    REQUIRE(fake_is(fake_sql(fake_db(folder), hostile), ""));
    REQUIRE(gyre_history_open(folder, GYRE_HISTORY_READ, 0, &history) == GYRE_OK);
    REQUIRE(gyre_history_list(history, &ALL, &runs) == GYRE_OK);
    REQUIRE(runs.count == 3);
    CHECK(runs.run[0].number == 0 && runs.run[0].started == 0 &&
          fake_is(runs.run[0].machine, NULL));
    CHECK(runs.run[0].cpus == 0 && isnan(runs.run[0].duration_s) && runs.run[0].results == 0);
    CHECK(fake_is(runs.run[0].commit, "7")); /* which the column has made a text */
    CHECK(runs.run[2].number == INT64_MAX && runs.run[2].cpus == 0);
    CHECK(isnan(runs.run[2].duration_s) && fake_is(runs.run[2].machine, ""));
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
    CHECK(points.count == 1 && fake_is(points.point[0].id, "g/0"));
    gyre_history_points_fini(&points);
    REQUIRE(gyre_history_ids(history, &points) == GYRE_OK);
    CHECK(points.count == 5); /* a blob is no id */
    gyre_history_points_fini(&points);
    gyre_history_close(history);
    CHECK(fake_history_add(folder, 1, 1, 0) > 0 ||
          fake_error_says("history.db")); /* numbers are used up */
}

static const test_case cases[] = {
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
FAKE_ROOT_MAIN(cases)
