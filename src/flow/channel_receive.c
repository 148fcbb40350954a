/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_receive: the ways to receive, from a queue and by a subscriber: at once, or waiting.
 *
 * Both deliveries are received from in the same way: take what is there; else spin, looking at
 * nothing but the slots; else sleep, once it is certain that a sender will see the mark.
 *
 * Threads   as gyre/channel.h says.
 * Owns      one gyre_spin for each thread.
 */
#include <sched.h>

#include "base/fail.h"
#include "base/wait.h"
#include "flow/channel.h"
#include "gyre/clock.h"

/* A receive under way. */
typedef struct receiving {
    gyre_channel *channel;
    gyre_subscriber *subscriber; /* NULL: from a queue */
    void *items;
    gyre_received *received;
    size_t room;
    uint64_t deadline_ns; /* 0: does not wait */
    size_t done;
    bool closed; /* and nothing is left */
    bool marked; /* there is nothing, and whoever sends will see that we wait */
} receiving;

static bool take(receiving *r)
{
    r->done = r->subscriber ? gyre_all_pop(r->subscriber, r->items, r->received, r->room)
                            : gyre_one_pop(r->channel, r->items, r->received, r->room);
    return r->done > 0;
}

/* Whether there is nothing, and it is marked that somebody waits. */
static bool is_empty(receiving *r)
{
    return r->subscriber ? gyre_all_is_empty(r->subscriber, &r->closed)
                         : gyre_one_is_empty(r->channel, &r->closed);
}

/* For gyre_spin_until. */
static bool came(void *arg)
{
    return take(arg);
}

/* Takes something, or finds the channel closed, or leaves the mark. In between, when an item is on
 * its way, it looks again and lets the sender run. */
static bool came_or_marked(void *arg)
{
    receiving *const r = arg;

    while (!take(r)) {
        r->marked = is_empty(r);
        if (r->marked)
            return false;
        if (r->closed)
            return true;
        if (gyre_clock_now_ns() >= r->deadline_ns)
            return false; /* whoever asks sees that it is too late to sleep */
        sched_yield();
    }
    return true;
}

static gyre_status say_closed(const gyre_channel *channel)
{
    return gyre_fail(GYRE_CLOSED, "channel '%s' is closed and empty", channel->name);
}

static gyre_status wait_for_items(receiving *r)
{
    static _Thread_local gyre_spin spin;
    gyre_status status;

    if (gyre_spin_until(&spin, came, r, r->deadline_ns))
        return GYRE_OK;
    status = gyre_park_wait(&r->channel->receivers, NULL, came_or_marked, r, r->deadline_ns);
    if (!r->subscriber)
        gyre_one_receiver_left(r->channel);
    if (status != GYRE_OK || r->done > 0)
        return status;
    return say_closed(r->channel);
}

/* Nothing is there, and nobody wants to wait: says whether there ever will be, and makes a
 * descriptor unreadable. */
static gyre_status find_nothing(receiving *r)
{
    int *const bell = r->subscriber ? &r->subscriber->bell : &r->channel->bell;

    /* relaxed: who has a descriptor knows that it is open */
    if (atomic_load_explicit(&r->channel->bells, memory_order_relaxed) == 0 &&
        !gyre_channel_is_closed(r->channel))
        return GYRE_AGAIN; /* leaving alone the words that senders need */
    gyre_bell_mute(r->channel, bell);
    (void)came_or_marked(r);
    if (r->marked)
        return GYRE_AGAIN;
    gyre_bell_ring(r->channel, bell); /* there may be more, or soon; and closed is for ever */
    if (r->done > 0)
        return GYRE_OK;
    return r->closed ? say_closed(r->channel) : GYRE_AGAIN;
}

static gyre_status try_receive(receiving *r, size_t *out_count)
{
    gyre_status status = GYRE_OK;

    *out_count = 0;
    if (r->room == 0)
        return gyre_fail(GYRE_INVALID, "channel '%s': a receive of no items", r->channel->name);
    if (!take(r))
        status = find_nothing(r);
    *out_count = r->done;
    return status;
}

static gyre_status receive(receiving *r, uint64_t deadline_ns, size_t *out_count)
{
    gyre_status status = GYRE_OK;

    *out_count = 0;
    if (r->room == 0)
        return gyre_fail(GYRE_INVALID, "channel '%s': a receive of no items", r->channel->name);
    r->deadline_ns = deadline_ns;
    if (!take(r))
        status = wait_for_items(r);
    *out_count = r->done;
    return status;
}

static gyre_status check_one(const gyre_channel *channel)
{
    if (!gyre_channel_is_all(channel))
        return GYRE_OK;
    return gyre_fail(GYRE_INVALID, "channel '%s': delivers to ALL; receive through a subscriber",
                     channel->name);
}

/* Receives one item as the holder of the head; false: it has to come the other way. */
GYRE_INLINE bool receive_held(gyre_channel *channel, void *item, gyre_received *received)
{
    gyre_lane *const lane = &channel->bands[0];
    uint64_t position;
    gyre_slot *slot;

    if (channel->options.banded) /* to ALL, nobody ever holds the head */
        return false;
    slot = gyre_lane_claim_held(lane, &lane->head, GYRE_LANE_FILLED, &position);
    if (!slot)
        return false;
    if (slot->reply) /* its answer will be written soon */
        gyre_reply_table_prefetch(&channel->replies, slot->reply);
    gyre_slot_read(slot, 0, item, received);
    gyre_lane_hand_over(lane, slot, position, GYRE_LANE_FREE_NEXT);
    return true;
}

/* A partner that is at work sends within a microsecond: waits so long for that, looking at nothing
 * but the word that will tell, before clocks are read and budgets counted. */
static bool is_sent_soon(const gyre_channel *channel)
{
    if (channel->options.banded || !gyre_may_spin())
        return false;
    for (int i = 0; i < GYRE_FIRST_LOOKS; i++) {
        if (gyre_one_peek(channel))
            return true;
        gyre_relax();
    }
    return false;
}

/* Receives one item, whoever moves the head. */
GYRE_APART static gyre_status receive_shared(gyre_channel *channel, void *item,
                                             gyre_received *received, uint64_t deadline_ns)
{
    receiving r = {.channel = channel, .items = item, .received = received, .room = 1};
    const gyre_status status = check_one(channel);
    size_t count;

    if (status != GYRE_OK)
        return status;
    return deadline_ns ? receive(&r, deadline_ns, &count) : try_receive(&r, &count);
}

gyre_status gyre_channel_receive(gyre_channel *channel, void *item, gyre_received *received,
                                 uint64_t deadline_ns)
{
    if (receive_held(channel, item, received))
        return GYRE_OK;
    if (deadline_ns > 0 && is_sent_soon(channel) && receive_held(channel, item, received))
        return GYRE_OK;
    return receive_shared(channel, item, received, deadline_ns ? deadline_ns : 1);
}

gyre_status gyre_channel_try_receive(gyre_channel *channel, void *item, gyre_received *received)
{
    if (receive_held(channel, item, received))
        return GYRE_OK;
    return receive_shared(channel, item, received, 0);
}

gyre_status gyre_channel_receive_bulk(gyre_channel *channel, void *items, gyre_received *received,
                                      size_t room, uint64_t deadline_ns, size_t *out_count)
{
    receiving r = {.channel = channel, .items = items, .received = received, .room = room};
    const gyre_status status = check_one(channel);

    *out_count = 0;
    return status == GYRE_OK ? receive(&r, deadline_ns, out_count) : status;
}

gyre_status gyre_channel_try_receive_bulk(gyre_channel *channel, void *items,
                                          gyre_received *received, size_t room, size_t *out_count)
{
    receiving r = {.channel = channel, .items = items, .received = received, .room = room};
    const gyre_status status = check_one(channel);

    *out_count = 0;
    return status == GYRE_OK ? try_receive(&r, out_count) : status;
}

/* What a subscriber receives. */
static receiving by(gyre_subscriber *subscriber, void *items, gyre_received *received, size_t room)
{
    return (receiving){.channel = subscriber->channel,
                       .subscriber = subscriber,
                       .items = items,
                       .received = received,
                       .room = room};
}

gyre_status gyre_subscriber_receive(gyre_subscriber *subscriber, void *item,
                                    gyre_received *received, uint64_t deadline_ns)
{
    receiving r = by(subscriber, item, received, 1);
    size_t count;

    return receive(&r, deadline_ns, &count);
}

gyre_status gyre_subscriber_try_receive(gyre_subscriber *subscriber, void *item,
                                        gyre_received *received)
{
    receiving r = by(subscriber, item, received, 1);
    size_t count;

    return try_receive(&r, &count);
}

gyre_status gyre_subscriber_receive_bulk(gyre_subscriber *subscriber, void *items,
                                         gyre_received *received, size_t room, uint64_t deadline_ns,
                                         size_t *out_count)
{
    receiving r = by(subscriber, items, received, room);

    return receive(&r, deadline_ns, out_count);
}

gyre_status gyre_subscriber_try_receive_bulk(gyre_subscriber *subscriber, void *items,
                                             gyre_received *received, size_t room,
                                             size_t *out_count)
{
    receiving r = by(subscriber, items, received, room);

    return try_receive(&r, out_count);
}
