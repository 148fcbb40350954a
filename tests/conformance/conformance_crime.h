/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance_crime: for what may cost a process its device, or itself. It happens in a child: the
 * program again, with "child" and the name of a crime behind the device's. The parent has a context
 * of the same device all the while.
 */
#ifndef GYRE_CONFORMANCE_CRIME_H
#define GYRE_CONFORMANCE_CRIME_H

#include "conformance_actor.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CHILD_MS = 100000 };

/* A child, of which nothing is cleaned up: something may hang. */
static inline int crime_commit(const test_case *crimes, size_t count, const char *device,
                               const char *crime)
{
    int code;
    const gyre_device *const where = conformance_device(device, &code);

    if (!where || !ok(conformance_begin(where)))
        return 3;
    code = test_run(crimes, count, crime);
    fflush(stdout);
    _exit(code);
}

/* This program again, on that device, as it was given. */
static inline pid_t child_start(const char *device_name, const char *crime, int *out_pipe)
{
    static char child[] = "child", self[] = "/proc/self/exe";
    char device[64], what[64];
    char *const arguments[] = {self, device, child, what, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid = -1;

    snprintf(device, sizeof device, "%s", device_name);
    snprintf(what, sizeof what, "%s", crime);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    if (out_pipe)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (posix_spawn(&pid, self, &actions, NULL, arguments, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (out_pipe)
        *out_pipe = ends[0];
    else
        close(ends[0]);
    return pid;
}

/* Its status; one that takes too long is ended, and -1. */
static inline int child_wait(pid_t pid)
{
    const uint64_t until = gyre_clock_after_ns(CHILD_MS * MS);
    int status = 0;

    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (gyre_clock_now_ns() >= until) {
            fprintf(stderr, "the child does not end\n");
            kill(pid, SIGKILL);
            (void)waitpid(pid, &status, 0);
            return -1;
        }
        sleep_ns(2 * MS);
    }
    return status;
}

#endif
