/* SPDX-License-Identifier: Apache-2.0
 *
 * guardian: see guardian.h.
 */
#include "main/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"

/* What it is told. */
typedef struct charge {
    size_t place;
    pid_t group;
} charge;

/* The process: only calls that are safe after fork. */
static void guard(int fd)
{
    static const int deaf_to[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    pid_t groups[GYRE_GUARDIAN_PLACES] = {0};
    charge told;

    setpgid(0, 0); /* Ctrl-C is not for it */
    prctl(PR_SET_NAME, "gyre-guardian");
    for (size_t i = 0; i < sizeof deaf_to / sizeof deaf_to[0]; i++)
        signal(deaf_to[i], SIG_IGN);
    for (;;) {
        const ssize_t length = read(fd, &told, sizeof told);

        if (length == (ssize_t)sizeof told)
            groups[told.place] = told.group;
        else if (length == 0 || errno != EINTR)
            break;
    }
    for (size_t i = 0; i < GYRE_GUARDIAN_PLACES; i++) {
        if (groups[i] > 0) {
            kill(-groups[i], SIGKILL);
            kill(groups[i], SIGKILL);
        }
    }
    _exit(0);
}

gyre_status gyre_guardian_start(gyre_guardian *guardian)
{
    int ends[2];

    *guardian = (gyre_guardian){.pid = -1, .fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return gyre_fail_native(GYRE_IO, errno, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    guardian->pid = fork();
    if (guardian->pid == 0) {
        close(ends[1]);
        guard(ends[0]);
    }
    close(ends[0]);
    if (guardian->pid < 0) {
        close(ends[1]);
        return gyre_fail_native(GYRE_IO, errno, "cannot start a process: %s", strerror(errno));
    }
    guardian->fd = ends[1];
    return GYRE_OK;
}

void gyre_guardian_watch(const gyre_guardian *guardian, size_t place, pid_t group)
{
    charge told;

    memset(&told, 0, sizeof told); /* its padding is written, too */
    told.place = place;
    told.group = group;
    while (write(guardian->fd, &told, sizeof told) < 0 && errno == EINTR)
        continue;
}

void gyre_guardian_stop(gyre_guardian *guardian)
{
    if (guardian->fd >= 0)
        close(guardian->fd);
    while (guardian->pid > 0 && waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    *guardian = (gyre_guardian){.pid = -1, .fd = -1};
}
