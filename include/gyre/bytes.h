/* SPDX-License-Identifier: Apache-2.0
 *
 * bytes: a run of bytes that several holders share without copying.
 *
 * A gyre_bytes is a small value: where the bytes are, how many, and who keeps them alive. Cloning
 * and slicing make another value for the same bytes in constant time, whatever their number. Each
 * value is released once; the last release gives the bytes back to where they came from. Shared
 * bytes never change: only the sole holder of a block may write it (gyre_bytes_writable).
 *
 * Threads   values of the same bytes may be used by different threads, each value by one at a time.
 *           Edge: [bytes-last].
 * Owns      the bytes, through their owner's count of references.
 * Not here  pools (gyre/pool.h).
 */
#ifndef GYRE_BYTES_H
#define GYRE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/atomic.h"
#include "gyre/common.h"
#include "gyre/memory.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* What keeps bytes alive. Visible so that clone and release inline; private otherwise. */
typedef struct gyre_bytes_owner {
    uint64_t references; /* shared */
    void (*end)(struct gyre_bytes_owner *owner);
} gyre_bytes_owner;

/* Zero is the empty run, which needs no release but may have one. */
typedef struct gyre_bytes {
    const unsigned char *data;
    size_t size;
    gyre_bytes_owner *owner; /* NULL: the bytes live for ever */
} gyre_bytes;

/* A copy of `size` bytes. GYRE_NO_MEMORY, GYRE_INVALID for NULL data with a size or half an
 * allocator, GYRE_UNAVAILABLE in a forked child. `allocator` may be NULL: malloc. Size 0 gives the
 * empty run. Thread-safe; may block in the allocator; not for signal handlers; so are the next two.
 */
GYRE_API GYRE_MUST_USE gyre_status gyre_bytes_copy(const gyre_allocator *allocator,
                                                   const void *data, size_t size,
                                                   gyre_bytes *out_bytes);

/* `size` bytes from `memory` (NULL: gyre_memory_host), aligned to 64, not zeroed; the sole holder
 * may fill them through gyre_bytes_writable. The source must outlive them. What the source's `take`
 * returns, GYRE_INVALID for a source without its functions, GYRE_UNAVAILABLE in a forked child. */
GYRE_API GYRE_MUST_USE gyre_status gyre_bytes_take(const gyre_memory *memory, size_t size,
                                                   gyre_bytes *out_bytes);

/* The caller's own bytes, which must stay as they are until `release` is called: once, by whichever
 * thread releases last. NULL for bytes that live for ever. On failure (GYRE_NO_MEMORY,
 * GYRE_INVALID for NULL data with a size, GYRE_UNAVAILABLE in a forked child) the callback is not
 * called. */
GYRE_API GYRE_MUST_USE gyre_status gyre_bytes_wrap(const void *data, size_t size,
                                                   void (*release)(void *user, const void *data,
                                                                   size_t size),
                                                   void *user, gyre_bytes *out_bytes);

/* Another value for the same bytes; constant time. Thread-safe, never blocks, may be called from a
 * signal handler. */
GYRE_MUST_USE GYRE_INLINE gyre_bytes gyre_bytes_clone(const gyre_bytes *bytes)
{
    const gyre_bytes clone = *bytes; /* read first: what follows the count waits for it */

    /* relaxed: a new reference is made from one that is held, so nothing can end meanwhile */
    if (clone.owner)
        (void)gyre_add_relaxed(&clone.owner->references, 1);
    return clone;
}

/* `size` of the bytes from `offset` on, as another value that keeps the whole block alive; constant
 * time. GYRE_INVALID when they do not lie inside. Thread-safe, never blocks, not for signal
 * handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_bytes_slice(const gyre_bytes *bytes, size_t offset,
                                                    size_t size, gyre_bytes *out_slice);

/* The end of an owner without references. Not for callers. */
GYRE_API void gyre_bytes_end_(gyre_bytes_owner *owner);

/* Ends this value and makes it empty. Thread-safe; blocks as the owner's release does. */
GYRE_INLINE void gyre_bytes_release(gyre_bytes *bytes)
{
    gyre_bytes_owner *const owner = bytes->owner;

    /* Before the count, since the value may lie in what its end gives back. From the end, since the
     * count waits for these stores and for those that made the value, which went the other way: one
     * that lies across two lines changes lines once less. */
    bytes->owner = NULL;
    bytes->size = 0;
    bytes->data = NULL;
    /* release [bytes-last]: pairs with the acquire in gyre_bytes_end_. What this holder read is
     * read before the last one gives the bytes back. */
    if (owner && gyre_subtract_release(&owner->references, 1) == 1)
        gyre_bytes_end_(owner);
}

/* The bytes to write to, when this value is their only holder and they came from gyre_bytes_copy or
 * gyre_bytes_take with memory the CPU can reach; NULL otherwise. Borrowed until the value is cloned
 * or released. Thread-safe, never blocks, may be called from a signal handler. */
GYRE_API GYRE_MUST_USE unsigned char *gyre_bytes_writable(const gyre_bytes *bytes);

GYRE_END_DECLS

#endif
