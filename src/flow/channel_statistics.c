/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_statistics: the accounts of a channel.
 *
 * Counting costs nothing on the way of an item: what was accepted is how far the tails have come,
 * what was taken out is how far the heads have, and only what goes wrong has a counter. All loads
 * here are seq_cst for want of a reason to choose; they are for people.
 *
 * Threads   any.
 * Owns      nothing.
 */
#include "base/fail.h"
#include "flow/channel.h"

/* How far the heads and the tails have come, all bands together. */
static uint64_t taken_out(const gyre_channel *channel)
{
    uint64_t count = 0;

    for (uint32_t band = 0; band < channel->band_count; band++)
        count += gyre_turn_position(atomic_load(&channel->bands[band].head.word));
    return count;
}

static uint64_t taken_in(const gyre_channel *channel)
{
    uint64_t count = 0;

    for (uint32_t band = 0; band < channel->band_count; band++)
        count += gyre_turn_position(atomic_load(&channel->bands[band].tail.word));
    return count;
}

uint64_t gyre_all_queued(const gyre_subscriber *subscriber, uint64_t *out_overtaken)
{
    const gyre_channel *const channel = subscriber->channel;
    uint64_t queued = 0;

    *out_overtaken = 0;
    for (uint32_t band = 0; band < channel->band_count; band++) {
        const uint64_t cursor = atomic_load(&subscriber->cursor[band]);
        uint64_t behind;

        if (cursor == GYRE_NO_CURSOR)
            continue;
        behind = gyre_turn_position(atomic_load(&channel->bands[band].tail.word)) - cursor;
        if (behind > channel->options.capacity) {
            *out_overtaken += behind - channel->options.capacity;
            behind = channel->options.capacity;
        }
        queued += behind;
    }
    return queued;
}

uint64_t gyre_channel_queued(const gyre_channel *channel)
{
    const uint32_t limit = atomic_load(&channel->subscriber_limit);
    uint64_t queued = 0, overtaken;

    if (!gyre_channel_is_all(channel)) {
        const uint64_t out = taken_out(channel); /* first, so that nothing is negative */

        queued = taken_in(channel) - out;
        return queued < channel->options.capacity ? queued : channel->options.capacity;
    }
    for (uint32_t i = 0; i < limit; i++) {
        const uint64_t its = gyre_all_queued(&channel->subscribers[i], &overtaken);

        queued = its > queued ? its : queued;
    }
    return queued;
}

static void describe_one(const gyre_channel *channel, gyre_channel_statistics *s)
{
    const uint64_t out = taken_out(channel); /* first, so that nothing is negative */

    s->accepted = taken_in(channel);
    s->queued = s->accepted - out;
    s->dropped = atomic_load(&channel->dropped_oldest);
    s->delivered = out > s->dropped ? out - s->dropped : 0;
}

static void describe_all(const gyre_channel *channel, gyre_channel_statistics *s)
{
    const uint32_t limit = atomic_load(&channel->subscriber_limit);

    s->delivered = atomic_load(&channel->past_delivered);
    s->dropped = atomic_load(&channel->past_missed);
    for (uint32_t i = 0; i < limit; i++) {
        const gyre_subscriber *const subscriber = &channel->subscribers[i];
        uint64_t overtaken;

        (void)gyre_all_queued(subscriber, &overtaken);
        s->delivered += atomic_load(&subscriber->delivered);
        s->dropped += atomic_load(&subscriber->missed) + overtaken;
    }
    s->queued = gyre_channel_queued(channel);
    s->accepted = taken_in(channel);
}

/* Copies the statistics as far as the caller's struct reaches. */
static gyre_status hand_out(const gyre_channel_statistics *from,
                            gyre_channel_statistics *out_statistics)
{
    const size_t size = out_statistics->struct_size;

    if (size < sizeof(size_t))
        return gyre_fail(GYRE_INVALID, "channel: struct_size of the statistics is not set");
    memcpy(out_statistics, from, size < sizeof *from ? size : sizeof *from);
    out_statistics->struct_size = size;
    return GYRE_OK;
}

gyre_status gyre_channel_describe(const gyre_channel *channel,
                                  gyre_channel_statistics *out_statistics)
{
    gyre_channel_statistics s = {.struct_size = sizeof s};
    uint64_t newest;

    if (gyre_channel_is_all(channel))
        describe_all(channel, &s);
    else
        describe_one(channel, &s);
    newest = atomic_load(&channel->dropped_newest);
    s.accepted += newest;
    s.dropped += newest;
    s.rejected = atomic_load(&channel->rejected);
    s.attempts = s.accepted + s.rejected;
    s.peak = atomic_load(&channel->peak);
    s.blocked_sends = atomic_load(&channel->blocked_sends);
    s.blocked_ns = atomic_load(&channel->blocked_ns);
    s.late_answers = atomic_load(&channel->replies.late);
    return hand_out(&s, out_statistics);
}

gyre_status gyre_subscriber_describe(const gyre_subscriber *subscriber,
                                     gyre_channel_statistics *out_statistics)
{
    gyre_channel_statistics s = {.struct_size = sizeof s};
    uint64_t overtaken;

    s.delivered = atomic_load(&subscriber->delivered);
    s.queued = gyre_all_queued(subscriber, &overtaken);
    s.dropped = atomic_load(&subscriber->missed) + overtaken;
    s.accepted = taken_in(subscriber->channel) - subscriber->start;
    return hand_out(&s, out_statistics);
}
