/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_all: moves items through a broadcast: each to every subscriber. See lane.h for how.
 *
 * Items stay in their slots until they are overwritten. Senders claim positions as in a queue; what
 * they may overwrite is the difference between the policies.
 *
 * Otherwise than under DROP_OLDEST a sender stays within the capacity of every subscriber's cursor.
 * It reads the cursors only when it comes to the limit of the tail.
 *
 * Under DROP_OLDEST it overtakes whom it likes, and the danger is a subscriber in the middle of a
 * slot that is being overwritten, which might retain bytes that are being released. So a subscriber
 * first announces the position it is going to read and then looks whether that is erased; a sender
 * first erases and then looks at the announcements. One of them sees the other. A sender that sees
 * one waits until it is gone, which takes as long as a copy. That too is done at the limit: there
 * are more slots than the capacity says, and so many are erased at once, of those that nobody is to
 * see any more.
 *
 * Threads   any; each subscriber by one at a time. Edges: [all-reading], [all-cursor], and those of
 *           lane.h.
 * Owns      the subscribers' places, which are part of the channel.
 */
#include <sched.h>

#include "base/fail.h"
#include "base/process.h"
#include "base/wait.h"
#include "flow/channel.h"

enum { RELAXES_PER_YIELD = 64 };

static bool drops_oldest(const gyre_channel *channel)
{
    return channel->options.when_full == GYRE_FULL_DROP_OLDEST;
}

/* Lets the thread that we wait for run, should it be waiting for this CPU. */
static void pause_once(uint32_t *rounds)
{
    if (++*rounds % RELAXES_PER_YIELD == 0)
        sched_yield();
    else
        gyre_relax();
}

/* How far the slowest subscriber has come; the tail where there is none. */
static uint64_t slowest_of(const gyre_channel *channel, uint32_t band)
{
    /* seq_cst, all [all-cursor]: pairs with gyre_subscriber_create and read_kept. The tail first:
     * one that subscribes later starts at it or behind it. */
    uint64_t slowest = gyre_turn_position(atomic_load(&channel->bands[band].tail.word));
    const uint32_t limit = atomic_load(&channel->subscriber_limit);

    for (uint32_t i = 0; i < limit; i++) {
        const uint64_t cursor = atomic_load(&channel->subscribers[i].cursor[band]);

        slowest = cursor < slowest ? cursor : slowest;
    }
    return slowest;
}

/* Lets senders follow the slowest subscriber; false: not as far as to fill `position`. Who raised
 * the limit does not matter. */
static bool follow(gyre_channel *channel, uint32_t band, uint64_t position)
{
    gyre_turn *const tail = &channel->bands[band].tail;
    const uint64_t limit = slowest_of(channel, band) + channel->options.capacity;

    /* relaxed: raised by somebody else, it is a limit as good */
    if (limit > atomic_load_explicit(&tail->limit, memory_order_relaxed))
        gyre_turn_allow(tail, limit);
    return position < limit;
}

/* Erases what no subscriber is to see any more, and lets senders overwrite that when nobody is
 * reading it. */
static void erase(gyre_channel *channel, uint32_t band)
{
    gyre_lane *const lane = &channel->bands[band];
    /* seq_cst, all [all-reading]: the tail, then what is erased, then the announcements; pairs with
     * read_announced. Either an announcement is seen here, or there that it is erased; and what was
     * read is read when the announcement is gone. */
    const uint64_t end =
        gyre_turn_position(atomic_load(&lane->tail.word)) - channel->options.capacity;
    const uint32_t limit = atomic_load(&channel->subscriber_limit);
    uint64_t erased = atomic_load(&channel->erased[band]);

    while (erased < end && !atomic_compare_exchange_weak(&channel->erased[band], &erased, end))
        continue;
    for (uint32_t i = 0; i < limit; i++) {
        gyre_subscriber *const subscriber = &channel->subscribers[i];
        uint32_t rounds = 0;

        for (;;) {
            const uint64_t reading = atomic_load(&subscriber->reading);

            if (reading % GYRE_BANDS != band || reading / GYRE_BANDS >= end)
                break;
            pause_once(&rounds);
        }
    }
    gyre_turn_allow(&lane->tail, end + lane->mask + 1);
}

/* Claims up to `wanted` positions: how many, from *out_word on. 0: full, or closed. */
static uint64_t claim(gyre_channel *channel, uint32_t band, uint64_t wanted, uint64_t *out_word)
{
    gyre_lane *const lane = &channel->bands[band];
    uint32_t rounds = 0;

    for (;;) {
        const uint64_t some =
            gyre_lane_claim(lane, &lane->tail, GYRE_LANE_OVERWRITE, wanted, out_word);

        if (some > 0 || (*out_word & GYRE_TURN_CLOSED))
            return some;
        /* relaxed: who raised it meanwhile makes this one try again */
        if (gyre_turn_position(*out_word) <
            atomic_load_explicit(&lane->tail.limit, memory_order_relaxed))
            pause_once(&rounds); /* a sender of the lap before is still writing there */
        else if (drops_oldest(channel))
            erase(channel, band);
        else if (!follow(channel, band, gyre_turn_position(*out_word)))
            return 0;
    }
}

size_t gyre_all_push(gyre_channel *channel, const gyre_load *load, size_t count, bool *out_closed)
{
    gyre_lane *const lane = &channel->bands[load->band];
    uint64_t word;
    const uint64_t some = claim(channel, load->band, count, &word);
    const uint64_t position = gyre_turn_position(word);

    *out_closed = some == 0 && (word & GYRE_TURN_CLOSED);
    for (uint64_t i = 0; i < some; i++) {
        gyre_slot *const slot = gyre_lane_slot(lane, position + i);

        gyre_channel_drop(channel, slot);
        gyre_slot_fill(slot, load->items + i * load->size, load->size, load->reply);
        gyre_lane_hand_over(lane, slot, position + i, GYRE_LANE_FILLED);
    }
    if (some > 0 && (word & GYRE_TURN_WANTED))
        gyre_channel_ring_bells(channel, UINT32_MAX);
    return some;
}

/* The subscriber's own numbers, which others only read. */
static void add_own(_Atomic uint64_t *counter, uint64_t more)
{
    /* relaxed, both: one writer, and a count */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* Takes the item at the cursor, which is there. */
static void copy_out(gyre_subscriber *subscriber, uint32_t band, uint64_t cursor, void *item,
                     gyre_received *received)
{
    const gyre_channel *const channel = subscriber->channel;
    const gyre_slot *const slot = gyre_lane_slot(&channel->bands[band], cursor);

    gyre_slot_read(slot, band, item, received);
    if (channel->options.share)
        channel->options.share(channel->options.user, item, slot->size);
}

/* Where the sender stays behind the cursor. */
static bool read_kept(gyre_subscriber *subscriber, uint32_t band, void *item,
                      gyre_received *received)
{
    gyre_channel *const channel = subscriber->channel;
    const gyre_lane *const lane = &channel->bands[band];
    /* relaxed: this thread is its only writer */
    const uint64_t cursor = atomic_load_explicit(&subscriber->cursor[band], memory_order_relaxed);

    if (!gyre_lane_is(lane, cursor, GYRE_LANE_FILLED))
        return false;
    copy_out(subscriber, band, cursor, item, received);
    /* seq_cst [all-cursor]: what was read is read before a sender overwrites it (slowest_of);
     * and [park-handshake], before a look for sleeping senders */
    atomic_store(&subscriber->cursor[band], cursor + 1);
    /* with bands, the one who slept longest may wait for another */
    gyre_park_wake(&channel->senders, channel->options.banded ? UINT32_MAX : 1);
    return true;
}

/* Goes on with the oldest item that is left, if the sender has overtaken the cursor. */
static bool catch_up(gyre_subscriber *subscriber, uint32_t band, uint64_t cursor, uint64_t tail)
{
    const uint64_t capacity = subscriber->channel->options.capacity;

    if (tail - cursor <= capacity)
        return false;
    add_own(&subscriber->missed, tail - cursor - capacity);
    /* relaxed: under DROP_OLDEST others read it for statistics */
    atomic_store_explicit(&subscriber->cursor[band], tail - capacity, memory_order_relaxed);
    return true;
}

/* Where the sender overtakes. */
static bool read_announced(gyre_subscriber *subscriber, uint32_t band, void *item,
                           gyre_received *received)
{
    const gyre_channel *const channel = subscriber->channel;
    const gyre_lane *const lane = &channel->bands[band];

    for (;;) {
        /* relaxed, both: this thread is its only writer, and an old tail is looked at again below
         */
        const uint64_t cursor =
            atomic_load_explicit(&subscriber->cursor[band], memory_order_relaxed);
        uint64_t tail = atomic_load_explicit(&lane->tail.word, memory_order_relaxed), erased;
        bool there;

        if (gyre_turn_position(tail) == cursor)
            return false;
        /* seq_cst, all [all-reading]: announced before the look whether it is erased, and then the
         * tail, which had moved before that; pairs with erase */
        atomic_store(&subscriber->reading, cursor * GYRE_BANDS + band);
        erased = atomic_load(&channel->erased[band]);
        tail = gyre_turn_position(atomic_load(&lane->tail.word));
        there = erased <= cursor && tail - cursor <= channel->options.capacity &&
                gyre_lane_is(lane, cursor, GYRE_LANE_FILLED);
        if (there)
            copy_out(subscriber, band, cursor, item, received);
        /* release [all-reading]: what was read is read before the slot is overwritten */
        atomic_store_explicit(&subscriber->reading, GYRE_NOT_READING, memory_order_release);
        if (there) {
            atomic_store_explicit(&subscriber->cursor[band], cursor + 1, memory_order_relaxed);
            return true;
        }
        if (!catch_up(subscriber, band, cursor, tail))
            return false; /* claimed, and not handed over yet */
    }
}

size_t gyre_all_pop(gyre_subscriber *subscriber, void *items, gyre_received *received, size_t room)
{
    const gyre_channel *const channel = subscriber->channel;
    bool (*const read)(gyre_subscriber *, uint32_t, void *, gyre_received *) =
        drops_oldest(channel) ? read_announced : read_kept;
    size_t done = 0;

    for (uint32_t band = channel->band_count; band-- > 0;)
        while (done < room &&
               read(subscriber, band, (unsigned char *)items + done * channel->options.item_bytes,
                    received ? &received[done] : NULL))
            done++;
    add_own(&subscriber->delivered, done);
    return done;
}

bool gyre_all_is_empty(gyre_subscriber *subscriber, bool *out_closed)
{
    gyre_channel *const channel = subscriber->channel;

    *out_closed = true;
    for (uint32_t band = 0; band < channel->band_count; band++) {
        gyre_lane *const lane = &channel->bands[band];
        /* relaxed: this thread is its only writer */
        const uint64_t cursor =
            atomic_load_explicit(&subscriber->cursor[band], memory_order_relaxed);
        const uint64_t tail = atomic_load(&lane->tail.word); /* seq_cst [lane-mark] */

        if (gyre_turn_position(tail) != cursor)
            return *out_closed = false;
        if (tail & GYRE_TURN_CLOSED)
            continue;
        if (!gyre_turn_want(&lane->tail, tail))
            return *out_closed = false;
        *out_closed = false;
    }
    return !*out_closed;
}

bool gyre_all_is_heard(const gyre_channel *channel)
{
    const uint32_t limit = atomic_load(&channel->subscriber_limit);

    for (uint32_t i = 0; i < limit; i++)
        if (atomic_load(&channel->subscribers[i].cursor[0]) != GYRE_NO_CURSOR)
            return true;
    return false;
}

gyre_status gyre_subscriber_create(gyre_channel *channel, gyre_subscriber **out_subscriber)
{
    gyre_subscriber *subscriber = NULL;
    gyre_status status = gyre_process_check();
    uint32_t place = 0;

    *out_subscriber = NULL;
    if (status != GYRE_OK)
        return status;
    if (!gyre_channel_is_all(channel))
        return gyre_fail(GYRE_INVALID,
                         "channel '%s': has no subscribers, it delivers to ONE; receive from it",
                         channel->name);
    pthread_mutex_lock(&channel->lock);
    while (place < channel->options.subscribers && channel->subscribers[place].taken)
        place++;
    if (atomic_load(&channel->bands[0].tail.word) & GYRE_TURN_CLOSED) {
        status = gyre_fail(GYRE_CLOSED, "channel '%s' is closed", channel->name);
    } else if (place == channel->options.subscribers) {
        status = GYRE_AGAIN;
    } else {
        subscriber = &channel->subscribers[place];
        subscriber->taken = true;
        subscriber->start = 0;
        if (place >= atomic_load_explicit(&channel->subscriber_limit, memory_order_relaxed))
            atomic_store(&channel->subscriber_limit, place + 1); /* seq_cst [all-cursor] */
        for (uint32_t band = 0; band < channel->band_count; band++) {
            gyre_lane *const lane = &channel->bands[band];
            uint64_t tail = gyre_turn_position(atomic_load(&lane->tail.word));

            /* seq_cst, all [all-cursor]: the tail is read again once senders can see the cursor:
             * those that did not see it came from no further than that, and stay within a lap. Who
             * holds the tail moves it without a barrier, so this side needs the heavy one. */
            atomic_store(&subscriber->cursor[band], tail);
            if (gyre_barrier_is_there())
                gyre_barrier_heavy();
            tail = gyre_turn_position(atomic_load(&lane->tail.word));
            atomic_store(&subscriber->cursor[band], tail);
            subscriber->start += tail;
        }
    }
    pthread_mutex_unlock(&channel->lock);
    /* [park-handshake]: who went to sleep between the two cursors waits for the first */
    gyre_park_wake(&channel->senders, UINT32_MAX);
    *out_subscriber = subscriber;
    return status;
}

void gyre_subscriber_destroy(gyre_subscriber *subscriber)
{
    gyre_channel *channel;
    uint64_t overtaken;

    /* In a forked child somebody may have held the lock, and will never let go. */
    if (!subscriber || gyre_process_check() != GYRE_OK)
        return;
    channel = subscriber->channel;
    pthread_mutex_lock(&channel->lock);
    (void)gyre_all_queued(subscriber, &overtaken);
    for (uint32_t band = 0; band < channel->band_count; band++)
        /* seq_cst [all-cursor], [park-handshake]: pairs with slowest_of */
        atomic_store(&subscriber->cursor[band], GYRE_NO_CURSOR);
    atomic_fetch_add(&channel->past_delivered, atomic_exchange(&subscriber->delivered, 0));
    atomic_fetch_add(&channel->past_missed, atomic_exchange(&subscriber->missed, 0) + overtaken);
    gyre_bell_close(&channel->bells, &subscriber->bell);
    subscriber->taken = false;
    pthread_mutex_unlock(&channel->lock);
    gyre_park_wake(&channel->senders, UINT32_MAX);
}
