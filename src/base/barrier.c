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
#include <unistd.h>

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
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0,
                  0); /* registered: cannot fail */
}
