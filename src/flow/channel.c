/* SPDX-License-Identifier: Apache-2.0
 *
 * channel: the life of a channel. See gyre/channel.h, and channel.h for the other files.
 *
 * A channel is one block of memory: the struct, its replies, its subscribers, the slots of each
 * band.
 *
 * Threads   as gyre/channel.h says. Edge: [lane-mark] for closing.
 * Owns      the block, the lock.
 */
#include "flow/channel.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/process.h"
#include "gyre/command.h"

enum {
    ALIGNMENT = 128,
    CAPACITY_MOST = 1 << 24,
    ITEM_MOST = 65520, /* with its header a slot of 64 KiB */
    SUBSCRIBERS_MOST = 1024,
};

/* Where the parts of a channel's block begin. */
typedef struct layout {
    size_t replies, subscribers, slots; /* offsets from the struct */
    size_t stride;                      /* of a slot */
    uint32_t shift;                     /* of the slots of a band */
    size_t band_bytes;
    size_t total;
} layout;

static size_t align_up(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

static uint32_t or_default(uint32_t given, uint32_t usual)
{
    return given ? given : usual;
}

static gyre_status check_number(const char *name, uint32_t given, uint32_t most)
{
    if (given <= most)
        return GYRE_OK;
    return gyre_fail(GYRE_INVALID, "channel: %s is %" PRIu32 ", at most %" PRIu32, name, given,
                     most);
}

static gyre_status check_options(gyre_channel_options *options)
{
    gyre_status status = gyre_allocator_check(options->allocator);

    options->capacity = or_default(options->capacity, 1024);
    options->item_bytes = or_default(options->item_bytes, sizeof(gyre_command));
    options->calls = or_default(options->calls, 64);
    options->subscribers = or_default(options->subscribers, 16);
    if (status == GYRE_OK)
        status = check_number("capacity", options->capacity, CAPACITY_MOST);
    if (status == GYRE_OK)
        status = check_number("item_bytes", options->item_bytes, ITEM_MOST);
    if (status == GYRE_OK)
        status = check_number("calls", options->calls, GYRE_CALLS_MOST);
    if (status == GYRE_OK)
        status = check_number("subscribers", options->subscribers, SUBSCRIBERS_MOST);
    if (status != GYRE_OK)
        return status;
    if ((unsigned)options->delivery > GYRE_DELIVER_ALL)
        return gyre_fail(GYRE_INVALID, "channel: there is no delivery %d", (int)options->delivery);
    if ((unsigned)options->when_full > GYRE_FULL_DROP_NEWEST)
        return gyre_fail(GYRE_INVALID, "channel: there is no policy %d", (int)options->when_full);
    if (options->delivery == GYRE_DELIVER_ONE)
        options->subscribers = 0;
    return GYRE_OK;
}

static gyre_status lay_out(const gyre_channel_options *options, uint32_t bands, layout *out)
{
    uint32_t least = options->capacity;
    size_t slots;

    if (options->delivery == GYRE_DELIVER_ALL && options->when_full == GYRE_FULL_DROP_OLDEST)
        least += GYRE_ERASED_AHEAD;
    for (out->shift = 0; UINT32_C(1) << out->shift < least;)
        out->shift++;
    out->stride = align_up(sizeof(gyre_slot) + options->item_bytes, 64);
    out->replies = align_up(sizeof(gyre_channel), ALIGNMENT);
    out->subscribers = align_up(out->replies + gyre_reply_table_bytes(options->calls), ALIGNMENT);
    out->slots = out->subscribers + options->subscribers * sizeof(gyre_subscriber);
    out->band_bytes = align_up(out->stride << out->shift, ALIGNMENT); /* at most 2^41 */
    if (gyre_size_multiply(out->band_bytes, bands, &slots) &&
        gyre_size_add(out->slots + ALIGNMENT, slots, &out->total))
        return GYRE_OK;
    return gyre_fail(GYRE_NO_MEMORY, "channel: %" PRIu32 " items of %" PRIu32 " bytes are too much",
                     options->capacity, options->item_bytes);
}

/* Where senders are let to before they have to look, in an empty lane. */
static uint64_t first_limit(const gyre_channel_options *options, uint64_t slots)
{
    if (options->delivery == GYRE_DELIVER_ALL)
        return options->when_full == GYRE_FULL_DROP_OLDEST ? slots : options->capacity;
    /* with bands there is `room`; and where all slots may be filled, their stamps say enough */
    return options->banded || options->capacity == slots ? UINT64_MAX : options->capacity;
}

static void fill_in_lane(gyre_lane *lane, const gyre_channel_options *options, unsigned char *slots,
                         const layout *where)
{
    lane->slots = slots;
    lane->stride = where->stride;
    lane->shift = where->shift;
    lane->mask = (UINT64_C(1) << where->shift) - 1;
    gyre_turn_init(&lane->tail, first_limit(options, lane->mask + 1), true);
    /* under DROP_OLDEST senders move it too */
    gyre_turn_init(&lane->head, UINT64_MAX, options->when_full != GYRE_FULL_DROP_OLDEST);
    for (uint64_t i = 0; options->delivery == GYRE_DELIVER_ALL && i <= lane->mask; i++)
        gyre_lane_hand_over(lane, gyre_lane_slot(lane, i), i, GYRE_LANE_OVERWRITE);
}

/* Fills in a channel over zeroed memory. */
static void fill_in(gyre_channel *channel, const gyre_channel_options *options, const layout *where)
{
    unsigned char *const base = (unsigned char *)channel;

    channel->options = *options;
    channel->options.allocator = NULL;
    if (options->allocator)
        channel->allocator = *options->allocator;
    (void)snprintf(channel->name, sizeof channel->name, "%s", options->name ? options->name : "");
    channel->options.name = channel->name;
    channel->bell = -1;
    channel->room = (uint64_t)options->capacity * GYRE_TURN_STEP;
    for (uint32_t band = 0; band < channel->band_count; band++)
        fill_in_lane(&channel->bands[band], options, base + where->slots + band * where->band_bytes,
                     where);
    gyre_reply_table_init(&channel->replies, base + where->replies, options->calls);
    channel->subscribers = (gyre_subscriber *)(void *)(base + where->subscribers);
    for (uint32_t i = 0; i < options->subscribers; i++) {
        gyre_subscriber *const subscriber = &channel->subscribers[i];

        subscriber->channel = channel;
        subscriber->bell = -1;
        subscriber->reading = GYRE_NOT_READING;
        for (uint32_t band = 0; band < GYRE_BANDS; band++)
            subscriber->cursor[band] = GYRE_NO_CURSOR;
    }
}

gyre_status gyre_channel_create(const gyre_channel_options *options, gyre_channel **out_channel)
{
    gyre_channel_options filled;
    gyre_channel *channel;
    gyre_status status;
    uint32_t bands;
    layout where = {0};
    void *block;

    *out_channel = NULL;
    status = GYRE_OPTIONS_READ(filled, options);
    if (status == GYRE_OK)
        status = check_options(&filled);
    if (status == GYRE_OK)
        status = gyre_process_use();
    if (status != GYRE_OK)
        return status;
    bands = filled.banded ? GYRE_BANDS : 1;
    status = lay_out(&filled, bands, &where);
    if (status == GYRE_OK)
        status = gyre_alloc(filled.allocator, 1, where.total, &block);
    if (status != GYRE_OK)
        return status;
    channel =
        (gyre_channel *)(void *)((unsigned char *)block + (-(uintptr_t)block & (ALIGNMENT - 1)));
    channel->block = block;
    channel->block_bytes = where.total;
    channel->band_count = bands;
    fill_in(channel, &filled, &where);
    pthread_mutex_init(&channel->lock, NULL);
    *out_channel = channel;
    return GYRE_OK;
}

void gyre_channel_close(gyre_channel *channel)
{
    for (uint32_t band = 0; band < channel->band_count; band++)
        /* [lane-mark]: from here on nothing is claimed. And before the looks for sleepers below
         * [park-handshake]. */
        gyre_turn_mark(&channel->bands[band].tail, GYRE_TURN_CLOSED);
    /* seq_cst [reply-closed]: before the look for open replies; pairs with gyre_reply_take */
    atomic_store(&channel->closed, true);
    gyre_channel_ring_bells(channel, UINT32_MAX);
    gyre_park_wake(&channel->senders, UINT32_MAX);
    gyre_reply_table_refuse_all(&channel->replies, GYRE_CLOSED);
}

/* Drops what is left in the slots. */
static void drop_all(gyre_channel *channel)
{
    if (gyre_channel_is_all(channel)) {
        for (uint32_t band = 0; band < channel->band_count; band++) {
            const gyre_lane *const lane = &channel->bands[band];

            for (uint64_t i = 0; i <= lane->mask; i++)
                gyre_channel_drop(channel, gyre_lane_slot(lane, i));
        }
    } else {
        while (gyre_one_drop_oldest(channel))
            continue;
    }
}

void gyre_channel_destroy(gyre_channel *channel)
{
    gyre_allocator allocator;

    if (!channel)
        return;
    /* A forked child must not ring the parent's bells, nor wait for locks that nobody will let go
     * of; and what another thread was moving at that moment is neither here nor there. */
    if (gyre_process_check() == GYRE_OK) {
        gyre_channel_close(channel);
        drop_all(channel);
        pthread_mutex_destroy(&channel->lock);
    }
    gyre_bell_close(&channel->bells, &channel->bell);
    allocator = channel->allocator;
    gyre_free(gyre_allocator_kept(&allocator), channel->block, 1, channel->block_bytes);
}

uint32_t gyre_channel_item_bytes(const gyre_channel *channel)
{
    return channel->options.item_bytes;
}

const char *gyre_channel_name(const gyre_channel *channel)
{
    return channel->name;
}
