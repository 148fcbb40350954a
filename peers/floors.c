/* SPDX-License-Identifier: Apache-2.0
 *
 * floors: the least that the machine can do for each work: its copies and its atomic operations,
 * and nothing that makes them a queue, a channel or a reference.
 *
 * Floors are named by what they do. That of round_trip_spin is the bare ping-pong beside each
 * sample (lab/bench/pingpong.h), which the runner takes anyway.
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

/* ---- one thread: copies into a ring and out of it, with so many compare-and-swaps */

enum { RING_BYTES = PEERS_CAPACITY * 256 };

typedef struct bare {
    _Alignas(128) _Atomic uint64_t tail;
    _Alignas(128) _Atomic uint64_t head;
    _Alignas(128) unsigned char ring[RING_BYTES];
} bare;

static void *bare_create(void)
{
    bare *b = aligned_alloc(128, sizeof *b);

    if (b)
        memset(b, 0, sizeof *b);
    return b;
}

/* relaxed: the floor is what the operation itself costs */
static inline bool move_on(_Atomic uint64_t *counter, uint64_t from)
{
    return atomic_compare_exchange_strong_explicit(counter, &from, from + 1, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* What a loop does for each of its items; constants at the call. */
typedef struct labour {
    size_t bytes; /* copied in */
    bool out;     /* and copied out again */
    int swaps;    /* 0, 1 (of the tail), 2 (of the head too) */
} labour;

static inline uint64_t toil(bare *b, const peers_turn *turn, labour does)
{
    uint64_t in[32] = {0}, out[32] = {0}, right = 0;
    const uint64_t tail = atomic_load(&b->tail), head = atomic_load(&b->head);

    for (uint64_t i = 0; i < turn->count; i++) {
        unsigned char *const slot = b->ring + i % PEERS_CAPACITY * does.bytes;
        bool good = true;

        in[0] = i;
        peers_keep(in);
        if (does.swaps > 0)
            good = move_on(&b->tail, tail + i);
        memcpy(slot, in, does.bytes);
        peers_keep(slot);
        if (does.out)
            memcpy(out, slot, does.bytes);
        peers_keep(out);
        if (does.swaps > 1)
            good = move_on(&b->head, head + i) && good;
        right += good && (!does.out || out[0] == i);
    }
    return right;
}

static uint64_t copy_8(void *state, peers_turn *turn)
{
    return toil(state, turn, (labour){8, true, 0});
}

static uint64_t copy_64(void *state, peers_turn *turn)
{
    return toil(state, turn, (labour){64, true, 0});
}

static uint64_t swaps_8(void *state, peers_turn *turn)
{
    return toil(state, turn, (labour){8, true, 2});
}

static uint64_t swaps_64(void *state, peers_turn *turn)
{
    return toil(state, turn, (labour){64, true, 2});
}

static uint64_t swap_48(void *state, peers_turn *turn)
{
    return toil(state, turn, (labour){PEERS_COMMAND, false, 1});
}

static uint64_t swap_176(void *state, peers_turn *turn)
{
    return toil(state, turn, (labour){PEERS_COMMAND + PEERS_PARAMETERS, false, 1});
}

static uint64_t swaps_32x8(void *state, peers_turn *turn)
{
    const uint64_t bulks = turn->count / PEERS_BULK;
    peers_turn each = {0, 1, bulks, 0};

    return toil(state, &each, (labour){sizeof(uint64_t) * PEERS_BULK, true, 2}) * PEERS_BULK;
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
static uint64_t count_and_swap(void *state, peers_turn *turn)
{
    bare *b = state;
    const uint64_t head = atomic_load(&b->head);
    uint64_t right = 0, in[6] = {0};

    for (uint64_t i = 0; i < turn->count; i++) {
        const uint64_t before = atomic_fetch_add_explicit(&b->tail, 1, memory_order_relaxed);
        const bool good = move_on(&b->head, head + i);

        in[0] = i;
        peers_keep(in);
        memcpy(b->ring + i % PEERS_CAPACITY * sizeof in, in, sizeof in);
        right +=
            (atomic_fetch_sub_explicit(&b->tail, 1, memory_order_release) == before + 1) & good;
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
    halves *h = aligned_alloc(128, sizeof *h);

    if (h)
        memset(h, 0, sizeof *h);
    return h;
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
    bed *b = aligned_alloc(128, sizeof *b);

    if (b)
        memset(b, 0, sizeof *b);
    return b;
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

#define ONE_THREAD(work, name, run)                                                                \
    {                                                                                              \
        work, name, "-", "-", "-", true, NULL, bare_create, run, NULL, NULL, free                  \
    }
#define HALVES(work)                                                                               \
    {                                                                                              \
        work, "a bare ring in two halves", "1024", "retry", "1024", true, NULL, halves_create,     \
            halves_stream, halves_stream, NULL, free                                               \
    }

static const peers_way ways[] = {
    ONE_THREAD("spsc_cycle_8", "copy in, copy out", copy_8),
    ONE_THREAD("spsc_cycle_64", "copy in, copy out", copy_64),
    ONE_THREAD("mpmc_cycle_8", "2 compare-and-swaps, 2 copies", swaps_8),
    ONE_THREAD("mpmc_cycle_64", "2 compare-and-swaps, 2 copies", swaps_64),
    ONE_THREAD("mpmc_bulk32_cycle_8", "2 compare-and-swaps, 2 copies of 32", swaps_32x8),
    HALVES("stream_1p1c_64"),
    HALVES("stream_1p1c_64_bulk32"),
    HALVES("stream_4p1c_64"),
    {"round_trip_park", "bare futex round trip", "1", "-", "1", true, NULL, bed_create, futex_trip,
     futex_trip, NULL, free},
    ONE_THREAD("send_small", "compare-and-swap, copy of 48 B", swap_48),
    ONE_THREAD("send_128", "compare-and-swap, copy of 176 B", swap_176),
    ONE_THREAD("send_1mib_prebuilt", "compare-and-swap, copy of 48 B, count twice", count_and_swap),
    ONE_THREAD("send_small_one_block", "compare-and-swap, copy of 48 B", swap_48),
    ONE_THREAD("oneshot_cycle", "2 compare-and-swaps, 2 copies", swaps_8),
    ONE_THREAD("bytes_clone_drop_1k", "count twice", count_twice),
    ONE_THREAD("bytes_clone_drop_1m", "count twice", count_twice),
};

const peers_library peers_floors = {"bare", "", PEERS_FLOOR, ways, sizeof ways / sizeof ways[0]};
