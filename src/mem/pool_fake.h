/* SPDX-License-Identifier: Apache-2.0
 *
 * pool_fake: sources and allocators that keep books, for the tests of the pool.
 *
 * A source remembers every piece that is out of it and looks, when one comes back, whether it was
 * one, with that size and that alignment. Pieces are aligned to what was asked and to no more. It
 * refuses when it is told to. Its pieces are of the heap, of pages, or of pages that nobody may
 * touch, as those of a device.
 *
 * Threads   any: one mutex for each.
 */
#ifndef GYRE_MEM_POOL_FAKE_H
#define GYRE_MEM_POOL_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gyre/pool.h"
#include "test.h"

#if defined(__SANITIZE_ADDRESS__)
#define FAKE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAKE_ASAN 1
#endif
#endif
#ifndef FAKE_ASAN
#define FAKE_ASAN 0
#endif
#if FAKE_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* How the cases of a test make their pools. */
static gyre_pool_track track __attribute__((unused)) = GYRE_POOL_TRACK_OFF;

#define ALSO_TRACKED(name)                                                                         \
    static void name##_when_tracked(void)                                                          \
    {                                                                                              \
        track = GYRE_POOL_TRACK_ON;                                                                \
        name();                                                                                    \
        track = GYRE_POOL_TRACK_OFF;                                                               \
    }

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define KIB ((size_t)1024)
#define MIB ((size_t)1048576)

enum { FAKE_FILLED = 2 << 20, FAKE_NEVER = -1 };

typedef enum fake_kind { FAKE_HEAP, FAKE_PAGES, FAKE_DEVICE } fake_kind;

typedef struct fake_piece {
    unsigned char *start;
    size_t size, alignment;
    void *raw; /* what it was cut from */
    size_t raw_size;
} fake_piece;

typedef struct fake_source {
    gyre_memory memory; /* what a pool gets */
    fake_kind kind;
    pthread_mutex_t mutex;
    fake_piece *pieces; /* those that are out */
    size_t count, room;
    size_t out_bytes, peak_bytes;
    size_t capacity; /* it has no more than this */
    uint64_t takes, gives;
    int64_t takes_left; /* until it refuses; FAKE_NEVER */
    gyre_status refusal;
} fake_source;

static inline gyre_status fake_refuse(fake_source *s, size_t size)
{
    if (s->takes_left == 0 || size > s->capacity - s->out_bytes)
        return s->refusal;
    if (s->takes_left > 0)
        s->takes_left--;
    return GYRE_OK;
}

/* An odd multiple of the alignment, so that nobody relies on more than was asked. */
static inline unsigned char *fake_place(void *raw, size_t alignment)
{
    const size_t twice = 2 * alignment, over = (size_t)((uintptr_t)raw % twice);

    return (unsigned char *)raw + (over <= alignment ? alignment - over : twice + alignment - over);
}

static inline gyre_status fake_take(const gyre_memory *memory, size_t size, size_t alignment,
                                    void **out_block)
{
    fake_source *s = memory->user;
    fake_piece piece = {.size = size, .alignment = alignment};
    gyre_status status;

    *out_block = NULL;
    CHECK(size > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0);
    if (size > (size_t)1 << 40) /* a malloc of the sanitizer's would rather end the process */
        return GYRE_NO_MEMORY;
    pthread_mutex_lock(&s->mutex);
    status = fake_refuse(s, size);
    if (status == GYRE_OK) {
        piece.raw_size = size + 3 * alignment;
        piece.raw = s->kind == FAKE_HEAP
                        ? malloc(piece.raw_size)
                        : mmap(NULL, piece.raw_size,
                               s->kind == FAKE_PAGES ? PROT_READ | PROT_WRITE : PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (!piece.raw || piece.raw == MAP_FAILED) /* NOLINT: a constant of the system's */
            abort();
        piece.start = fake_place(piece.raw, alignment);
        if (s->kind == FAKE_HEAP) /* nobody finds zeros by chance */
            memset(piece.start, 0xa5, size < FAKE_FILLED ? size : FAKE_FILLED);
        if (s->count == s->room) {
            s->room = s->room ? 2 * s->room : 64;
            s->pieces = realloc(s->pieces, s->room * sizeof *s->pieces);
        }
        if (!s->pieces)
            abort();
        s->pieces[s->count++] = piece;
        s->out_bytes += size;
        s->peak_bytes = s->out_bytes > s->peak_bytes ? s->out_bytes : s->peak_bytes;
        s->takes++;
        *out_block = piece.start;
    }
    pthread_mutex_unlock(&s->mutex);
    return status;
}

static inline void fake_free(const fake_source *s, const fake_piece *piece)
{
#if FAKE_ASAN
    if (s->kind != FAKE_DEVICE)
        CHECK(!__asan_region_is_poisoned(piece->start, piece->size));
#endif
    if (s->kind == FAKE_HEAP) {
        piece->start[0] = piece->start[piece->size - 1] = 0xdd;
        free(piece->raw);
    } else {
        CHECK(munmap(piece->raw, piece->raw_size) == 0);
    }
}

static inline void fake_give(const gyre_memory *memory, void *block, size_t size, size_t alignment)
{
    fake_source *s = memory->user;
    size_t i;

    pthread_mutex_lock(&s->mutex);
    for (i = s->count; i > 0 && s->pieces[i - 1].start != block;)
        i--;
    CHECK(i > 0); /* it is out */
    if (i > 0) {
        CHECK(s->pieces[i - 1].size == size && s->pieces[i - 1].alignment == alignment);
        s->out_bytes -= s->pieces[i - 1].size;
        fake_free(s, &s->pieces[i - 1]);
        s->pieces[i - 1] = s->pieces[--s->count];
    }
    s->gives++;
    pthread_mutex_unlock(&s->mutex);
}

static inline void fake_source_init(fake_source *s, fake_kind kind)
{
    *s = (fake_source){
        .memory = {sizeof(gyre_memory), "fake", GYRE_MEMORY_HOST, fake_take, fake_give, s, 0},
        .kind = kind,
        .capacity = SIZE_MAX,
        .takes_left = FAKE_NEVER,
        .refusal = GYRE_NO_MEMORY,
    };
    if (kind == FAKE_DEVICE)
        s->memory.reach = GYRE_MEMORY_DEVICE;
    pthread_mutex_init(&s->mutex, NULL);
}

/* Everything must be back. */
static inline void fake_source_fini(fake_source *s)
{
    CHECK(s->count == 0 && s->out_bytes == 0);
    for (size_t i = 0; i < s->count; i++)
        if (s->kind == FAKE_HEAP) {
#if FAKE_ASAN
            __asan_unpoison_memory_region(s->pieces[i].start, s->pieces[i].size);
#endif
            free(s->pieces[i].raw);
        }
    free(s->pieces);
    pthread_mutex_destroy(&s->mutex);
}

/* Whether these bytes lie in one piece that is out of this source. */
static inline bool fake_owns(fake_source *s, const void *block, size_t size)
{
    const uintptr_t start = (uintptr_t)block;
    bool owns = false;

    pthread_mutex_lock(&s->mutex);
    for (size_t i = 0; i < s->count && !owns; i++)
        owns = start >= (uintptr_t)s->pieces[i].start && size <= s->pieces[i].size &&
               start - (uintptr_t)s->pieces[i].start <= s->pieces[i].size - size;
    pthread_mutex_unlock(&s->mutex);
    return owns;
}

/* An allocator for the pool's books. */
typedef struct fake_books {
    pthread_mutex_t mutex;
    int64_t out_count, out_bytes;
    uint64_t calls;
    int64_t calls_left; /* until one is refused, and no other; FAKE_NEVER */
    bool broke;         /* all are refused */
} fake_books;

#define FAKE_BOOKS                                                                                 \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .calls_left = FAKE_NEVER                               \
    }

static inline void *fake_allocate(void *user, size_t size, size_t alignment)
{
    fake_books *books = user;
    void *block = NULL;
    bool refused;

    CHECK(size > 0 && alignment >= 16 && (alignment & (alignment - 1)) == 0);
    pthread_mutex_lock(&books->mutex);
    books->calls++;
    refused = books->broke || books->calls_left == 0;
    if (books->calls_left >= 0)
        books->calls_left--;
    if (!refused)
        block = aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
    if (block) {
        memset(block, 0xa5, size); /* it need not be zeroed */
        books->out_count++;
        books->out_bytes += (int64_t)size;
    }
    pthread_mutex_unlock(&books->mutex);
    return block;
}

static inline void fake_release(void *user, void *block, size_t size)
{
    fake_books *books = user;

    CHECK(block != NULL);
    pthread_mutex_lock(&books->mutex);
    books->out_count--;
    books->out_bytes -= (int64_t)size;
    free(block);
    pthread_mutex_unlock(&books->mutex);
}

/* What a class says it is: gyre/pool.h's first sentence, not its code. */
static inline size_t fake_class_bytes(size_t size, size_t alignment)
{
    size_t doubling = 256;

    if (alignment > 64)
        size = (size + alignment - 1) / alignment * alignment;
    if (size <= 256)
        return (size + 63) / 64 * 64;
    while (doubling * 2 < size)
        doubling *= 2;
    return (size + doubling / 4 - 1) / (doubling / 4) * (doubling / 4);
}

/* Marks both ends of a block with a number; every byte of a small one. */
static inline void fake_mark(void *block, size_t size, uint64_t id)
{
    unsigned char *bytes = block;
    const size_t ends = size <= 512 ? size : 128;

    CHECK(block != NULL);
    for (size_t i = 0; bytes && i < ends; i++) {
        bytes[i] = (unsigned char)(id * 167 + i);
        bytes[size - 1 - i] = (unsigned char)(id * 167 + (size <= 512 ? size - 1 - i : i));
    }
}

static inline bool fake_is_marked(const void *block, size_t size, uint64_t id)
{
    const unsigned char *bytes = block;
    const size_t ends = size <= 512 ? size : 128;

    for (size_t i = 0; bytes && i < ends; i++)
        if (bytes[i] != (unsigned char)(id * 167 + i) ||
            bytes[size - 1 - i] != (unsigned char)(id * 167 + (size <= 512 ? size - 1 - i : i)))
            return false;
    return bytes;
}

/* NULL when it cannot be, which is a failure of the test. */
static inline gyre_pool *fake_pool(fake_source *s, gyre_pool_options options)
{
    gyre_pool *pool = NULL;

    options.struct_size = sizeof options;
    options.source = &s->memory;
    CHECK(gyre_pool_create(&options, &pool) == GYRE_OK && pool);
    return pool;
}

/* NULL when there is none. */
static inline void *fake_block(gyre_pool *pool, size_t size, size_t alignment)
{
    void *block = &block;
    const gyre_status status = gyre_pool_take_aligned(pool, size, alignment, &block);

    CHECK((status == GYRE_OK) == (block != NULL));
    CHECK((uintptr_t)block % (alignment > 64 ? alignment : 64) == 0);
    return block;
}

static inline gyre_pool_statistics fake_statistics(gyre_pool *pool)
{
    gyre_pool_statistics s = {.struct_size = sizeof s};

    CHECK(gyre_pool_describe(pool, &s) == GYRE_OK);
    CHECK(s.takes == s.hits + s.misses);
    CHECK(s.bytes_drawn >= s.bytes_out + s.bytes_kept + s.bytes_waiting);
    CHECK(s.peak_bytes >= s.bytes_drawn);
    return s;
}

#endif
