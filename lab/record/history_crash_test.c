/* SPDX-License-Identifier: Apache-2.0
 *
 * Writers at once, and writers that are killed: every run that was acknowledged is there, whole,
 * and no half of another.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "gyre/clock.h"
#include "record/history_fake.h"
#include "stat/random.h"
#include "test.h"

enum { WRITERS = 4, RUNS = 50, RESULTS = 12, KILLS = 120, KILLS_PER_FILE = 12 };

static const uint64_t PATIENCE_NS = 240000000000; /* more than a loaded machine needs */
static char folder[64];

static const char whole[] =
    "SELECT count(*) FROM run WHERE results IS NOT (SELECT count(*) FROM result "
    "WHERE result.run = run.number)";
static const char orphans[] =
    "SELECT count(*) FROM result WHERE run NOT IN (SELECT number FROM run)";

static bool is_empty(void)
{
    return strcmp(fake_sql(fake_db(folder), "SELECT count(*) FROM sqlite_schema"), "0") == 0;
}

/* Nothing is torn. */
static void check_file(void)
{
    CHECK(strcmp(fake_sql(fake_db(folder), "PRAGMA integrity_check"), "ok") == 0);
    CHECK(strcmp(fake_sql(fake_db(folder), whole), "0") == 0);
    CHECK(strcmp(fake_sql(fake_db(folder), orphans), "0") == 0);
}

static void writers_at_once_are_all_there(void)
{
    int failed = 0;

    snprintf(folder, sizeof folder, "%s", fake_folder());
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            for (int k = 0; k < RUNS; k++)
                if (fake_history_add(folder, RESULTS, 1 + i, PATIENCE_NS) == 0) {
                    fprintf(stderr, "writer %d: %s\n", i, gyre_error_last()->text);
                    _exit(1);
                }
            _exit(0);
        }
    for (int i = 0, state; i < WRITERS; i++)
        failed += wait(&state) < 0 || state != 0;
    CHECK(failed == 0);
    check_file();
    CHECK(strcmp(fake_sql(fake_db(folder), "SELECT count(*) || ' ' || max(number) FROM run"),
                 "200 200") == 0);
    CHECK(strcmp(fake_sql(fake_db(folder), "SELECT count(*) FROM result"), "2400") == 0);
}

/* Adds runs for as long as it lives, and says of each that it is kept. */
static void write_until_killed(int fd)
{
    for (;;) {
        const uint64_t number = fake_history_add(folder, RESULTS, 1, PATIENCE_NS);

        if (number == 0 || write(fd, &number, sizeof number) != sizeof number) {
            fprintf(stderr, "writer: %s\n", gyre_error_last()->text);
            _exit(1);
        }
    }
}

/* One writer, killed after a while. The last number it acknowledged; 0 for none. */
static uint64_t kill_one(uint64_t after_ns)
{
    const struct timespec pause = {(time_t)(after_ns / 1000000000), (long)(after_ns % 1000000000)};
    uint64_t number, last = 0;
    int ends[2], state = 0;
    pid_t pid;

    if (pipe(ends) != 0)
        abort();
    pid = fork();
    if (pid < 0)
        abort(); /* to kill -1 is to kill everybody */
    if (pid == 0) {
        close(ends[0]);
        write_until_killed(ends[1]);
    }
    close(ends[1]);
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    while (read(ends[0], &number, sizeof number) == sizeof number)
        last = number;
    close(ends[0]);
    CHECK(waitpid(pid, &state, 0) == pid && WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL);
    return last;
}

static void killed_writer_leaves_whole_runs(void)
{
    uint64_t seed = (uint64_t)time(NULL), acknowledged = 0, begun = 0, hot = 0;
    gyre_stat_random random;

    printf("seed %llu\n", (unsigned long long)seed);
    gyre_stat_random_seed(&random, seed);
    for (int i = 0; i < KILLS; i++) {
        char journal[96], sql[64];
        uint64_t last;

        if (i % KILLS_PER_FILE == 0) { /* the making of the file is a moment, too */
            snprintf(folder, sizeof folder, "%s", fake_folder());
            acknowledged = 0;
        }
        last = kill_one(gyre_stat_random_below(&random, i % 3 == 0 ? 3000000 : 40000000));
        begun += last > 0;
        acknowledged = last > acknowledged ? last : acknowledged;
        snprintf(journal, sizeof journal, "%s/history.db-journal", folder);
        hot += access(journal, F_OK) == 0;
        if (access(fake_db(folder), F_OK) != 0 || is_empty()) { /* not even begun */
            CHECK(acknowledged == 0);
            continue;
        }
        check_file();
        snprintf(sql, sizeof sql, "SELECT count(*) >= %llu FROM run",
                 (unsigned long long)acknowledged);
        CHECK(strcmp(fake_sql(fake_db(folder), sql), "1") == 0);
    }
    printf("%d kills: %llu after a run was kept, %llu with a journal left behind\n", KILLS,
           (unsigned long long)begun, (unsigned long long)hot);
    CHECK(fake_history_add(folder, RESULTS, 1, PATIENCE_NS) > 0); /* and it goes on */
    check_file();
}

static void killed_writer_among_others_disturbs_none(void)
{
    int failed = 0;

    snprintf(folder, sizeof folder, "%s", fake_folder());
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            for (int k = 0; k < RUNS; k++)
                if (fake_history_add(folder, RESULTS, 1, PATIENCE_NS) == 0) {
                    fprintf(stderr, "writer: %s\n", gyre_error_last()->text);
                    _exit(1);
                }
            _exit(0);
        }
    for (int i = 0; i < 20; i++)
        (void)kill_one(5000000 + 1000000 * (uint64_t)i);
    for (int i = 0, state; i < 2; i++)
        failed += wait(&state) < 0 || state != 0;
    CHECK(failed == 0);
    check_file();
    CHECK(strcmp(fake_sql(fake_db(folder), "SELECT count(*) >= 100 FROM run"), "1") == 0);
}

static const test_case cases[] = {
    TEST(writers_at_once_are_all_there),
    TEST(killed_writer_leaves_whole_runs),
    TEST(killed_writer_among_others_disturbs_none),
};
FAKE_ROOT_MAIN(cases)
