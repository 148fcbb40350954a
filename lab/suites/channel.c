/* SPDX-License-Identifier: Apache-2.0
 *
 * channel: what one send costs, and one push into the mutex and deque that the seeds compare with.
 *
 * Channels to ALL drop their oldest for a subscriber that does not read, as the seeds' broadcast
 * does, and tell the loss. Channels to ONE lose nothing: they and the legacy queue are emptied
 * between the timed runs, and have room for all of one. What is sent is the same in each pair; the
 * large buffer is made beforehand, and must come out at the address where it went in.
 *
 * Threads   one, and one that sleeps.
 * Owns      a fixture per case.
 * Not here  two threads (suites/command.c, suites/reply.c), what fails (suites/channel_error.c).
 */
#include "gyre/channel.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"
#include "gyre/clock.h"
#include "gyre/command.h"
#include "suites/legacy_queue.h"
#include "suites/partner.h"
#include "suites/suites.h"

enum { BOUND = 100, LARGER_BOUND = 1000, ROOM = 1024, BUFFER_BYTES = 1 << 20, FLOOR_SLOTS = 128 };

/* synchronise; a launch with 128 bytes of parameters; a transfer of a mebibyte */
typedef enum weight { SMALL, MEDIUM, LARGE } weight;

typedef struct sends {
    gyre_channel *channel;
    gyre_subscriber *subscriber; /* to ALL */
    gyre_legacy_queue *queue;    /* instead of a channel */
    gyre_idler idler;
    weight weight;
    bool metrics;
    uint32_t capacity; /* of the channel */
    uint64_t longest;  /* run that this channel saw */
    uint64_t sent;
    uint64_t drained;  /* between the runs */
    uint64_t right;    /* of those */
    gyre_bytes buffer; /* what large commands carry */
    unsigned char parameters[GYRE_COMMAND_PARAMETERS];
} sends;

/* The number-th command, with `data` to transfer; returns its size. Nothing is cleared that is not
 * sent. */
GYRE_INLINE size_t build(const sends *s, weight w, uint64_t number, gyre_bytes data,
                         gyre_command *out_command)
{
    static const uint32_t grid[3] = {64, 1, 1}, block[3] = {256, 1, 1};

    if (w == MEDIUM) {
        if (gyre_command_launch(number, grid, block, s->parameters, sizeof s->parameters,
                                out_command) != GYRE_OK)
            return 0;
    } else if (w == LARGE) {
        out_command->kind = GYRE_COMMAND_TO_DEVICE;
        out_command->as.to_device.buffer = 7;
        out_command->as.to_device.offset = number;
        out_command->as.to_device.data = data;
    } else {
        out_command->kind = GYRE_COMMAND_SYNCHRONIZE;
    }
    out_command->stream = (uint32_t)number;
    return gyre_command_size(out_command);
}

/* The same, and another holder of the buffer. */
GYRE_INLINE size_t build_next(const sends *s, weight w, gyre_command *out_command)
{
    return build(s, w, s->sent, w == LARGE ? gyre_bytes_clone(&s->buffer) : s->buffer, out_command);
}

/* Whether it is the number-th command, to the last byte: the buffer is the very one. */
static bool is_right(const sends *s, uint64_t number, const gyre_command *command, size_t size)
{
    gyre_command expected;

    return size == build(s, s->weight, number, s->buffer, &expected) &&
           memcmp(command, &expected, size) == 0;
}

static bool take_out(const sends *s, gyre_command *out_command, size_t *out_size)
{
    gyre_received received = {0};
    gyre_status status;

    if (s->queue)
        return gyre_legacy_pop(s->queue, out_command, out_size);
    if (!s->channel)
        return false; /* it could not grow */
    status = s->subscriber ? gyre_subscriber_try_receive(s->subscriber, out_command, &received)
                           : gyre_channel_try_receive(s->channel, out_command, &received);
    *out_size = received.size;
    return status == GYRE_OK;
}

/* Takes out what is there, of which the first should be the number-th; returns how many came, and
 * adds those that were right. */
static uint64_t drain(const sends *s, uint64_t number, uint64_t *right)
{
    gyre_command command;
    uint64_t count = 0;
    size_t size;

    for (; take_out(s, &command, &size); count++) {
        *right += is_right(s, number + count, &command, size);
        gyre_command_drop(NULL, &command, size);
    }
    return count;
}

static void sends_teardown(void *fixture)
{
    sends *s = fixture;

    gyre_subscriber_destroy(s->subscriber);
    gyre_channel_destroy(s->channel);
    gyre_legacy_destroy(s->queue);
    gyre_bytes_release(&s->buffer);
    gyre_idler_stop(&s->idler);
    free(s);
}

/* The channel that fits `capacity` commands; an older one goes. */
static gyre_status open_channel(sends *s, gyre_delivery delivery, uint32_t capacity)
{
    gyre_channel_options options = gyre_command_channel();
    gyre_status status;

    gyre_channel_destroy(s->channel);
    options.delivery = delivery;
    options.when_full = delivery == GYRE_DELIVER_ALL ? GYRE_FULL_DROP_OLDEST : GYRE_FULL_BLOCK;
    options.capacity = capacity;
    options.metrics = s->metrics;
    status = gyre_channel_create(&options, &s->channel);
    s->capacity = status == GYRE_OK ? capacity : 0;
    s->longest = 0;
    if (status == GYRE_OK && delivery == GYRE_DELIVER_ALL)
        status = gyre_subscriber_create(s->channel, &s->subscriber);
    return status;
}

typedef enum way { TO_ALL, TO_ONE, TO_ONE_WITH_METRICS, LEGACY } way;

static gyre_status sends_setup(void **out_fixture, way where, weight w, uint32_t capacity)
{
    sends *s = calloc(1, sizeof *s);
    gyre_status status;

    *out_fixture = NULL;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a fixture");
    status = gyre_idler_start(&s->idler);
    s->weight = w;
    s->metrics = where == TO_ONE_WITH_METRICS;
    for (size_t i = 0; i < sizeof s->parameters; i++)
        s->parameters[i] = (unsigned char)(i ^ 0x5a);
    if (status == GYRE_OK && w == LARGE)
        status = gyre_bytes_take(NULL, BUFFER_BYTES, &s->buffer);
    if (status == GYRE_OK && w == LARGE)
        memset(gyre_bytes_writable(&s->buffer), 1, BUFFER_BYTES);
    if (status == GYRE_OK && where == LEGACY) {
        s->queue = gyre_legacy_create(0);
        status = s->queue ? GYRE_OK : gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a queue");
    } else if (status == GYRE_OK) {
        status = open_channel(s, where == TO_ALL ? GYRE_DELIVER_ALL : GYRE_DELIVER_ONE, capacity);
    }
    if (status != GYRE_OK) {
        sends_teardown(s);
        return status;
    }
    *out_fixture = s;
    return GYRE_OK;
}

/* The timed work: build a command, hand it over. */

GYRE_INLINE void send_each(sends *s, weight w, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations && s->channel; i++) {
        gyre_command command;
        const size_t size = build_next(s, w, &command);

        if (gyre_channel_send(s->channel, 0, &command, size, GYRE_NEVER) != GYRE_OK)
            break; /* the check will miss it */
        s->sent++;
    }
}

GYRE_INLINE void push_each(sends *s, weight w, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command command;
        const size_t size = build_next(s, w, &command);

        if (!gyre_legacy_push(s->queue, &command, size))
            break;
        s->sent++;
    }
}

/* One entry of the table needs a set-up and a run of its own, with the weight as a constant. */
#define CASE(name, where, w, capacity, each)                                                       \
    static gyre_status setup_##name(const gyre_bench_case *c, void **out_fixture)                  \
    {                                                                                              \
        (void)c;                                                                                   \
        return sends_setup(out_fixture, where, w, capacity);                                       \
    }                                                                                              \
    static void run_##name(void *fixture, uint64_t iterations)                                     \
    {                                                                                              \
        each(fixture, w, iterations);                                                              \
    }

CASE(small_all, TO_ALL, SMALL, BOUND, send_each)
CASE(medium_all, TO_ALL, MEDIUM, BOUND, send_each)
CASE(large_all, TO_ALL, LARGE, BOUND, send_each)
CASE(small_all_larger, TO_ALL, SMALL, LARGER_BOUND, send_each)
CASE(small_one, TO_ONE, SMALL, ROOM, send_each)
CASE(medium_one, TO_ONE, MEDIUM, ROOM, send_each)
CASE(large_one, TO_ONE, LARGE, ROOM, send_each)
CASE(metrics_on, TO_ONE_WITH_METRICS, SMALL, ROOM, send_each)
CASE(push_small, LEGACY, SMALL, 0, push_each)
CASE(push_medium, LEGACY, MEDIUM, 0, push_each)
CASE(push_large, LEGACY, LARGE, 0, push_each)

/* Makes room for the next run; twice what it needs, so that this happens seldom. */
static void empty(void *fixture, uint64_t iterations)
{
    sends *s = fixture;

    s->drained += drain(s, s->drained, &s->right);
    if (!s->queue && s->capacity < iterations)
        (void)!open_channel(s, GYRE_DELIVER_ONE, 2 * (uint32_t)iterations);
    s->longest = s->longest > iterations ? s->longest : iterations;
}

/* All that was sent came out, in order, at the latest now; and nobody holds the buffer any more. */
static bool all_came_out(const void *fixture, uint64_t iterations)
{
    const sends *s = fixture;
    uint64_t right = s->right;
    const uint64_t rest = drain(s, s->drained, &right);

    return s->sent == iterations && s->drained + rest == iterations && right == iterations &&
           (s->weight != LARGE || gyre_bytes_writable(&s->buffer));
}

/* The last ones came out, in order, and the channel says how many did not. */
static bool rest_came_out(const void *fixture, uint64_t iterations)
{
    const sends *s = fixture;
    const uint64_t kept = s->sent < s->capacity ? s->sent : s->capacity;
    gyre_channel_statistics all = {sizeof all, .attempts = 0}, mine = all;
    uint64_t right = 0;
    const uint64_t count = drain(s, s->sent - kept, &right);

    return s->sent == iterations && count == kept && right == kept &&
           gyre_channel_describe(s->channel, &all) == GYRE_OK && all.attempts == iterations &&
           all.accepted == iterations && all.rejected == 0 &&
           gyre_subscriber_describe(s->subscriber, &mine) == GYRE_OK &&
           mine.accepted == iterations && mine.delivered == kept &&
           mine.dropped == iterations - kept && mine.queued == 0;
}

static void tell_loss(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const sends *s = fixture;
    gyre_channel_statistics mine = {sizeof mine, .attempts = 0};

    if (gyre_subscriber_describe(s->subscriber, &mine) != GYRE_OK)
        return;
    gyre_bench_count(facts, "sent", (double)iterations);
    gyre_bench_count(facts, "lost", (double)mine.dropped);
    gyre_bench_note(facts, "delivery", "to all, dropping the oldest; the one subscriber is idle");
}

static void tell_no_loss(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    const sends *s = fixture;

    (void)iterations;
    gyre_bench_count(facts, "lost", 0);
    if (!s->queue)
        gyre_bench_count(facts, "capacity", s->capacity);
    gyre_bench_note(facts, "delivery", "to one; emptied between the timed runs");
}

/* The most that ever stood in this channel are those of its longest run, where that is measured. */
static bool all_came_out_and_peak_is_right(const void *fixture, uint64_t iterations)
{
    const sends *s = fixture;
    gyre_channel_statistics all = {sizeof all, .attempts = 0};

    return all_came_out(fixture, iterations) &&
           gyre_channel_describe(s->channel, &all) == GYRE_OK &&
           all.peak == (s->metrics ? s->longest : 0);
}

/* Commands there and back on one thread, and the halves of it. */

static void push_and_pop(void *fixture, uint64_t iterations)
{
    sends *s = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command in, out;
        size_t size = build_next(s, SMALL, &in);

        s->right += gyre_legacy_push(s->queue, &in, size) &&
                    gyre_legacy_pop(s->queue, &out, &size) && is_right(s, s->sent, &out, size);
        s->sent++;
        s->drained++;
    }
}

static void send_and_receive(void *fixture, uint64_t iterations)
{
    sends *s = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command in, out;
        gyre_received received;
        const size_t size = build_next(s, SMALL, &in);

        s->right += gyre_channel_send(s->channel, 0, &in, size, GYRE_NEVER) == GYRE_OK &&
                    gyre_channel_receive(s->channel, &out, &received, 0) == GYRE_OK &&
                    is_right(s, s->sent, &out, received.size);
        s->sent++;
        s->drained++;
    }
}

static void fill(void *fixture, uint64_t iterations)
{
    push_each(fixture, SMALL, iterations);
}

static void pop_each(void *fixture, uint64_t iterations)
{
    sends *s = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        gyre_command out;
        size_t size;

        s->right += gyre_legacy_pop(s->queue, &out, &size) && is_right(s, s->drained, &out, size);
        s->drained++;
    }
}

/* The floor: a slot is claimed with one compare-and-swap, and a line is written. */

typedef struct slots {
    alignas(128) uint64_t next;
    uint64_t claimed;
    alignas(128) unsigned char lines[FLOOR_SLOTS][64];
} slots;

static gyre_status slots_setup(const gyre_bench_case *c, void **out_fixture)
{
    slots *s = aligned_alloc(alignof(slots), sizeof *s);

    (void)c;
    *out_fixture = s;
    if (!s)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for slots");
    memset(s, 0, sizeof *s);
    return GYRE_OK;
}

static void claim_and_write(void *fixture, uint64_t iterations)
{
    slots *s = fixture;
    const unsigned char line[64] = {0};

    for (uint64_t i = 0; i < iterations; i++) {
        uint64_t expected = s->next;

        /* relaxed, both: nobody else looks */
        s->claimed += __atomic_compare_exchange_n(&s->next, &expected, expected + 1, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        memcpy(s->lines[expected % FLOOR_SLOTS], line, sizeof line);
        memcpy(s->lines[expected % FLOOR_SLOTS], &expected, sizeof expected);
        gyre_bench_keep(s);
    }
}

static bool claimed_and_wrote(const void *fixture, uint64_t iterations)
{
    const slots *s = fixture;
    uint64_t last;

    memcpy(&last, s->lines[(iterations - 1) % FLOOR_SLOTS], sizeof last);
    return s->claimed == iterations && last == iterations - 1;
}

#define SENT_TO_ALL(name)                                                                          \
    .t0 = "before the command is built", .t1 = "after the send has returned",                      \
    .observer = "a subscriber, afterwards, which finds the last ones in order",                    \
    .setup = setup_##name, .run = run_##name, .check = rest_came_out, .teardown = sends_teardown,  \
    .tell = tell_loss
#define EMPTIED(name)                                                                              \
    .setup = setup_##name, .run = run_##name, .teardown = sends_teardown, .prepare = empty,        \
    .batch = GYRE_BATCH_LARGE
#define SENT_TO_ONE(name)                                                                          \
    .t0 = "before the command is built", .t1 = "after the send has returned",                      \
    .observer = "the same thread, which receives them all between the timed runs",                 \
    .check = all_came_out, .tell = tell_no_loss, EMPTIED(name)
#define PUSHED(name)                                                                               \
    .t0 = "before the command is built", .t1 = "after the push has returned",                      \
    .observer = "the same thread, which pops them all between the timed runs",                     \
    .check = all_came_out, .tell = tell_no_loss, EMPTIED(name)

static const gyre_bench benches[] = {
    {.name = "channel_send_latency/small_command_bounded", SENT_TO_ALL(small_all)},
    {.name = "channel_send_latency/medium_command_bounded", SENT_TO_ALL(medium_all)},
    {.name = "channel_send_latency/large_command_bounded", SENT_TO_ALL(large_all)},
    {.name = "channel_send_latency/small_command_unbounded", SENT_TO_ALL(small_all_larger)},
    {.name = "channel_send_latency/small_command_one", SENT_TO_ONE(small_one)},
    {.name = "channel_send_latency/medium_command_one", SENT_TO_ONE(medium_one)},
    {.name = "channel_send_latency/large_command_one", SENT_TO_ONE(large_one)},
    {
        .name = "channel_send_latency/send_receive_cycle_one",
        .t0 = "before the command is built",
        .t1 = "after it was received",
        .observer = "the same thread, which compares what it received",
        .setup = setup_small_one,
        .run = send_and_receive,
        .check = all_came_out,
        .teardown = sends_teardown,
    },
    {
        .name = "channel_send_latency/floor_swap_and_line",
        .t0 = "before a counter is swapped",
        .t1 = "after 64 bytes are written",
        .observer = "the same thread, which counts the swaps and reads the last line",
        .setup = slots_setup,
        .run = claim_and_write,
        .check = claimed_and_wrote,
        .teardown = free,
    },
    {.name = "mutex_vecdeque_latency/push_small_command", PUSHED(push_small)},
    {.name = "mutex_vecdeque_latency/push_medium_command", PUSHED(push_medium)},
    {.name = "mutex_vecdeque_latency/push_large_command", PUSHED(push_large)},
    {
        .name = "mutex_vecdeque_latency/pop_command",
        .t0 = "before the pop of a small command",
        .t1 = "after it",
        .observer = "the same thread, which compares what it popped",
        .setup = setup_push_small,
        .run = pop_each,
        .check = all_came_out,
        .teardown = sends_teardown,
        .prepare = fill,
        .batch = GYRE_BATCH_LARGE,
    },
    {
        .name = "mutex_vecdeque_latency/push_pop_cycle",
        .t0 = "before the command is built",
        .t1 = "after it was popped",
        .observer = "the same thread, which compares what it popped",
        .setup = setup_push_small,
        .run = push_and_pop,
        .check = all_came_out,
        .teardown = sends_teardown,
    },
    {
        .name = "channel_metrics_overhead/metrics_off",
        .t0 = "before the command is built",
        .t1 = "after the send has returned",
        .observer = "the same thread, which receives them all between the timed runs",
        .check = all_came_out_and_peak_is_right,
        EMPTIED(small_one),
    },
    {
        .name = "channel_metrics_overhead/metrics_on",
        .t0 = "before the command is built",
        .t1 = "after the send has returned",
        .observer = "the same thread, which receives them all and compares the peak",
        .check = all_came_out_and_peak_is_right,
        EMPTIED(metrics_on),
    },
};

const gyre_suite gyre_suite_channel = GYRE_SUITE("channel", benches);
