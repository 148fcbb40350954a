/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/mman.h>

#include "peers/tables.h"
#include "test.h"

const peers_library *const peers_libraries[] = {NULL};
const peers_absent peers_absents[] = {{NULL, NULL}};

typedef enum fault {
    NO_FAULT,
    THE_SAME_AGAIN, /* every block is the same one */
    TOO_NEAR,       /* the second half of a block is the first of the next */
    SCRIBBLES,      /* taking a block writes into the one before */
    ENDS,           /* there are none after a while */
} fault;

enum { ARENA = 160 << 20, SOME = 640 };

/* Blocks in turn, out of one piece. */
typedef struct arena {
    unsigned char *memory;
    fault fault;
    uint64_t taken;
} arena;

static bool faulty_take(void *source, size_t size, void **out_block)
{
    arena *const a = source;
    const size_t stride = a->fault == TOO_NEAR ? size / 2 : size;
    const size_t places = ARENA / 2 / stride;
    const uint64_t place = a->fault == THE_SAME_AGAIN ? 0 : a->taken % places;

    if (a->fault == ENDS && a->taken == SOME / 2)
        return false;
    if (a->fault == SCRIBBLES && place > 0)
        memset(a->memory + (place - 1) * stride, 0xff, size);
    a->taken++;
    *out_block = a->memory + place * stride;
    return true;
}

static void faulty_give(void *source, void *block, size_t size)
{
    (void)source;
    (void)block;
    (void)size;
}

#define WAY faulty
#include "peers/blocks.h"

static arena *arena_create(void)
{
    arena *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->memory = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a->memory != MAP_FAILED)
        return a;
    free(a);
    return NULL;
}

static void arena_destroy(arena *a)
{
    munmap(a->memory, ARENA);
    free(a);
}

/* How many of `count` a run with that fault calls right. */
static uint64_t right_of(uint64_t (*run)(void *state, peers_turn *turn), fault which, bool pass)
{
    arena *a = arena_create();
    peers_blocks *b = a ? peers_blocks_create(a, PEERS_CAPACITY) : NULL;
    peers_turn turn = {.role = 0, .roles = 1, .count = SOME};
    uint64_t right = UINT64_MAX;

    CHECK(b != NULL);
    if (b) {
        a->fault = which;
        if (pass) { /* one after the other: the queue holds all of them */
            peers_turn taker = {.role = 1, .roles = 2, .count = which == ENDS ? 0 : SOME};

            (void)run(b, &taker);
            turn.count = taker.count;
            turn.roles = 2;
        }
        right = run(b, &turn);
    }
    if (a)
        arena_destroy(a);
    free(b);
    return right;
}

static void blocks_that_are_apart_are_right(void)
{
    CHECK(right_of(faulty_cycle_1k, NO_FAULT, false) == SOME);
    CHECK(right_of(faulty_cycle_1m, NO_FAULT, false) == SOME);
    CHECK(right_of(faulty_batch_4k, NO_FAULT, false) == SOME);
    CHECK(right_of(faulty_touched_1m, NO_FAULT, false) == SOME);
    CHECK(right_of(faulty_pass_1k, NO_FAULT, true) == SOME);
}

static void a_block_that_is_taken_twice_is_noticed(void)
{
    CHECK(right_of(faulty_cycle_1k, THE_SAME_AGAIN, false) < SOME);
    CHECK(right_of(faulty_cycle_1m, THE_SAME_AGAIN, false) < SOME);
    CHECK(right_of(faulty_batch_4k, THE_SAME_AGAIN, false) < SOME);
    CHECK(right_of(faulty_touched_1m, THE_SAME_AGAIN, false) < SOME);
    CHECK(right_of(faulty_pass_1k, THE_SAME_AGAIN, true) < SOME);
}

static void blocks_that_overlap_are_noticed(void)
{
    CHECK(right_of(faulty_cycle_4k, TOO_NEAR, false) < SOME);
    CHECK(right_of(faulty_batch_4k, TOO_NEAR, false) < SOME);
    CHECK(right_of(faulty_touched_1m, TOO_NEAR, false) < SOME);
}

static void a_content_that_is_gone_is_noticed(void)
{
    CHECK(right_of(faulty_cycle_1k, SCRIBBLES, false) < SOME);
    CHECK(right_of(faulty_batch_4k, SCRIBBLES, false) < SOME);
    CHECK(right_of(faulty_touched_1m, SCRIBBLES, false) < SOME);
    CHECK(right_of(faulty_pass_1k, SCRIBBLES, true) < SOME);
}

static void an_end_is_noticed(void)
{
    CHECK(right_of(faulty_cycle_1k, ENDS, false) < SOME);
    CHECK(right_of(faulty_batch_4k, ENDS, false) < SOME);
}

static const test_case cases[] = {
    TEST(blocks_that_are_apart_are_right),
    TEST(a_block_that_is_taken_twice_is_noticed),
    TEST(blocks_that_overlap_are_noticed),
    TEST(a_content_that_is_gone_is_noticed),
    TEST(an_end_is_noticed),
};
TEST_MAIN(cases)
