/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_all: moves items through a broadcast: each to every subscriber. See lane.h for how.
 *
 * Items stay in their slots until they are overwritten. Senders claim positions as in a queue; what
 * they may overwrite is the difference between the policies.
 *
 * Otherwise than under DROP_OLDEST a sender stays within a lap of every subscriber's cursor. It
 * reads the cursors only when it comes to the gate, the count up to which it knows that it may.
 *
 * Under DROP_OLDEST it overtakes whom it likes, and the danger is a subscriber in the middle of a
 * slot that is being overwritten, which might retain bytes that are being released. So a subscriber
 * first announces the position it is going to read and then looks whether the tail has gone past
 * it; a sender first moves the tail and then looks at the announcements. One of them sees the
 * other. A sender that sees one waits until it is gone, which takes as long as a copy.
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

/* How far the slowest subscriber has come; the tail's count where there is none. */
static uint64_t slowest_of(const gyre_channel *channel, uint32_t band)
{
    const gyre_lane *const lane = &channel->bands[band];
    /* seq_cst, both loops' loads [all-cursor]: pairs with gyre_subscriber_create and read_kept. The
     * tail first: one that subscribes later starts at it or behind it. */
    uint64_t slowest = gyre_lane_count(lane, atomic_load(&lane->tail));
    const uint32_t limit = atomic_load(&channel->subscriber_limit);

    for (uint32_t i = 0; i < limit; i++) {
        const uint64_t cursor = atomic_load(&channel->subscribers[i].cursor[band]);

        if (cursor != GYRE_NO_CURSOR && gyre_lane_count(lane, cursor) < slowest)
            slowest = gyre_lane_count(lane, cursor);
    }
    return slowest;
}

/* How many of `wanted` sends from the tail on keep behind the slowest subscriber. */
static uint64_t behind_gate(gyre_channel *channel, uint32_t band, uint64_t tail, uint64_t wanted)
{
    const gyre_lane *const lane = &channel->bands[band];
    const uint64_t count = gyre_lane_count(lane, tail);
    /* acquire [all-cursor]: pairs with the store below, by another sender. What subscribers read
     * before they let it through is read. The gate only moves on, and an old one is a nearer one.
     */
    uint64_t gate = atomic_load_explicit(&channel->gate[band], memory_order_acquire);

    if (count + wanted > gate) {
        gate = slowest_of(channel, band) + lane->capacity;
        atomic_store_explicit(&channel->gate[band], gate, memory_order_release);
    }
    if (gate <= count)
        return 0;
    return gate - count < wanted ? gate - count : wanted;
}

/* Waits until no subscriber is reading from the slot that `word` is going to overwrite. */
static void wait_for_readers(gyre_channel *channel, uint32_t band, uint64_t word)
{
    const gyre_lane *const lane = &channel->bands[band];
    const uint64_t lap = gyre_lane_lap(lane, word);
    /* acquire: the places up to the limit are initialised */
    const uint32_t limit = atomic_load_explicit(&channel->subscriber_limit, memory_order_acquire);
    uint64_t old;

    if (lap == 0)
        return;
    old = gyre_lane_word(lane, lap - 1, gyre_lane_index(lane, word)) | band;
    for (uint32_t i = 0; i < limit; i++) {
        uint32_t rounds = 0;

        /* seq_cst [all-reading]: after the claim; pairs with read_kept. Either the announcement is
         * seen here or the moved tail there; and what was read is read when it is gone. */
        while (atomic_load(&channel->subscribers[i].reading) == old)
            pause_once(&rounds);
    }
}

/* Claims up to `wanted` positions: how many, from *out_word on. 0: full, or closed. */
static uint64_t claim(gyre_channel *channel, uint32_t band, uint64_t wanted, uint64_t *out_word)
{
    gyre_lane *const lane = &channel->bands[band];
    uint32_t rounds = 0;
    /* seq_cst [park-handshake]: a sender that is about to sleep sees CLOSED, or is seen asleep */
    uint64_t word = atomic_load(&lane->tail);

    for (;;) {
        uint64_t run = wanted;

        *out_word = word;
        if (word & GYRE_LANE_CLOSED)
            return 0;
        if (!drops_oldest(channel))
            run = behind_gate(channel, band, word, wanted);
        if (run == 0) {
            /* relaxed: it only says whether the gate was compared with an old tail */
            const uint64_t now = atomic_load_explicit(&lane->tail, memory_order_relaxed);

            if (now == word)
                return 0;
            word = now;
            continue;
        }
        run = gyre_lane_run(lane, word, GYRE_LANE_OVERWRITE, run);
        if (run > 0) {
            if (gyre_lane_move(lane, &lane->tail, &word, run))
                return run;
        } else {
            /* somebody moved on, or a sender of the lap before is still writing there */
            pause_once(&rounds);
            word = atomic_load_explicit(&lane->tail, memory_order_relaxed);
        }
    }
}

size_t gyre_all_push(gyre_channel *channel, const gyre_load *load, size_t count, bool *out_closed)
{
    gyre_lane *const lane = &channel->bands[load->band];
    const uint64_t wanted = count < lane->capacity ? count : lane->capacity;
    uint64_t word;
    const uint64_t some = claim(channel, load->band, wanted, &word);

    *out_closed = some == 0 && (word & GYRE_LANE_CLOSED);
    for (uint64_t i = 0; i < some; i++) {
        const uint64_t at = gyre_lane_next(lane, word, i);
        gyre_slot *const slot = gyre_lane_slot(lane, at);

        if (drops_oldest(channel))
            wait_for_readers(channel, load->band, at);
        gyre_channel_drop(channel, slot);
        gyre_slot_fill(slot, load, i);
        gyre_lane_hand_over(lane, at, GYRE_LANE_FILLED);
    }
    if (some > 0 && (word & GYRE_LANE_WANTED))
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
    atomic_store(&subscriber->cursor[band], gyre_lane_next(lane, cursor, 1));
    /* with bands, the one who slept longest may wait for another */
    gyre_park_wake(&channel->senders, channel->options.banded ? UINT32_MAX : 1);
    return true;
}

/* Goes on with the oldest item that is left, if the sender has overtaken the cursor. */
static bool catch_up(gyre_subscriber *subscriber, uint32_t band, uint64_t cursor, uint64_t tail)
{
    const gyre_lane *const lane = &subscriber->channel->bands[band];
    const uint64_t behind = gyre_lane_count(lane, tail) - gyre_lane_count(lane, cursor);

    if (behind <= lane->capacity)
        return false;
    add_own(&subscriber->missed, behind - lane->capacity);
    /* relaxed: under DROP_OLDEST others read it for statistics */
    atomic_store_explicit(&subscriber->cursor[band],
                          gyre_lane_at(lane, gyre_lane_count(lane, tail) - lane->capacity),
                          memory_order_relaxed);
    return true;
}

/* Where the sender overtakes. */
static bool read_announced(gyre_subscriber *subscriber, uint32_t band, void *item,
                           gyre_received *received)
{
    const gyre_lane *const lane = &subscriber->channel->bands[band];

    for (;;) {
        /* relaxed: this thread is its only writer */
        const uint64_t cursor =
            atomic_load_explicit(&subscriber->cursor[band], memory_order_relaxed);
        /* relaxed: an old tail is looked at again below */
        uint64_t tail = atomic_load_explicit(&lane->tail, memory_order_relaxed);
        bool there;

        if (((tail ^ cursor) & ~(uint64_t)GYRE_LANE_MARKS) == 0)
            return false;
        /* seq_cst, both [all-reading]: announced before the tail is read; pairs with the claim and
         * wait_for_readers */
        atomic_store(&subscriber->reading, cursor | band);
        tail = atomic_load(&lane->tail);
        there = gyre_lane_count(lane, tail) - gyre_lane_count(lane, cursor) <= lane->capacity &&
                gyre_lane_is(lane, cursor, GYRE_LANE_FILLED);
        if (there)
            copy_out(subscriber, band, cursor, item, received);
        /* release [all-reading]: what was read is read before the slot is overwritten */
        atomic_store_explicit(&subscriber->reading, GYRE_NOT_READING, memory_order_release);
        if (there) {
            atomic_store_explicit(&subscriber->cursor[band], gyre_lane_next(lane, cursor, 1),
                                  memory_order_relaxed);
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
        const uint64_t tail = atomic_load(&lane->tail); /* seq_cst [lane-mark] */

        if ((tail ^ cursor) & ~(uint64_t)GYRE_LANE_MARKS)
            return *out_closed = false;
        if (tail & GYRE_LANE_CLOSED)
            continue;
        if (!gyre_lane_want(&lane->tail, tail))
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
    if (atomic_load(&channel->bands[0].tail) & GYRE_LANE_CLOSED) {
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
            uint64_t tail = atomic_load(&lane->tail);

            /* seq_cst, all [all-cursor]: the tail is read again once senders can see the cursor:
             * those that did not see it came from no further than that, and stay within a lap */
            atomic_store(&subscriber->cursor[band], tail & ~(uint64_t)GYRE_LANE_MARKS);
            tail = atomic_load(&lane->tail);
            atomic_store(&subscriber->cursor[band], tail & ~(uint64_t)GYRE_LANE_MARKS);
            subscriber->start += gyre_lane_count(lane, tail);
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
