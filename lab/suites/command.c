/* SPDX-License-Identifier: Apache-2.0
 *
 * command: commands of all kinds processed one by one, and commands of four producers at once;
 * through a channel, the legacy queue with the same limit, and bare queues.
 *
 * Threads   sequential processing has one, and one that sleeps. Contention has five of the harness:
 * thread 0 consumes and checks that each producer's commands come once and in order, the others
 * produce. Owns      a fixture per case. Not here  one producer and one consumer (suites/stream.c).
 */
#include "gyre/command.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "gyre/clock.h"
#include "suites/partner.h"
#include "suites/path.h"
#include "suites/suites.h"

enum {
    ROOM = 1024,
    SEQUENCE = 100, /* commands that are processed one by one */
    BUFFER_BYTES = 4096,
    PRODUCERS = 4,
    EACH = 250, /* commands of one producer */
};

static const uint64_t PATIENCE_NS = 30000000000;

/* command_processing: what is done with a command is little, so that the way there shows */

typedef struct sequence {
    gyre_path path;
    gyre_idler idler;
    gyre_bytes buffer; /* what commands to a device carry */
    uint64_t expected; /* sum of the results of one sequence, without any path */
    uint64_t sum;
} sequence;

/* The number-th command: the four kinds by turns. */
static void build(const sequence *s, uint64_t number, gyre_command *out_command)
{
    static const uint32_t grid[3] = {64, 1, 1}, block[3] = {256, 1, 1};

    switch (number % 4) {
    case 0:
        if (gyre_command_launch(number, grid, block, &number, sizeof number, out_command) !=
            GYRE_OK)
            out_command->kind = 0; /* and the sum is wrong */
        break;
    case 1:
        out_command->kind = GYRE_COMMAND_TO_DEVICE;
        out_command->as.to_device.buffer = 7;
        out_command->as.to_device.offset = number;
        out_command->as.to_device.data = gyre_bytes_clone(&s->buffer);
        break;
    case 2:
        out_command->kind = GYRE_COMMAND_FROM_DEVICE;
        out_command->as.from_device.buffer = 7;
        out_command->as.from_device.offset = 0;
        out_command->as.from_device.size = number;
        break;
    default:
        out_command->kind = GYRE_COMMAND_SYNCHRONIZE;
    }
    out_command->stream = (uint32_t)number;
}

/* Looks at every part of the command, and ends it. */
static uint64_t process(const sequence *s, gyre_command *command)
{
    uint64_t result = command->stream;

    switch (command->kind) {
    case GYRE_COMMAND_LAUNCH:
        result += command->as.launch.kernel + command->as.launch.shared_bytes +
                  command->as.launch.parameters_size +
                  command->as.launch.parameters.inline_bytes[0];
        for (int i = 0; i < 3; i++)
            result = result * 31 + command->as.launch.grid[i] + command->as.launch.block[i];
        break;
    case GYRE_COMMAND_TO_DEVICE:
        result += command->as.to_device.buffer + command->as.to_device.offset +
                  command->as.to_device.data.size + command->as.to_device.data.data[0] +
                  (command->as.to_device.data.owner == s->buffer.owner);
        gyre_command_drop(NULL, command, gyre_command_size(command));
        break;
    case GYRE_COMMAND_FROM_DEVICE:
        result += command->as.from_device.buffer + command->as.from_device.offset +
                  command->as.from_device.size;
        break;
    default:
        break;
    }
    return result * 31 + command->kind;
}

static void sequence_teardown(void *fixture)
{
    sequence *s = fixture;

    gyre_path_close(&s->path);
    gyre_bytes_release(&s->buffer);
    gyre_idler_stop(&s->idler);
    free(s);
}

static gyre_status sequence_setup(const gyre_bench_case *c, gyre_path_kind kind, void **out_fixture)
{
    sequence *s = calloc(1, sizeof *s);
    gyre_status status;

    (void)c;
    *out_fixture = NULL;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_idler_start(&s->idler);
    if (status == GYRE_OK)
        status = gyre_bytes_take(NULL, BUFFER_BYTES, &s->buffer);
    if (status == GYRE_OK)
        status = gyre_path_open(&s->path, kind, ROOM);
    if (status != GYRE_OK) {
        sequence_teardown(s); /* accepts a half-built one */
        return status;
    }
    memset(gyre_bytes_writable(&s->buffer), 5, BUFFER_BYTES);
    for (uint64_t i = 0; i < SEQUENCE; i++) {
        gyre_command command;

        build(s, i, &command);
        s->expected += process(s, &command);
    }
    *out_fixture = s;
    return GYRE_OK;
}

GYRE_SETUP_WITH(sequence_channel_setup, sequence_setup, GYRE_PATH_CHANNEL)
GYRE_SETUP_WITH(sequence_legacy_setup, sequence_setup, GYRE_PATH_LEGACY)
GYRE_SETUP_WITH(sequence_spsc_setup, sequence_setup, GYRE_PATH_SPSC)

static void process_sequences(void *fixture, uint64_t iterations)
{
    sequence *s = fixture;
    uint64_t waited_ns = 0;

    for (uint64_t i = 0; i < iterations * SEQUENCE; i++) {
        gyre_command in, out;

        build(s, i % SEQUENCE, &in);
        if (!gyre_path_put(&s->path, &in, &waited_ns) || !gyre_path_take(&s->path, &out, 0))
            return; /* and the sum is wrong */
        s->sum += process(s, &out);
    }
}

static bool sequences_processed(const void *fixture, uint64_t iterations)
{
    const sequence *s = fixture;

    return s->sum == s->expected * iterations && gyre_bytes_writable(&s->buffer);
}

static uint64_t sequence_items(const gyre_bench_case *c)
{
    (void)c;
    return SEQUENCE;
}

/* contention */

typedef struct producer {
    alignas(128) uint64_t sent;
    uint64_t waited_ns;
} producer;

typedef struct consumer {
    alignas(128) uint64_t next[PRODUCERS]; /* what must come next of each */
    uint64_t right;
} consumer;

/* What one thread writes lies on no line that another reads. */
typedef struct crowd {
    producer producers[PRODUCERS];
    consumer consumer;
    gyre_path path;
} crowd;

static void crowd_teardown(void *fixture)
{
    crowd *c = fixture;

    gyre_path_close(&c->path);
    free(c);
}

static gyre_status crowd_setup(const gyre_bench_case *bench_case, gyre_path_kind kind,
                               void **out_fixture)
{
    crowd *c = aligned_alloc(alignof(crowd), sizeof *c);
    gyre_status status;

    (void)bench_case;
    *out_fixture = NULL;
    if (!c)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    memset(c, 0, sizeof *c);
    status = gyre_path_open(&c->path, kind, ROOM);
    if (status != GYRE_OK) {
        crowd_teardown(c);
        return status;
    }
    *out_fixture = c;
    return GYRE_OK;
}

GYRE_SETUP_WITH(crowd_channel_setup, crowd_setup, GYRE_PATH_CHANNEL)
GYRE_SETUP_WITH(crowd_legacy_setup, crowd_setup, GYRE_PATH_LEGACY)
GYRE_SETUP_WITH(crowd_mpmc_setup, crowd_setup, GYRE_PATH_MPMC)

static void produce(crowd *c, uint32_t index, uint64_t count)
{
    producer *const p = &c->producers[index];

    for (uint64_t i = 0; i < count; i++) {
        gyre_command command;

        gyre_path_number(&command, index, p->sent);
        if (!gyre_path_put(&c->path, &command, &p->waited_ns))
            return;
        p->sent++;
    }
}

/* One that was lost would be waited for in vain; then the producers must not wait either. */
static void consume(crowd *c, uint64_t count)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
    consumer *const me = &c->consumer;

    for (uint64_t i = 0; i < count; i++) {
        gyre_command command;
        uint64_t index;

        if (!gyre_path_take(&c->path, &command, deadline_ns)) {
            gyre_path_stop(&c->path);
            return;
        }
        index = command.as.from_device.buffer % PRODUCERS;
        me->right += gyre_path_is(&command, index, me->next[index]);
        me->next[index]++;
    }
}

static void crowd_run(void *fixture, uint64_t iterations)
{
    crowd *c = fixture;
    const uint32_t thread = gyre_bench_thread();

    if (thread == 0)
        consume(c, iterations * PRODUCERS * EACH);
    else
        produce(c, thread - 1, iterations * EACH);
}

static bool crowd_lost_nothing(const void *fixture, uint64_t iterations)
{
    const crowd *c = fixture;

    for (int i = 0; i < PRODUCERS; i++)
        if (c->consumer.next[i] != iterations * EACH || c->producers[i].sent != iterations * EACH)
            return false;
    return c->consumer.right == iterations * PRODUCERS * EACH;
}

static uint32_t crowd_threads(const gyre_bench_case *c)
{
    (void)c;
    return PRODUCERS + 1;
}

static uint64_t crowd_items(const gyre_bench_case *c)
{
    (void)c;
    return (uint64_t)PRODUCERS * EACH;
}

#define PROCESSED                                                                                  \
    .t0 = "before the first of 100 commands is built",                                             \
    .t1 = "after the last has come out and been processed",                                        \
    .observer = "the same thread, which adds up the results", .run = process_sequences,            \
    .check = sequences_processed, .teardown = sequence_teardown, .items = sequence_items
#define CONTENDED                                                                                  \
    .t0 = "the common start of four producers and a consumer",                                     \
    .t1 = "the consumer has the last of 250 commands of each",                                     \
    .observer = "the consumer, which checks that they come once and in order", .run = crowd_run,   \
    .check = crowd_lost_nothing, .teardown = crowd_teardown, .threads = crowd_threads,             \
    .items = crowd_items

static const gyre_bench benches[] = {
    {
        .name = "command_processing/sequential_processing_channel",
        .setup = sequence_channel_setup,
        PROCESSED,
    },
    {
        .name = "command_processing/sequential_processing_mutex",
        .setup = sequence_legacy_setup,
        PROCESSED,
    },
    {
        .name = "command_processing/floor_spsc",
        .setup = sequence_spsc_setup,
        PROCESSED,
    },
    {
        .name = "contention/multi_producer_channel",
        .setup = crowd_channel_setup,
        CONTENDED,
    },
    {
        .name = "contention/multi_producer_mutex",
        .setup = crowd_legacy_setup,
        CONTENDED,
    },
    {
        .name = "contention/bare_mpmc",
        .setup = crowd_mpmc_setup,
        CONTENDED,
    },
};

const gyre_suite gyre_suite_command = GYRE_SUITE("command", benches);
