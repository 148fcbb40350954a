/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_one: moves items through a queue: each to one receiver. See lane.h for how.
 *
 * Without bands a queue is one lane, and full when its tail is `capacity` before its head. With
 * bands there are four, each large enough for everything, and `room` counts the places that are
 * free in all of them together.
 *
 * Going to sleep. A receiver may sleep when it has set the mark WANTED in every tail while head and
 * tail were equal; a sender when it has set it in the head (with bands: in `room`) while the lane
 * was full. In between, when a position is claimed and its slot not handed over yet, nobody may
 * sleep, for the one who claimed it did not see the mark: one looks again.
 *
 * The mark is cleared by the first who sees it, who wakes one sleeper. So a sleeper that leaves,
 * for whatever reason, sets it again when others still sleep, and passes on a wake that may have
 * been meant for them. tests/models/channel_sleep.pml is this protocol for spin.
 *
 * Threads   any. Edges: [lane-mark], and those of lane.h.
 * Owns      nothing beyond the channel.
 */
#include "flow/channel.h"

/* Places with bands: takes up to `wanted`; 0 when there is none. */
static uint64_t take_room(gyre_channel *channel, uint64_t wanted)
{
    /* relaxed: the swap checks it */
    uint64_t word = atomic_load_explicit(&channel->room, memory_order_relaxed);

    for (;;) {
        const uint64_t free = word / GYRE_TURN_STEP, some = free < wanted ? free : wanted;

        if (some == 0)
            return 0;
        /* acquire [lane-reuse]: pairs with give_room. The slots of these places are free. */
        if (atomic_compare_exchange_weak_explicit(&channel->room, &word,
                                                  word - some * GYRE_TURN_STEP,
                                                  memory_order_acquire, memory_order_relaxed))
            return some;
    }
}

/* Marks that a sender waits for places, if there still are none: `word` is what it saw. */
static bool want_room(gyre_channel *channel, uint64_t word)
{
    /* seq_cst [lane-mark]: pairs with give_room. Counted as a sleeper before the mark. */
    return (word & GYRE_TURN_WANTED) ||
           atomic_compare_exchange_strong(&channel->room, &word, word | GYRE_TURN_WANTED);
}

/* Gives places back, and wakes as many senders when some wait. */
static void give_room(gyre_channel *channel, uint64_t count)
{
    uint64_t word = atomic_load_explicit(&channel->room, memory_order_relaxed);

    /* seq_cst [lane-mark]: pairs with want_room; and release,
     * [lane-reuse]: pairs with take_room */
    while (!atomic_compare_exchange_weak_explicit(
        &channel->room, &word, (word & ~(uint64_t)GYRE_TURN_WANTED) + count * GYRE_TURN_STEP,
        memory_order_seq_cst, memory_order_relaxed))
        continue;
    if (word & GYRE_TURN_WANTED)
        gyre_park_wake(&channel->senders, (uint32_t)count);
}

/* Lets senders in as far as receivers have come; false: `position` is not free even so, since the
 * lane is full or the slot being read. Who raised the limit does not matter. */
static bool raise_limit(gyre_channel *channel, gyre_lane *lane, uint64_t position)
{
    /* relaxed, both: that the slots are free is in their stamps */
    const uint64_t head = atomic_load_explicit(&lane->head.word, memory_order_relaxed);
    const uint64_t limit = gyre_turn_position(head) + channel->options.capacity;

    if (limit > atomic_load_explicit(&lane->tail.limit, memory_order_relaxed))
        gyre_turn_allow(&lane->tail, limit);
    return position < limit && !gyre_lane_is(lane, position, GYRE_LANE_OVERWRITE);
}

size_t gyre_one_push(gyre_channel *channel, const gyre_load *load, size_t count, bool *out_closed)
{
    gyre_lane *const lane = &channel->bands[load->band];
    const bool banded = channel->options.banded;
    uint64_t wanted = count, some, position, word;

    if (banded)
        wanted = take_room(channel, wanted);
    do
        some = gyre_lane_claim(lane, &lane->tail, GYRE_LANE_FREE, wanted, &word);
    while (some == 0 && !banded && !(word & GYRE_TURN_CLOSED) &&
           raise_limit(channel, lane, gyre_turn_position(word)));
    if (banded && some < wanted)
        give_room(channel, wanted - some);
    *out_closed = some == 0 && (word & GYRE_TURN_CLOSED);
    position = gyre_turn_position(word);
    for (uint64_t i = 0; i < some; i++) {
        gyre_slot *const slot = gyre_lane_slot(lane, position + i);

        gyre_slot_fill(slot, load->items + i * load->size, load->size, load->reply);
        gyre_lane_hand_over(lane, slot, position + i, GYRE_LANE_FILLED);
    }
    if (load->reply) /* while this one waits for its answer: the slot of its next call */
        gyre_prefetch_line(gyre_lane_slot(lane, position + some));
    if (some > 0 && (word & GYRE_TURN_WANTED))
        gyre_channel_ring_bells(channel, (uint32_t)some);
    return some;
}

/* Frees slots that were read or dropped, and wakes senders that wait for them. */
static void free_slots(gyre_channel *channel, gyre_lane *lane, uint64_t word, uint64_t count)
{
    const uint64_t position = gyre_turn_position(word);

    for (uint64_t i = position; i < position + count; i++)
        gyre_lane_hand_over(lane, gyre_lane_slot(lane, i), i, GYRE_LANE_FREE_NEXT);
    if (channel->options.banded)
        give_room(channel, count);
    else if (word & GYRE_TURN_WANTED)
        gyre_park_wake(&channel->senders, (uint32_t)count);
}

size_t gyre_one_pop(gyre_channel *channel, void *items, gyre_received *received, size_t room)
{
    size_t done = 0;

    for (uint32_t band = channel->band_count; band-- > 0 && done < room;) {
        gyre_lane *const lane = &channel->bands[band];
        uint64_t word;
        const uint64_t some =
            gyre_lane_claim(lane, &lane->head, GYRE_LANE_FILLED, room - done, &word);
        const uint64_t position = gyre_turn_position(word);

        if (some > 0 && gyre_lane_slot(lane, position)->reply) /* its answer will be written soon */
            gyre_reply_table_prefetch(&channel->replies, gyre_lane_slot(lane, position)->reply);
        for (uint64_t i = 0; i < some; i++, done++)
            gyre_slot_read(gyre_lane_slot(lane, position + i), band,
                           (unsigned char *)items + done * channel->options.item_bytes,
                           received ? &received[done] : NULL);
        if (some > 0)
            free_slots(channel, lane, word, some);
    }
    return done;
}

bool gyre_one_drop_oldest(gyre_channel *channel)
{
    for (uint32_t band = 0; band < channel->band_count; band++) {
        gyre_lane *const lane = &channel->bands[band];
        gyre_slot *slot;
        uint64_t word;

        if (gyre_lane_claim(lane, &lane->head, GYRE_LANE_FILLED, 1, &word) == 0)
            continue;
        slot = gyre_lane_slot(lane, gyre_turn_position(word));
        gyre_reply_table_refuse(&channel->replies, slot->reply, GYRE_CANCELLED);
        gyre_channel_drop(channel, slot);
        /* relaxed: a count */
        atomic_fetch_add_explicit(&channel->dropped_oldest, 1, memory_order_relaxed);
        free_slots(channel, lane, word, 1);
        return true;
    }
    return false;
}

bool gyre_one_has_room(const gyre_channel *channel, uint32_t band)
{
    const gyre_lane *const lane = &channel->bands[band];
    uint64_t tail, head;

    /* relaxed, all: whoever asks tries again in either case. The tail first: a later head can only
     * make more room of it. */
    if (channel->options.banded)
        return atomic_load_explicit(&channel->room, memory_order_relaxed) >= GYRE_TURN_STEP;
    tail = atomic_load_explicit(&lane->tail.word, memory_order_relaxed);
    head = atomic_load_explicit(&lane->head.word, memory_order_relaxed);
    return gyre_turn_position(tail) - gyre_turn_position(head) != channel->options.capacity;
}

/* Whether nothing is claimed in the lane beyond what was received; its tail then has the mark. */
static bool mark_if_empty(gyre_lane *lane, uint64_t *out_tail)
{
    /* seq_cst [lane-mark]: after being counted as a sleeper, before sleeping. The head is read
     * first: equal to a later tail it still was the head then. */
    const uint64_t head = atomic_load(&lane->head.word);
    const uint64_t tail = atomic_load(&lane->tail.word);

    *out_tail = tail;
    if (!gyre_turn_same(head, tail))
        return false;
    return (tail & GYRE_TURN_CLOSED) || gyre_turn_want(&lane->tail, tail);
}

bool gyre_one_is_empty(gyre_channel *channel, bool *out_closed)
{
    *out_closed = true;
    for (uint32_t band = 0; band < channel->band_count; band++) {
        uint64_t tail;

        if (!mark_if_empty(&channel->bands[band], &tail))
            return *out_closed = false;
        *out_closed = *out_closed && (tail & GYRE_TURN_CLOSED);
    }
    return !*out_closed;
}

bool gyre_one_is_full(gyre_channel *channel, uint32_t band)
{
    gyre_lane *const lane = &channel->bands[band];
    /* seq_cst, all [lane-mark]: as in mark_if_empty. The tail is read first: a whole lap before it,
     * a later head has not moved. */
    const uint64_t tail = atomic_load(&lane->tail.word);
    uint64_t head;

    if (tail & GYRE_TURN_CLOSED)
        return false;
    if (channel->options.banded) {
        const uint64_t room = atomic_load(&channel->room);

        return room < GYRE_TURN_STEP && want_room(channel, room);
    }
    head = atomic_load(&lane->head.word);
    return gyre_turn_position(tail) - gyre_turn_position(head) == channel->options.capacity &&
           gyre_turn_want(&lane->head, head);
}

static bool somebody_sleeps(const gyre_park *park)
{
    /* seq_cst [lane-mark]: one that is counted later sets the mark itself */
    return __atomic_load_n(&park->sleepers, __ATOMIC_SEQ_CST) > 0;
}

void gyre_one_receiver_left(gyre_channel *channel)
{
    if (!somebody_sleeps(&channel->receivers))
        return;
    for (uint32_t band = 0; band < channel->band_count; band++)
        gyre_turn_mark(&channel->bands[band].tail, GYRE_TURN_WANTED);
    for (uint32_t band = 0; band < channel->band_count; band++) {
        gyre_lane *const lane = &channel->bands[band];
        /* seq_cst [lane-mark]: after the mark; what is claimed later sees it */
        const uint64_t head = atomic_load(&lane->head.word), tail = atomic_load(&lane->tail.word);

        if (!gyre_turn_same(head, tail)) {
            gyre_park_wake(&channel->receivers, 1);
            return;
        }
    }
}

void gyre_one_sender_left(gyre_channel *channel)
{
    gyre_lane *const lane = &channel->bands[0];
    bool room;

    if (!somebody_sleeps(&channel->senders))
        return;
    if (channel->options.banded) {
        atomic_fetch_or(&channel->room, GYRE_TURN_WANTED);    /* seq_cst [lane-mark] */
        room = atomic_load(&channel->room) >= GYRE_TURN_STEP; /* seq_cst [lane-mark] */
    } else {
        uint64_t head, tail;

        gyre_turn_mark(&lane->head, GYRE_TURN_WANTED);
        /* seq_cst [lane-mark]: after the mark; what is claimed later sees it. The head first, so
         * that the difference is not negative. */
        head = atomic_load(&lane->head.word);
        tail = atomic_load(&lane->tail.word);
        room = gyre_turn_position(tail) - gyre_turn_position(head) < channel->options.capacity;
    }
    if (room)
        gyre_park_wake(&channel->senders, 1);
}
