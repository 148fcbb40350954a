/* SPDX-License-Identifier: Apache-2.0
 *
 * floors_blocks: the least that can be done for blocks of memory: they are there from the
 * beginning, and taking one moves the top of a stack that belongs to nobody else.
 *
 * For blocks that another thread gives there is no stack: they are taken in turn from twice as many
 * as the queue holds, and giving does nothing. What remains is the queue, and the line of each
 * block that is written on one side and read on the other.
 *
 * Threads   as peers.h says.
 * Owns      the blocks.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "peers/tables.h"

enum {
    STACK = 64 + 1, /* a batch, and the one that is out meanwhile */
    TURNS = 2 * PEERS_CAPACITY,
    HUGE_PAGE = 2 << 20,
    LINE = 64, /* between blocks, so that their pages do not begin in the same places of caches */
};

typedef struct store {
    unsigned char *memory;
    size_t bytes;
    uint64_t top;   /* blocks below are there; of a stack */
    uint64_t next;  /* taken so far; of those in turn */
    uint64_t count; /* a power of two, of those in turn */
    void *blocks[TURNS];
} store;

static inline bool stack_take(void *source, size_t size, void **out_block)
{
    store *const s = source;

    (void)size;
    if (s->top == 0)
        return false;
    *out_block = s->blocks[--s->top];
    return true;
}

static inline void stack_give(void *source, void *block, size_t size)
{
    store *const s = source;

    (void)size;
    s->blocks[s->top++] = block;
}

static inline bool turn_take(void *source, size_t size, void **out_block)
{
    store *const s = source;

    (void)size;
    *out_block = s->blocks[s->next++ & (s->count - 1)];
    return true;
}

static inline void turn_give(void *source, void *block, size_t size)
{
    (void)source;
    (void)block;
    (void)size;
}

#define WAY stack
#include "peers/blocks.h"

#define WAY turn
#include "peers/blocks.h"

static void store_destroy(store *s)
{
    if (s && s->memory)
        munmap(s->memory, s->bytes);
    free(s);
}

/* Blocks of `size` bytes, in huge pages where the kernel lets them. */
static store *store_create(size_t size, uint64_t count)
{
    store *s = calloc(1, sizeof *s);
    unsigned char *first;

    if (!s)
        return NULL;
    s->bytes = count * (size + LINE) + HUGE_PAGE;
    s->memory = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->memory == MAP_FAILED) {
        free(s);
        return NULL;
    }
    (void)madvise(s->memory, s->bytes, MADV_HUGEPAGE); /* without, it is slower */
    first = s->memory + (HUGE_PAGE - ((uintptr_t)s->memory & (HUGE_PAGE - 1)));
    s->top = s->count = count;
    for (uint64_t i = 0; i < count; i++) {
        s->blocks[i] = first + i * (size + LINE);
        memset(s->blocks[i], 0, size);
    }
    return s;
}

static void *state_create(size_t size, uint64_t count, uint64_t waiting)
{
    store *s = store_create(size, count);
    peers_blocks *b = s ? peers_blocks_create(s, waiting) : NULL;

    if (!b)
        store_destroy(s);
    return b;
}

static void *stack_small_create(void)
{
    return state_create(BLOCK_4K, STACK, PEERS_CAPACITY);
}

static void *stack_large_create(void)
{
    return state_create(BLOCK_1M, STACK, BLOCK_WAITING);
}

static void *turn_small_create(void)
{
    return state_create(BLOCK_1K, TURNS, PEERS_CAPACITY);
}

static void *turn_large_create(void)
{
    return state_create(BLOCK_1M, UINT64_C(2) * BLOCK_WAITING, BLOCK_WAITING);
}

static void state_destroy(void *state)
{
    store_destroy(((peers_blocks *)state)->source);
    free(state);
}

#define STACKED(work, in_flight, create, run, show)                                                \
    BLOCK_WAY(work, "a stack", "-", "-", in_flight, create, state_destroy, run, show)
#define IN_TURN(work, depth, create, run, show)                                                    \
    BLOCK_WAY(work, "the queue, and a line", depth, "retry", depth, create, state_destroy, run,    \
              show)

static const peers_way ways[] = {
    STACKED("pool_cycle_1k", "1", stack_small_create, stack_cycle_1k, stack_show_1k),
    STACKED("pool_cycle_4k", "1", stack_small_create, stack_cycle_4k, stack_show_4k),
    STACKED("pool_cycle_1m", "1", stack_large_create, stack_cycle_1m, stack_show_1m),
    STACKED("pool_64_then_64_4k", "64", stack_small_create, stack_batch_4k, stack_show_4k),
    STACKED("pool_64_then_64_1m_touched", "64", stack_large_create, stack_touched_1m,
            stack_show_1m),
    IN_TURN("pool_other_thread_frees_1k", "1024", turn_small_create, turn_pass_1k, turn_show_1k),
    IN_TURN("pool_other_thread_frees_1m", "64", turn_large_create, turn_pass_1m, turn_show_1m),
};

const peers_library peers_floors_blocks = {"bare", "", PEERS_FLOOR, ways,
                                           sizeof ways / sizeof ways[0]};
