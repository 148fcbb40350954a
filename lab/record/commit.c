/* SPDX-License-Identifier: Apache-2.0
 *
 * commit: see commit.h.
 *
 * One command tells all: the headers of `git status` name commit and branch, and any other line is
 * a difference. It takes no lock, so that it is in nobody's way. It runs in a process group of its
 * own, so that whatever it starts can be ended with it.
 */
#include "record/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings.h"
#include "gyre/clock.h"

enum { ANSWER_BYTES = 4096 }; /* more lines say nothing new: one difference is enough */

static const uint64_t LIMIT_NS = 5000000000;

extern char **environ;

/* The rest of the line if it begins so and has a rest that is no word of git's own, in brackets. */
static const char *value_of(const char *line, size_t length, const char *head, gyre_arena *arena)
{
    const size_t skip = strlen(head);

    if (length <= skip || strncmp(line, head, skip) != 0 || line[skip] == '(')
        return NULL;
    return gyre_arena_bytes(arena, line + skip, length - skip);
}

gyre_commit gyre_commit_parse(const char *text, gyre_arena *arena)
{
    gyre_commit commit = {0};

    while (*text) {
        const size_t length = strcspn(text, "\n");
        const char *id = value_of(text, length, "# branch.oid ", arena);
        const char *branch = value_of(text, length, "# branch.head ", arena);

        commit.id = id ? id : commit.id;
        commit.branch = branch ? branch : commit.branch;
        commit.dirty |= length > 0 && text[0] != '#';
        text += length + (text[length] == '\n');
    }
    return commit.id ? commit : (gyre_commit){0};
}

/* Starts git with its output in a pipe, whose reading end is `out_fd`. */
static bool start(const char *folder, pid_t *out_pid, int *out_fd)
{
    static char name[] = "git", at[] = "-C", config[] = "-c", monitor[] = "core.fsmonitor=false",
                no_locks[] = "--no-optional-locks", status[] = "status", form[] = "--porcelain=v2",
                branch[] = "--branch", tracked[] = "--untracked-files=no";
    char place[4096];
    char *const words[] = {name,   at,   place,  config,  monitor, no_locks,
                           status, form, branch, tracked, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int ends[2], error;

    if (strlen(folder) >= sizeof place || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    snprintf(place, sizeof place, "%s", folder);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    error = posix_spawnp(out_pid, name, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0)
        close(ends[0]);
    *out_fd = ends[0];
    return error == 0;
}

/* Reads to the end, which is what `false` says was not reached in time. What does not fit is read
 * and forgotten. */
static bool read_all(int fd, uint64_t until_ns, char *text, size_t size)
{
    size_t used = 0;

    for (;;) {
        const uint64_t now_ns = gyre_clock_now_ns();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        char bytes[1024];
        ssize_t got;

        if (now_ns >= until_ns)
            return false;
        if (poll(&ready, 1, (int)((until_ns - now_ns) / 1000000) + 1) <= 0)
            continue; /* a signal, or the time is over */
        got = read(fd, bytes, sizeof bytes);
        if (got <= 0)
            break;
        if ((size_t)got > size - 1 - used)
            got = (ssize_t)(size - 1 - used);
        memcpy(text + used, bytes, (size_t)got);
        used += (size_t)got;
    }
    text[used] = '\0';
    return true;
}

gyre_commit gyre_commit_ask(const char *folder, uint64_t limit_ns, gyre_arena *arena)
{
    const uint64_t until_ns = gyre_clock_now_ns() + limit_ns;
    char text[ANSWER_BYTES];
    int fd, state = 0;
    pid_t pid, ended;
    bool whole;

    if (!start(folder, &pid, &fd))
        return (gyre_commit){0};
    whole = read_all(fd, until_ns, text, sizeof text);
    close(fd);
    if (!whole)
        kill(-pid, SIGKILL);
    while ((ended = waitpid(pid, &state, 0)) < 0 && errno == EINTR)
        ;
    /* a program that has its children waited for by the kernel never learns how they ended */
    if (!whole || (ended == pid && state != 0))
        return (gyre_commit){0};
    return gyre_commit_parse(text, arena);
}

gyre_commit gyre_commit_find(gyre_arena *arena)
{
    const char *given = gyre_settings_text(GYRE_SETTING_COMMIT);

    if (given[0])
        return (gyre_commit){.id = gyre_arena_text(arena, given)};
    return gyre_commit_ask(".", LIMIT_NS, arena);
}
