/* SPDX-License-Identifier: Apache-2.0
 *
 * barrier: the heavy one, by membarrier(2). See barrier.h.
 *
 * Threads   any.
 * Owns      the registration.
 */
#include "base/barrier.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LONG_ENOUGH_NS = 1000000 };

static bool is_there;

static void register_once(void)
{
    is_there = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool gyre_barrier_is_there(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_once);
    return is_there;
}

void gyre_barrier_heavy(void)
{
    const struct timespec long_enough = {0, LONG_ENOUGH_NS};

    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
    /* Registered, it can fail only in a sandbox that was closed since. No other call does it, but
     * time does: a processor's stores are out after microseconds at most, and a thread that is not
     * running has passed a barrier when it stopped. */
    while (nanosleep(&long_enough, NULL) != 0)
        continue;
}
