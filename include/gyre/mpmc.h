/* SPDX-License-Identifier: Apache-2.0
 *
 * mpmc: a bounded queue of fixed-size slots for any number of producers and consumers.
 *
 * How it works. Positions count up for ever; position p lives in slot p mod capacity, on lap
 * p / capacity. `tail` is the next position to fill and `head` the next to empty. A thread owns a
 * position from the moment it has moved the counter past it with one compare-and-swap; that is the
 * only thing threads of one side compete for. It then fills (or reads) its slot in peace, and says
 * that it is done in the slot's state:
 *
 *     empty, lap n  --producer of lap n-->  full, lap n  --consumer of lap n-->  empty, lap n + 1
 *
 * A producer claims position p only where the slot is empty on p's lap, a consumer only where it is
 * full on p's lap. So a slot that somebody of the lap before is still busy with looks like a full
 * queue to producers and like an empty one to consumers, and nobody overtakes him inside it.
 *
 * Why the state may be a byte. It keeps six bits of the lap, and compares equal again after 64
 * laps. But a claim succeeds only if the counter still is what it was before the state was read,
 * and while tail is p, slot p mod capacity is empty or full on the lap before p's, or empty on
 * p's: it cannot be 64 laps away. Bytes let a bulk operation look at eight slots, or hand over
 * eight, with one access.
 *
 * What nobody waits for. A producer that stops between claim and hand-over holds up no other
 * producer until the queue has gone round to its slot. Rings that publish in order (a second
 * counter that each producer moves on from the one before) stall there at once, which is why they
 * collapse when there are more threads than cores. Consumers do wait for it, since order is kept:
 * the queue looks empty to them until that slot is handed over.
 *
 * Order: what one producer pushes is popped in that order, and so is all that was pushed after a
 * push had returned.
 *
 * Threads   any number on both sides. Lock-free: an operation is tried again only because another
 *           one succeeded. May be used in a signal handler. Edges: [mpmc-publish], [mpmc-reuse];
 *           tests/models/mpmc.pml is this protocol for spin.
 * Owns      nothing: queue and storage are the caller's, so there is no fini.
 * Not here  waiting (gyre/channel.h), one thread on each side (gyre/spsc.h: four times faster).
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
    alignas(128) uint64_t tail; /* shared; the next position to fill */
    alignas(128) uint64_t head; /* shared; the next position to empty */
    alignas(128) uint64_t mask; /* capacity - 1; constant after init, like all that follows */
    uint32_t lap_shift;         /* position >> lap_shift is the lap */
    size_t slot_size;
    unsigned char *slots; /* borrowed from the caller of init */
    uint8_t *states;      /* shared; one for each slot, behind the slots */
} gyre_mpmc;

/* The bytes of storage that a queue of these needs. GYRE_INVALID as for gyre_mpmc_init. */
GYRE_API GYRE_MUST_USE gyre_status gyre_mpmc_storage_bytes(size_t slot_size, uint64_t capacity,
                                                           size_t *out_bytes);

/* Makes an empty queue over `storage`, which holds gyre_mpmc_storage_bytes and outlives it.
 * GYRE_INVALID when the capacity is not a power of two, the slot size is 0, the size overflows, or
 * the storage is NULL or not aligned to 64. */
GYRE_API GYRE_MUST_USE gyre_status gyre_mpmc_init(gyre_mpmc *queue, void *storage, size_t slot_size,
                                                  uint64_t capacity);

/* What a slot can be, in the low two bits of its state; the lap is above. */
enum { GYRE_MPMC_EMPTY_ = 0, GYRE_MPMC_FULL_ = 1, GYRE_MPMC_VOID_ = 2 };

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

/* Eight states at once. Bytes are also accessed alone, and both processors keep the order of every
 * byte of an aligned word; ThreadSanitizer pairs only accesses of one size, and gets bytes. */
typedef uint64_t __attribute__((may_alias)) gyre_mpmc_word_;
#if defined(__SANITIZE_THREAD__)
#define GYRE_MPMC_WORDS_ 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GYRE_MPMC_WORDS_ 0
#endif
#endif
#ifndef GYRE_MPMC_WORDS_
#define GYRE_MPMC_WORDS_ 1
#endif

GYRE_INLINE bool gyre_mpmc_in_words_(const gyre_mpmc *queue, uint64_t position, uint64_t count)
{
    return GYRE_MPMC_WORDS_ && count >= 8 && position % 8 == 0 && queue->mask >= 7;
}

/* How many slots from `position` on, up to `wanted`, are in that phase of their lap.
 * acquire [mpmc-publish], [mpmc-reuse]: pairs with gyre_mpmc_hand_over_. What the other side did to
 * those slots is visible. */
GYRE_INLINE uint64_t gyre_mpmc_run_(const gyre_mpmc *queue, uint64_t position, unsigned phase,
                                    uint64_t wanted)
{
    uint64_t run = 0;

    while (run < wanted) {
        const uint8_t state = gyre_mpmc_state_(queue, position + run, phase);
        const uint8_t *const at = &queue->states[(position + run) & queue->mask];

        if (gyre_mpmc_in_words_(queue, position + run, wanted - run)) {
            const uint64_t all = state * UINT64_C(0x0101010101010101);

            if (__atomic_load_n((const gyre_mpmc_word_ *)(const void *)at, __ATOMIC_ACQUIRE) ==
                all) {
                run += 8;
                continue;
            }
        }
        if (gyre_load_acquire8(at) != state)
            break;
        run++;
    }
    return run;
}

/* Moves `count` slots from `position` on to the next phase.
 * release [mpmc-publish], [mpmc-reuse]: pairs with gyre_mpmc_run_. What we did to the slots is
 * visible before the states that hand them over. */
GYRE_INLINE void gyre_mpmc_hand_over_(gyre_mpmc *queue, uint64_t position, unsigned phase,
                                      uint64_t count)
{
    uint64_t done = 0;

    while (done < count) {
        const uint8_t state = gyre_mpmc_state_(queue, position + done, phase);
        uint8_t *const at = &queue->states[(position + done) & queue->mask];

        if (gyre_mpmc_in_words_(queue, position + done, count - done)) {
            __atomic_store_n((gyre_mpmc_word_ *)(void *)at, state * UINT64_C(0x0101010101010101),
                             __ATOMIC_RELEASE);
            done += 8;
        } else {
            gyre_store_release8(at, state);
            done++;
        }
    }
}

/* Moves `counter` past up to `wanted` positions whose slots are in that phase: these are ours. */
GYRE_INLINE uint64_t gyre_mpmc_claim_(gyre_mpmc *queue, uint64_t *counter, unsigned phase,
                                      uint64_t wanted, uint64_t *out_position)
{
    /* relaxed, all three: the counter only says whose turn it is; the states carry the order */
    uint64_t position = gyre_load_relaxed(counter);

    for (;;) {
        const uint64_t run = gyre_mpmc_run_(queue, position, phase, wanted);

        if (run > 0) {
            *out_position = position;
            if (gyre_swap_relaxed(counter, &position, position + run))
                return run;
        } else {
            const uint64_t now = gyre_load_relaxed(counter);

            if (now == position)
                return 0;
            position = now; /* it was somebody else's slot that we looked at */
        }
    }
}

/* The slot to be filled next, in place; NULL when full. It is ours until one of the two calls
 * below, and consumers wait for it: be quick. */
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

/* Consumers will pass over the slot. */
GYRE_INLINE void gyre_mpmc_abandon_push(gyre_mpmc *queue, uint64_t position)
{
    gyre_mpmc_hand_over_(queue, position, GYRE_MPMC_VOID_, 1);
}

/* Frees popped slots: to be filled on the next lap. */
GYRE_INLINE void gyre_mpmc_free_(gyre_mpmc *queue, uint64_t position, uint64_t count)
{
    gyre_mpmc_hand_over_(queue, position + queue->mask + 1, GYRE_MPMC_EMPTY_, count);
}

/* Claims up to `wanted` full slots, and passes over abandoned ones that stand before them. */
GYRE_INLINE uint64_t gyre_mpmc_claim_full_(gyre_mpmc *queue, uint64_t wanted,
                                           uint64_t *out_position)
{
    for (;;) {
        const uint64_t some =
            gyre_mpmc_claim_(queue, &queue->head, GYRE_MPMC_FULL_, wanted, out_position);
        uint64_t hole;

        if (some > 0)
            return some;
        if (gyre_mpmc_claim_(queue, &queue->head, GYRE_MPMC_VOID_, 1, &hole) == 0)
            return 0;
        gyre_mpmc_free_(queue, hole, 1);
    }
}

/* The oldest slot, to be read in place; NULL when empty. It is ours until gyre_mpmc_commit_pop.
 * There is no way back: others may have popped what came after it. */
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

    if (some == 0)
        return 0;
    gyre_slots_write(queue->slots, queue->mask, position, slots, slot_size, some);
    gyre_mpmc_hand_over_(queue, position, GYRE_MPMC_FULL_, some);
    return some;
}

/* Copies out up to `count` slots, oldest first. Returns how many. */
GYRE_MUST_USE GYRE_INLINE uint64_t gyre_mpmc_pop_bulk(gyre_mpmc *queue, void *slots,
                                                      size_t slot_size, uint64_t count)
{
    uint64_t position;
    const uint64_t some = gyre_mpmc_claim_full_(queue, count, &position);

    if (some == 0)
        return 0;
    gyre_slots_read(queue->slots, queue->mask, position, slots, slot_size, some);
    gyre_mpmc_free_(queue, position, some);
    return some;
}

GYRE_END_DECLS

#endif
