/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks: what is done with blocks of memory, for every allocator in the same words.
 *
 * Included once for each way of asking an allocator. Before that, define
 *
 *     WAY    the prefix of its functions, among them
 *                bool WAY_take(void *source, size_t size, void **out_block)  false: none left
 *                void WAY_give(void *source, void *block, size_t size)
 *
 * and get what BLOCK_WAYS puts into a table. Sizes are constants at every call, as in a program
 * that knows what it needs. A cycle takes a block and gives it back. A batch takes 64 and then
 * gives 64, in the same order; touched, it writes a byte of each 4096 in between. Passed on, a
 * block is taken by role 1, which numbers it, goes through the same queue whoever made it, and is
 * compared and given by role 0.
 *
 * While cycles and batches are timed, their thread has one more block of that size out, as programs
 * have: who gives a page away with the last block in it would do so every time. Afterwards,
 * untimed, as many blocks as the work has out are written here and there, compared, and given.
 *
 * Threads   as peers.h says.
 * Owns      the blocks that are out.
 */
#include "gyre/spsc.h"
#include "peers/gyre_step.h"
#include "peers/peers.h"

#ifndef GYRE_PEERS_BLOCKS_H
#define GYRE_PEERS_BLOCKS_H

#include <stdlib.h>

enum {
    BLOCK_1K = 1 << 10,
    BLOCK_4K = 1 << 12,
    BLOCK_1M = 1 << 20,
    BLOCK_PAGE = 4096,
    BLOCK_BATCH = 64,   /* blocks that a batch has out */
    BLOCK_WAITING = 64, /* of 1 MiB, on their way to the other thread at most */
};

/* The state of a way: its allocator, and the way to the other thread. */
typedef struct peers_blocks {
    gyre_spsc queue;
    _Alignas(128) void *slots[PEERS_CAPACITY];
    void *source;         /* the allocator; NULL: there is one for the process */
    uint64_t passed;      /* blocks that went through the queue, in the samples before */
    void *handed;         /* to role 1, when `given` says so */
    uint64_t given, back; /* shared; hand-overs and returns */
    uint64_t different;   /* that role 1 found */
} peers_blocks;

static inline peers_blocks *peers_blocks_create(void *source, uint64_t waiting)
{
    peers_blocks *b = aligned_alloc(128, sizeof *b);

    if (!b)
        return NULL;
    memset(b, 0, sizeof *b);
    b->source = source;
    if (gyre_spsc_init(&b->queue, b->slots, sizeof b->slots[0], waiting) == GYRE_OK)
        return b;
    free(b);
    return NULL;
}

/* For allocators that are there without being made. */
static inline void *peers_blocks_create_small(void)
{
    return peers_blocks_create(NULL, PEERS_CAPACITY);
}

static inline void *peers_blocks_create_large(void)
{
    return peers_blocks_create(NULL, BLOCK_WAITING);
}

/* The number of a block is at the beginning of each quarter, and at its end. */
static inline size_t peers_number_at(size_t size, uint32_t place)
{
    return place < 4 ? place * (size / 4) : size - sizeof(uint64_t);
}

static inline void peers_number(unsigned char *block, size_t size, uint64_t number)
{
    for (uint32_t place = 0; place < 5; place++)
        memcpy(block + peers_number_at(size, place), &number, sizeof number);
}

static inline bool peers_has_number(const unsigned char *block, size_t size, uint64_t number)
{
    bool same = true;

    for (uint32_t place = 0; place < 5; place++)
        same = same && memcmp(block + peers_number_at(size, place), &number, sizeof number) == 0;
    return same;
}

/* One byte of every page. */
static inline void peers_touch(unsigned char *block, size_t size, unsigned char value)
{
    for (size_t at = 0; at < size; at += BLOCK_PAGE)
        block[at] = value;
}

static inline bool peers_is_touched(const unsigned char *block, size_t size, unsigned char value)
{
    return (block[0] == value) & (block[size - BLOCK_PAGE] == value);
}

#define BLOCKS_JOIN_(a, b) a##_##b
#define BLOCKS_JOIN(a, b) BLOCKS_JOIN_(a, b)
#define BLOCKS_NAMED(part) BLOCKS_JOIN(WAY, part)
#define BLOCKS_PART static inline __attribute__((always_inline, unused))

/* The entries of a table: each work done by `way`, whose blocks of 1 MiB may have another name. */
#define BLOCK_WAYS(way, name, large_name, create, create_large, destroy)                           \
    BLOCK_WAY("pool_cycle_1k", name, "-", "-", "1", create, destroy, way##_cycle_1k,               \
              way##_show_1k),                                                                      \
        BLOCK_WAY("pool_cycle_4k", name, "-", "-", "1", create, destroy, way##_cycle_4k,           \
                  way##_show_4k),                                                                  \
        BLOCK_WAY("pool_cycle_1m", large_name, "-", "-", "1", create_large, destroy,               \
                  way##_cycle_1m, way##_show_1m),                                                  \
        BLOCK_WAY("pool_64_then_64_4k", name, "-", "-", "64", create, destroy, way##_batch_4k,     \
                  way##_show_4k),                                                                  \
        BLOCK_WAY("pool_64_then_64_1m_touched", large_name, "-", "-", "64", create_large, destroy, \
                  way##_touched_1m, way##_show_1m),                                                \
        BLOCK_WAY("pool_other_thread_frees_1k", name, "1024", "retry", "1024", create, destroy,    \
                  way##_pass_1k, way##_show_1k),                                                   \
        BLOCK_WAY("pool_other_thread_frees_1m", large_name, "64", "retry", "64", create_large,     \
                  destroy, way##_pass_1m, way##_show_1m)
#define BLOCK_WAY(work, name, capacity, policy, in_flight, create, destroy, run, show)             \
    {                                                                                              \
        work, name, capacity, policy, in_flight, true, NULL, create, run, show, NULL, destroy      \
    }

#endif

/* Whether that many blocks can be out at once, each with a content of its own. */
BLOCKS_PART bool BLOCKS_NAMED(are_apart)(void *source, size_t size, size_t count)
{
    void *held[BLOCK_BATCH];
    size_t taken = 0, right = 0;

    while (taken < count && BLOCKS_NAMED(take)(source, size, &held[taken])) {
        peers_number(held[taken], size, taken);
        peers_keep(held[taken]); /* compilers know that what malloc returns is new */
        taken++;
    }
    for (size_t k = 0; k < taken; k++)
        right += peers_has_number(held[k], size, k);
    for (size_t k = 0; k < taken; k++)
        BLOCKS_NAMED(give)(source, held[k], size);
    return right == count;
}

BLOCKS_PART uint64_t BLOCKS_NAMED(cycles)(void *source, uint64_t count, size_t size)
{
    for (uint64_t i = 0; i < count; i++) {
        void *block;

        if (!BLOCKS_NAMED(take)(source, size, &block))
            return i;
        peers_keep(block);
        BLOCKS_NAMED(give)(source, block, size);
    }
    return count;
}

BLOCKS_PART uint64_t BLOCKS_NAMED(batches)(void *source, uint64_t count, size_t size, bool touch)
{
    void *held[BLOCK_BATCH];
    uint64_t right = 0;

    for (uint64_t i = 0; i < count; i += BLOCK_BATCH) {
        const unsigned char first = (unsigned char)(i / BLOCK_BATCH);

        for (uint32_t k = 0; k < BLOCK_BATCH; k++) {
            if (!BLOCKS_NAMED(take)(source, size, &held[k]))
                return right;
            peers_keep(held[k]);
        }
        for (uint32_t k = 0; touch && k < BLOCK_BATCH; k++) {
            peers_touch(held[k], size, (unsigned char)(first + k));
            peers_keep(held[k]);
        }
        for (uint32_t k = 0; k < BLOCK_BATCH; k++) {
            right += !touch || peers_is_touched(held[k], size, (unsigned char)(first + k));
            BLOCKS_NAMED(give)(source, held[k], size);
        }
    }
    return right;
}

/* Either of the two, timed, with one block out meanwhile. */
BLOCKS_PART uint64_t BLOCKS_NAMED(timed)(void *state, peers_turn *turn, size_t size, bool batch,
                                         bool touch)
{
    void *const source = ((peers_blocks *)state)->source;
    uint64_t start_ns, right;
    void *another;

    if (!BLOCKS_NAMED(take)(source, size, &another))
        return 0;
    if (batch) /* the turns of the others left nothing of these blocks in any cache */
        (void)BLOCKS_NAMED(batches)(source, BLOCK_BATCH, size, touch);
    start_ns = peers_now_ns();
    right = batch ? BLOCKS_NAMED(batches)(source, turn->count, size, touch)
                  : BLOCKS_NAMED(cycles)(source, turn->count, size);
    turn->elapsed_ns = peers_now_ns() - start_ns;
    BLOCKS_NAMED(give)(source, another, size);
    return BLOCKS_NAMED(are_apart)(source, size, batch ? BLOCK_BATCH : 2) ? right : 0;
}

BLOCKS_PART uint64_t BLOCKS_NAMED(pass)(void *state, peers_turn *turn, size_t size)
{
    peers_blocks *b = state;
    void *const source = b->source;
    const uint64_t first = b->passed;
    uint64_t right = 0, number;
    uint32_t tries = 0;
    void *block;

    for (uint64_t i = first; i < first + turn->count; i++) {
        if (turn->role == 1) {
            if (!BLOCKS_NAMED(take)(source, size, &block))
                return 0;
            memcpy(block, &i, sizeof i);
            while (!gyre_spsc_push(&b->queue, &block, sizeof block))
                if (!peers_wait(&tries))
                    return 0;
        } else {
            while (!gyre_spsc_pop(&b->queue, &block, sizeof block))
                if (!peers_wait(&tries))
                    return right;
            memcpy(&number, block, sizeof number);
            right += number == i;
            BLOCKS_NAMED(give)(source, block, size);
        }
        tries = 0;
    }
    if (turn->role == 0)
        b->passed += turn->count; /* role 1 has read it: all of its blocks are here */
    return right;
}

/* Role 0 takes and writes every byte, role 1 compares every byte and gives. */
BLOCKS_PART uint64_t BLOCKS_NAMED(show)(void *state, peers_turn *turn, size_t size)
{
    peers_blocks *b = state;
    const uint64_t first = gyre_load_relaxed(&b->back); /* relaxed: nobody writes it yet */

    if (turn->role == 0)
        b->different = 0;
    for (uint64_t i = first + 1; i <= first + turn->count; i++) {
        if (turn->role == 0) {
            if (!BLOCKS_NAMED(take)(b->source, size, &b->handed))
                return 0;
            peers_fill_pattern(b->handed, size);
            peers_step(&b->given, i);
            if (!peers_reached(&b->back, i))
                return 0;
        } else {
            if (!peers_reached(&b->given, i))
                return 0;
            b->different += !peers_is_pattern(b->handed, size);
            BLOCKS_NAMED(give)(b->source, b->handed, size);
            peers_step(&b->back, i);
        }
    }
    return turn->count - b->different;
}

#define BLOCKS_RUN(name, call)                                                                     \
    static __attribute__((unused)) uint64_t BLOCKS_NAMED(name)(void *state, peers_turn *turn)      \
    {                                                                                              \
        return call;                                                                               \
    }
BLOCKS_RUN(cycle_1k, BLOCKS_NAMED(timed)(state, turn, BLOCK_1K, false, false))
BLOCKS_RUN(cycle_4k, BLOCKS_NAMED(timed)(state, turn, BLOCK_4K, false, false))
BLOCKS_RUN(cycle_1m, BLOCKS_NAMED(timed)(state, turn, BLOCK_1M, false, false))
BLOCKS_RUN(batch_4k, BLOCKS_NAMED(timed)(state, turn, BLOCK_4K, true, false))
BLOCKS_RUN(touched_1m, BLOCKS_NAMED(timed)(state, turn, BLOCK_1M, true, true))
BLOCKS_RUN(pass_1k, BLOCKS_NAMED(pass)(state, turn, BLOCK_1K))
BLOCKS_RUN(pass_1m, BLOCKS_NAMED(pass)(state, turn, BLOCK_1M))
BLOCKS_RUN(show_1k, BLOCKS_NAMED(show)(state, turn, BLOCK_1K))
BLOCKS_RUN(show_4k, BLOCKS_NAMED(show)(state, turn, BLOCK_4K))
BLOCKS_RUN(show_1m, BLOCKS_NAMED(show)(state, turn, BLOCK_1M))

#undef BLOCKS_RUN
#undef WAY
