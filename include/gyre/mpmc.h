/* SPDX-License-Identifier: Apache-2.0
 *
 * mpmc: a bounded queue of fixed-size slots for any number of producers and consumers.
 *
 * How it works. Positions are numbered 0, 1, 2, ... and never used twice. Position p lies in slot
 * p % capacity and belongs to lap p / capacity. `tail` is the next position to be filled, `head`
 * the next to be emptied. Beside each slot stands its state:
 *
 *     empty, lap n  -- a producer fills it -->  full, lap n  -- a consumer empties it -->
 *     empty, lap n + 1  -->  ...
 *
 * A push takes five steps:
 *   1. read tail: p;
 *   2. look at p's slot: unless it is empty on p's lap, the queue is full;
 *   3. claim p: compare-and-swap tail from p to p + 1. Somebody was quicker: start again
 *      (adding 1 would always claim, and could not be taken back in a full queue);
 *   4. copy the bytes in, in peace: p is nobody else's;
 *   5. hand over: the slot is full on p's lap.
 * A pop is the mirror image: head; full on p's lap, or the queue is empty; claim; copy out; empty
 * on the next lap. In the bulk forms step 2 looks at p, p + 1, ..., and step 3 claims all that are
 * in the right state with one swap. A producer may also hand over a slot as void, with nothing in
 * it: a consumer frees it and goes on.
 *
 * An example with four slots, tail at 6 and head at 3:
 *
 *     slot 0: position 4, empty, lap 1   claimed: its producer is copying
 *     slot 1: position 5, full,  lap 1
 *     slot 2: position 2, full,  lap 0   claimed: its consumer is copying
 *     slot 3: position 3, full,  lap 0   the next to be popped
 *
 * The next push wants position 6, on lap 1, in slot 2, which is not empty on lap 1: full. The next
 * pop gets position 3, the one after it wants position 4 and finds it not full: empty, although
 * position 5 is there, because order is kept. Without laps, a push that comes to position 8 would
 * find slot 0 empty and write into it while the producer of position 4 is still copying.
 *
 * Why the claim is safe although the state was read before it. The swap succeeds only if tail still
 * is p, and as long as it is, nobody can have claimed p or what follows: what was empty on its lap
 * still is. Tail never comes back to a value it had.
 *
 * Why a state is a byte, with only six bits of the lap. While tail is p, position p - capacity is
 * claimed and p is not, so p's slot is empty on p's lap or still on the lap before: one bit would
 * tell them apart. Bytes let a bulk operation look at eight slots, or hand over eight, with one
 * access.
 *
 * What nobody waits for. A producer that stops between claim and hand-over, because the system
 * took its core away, holds up no other producer until the queue has gone round to its slot. Rings
 * that publish in order, with a counter that each producer moves on from the one before, stall
 * there at once, and collapse when there are more threads than cores. Consumers do wait for it,
 * since order is kept: the queue looks empty to them until that slot is handed over. The same holds
 * for a consumer that stops, the other way round.
 *
 * Order: a push that begins after another one has returned is popped after it; so what one producer
 * pushes stays in order.
 *
 * Threads   any number on both sides. No call waits: one is tried again only because another one
 *           succeeded. All but init may be used in a signal handler, whatever it interrupts.
 *           Edges: [mpmc-publish], [mpmc-reuse], [mpmc-turn]; tests/models/mpmc.pml is this
 *           protocol for spin.
 * Owns      nothing: queue and storage are the caller's, so there is no fini.
 * Not here  waiting (gyre/channel.h), one thread on each side (gyre/spsc.h needs no swap).
 */
#ifndef GYRE_MPMC_H
#define GYRE_MPMC_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gyre/atomic.h"
#include "gyre/common.h"
#include "gyre/slots.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* The layout is visible so that push and pop inline; treat the fields as private. Two lines apart,
 * because processors fetch lines in pairs. */
typedef struct gyre_mpmc {
    alignas(64) uint64_t tail; /* shared; the next position to be filled */
    uint64_t apart_[15];
    uint64_t head; /* shared; the next position to be emptied */
    uint64_t apart_too_[15];
    uint64_t mask;      /* capacity - 1; constant after init, like all that follows */
    uint32_t lap_shift; /* position >> lap_shift is the lap */
    size_t slot_size;
    unsigned char *slots; /* borrowed from the caller of init */
    uint8_t *states;      /* shared; one for each slot, in front of the slots */
} gyre_mpmc;

/* The bytes of storage that a queue of these needs. GYRE_INVALID when the capacity is not a power
 * of two, the slot size is 0 or the size overflows. Never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_mpmc_storage_bytes(size_t slot_size, uint64_t capacity,
                                                           size_t *out_bytes);

/* Makes an empty queue over `storage`, which holds gyre_mpmc_storage_bytes and outlives it.
 * GYRE_INVALID as above, or when queue or storage is NULL or not aligned to 64 (which malloc does
 * not do). Never blocks. Other threads must learn of the queue by something that orders them. */
GYRE_API GYRE_MUST_USE gyre_status gyre_mpmc_init(gyre_mpmc *queue, void *storage, size_t slot_size,
                                                  uint64_t capacity);

/* What follows up to gyre_mpmc_begin_push is the header's own, as are all names that end in _. */

/* Steps 2 and 5 for runs of slots whose states are not whole words, or go around the end. */
GYRE_API uint64_t gyre_mpmc_run_bulk_(const gyre_mpmc *queue, uint64_t position, unsigned phase,
                                      uint64_t wanted);
GYRE_API void gyre_mpmc_hand_over_bulk_(gyre_mpmc *queue, uint64_t position, unsigned phase,
                                        uint64_t count);

/* The phase of a slot, in the low two bits of its state; the lap is above. */
enum {
    GYRE_MPMC_EMPTY_ = 0,
    GYRE_MPMC_FULL_ = 1,
    GYRE_MPMC_VOID_ = 2, /* its producer has abandoned it: as full, but there is nothing in it */
};

GYRE_INLINE uint8_t gyre_mpmc_state_(const gyre_mpmc *queue, uint64_t position, unsigned phase)
{
    return (uint8_t)(position >> queue->lap_shift << 2 | phase);
}

GYRE_INLINE unsigned char *gyre_mpmc_slot_(const gyre_mpmc *queue, uint64_t position,
                                           size_t slot_size)
{
    assert(slot_size == queue->slot_size);
    return queue->slots + (position & queue->mask) * slot_size;
}

/* Whether the states of these slots are whole words, and all of them before the end of the ring. */
GYRE_INLINE bool gyre_mpmc_are_words_(const gyre_mpmc *queue, uint64_t index, uint64_t count)
{
    return GYRE_SLOTS_WORDS_ && (index | count) % 8 == 0 && count <= queue->mask + 1 - index;
}

/* Step 2: how many slots from `position` on, up to `wanted`, are in that phase of their lap.
 * acquire [mpmc-publish], [mpmc-reuse]: pairs with gyre_mpmc_hand_over_. What the other side did to
 * those slots is visible. */
GYRE_INLINE uint64_t gyre_mpmc_run_(const gyre_mpmc *queue, uint64_t position, unsigned phase,
                                    uint64_t wanted)
{
    const uint64_t index = position & queue->mask;
    const uint8_t state = gyre_mpmc_state_(queue, position, phase);

    if (wanted == 1)
        return gyre_load_acquire8(&queue->states[index]) == state;
    if (gyre_mpmc_are_words_(queue, index, wanted) &&
        gyre_slots_all_marked(&queue->states[index], state, wanted))
        return wanted;
    return gyre_mpmc_run_bulk_(queue, position, phase, wanted);
}

/* Step 3: moves `counter` past up to `wanted` positions whose slots are in that phase. They are
 * ours. Returns how many. */
GYRE_INLINE uint64_t gyre_mpmc_claim_(gyre_mpmc *queue, uint64_t *counter, unsigned phase,
                                      uint64_t wanted, uint64_t *out_position)
{
    /* acquire [mpmc-turn], both loads and the swap: pairs with the release of the swap that claimed
     * this position's slot a lap before. That thread saw the slot on that lap, so we see nothing
     * older, such as a state of 64 laps ago that looks like ours. */
    uint64_t position = gyre_load_acquire(counter);

    for (;;) {
        const uint64_t run = gyre_mpmc_run_(queue, position, phase, wanted);

        *out_position = position;
        if (run > 0) {
            if (gyre_swap_acq_rel(counter, &position, position + run))
                return run;
        } else {
            position = gyre_load_acquire(counter);
            if (position == *out_position)
                return 0; /* otherwise it was somebody else's slot that we looked at */
        }
    }
}

/* Step 5: puts `count` slots from `position` on into that phase of their lap.
 * release [mpmc-publish], [mpmc-reuse]: pairs with gyre_mpmc_run_. What we did to the slots is
 * visible before the states that hand them over. */
GYRE_INLINE void gyre_mpmc_hand_over_(gyre_mpmc *queue, uint64_t position, unsigned phase,
                                      uint64_t count)
{
    const uint64_t index = position & queue->mask;
    const uint8_t state = gyre_mpmc_state_(queue, position, phase);

    if (count == 1)
        gyre_store_release8(&queue->states[index], state);
    else if (gyre_mpmc_are_words_(queue, index, count))
        gyre_slots_mark_all(&queue->states[index], state, count);
    else
        gyre_mpmc_hand_over_bulk_(queue, position, phase, count);
}

/* Step 5 of a pop: to be filled on the next lap. */
GYRE_INLINE void gyre_mpmc_free_(gyre_mpmc *queue, uint64_t position, uint64_t count)
{
    gyre_mpmc_hand_over_(queue, position + queue->mask + 1, GYRE_MPMC_EMPTY_, count);
}

/* Claims up to `wanted` full slots, after freeing abandoned ones that stand before them. */
GYRE_INLINE uint64_t gyre_mpmc_claim_full_(gyre_mpmc *queue, uint64_t wanted,
                                           uint64_t *out_position)
{
    for (;;) {
        const uint64_t some =
            gyre_mpmc_claim_(queue, &queue->head, GYRE_MPMC_FULL_, wanted, out_position);
        uint64_t hole;

        if (some > 0 || gyre_mpmc_claim_(queue, &queue->head, GYRE_MPMC_VOID_, 1, &hole) == 0)
            return some;
        gyre_mpmc_free_(queue, hole, 1);
    }
}

/* The slot to be filled next, in place; NULL when full. It is the caller's until one of the two
 * calls below, with the same position, and consumers wait for it: be quick. */
GYRE_MUST_USE GYRE_INLINE void *gyre_mpmc_begin_push(gyre_mpmc *queue, size_t slot_size,
                                                     uint64_t *out_position)
{
    if (gyre_mpmc_claim_(queue, &queue->tail, GYRE_MPMC_EMPTY_, 1, out_position) == 0)
        return NULL;
    return gyre_mpmc_slot_(queue, *out_position, slot_size);
}

GYRE_INLINE void gyre_mpmc_commit_push(gyre_mpmc *queue, uint64_t position)
{
    gyre_mpmc_hand_over_(queue, position, GYRE_MPMC_FULL_, 1);
}

/* Consumers will pass over the slot; until one does, it takes up room. */
GYRE_INLINE void gyre_mpmc_abandon_push(gyre_mpmc *queue, uint64_t position)
{
    gyre_mpmc_hand_over_(queue, position, GYRE_MPMC_VOID_, 1);
}

/* The oldest slot, to be read in place; NULL when empty. It is the caller's until
 * gyre_mpmc_commit_pop with the same position. There is no way back: others may have popped what
 * came after it. */
GYRE_MUST_USE GYRE_INLINE const void *gyre_mpmc_begin_pop(gyre_mpmc *queue, size_t slot_size,
                                                          uint64_t *out_position)
{
    if (gyre_mpmc_claim_full_(queue, 1, out_position) == 0)
        return NULL;
    return gyre_mpmc_slot_(queue, *out_position, slot_size);
}

GYRE_INLINE void gyre_mpmc_commit_pop(gyre_mpmc *queue, uint64_t position)
{
    gyre_mpmc_free_(queue, position, 1);
}

/* Copies one slot in; false when full. `slot_size` is the one given to init, repeated so that a
 * constant folds into the copy. */
GYRE_MUST_USE GYRE_INLINE bool gyre_mpmc_push(gyre_mpmc *queue, const void *slot, size_t slot_size)
{
    uint64_t position;
    void *const into = gyre_mpmc_begin_push(queue, slot_size, &position);

    if (!into)
        return false;
    memcpy(into, slot, slot_size);
    gyre_mpmc_commit_push(queue, position);
    return true;
}

/* Copies the oldest slot out; false when empty. */
GYRE_MUST_USE GYRE_INLINE bool gyre_mpmc_pop(gyre_mpmc *queue, void *slot, size_t slot_size)
{
    uint64_t position;
    const void *const from = gyre_mpmc_begin_pop(queue, slot_size, &position);

    if (!from)
        return false;
    memcpy(slot, from, slot_size);
    gyre_mpmc_commit_pop(queue, position);
    return true;
}

/* Copies in as many of `count` slots as fit, next to one another. Returns how many. */
GYRE_MUST_USE GYRE_INLINE uint64_t gyre_mpmc_push_bulk(gyre_mpmc *queue, const void *slots,
                                                       size_t slot_size, uint64_t count)
{
    uint64_t position;
    const uint64_t some = gyre_mpmc_claim_(queue, &queue->tail, GYRE_MPMC_EMPTY_, count, &position);

    assert(slot_size == queue->slot_size);
    if (some == 0)
        return 0;
    if (some == count) { /* which is often a constant, and folds */
        gyre_slots_write(queue->slots, queue->mask, position, slots, slot_size, count);
        gyre_mpmc_hand_over_(queue, position, GYRE_MPMC_FULL_, count);
    } else {
        gyre_slots_write(queue->slots, queue->mask, position, slots, slot_size, some);
        gyre_mpmc_hand_over_bulk_(queue, position, GYRE_MPMC_FULL_, some);
    }
    return some;
}

/* Copies out up to `count` slots that stand next to one another, oldest first; an abandoned one
 * ends them. Returns how many. */
GYRE_MUST_USE GYRE_INLINE uint64_t gyre_mpmc_pop_bulk(gyre_mpmc *queue, void *slots,
                                                      size_t slot_size, uint64_t count)
{
    uint64_t position;
    const uint64_t some = gyre_mpmc_claim_full_(queue, count, &position);

    assert(slot_size == queue->slot_size);
    if (some == 0)
        return 0;
    if (some == count) { /* as in gyre_mpmc_push_bulk */
        gyre_slots_read(queue->slots, queue->mask, position, slots, slot_size, count);
        gyre_mpmc_free_(queue, position, count);
    } else {
        gyre_slots_read(queue->slots, queue->mask, position, slots, slot_size, some);
        gyre_mpmc_hand_over_bulk_(queue, position + queue->mask + 1, GYRE_MPMC_EMPTY_, some);
    }
    return some;
}

GYRE_END_DECLS

#endif
