/* SPDX-License-Identifier: Apache-2.0
 *
 * mpmc: the cold half of gyre/mpmc.h, which has the contract, the protocol, the threads and the
 * edges.
 */
#include "gyre/mpmc.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { LINE = 64 };

/* Part of the caller's structs. What producers write, what consumers write and what nobody writes
 * share no pair of lines. */
_Static_assert(alignof(gyre_mpmc) == LINE && sizeof(gyre_mpmc) == 320, "layout is public");
_Static_assert(offsetof(gyre_mpmc, tail) == 0 && offsetof(gyre_mpmc, head) == 128, "shared");
_Static_assert(offsetof(gyre_mpmc, mask) == 256 && offsetof(gyre_mpmc, lap_shift) == 264 &&
                   offsetof(gyre_mpmc, slot_size) == 272 && offsetof(gyre_mpmc, slots) == 280 &&
                   offsetof(gyre_mpmc, states) == 288,
               "constant");

/* Both the states, which come first, and the slots take whole lines: words of eight states are
 * aligned, and no state shares a line with a slot. */
static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) & ~(size_t)(LINE - 1);
}

gyre_status gyre_mpmc_storage_bytes(size_t slot_size, uint64_t capacity, size_t *out_bytes)
{
    size_t slots, bytes;

    *out_bytes = 0;
    if (slot_size == 0)
        return gyre_fail(GYRE_INVALID, "mpmc: the slot size is 0; give the size of one item");
    if (capacity == 0 || (capacity & (capacity - 1)) != 0)
        return gyre_fail(GYRE_INVALID,
                         "mpmc: capacity %" PRIu64 " is not a power of two; take 1, 2, 4, 8, ...",
                         capacity);
    if (!gyre_size_multiply(slot_size, capacity, &slots) ||
        !gyre_size_add(slots, whole_lines(capacity) + LINE, &bytes))
        return gyre_fail(GYRE_INVALID,
                         "mpmc: %" PRIu64 " slots of %zu bytes are more than memory can be; "
                         "make them fewer or smaller",
                         capacity, slot_size);
    *out_bytes = whole_lines(capacity) + whole_lines(slots);
    return GYRE_OK;
}

gyre_status gyre_mpmc_init(gyre_mpmc *queue, void *storage, size_t slot_size, uint64_t capacity)
{
    size_t bytes;
    const gyre_status status = gyre_mpmc_storage_bytes(slot_size, capacity, &bytes);

    if (status != GYRE_OK)
        return status;
    if (!queue || (uintptr_t)queue % LINE != 0)
        return gyre_fail(GYRE_INVALID,
                         "mpmc: the queue at %p is not aligned to 64; make it a variable, or "
                         "allocate it with aligned_alloc",
                         (void *)queue);
    if (!storage || (uintptr_t)storage % LINE != 0)
        return gyre_fail(GYRE_INVALID,
                         "mpmc: the storage at %p is not aligned to 64; allocate %zu bytes with "
                         "aligned_alloc",
                         storage, bytes);
    *queue = (gyre_mpmc){
        .mask = capacity - 1,
        .lap_shift = (uint32_t)__builtin_ctzll(capacity),
        .slot_size = slot_size,
        .slots = (unsigned char *)storage + whole_lines(capacity),
        .states = storage,
    };
    memset(queue->states, GYRE_MPMC_EMPTY_, capacity); /* on lap 0 */
    return GYRE_OK;
}

/* How many of `count` states there are before the first whole word of them. */
static inline uint64_t before_words(const uint8_t *states, uint64_t count)
{
    const uint64_t before = GYRE_SLOTS_WORDS_ ? -(uintptr_t)states % 8 : count;

    return before < count ? before : count;
}

/* How many of `count` states are `state`, up to the first that is not. Acquires those. */
static inline uint64_t count_equal(const uint8_t *states, uint8_t state, uint64_t count)
{
    const uint64_t before = before_words(states, count), word = gyre_slots_word_of_(state);
    uint64_t run = 0;

    while (run < before && gyre_load_acquire8(states + run) == state)
        run++;
    if (run < before)
        return run;
    while (count - run >= 8 && gyre_slots_load_word_(states + run) == word)
        run += 8;
    while (run < count && gyre_load_acquire8(states + run) == state)
        run++;
    return run;
}

/* Sets `count` states, in no particular order. Releases. */
static inline void set_all(uint8_t *states, uint8_t state, uint64_t count)
{
    const uint64_t before = before_words(states, count), word = gyre_slots_word_of_(state);
    uint64_t i = 0;

    for (; i < before; i++)
        gyre_store_release8(states + i, state);
    for (; count - i >= 8; i += 8)
        gyre_slots_store_word_(states + i, word);
    for (; i < count; i++)
        gyre_store_release8(states + i, state);
}

/* A run ends before it comes round to its first slot, which is not on the next lap yet; or somebody
 * has claimed that slot meanwhile, and the swap that follows fails. */
uint64_t gyre_mpmc_run_bulk_(const gyre_mpmc *queue, uint64_t position, unsigned phase,
                             uint64_t wanted)
{
    uint64_t run = 0, part, equal;

    do {
        const uint64_t index = (position + run) & queue->mask, until_end = queue->mask + 1 - index;

        part = wanted - run < until_end ? wanted - run : until_end;
        equal = count_equal(&queue->states[index], gyre_mpmc_state_(queue, position + run, phase),
                            part);
        run += equal;
    } while (equal == part && run < wanted);
    return run;
}

void gyre_mpmc_hand_over_bulk_(gyre_mpmc *queue, uint64_t position, unsigned phase, uint64_t count)
{
    while (count > 0) {
        const uint64_t index = position & queue->mask, until_end = queue->mask + 1 - index;
        const uint64_t part = count < until_end ? count : until_end;

        set_all(&queue->states[index], gyre_mpmc_state_(queue, position, phase), part);
        position += part;
        count -= part;
    }
}
