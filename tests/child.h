/* SPDX-License-Identifier: Apache-2.0
 *
 * child: runs a part of a test in a forked child.
 */
#ifndef GYRE_TESTS_CHILD_H
#define GYRE_TESTS_CHILD_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* Runs the body in a child, which may take ten seconds; its failures are its exit status. */
static inline bool passes_in_child(void (*body)(void))
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(10); /* a wait that goes on kills it */
        test_failures = 0;
        body();
        _exit(test_failed() ? 1 : 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

#endif
