/* SPDX-License-Identifier: Apache-2.0
 *
 * manners: see manners.h.
 */
#include "main/manners.h"

#include <stddef.h>
#include <string.h>

volatile sig_atomic_t gyre_interrupted;

static void on_signal(int number)
{
    (void)number;
    gyre_interrupted = gyre_interrupted < 2 ? gyre_interrupted + 1 : 2;
}

static const int held[GYRE_MANNERS_HELD] = {SIGINT, SIGTERM, SIGHUP};

void gyre_manners_take(gyre_manners *out_before, bool once)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    if (once)
        action.sa_flags |= (int)SA_RESETHAND;
    gyre_interrupted = 0;
    for (size_t i = 0; i < GYRE_MANNERS_HELD; i++) {
        sigaction(held[i], NULL, &out_before->held[i]);
        if (out_before->held[i].sa_handler != SIG_IGN)
            sigaction(held[i], &action, NULL);
    }
    action.sa_flags = SA_RESTART;
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, &out_before->pipe);
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, &out_before->child);
}

void gyre_manners_forget(const gyre_manners *before)
{
    for (size_t i = 0; i < GYRE_MANNERS_HELD; i++)
        sigaction(held[i], &before->held[i], NULL);
    sigaction(SIGPIPE, &before->pipe, NULL);
    sigaction(SIGCHLD, &before->child, NULL);
}
