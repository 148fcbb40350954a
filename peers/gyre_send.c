/* SPDX-License-Identifier: Apache-2.0
 *
 * gyre_send: sends of commands to ALL with Gyre's channel, as its users would.
 *
 * One subscriber never reads, and the channel drops the oldest: what the subscriber could still
 * receive is taken out and compared between the samples. A small command is a synchronisation; one
 * of 128 bytes is a launch with its parameters inside; one of 1 MiB shares bytes that were built
 * once. The command is built in the timed loop, as the peers build theirs.
 *
 * Threads   as peers.h says.
 * Owns      a channel, a subscriber and bytes for each way.
 */
#include <stdlib.h>
#include <string.h>

#include "gyre/bytes.h"
#include "gyre/channel.h"
#include "gyre/clock.h"
#include "gyre/command.h"
#include "peers/gyre_step.h"
#include "peers/peers.h"

enum { LARGE = 1 << 20 };

typedef struct sending {
    gyre_channel *channel;
    gyre_subscriber *subscriber;
    gyre_bytes large;                           /* built once, cloned for each send */
    unsigned char parameters[PEERS_PARAMETERS]; /* copied into each launch */
    uint64_t next;                              /* the number of the next command */
    uint64_t unsettled;                         /* sent since the last settle */
    uint64_t missed;                            /* by the subscriber, up to then */
    uint64_t taken;                             /* shared; hand-overs that arrived */
} sending;

static void sending_destroy(void *state)
{
    sending *s = state;

    gyre_subscriber_destroy(s->subscriber);
    gyre_channel_destroy(s->channel);
    gyre_bytes_release(&s->large);
    free(s);
}

static void *sending_create(void)
{
    sending *s = calloc(1, sizeof *s);
    gyre_channel_options options = gyre_command_channel();
    unsigned char *bytes = malloc(LARGE);
    gyre_status status = GYRE_NO_MEMORY;

    options.delivery = GYRE_DELIVER_ALL;
    options.when_full = GYRE_FULL_DROP_OLDEST;
    options.capacity = PEERS_CHANNEL;
    if (s && bytes) {
        peers_fill_pattern(bytes, LARGE);
        memcpy(s->parameters, bytes, PEERS_PARAMETERS);
        status = gyre_bytes_copy(NULL, bytes, LARGE, &s->large);
    }
    if (status == GYRE_OK)
        status = gyre_channel_create(&options, &s->channel);
    if (status == GYRE_OK)
        status = gyre_subscriber_create(s->channel, &s->subscriber);
    free(bytes);
    if (status == GYRE_OK)
        return s;
    if (s)
        sending_destroy(s);
    return NULL;
}

typedef bool build(sending *s, uint64_t number, gyre_command *command);

static inline bool build_small(sending *s, uint64_t number, gyre_command *command)
{
    (void)s;
    command->kind = GYRE_COMMAND_SYNCHRONIZE;
    command->stream = (uint32_t)number;
    return true;
}

static inline bool build_128(sending *s, uint64_t number, gyre_command *command)
{
    static const uint32_t grid[3] = {64, 1, 1}, block[3] = {256, 1, 1};

    memcpy(s->parameters, &number, sizeof number);
    return gyre_command_launch(7, grid, block, s->parameters, PEERS_PARAMETERS, command) == GYRE_OK;
}

static inline bool build_1mib(sending *s, uint64_t number, gyre_command *command)
{
    command->kind = GYRE_COMMAND_TO_DEVICE;
    command->stream = 0;
    command->as.to_device.buffer = 7;
    command->as.to_device.offset = number;
    command->as.to_device.data = gyre_bytes_clone(&s->large);
    return true;
}

static inline bool send_one(sending *s, uint64_t number, build *as)
{
    gyre_command command;

    return as(s, number, &command) &&
           gyre_channel_send(s->channel, 0, &command, gyre_command_size(&command), GYRE_NEVER) ==
               GYRE_OK;
}

static inline uint64_t send_many(sending *s, const peers_turn *turn, build *as)
{
    uint64_t right = 0;

    for (uint64_t i = 0; i < turn->count; i++)
        right += send_one(s, s->next++, as);
    s->unsettled += turn->count;
    return right;
}

static uint64_t send_small(void *state, peers_turn *turn)
{
    return send_many(state, turn, build_small);
}

static uint64_t send_128(void *state, peers_turn *turn)
{
    return send_many(state, turn, build_128);
}

static uint64_t send_1mib(void *state, peers_turn *turn)
{
    return send_many(state, turn, build_1mib);
}

/* Whether what arrived is the command of that number; `whole`: to the last byte of it. */
static bool is_command(const sending *s, gyre_command *command, uint64_t number, bool whole)
{
    unsigned char expected[PEERS_PARAMETERS];
    bool right;

    switch (command->kind) {
    case GYRE_COMMAND_SYNCHRONIZE:
        return command->stream == (uint32_t)number;
    case GYRE_COMMAND_LAUNCH:
        memcpy(expected, s->parameters, sizeof expected);
        memcpy(expected, &number, sizeof number);
        return command->as.launch.parameters_size == PEERS_PARAMETERS &&
               memcmp(command->as.launch.parameters.inline_bytes, expected, sizeof expected) == 0;
    case GYRE_COMMAND_TO_DEVICE:
        right = command->as.to_device.offset == number &&
                command->as.to_device.data.data == s->large.data &&
                command->as.to_device.data.size == LARGE;
        if (whole && right)
            right = peers_is_pattern(command->as.to_device.data.data, LARGE);
        gyre_bytes_release(&command->as.to_device.data);
        return right;
    default:
        return false;
    }
}

static bool send_settle(void *state, peers_account *out_account)
{
    gyre_channel_statistics statistics = {.struct_size = sizeof statistics};
    sending *s = state;
    uint64_t received = 0;
    bool right = true;
    gyre_command command;

    if (gyre_subscriber_describe(s->subscriber, &statistics) != GYRE_OK)
        return false;
    while (gyre_subscriber_try_receive(s->subscriber, &command, NULL) == GYRE_OK) {
        right = is_command(s, &command, s->next - statistics.queued + received, false) && right;
        received++;
    }
    *out_account = (peers_account){s->unsettled, received, statistics.dropped - s->missed};
    s->missed = statistics.dropped;
    s->unsettled = 0;
    return right && received == statistics.queued &&
           out_account->sent == received + out_account->lost;
}

/* Role 1 sends, role 0 receives and compares to the last byte; one at a time, so none is lost. */
static inline uint64_t send_over(sending *s, const peers_turn *turn, build *as)
{
    const uint64_t first = gyre_load_relaxed(&s->taken); /* relaxed: it moves after a send only */
    uint64_t right = 0;
    gyre_command command;

    for (uint64_t i = 0; i < turn->count; i++) {
        if (turn->role == 1) {
            if (!send_one(s, first + i, as) || !peers_reached(&s->taken, first + i + 1))
                break;
        } else {
            if (gyre_subscriber_receive(s->subscriber, &command, NULL, GYRE_NEVER) != GYRE_OK)
                break;
            right += is_command(s, &command, first + i, true);
            peers_step(&s->taken, first + i + 1);
        }
    }
    return right;
}

static uint64_t send_small_over(void *state, peers_turn *turn)
{
    return send_over(state, turn, build_small);
}

static uint64_t send_128_over(void *state, peers_turn *turn)
{
    return send_over(state, turn, build_128);
}

static uint64_t send_1mib_over(void *state, peers_turn *turn)
{
    return send_over(state, turn, build_1mib);
}

static const peers_way ways[] = {
    {"send_small", "gyre_channel ALL", "100", "drop oldest", "100", false, NULL, sending_create,
     send_small, send_small_over, send_settle, sending_destroy},
    {"send_128", "gyre_channel ALL", "100", "drop oldest", "100", false, NULL, sending_create,
     send_128, send_128_over, send_settle, sending_destroy},
    {"send_1mib_prebuilt", "gyre_channel ALL", "100", "drop oldest", "100", false, NULL,
     sending_create, send_1mib, send_1mib_over, send_settle, sending_destroy},
};

const peers_library peers_gyre_send = {"Gyre", PEERS_GYRE_VERSION, PEERS_GYRE, ways,
                                       sizeof ways / sizeof ways[0]};
