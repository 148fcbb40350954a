/* SPDX-License-Identifier: Apache-2.0
 *
 * orphans: see orphans.h.
 *
 * The kernel lists the children of the main thread in a file. Ending one may bring its own children
 * to us, so the list is read until nothing in it is left to end. Kernels without that file have
 * nothing to read, and then only groups are ended.
 */
#include "main/orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIST_BYTES = 4096, ROUNDS = 100 };

/* The list, cut at the buffer's end; its length. Only calls that a handler may make. */
static size_t read_children(char list[LIST_BYTES])
{
    static const char head[] = "/proc/self/task/", tail[] = "/children";
    char path[sizeof head + sizeof tail + 24], digits[24];
    size_t at = sizeof head - 1, count = 0;
    pid_t pid = getpid(); /* the main thread's number */
    ssize_t length = 0;
    int fd;

    memcpy(path, head, at);
    do
        digits[count++] = (char)('0' + pid % 10);
    while ((pid /= 10) > 0);
    while (count > 0)
        path[at++] = digits[--count];
    memcpy(path + at, tail, sizeof tail);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        length = read(fd, list, LIST_BYTES);
        close(fd);
    }
    return length > 0 ? (size_t)length : 0;
}

/* The number at *at in the list, which it moves on; 0 at the end. */
static pid_t next_child(const char *list, size_t length, size_t *at)
{
    pid_t pid = 0;

    while (*at < length && (list[*at] < '0' || list[*at] > '9'))
        ++*at;
    while (*at < length && list[*at] >= '0' && list[*at] <= '9')
        pid = 10 * pid + (list[(*at)++] - '0');
    return *at < length ? pid : 0; /* a number that was cut is none */
}

static bool is_spared(const gyre_orphans *orphans, pid_t pid)
{
    for (size_t i = 0; orphans && i < orphans->count; i++)
        if (orphans->spared[i] == pid)
            return true;
    return false;
}

void gyre_orphans_adopt(gyre_orphans *orphans)
{
    char list[LIST_BYTES];
    const size_t length = read_children(list);
    size_t at = 0;
    int before = 0;
    pid_t pid;

    *orphans = (gyre_orphans){0};
    while ((pid = next_child(list, length, &at)) > 0) {
        if (orphans->count == GYRE_ORPHANS_SPARED)
            orphans->too_many = true;
        else
            orphans->spared[orphans->count++] = pid;
    }
    orphans->too_many |= length == LIST_BYTES;
    orphans->adopted_before = prctl(PR_GET_CHILD_SUBREAPER, &before, 0, 0, 0) == 0 && before != 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void gyre_orphans_end(const gyre_orphans *orphans)
{
    const int error = errno;

    if (orphans && orphans->too_many)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        char list[LIST_BYTES];
        const size_t length = read_children(list);
        bool found = false;
        size_t at = 0;
        pid_t pid;

        while ((pid = next_child(list, length, &at)) > 0) {
            if (is_spared(orphans, pid))
                continue;
            found = true;
            kill(-pid, SIGKILL); /* its group, if it leads one */
            kill(pid, SIGKILL);
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        }
        if (!found)
            break;
    }
    errno = error;
}

void gyre_orphans_release(const gyre_orphans *orphans)
{
    if (!orphans->adopted_before)
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}
