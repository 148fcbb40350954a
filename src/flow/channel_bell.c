/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_bell: wakes those who wait for items: threads, and event loops through descriptors.
 *
 * A descriptor is an eventfd that is readable from the start. A receive that finds nothing mutes it
 * (reads it empty) and then leaves the mark WANTED, as one who goes to sleep; what it would have
 * missed in between it finds by looking again. Whoever sees the mark rings all bells there are.
 *
 * Threads   any. The lock of the channel keeps a descriptor from being closed while it is rung.
 * Owns      the descriptors.
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process.h"
#include "flow/channel.h"

static void ring(int bell)
{
    const uint64_t one = 1;

    if (bell >= 0)
        (void)!write(bell, &one, sizeof one); /* it can fail only by being readable already */
}

void gyre_channel_ring_bells(gyre_channel *channel, uint32_t count)
{
    gyre_park_wake(&channel->receivers, count);
    /* relaxed: one that is opened later is readable from the start */
    if (atomic_load_explicit(&channel->bells, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&channel->lock);
    ring(channel->bell);
    for (uint32_t i = 0; i < channel->options.subscribers; i++)
        ring(channel->subscribers[i].bell);
    pthread_mutex_unlock(&channel->lock);
}

void gyre_bell_mute(gyre_channel *channel, const int *bell)
{
    uint64_t rung;

    pthread_mutex_lock(&channel->lock);
    if (*bell >= 0)
        (void)!read(*bell, &rung, sizeof rung);
    pthread_mutex_unlock(&channel->lock);
}

void gyre_bell_ring(gyre_channel *channel, const int *bell)
{
    pthread_mutex_lock(&channel->lock);
    ring(*bell);
    pthread_mutex_unlock(&channel->lock);
}

void gyre_bell_close(_Atomic uint32_t *bells, int *bell)
{
    if (*bell < 0)
        return;
    close(*bell);
    *bell = -1;
    atomic_fetch_sub_explicit(bells, 1, memory_order_relaxed); /* relaxed: under the lock */
}

/* Opens the bell, unless it is open. */
static gyre_status open_bell(gyre_channel *channel, int *bell, int *out_descriptor)
{
    gyre_status status = gyre_process_check();

    *out_descriptor = -1;
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&channel->lock);
    if (*bell < 0) {
        *bell = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
        if (*bell < 0)
            status = gyre_fail_native(GYRE_IO, errno,
                                      "channel '%s': no descriptor: the process or the system has "
                                      "none left",
                                      channel->name);
        else
            atomic_fetch_add_explicit(&channel->bells, 1, memory_order_relaxed); /* as above */
    }
    *out_descriptor = *bell;
    pthread_mutex_unlock(&channel->lock);
    return status;
}

gyre_status gyre_channel_descriptor(gyre_channel *channel, int *out_descriptor)
{
    if (!gyre_channel_is_all(channel))
        return open_bell(channel, &channel->bell, out_descriptor);
    *out_descriptor = -1;
    return gyre_fail(GYRE_INVALID, "channel '%s': delivers to ALL; ask a subscriber for it",
                     channel->name);
}

gyre_status gyre_subscriber_descriptor(gyre_subscriber *subscriber, int *out_descriptor)
{
    return open_bell(subscriber->channel, &subscriber->bell, out_descriptor);
}
