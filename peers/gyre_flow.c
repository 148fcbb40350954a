/* SPDX-License-Identifier: Apache-2.0
 *
 * gyre_flow: channels to ONE, round trips and answers with Gyre's own, as their users would.
 *
 * A round trip is gyre_call to a thread that receives and answers; both sides use the blocking
 * forms, which spin first. In round_trip_park the runner has set GYRE_SPIN to 0, so they sleep at
 * once.
 *
 * Threads   as peers.h says.
 * Owns      a channel for each way.
 */
#include <string.h>

#include "gyre/channel.h"
#include "gyre/clock.h"
#include "gyre/reply.h"
#include "peers/gyre_step.h"
#include "peers/peers.h"

/* ---- channels to ONE: send_small_one_block, and streams beside the queues */

static void *one_create(uint32_t capacity, uint32_t item_bytes)
{
    const gyre_channel_options options = {
        .struct_size = sizeof options, .capacity = capacity, .item_bytes = item_bytes};
    gyre_channel *channel;

    return gyre_channel_create(&options, &channel) == GYRE_OK ? channel : NULL;
}

static void one_destroy(void *state)
{
    gyre_channel_destroy(state);
}

static void *one_command_create(void)
{
    return one_create(PEERS_CHANNEL, sizeof(peers_item48));
}

static void *one_item_create(void)
{
    return one_create(PEERS_CAPACITY, sizeof(peers_item64));
}

static inline bool one48_push(void *state, uint32_t producer, const peers_item48 *item)
{
    (void)producer;
    return gyre_channel_send(state, 0, item, sizeof *item, GYRE_NEVER) == GYRE_OK;
}

static inline bool one48_pop(void *state, peers_item48 *item)
{
    return gyre_channel_receive(state, item, NULL, GYRE_NEVER) == GYRE_OK;
}

#define WAY one48
#define ITEM peers_item48
#include "peers/loops.h"

/* Fills the channel, timed, and empties it, untimed. */
static uint64_t one_block(void *state, peers_turn *turn)
{
    peers_item48 made[PEERS_MADE], out;
    uint64_t right = 0, elapsed_ns = 0;

    one48_make(made, 0);
    for (uint64_t i = 0; i < turn->count; i += PEERS_CHANNEL) {
        const uint64_t start_ns = peers_now_ns();

        for (uint64_t k = 0; k < PEERS_CHANNEL; k++)
            if (!one48_push(state, 0, one48_next(made, i + k)))
                return right;
        elapsed_ns += peers_now_ns() - start_ns;
        for (uint64_t k = 0; k < PEERS_CHANNEL; k++)
            right += one48_pop(state, &out) && peers_is(out.word, 6, i + k);
    }
    turn->elapsed_ns = elapsed_ns;
    return right;
}

/* The streams wait in the channel, but come up for a look at whether all is over. */
static uint64_t soon_ns(void)
{
    return gyre_clock_after_ns(100000000);
}

static inline bool one64_push(void *state, uint32_t producer, const peers_item64 *item)
{
    gyre_status status = gyre_channel_try_send(state, 0, item, sizeof *item);

    (void)producer;
    if (status == GYRE_AGAIN)
        status = gyre_channel_send(state, 0, item, sizeof *item, soon_ns());
    return status == GYRE_OK;
}

static inline bool one64_pop(void *state, peers_item64 *item)
{
    gyre_status status = gyre_channel_try_receive(state, item, NULL);

    if (status == GYRE_AGAIN)
        status = gyre_channel_receive(state, item, NULL, soon_ns());
    return status == GYRE_OK;
}

static inline uint32_t one64_push_bulk(void *state, uint32_t producer, const peers_item64 *items,
                                       uint32_t count)
{
    const gyre_batch batch = {items, sizeof *items, count, 0};
    size_t sent;

    (void)producer;
    (void)!gyre_channel_send_bulk(state, &batch, soon_ns(), &sent);
    return (uint32_t)sent;
}

static inline uint32_t one64_pop_bulk(void *state, peers_item64 *items, uint32_t count)
{
    size_t received;

    (void)!gyre_channel_receive_bulk(state, items, NULL, count, soon_ns(), &received);
    return (uint32_t)received;
}

#define WAY one64
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

/* ---- oneshot_cycle: take a ticket, answer it, receive the answer */

static void *calls_create(void)
{
    return one_create(PEERS_CHANNEL, sizeof(uint64_t));
}

static inline bool is_answer(const gyre_answer *answer, uint64_t value)
{
    return answer->status == GYRE_OK && answer->size == sizeof value &&
           memcmp(answer->bytes, &value, sizeof value) == 0;
}

static uint64_t oneshot(void *state, peers_turn *turn)
{
    uint64_t right = 0;

    for (uint64_t i = 0; i < turn->count; i++) {
        gyre_answer answer;
        gyre_reply ticket;

        if (gyre_reply_take(state, &ticket) != GYRE_OK ||
            gyre_reply_send(state, ticket, GYRE_OK, &i, sizeof i) != GYRE_OK ||
            gyre_reply_wait(state, ticket, 0, &answer) != GYRE_OK)
            return right;
        right += is_answer(&answer, i);
    }
    return right;
}

/* ---- round_trip_spin, round_trip_park */

static uint64_t serve(gyre_channel *channel, uint64_t count, bool polling)
{
    for (uint64_t i = 0; i < count; i++) {
        gyre_status status = GYRE_AGAIN;
        gyre_received received;
        uint64_t value;

        if (!polling)
            status = gyre_channel_receive(channel, &value, &received, GYRE_NEVER);
        while (status == GYRE_AGAIN)
            status = gyre_channel_try_receive(channel, &value, &received);
        if (status != GYRE_OK)
            return i;
        value++;
        if (gyre_reply_send(channel, received.reply, GYRE_OK, &value, sizeof value) != GYRE_OK)
            return i;
    }
    return count;
}

static uint64_t ask(gyre_channel *channel, uint64_t count)
{
    uint64_t right = 0;

    for (uint64_t i = 0; i < count; i++) {
        gyre_answer answer;

        if (gyre_call(channel, 0, &i, sizeof i, GYRE_NEVER, &answer) != GYRE_OK)
            return right;
        right += is_answer(&answer, i + 1);
    }
    return right;
}

static uint64_t round_trip(void *state, peers_turn *turn)
{
    return turn->role == 1 ? serve(state, turn->count, false) : ask(state, turn->count);
}

static uint64_t round_trip_polled(void *state, peers_turn *turn)
{
    return turn->role == 1 ? serve(state, turn->count, true) : ask(state, turn->count);
}

static const char channel_too[] = "Gyre's channel, where the figure is a queue's";
static const char polled_too[] = "the server polls instead of waiting";

static const peers_way ways[] = {
    {"stream_1p1c_64", "gyre_channel", "1024", "block", "1024", true, channel_too, one_item_create,
     one64_stream, one64_stream, NULL, one_destroy},
    {"stream_1p1c_64_bulk32", "gyre_channel bulk", "1024", "block", "1024", true, channel_too,
     one_item_create, one64_stream_bulk, one64_stream_bulk, NULL, one_destroy},
    {"stream_4p1c_64", "gyre_channel", "1024", "block", "1024", true, channel_too, one_item_create,
     one64_stream, one64_stream, NULL, one_destroy},
    {"round_trip_spin", "gyre_call", "100", "block", "1", true, NULL, calls_create, round_trip,
     round_trip, NULL, one_destroy},
    {"round_trip_spin", "gyre_call, polled", "100", "block", "1", true, polled_too, calls_create,
     round_trip_polled, round_trip_polled, NULL, one_destroy},
    {"round_trip_park", "gyre_call", "100", "block", "1", true, NULL, calls_create, round_trip,
     round_trip, NULL, one_destroy},
    {"send_small_one_block", "gyre_channel ONE", "100", "block", "100", true, NULL,
     one_command_create, one_block, one48_stream, NULL, one_destroy},
    {"oneshot_cycle", "gyre_reply", "64", "reject", "1", true, NULL, calls_create, oneshot,
     round_trip, NULL, one_destroy},
};

const peers_library peers_gyre_flow = {"Gyre", PEERS_GYRE_VERSION, PEERS_GYRE, ways,
                                       sizeof ways / sizeof ways[0]};
