/* SPDX-License-Identifier: Apache-2.0
 *
 * board_file: see board_file.h.
 *
 * The file's pages are reserved before it is mapped: a store that finds no memory for its page
 * would end the program.
 */
#include "actor/board_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "base/text.h"
#include "gyre/atomic.h"

enum { LINE_WORDS = sizeof(gyre_board_line) / sizeof(uint64_t), STAT_BYTES = 1024 };

static const char magic[4] = {'G', 'Y', 'R', 'B'};

/* Decimal digits up to `end`, which is passed over unless it ends the text. */
static bool take_number(const char **at, char end, uint64_t most, uint64_t *out_number)
{
    uint64_t number = 0;
    const char *c = *at;

    for (; *c >= '0' && *c <= '9'; c++) {
        const uint64_t digit = (uint64_t)(*c - '0');

        if (number > (most - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (c == *at || *c != end)
        return false;
    *at = end ? c + 1 : c;
    *out_number = number;
    return true;
}

void gyre_board_name(const gyre_board_owner *owner, char name[GYRE_BOARD_NAME])
{
    snprintf(name, GYRE_BOARD_NAME, "gyre.%u.%u.%llu", owner->uid, owner->pid,
             (unsigned long long)owner->started);
}

bool gyre_board_name_read(const char *name, gyre_board_owner *out_owner)
{
    const char *at = name;
    uint64_t uid, pid, started;
    char again[GYRE_BOARD_NAME];

    if (strncmp(at, "gyre.", 5) != 0)
        return false;
    at += 5;
    if (!take_number(&at, '.', UINT32_MAX, &uid) || !take_number(&at, '.', INT_MAX, &pid) ||
        !take_number(&at, '\0', UINT64_MAX, &started) || pid == 0)
        return false;
    *out_owner = (gyre_board_owner){.uid = (uint32_t)uid, .pid = (uint32_t)pid, .started = started};
    gyre_board_name(out_owner, again);
    return strcmp(name, again) == 0; /* no zeros in front */
}

bool gyre_board_process_read(const char *stat, gyre_board_process *out_process)
{
    enum { THREADS = 17, STARTED = 19 }; /* fields behind the state */
    const char *at = strrchr(stat, ')'); /* the program's name may have any other character */

    *out_process = (gyre_board_process){.state = '\0'};
    if (!at || at[1] != ' ' || at[2] == '\0' || at[3] != ' ')
        return false;
    out_process->state = at[2];
    at += 4;
    for (int field = 1; field < STARTED; field++) {
        uint64_t number;

        if (field == THREADS) {
            if (!take_number(&at, ' ', UINT64_MAX, &number))
                return false;
            out_process->threads = number;
            continue;
        }
        at = strchr(at, ' ');
        if (!at)
            return false;
        at++;
    }
    return take_number(&at, ' ', UINT64_MAX, &out_process->started);
}

bool gyre_board_self(gyre_board_owner *out_owner)
{
    char stat[STAT_BYTES];
    gyre_board_process process;

    if (!gyre_sysfile_line("/proc/self/stat", stat, sizeof stat) ||
        !gyre_board_process_read(stat, &process))
        return false;
    *out_owner =
        (gyre_board_owner){.uid = geteuid(), .pid = (uint32_t)getpid(), .started = process.started};
    return true;
}

uint64_t gyre_board_space(void)
{
    struct stat about;

    return stat("/proc/self/ns/pid", &about) == 0 ? (uint64_t)about.st_ino : 0;
}

gyre_board_life gyre_board_life_of(const gyre_board_owner *owner)
{
    char path[48], stat_text[STAT_BYTES];
    gyre_board_process process;
    struct stat about;

    if (kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH)
        return GYRE_BOARD_GONE;
    snprintf(path, sizeof path, "/proc/%u/stat", owner->pid);
    if (!gyre_sysfile_line(path, stat_text, sizeof stat_text) ||
        !gyre_board_process_read(stat_text, &process))
        return GYRE_BOARD_UNSURE;
    if (process.started != owner->started)
        return GYRE_BOARD_GONE;
    if ((process.state == 'Z' || process.state == 'X') && process.threads <= 1)
        return GYRE_BOARD_GONE;
    snprintf(path, sizeof path, "/proc/%u", owner->pid);
    if (stat(path, &about) != 0 || about.st_uid != owner->uid)
        return GYRE_BOARD_UNSURE;
    return GYRE_BOARD_LIVES;
}

uint64_t gyre_board_now_ns(void)
{
    struct timespec now = {.tv_sec = 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* A name that is there already was left by this process before it became another program. */
static int open_new(const char *path)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(path, flags, 0600);

    if (fd < 0 && errno == EEXIST && unlink(path) == 0)
        fd = open(path, flags, 0600);
    return fd;
}

/* One that has no name yet, where the file system knows such: who is killed before the board is
 * whole leaves nothing behind. */
static int open_nameless(const char *path)
{
    const char *const end = strrchr(path, '/');
    char folder[PATH_MAX];

    if (!end || end == path || end - path >= PATH_MAX)
        return -1;
    memcpy(folder, path, (size_t)(end - path));
    folder[end - path] = '\0';
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static bool give_name(int fd, const char *path)
{
    char link[32];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
        return true;
    return errno == EEXIST && unlink(path) == 0 &&
           linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* Maps as much of the file as a board takes. */
static const char *map(int fd, gyre_board_file **out_file)
{
    void *memory;

    errno = posix_fallocate(fd, 0, sizeof(gyre_board_file));
    if (errno)
        return "find room for";
    memory = mmap(NULL, sizeof(gyre_board_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return "map";
    if (madvise(memory, sizeof(gyre_board_file), MADV_DONTFORK) != 0) {
        const int error = errno;

        munmap(memory, sizeof(gyre_board_file));
        errno = error;
        return "keep from children";
    }
    *out_file = memory;
    return NULL;
}

/* Without lines. */
static void begin(gyre_board_file *file, const gyre_board_owner *owner, const char *program)
{
    gyre_board_head *const head = &file->head;
    uint32_t mark;

    head->version = GYRE_BOARD_VERSION;
    head->size = sizeof *file;
    head->started = owner->started;
    head->space = gyre_board_space();
    head->pid = owner->pid;
    head->lines = GYRE_BOARD_LINES;
    memcpy(head->program, program, strnlen(program, sizeof head->program - 1));
    gyre_board_beat(file);
    memcpy(&mark, magic, sizeof mark);
    /* release: whoever reads the mark and then reads again finds the rest of the head */
    __atomic_store_n((uint32_t *)(void *)head->magic, mark, __ATOMIC_RELEASE);
}

const char *gyre_board_make(const char *path, const gyre_board_owner *owner, const char *program,
                            gyre_board_file **out_file)
{
    const int nameless = open_nameless(path), fd = nameless < 0 ? open_new(path) : nameless;
    const char *failed;
    int error;

    *out_file = NULL;
    if (fd < 0)
        return "create";
    failed = map(fd, out_file);
    if (!failed)
        begin(*out_file, owner, program);
    if (!failed && fd == nameless && !give_name(fd, path))
        failed = "name";
    error = errno;
    close(fd);
    if (!failed)
        return NULL;
    if (*out_file)
        gyre_board_unmap(*out_file);
    *out_file = NULL;
    if (fd != nameless)
        (void)unlink(path);
    errno = error;
    return failed;
}

void gyre_board_write(gyre_board_file *file, size_t index, const gyre_board_line *line)
{
    uint64_t *const sequence = &file->sequence[index];
    uint64_t *const to = (uint64_t *)(void *)&file->line[index];
    uint64_t words[LINE_WORDS];
    /* relaxed: this thread is the only writer */
    const uint64_t before = gyre_load_relaxed(sequence);

    memcpy(words, line, sizeof words);
    /* relaxed: the words below are released behind it */
    __atomic_store_n(sequence, before + 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < LINE_WORDS; i++)
        /* release [board-line]: pairs with the reads in actor/board_read.c, which are calls of the
         * system and keep their order. Who finds this word finds the odd sequence afterwards, or a
         * later one. */
        gyre_store_release(&to[i], words[i]);
    /* release [board-line]: who finds this sequence finds all words */
    gyre_store_release(sequence, before + 2);
}

void gyre_board_beat(gyre_board_file *file)
{
    /* release: it was here after what it wrote */
    gyre_store_release(&file->head.told_ns, gyre_board_now_ns());
}

void gyre_board_unmap(gyre_board_file *file)
{
    if (file)
        munmap(file, sizeof *file);
}

const char *gyre_board_head_read(const void *bytes, size_t size, gyre_board_head *out_head)
{
    gyre_board_head head;
    const char *why = NULL;

    memset(out_head, 0, sizeof *out_head);
    if (size < sizeof head)
        return "it is cut short";
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0)
        why = "it is no board";
    else if (head.version != GYRE_BOARD_VERSION)
        why = "another version of Gyre wrote it";
    else if (head.size != sizeof(gyre_board_file) || head.lines != GYRE_BOARD_LINES)
        why = "its size cannot be true";
    if (why)
        return why;
    *out_head = head;
    out_head->program[sizeof out_head->program - 1] = '\0';
    gyre_text_plain(out_head->program);
    return NULL;
}

/* Ends the text within its field, and leaves nothing in it that drives a terminal. */
static void get_text(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
    to[size - 1] = '\0';
    gyre_text_plain(to);
}

bool gyre_board_line_read(const gyre_board_line *line, gyre_board_row *out_row)
{
    gyre_board_row *const row = out_row;

    if (line->launch == 0 || line->status > GYRE_ACTOR_AWAY)
        return false;
    row->launch = line->launch;
    row->status = (gyre_actor_status)line->status;
    row->incarnation = line->incarnation;
    row->seats = line->seats;
    row->replicas = line->replicas;
    row->last_error = line->last_error;
    row->processed = line->processed;
    row->failed = line->failed;
    row->dropped = line->dropped;
    row->waiting = line->waiting;
    row->mean_ns = isfinite(line->mean_ns) && line->mean_ns > 0 ? line->mean_ns : 0;
    row->min_ns = line->min_ns;
    row->max_ns = line->max_ns;
    row->launched_ns = line->launched_ns;
    row->told_ns = line->told_ns;
    get_text(row->actor, line->actor, sizeof row->actor);
    get_text(row->behaviour, line->behaviour, sizeof row->behaviour);
    get_text(row->device, line->device, sizeof row->device);
    return true;
}
