/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_send: the ways to send: what a full channel means, waiting, counting.
 *
 * Threads   any.
 * Owns      one gyre_spin for each thread.
 */
#include <inttypes.h>
#include <sched.h>

#include "base/fail.h"
#include "base/wait.h"
#include "flow/channel.h"
#include "gyre/clock.h"

/* A send under way. */
typedef struct sending {
    gyre_channel *channel;
    gyre_load load;
    size_t count;         /* items that are left */
    size_t done;          /* items that went in, or were dropped as the newest */
    uint64_t deadline_ns; /* 0: does not wait */
    bool closed;
    bool blocked; /* it had to wait */
} sending;

/* Keeps the peak, of a channel that is asked to. */
static void note_peak(gyre_channel *channel)
{
    const uint64_t queued = gyre_channel_queued(channel);
    /* relaxed, both: a number for people */
    uint64_t peak = atomic_load_explicit(&channel->peak, memory_order_relaxed);

    while (queued > peak &&
           !atomic_compare_exchange_weak_explicit(&channel->peak, &peak, queued,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* Moves in what fits now: how many. */
static inline size_t move_in(gyre_channel *channel, const gyre_load *load, size_t count,
                             bool *out_closed)
{
    const size_t some = gyre_channel_is_all(channel)
                            ? gyre_all_push(channel, load, count, out_closed)
                            : gyre_one_push(channel, load, count, out_closed);

    if (some > 0 && channel->options.metrics)
        note_peak(channel);
    return some;
}

/* The same for a send under way; false when nothing fits. */
static bool put(sending *s)
{
    const size_t some = move_in(s->channel, &s->load, s->count, &s->closed);

    s->load.items += some * s->load.size;
    s->count -= some;
    s->done += some;
    return some > 0;
}

/* For gyre_spin_until. */
static bool went(void *arg)
{
    sending *const s = arg;

    return put(s) || s->closed;
}

/* Sends something, or finds the channel closed, or leaves the mark by which it will be woken. In
 * between, when a slot is being read, it looks again and lets the reader run. */
static bool went_or_marked(void *arg)
{
    sending *const s = arg;

    while (!went(s)) {
        /* ALL: those who make room look for sleepers every time */
        if (gyre_channel_is_all(s->channel) || gyre_one_is_full(s->channel, s->load.band))
            return false;
        if (gyre_clock_now_ns() >= s->deadline_ns)
            return false; /* whoever asks sees that it is too late to sleep */
        sched_yield();
    }
    return true;
}

/* Waits until something has gone in or the channel is closed. */
static gyre_status wait_for_room(sending *s)
{
    static _Thread_local gyre_spin spin;
    gyre_channel *const channel = s->channel;
    const uint64_t start_ns = gyre_clock_now_ns();
    gyre_status status = GYRE_OK;

    if (!gyre_spin_until(&spin, went, s, s->deadline_ns)) {
        status = gyre_park_wait(&channel->senders, NULL, went_or_marked, s, s->deadline_ns);
        if (!gyre_channel_is_all(channel))
            gyre_one_sender_left(channel);
    }
    /* relaxed, both: counts */
    atomic_fetch_add_explicit(&channel->blocked_sends, !s->blocked, memory_order_relaxed);
    atomic_fetch_add_explicit(&channel->blocked_ns, gyre_clock_now_ns() - start_ns,
                              memory_order_relaxed);
    s->blocked = true;
    return status;
}

/* The items that are left go nowhere, and count as accepted. */
static void drop_newest(sending *s)
{
    const gyre_channel_options *const options = &s->channel->options;

    atomic_fetch_add_explicit(&s->channel->dropped_newest, s->count, memory_order_relaxed);
    for (; s->count > 0; s->count--, s->done++, s->load.items += s->load.size) {
        void *item;

        gyre_reply_table_refuse(&s->channel->replies, s->load.reply, GYRE_CANCELLED);
        memcpy(&item, &s->load.items, sizeof item); /* accepted: no longer the sender's const */
        if (options->drop)
            options->drop(options->user, item, s->load.size);
    }
}

/* What the policy says to a channel that is full. GYRE_OK: try again. */
static gyre_status make_room(sending *s)
{
    switch (s->channel->options.when_full) {
    case GYRE_FULL_DROP_OLDEST:
        /* ALL is never full under this policy */
        if (gyre_one_has_room(s->channel, s->load.band) || !gyre_one_drop_oldest(s->channel))
            sched_yield(); /* the slot is being read right now */
        return GYRE_OK;
    case GYRE_FULL_DROP_NEWEST:
        drop_newest(s);
        return GYRE_OK;
    case GYRE_FULL_REJECT:
        return GYRE_AGAIN;
    case GYRE_FULL_BLOCK:
        break;
    }
    return s->deadline_ns == 0 ? GYRE_AGAIN : wait_for_room(s);
}

/* All of it, or as much as the policy and the deadline allow. */
static gyre_status send_all(sending *s)
{
    gyre_channel *const channel = s->channel;
    gyre_status status = GYRE_OK;

    while (s->count > 0 && status == GYRE_OK) {
        if (!put(s))
            status = s->closed ? gyre_fail(GYRE_CLOSED, "channel '%s' is closed", channel->name)
                               : make_room(s);
    }
    if (s->count > 0)
        atomic_fetch_add_explicit(&channel->rejected, s->count, memory_order_relaxed); /* count */
    return status;
}

static bool is_size(const gyre_channel *channel, size_t size)
{
    return size > 0 && size <= channel->options.item_bytes;
}

static gyre_status say_size(const gyre_channel *channel, size_t size)
{
    return gyre_fail(GYRE_INVALID, "channel '%s': an item of %zu bytes; it takes 1 to %" PRIu32,
                     channel->name, size, channel->options.item_bytes);
}

static uint32_t band_of(const gyre_channel *channel, uint32_t priority)
{
    if (!channel->options.banded)
        return 0;
    return priority < 256 ? priority >> 6 : GYRE_BANDS - 1;
}

/* Sends one item, whoever moves the tail. */
GYRE_APART static gyre_status send_shared(gyre_channel *channel, uint32_t priority,
                                          const void *item, size_t size, gyre_reply reply,
                                          uint64_t deadline_ns)
{
    sending s = {
        .channel = channel,
        .load = {item, size, reply, band_of(channel, priority)},
        .count = 1,
        .deadline_ns = deadline_ns,
    };

    return is_size(channel, size) ? send_all(&s) : say_size(channel, size);
}

/* Sends one item as the holder of the tail; false: it has to go the other way. */
GYRE_INLINE bool send_held(gyre_channel *channel, const void *item, size_t size, gyre_reply reply)
{
    gyre_lane *const lane = &channel->bands[0];
    const bool all = gyre_channel_is_all(channel);
    uint64_t position;
    gyre_slot *slot;

    if (channel->options.banded)
        return false;
    slot = gyre_lane_claim_held(lane, &lane->tail, all ? GYRE_LANE_OVERWRITE : GYRE_LANE_FREE,
                                &position);
    if (!slot)
        return false;
    if (all)
        gyre_channel_drop(channel, slot);
    gyre_slot_fill(slot, item, size, reply);
    gyre_lane_hand_over(lane, slot, position, GYRE_LANE_FILLED);
    if (reply) /* while this one waits for its answer: the slot of its next call */
        gyre_prefetch_line(gyre_lane_slot(lane, position + 1));
    if (channel->options.metrics)
        note_peak(channel);
    return true;
}

GYRE_INLINE gyre_status send_one(gyre_channel *channel, uint32_t priority, const void *item,
                                 size_t size, gyre_reply reply, uint64_t deadline_ns)
{
    if (is_size(channel, size) && send_held(channel, item, size, reply))
        return GYRE_OK;
    return send_shared(channel, priority, item, size, reply, deadline_ns);
}

gyre_status gyre_channel_send_asking(gyre_channel *channel, uint32_t priority, const void *item,
                                     size_t size, gyre_reply reply, uint64_t deadline_ns)
{
    return send_one(channel, priority, item, size, reply, deadline_ns);
}

gyre_status gyre_channel_send(gyre_channel *channel, uint32_t priority, const void *item,
                              size_t size, uint64_t deadline_ns)
{
    return send_one(channel, priority, item, size, 0, deadline_ns ? deadline_ns : 1);
}

gyre_status gyre_channel_try_send(gyre_channel *channel, uint32_t priority, const void *item,
                                  size_t size)
{
    return send_one(channel, priority, item, size, 0, 0);
}

static gyre_status send_batch(gyre_channel *channel, const gyre_batch *batch, uint64_t deadline_ns,
                              size_t *out_sent)
{
    sending s = {
        .channel = channel,
        .load = {batch->items, batch->size, 0, band_of(channel, batch->priority)},
        .count = batch->count,
        .deadline_ns = deadline_ns,
    };
    gyre_status status;

    *out_sent = 0;
    if (!is_size(channel, batch->size))
        return say_size(channel, batch->size);
    status = send_all(&s);
    *out_sent = s.done;
    return status;
}

gyre_status gyre_channel_send_bulk(gyre_channel *channel, const gyre_batch *batch,
                                   uint64_t deadline_ns, size_t *out_sent)
{
    return send_batch(channel, batch, deadline_ns ? deadline_ns : 1, out_sent);
}

gyre_status gyre_channel_try_send_bulk(gyre_channel *channel, const gyre_batch *batch,
                                       size_t *out_sent)
{
    return send_batch(channel, batch, 0, out_sent);
}
