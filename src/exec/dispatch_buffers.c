/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch_buffers: device memory by number. See gyre/dispatch.h.
 *
 * A table of places; an id is a place's index below and its generation above, which is odd while
 * there is a buffer. A place whose buffer was deallocated keeps the block until the tickets that
 * every stream had then are through: only the device knows who still uses it. Those places are
 * looked through by whoever allocates or deallocates next. Not gyre/buffers.h, whose buffers the
 * host copies from and to.
 *
 * Threads   any, under the dispatcher's lock; the pool is called without it.
 * Owns      the table and the blocks.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/process.h"
#include "exec/dispatch.h"
#include "gyre/atomic.h"

enum { INDEX_BITS = 24, FIRST_ROOM = 16 };
enum { INDEX_MASK = (1 << INDEX_BITS) - 1 };

#define LAST_GENERATION ((UINT64_C(1) << (64 - INDEX_BITS)) - 1)

static uint32_t timelines(const gyre_dispatch *dispatch)
{
    return dispatch->stream_count + 1;
}

static uint64_t *tickets_of(const gyre_dispatch *dispatch, uint32_t index)
{
    return dispatch->tickets + (size_t)index * timelines(dispatch);
}

/* More places, with the lock held. */
static gyre_status grow(gyre_dispatch *dispatch)
{
    const gyre_allocator *const allocator = gyre_allocator_kept(&dispatch->allocator);
    const uint32_t room = dispatch->buffer_room ? 2 * dispatch->buffer_room : FIRST_ROOM;
    const size_t row = timelines(dispatch) * sizeof(uint64_t);
    void *buffers = NULL, *tickets = NULL;
    gyre_status status;

    if (dispatch->buffer_room > INDEX_MASK)
        return gyre_fail(GYRE_NO_MEMORY, "dispatch '%s': there are %u buffers, the most",
                         dispatch->name, dispatch->live);
    status = gyre_alloc(allocator, room, sizeof *dispatch->buffers, &buffers);
    if (status == GYRE_OK)
        status = gyre_alloc(allocator, room, row, &tickets);
    if (status != GYRE_OK) {
        gyre_free(allocator, buffers, room, sizeof *dispatch->buffers);
        return status;
    }
    if (dispatch->buffer_count > 0) {
        memcpy(buffers, dispatch->buffers, dispatch->buffer_count * sizeof *dispatch->buffers);
        memcpy(tickets, dispatch->tickets, dispatch->buffer_count * row);
    }
    gyre_free(allocator, dispatch->buffers, dispatch->buffer_room, sizeof *dispatch->buffers);
    gyre_free(allocator, dispatch->tickets, dispatch->buffer_room, row);
    dispatch->buffers = buffers;
    dispatch->tickets = tickets;
    dispatch->buffer_room = room;
    return GYRE_OK;
}

/* A place for the block, with the lock held. */
static gyre_status place(gyre_dispatch *dispatch, void *block, size_t size, uint64_t *out_id)
{
    gyre_dispatch_buffer *buffer;
    gyre_status status;
    uint32_t index;

    if (dispatch->free) {
        index = dispatch->free - 1;
        dispatch->free = dispatch->buffers[index].next;
    } else {
        status = dispatch->buffer_count == dispatch->buffer_room ? grow(dispatch) : GYRE_OK;
        if (status != GYRE_OK)
            return status;
        index = dispatch->buffer_count++;
    }
    buffer = &dispatch->buffers[index];
    buffer->generation++;
    buffer->block = block;
    buffer->size = size;
    dispatch->live++;
    dispatch->live_bytes += size;
    *out_id = buffer->generation << INDEX_BITS | index;
    return GYRE_OK;
}

/* The place of an id that is valid, or NULL; with the lock held. */
static gyre_dispatch_buffer *find(const gyre_dispatch *dispatch, uint64_t id)
{
    const uint32_t index = id & INDEX_MASK;
    const uint64_t generation = id >> INDEX_BITS;

    if (index >= dispatch->buffer_count || generation % 2 == 0 ||
        dispatch->buffers[index].generation != generation)
        return NULL;
    return &dispatch->buffers[index];
}

static gyre_status say_not_found(const gyre_dispatch *dispatch, uint64_t id)
{
    return gyre_fail(GYRE_NOT_FOUND, "dispatch '%s': %#llx is not, or no longer, a buffer's id",
                     dispatch->name, (unsigned long long)id);
}

gyre_status gyre_dispatch_find(gyre_dispatch *dispatch, uint64_t id, uint64_t offset, uint64_t size,
                               unsigned char **out_address)
{
    const gyre_dispatch_buffer *const buffer = find(dispatch, id);

    if (!buffer)
        return say_not_found(dispatch, id);
    if (offset > buffer->size || size > buffer->size - offset) /* no sum: it may wrap */
        return gyre_fail(
            GYRE_INVALID, "dispatch '%s': %llu bytes from %llu on are not inside the buffer's %zu",
            dispatch->name, (unsigned long long)size, (unsigned long long)offset, buffer->size);
    *out_address = (unsigned char *)buffer->block + offset;
    return GYRE_OK;
}

/* Whether everything is through that was submitted before the place's buffer was deallocated. */
static bool is_through(const gyre_dispatch *dispatch, uint32_t index)
{
    const uint64_t *const tickets = tickets_of(dispatch, index);

    /* acquire [stream-done]: pairs with the release in exec/health.c. The
     * device has done with the block. */
    for (uint32_t i = 0; i < dispatch->stream_count; i++)
        if (gyre_load_acquire(dispatch->lanes[i].completed) < tickets[i])
            return false;
    return gyre_load_acquire(dispatch->fills_so_far) >= tickets[dispatch->stream_count];
}

/* Takes the block of a place that need not wait any more; NULL: there is none. With the lock held.
 */
static void *take_through(gyre_dispatch *dispatch, size_t *out_size)
{
    uint32_t *link = &dispatch->waiting;

    while (*link) {
        const uint32_t index = *link - 1;
        gyre_dispatch_buffer *const buffer = &dispatch->buffers[index];

        if (is_through(dispatch, index)) {
            void *const block = buffer->block;

            *out_size = buffer->size;
            *link = buffer->next;
            buffer->block = NULL;
            if (buffer->generation < LAST_GENERATION - 1) { /* else it is never used again */
                buffer->next = dispatch->free;
                dispatch->free = index + 1;
            }
            return block;
        }
        link = &buffer->next;
    }
    return NULL;
}

/* Gives to the pool what was waiting, as far as it is through. */
static void give_waiting(gyre_dispatch *dispatch)
{
    void *block;
    size_t size = 0;

    do {
        pthread_mutex_lock(&dispatch->lock);
        block = take_through(dispatch, &size);
        pthread_mutex_unlock(&dispatch->lock);
        gyre_pool_give(dispatch->device, block, size);
    } while (block);
}

static gyre_status zero(gyre_dispatch *dispatch, void *block, size_t size)
{
    const gyre_status status = gyre_stream_fill(
        dispatch->fills, &(gyre_fill){.to = block, .pattern_size = 1, .count = size});

    return status == GYRE_OK ? gyre_stream_sync(dispatch->fills) : status;
}

gyre_status gyre_dispatch_allocate(gyre_dispatch *dispatch, size_t size,
                                   gyre_buffer_content content, uint64_t *out_id)
{
    gyre_status status = gyre_process_check();
    void *block;

    *out_id = 0;
    if (status != GYRE_OK)
        return status;
    if (size == 0 || (content != GYRE_BUFFER_ANY && content != GYRE_BUFFER_ZEROED))
        return gyre_fail(GYRE_INVALID, "dispatch '%s': no buffer has %zu bytes of content %d",
                         dispatch->name, size, (int)content);
    give_waiting(dispatch);
    status = gyre_pool_take(dispatch->device, size, &block);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&dispatch->lock);
    status = place(dispatch, block, size, out_id);
    pthread_mutex_unlock(&dispatch->lock);
    if (status != GYRE_OK) {
        gyre_pool_give(dispatch->device, block, size);
    } else if (content == GYRE_BUFFER_ZEROED) {
        status = zero(dispatch, block, size);
        if (status != GYRE_OK) {
            const uint64_t id = *out_id;

            *out_id = 0;
            (void)!gyre_dispatch_deallocate(dispatch, id); /* the fill may still be under way */
        }
    }
    return status;
}

gyre_status gyre_dispatch_address(gyre_dispatch *dispatch, uint64_t id, void **out_address)
{
    gyre_status status = gyre_process_check();
    unsigned char *address = NULL;

    *out_address = NULL;
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&dispatch->lock);
    status = gyre_dispatch_find(dispatch, id, 0, 0, &address);
    pthread_mutex_unlock(&dispatch->lock);
    if (status == GYRE_OK)
        *out_address = address;
    return status;
}

gyre_status gyre_dispatch_deallocate(gyre_dispatch *dispatch, uint64_t id)
{
    const gyre_status status = gyre_process_check();
    gyre_dispatch_buffer *buffer;

    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&dispatch->lock);
    buffer = find(dispatch, id);
    if (buffer) {
        const uint32_t index = id & INDEX_MASK;
        uint64_t *const tickets = tickets_of(dispatch, index);

        buffer->generation++;
        dispatch->live--;
        dispatch->live_bytes -= buffer->size;
        for (uint32_t i = 0; i < dispatch->stream_count; i++)
            tickets[i] = gyre_stream_ticket(dispatch->lanes[i].stream).value;
        tickets[dispatch->stream_count] = gyre_stream_ticket(dispatch->fills).value;
        buffer->next = dispatch->waiting;
        dispatch->waiting = index + 1;
    }
    pthread_mutex_unlock(&dispatch->lock);
    if (!buffer)
        return say_not_found(dispatch, id);
    give_waiting(dispatch);
    return GYRE_OK;
}

void gyre_dispatch_end_buffers(gyre_dispatch *dispatch)
{
    const gyre_allocator *const allocator = gyre_allocator_kept(&dispatch->allocator);

    /* a forked child gives nothing back */
    for (uint32_t i = 0; i < dispatch->buffer_count && gyre_process_check() == GYRE_OK; i++)
        gyre_pool_give(dispatch->device, dispatch->buffers[i].block, dispatch->buffers[i].size);
    gyre_free(allocator, dispatch->buffers, dispatch->buffer_room, sizeof *dispatch->buffers);
    gyre_free(allocator, dispatch->tickets, dispatch->buffer_room,
              timelines(dispatch) * sizeof(uint64_t));
}
