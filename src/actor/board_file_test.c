/* SPDX-License-Identifier: Apache-2.0
 *
 * Boards that are what they should be, and files that only look like one.
 */
#include "actor/board_file.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gyre/clock.h"
#include "gyre/thread.h"
#include "test.h"

static char folder[64];

/* A folder for the boards of a case. */
static bool open_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/gyre-board-XXXXXX");
    return mkdtemp(folder) != NULL;
}

static void path_of(const gyre_board_owner *owner, char path[128])
{
    char name[GYRE_BOARD_NAME];

    gyre_board_name(owner, name);
    snprintf(path, 128, "%s/%s", folder, name);
}

/* Removes the owner's board; false when there is none. */
static bool remove_board(const gyre_board_owner *owner)
{
    char path[128];

    path_of(owner, path);
    return unlink(path) == 0 || rmdir(path) == 0;
}

static gyre_board_file *make(const gyre_board_owner *owner)
{
    gyre_board_file *file = NULL;
    char path[128];

    path_of(owner, path);
    return gyre_board_make(path, owner, "a program", &file) ? NULL : file;
}

typedef struct tally {
    size_t count;
    gyre_board_row last;
} tally;

static bool count_row(void *user, const gyre_board_row *row)
{
    tally *const t = user;

    t->count++;
    t->last = *row;
    return true;
}

static tally visit(void)
{
    tally t = {.count = 0};

    CHECK(gyre_board_visit_in(folder, count_row, &t) == GYRE_OK);
    return t;
}

static gyre_board_line sample(uint64_t number)
{
    return (gyre_board_line){.launch = number,
                             .status = GYRE_ACTOR_PAUSED,
                             .incarnation = 3,
                             .seats = 4,
                             .replicas = 5,
                             .last_error = 6,
                             .processed = 7,
                             .failed = 8,
                             .dropped = 9,
                             .waiting = 10,
                             .mean_ns = 11.5,
                             .min_ns = 12,
                             .max_ns = 13,
                             .launched_ns = 14,
                             .told_ns = 15,
                             .actor = "ann",
                             .behaviour = "bee",
                             .device = "cpu:0"};
}

static void names_are_read_back(void)
{
    static const char *const wrong[] = {
        "",
        "gyre",
        "gyre.",
        "gyre.1.2",
        "gyre.1.2.",
        "gyre.1.2.3.",
        "gyre.1.2.3x",
        "gyre.1.0.3",
        "gyre.01.2.3",
        "gyre.-1.2.3",
        "gyre.1.2147483648.3",
        "gyre.4294967296.2.3",
        "gyre.1.2.18446744073709551616",
        "gyre.1.2.99999999999999999999999999999999999999999999999999999999999",
        "Gyre.1.2.3",
        "sem.gyre.1.2.3",
    };
    const gyre_board_owner most = {UINT32_MAX, 2147483647, UINT64_MAX};
    gyre_board_owner owner;
    char name[GYRE_BOARD_NAME];

    gyre_board_name(&most, name);
    CHECK(gyre_board_name_read(name, &owner) && memcmp(&owner, &most, sizeof owner) == 0);
    CHECK(gyre_board_name_read("gyre.0.1.0", &owner) && owner.pid == 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(!gyre_board_name_read(wrong[i], &owner));
}

static void stat_of_a_hostile_program_is_read(void)
{
    gyre_board_process p;

    CHECK(gyre_board_process_read("7 (a) Z 1 (b) S 1 2 3 4 -1 6 7 8 9 10 11 12 13 14 15 -16 17 18 "
                                  "4711 20 21",
                                  &p) &&
          p.state == 'S' && p.started == 4711 && p.threads == 17);
    CHECK(!gyre_board_process_read("", &p));
    CHECK(!gyre_board_process_read("7 (a)", &p));
    CHECK(!gyre_board_process_read("7 (a) ", &p));
    CHECK(!gyre_board_process_read("7 (a) S", &p));
    CHECK(!gyre_board_process_read("7 (a) S 1 2 3", &p));
    CHECK(
        !gyre_board_process_read("7 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x 20", &p));
}

static void board_is_read_back(void)
{
    gyre_board_owner self;
    gyre_board_file *file;
    struct stat about;
    char path[128];
    tally t;

    REQUIRE(open_folder() && gyre_board_self(&self));
    file = make(&self);
    REQUIRE(file);
    path_of(&self, path);
    CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0600);
    CHECK(visit().count == 0);
    gyre_board_write(file, 200, &(gyre_board_line){.launch = 0});
    gyre_board_write(file, 100, &(gyre_board_line){.launch = 2, .status = GYRE_ACTOR_ACTIVE});
    gyre_board_write(file, 255, &(gyre_board_line){.launch = 1, .status = GYRE_ACTOR_AWAY + 1});
    gyre_board_write(file, 3, &(gyre_board_line){.launch = 9, .actor = "last"});
    gyre_board_write(file, 7, &(gyre_board_line){.launch = 8});
    gyre_board_write(file, 7, &(gyre_board_line){.launch = 0});
    t = visit();
    CHECK(t.count == 2 && strcmp(t.last.actor, "last") == 0); /* in the order of launches */
    gyre_board_write(file, 0, &(gyre_board_line){.launch = 0});
    file->line[3] = sample(9);
    t = visit();
    CHECK(t.last.struct_size == sizeof t.last && t.last.pid == (uint32_t)getpid());
    CHECK(t.last.uid == geteuid() && t.last.started == self.started);
    CHECK(strcmp(t.last.program, "a program") == 0 && strcmp(t.last.actor, "ann") == 0);
    CHECK(strcmp(t.last.behaviour, "bee") == 0 && strcmp(t.last.device, "cpu:0") == 0);
    CHECK(t.last.status == GYRE_ACTOR_PAUSED && t.last.incarnation == 3 && t.last.seats == 4);
    CHECK(t.last.replicas == 5 && t.last.last_error == 6 && t.last.processed == 7);
    CHECK(t.last.failed == 8 && t.last.dropped == 9 && t.last.waiting == 10);
    CHECK(t.last.mean_ns > 11.4 && t.last.mean_ns < 11.6);
    CHECK(t.last.min_ns == 12 && t.last.max_ns == 13);
    CHECK(t.last.launched_ns == 14 && t.last.told_ns == 15);
    gyre_board_unmap(file);
    CHECK(remove_board(&self) && rmdir(folder) == 0);
}

static void board_of_a_dead_process_is_removed(void)
{
    gyre_board_owner self, other;
    gyre_board_file *file;

    REQUIRE(open_folder() && gyre_board_self(&self));
    other = self;
    other.started++; /* this number was another's once */
    file = make(&other);
    REQUIRE(file);
    gyre_board_write(file, 0, &(gyre_board_line){.launch = 1});
    CHECK(visit().count == 0 && !remove_board(&other));
    gyre_board_unmap(file);
    other = self;
    other.pid = 2147483647; /* more than there can be */
    file = make(&other);
    REQUIRE(file);
    CHECK(gyre_board_visit_in(folder, NULL, NULL) == GYRE_OK && !remove_board(&other));
    gyre_board_unmap(file);
    CHECK(rmdir(folder) == 0);
}

/* More of them than are looked at, of nobody who lives. */
static void empty_files_hide_no_board(void)
{
    enum { FILES = 5000 };
    gyre_board_owner self, other;
    gyre_board_file *file;

    REQUIRE(open_folder() && gyre_board_self(&self));
    other = (gyre_board_owner){.uid = self.uid, .pid = 2147483647};
    for (other.started = 1; other.started <= FILES; other.started++) {
        char path[128];
        int fd;

        path_of(&other, path);
        fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        REQUIRE(fd >= 0);
        close(fd);
    }
    file = make(&self);
    REQUIRE(file);
    gyre_board_write(file, 0, &(gyre_board_line){.launch = 1});
    CHECK(visit().count == 1 && remove_board(&self));
    gyre_board_unmap(file);
    for (other.started = 1; other.started <= FILES; other.started++)
        CHECK(remove_board(&other)); /* they are no boards */
    CHECK(rmdir(folder) == 0);
}

static void what_cannot_be_judged_is_left_alone(void)
{
    gyre_board_owner self, other;
    gyre_board_file *file;

    REQUIRE(open_folder() && gyre_board_self(&self));
    other = self;
    other.started++; /* dead, if its numbers were ours */
    file = make(&other);
    REQUIRE(file);
    gyre_board_write(file, 0, &(gyre_board_line){.launch = 1});
    file->head.space++;
    CHECK(visit().count == 0 && remove_board(&other));
    gyre_board_unmap(file);
    other = self;
    other.uid++; /* says its name, and it is ours */
    file = make(&other);
    REQUIRE(file);
    gyre_board_write(file, 0, &(gyre_board_line){.launch = 1});
    CHECK(visit().count == 0 && remove_board(&other));
    gyre_board_unmap(file);
    CHECK(rmdir(folder) == 0);
}

/* Files of this process's name that a visit must neither show nor remove. */
static void what_is_no_board_is_not_shown(void)
{
    gyre_board_owner self;
    gyre_board_file *file;
    char path[128];
    int fd;

    REQUIRE(open_folder() && gyre_board_self(&self));
    path_of(&self, path);
    CHECK(mkfifo(path, 0600) == 0 && visit().count == 0 && remove_board(&self));
    CHECK(mkdir(path, 0700) == 0 && visit().count == 0 && remove_board(&self));
    CHECK(symlink("/dev/zero", path) == 0 && visit().count == 0 && remove_board(&self));
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && visit().count == 0);
    CHECK(write(fd, "GYRB", 4) == 4 && visit().count == 0);
    CHECK(ftruncate(fd, sizeof(gyre_board_file)) == 0 && visit().count == 0);
    close(fd);
    CHECK(remove_board(&self));
    file = make(&self);
    REQUIRE(file);
    gyre_board_write(file, 0, &(gyre_board_line){.launch = 1});
    CHECK(visit().count == 1);
    file->head.magic[0] = 'g';
    CHECK(visit().count == 0);
    file->head.magic[0] = 'G';
    file->head.version++;
    CHECK(visit().count == 0);
    file->head.version--;
    file->head.size--;
    CHECK(visit().count == 0);
    file->head.size++;
    file->head.lines = UINT32_MAX;
    CHECK(visit().count == 0);
    file->head.lines = GYRE_BOARD_LINES;
    file->head.pid++;
    CHECK(visit().count == 0);
    file->head.pid--;
    CHECK(visit().count == 1);
    CHECK(truncate(path, (off_t)sizeof *file + 1) == 0 && visit().count == 0);
    CHECK(truncate(path, 4096) == 0 && visit().count == 0);
    gyre_board_unmap(file);
    CHECK(remove_board(&self) && rmdir(folder) == 0);
}

static void hostile_line_is_shown_plainly(void)
{
    gyre_board_line line = sample(1);
    gyre_board_head head = {.version = GYRE_BOARD_VERSION,
                            .size = sizeof(gyre_board_file),
                            .lines = GYRE_BOARD_LINES},
                    read;
    gyre_board_row row = {.pid = 0};

    memset(line.actor, '\033', sizeof line.actor);
    memset(line.behaviour, 'x', sizeof line.behaviour);
    memcpy(line.device, "a\nb\t\x7f\x01", 7);
    line.mean_ns = NAN;
    CHECK(gyre_board_line_read(&line, &row));
    CHECK(strlen(row.actor) == 31 && strspn(row.actor, "?") == 31);
    CHECK(strlen(row.behaviour) == 47 && strcmp(row.device, "a?b???") == 0);
    CHECK(row.mean_ns <= 0);
    line.mean_ns = -1;
    CHECK(gyre_board_line_read(&line, &row) && row.mean_ns <= 0);
    memcpy(head.magic, "GYRB", 4);
    memset(head.program, '\033', sizeof head.program);
    CHECK(!gyre_board_head_read(&head, sizeof head, &read));
    CHECK(strlen(read.program) == 47 && strspn(read.program, "?") == 47);
    CHECK(gyre_board_head_read(&head, sizeof head - 1, &read) && read.size == 0);
}

static void line_that_is_being_written_is_left_out(void)
{
    gyre_board_owner self;
    gyre_board_file *file;

    REQUIRE(open_folder() && gyre_board_self(&self));
    file = make(&self);
    REQUIRE(file);
    gyre_board_write(file, 0, &(gyre_board_line){.launch = 1});
    gyre_board_write(file, 1, &(gyre_board_line){.launch = 2});
    file->sequence[0]++;
    CHECK(visit().count == 1);
    file->sequence[0]++;
    CHECK(visit().count == 2);
    gyre_board_unmap(file);
    CHECK(remove_board(&self) && rmdir(folder) == 0);
}

static _Atomic bool over;

/* Lines whose words are all the same number. */
static void write_lines(void *arg)
{
    gyre_board_line line;

    for (uint64_t number = 1; !atomic_load(&over); number++) {
        uint64_t words[sizeof line / 8];

        for (size_t i = 0; i < sizeof line / 8; i++)
            words[i] = number;
        memcpy(&line, words, sizeof line);
        line.launch = 1;
        line.status = GYRE_ACTOR_ACTIVE;
        gyre_board_write(arg, 0, &line);
        gyre_board_write(arg, 255, &line);
        if (number % 512 == 0) /* or no reader would ever come through */
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

static bool is_whole(void *user, const gyre_board_row *row)
{
    CHECK(row->processed == row->failed && row->failed == row->dropped);
    CHECK(row->dropped == row->waiting && row->waiting == row->min_ns);
    CHECK(row->min_ns == row->max_ns && row->max_ns == row->launched_ns);
    CHECK(row->launched_ns == row->told_ns && row->seats == (uint32_t)row->told_ns);
    ++*(size_t *)user;
    return true;
}

static void line_is_never_torn(void)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(3 * UINT64_C(1000000000));
    gyre_board_owner self;
    gyre_board_file *file;
    gyre_thread *thread;
    size_t count = 0;

    REQUIRE(open_folder() && gyre_board_self(&self));
    file = make(&self);
    REQUIRE(file && gyre_thread_start(write_lines, file, NULL, &thread) == GYRE_OK);
    while (count < 2000 && gyre_clock_now_ns() < deadline_ns)
        CHECK(gyre_board_visit_in(folder, is_whole, &count) == GYRE_OK);
    atomic_store(&over, true);
    gyre_thread_stop(thread);
    CHECK(count > 0);
    gyre_board_unmap(file);
    CHECK(remove_board(&self) && rmdir(folder) == 0);
}

static void without_a_folder_there_is_no_board(void)
{
    gyre_board_owner self;
    gyre_board_file *file;
    char path[128];

    snprintf(folder, sizeof folder, "/tmp/gyre-board-there-is-none");
    REQUIRE(gyre_board_self(&self));
    path_of(&self, path);
    CHECK(gyre_board_make(path, &self, "a program", &file) && !file);
    CHECK(visit().count == 0);
}

static void leftover_of_this_process_is_replaced(void)
{
    gyre_board_file *first, *second;
    gyre_board_owner self;

    REQUIRE(open_folder() && gyre_board_self(&self));
    first = make(&self);
    second = make(&self);
    REQUIRE(first && second);
    gyre_board_write(first, 0, &(gyre_board_line){.launch = 1});
    CHECK(visit().count == 0);
    gyre_board_unmap(first);
    gyre_board_unmap(second);
    CHECK(remove_board(&self) && rmdir(folder) == 0);
}

/* A process that makes boards without end. */
static pid_t start_maker(const gyre_board_owner *owner)
{
    const pid_t pid = fork();

    while (pid == 0) {
        gyre_board_file *const file = make(owner);

        if (!file || !remove_board(owner))
            _exit(1);
        gyre_board_unmap(file);
    }
    return pid;
}

/* Nobody could tell whose half it is, and whether it may be removed. */
static void killed_process_leaves_no_half_of_a_board(void)
{
    static gyre_board_file left;
    gyre_board_owner self;
    char path[128];
    int probe;

    REQUIRE(open_folder() && gyre_board_self(&self));
    path_of(&self, path);
    probe = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (probe < 0) {
        CHECK(rmdir(folder) == 0);
        SKIP("this file system has no files without names");
    }
    close(probe);
    for (int i = 0; i < 100; i++) {
        const pid_t pid = start_maker(&self);
        int status = 0, fd;

        REQUIRE(pid > 0);
        nanosleep(&(struct timespec){.tv_nsec = 1000000 + 10000 * i}, NULL);
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
        CHECK(WIFSIGNALED(status));
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        CHECK(read(fd, &left, sizeof left) == (ssize_t)sizeof left);
        CHECK(memcmp(left.head.magic, "GYRB", 4) == 0);
        close(fd);
        CHECK(remove_board(&self));
    }
    CHECK(rmdir(folder) == 0);
}

static const test_case cases[] = {
    TEST(names_are_read_back),
    TEST(stat_of_a_hostile_program_is_read),
    TEST(board_is_read_back),
    TEST(board_of_a_dead_process_is_removed),
    TEST(empty_files_hide_no_board),
    TEST(what_cannot_be_judged_is_left_alone),
    TEST(what_is_no_board_is_not_shown),
    TEST(hostile_line_is_shown_plainly),
    TEST(line_that_is_being_written_is_left_out),
    TEST(line_is_never_torn),
    TEST(without_a_folder_there_is_no_board),
    TEST(leftover_of_this_process_is_replaced),
    TEST(killed_process_leaves_no_half_of_a_board),
};
TEST_MAIN(cases)
