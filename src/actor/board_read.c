/* SPDX-License-Identifier: Apache-2.0
 *
 * board_read: finds boards and reads them. See gyre/board.h.
 *
 * Anything may lie in the folder, under any name: a file is opened without following links and
 * without waiting, and shown only if it is its user's own, says what its name says, and its process
 * lives. What cannot be judged from here, as a process of another numbering, is neither shown nor
 * removed. A name belongs to one process for ever, so that removing by name removes nobody else's.
 *
 * Threads   any; all on the caller's data. Edge: [board-line] with actor/board_file.c.
 * Owns      nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "actor/board_file.h"
#include "base/alloc.h"

enum {
    BOARDS_MOST = 4096, /* that are looked at */
    NAP_NS = 200000,    /* between two looks at lines that were being written, */
    NAPS_MOST = 64,     /* so many times in a visit */
};

/* A board as it was read. */
typedef struct copy {
    gyre_board_head head;
    uint64_t before[GYRE_BOARD_LINES], after[GYRE_BOARD_LINES]; /* sequences */
    gyre_board_line read[GYRE_BOARD_LINES];                     /* between the two */
    gyre_board_line line[GYRE_BOARD_LINES];                     /* those that are whole */
    bool whole[GYRE_BOARD_LINES];
} copy;

typedef struct visitor {
    int folder;
    uint64_t space;
    bool (*visit)(void *user, const gyre_board_row *row);
    void *user;
    int naps; /* that were taken */
    size_t count;
    gyre_board_owner owners[BOARDS_MOST];
    copy copy;
} visitor;

static bool read_at(int fd, void *into, size_t size, size_t offset)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t got =
            pread(fd, (unsigned char *)into + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool read_sequences(int fd, uint64_t sequences[GYRE_BOARD_LINES])
{
    return read_at(fd, sequences, GYRE_BOARD_LINES * sizeof *sequences,
                   offsetof(gyre_board_file, sequence));
}

/* One look at all lines; how many are not whole yet, or -1 when the file is not there any more. */
static int look(int fd, copy *c)
{
    int missing = 0;

    /* [board-line]: the kernel orders these reads, for it counts who uses a page before and after
     * each. A writer whose words came in between has changed the sequence. */
    if (!read_sequences(fd, c->before) ||
        !read_at(fd, c->read, sizeof c->read, offsetof(gyre_board_file, line)) ||
        !read_sequences(fd, c->after))
        return -1;
    for (size_t i = 0; i < GYRE_BOARD_LINES; i++) {
        if (c->whole[i])
            continue;
        c->whole[i] = c->before[i] == c->after[i] && c->before[i] % 2 == 0;
        if (c->whole[i])
            c->line[i] = c->read[i];
        else
            missing++;
    }
    return missing;
}

/* Reads a board whose head is good. A line that is being written each time is left out. */
static bool read_lines(int fd, visitor *v)
{
    copy *const c = &v->copy;
    int missing;

    memset(c->whole, 0, sizeof c->whole);
    memset(c->line, 0, sizeof c->line);
    while ((missing = look(fd, c)) > 0 && v->naps < NAPS_MOST) {
        v->naps++;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return missing >= 0;
}

/* Reads the head of an owner's file; false when it is not the owner's, or none. */
static bool read_head(int fd, const gyre_board_owner *owner, gyre_board_head *out_head)
{
    unsigned char bytes[sizeof(gyre_board_head)];
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == owner->uid &&
           about.st_size == (off_t)sizeof(gyre_board_file) && read_at(fd, bytes, sizeof bytes, 0) &&
           !gyre_board_head_read(bytes, sizeof bytes, out_head) && out_head->pid == owner->pid &&
           out_head->started == owner->started;
}

static int by_launch(const void *a, const void *b)
{
    const uint64_t x = ((const gyre_board_line *)a)->launch;
    const uint64_t y = ((const gyre_board_line *)b)->launch;

    return x < y ? -1 : x > y;
}

/* Hands the lines over; false when the visitor has had enough. */
static bool show(visitor *v, const gyre_board_owner *owner)
{
    const uint64_t now_ns = gyre_board_now_ns(), told_ns = v->copy.head.told_ns;
    gyre_board_row row = {.struct_size = sizeof row,
                          .pid = owner->pid,
                          .uid = owner->uid,
                          .started = owner->started,
                          .age_ns = now_ns > told_ns ? now_ns - told_ns : 0};

    _Static_assert(sizeof row.program == sizeof v->copy.head.program, "program");
    memcpy(row.program, v->copy.head.program, sizeof row.program);
    qsort(v->copy.line, GYRE_BOARD_LINES, sizeof v->copy.line[0], by_launch);
    for (size_t i = 0; i < GYRE_BOARD_LINES; i++)
        if (gyre_board_line_read(&v->copy.line[i], &row) && !v->visit(v->user, &row))
            return false;
    return true;
}

/* Opens an owner's board and reads its head; -1: there is none. */
static int open_board(visitor *v, const gyre_board_owner *owner)
{
    char name[GYRE_BOARD_NAME];
    int fd;

    gyre_board_name(owner, name);
    fd = openat(v->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && read_head(fd, owner, &v->copy.head) && v->copy.head.space == v->space)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* False when the visitor has had enough. */
static bool visit_board(visitor *v, const gyre_board_owner *owner)
{
    const int fd = open_board(v, owner);
    bool on = true;

    if (fd < 0)
        return true;
    if (gyre_board_life_of(owner) == GYRE_BOARD_LIVES && v->visit && read_lines(fd, v))
        on = show(v, owner);
    close(fd);
    return on;
}

/* What is left of a process that is gone. */
static void remove_board(visitor *v, const gyre_board_owner *owner)
{
    const int fd = open_board(v, owner);
    char name[GYRE_BOARD_NAME];

    if (fd < 0)
        return;
    gyre_board_name(owner, name);
    (void)unlinkat(v->folder, name, 0);
    close(fd);
}

static int by_process(const void *a, const void *b)
{
    const gyre_board_owner *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->started < y->started ? -1 : x->started > y->started;
}

/* Whether it may be a board, of a user whose boards are seen. */
static bool may_be_board(const visitor *v, const char *name, gyre_board_owner *out_owner)
{
    const uid_t viewer = geteuid();
    struct stat about;

    return gyre_board_name_read(name, out_owner) && (viewer == 0 || out_owner->uid == viewer) &&
           fstatat(v->folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) &&
           about.st_uid == out_owner->uid;
}

static void find_boards(visitor *v, DIR *folder)
{
    const struct dirent *entry;

    /* a process that lives has one name: so, however many files a user gives such names, he takes
     * no more places than he has processes */
    while (v->count < BOARDS_MOST && (entry = readdir(folder))) {
        gyre_board_owner *const owner = &v->owners[v->count];
        gyre_board_life life;

        if (!may_be_board(v, entry->d_name, owner))
            continue;
        life = gyre_board_life_of(owner);
        if (life == GYRE_BOARD_GONE)
            remove_board(v, owner);
        v->count += life == GYRE_BOARD_LIVES;
    }
    qsort(v->owners, v->count, sizeof v->owners[0], by_process);
}

gyre_status gyre_board_visit_in(const char *folder,
                                bool (*visit)(void *user, const gyre_board_row *row), void *user)
{
    DIR *const listing = opendir(folder);
    void *memory = NULL;
    gyre_status status;
    visitor *v;

    if (!listing)
        return GYRE_OK;
    status = gyre_alloc(NULL, 1, sizeof *v, &memory);
    if (status == GYRE_OK) {
        v = memory;
        v->folder = dirfd(listing);
        v->space = gyre_board_space();
        v->visit = visit;
        v->user = user;
        find_boards(v, listing);
        for (size_t i = 0; i < v->count && visit_board(v, &v->owners[i]); i++)
            ;
        gyre_free(NULL, v, 1, sizeof *v);
    }
    closedir(listing);
    return status;
}

gyre_status gyre_board_visit(bool (*visit)(void *user, const gyre_board_row *row), void *user)
{
    return gyre_board_visit_in(GYRE_BOARD_FOLDER, visit, user);
}
