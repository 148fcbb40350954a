/* SPDX-License-Identifier: Apache-2.0
 *
 * spsc: the cold half of gyre/spsc.h, which has the contract, the threads and both edges; and what
 * a producer does that has used up its view of the consumer.
 */
#include "gyre/spsc.h"

#include <inttypes.h>
#include <time.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/wait.h"

enum {
    QUICK_COUNT = 4, /* a consumer that has freed so many since the last look pops quickly */
    GLIMPSE_NS = 60, /* in which it frees another */
    PEACE_NS = 600,
};

/* Part of the caller's structs. What the producer writes, what the consumer writes and what nobody
 * writes share no pair of lines. */
_Static_assert(alignof(gyre_spsc) == 64 && sizeof(gyre_spsc) == 320, "layout is public");
_Static_assert(offsetof(gyre_spsc, tail) == 0 && offsetof(gyre_spsc, until) == 8, "producer");
_Static_assert(offsetof(gyre_spsc, head) == 128 && offsetof(gyre_spsc, cached_tail) == 136,
               "consumer");
_Static_assert(offsetof(gyre_spsc, capacity) == 256 && offsetof(gyre_spsc, mask) == 264 &&
                   offsetof(gyre_spsc, slot_size) == 272 && offsetof(gyre_spsc, slots) == 280,
               "constant");

gyre_status gyre_spsc_init(gyre_spsc *queue, void *slots, size_t slot_size, uint64_t capacity)
{
    size_t bytes;

    if (!queue || (uintptr_t)queue % alignof(gyre_spsc) != 0)
        return gyre_fail(GYRE_INVALID,
                         "spsc: the queue at %p is not aligned to 64; make it a variable, or "
                         "allocate it with aligned_alloc",
                         (void *)queue);
    if (slot_size == 0)
        return gyre_fail(GYRE_INVALID, "spsc: the slot size is 0; give the size of one item");
    if (capacity == 0 || (capacity & (capacity - 1)) != 0)
        return gyre_fail(GYRE_INVALID,
                         "spsc: capacity %" PRIu64 " is not a power of two; take 1, 2, 4, 8, ...",
                         capacity);
    if (!gyre_size_multiply(slot_size, capacity, &bytes))
        return gyre_fail(GYRE_INVALID,
                         "spsc: %" PRIu64 " slots of %zu bytes are more than memory can be; "
                         "make them fewer or smaller",
                         capacity, slot_size);
    if (!slots)
        return gyre_fail(GYRE_INVALID, "spsc: there is no storage; give %zu bytes", bytes);
    *queue = (gyre_spsc){
        .until = capacity,
        .capacity = capacity,
        .mask = capacity - 1,
        .slot_size = slot_size,
        .slots = slots,
    };
    return GYRE_OK;
}

/* The kernel's clock: the first reading of ours blocks, and this may be a signal handler. */
static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_ns(uint64_t duration_ns)
{
    const uint64_t start_ns = now_ns();

    while (now_ns() - start_ns < duration_ns)
        gyre_relax();
}

/* A look takes the line of `head` away from the consumer, whose next pops wait behind the store
 * that wants it back; until it is, they get no further than the core's store buffer, some ten
 * slots. A producer that looks again as soon as it has filled those keeps both sides at that, and
 * each slot costs nearly a look. So a consumer that pops quickly is left in peace, once, to free
 * more than the few slots it has; one that frees them singly is not waited for, nor is anyone in a
 * queue of 32 or less. */
void gyre_spsc_look_(gyre_spsc *queue, uint64_t tail)
{
    const uint64_t before = queue->until - queue->capacity;
    /* acquire [spsc-reuse], here and below: pairs with the release in gyre_spsc_free_. The consumer
     * has finished reading the slots before we overwrite them. */
    uint64_t head = gyre_load_acquire(&queue->head);

    if (head - before >= QUICK_COUNT && queue->capacity - (tail - head) < queue->capacity / 8) {
        const uint64_t then = head;

        wait_ns(GLIMPSE_NS);
        head = gyre_load_acquire(&queue->head);
        if (head != then) { /* it is at work: leave it alone for longer */
            wait_ns(PEACE_NS);
            head = gyre_load_acquire(&queue->head);
        }
    }
    queue->until = head + queue->capacity;
}
