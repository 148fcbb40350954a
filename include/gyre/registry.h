/* SPDX-License-Identifier: Apache-2.0
 *
 * registry: channels by name.
 *
 * What one part of a program creates, another finds. There is no global registry: make one, hand it
 * on. A usual set of channels can be created in one call: `gpu` (commands to ALL, 100), `evolution`
 * (10 000), `requests.1` to `requests.5` (1000 each, and as many open calls) and `events` (to ALL,
 * 1000). Senders wait where these are full, except that `events` drops its oldest: a listener that
 * does not listen holds up nobody.
 *
 * Threads   any. Functions take a lock for a short while; none is for signal handlers. A forked
 *           child may only destroy.
 * Owns      its channels, until it is destroyed.
 * Not here  channels without a name (gyre/channel.h).
 */
#ifndef GYRE_REGISTRY_H
#define GYRE_REGISTRY_H

#include <stddef.h>

#include "gyre/alloc.h"
#include "gyre/channel.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_registry gyre_registry;

/* Zero means default, everywhere. */
typedef struct gyre_registry_options {
    size_t struct_size;              /* sizeof(gyre_registry_options): lets the struct grow */
    const gyre_allocator *allocator; /* copied; also for the channels; default malloc */
} gyre_registry_options;

/* Creates an empty registry. NULL options mean all defaults. GYRE_NO_MEMORY, GYRE_INVALID for half
 * an allocator or no struct_size, GYRE_UNAVAILABLE in a forked child, as all that return a status.
 */
GYRE_API GYRE_MUST_USE gyre_status gyre_registry_create(const gyre_registry_options *options,
                                                        gyre_registry **out_registry);

/* Creates a channel under the name in its options: 1-31 letters, digits, '.', '_', '-'.
 * GYRE_INVALID for another name or one that is taken, and what gyre_channel_create returns. The
 * channel is borrowed until the registry is destroyed; `out_channel` may be NULL. */
GYRE_API GYRE_MUST_USE gyre_status gyre_registry_add(gyre_registry *registry,
                                                     const gyre_channel_options *options,
                                                     gyre_channel **out_channel);

/* Creates the usual channels: all of them or, on failure, none. As gyre_registry_add. */
GYRE_API GYRE_MUST_USE gyre_status gyre_registry_add_defaults(gyre_registry *registry);

/* GYRE_NOT_FOUND names what was looked for. Borrowed as above. */
GYRE_API GYRE_MUST_USE gyre_status gyre_registry_find(gyre_registry *registry, const char *name,
                                                      gyre_channel **out_channel);

/* Calls `visit` for every channel, in order of name, with the lock held: it must not call the
 * registry. */
GYRE_API void gyre_registry_visit(gyre_registry *registry,
                                  void (*visit)(void *user, gyre_channel *channel), void *user);

/* Closes every channel: whoever waits on one returns. */
GYRE_API void gyre_registry_close(gyre_registry *registry);

/* Destroys the channels and the registry, as gyre_channel_destroy; NULL is a no-op. */
GYRE_API void gyre_registry_destroy(gyre_registry *registry);

GYRE_END_DECLS

#endif
