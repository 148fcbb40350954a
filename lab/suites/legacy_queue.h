/* SPDX-License-Identifier: Apache-2.0
 *
 * legacy_queue: the queue that the seeds compare with: a mutex around a deque that grows.
 *
 * The baseline of the channel's figures, and no part of the library. It copies what a channel
 * copies: of a command, the part that is used.
 *
 * Threads   any number on both sides; nobody waits but for the lock: who finds it full or empty
 *           asks again.
 * Owns      its deque, and what the commands in it refer to.
 */
#ifndef GYRE_SUITES_LEGACY_QUEUE_H
#define GYRE_SUITES_LEGACY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/command.h"

typedef struct gyre_legacy_queue gyre_legacy_queue;

/* `limit` is how many commands it takes at most; 0: as many as come. NULL without memory. */
gyre_legacy_queue *gyre_legacy_create(size_t limit);

/* Hands a command over, the first `size` bytes of it; false when it is full, or there is no memory
 * to grow: then it stays the caller's. */
GYRE_MUST_USE bool gyre_legacy_push(gyre_legacy_queue *queue, const gyre_command *command,
                                    size_t size);

/* The oldest command, and its size; false when there is none. */
GYRE_MUST_USE bool gyre_legacy_pop(gyre_legacy_queue *queue, gyre_command *out_command,
                                   size_t *out_size);

/* Drops what is left; NULL is a no-op. */
void gyre_legacy_destroy(gyre_legacy_queue *queue);

#endif
