/* SPDX-License-Identifier: Apache-2.0
 *
 * floors: the least that the machine can do for each work: its copies and its atomic operations,
 * and nothing that makes them a queue, a channel or a reference.
 *
 * Floors are named by what they do. That of round_trip_spin is the bare ping-pong beside each
 * sample (lab/bench/pingpong.h), which the runner takes anyway; over one line, where a channel with
 * answers has two: what those take is shown aside.
 *
 * Threads   as peers.h says.
 * Owns      a few lines of memory for each way.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "peers/peers.h"

/* ---- one thread: a ring, with or without a compare-and-swap for each side's counter */

typedef struct bare {
    _Alignas(128) _Atomic uint64_t tail;
    _Alignas(128) _Atomic uint64_t head;
    _Alignas(128) unsigned char ring[PEERS_CAPACITY * 256];
} bare;

/* Of a size that is a multiple of two lines. */
static void *zeroed(size_t size)
{
    void *const lines = aligned_alloc(128, size);

    return lines ? memset(lines, 0, size) : NULL;
}

static void *bare_create(void)
{
    return zeroed(sizeof(bare));
}

/* relaxed, all: the floor is what the operations themselves cost */
static inline uint64_t take(_Atomic uint64_t *counter, uint64_t count, bool swap)
{
    uint64_t from = atomic_load_explicit(counter, memory_order_relaxed);

    if (!swap)
        atomic_store_explicit(counter, from + count, memory_order_relaxed);
    else
        while (!atomic_compare_exchange_strong_explicit(counter, &from, from + count,
                                                        memory_order_relaxed, memory_order_relaxed))
            ;
    return from % PEERS_CAPACITY;
}

static inline __attribute__((always_inline)) bool bare_push(bare *b, const void *item, size_t size,
                                                            bool swap)
{
    memcpy(b->ring + take(&b->tail, 1, swap) * size, item, size);
    return true;
}

static inline __attribute__((always_inline)) bool bare_pop(bare *b, void *item, size_t size,
                                                           bool swap)
{
    memcpy(item, b->ring + take(&b->head, 1, swap) * size, size);
    return true;
}

static inline bool plain8_push(void *state, uint32_t producer, const peers_item8 *item)
{
    (void)producer;
    return bare_push(state, item, sizeof *item, false);
}

static inline bool plain8_pop(void *state, peers_item8 *item)
{
    return bare_pop(state, item, sizeof *item, false);
}

static inline bool plain64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    (void)producer;
    return bare_push(state, item, sizeof *item, false);
}

static inline bool plain64_pop(void *state, peers_item64 *item)
{
    return bare_pop(state, item, sizeof *item, false);
}

static inline bool swap8_push(void *state, uint32_t producer, const peers_item8 *item)
{
    (void)producer;
    return bare_push(state, item, sizeof *item, true);
}

static inline bool swap8_pop(void *state, peers_item8 *item)
{
    return bare_pop(state, item, sizeof *item, true);
}

static inline bool swap64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    (void)producer;
    return bare_push(state, item, sizeof *item, true);
}

static inline bool swap64_pop(void *state, peers_item64 *item)
{
    return bare_pop(state, item, sizeof *item, true);
}

/* The capacity is a multiple of a bulk, so none of them wraps. */
static inline uint32_t swap8_push_bulk(void *state, uint32_t producer, const peers_item8 *items,
                                       uint32_t count)
{
    bare *b = state;

    (void)producer;
    memcpy(b->ring + take(&b->tail, count, true) * sizeof *items, items, count * sizeof *items);
    return count;
}

static inline uint32_t swap8_pop_bulk(void *state, peers_item8 *items, uint32_t count)
{
    bare *b = state;

    memcpy(items, b->ring + take(&b->head, count, true) * sizeof *items, count * sizeof *items);
    return count;
}

#define WAY plain8
#define ITEM peers_item8
#include "peers/loops.h"

#define WAY plain64
#define ITEM peers_item64
#include "peers/loops.h"

#define WAY swap8
#define ITEM peers_item8
#define BULK
#include "peers/loops.h"

#define WAY swap64
#define ITEM peers_item64
#include "peers/loops.h"

/* A place, and a copy of so many bytes into it; filled ahead, as in loops.h. */
static inline __attribute__((always_inline)) uint64_t place(bare *b, const peers_turn *turn,
                                                            size_t bytes)
{
    unsigned char made[PEERS_MADE][256] = {{0}};

    for (uint64_t i = 0; i < turn->count; i++) {
        const uint64_t later = i + PEERS_AHEAD;

        memcpy(made[later % PEERS_MADE], &later, sizeof later);
        peers_keep(made);
        (void)bare_push(b, made[i % PEERS_MADE], bytes, true);
    }
    return turn->count;
}

static uint64_t place_48(void *state, peers_turn *turn)
{
    return place(state, turn, sizeof(peers_item48));
}

static uint64_t place_176(void *state, peers_turn *turn)
{
    return place(state, turn, sizeof(peers_item48) + PEERS_PARAMETERS);
}

/* One more and one less, of one counter. */
static uint64_t count_twice(void *state, peers_turn *turn)
{
    bare *b = state;
    uint64_t right = 0;

    for (uint64_t i = 0; i < turn->count; i++) {
        const uint64_t before = atomic_fetch_add_explicit(&b->tail, 1, memory_order_relaxed);

        right += atomic_fetch_sub_explicit(&b->tail, 1, memory_order_release) == before + 1;
    }
    return right;
}

/* One more, a place and its copy, one less: bytes sent by reference. */
static uint64_t count_and_place(void *state, peers_turn *turn)
{
    bare *b = state;
    peers_item48 in = {{0}};
    uint64_t right = 0;

    for (uint64_t i = 0; i < turn->count; i++) {
        const uint64_t before = atomic_fetch_add_explicit(&b->head, 1, memory_order_relaxed);

        peers_keep(&in);
        (void)bare_push(b, &in, sizeof in, true);
        right += atomic_fetch_sub_explicit(&b->head, 1, memory_order_release) == before + 1;
    }
    return right;
}

/* ---- two threads: a ring in two halves, each handed over whole */

enum { HALF = PEERS_CAPACITY / 2 };

typedef struct halves {
    struct {
        _Alignas(128) _Atomic uint64_t filled; /* items; 0: the producer's */
    } half[2];
    _Alignas(128) peers_item64 ring[2][HALF];
} halves;

static void *halves_create(void)
{
    return zeroed(sizeof(halves));
}

static bool wait_for(_Atomic uint64_t *filled, bool some, uint64_t *out_count)
{
    uint32_t tries = 0;

    /* acquire [floor-half]: pairs with the releases in halves_produce and halves_stream */
    while (((*out_count = atomic_load_explicit(filled, memory_order_acquire)) != 0) != some)
        if (!peers_wait(&tries))
            return false;
    return true;
}

static void halves_produce(halves *h, uint64_t count)
{
    uint64_t none;

    for (uint64_t i = 0, turn = 0; i < count; turn ^= 1) {
        const uint64_t some = count - i < HALF ? count - i : HALF;

        if (!wait_for(&h->half[turn].filled, false, &none))
            return;
        for (uint64_t k = 0; k < some; k++)
            for (size_t word = 0; word < 8; word++)
                h->ring[turn][k].word[word] = i + k;
        i += some;
        /* release [floor-half]: pairs with the acquire in wait_for */
        atomic_store_explicit(&h->half[turn].filled, some, memory_order_release);
    }
}

/* The first role produces for all of them. */
static uint64_t halves_stream(void *state, peers_turn *turn)
{
    halves *h = state;
    uint64_t right = 0, some;

    if (turn->role == 1)
        halves_produce(h, turn->count);
    if (turn->role >= 1)
        return turn->count;
    for (uint64_t i = 0, which = 0; i < turn->count; which ^= 1) {
        if (!wait_for(&h->half[which].filled, true, &some))
            return right;
        for (uint64_t k = 0; k < some; k++) {
            const uint64_t *word = h->ring[which][k].word;

            right += (word[0] == i + k) & (word[7] == i + k);
        }
        i += some;
        /* release [floor-half]: pairs with the acquire in wait_for */
        atomic_store_explicit(&h->half[which].filled, 0, memory_order_release);
    }
    return right;
}

/* ---- two threads: a word that both sleep on */

typedef struct bed {
    _Alignas(128) _Atomic uint32_t word; /* odd: role 1's turn */
} bed;

static void *bed_create(void)
{
    return zeroed(sizeof(bed));
}

/* seq_cst, here and in sleep_until: a change and a futex call are never reordered */
static void set_and_wake(bed *b, uint32_t value)
{
    atomic_store(&b->word, value);
    (void)syscall(SYS_futex, &b->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void sleep_until(bed *b, uint32_t value)
{
    uint32_t now;

    while ((now = atomic_load(&b->word)) != value)
        (void)syscall(SYS_futex, &b->word, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
}

static uint64_t futex_trip(void *state, peers_turn *turn)
{
    bed *b = state;

    /* both roles begin and end with the word at 0 */
    for (uint64_t i = 0; i < turn->count; i++) {
        const uint32_t ball = 2 * (uint32_t)i, last = i + 1 == turn->count;

        if (turn->role == 0) {
            set_and_wake(b, ball + 1);
            sleep_until(b, last ? 0 : ball + 2);
        } else {
            sleep_until(b, ball + 1);
            set_and_wake(b, last ? 0 : ball + 2);
        }
    }
    return turn->count;
}

/* ---- two threads: a line for the requests and one for the answers */

typedef struct two_lines {
    _Alignas(128) _Atomic uint64_t request;
    _Alignas(128) _Atomic uint64_t answer;
} two_lines;

static void *two_lines_create(void)
{
    return zeroed(sizeof(two_lines));
}

/* Waits for the value; false when the runner has given up. */
static bool comes(_Atomic uint64_t *line, uint64_t value)
{
    /* acquire [floor-line]: pairs with the releases in two_lines_trip */
    for (uint32_t looks = 1; atomic_load_explicit(line, memory_order_acquire) != value; looks++)
        if (looks % 65536 == 0 && peers_is_over())
            return false;
    return true;
}

static uint64_t two_lines_trip(void *state, peers_turn *turn)
{
    two_lines *t = state;
    /* relaxed: neither role has begun to write */
    const uint64_t first = atomic_load_explicit(&t->answer, memory_order_relaxed);

    for (uint64_t i = 1; i <= turn->count; i++) {
        /* release, both [floor-line]: pairs with the acquire in comes */
        if (turn->role == 0)
            atomic_store_explicit(&t->request, first + i, memory_order_release);
        if (!comes(turn->role == 0 ? &t->answer : &t->request, first + i))
            return i - 1;
        if (turn->role == 1)
            atomic_store_explicit(&t->answer, first + i, memory_order_release);
    }
    return turn->count;
}

#define ONE_THREAD(work, name, run)                                                                \
    {                                                                                              \
        work, name, "-", "-", "-", true, NULL, bare_create, run, NULL, NULL, free                  \
    }
#define HALVES(work)                                                                               \
    {                                                                                              \
        work, "ring in two halves", "1024", "retry", "1024", true, NULL, halves_create,            \
            halves_stream, halves_stream, NULL, free                                               \
    }

static const peers_way ways[] = {
    ONE_THREAD("spsc_cycle_8", "ring", plain8_cycle),
    ONE_THREAD("spsc_cycle_64", "ring", plain64_cycle),
    ONE_THREAD("mpmc_cycle_8", "ring, 2 compare-and-swaps", swap8_cycle),
    ONE_THREAD("mpmc_cycle_64", "ring, 2 compare-and-swaps", swap64_cycle),
    ONE_THREAD("mpmc_bulk32_cycle_8", "ring, 2 compare-and-swaps for 32", swap8_cycle_bulk),
    HALVES("stream_1p1c_64"),
    HALVES("stream_1p1c_64_bulk32"),
    HALVES("stream_4p1c_64"),
    {"round_trip_spin", "a line each way", "1", "-", "1", true,
     "what a line of requests and one of answers take, whatever the protocol", two_lines_create,
     two_lines_trip, two_lines_trip, NULL, free},
    {"round_trip_park", "futex round trip", "1", "-", "1", true, NULL, bed_create, futex_trip,
     futex_trip, NULL, free},
    ONE_THREAD("send_small", "compare-and-swap, copy of 48 B", place_48),
    ONE_THREAD("send_128", "compare-and-swap, copy of 176 B", place_176),
    ONE_THREAD("send_1mib_prebuilt", "the same of 48 B, counted twice", count_and_place),
    ONE_THREAD("send_small_one_block", "compare-and-swap, copy of 48 B", place_48),
    ONE_THREAD("oneshot_cycle", "2 compare-and-swaps, 2 copies", swap8_cycle),
    ONE_THREAD("bytes_clone_drop_1k", "counted twice", count_twice),
    ONE_THREAD("bytes_clone_drop_1m", "counted twice", count_twice),
};

const peers_library peers_floors = {"bare", "", PEERS_FLOOR, ways, sizeof ways / sizeof ways[0]};
