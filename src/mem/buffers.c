/* SPDX-License-Identifier: Apache-2.0
 *
 * buffers: a table of places, each with a word that says whose it is and who is in. See
 * gyre/buffers.h.
 *
 * A place's word is a generation, odd while there is a buffer, and a lock: how many read, whether
 * one writes, whether somebody sleeps. So one compare-and-swap finds out that an id is still good
 * and enters, and one that deallocates makes the id stale:
 *
 *     free g --allocate--> g + 1 --read--> g + 1, n readers --leave--> g + 1
 *     g + 1 --write--> g + 1, alone --leave--> g + 1        g + 1 --deallocate--> free g + 2
 *
 * Who cannot enter looks for a while, then marks the word and sleeps on it; with that mark nobody
 * else enters, until the last who leaves takes it away and wakes all. So those who write and
 * deallocate get their turn however many read. A place whose generations are used up is never
 * used again; another takes its part.
 *
 * Free places are a stack, whose top has a tag that changes with every pop. Places are
 * made in chunks that stay where they are until the end, so looking one up needs no lock, and a
 * place that was taken away in the middle of a pop may still be read.
 *
 * Threads   any. Edges: [buffer-enter], [buffer-free], [buffer-chunk], [buffer-size];
 *           tests/models/buffers.pml is the lock for spin.
 * Owns      the chunks, the blocks of buffers, and the pool unless it is the caller's.
 */
#include "mem/buffers.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "base/wait.h"
#include "gyre/clock.h"

enum {
    INDEX_MASK = GYRE_BUFFERS_MOST - 1,
    DEFAULT_COUNT = 65536,
    LOOKS = 64, /* at a word, before sleeping: about as long as others copy some KB */
};

/* What is added to the word by who reads, who writes and who deallocates, which makes it the next
 * generation's: then the place is in nobody's reach until it is pushed. */
#define TO_READ UINT64_C(1)
#define TO_WRITE GYRE_BUFFER_ALONE
#define TO_END GYRE_BUFFER_LIVE

/* Of the stack's top: the index + 1 below, the tag above. */
#define TOP_MASK ((UINT64_C(1) << 25) - 1)
#define TAG_ONE (TOP_MASK + 1)

_Static_assert(sizeof(gyre_buffer_place) == 64, "a place is a line");
_Static_assert(GYRE_BUFFER_LIVE == GYRE_BUFFERS_MOST, "an id's index is below its generation");
_Static_assert(GYRE_BUFFERS_FIRST << (GYRE_BUFFERS_CHUNKS - 1) == GYRE_BUFFERS_MOST,
               "the chunks hold all places");

/* In which chunk an index is. */
static uint32_t chunk_of(uint32_t index)
{
    return 31 - (uint32_t)__builtin_clz(index / GYRE_BUFFERS_FIRST * 2 | 1);
}

/* The first index of a chunk: as many as there are before. */
static uint32_t chunk_start(uint32_t chunk)
{
    return (GYRE_BUFFERS_FIRST << chunk) / 2 & ~(uint32_t)(GYRE_BUFFERS_FIRST - 1);
}

static uint32_t chunk_count(uint32_t chunk)
{
    return chunk == 0 ? GYRE_BUFFERS_FIRST : chunk_start(chunk);
}

gyre_buffer_place *gyre_buffers_place(const gyre_buffers *buffers, uint32_t index)
{
    const uint32_t chunk = chunk_of(index);
    /* acquire [buffer-chunk]: pairs with the release in make_place. The places are zeroed. */
    gyre_buffer_place *const places =
        atomic_load_explicit(&buffers->chunks[chunk], memory_order_acquire);

    return places ? &places[index - chunk_start(chunk)] : NULL;
}

gyre_status gyre_buffers_create(const gyre_buffers_options *options, gyre_buffers **out_buffers)
{
    gyre_buffers_options o;
    gyre_buffers *buffers;
    gyre_status status;
    void *block;

    *out_buffers = NULL;
    status = GYRE_OPTIONS_READ(o, options);
    if (status == GYRE_OK)
        status = gyre_process_use();
    if (status == GYRE_OK)
        status = gyre_allocator_check(o.allocator);
    if (status == GYRE_OK && o.most_count > GYRE_BUFFERS_MOST)
        status = gyre_fail(GYRE_INVALID, "buffers: %u at one time; at most %d", o.most_count,
                           GYRE_BUFFERS_MOST);
    if (status == GYRE_OK && o.pool && !(gyre_pool_memory(o.pool)->reach & GYRE_MEMORY_HOST))
        status = gyre_fail(GYRE_UNSUPPORTED, "buffers: the host cannot reach the pool's memory, %s",
                           gyre_pool_memory(o.pool)->name);
    if (status == GYRE_OK)
        status = gyre_alloc(o.allocator, 1, sizeof *buffers, &block);
    if (status != GYRE_OK)
        return status;
    buffers = block;
    pthread_mutex_init(&buffers->lock, NULL);
    buffers->most_count = o.most_count ? o.most_count : DEFAULT_COUNT;
    if (o.allocator)
        buffers->allocator = *o.allocator;
    if (!o.pool)
        status = gyre_pool_create(&(gyre_pool_options){.struct_size = sizeof(gyre_pool_options),
                                                       .allocator = o.allocator,
                                                       .name = "buffers"},
                                  &buffers->own_pool);
    if (status != GYRE_OK) {
        gyre_buffers_destroy(buffers);
        return status;
    }
    buffers->pool = o.pool ? o.pool : buffers->own_pool;
    *out_buffers = buffers;
    return GYRE_OK;
}

/* Takes a free place off the stack; NULL when there is none. */
static gyre_buffer_place *pop(gyre_buffers *buffers, uint32_t *out_index)
{
    /* acquire [buffer-free]: pairs with the release in push. What its last user did to the place is
     * done, and `next` is what was pushed. */
    uint64_t top = atomic_load_explicit(&buffers->free, memory_order_acquire);

    while (top & TOP_MASK) {
        gyre_buffer_place *const place =
            gyre_buffers_place(buffers, (uint32_t)(top & TOP_MASK) - 1);
        /* relaxed: if another has taken the place, the tag says so */
        const uint32_t next = atomic_load_explicit(&place->next, memory_order_relaxed);

        if (atomic_compare_exchange_weak_explicit(&buffers->free, &top,
                                                  (top & ~TOP_MASK) + TAG_ONE + next,
                                                  memory_order_acquire, memory_order_acquire)) {
            *out_index = (uint32_t)(top & TOP_MASK) - 1;
            return place;
        }
    }
    return NULL;
}

static void push(gyre_buffers *buffers, gyre_buffer_place *place, uint32_t index)
{
    /* relaxed: the swap checks it */
    uint64_t top = atomic_load_explicit(&buffers->free, memory_order_relaxed);

    do {
        /* relaxed: published by the swap */
        atomic_store_explicit(&place->next, (uint32_t)(top & TOP_MASK), memory_order_relaxed);
        /* release [buffer-free]: pairs with the acquires in pop */
    } while (!atomic_compare_exchange_weak_explicit(&buffers->free, &top,
                                                    (top & ~TOP_MASK) + index + 1,
                                                    memory_order_release, memory_order_relaxed));
}

/* A place that was never used, with the lock held. */
static gyre_status make_place(gyre_buffers *buffers, uint32_t *out_index)
{
    /* relaxed, as all of `made`: written with the lock held, otherwise only a limit */
    const uint32_t index = atomic_load_explicit(&buffers->made, memory_order_relaxed);
    const uint32_t chunk = chunk_of(index);
    gyre_status status;
    void *places;

    if (index - buffers->retired == buffers->most_count || index == GYRE_BUFFERS_MOST)
        return GYRE_AGAIN;
    if (index == chunk_start(chunk) && !gyre_buffers_place(buffers, index)) {
        status = gyre_alloc(gyre_allocator_kept(&buffers->allocator), chunk_count(chunk),
                            sizeof(gyre_buffer_place), &places);
        if (status != GYRE_OK)
            return status;
        /* release [buffer-chunk]: pairs with the acquire in gyre_buffers_place */
        atomic_store_explicit(&buffers->chunks[chunk], places, memory_order_release);
    }
    atomic_store_explicit(&buffers->made, index + 1, memory_order_relaxed);
    *out_index = index;
    return GYRE_OK;
}

GYRE_APART static gyre_status make_place_locked(gyre_buffers *buffers,
                                                gyre_buffer_place **out_place, uint32_t *out_index)
{
    gyre_status status;

    pthread_mutex_lock(&buffers->lock);
    status = make_place(buffers, out_index);
    pthread_mutex_unlock(&buffers->lock);
    if (status == GYRE_OK)
        *out_place = gyre_buffers_place(buffers, *out_index);
    return status;
}

gyre_status gyre_buffer_allocate(gyre_buffers *buffers, size_t size, gyre_buffer_content content,
                                 uint64_t *out_id)
{
    gyre_status status = gyre_process_check();
    gyre_buffer_place *place;
    uint32_t index;
    uint64_t word;

    *out_id = 0;
    if (status != GYRE_OK)
        return status;
    if (size == 0 || (content != GYRE_BUFFER_ANY && content != GYRE_BUFFER_ZEROED))
        return gyre_fail(GYRE_INVALID, "buffers: no buffer has %zu bytes of content %d", size,
                         (int)content);
    place = pop(buffers, &index);
    if (!place)
        status = make_place_locked(buffers, &place, &index);
    if (status != GYRE_OK)
        return status;
    if (content == GYRE_BUFFER_ZEROED)
        status = gyre_pool_take_zeroed(buffers->pool, size, &place->block);
    else
        status = gyre_pool_take(buffers->pool, size, &place->block);
    if (status != GYRE_OK) {
        push(buffers, place, index);
        return status;
    }
    /* release [buffer-size]: pairs with the acquire in gyre_buffer_size, after which the word has
     * at least the generation that it got before this */
    atomic_store_explicit(&place->size, size, memory_order_release);
    /* relaxed: a free place's word has no other writer */
    word = atomic_load_explicit(&place->word, memory_order_relaxed) + GYRE_BUFFER_LIVE;
    /* release [buffer-enter]: pairs with the acquires in enter and is_of, for those
     * who guess the id */
    atomic_store_explicit(&place->word, word, memory_order_release);
    *out_id = word | index;
    return GYRE_OK;
}

/* The place that an id names, whether or not it is still its buffer's; or NULL. */
GYRE_INLINE gyre_buffer_place *place_of(const gyre_buffers *buffers, uint64_t id)
{
    return id & GYRE_BUFFER_LIVE ? gyre_buffers_place(buffers, id & INDEX_MASK) : NULL;
}

GYRE_APART static gyre_status say_not_found(uint64_t id)
{
    return gyre_fail(GYRE_NOT_FOUND, "buffers: %#llx is not, or no longer, the id of one",
                     (unsigned long long)id);
}

/* Whether somebody may take this step now. */
GYRE_INLINE bool may_enter(uint64_t word, uint64_t step)
{
    return (word & (step == TO_READ ? GYRE_BUFFER_ALONE | GYRE_BUFFER_SOUGHT
                                    : ~GYRE_BUFFER_GENERATION)) == 0;
}

/* The half of the word that has the lock, for the futex. */
static const uint32_t *low_half(const gyre_buffer_place *place)
{
    return (const uint32_t *)(const void *)place; /* both architectures are little-endian */
}

/* Waits until it may take the step. */
GYRE_APART static gyre_status enter_otherwise(gyre_buffer_place *place, uint64_t id, uint64_t step)
{
    int looks = gyre_may_spin() ? LOOKS : 0;

    for (;;) {
        /* relaxed: the swaps check it, and a stale id is only refused */
        uint64_t word = atomic_load_explicit(&place->word, memory_order_relaxed);

        if ((word & GYRE_BUFFER_GENERATION) != (id & GYRE_BUFFER_GENERATION))
            return say_not_found(id);
        if (may_enter(word, step)) {
            /* acquire [buffer-enter]: as in enter */
            if (atomic_compare_exchange_strong_explicit(&place->word, &word, word + step,
                                                        memory_order_acquire, memory_order_relaxed))
                return GYRE_OK;
        } else if (looks > 0) {
            looks--;
            gyre_relax();
        } else if (word & GYRE_BUFFER_SOUGHT ||
                   /* relaxed: only a mark, for who takes it away */
                   atomic_compare_exchange_strong_explicit(
                       &place->word, &word, word | GYRE_BUFFER_SOUGHT, memory_order_relaxed,
                       memory_order_relaxed)) {
            gyre_futex_sleep(low_half(place), (uint32_t)(word | GYRE_BUFFER_SOUGHT), GYRE_NEVER);
        }
    }
}

/* Takes a step into the buffer of an id; then its block and size stay. */
GYRE_INLINE gyre_status enter(const gyre_buffers *buffers, uint64_t id, uint64_t step,
                              gyre_buffer_place **out_place)
{
    gyre_buffer_place *const place = place_of(buffers, id);
    uint64_t word;

    *out_place = place;
    if (!place)
        return say_not_found(id);
    /* relaxed: the swap checks it */
    word = atomic_load_explicit(&place->word, memory_order_relaxed);
    /* acquire [buffer-enter]: pairs with the releases in leave, leave_alone and allocate. What
     * others did inside is done. */
    if ((word & GYRE_BUFFER_GENERATION) != (id & GYRE_BUFFER_GENERATION) ||
        !may_enter(word, step) ||
        !atomic_compare_exchange_strong_explicit(&place->word, &word, word + step,
                                                 memory_order_acquire, memory_order_relaxed))
        return enter_otherwise(place, id, step);
    return GYRE_OK;
}

/* The last reader has left a place that somebody waits for: nobody can enter before this. */
GYRE_APART static void call_in(gyre_buffer_place *place)
{
    /* relaxed: what is inside is ordered by the leaving */
    (void)atomic_fetch_and_explicit(&place->word, ~GYRE_BUFFER_SOUGHT, memory_order_relaxed);
    gyre_futex_wake(low_half(place), UINT32_MAX);
}

GYRE_INLINE void leave(gyre_buffer_place *place)
{
    /* release [buffer-enter]: pairs with the acquire in enter, of who writes or deallocates */
    const uint64_t word = atomic_fetch_sub_explicit(&place->word, 1, memory_order_release) - 1;

    if ((word & ~GYRE_BUFFER_GENERATION) == GYRE_BUFFER_SOUGHT)
        call_in(place);
}

GYRE_INLINE void leave_alone(gyre_buffer_place *place, uint64_t id)
{
    /* release [buffer-enter]: pairs with the acquire in enter */
    if (atomic_exchange_explicit(&place->word, id & GYRE_BUFFER_GENERATION, memory_order_release) &
        GYRE_BUFFER_SOUGHT)
        gyre_futex_wake(low_half(place), UINT32_MAX);
}

/* Whether the bytes lie inside. Inside, which the caller must be. */
GYRE_INLINE gyre_status check_range(gyre_buffer_place *place, size_t offset, size_t size)
{
    /* relaxed: it stays while we are inside */
    const size_t all = atomic_load_explicit(&place->size, memory_order_relaxed);

    if (offset > all || size > all - offset) /* no sum: it may wrap */
        return gyre_fail(GYRE_INVALID, "buffers: %zu bytes from %zu on are not inside %zu", size,
                         offset, all);
    return GYRE_OK;
}

/* What can be said about a copy before the buffer is found. */
GYRE_INLINE gyre_status check_copy(const void *data, size_t size)
{
    const gyre_status status = gyre_process_check();

    if (status == GYRE_OK && !data && size > 0)
        return gyre_fail(GYRE_INVALID, "buffers: %zu bytes are to be copied, but NULL is given",
                         size);
    return status;
}

gyre_status gyre_buffer_write(gyre_buffers *buffers, uint64_t id, size_t offset, const void *data,
                              size_t size)
{
    gyre_status status = check_copy(data, size);
    gyre_buffer_place *place;

    if (status == GYRE_OK)
        status = enter(buffers, id, TO_WRITE, &place);
    if (status != GYRE_OK)
        return status;
    status = check_range(place, offset, size);
    if (status == GYRE_OK && size > 0)
        memcpy((unsigned char *)place->block + offset, data, size);
    leave_alone(place, id);
    return status;
}

gyre_status gyre_buffer_read(gyre_buffers *buffers, uint64_t id, size_t offset, void *out_data,
                             size_t size)
{
    gyre_status status = check_copy(out_data, size);
    gyre_buffer_place *place;

    if (status == GYRE_OK)
        status = enter(buffers, id, TO_READ, &place);
    if (status != GYRE_OK)
        return status;
    status = check_range(place, offset, size);
    if (status == GYRE_OK && size > 0)
        memcpy(out_data, (const unsigned char *)place->block + offset, size);
    leave(place);
    return status;
}

/* Whether the id is that of the place's buffer now. */
GYRE_INLINE bool is_of(const gyre_buffer_place *place, uint64_t id)
{
    /* acquire [buffer-enter]: pairs with the release in allocate. The size is this buffer's, or a
     * later one's. */
    return ((atomic_load_explicit(&place->word, memory_order_acquire) ^ id) &
            GYRE_BUFFER_GENERATION) == 0;
}

gyre_status gyre_buffer_size(gyre_buffers *buffers, uint64_t id, size_t *out_size)
{
    const gyre_buffer_place *const place = place_of(buffers, id);
    gyre_status status = gyre_process_check();
    size_t size = 0;

    *out_size = 0;
    if (status != GYRE_OK)
        return status;
    if (place && is_of(place, id))
        /* acquire [buffer-size]: pairs with the release in gyre_buffer_allocate. If this is the
         * size of a later buffer, then the word is later too. */
        size = atomic_load_explicit(&place->size, memory_order_acquire);
    if (size == 0 || !is_of(place, id))
        return say_not_found(id);
    *out_size = size;
    return GYRE_OK;
}

/* Instead of the place, whose generations are used up, another will be made. */
GYRE_APART static void retire(gyre_buffers *buffers)
{
    pthread_mutex_lock(&buffers->lock);
    buffers->retired++;
    pthread_mutex_unlock(&buffers->lock);
}

gyre_status gyre_buffer_deallocate(gyre_buffers *buffers, uint64_t id)
{
    gyre_status status = gyre_process_check();
    gyre_buffer_place *place;

    if (status == GYRE_OK)
        status = enter(buffers, id, TO_END, &place);
    if (status != GYRE_OK)
        return status;
    /* relaxed: nobody else is here */
    gyre_pool_give(buffers->pool, place->block,
                   atomic_load_explicit(&place->size, memory_order_relaxed));
    if ((id | ~GYRE_BUFFER_GENERATION) == UINT64_MAX) /* the last generation */
        retire(buffers);
    else
        push(buffers, place, id & INDEX_MASK);
    return GYRE_OK;
}

uint32_t gyre_buffers_count(gyre_buffers *buffers)
{
    const uint32_t made = atomic_load_explicit(&buffers->made, memory_order_relaxed);
    uint32_t count = 0;

    for (uint32_t i = 0; i < made; i++) {
        const gyre_buffer_place *const place = gyre_buffers_place(buffers, i);

        /* relaxed: it may change right afterwards */
        count += place &&
                 (atomic_load_explicit(&place->word, memory_order_relaxed) & GYRE_BUFFER_LIVE) != 0;
    }
    return count;
}

void gyre_buffers_destroy(gyre_buffers *buffers)
{
    gyre_allocator allocator;

    if (!buffers)
        return;
    /* a forked child cannot give, nor knows what another thread was about to do */
    if (gyre_process_check() == GYRE_OK) {
        for (uint32_t i = 0; i < buffers->made; i++) {
            const gyre_buffer_place *const place = gyre_buffers_place(buffers, i);

            if (place->word & GYRE_BUFFER_LIVE)
                gyre_pool_give(buffers->pool, place->block, place->size);
        }
        pthread_mutex_destroy(&buffers->lock);
    }
    for (uint32_t i = 0; i < GYRE_BUFFERS_CHUNKS; i++)
        gyre_free(gyre_allocator_kept(&buffers->allocator), buffers->chunks[i], chunk_count(i),
                  sizeof(gyre_buffer_place));
    gyre_pool_destroy(buffers->own_pool);
    allocator = buffers->allocator;
    gyre_free(gyre_allocator_kept(&allocator), buffers, 1, sizeof *buffers);
}
