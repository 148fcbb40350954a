/* SPDX-License-Identifier: Apache-2.0
 *
 * channel: what the files of the channel share: the struct, and how they divide the work.
 *
 *   channel.c          life: create, close, destroy
 *   channel_statistics.c  accounts
 *   channel_send.c     the public ways to send: policies, waiting, counting
 *   channel_receive.c  the public ways to receive: waiting
 *   channel_bell.c     descriptors for event loops
 *   channel_one.c      moves items of a queue, without waiting
 *   channel_all.c      moves items of a broadcast, without waiting; subscribers
 *   reply.c            answers
 */
#ifndef GYRE_FLOW_CHANNEL_H
#define GYRE_FLOW_CHANNEL_H

#include <pthread.h>

#include "base/copy.h"
#include "flow/lane.h"
#include "flow/reply.h"
#include "gyre/channel.h"
#include "gyre/park.h"

enum {
    GYRE_BANDS = 4,
    GYRE_CHANNEL_NAME = 32,
    GYRE_ERASED_AHEAD = 16, /* slots at least that such a broadcast has beyond its capacity */
};

#define GYRE_NOT_READING UINT64_MAX
#define GYRE_NO_CURSOR UINT64_MAX

struct gyre_subscriber {
    /* DROP_OLDEST: the position it is reading, times GYRE_BANDS, plus the band. What it names may
     * not be overwritten. [all-reading] */
    alignas(128) _Atomic uint64_t reading;
    /* The position it reads next, by band. Otherwise than under DROP_OLDEST, senders stay within a
     * lap of it; GYRE_NO_CURSOR while nobody subscribes. [all-cursor] */
    _Atomic uint64_t cursor[GYRE_BANDS];
    alignas(128) gyre_channel *channel; /* borrowed */
    uint64_t start;                     /* items accepted before it subscribed */
    _Atomic uint64_t delivered;         /* written by the subscriber's thread alone */
    _Atomic uint64_t missed;
    int bell;   /* its descriptor, -1: none; guarded by the channel's lock, like */
    bool taken; /* whether somebody has it */
};

struct gyre_channel {
    gyre_lane bands[GYRE_BANDS];
    /* ONE with bands: free places, with marks like a turn; each band alone has room for all. */
    alignas(128) _Atomic uint64_t room;
    /* ALL with DROP_OLDEST: items before this position must not be read any more. [all-reading] */
    alignas(128) _Atomic uint64_t erased[GYRE_BANDS];
    alignas(128) gyre_park receivers; /* where they sleep */
    alignas(128) gyre_park senders;
    alignas(128) _Atomic uint64_t rejected;
    _Atomic uint64_t dropped_oldest; /* ONE */
    _Atomic uint64_t dropped_newest; /* accepted, and gone at once */
    _Atomic uint64_t past_delivered; /* ALL: by subscribers that are gone */
    _Atomic uint64_t past_missed;
    _Atomic uint64_t peak;
    _Atomic uint64_t blocked_sends;
    _Atomic uint64_t blocked_ns;
    _Atomic uint32_t bells;            /* descriptors that are open */
    int bell;                          /* ONE: the descriptor, -1: none; guarded by the lock */
    _Atomic uint32_t subscriber_limit; /* places from here on were never taken */

    alignas(128) gyre_channel_options options; /* with defaults filled in; constant from here on */
    uint32_t band_count;                       /* 1 or GYRE_BANDS */
    _Atomic bool closed;                       /* set after the marks that count */
    gyre_allocator allocator;                  /* copied; all NULL for malloc */
    gyre_reply_table replies;
    gyre_subscriber *subscribers; /* options.subscribers places; ALL only */
    pthread_mutex_t lock;         /* subscribing, and descriptors */
    char name[GYRE_CHANNEL_NAME];
    void *block; /* what all of this lies in */
    size_t block_bytes;
};

/* Equal items on their way in. */
typedef struct gyre_load {
    const unsigned char *items;
    size_t size;
    uint64_t reply; /* for each; 0: none */
    uint32_t band;
} gyre_load;

static inline bool gyre_channel_is_all(const gyre_channel *channel)
{
    return channel->options.delivery == GYRE_DELIVER_ALL;
}

/* Whether it is worth looking for the mark CLOSED. */
static inline bool gyre_channel_is_closed(const gyre_channel *channel)
{
    /* relaxed: a hint */
    return atomic_load_explicit(&channel->closed, memory_order_relaxed);
}

/* Calls `drop` for what the slot holds, where there is something and the caller gave one. */
static inline void gyre_channel_drop(const gyre_channel *channel, gyre_slot *slot)
{
    if (channel->options.drop && slot->size > 0)
        channel->options.drop(channel->options.user, slot->item, slot->size);
}

/* Fills a claimed slot. */
GYRE_INLINE void gyre_slot_fill(gyre_slot *slot, const void *item, size_t size, gyre_reply reply)
{
    slot->size = (uint32_t)size;
    slot->reply = reply;
    gyre_copy(slot->item, item, size);
}

/* Reads a claimed slot; `received` may be NULL. */
GYRE_INLINE void gyre_slot_read(const gyre_slot *slot, uint32_t band, void *item,
                                gyre_received *received)
{
    gyre_copy(item, slot->item, slot->size);
    if (received)
        *received = (gyre_received){slot->size, band, slot->reply};
}

/* Wakes those who wait for items, after something was handed over: `count` of the threads, and
 * every event loop. channel_bell.c */
void gyre_channel_ring_bells(gyre_channel *channel, uint32_t count);
/* Closes a descriptor, where there is one; with the lock held. */
void gyre_bell_close(_Atomic uint32_t *bells, int *bell);
/* Makes a descriptor unreadable or readable, where there is one. */
void gyre_bell_mute(gyre_channel *channel, const int *bell);
void gyre_bell_ring(gyre_channel *channel, const int *bell);

/* Moves up to `count` items in: how many, and whether the channel is closed. Never wait. */
size_t gyre_one_push(gyre_channel *channel, const gyre_load *load, size_t count, bool *out_closed);
size_t gyre_all_push(gyre_channel *channel, const gyre_load *load, size_t count, bool *out_closed);

/* Sends one item with a ticket. A deadline of 0 does not wait. channel_send.c */
GYRE_MUST_USE gyre_status gyre_channel_send_asking(gyre_channel *channel, uint32_t priority,
                                                   const void *item, size_t size, gyre_reply reply,
                                                   uint64_t deadline_ns);

/* Whether a sender of that band may go to sleep: it is full, and whoever makes room will wake.
 * False also when it is closed. */
bool gyre_one_is_full(gyre_channel *channel, uint32_t band);
/* A sender that slept has left: hands on what it may have been woken for. */
void gyre_one_sender_left(gyre_channel *channel);

/* Whether fewer than `capacity` items are in it. Then a slot that cannot be claimed is only being
 * read, and dropping others would not help. */
bool gyre_one_has_room(const gyre_channel *channel, uint32_t band);
/* Drops the oldest item of the lowest band that has one; false when there is none. */
bool gyre_one_drop_oldest(gyre_channel *channel);

/* Whether a pop would find something in a queue without bands: two loads, for those who spin. */
static inline bool gyre_one_peek(const gyre_channel *channel)
{
    const gyre_lane *const lane = &channel->bands[0];

    /* relaxed: a hint */
    const uint64_t head = atomic_load_explicit(&lane->head.word, memory_order_relaxed);

    return gyre_lane_is(lane, gyre_turn_position(head), GYRE_LANE_FILLED);
}

/* Moves up to `room` items out, item_bytes apart. Never wait. */
size_t gyre_one_pop(gyre_channel *channel, void *items, gyre_received *received, size_t room);
size_t gyre_all_pop(gyre_subscriber *subscriber, void *items, gyre_received *received, size_t room);

/* Whether a receiver may go to sleep: there is nothing, and whoever sends will wake. *out_closed:
 * there is nothing and never will be. Both false: something is on its way. */
bool gyre_one_is_empty(gyre_channel *channel, bool *out_closed);
bool gyre_all_is_empty(gyre_subscriber *subscriber, bool *out_closed);
/* A receiver that slept has left. */
void gyre_one_receiver_left(gyre_channel *channel);

/* Whether anybody subscribes. */
bool gyre_all_is_heard(const gyre_channel *channel);
/* channel_statistics.c, both. What a subscriber has before it, at most `capacity` in each band, and
 * how many items it has been overtaken by without having noticed yet. */
uint64_t gyre_all_queued(const gyre_subscriber *subscriber, uint64_t *out_overtaken);
/* Items that are not received yet; ALL: by the slowest. */
uint64_t gyre_channel_queued(const gyre_channel *channel);

#endif
