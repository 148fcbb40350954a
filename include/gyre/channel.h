/* SPDX-License-Identifier: Apache-2.0
 *
 * channel: a bounded path for items from any number of senders to any number of receivers.
 *
 * Delivery is to ONE (a queue: each item goes to one receiver) or to ALL (a broadcast: each
 * subscriber sees each item sent since it subscribed). What happens when it is full is the
 * channel's policy. Items are up to `item_bytes` bytes, copied in and out; what they refer to
 * (gyre_bytes) moves with them: a send hands it over, a receive takes it, and what nobody will
 * receive goes to `drop`.
 *
 * Order is kept per sender and priority band. Nothing is lost, doubled or invented, and the
 * accounts say so: attempts = accepted + rejected; for ONE accepted = delivered + dropped + queued,
 * for ALL the same for each subscriber since it subscribed.
 *
 * Waiting spins first and sleeps later (gyre/park.h). While nobody sleeps, a send or a receive
 * costs one compare-and-swap, and not even that while one thread does all the sending, or all the
 * receiving: then the next other thread to come along pays for a system call, once.
 *
 * Threads   any, unless a function says otherwise. Nothing is for signal handlers. A forked child
 *           may only destroy.
 * Owns      its slots and what the items in them refer to, its replies, its descriptors.
 * Not here  answers (gyre/reply.h), names (gyre/registry.h), commands for devices (gyre/command.h).
 */
#ifndef GYRE_CHANNEL_H
#define GYRE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_channel gyre_channel;
typedef struct gyre_subscriber gyre_subscriber; /* of a channel that delivers to ALL */

typedef enum gyre_delivery {
    GYRE_DELIVER_ONE = 0,
    GYRE_DELIVER_ALL = 1,
} gyre_delivery;

/* A channel to ALL is full while its slowest subscriber has `capacity` items before it; without
 * subscribers it is never full, and items go nowhere. It keeps its last items, and what they refer
 * to, until they are overwritten or it is destroyed, whoever has received them: `capacity` of them
 * (16 more under DROP_OLDEST), and as many more as make it a power of two. */
typedef enum gyre_when_full {
    GYRE_FULL_BLOCK = 0,       /* a send waits */
    GYRE_FULL_REJECT = 1,      /* a send returns GYRE_AGAIN at once */
    GYRE_FULL_DROP_OLDEST = 2, /* a send never waits; the oldest item of the lowest band goes */
    GYRE_FULL_DROP_NEWEST = 3, /* a send never waits; its own item goes, and it returns GYRE_OK */
} gyre_when_full;

/* Priorities 0-255 in four bands: low 0-63, normal 64-127, high 128-191, critical 192-255. */
enum {
    GYRE_PRIORITY_LOW = 32,
    GYRE_PRIORITY_NORMAL = 96,
    GYRE_PRIORITY_HIGH = 160,
    GYRE_PRIORITY_CRITICAL = 224,
};

/* Zero means default, everywhere. */
typedef struct gyre_channel_options {
    size_t struct_size;              /* sizeof(gyre_channel_options): lets the struct grow */
    const gyre_allocator *allocator; /* copied; default malloc */
    const char *name;                /* copied, cut to 31 bytes; default "" */
    gyre_delivery delivery;
    gyre_when_full when_full;
    uint32_t capacity;    /* items, any number up to 2^24; default 1024 */
    uint32_t item_bytes;  /* the largest item, up to 65520; default sizeof(gyre_command) */
    bool banded;          /* with four bands, the highest first; otherwise priorities are ignored.
                           * ONE: the bands share the capacity; ALL: each has it to itself */
    uint32_t subscribers; /* ALL: at most so many at once, up to 1024; default 16 */
    uint32_t calls;       /* open gyre_calls at most, up to 4096; default 64 */
    bool metrics;         /* also keep `peak`, which costs each send a look at the other side */
    /* What the items refer to. `share` is called on each copy of an item that a subscriber
     * receives: the channel keeps its own; `drop` on an item that the channel lets go of. Both
     * may be called by any thread that sends, receives, closes or destroys; they must not call the
     * channel. NULL: items refer to nothing. */
    void (*share)(void *user, void *item, size_t size);
    void (*drop)(void *user, void *item, size_t size);
    void *user;
} gyre_channel_options;

/* Creates an open, empty channel. NULL options mean all defaults. GYRE_INVALID for numbers out of
 * range, GYRE_NO_MEMORY, GYRE_UNAVAILABLE in a forked child. May block in the allocator. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_create(const gyre_channel_options *options,
                                                       gyre_channel **out_channel);

/* Sends one item of up to item_bytes. GYRE_OK: it is accepted, and what it refers to is handed over
 * (under GYRE_FULL_DROP_NEWEST it may be dropped). Anything else: the item stays the caller's.
 * GYRE_AGAIN: full (policy REJECT). GYRE_TIMEOUT: still full at the deadline (policy BLOCK;
 * GYRE_NEVER for none). GYRE_CLOSED. GYRE_INVALID: the size is 0 or too large. Blocks only under
 * GYRE_FULL_BLOCK. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_send(gyre_channel *channel, uint32_t priority,
                                                     const void *item, size_t size,
                                                     uint64_t deadline_ns);

/* The same without waiting: GYRE_AGAIN when full. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_try_send(gyre_channel *channel, uint32_t priority,
                                                         const void *item, size_t size);

/* Equal items, one after another in memory. */
typedef struct gyre_batch {
    const void *items;
    size_t size;  /* of one item */
    size_t count; /* of them */
    uint32_t priority;
} gyre_batch;

/* Sends the items in order, handing over as many at once as there is room for. *out_sent says how
 * many were accepted, whatever the status: GYRE_OK when all were, otherwise why not the rest. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_send_bulk(gyre_channel *channel,
                                                          const gyre_batch *batch,
                                                          uint64_t deadline_ns, size_t *out_sent);
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_try_send_bulk(gyre_channel *channel,
                                                              const gyre_batch *batch,
                                                              size_t *out_sent);

/* What came with an item. */
typedef struct gyre_received {
    uint32_t size;
    uint32_t band;  /* 0-3; 0 without bands */
    uint64_t reply; /* the ticket to answer with gyre_reply_send; 0: nobody waits */
} gyre_received;

/* Receives the oldest item of the highest band that has one (ONE only: GYRE_INVALID otherwise).
 * `item` has room for item_bytes; `received` may be NULL. GYRE_TIMEOUT: nothing came before the
 * deadline. GYRE_CLOSED: the channel is closed and everything has been received. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_receive(gyre_channel *channel, void *item,
                                                        gyre_received *received,
                                                        uint64_t deadline_ns);

/* The same without waiting: GYRE_AGAIN when there is nothing. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_try_receive(gyre_channel *channel, void *item,
                                                            gyre_received *received);

/* Receives up to `room` items, item_bytes apart in `items`, with what came with each in `received`
 * (NULL: not wanted). Waits for the first one only; *out_count is at least 1 with GYRE_OK. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_receive_bulk(gyre_channel *channel, void *items,
                                                             gyre_received *received, size_t room,
                                                             uint64_t deadline_ns,
                                                             size_t *out_count);
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_try_receive_bulk(gyre_channel *channel, void *items,
                                                                 gyre_received *received,
                                                                 size_t room, size_t *out_count);

/* Subscribes to what is sent from now on (ALL only: GYRE_INVALID otherwise). GYRE_AGAIN when all
 * places are taken, GYRE_CLOSED. May block for a short while. */
GYRE_API GYRE_MUST_USE gyre_status gyre_subscriber_create(gyre_channel *channel,
                                                          gyre_subscriber **out_subscriber);

/* As the functions of the channel. One thread at a time for each subscriber. Under
 * GYRE_FULL_DROP_OLDEST a subscriber that fell behind goes on with the oldest item that is left;
 * its statistics count what it missed. */
GYRE_API GYRE_MUST_USE gyre_status gyre_subscriber_receive(gyre_subscriber *subscriber, void *item,
                                                           gyre_received *received,
                                                           uint64_t deadline_ns);
GYRE_API GYRE_MUST_USE gyre_status gyre_subscriber_try_receive(gyre_subscriber *subscriber,
                                                               void *item, gyre_received *received);
GYRE_API GYRE_MUST_USE gyre_status gyre_subscriber_receive_bulk(gyre_subscriber *subscriber,
                                                                void *items,
                                                                gyre_received *received,
                                                                size_t room, uint64_t deadline_ns,
                                                                size_t *out_count);
GYRE_API GYRE_MUST_USE gyre_status gyre_subscriber_try_receive_bulk(gyre_subscriber *subscriber,
                                                                    void *items,
                                                                    gyre_received *received,
                                                                    size_t room, size_t *out_count);

/* Ends a subscription, before its channel; NULL is a no-op. Senders that waited for it go on. */
GYRE_API void gyre_subscriber_destroy(gyre_subscriber *subscriber);

/* A file descriptor for poll and epoll, owned by the channel: readable whenever a receive might
 * find something, or the channel is closed. Do not read it. When it is readable, receive until
 * GYRE_AGAIN, which also makes it unreadable again. GYRE_IO when the system has none left,
 * GYRE_INVALID for the wrong delivery. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_descriptor(gyre_channel *channel,
                                                           int *out_descriptor);
GYRE_API GYRE_MUST_USE gyre_status gyre_subscriber_descriptor(gyre_subscriber *subscriber,
                                                              int *out_descriptor);

/* Exact whenever no call is under way. Otherwise the numbers are read one after another while they
 * change, and need not agree with each other. */
typedef struct gyre_channel_statistics {
    size_t struct_size;     /* set by the caller: sizeof(gyre_channel_statistics) */
    uint64_t attempts;      /* items that somebody tried to send */
    uint64_t accepted;      /* of which these went in, or were dropped as the newest */
    uint64_t rejected;      /* and these did not: full, timed out or closed */
    uint64_t delivered;     /* ONE: received; ALL: received by all subscribers together */
    uint64_t dropped;       /* accepted, and nobody received them; ALL: missed by subscribers, all
                             * together, and dropped as the newest, which no subscriber counts */
    uint64_t queued;        /* not received yet; ALL: by the slowest subscriber */
    uint64_t peak;          /* the most that were ever queued; 0 without `metrics` */
    uint64_t blocked_sends; /* that had to wait, */
    uint64_t blocked_ns;    /* and for how long together */
    uint64_t late_answers;  /* to callers who had given up */
} gyre_channel_statistics;

/* Fills in no more than struct_size bytes. GYRE_INVALID when that is not set. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_channel_describe(const gyre_channel *channel,
                                                         gyre_channel_statistics *out_statistics);

/* Since it subscribed: accepted, delivered, dropped and queued; the rest is 0. */
GYRE_API GYRE_MUST_USE gyre_status gyre_subscriber_describe(
    const gyre_subscriber *subscriber, gyre_channel_statistics *out_statistics);

/* Borrowed from the options, or the default. Never blocks. */
GYRE_API uint32_t gyre_channel_item_bytes(const gyre_channel *channel);
GYRE_API const char *gyre_channel_name(const gyre_channel *channel);

/* No send is accepted any more; what is in the channel can still be received. Every blocked sender
 * and every open call returns GYRE_CLOSED, every receiver what is left and then GYRE_CLOSED. Twice
 * is once. */
GYRE_API void gyre_channel_close(gyre_channel *channel);

/* Closes, drops what is left and frees; NULL is a no-op. No other call may be under way, and all
 * subscribers are destroyed. In a forked child it only frees, and calls no `drop`. */
GYRE_API void gyre_channel_destroy(gyre_channel *channel);

GYRE_END_DECLS

#endif
