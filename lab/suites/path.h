/* SPDX-License-Identifier: Apache-2.0
 *
 * path: a way for commands that loses none: a channel to ONE whose senders wait, or the legacy
 * queue with the same limit, where whoever finds it full or empty asks again.
 *
 * What compares the two is written once, and does the same work on both.
 *
 * Threads   any number on both sides, but for the queue from one to one.
 * Owns      the channel or the queue. The struct is the caller's; zero is a closed one.
 */
#ifndef GYRE_SUITES_PATH_H
#define GYRE_SUITES_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/channel.h"
#include "gyre/clock.h"
#include "gyre/command.h"
#include "gyre/mpmc.h"
#include "gyre/spsc.h"
#include "suites/legacy_queue.h"

typedef struct gyre_path {
    gyre_channel *channel;
    gyre_legacy_queue *legacy;
    gyre_spsc *spsc;
    gyre_mpmc *mpmc;
    void *slots;      /* of a bare queue */
    uint64_t stopped; /* shared; for the queues, which cannot be closed */
} gyre_path;

/* How commands travel. The bare queues carry the first 64 bytes of each, the first of the two from
 * one thread to one. */
typedef enum gyre_path_kind {
    GYRE_PATH_CHANNEL,
    GYRE_PATH_LEGACY,
    GYRE_PATH_SPSC,
    GYRE_PATH_MPMC,
} gyre_path_kind;

/* `capacity` is a power of two for the bare queues. */
GYRE_MUST_USE gyre_status gyre_path_open(gyre_path *path, gyre_path_kind kind, uint32_t capacity);

/* Whoever waits returns false. Closed ones are fine. */
void gyre_path_stop(gyre_path *path);

/* Ends an open path, or half of one. */
void gyre_path_close(gyre_path *path);

/* The number-th command of a producer, and whether it is that one. */
GYRE_INLINE void gyre_path_number(gyre_command *out_command, uint64_t producer, uint64_t number)
{
    out_command->kind = GYRE_COMMAND_FROM_DEVICE;
    out_command->stream = 0;
    out_command->as.from_device.buffer = producer;
    out_command->as.from_device.offset = number;
    out_command->as.from_device.size = ~number;
}

GYRE_INLINE bool gyre_path_is(const gyre_command *command, uint64_t producer, uint64_t number)
{
    return command->kind == GYRE_COMMAND_FROM_DEVICE &&
           command->as.from_device.buffer == producer && command->as.from_device.offset == number &&
           command->as.from_device.size == ~number;
}

/* What the two below do without a channel. */
GYRE_MUST_USE bool gyre_path_push_(const gyre_path *path, const gyre_command *command,
                                   uint64_t *waited_ns);
GYRE_MUST_USE bool gyre_path_pop_(const gyre_path *path, gyre_command *out_command,
                                  uint64_t deadline_ns);

/* Waits for room. `waited_ns` grows by how long that took at a queue; of a channel the statistics
 * tell. False when the path was stopped. */
GYRE_MUST_USE GYRE_INLINE bool gyre_path_put(const gyre_path *path, const gyre_command *command,
                                             uint64_t *waited_ns)
{
    if (path->channel)
        return gyre_channel_send(path->channel, 0, command, gyre_command_size(command),
                                 GYRE_NEVER) == GYRE_OK;
    return gyre_path_push_(path, command, waited_ns);
}

/* Waits for a command. False when the path was stopped, or none came before the deadline. */
GYRE_MUST_USE GYRE_INLINE bool gyre_path_take(const gyre_path *path, gyre_command *out_command,
                                              uint64_t deadline_ns)
{
    if (path->channel)
        return gyre_channel_receive(path->channel, out_command, NULL, deadline_ns) == GYRE_OK;
    return gyre_path_pop_(path, out_command, deadline_ns);
}

#endif
