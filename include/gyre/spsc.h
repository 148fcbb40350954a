/* SPDX-License-Identifier: Apache-2.0
 *
 * spsc: a bounded queue of fixed-size slots from one thread to one other.
 *
 * Each side writes one counter and keeps a stale copy of the other side's, so while the queue is
 * neither full nor empty nobody touches a line that the other side's counter lives on. Counters
 * only grow; `counter & mask` is the slot, which is why the capacity is a power of two.
 *
 * A producer that finds the queue nearly full, and the consumer popping quickly, spends half a
 * microsecond before it pushes on, so that it need not look after every few slots (src/flow/spsc.c
 * says why that pays). An item that was pushed is there at once.
 *
 * Every call repeats the slot size that was given to init: where it is a constant, it folds into
 * the copy, and 8 bytes become one store.
 *
 * Threads   one producer pushes, one consumer pops; either may be handed on to another thread by
 *           anything that orders the two. Nothing here blocks. A signal handler may be one side, if
 *           it never interrupts that side itself. Edges: [spsc-publish], [spsc-reuse].
 * Owns      nothing: queue and slots are the caller's storage, so there is no fini.
 * Not here  waiting (gyre/channel.h), many producers (gyre/mpmc.h), devices (flow/ring_abi.h).
 */
#ifndef GYRE_SPSC_H
#define GYRE_SPSC_H

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
typedef struct gyre_spsc {
    alignas(64) uint64_t tail; /* shared; written by the producer */
    uint64_t until;            /* where tail has to look again: a stale head, plus capacity */
    uint64_t apart_[14];
    uint64_t head;        /* shared; written by the consumer */
    uint64_t cached_tail; /* the consumer's stale view of tail */
    uint64_t apart_too_[14];
    uint64_t capacity; /* slots; constant after init, like all that follows */
    uint64_t mask;
    size_t slot_size;
    unsigned char *slots; /* borrowed from the caller of init */
} gyre_spsc;

/* Makes an empty queue over `slots`, which holds capacity * slot_size bytes and outlives it.
 * GYRE_INVALID when the capacity is not a power of two, the slot size is 0, their product
 * overflows, the storage is NULL, or the queue is NULL or not aligned to 64 (which malloc does not
 * do). The storage is aligned as what the slots hold needs it; lines travel whole, so to 64 where
 * speed matters. Never blocks. The other thread must learn of the queue by something that orders
 * the two. */
GYRE_API GYRE_MUST_USE gyre_status gyre_spsc_init(gyre_spsc *queue, void *slots, size_t slot_size,
                                                  uint64_t capacity);

/* Names that end in _ are the header's own. */
GYRE_INLINE unsigned char *gyre_spsc_slot_(const gyre_spsc *queue, uint64_t position,
                                           size_t slot_size)
{
    assert(slot_size == queue->slot_size);
    return queue->slots + (position & queue->mask) * slot_size;
}

/* The producer looks at head, and moves `until`. */
GYRE_API void gyre_spsc_look_(gyre_spsc *queue, uint64_t tail);

GYRE_INLINE uint64_t gyre_spsc_room_(gyre_spsc *queue, uint64_t tail, uint64_t wanted)
{
    uint64_t room = queue->until - tail;

    if (room < wanted) {
        gyre_spsc_look_(queue, tail);
        room = queue->until - tail;
    }
    return room < wanted ? room : wanted;
}

GYRE_INLINE uint64_t gyre_spsc_filled_(gyre_spsc *queue, uint64_t head, uint64_t wanted)
{
    uint64_t filled = queue->cached_tail - head;

    if (filled < wanted) {
        /* acquire [spsc-publish]: pairs with the release in gyre_spsc_commit_push. The bytes of
         * every slot below this tail are visible. */
        queue->cached_tail = gyre_load_acquire(&queue->tail);
        filled = queue->cached_tail - head;
    }
    return filled < wanted ? filled : wanted;
}

/* release [spsc-publish]: pairs with the acquire in gyre_spsc_filled_. The bytes of the slots are
 * visible before the tail that announces them. */
GYRE_INLINE void gyre_spsc_publish_(gyre_spsc *queue, uint64_t tail)
{
    gyre_store_release(&queue->tail, tail);
}

/* release [spsc-reuse]: pairs with the acquire in gyre_spsc_look_. Our reads of the slots are done
 * before the head that frees them. */
GYRE_INLINE void gyre_spsc_free_(gyre_spsc *queue, uint64_t head)
{
    gyre_store_release(&queue->head, head);
}

/* Producer. How many of `wanted` slots can be filled right now; looks at the consumer's counter
 * only when the stale view does not say that all of them can. */
GYRE_INLINE uint64_t gyre_spsc_room(gyre_spsc *queue, uint64_t wanted)
{
    /* relaxed, as every load of tail on this side: this thread is its only writer */
    return gyre_spsc_room_(queue, gyre_load_relaxed(&queue->tail), wanted);
}

/* Consumer. How many of `wanted` slots can be read right now; as gyre_spsc_room. */
GYRE_INLINE uint64_t gyre_spsc_filled(gyre_spsc *queue, uint64_t wanted)
{
    /* relaxed, as every load of head on this side: this thread is its only writer */
    return gyre_spsc_filled_(queue, gyre_load_relaxed(&queue->head), wanted);
}

/* Producer. The slot to be filled next, in place; NULL when full. Nothing is taken until
 * gyre_spsc_commit_push; to abandon, just do not commit. */
GYRE_MUST_USE GYRE_INLINE void *gyre_spsc_begin_push(gyre_spsc *queue, size_t slot_size)
{
    const uint64_t tail = gyre_load_relaxed(&queue->tail);

    return gyre_spsc_room_(queue, tail, 1) ? gyre_spsc_slot_(queue, tail, slot_size) : NULL;
}

/* Producer. Hands over the next `count` slots, no more than gyre_spsc_room said. */
GYRE_INLINE void gyre_spsc_commit_push(gyre_spsc *queue, uint64_t count)
{
    gyre_spsc_publish_(queue, gyre_load_relaxed(&queue->tail) + count);
}

/* Consumer. The oldest slot, to be read in place; NULL when empty. It stays the oldest until
 * gyre_spsc_commit_pop; to abandon, just do not commit. */
GYRE_MUST_USE GYRE_INLINE const void *gyre_spsc_begin_pop(gyre_spsc *queue, size_t slot_size)
{
    const uint64_t head = gyre_load_relaxed(&queue->head);

    return gyre_spsc_filled_(queue, head, 1) ? gyre_spsc_slot_(queue, head, slot_size) : NULL;
}

/* Consumer. Gives back the oldest `count` slots, no more than gyre_spsc_filled said. */
GYRE_INLINE void gyre_spsc_commit_pop(gyre_spsc *queue, uint64_t count)
{
    gyre_spsc_free_(queue, gyre_load_relaxed(&queue->head) + count);
}

/* Producer. Copies one slot in; false when full. Wait-free. */
GYRE_MUST_USE GYRE_INLINE bool gyre_spsc_push(gyre_spsc *queue, const void *slot, size_t slot_size)
{
    const uint64_t tail = gyre_load_relaxed(&queue->tail);

    if (gyre_spsc_room_(queue, tail, 1) == 0)
        return false;
    memcpy(gyre_spsc_slot_(queue, tail, slot_size), slot, slot_size);
    gyre_spsc_publish_(queue, tail + 1);
    return true;
}

/* Consumer. Copies the oldest slot out; false when empty. Wait-free. */
GYRE_MUST_USE GYRE_INLINE bool gyre_spsc_pop(gyre_spsc *queue, void *slot, size_t slot_size)
{
    const uint64_t head = gyre_load_relaxed(&queue->head);

    if (gyre_spsc_filled_(queue, head, 1) == 0)
        return false;
    memcpy(slot, gyre_spsc_slot_(queue, head, slot_size), slot_size);
    gyre_spsc_free_(queue, head + 1);
    return true;
}

/* Producer. Copies in as many of `count` slots as fit, in order, and hands them over together: the
 * consumer's next look sees them all. Returns how many. */
GYRE_MUST_USE GYRE_INLINE uint64_t gyre_spsc_push_bulk(gyre_spsc *queue, const void *slots,
                                                       size_t slot_size, uint64_t count)
{
    const uint64_t tail = gyre_load_relaxed(&queue->tail);
    const uint64_t some = gyre_spsc_room_(queue, tail, count);

    assert(slot_size == queue->slot_size);
    if (some == 0)
        return 0;
    gyre_slots_write(queue->slots, queue->mask, tail, slots, slot_size, some);
    gyre_spsc_publish_(queue, tail + some);
    return some;
}

/* Consumer. Copies out up to `count` slots, oldest first, and frees them together. Returns how
 * many. */
GYRE_MUST_USE GYRE_INLINE uint64_t gyre_spsc_pop_bulk(gyre_spsc *queue, void *slots,
                                                      size_t slot_size, uint64_t count)
{
    const uint64_t head = gyre_load_relaxed(&queue->head);
    const uint64_t some = gyre_spsc_filled_(queue, head, count);

    assert(slot_size == queue->slot_size);
    if (some == 0)
        return 0;
    gyre_slots_read(queue->slots, queue->mask, head, slots, slot_size, some);
    gyre_spsc_free_(queue, head + some);
    return some;
}

GYRE_END_DECLS

#endif
