/* SPDX-License-Identifier: Apache-2.0
 *
 * pool: blocks of memory that are kept for the next who needs such a size, over any source.
 *
 * A size is rounded up to its class: multiples of 64 up to 256 bytes, then four classes to each
 * doubling, up to 64 MiB; what is larger goes to the source and back. Each thread has a stack of
 * blocks of each class: take and give move its top, in line, and where the size is a constant so is
 * the class. A stack that is empty gets a batch from the pool and one that is full leaves a batch
 * there, so blocks that one thread takes and another gives come home in batches.
 *
 * A block carries nothing of its own, neither before nor inside it: it may be memory that the host
 * cannot reach. So who gives a block says how large it is.
 *
 * Threads   any; a block may be given by another thread than took it. Nothing here is for signal
 *           handlers. A forked child may only destroy.
 * Owns      what it drew from its source, until trimmed or destroyed.
 * Not here  sources (gyre/memory.h), blocks by number (gyre/buffers.h), shared bytes
 *           (gyre/bytes.h, which can take theirs from gyre_pool_memory).
 */
#ifndef GYRE_POOL_H
#define GYRE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/memory.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_pool gyre_pool;

enum {
    GYRE_POOL_ALIGNMENT = 64,         /* of every block */
    GYRE_POOL_ALIGNMENT_MOST = 4096,  /* that can be asked for */
    GYRE_POOL_LARGEST = 64 * 1048576, /* size that is kept for reuse */
};

/* Whether the pool remembers who took each block. Then it finds blocks that are given twice, given
 * with another size, never taken from it, or written after they were given: it says so, with the
 * places, and aborts. Blocks that are out at the end are logged with the place of taking. Every
 * take and give is slower. */
typedef enum gyre_pool_track {
    GYRE_POOL_TRACK_DEFAULT = 0, /* as GYRE_POOL_TRACK says: by default in debug builds only */
    GYRE_POOL_TRACK_ON = 1,
    GYRE_POOL_TRACK_OFF = 2, /* AddressSanitizer still tracks, and poisons what is not out */
} gyre_pool_track;

/* Zero means default, everywhere. */
typedef struct gyre_pool_options {
    size_t struct_size;              /* sizeof(gyre_pool_options): lets the struct grow */
    const gyre_allocator *allocator; /* for the pool's own books; copied; default malloc */
    const gyre_memory *source;       /* borrowed, outlives the pool; default gyre_memory_host() */
    const char *name;                /* for logs; copied, cut to 31 bytes; default "pool" */
    size_t limit_bytes;              /* drawn from the source at most; default: no limit */
    size_t thread_bytes; /* kept by a thread of one class at most, in two halves, besides the block
                          * given last; a class of which no half holds one is kept by the pool
                          * alone; default 16 MiB */
    uint32_t prefault;   /* 1: every page is written once when it is drawn, not when it is used */
    gyre_pool_track track;
} gyre_pool_options;

/* An empty pool. GYRE_INVALID for a limit that not even the smallest class fits, for half an
 * allocator or source, and for prefault over memory that the host cannot reach; GYRE_NO_MEMORY;
 * GYRE_UNAVAILABLE in a forked child. Thread-safe, may block in the allocator. */
GYRE_API GYRE_MUST_USE gyre_status gyre_pool_create(const gyre_pool_options *options,
                                                    gyre_pool **out_pool);

/* A block of at least `size` bytes, aligned to 64, with any content. GYRE_INVALID for size 0,
 * GYRE_AGAIN at the pool's limit (the detail is not written), what the source says when it has no
 * more, GYRE_NO_MEMORY when the allocator has none for the books, GYRE_UNAVAILABLE in a forked
 * child. May block when its thread has none: in a lock held for a moment, or in the source. */
GYRE_MUST_USE GYRE_INLINE gyre_status gyre_pool_take(gyre_pool *pool, size_t size,
                                                     void **out_block);

/* The same, zeroed. GYRE_UNSUPPORTED for memory that the host cannot reach. */
GYRE_API GYRE_MUST_USE gyre_status gyre_pool_take_zeroed(gyre_pool *pool, size_t size,
                                                         void **out_block);

/* The same, aligned to `alignment`, a power of two up to 4096; GYRE_INVALID otherwise. */
GYRE_MUST_USE GYRE_INLINE gyre_status gyre_pool_take_aligned(gyre_pool *pool, size_t size,
                                                             size_t alignment, void **out_block);

/* Gives a block back, with the size it was taken with. NULL is a no-op. Its bytes are the pool's
 * from here on. May block as take does. */
GYRE_INLINE void gyre_pool_give(gyre_pool *pool, void *block, size_t size);

/* The same for a block that was taken with an alignment. */
GYRE_INLINE void gyre_pool_give_aligned(gyre_pool *pool, void *block, size_t size,
                                        size_t alignment);

/* When somebody else, such as a device, is done with a block: when *completed, which only grows
 * and is moved with release stores, has come to `value`. */
typedef struct gyre_ticket {
    const uint64_t *completed; /* borrowed until a trim after that, or destroy; NULL: done */
    uint64_t value;
} gyre_ticket;

/* Gives a block that is still in use until the ticket is through: no other take returns it before.
 * GYRE_NO_MEMORY, and the block is still the caller's. Thread-safe, may block in a lock. */
GYRE_API GYRE_MUST_USE gyre_status gyre_pool_give_after(gyre_pool *pool, void *block, size_t size,
                                                        size_t alignment, gyre_ticket ticket);

/* Takes a block for work that is ordered behind the tickets of `timeline` (their `completed`), as a
 * stream orders its own: blocks given after one of those are free for it at once. Otherwise as
 * gyre_pool_take_aligned. */
GYRE_API GYRE_MUST_USE gyre_status gyre_pool_take_ordered(gyre_pool *pool, size_t size,
                                                          size_t alignment,
                                                          const uint64_t *timeline,
                                                          void **out_block);

/* Returns to the source what nobody uses: what the calling thread and the pool keep, as far as all
 * that was drawn in one piece is there. What other threads keep stays with them. The bytes that
 * went. A take that meets the limit, or a source without more, does this first. Thread-safe, may
 * block in the source. */
GYRE_API size_t gyre_pool_trim(gyre_pool *pool);

/* Exact when no other thread takes or gives meanwhile. Sizes are those of classes. */
typedef struct gyre_pool_statistics {
    size_t struct_size;     /* set by the caller: sizeof(gyre_pool_statistics) */
    uint64_t takes;         /* blocks that were taken, and of them */
    uint64_t hits;          /* those for which nothing was drawn, and */
    uint64_t misses;        /* those for which something was: takes = hits + misses */
    uint64_t refusals;      /* GYRE_AGAIN */
    uint64_t blocks_out;    /* taken and not given */
    uint64_t bytes_out;     /* those, in bytes */
    uint64_t bytes_kept;    /* by threads and the pool, ready to be taken */
    uint64_t bytes_waiting; /* for tickets */
    uint64_t bytes_drawn;   /* from the source now: out, kept, waiting, and not yet cut */
    uint64_t peak_bytes;    /* the most that bytes_drawn has been */
} gyre_pool_statistics;

/* Fills in no more than struct_size bytes. GYRE_INVALID when that is not set. Thread-safe, may
 * block in a lock. */
GYRE_API GYRE_MUST_USE gyre_status gyre_pool_describe(gyre_pool *pool,
                                                      gyre_pool_statistics *out_statistics);

/* The pool as a source of memory, for gyre_bytes_take and other pools. Borrowed until the pool is
 * destroyed. Thread-safe, never blocks. */
GYRE_API const gyre_memory *gyre_pool_memory(gyre_pool *pool);

/* Gives everything back to the source; blocks that are out, and those that wait for tickets, are
 * gone with it. No other thread may be using the pool. NULL is a no-op. In a forked child it
 * returns nothing to the source. */
GYRE_API void gyre_pool_destroy(gyre_pool *pool);

/* What follows is the way in line. Not for callers. */

enum {
    GYRE_POOL_CLASSES_ = 76, /* 64 B to 64 MiB */
    GYRE_POOL_SPREAD_ = 35,  /* from this class on, 64 KiB, blocks start at any line of a page */
    GYRE_POOL_STACKS_ = 118, /* the classes, those of 64 KiB and more again on whole pages, and */
    GYRE_POOL_NONE_ = 117,   /* a stack that is always empty and always full */
    GYRE_POOL_THREAD_POOLS_ = 8,
};

/* Blocks that a thread keeps. Only that thread writes; statistics look from others. The one given
 * last is apart: who takes right after he gave, as most do, does not wait for a count to go down
 * that has just gone up. */
typedef struct gyre_pool_stack_ {
    void *last; /* NULL: none */
    void **blocks;
    uint64_t word; /* how many there are in the low 16 bits, how many were taken above */
    uint64_t most;
} gyre_pool_stack_;

typedef struct gyre_pool_cache_ {
    gyre_pool *pool; /* NULL: destroyed meanwhile */
    gyre_pool_stack_ stacks[GYRE_POOL_STACKS_];
} gyre_pool_cache_;

/* What a pool begins with. */
typedef struct gyre_pool_front_ {
    uint32_t slot; /* of the table */
} gyre_pool_front_;

/* This thread's caches, by their pools' slots; where two pools share one, the last used. Never
 * NULL. __thread, because C++ wraps its own thread_local in a call. */
GYRE_API extern __thread gyre_pool_cache_ *gyre_pool_caches_[GYRE_POOL_THREAD_POOLS_]
    __attribute__((tls_model("initial-exec")));

GYRE_API GYRE_MUST_USE gyre_status gyre_pool_take_(gyre_pool *pool, size_t size, size_t alignment,
                                                   void **out_block);
GYRE_API void gyre_pool_give_(gyre_pool *pool, void *block, size_t size, size_t alignment);

/* The stack on which blocks of a size lie. Sizes of nothing, too large ones and alignments that
 * there are not have the one that is always empty. */
GYRE_INLINE uint32_t gyre_pool_stack_of_(size_t size, size_t alignment)
{
    uint32_t class_of_it, bits;

    if ((alignment & (alignment - 1)) != 0 || alignment - 1 >= GYRE_POOL_ALIGNMENT_MOST)
        return GYRE_POOL_NONE_; /* 0 is among the latter */
    if (alignment > GYRE_POOL_ALIGNMENT) {
        if (size > GYRE_POOL_LARGEST)
            return GYRE_POOL_NONE_;
        /* every class that a multiple of the alignment rounds up to is one itself */
        size = (size + alignment - 1) & ~(alignment - 1);
    }
    size -= 1; /* 0 becomes the largest */
    if (size >= GYRE_POOL_LARGEST)
        return GYRE_POOL_NONE_;
    if (size < 256)
        return (uint32_t)size / 64;
    bits = 63 - (uint32_t)__builtin_clzll(size); /* 8 up to 25 */
    class_of_it = (bits - 8) * 4 + ((uint32_t)(size >> (bits - 2)) & 3) + 4;
    if (alignment > GYRE_POOL_ALIGNMENT && class_of_it >= GYRE_POOL_SPREAD_)
        class_of_it += GYRE_POOL_CLASSES_ - GYRE_POOL_SPREAD_;
    return class_of_it;
}

GYRE_INLINE gyre_pool_cache_ *gyre_pool_cache_of_(gyre_pool *pool)
{
    return gyre_pool_caches_[((const gyre_pool_front_ *)(const void *)pool)->slot];
}

/* A block, or NULL. relaxed, here and below: this thread is the only writer. */
GYRE_INLINE void *gyre_pool_pop_(gyre_pool_stack_ *stack)
{
    const uint64_t word = __atomic_load_n(&stack->word, __ATOMIC_RELAXED);
    const uint32_t count = (uint16_t)word;
    void *const last = __atomic_load_n(&stack->last, __ATOMIC_RELAXED);

    if (last) {
        __atomic_store_n(&stack->last, NULL, __ATOMIC_RELAXED);
        __atomic_store_n(&stack->word, word + 0x10000, __ATOMIC_RELAXED); /* one taken */
        return last;
    }
    if (count == 0)
        return NULL;
    __atomic_store_n(&stack->word, word + 0xffff, __ATOMIC_RELAXED); /* and one less */
    return stack->blocks[count - 1];
}

/* Whether there was room. */
GYRE_INLINE bool gyre_pool_push_(gyre_pool_stack_ *stack, void *block)
{
    const uint64_t word = __atomic_load_n(&stack->word, __ATOMIC_RELAXED);
    const uint32_t count = (uint16_t)word;

    if (!__atomic_load_n(&stack->last, __ATOMIC_RELAXED) && stack->most > 0) {
        __atomic_store_n(&stack->last, block, __ATOMIC_RELAXED);
        return true;
    }
    if (count >= stack->most)
        return false;
    stack->blocks[count] = block;
    __atomic_store_n(&stack->word, word + 1, __ATOMIC_RELAXED);
    return true;
}

/* Whether this is the pool's cache. relaxed: it only ever becomes NULL, before this thread can hear
 * of another pool there. */
GYRE_INLINE bool gyre_pool_has_(const gyre_pool *pool, const gyre_pool_cache_ *cache)
{
    return __atomic_load_n(&cache->pool, __ATOMIC_RELAXED) == pool;
}

GYRE_INLINE gyre_status gyre_pool_take_aligned(gyre_pool *pool, size_t size, size_t alignment,
                                               void **out_block)
{
    gyre_pool_cache_ *const cache = gyre_pool_cache_of_(pool);

    if (gyre_pool_has_(pool, cache)) {
        *out_block = gyre_pool_pop_(&cache->stacks[gyre_pool_stack_of_(size, alignment)]);
        if (*out_block)
            return GYRE_OK;
    }
    return gyre_pool_take_(pool, size, alignment, out_block);
}

GYRE_INLINE gyre_status gyre_pool_take(gyre_pool *pool, size_t size, void **out_block)
{
    return gyre_pool_take_aligned(pool, size, GYRE_POOL_ALIGNMENT, out_block);
}

GYRE_INLINE void gyre_pool_give_aligned(gyre_pool *pool, void *block, size_t size, size_t alignment)
{
    gyre_pool_cache_ *const cache = gyre_pool_cache_of_(pool);

    if (!gyre_pool_has_(pool, cache) || !block ||
        !gyre_pool_push_(&cache->stacks[gyre_pool_stack_of_(size, alignment)], block))
        gyre_pool_give_(pool, block, size, alignment);
}

GYRE_INLINE void gyre_pool_give(gyre_pool *pool, void *block, size_t size)
{
    gyre_pool_give_aligned(pool, block, size, GYRE_POOL_ALIGNMENT);
}

GYRE_END_DECLS

#endif
