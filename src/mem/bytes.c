/* SPDX-License-Identifier: Apache-2.0
 *
 * bytes: where shared bytes come from and where they go in the end. See gyre/bytes.h.
 *
 * An owner is one of three, and its `end` says which: a block (the bytes stand behind their owner,
 * in memory that the CPU reaches), apart (the bytes are where only a device reaches, the owner in
 * ordinary memory) or wrapped (the bytes are the caller's).
 *
 * Threads   any. The last holder, whichever thread that is, ends the owner: [bytes-last].
 * Owns      owners, until their count is 0.
 */
#include "gyre/bytes.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/process.h"
#include "mem/memory.h"

/* Both are compiled into callers, with clone and release. */
_Static_assert(sizeof(gyre_bytes) == 24 && offsetof(gyre_bytes, size) == 8 &&
                   offsetof(gyre_bytes, owner) == 16,
               "layout is public");
_Static_assert(sizeof(gyre_bytes_owner) == 16 && offsetof(gyre_bytes_owner, end) == 8,
               "layout is public");

/* From the owner to its bytes: the count, which holders write, has a line of its own. */
enum { HEADER = 64 };

typedef struct block {
    gyre_bytes_owner owner;
    const gyre_memory *memory; /* borrowed; NULL: the allocator's */
    gyre_allocator allocator;
    size_t block_bytes; /* header and bytes */
    size_t alignment;   /* with which the block was asked for */
} block;
_Static_assert(sizeof(block) <= HEADER, "the bytes come behind it");

typedef struct apart {
    gyre_bytes_owner owner;
    const gyre_memory *memory; /* borrowed */
    void *data;
    size_t size;
} apart;

typedef struct wrapped {
    gyre_bytes_owner owner;
    void (*release)(void *user, const void *data, size_t size);
    void *user;
    const void *data;
    size_t size;
} wrapped;

static void end_block(gyre_bytes_owner *owner)
{
    block *const b = (block *)(void *)owner;

    if (b->memory) {
        b->memory->give(b->memory, b, b->block_bytes, b->alignment);
    } else {
        const gyre_allocator allocator = b->allocator; /* it ends with the block */

        allocator.release(allocator.user, b, b->block_bytes);
    }
}

static void end_apart(gyre_bytes_owner *owner)
{
    apart *const a = (apart *)(void *)owner;

    a->memory->give(a->memory, a->data, a->size, HEADER);
    gyre_free(NULL, a, 1, sizeof *a);
}

static void end_wrapped(gyre_bytes_owner *owner)
{
    const wrapped w = *(const wrapped *)(const void *)owner;

    gyre_free(NULL, owner, 1, sizeof w);
    w.release(w.user, w.data, w.size);
}

void gyre_bytes_end_(gyre_bytes_owner *owner)
{
    /* acquire [bytes-last]: pairs with the release in gyre_bytes_release of every other holder.
     * What they read of the bytes is read, before the bytes go. */
    const uint64_t left = gyre_load_acquire(&owner->references);

    assert(left == 0);
    (void)left;
    owner->end(owner);
}

/* A block that holds `size` bytes, from the allocator or, without one, from the memory. */
static gyre_status make_block(const gyre_allocator *allocator, const gyre_memory *memory,
                              size_t alignment, size_t size, gyre_bytes *out_bytes)
{
    gyre_status status = GYRE_OK;
    size_t block_bytes;
    void *taken = NULL;
    block *b;

    if (!gyre_size_add(size, HEADER, &block_bytes) || block_bytes > PTRDIFF_MAX)
        return gyre_fail(GYRE_NO_MEMORY, "bytes: %zu of them do not fit the address space", size);
    if (allocator)
        taken = allocator->allocate(allocator->user, block_bytes, alignment);
    else
        status = memory->take(memory, block_bytes, alignment, &taken);
    if (status != GYRE_OK)
        return status;
    if (!taken)
        return gyre_fail(GYRE_NO_MEMORY, "bytes: no memory for %zu of them", size);
    b = taken;
    *b = (block){.owner = {.references = 1, .end = end_block},
                 .block_bytes = block_bytes,
                 .alignment = alignment};
    if (allocator)
        b->allocator = *allocator;
    else
        b->memory = memory;
    *out_bytes = (gyre_bytes){(unsigned char *)taken + HEADER, size, &b->owner};
    return GYRE_OK;
}

gyre_status gyre_bytes_copy(const gyre_allocator *allocator, const void *data, size_t size,
                            gyre_bytes *out_bytes)
{
    gyre_status status = gyre_process_use();

    *out_bytes = (gyre_bytes){0};
    if (status == GYRE_OK)
        status = gyre_allocator_check(allocator);
    if (status != GYRE_OK || size == 0)
        return status;
    if (!data)
        return gyre_fail(GYRE_INVALID, "bytes: %zu of them are to be copied from NULL", size);
    status = make_block(allocator, gyre_memory_host(), _Alignof(max_align_t), size, out_bytes);
    if (status == GYRE_OK)
        memcpy((unsigned char *)out_bytes->owner + HEADER, data, size);
    return status;
}

static gyre_status make_apart(const gyre_memory *memory, size_t size, gyre_bytes *out_bytes)
{
    gyre_status status;
    void *owner;
    apart *a;

    status = gyre_alloc(NULL, 1, sizeof *a, &owner);
    if (status != GYRE_OK)
        return status;
    a = owner;
    *a = (apart){{.references = 1, .end = end_apart}, memory, NULL, size};
    status = memory->take(memory, size, HEADER, &a->data);
    if (status != GYRE_OK) {
        gyre_free(NULL, a, 1, sizeof *a);
        return status;
    }
    *out_bytes = (gyre_bytes){a->data, size, &a->owner};
    return GYRE_OK;
}

gyre_status gyre_bytes_take(const gyre_memory *memory, size_t size, gyre_bytes *out_bytes)
{
    gyre_status status = gyre_process_use();

    *out_bytes = (gyre_bytes){0};
    memory = memory ? memory : gyre_memory_host();
    if (status == GYRE_OK)
        status = gyre_memory_check(memory);
    if (status != GYRE_OK || size == 0)
        return status;
    if (memory->reach & GYRE_MEMORY_HOST)
        return make_block(NULL, memory, HEADER, size, out_bytes);
    return make_apart(memory, size, out_bytes);
}

gyre_status gyre_bytes_wrap(const void *data, size_t size,
                            void (*release)(void *user, const void *data, size_t size), void *user,
                            gyre_bytes *out_bytes)
{
    gyre_status status = gyre_process_use();
    void *owner;
    wrapped *w;

    *out_bytes = (gyre_bytes){0};
    if (status == GYRE_OK && size > 0 && !data)
        status = gyre_fail(GYRE_INVALID, "bytes: %zu of them are said to be at NULL", size);
    if (status == GYRE_OK && release)
        status = gyre_alloc(NULL, 1, sizeof *w, &owner);
    if (status != GYRE_OK)
        return status;
    *out_bytes = (gyre_bytes){data, size, NULL};
    if (release) {
        w = owner;
        *w = (wrapped){{.references = 1, .end = end_wrapped}, release, user, data, size};
        out_bytes->owner = &w->owner;
    }
    return GYRE_OK;
}

gyre_status gyre_bytes_slice(const gyre_bytes *bytes, size_t offset, size_t size,
                             gyre_bytes *out_slice)
{
    *out_slice = (gyre_bytes){0};
    if (offset > bytes->size || size > bytes->size - offset) /* no sum: it may wrap */
        return gyre_fail(GYRE_INVALID, "bytes: %zu from %zu on are not inside %zu", size, offset,
                         bytes->size);
    *out_slice = gyre_bytes_clone(bytes);
    out_slice->data = offset > 0 ? out_slice->data + offset : out_slice->data; /* NULL + 0 */
    out_slice->size = size;
    return GYRE_OK;
}

unsigned char *gyre_bytes_writable(const gyre_bytes *bytes)
{
    unsigned char *const start = (unsigned char *)bytes->owner;

    if (!bytes->owner || bytes->owner->end != end_block)
        return NULL;
    /* acquire [bytes-last]: pairs with the release in gyre_bytes_release. What former holders read
     * is read before the caller writes. */
    if (gyre_load_acquire(&bytes->owner->references) != 1)
        return NULL;
    return start + (bytes->data - start);
}
