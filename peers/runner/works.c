/* SPDX-License-Identifier: Apache-2.0
 *
 * works: see works.h.
 *
 * What each side does is the same in every way of a work:
 *
 * spsc_cycle, mpmc_cycle   one thread pushes an item and pops it again, by copies, through a queue
 *                          of 1024 that is otherwise empty. mpmc_bulk32: 32 items at once.
 * stream_1p1c              a pinned thread fills and pushes a million items of 64 bytes, another
 *                          pops and compares them; whoever finds the queue full or empty pauses and
 *                          tries again, or waits as its channel does. At most 1024 are on their
 *                          way: a queue that grows is given credits, or shown aside. bulk32: the
 *                          same by calls that move up to 32, for those that have such calls.
 * stream_4p1c              the same with four producers of 250 000 each and all five threads on
 *                          both CPUs; whoever finds nothing to do yields soon.
 * round_trip_spin          the caller sends 8 bytes, the server answers 8 bytes, both pinned. Gyre:
 *                          gyre_call, and receive and answer; crossbeam: a channel of requests and
 *                          one of answers that is used again, waiting as they do by themselves, and
 *                          polled. tokio: mpsc and a oneshot for each request.
 * round_trip_park          the same with GYRE_SPIN=0, beside two threads that do nothing but set a
 *                          word and sleep on it.
 * send_small, _128, _1mib  a command goes to a channel of 100 to ALL that drops the oldest, whose
 *                          one receiver never reads; what it still could receive is taken out and
 *                          compared between the samples. Gyre carries 128 bytes of parameters
 *                          inside the command, tokio's broadcast as Bytes that are copied for each
 *                          send, as in the seeds; 1 MiB is shared by both.
 * send_small_one_block     100 commands of 48 bytes go to a channel of 100, timed; then they are
 *                          received and compared, untimed.
 * oneshot_cycle            an answer of 8 bytes: its place is made, it is sent and received, and
 *                          the place is gone. Gyre takes a ticket of the channel's table; the
 *                          peers make a channel.
 * bytes_clone_drop         another holder of the same bytes is made, and goes.
 * pool_cycle               a block of memory is taken and given back; its thread has one more out.
 * pool_64_then_64          64 blocks are taken, then given in the same order; per block. touched: a
 *                          byte of each 4096 is written in between, and compared.
 * pool_other_thread_frees  a pinned thread takes a block and numbers it, another one compares the
 *                          number and gives the block; the queue between them, of 1024 blocks of
 *                          1 KiB or 64 of 1 MiB, is the same for all. The floor is that queue, with
 *                          a line for each block.
 *                          Allocators as they are when nothing is set, called with the size where
 *                          they want it back; Gyre's pool with its defaults, of 1 MiB in huge pages
 *                          that are written when they are drawn.
 * message_build            the seed's request to add vectors: an id of 128 bits, a priority, a
 *                          correlation that may be missing, two vectors of 1000 floats, all of them
 *                          elsewhere, become a message in a buffer that is used again.
 * message_open_validated   bytes are validated; half of them were refused before.
 * message_field_read       an element of a vector of an opened message, its index compared with
 *                          the length.
 */
#include "peers/runner/works.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
enum { MILLION = 1000000 };
/* hand-overs: enough to go round a queue several times; one at a time; of 1 MiB */
enum { MANY = 5000, SOME = 300, FEW = 50 };
enum { BATCH = 64 }; /* blocks that are out at once */

static const peers_work works[] = {
    {.id = "spsc_cycle_8",
     .what = "from before the push until the pop of the same 8 bytes, by one thread",
     .group = 1, .roles = 1, .handed = MANY,
     .quick_s = 2, .full_s = 20},
    {.id = "spsc_cycle_64",
     .what = "from before the push until the pop of the same 64 bytes, by one thread",
     .group = 2, .roles = 1, .handed = MANY,
     .quick_s = 2, .full_s = 20},
    {.id = "mpmc_cycle_8",
     .what = "as spsc_cycle_8, with a queue for many threads, while a second thread lives",
     .group = 3, .roles = 1, .handed = MANY,
     .quick_s = 2, .full_s = 25},
    {.id = "mpmc_cycle_64",
     .what = "as spsc_cycle_64, with a queue for many threads, while a second thread lives",
     .group = 4, .roles = 1, .handed = MANY,
     .quick_s = 2, .full_s = 25},
    {.id = "mpmc_bulk32_cycle_8",
     .what = "from before the push of 32 items until the pop of them, by one thread; per item",
     .group = 5, .roles = 1, .handed = MANY,
     .quick_s = 2, .full_s = 20},
    {.id = "stream_1p1c_64",
     .what = "from the start of the producer until the consumer has compared 1 000 000 items "
             "of 64 bytes; per item",
     .group = 6, .roles = 2, .handed = MANY, .count = MILLION,
     .quick_s = 34, .full_s = 150},
    {.id = "stream_1p1c_64_bulk32",
     .what = "as stream_1p1c_64, pushed and popped by 32",
     .group = 7, .roles = 2, .handed = MANY, .count = MILLION,
     .quick_s = 20, .full_s = 100},
    {.id = "stream_4p1c_64",
     .what = "from the start of four producers until the consumer has compared 4 x 250 000 "
             "items of 64 bytes, five threads on two CPUs; per item",
     .group = 8, .roles = PEERS_ROLES, .handed = MANY, .count = MILLION, .samples = PEERS_TAIL,
     .quick_s = 40, .full_s = 240},
    {.id = "round_trip_spin",
     .what = "from before the request until the caller has compared the answer of a thread "
             "on another CPU",
     .group = 9, .roles = 2, .handed = SOME,
     .quick_s = 14, .full_s = 80},
    {.id = "round_trip_park",
     .what = "as round_trip_spin, without spinning: whoever finds nothing sleeps",
     .group = 10, .roles = 2, .handed = SOME, .apart = true,
     .quick_s = 10, .full_s = 40},
    {.id = "send_small",
     .what = "from before a synchronise command is built until it is sent to ALL; the "
             "subscriber is idle",
     .group = 11, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "send_128",
     .what = "as send_small, for a launch with 128 bytes of parameters",
     .group = 11, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "send_1mib_prebuilt",
     .what = "as send_small, for a transfer of 1 MiB that is shared, not copied",
     .group = 11, .roles = 1, .handed = FEW,
     .quick_s = 2, .full_s = 20},
    {.id = "send_small_one_block",
     .what = "from before the send of 48 bytes to ONE until it is accepted; drained untimed",
     .group = 12, .roles = 1, .handed = MANY,
     .quick_s = 2, .full_s = 20},
    {.id = "oneshot_cycle",
     .what = "from before an answer's place is made until it was sent, received and gone",
     .group = 13, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "bytes_clone_drop_1k",
     .what = "from before the clone of 1 KiB until it is released",
     .group = 14, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "bytes_clone_drop_1m",
     .what = "as bytes_clone_drop_1k, of 1 MiB",
     .group = 14, .roles = 1, .handed = FEW,
     .quick_s = 2, .full_s = 20},
    {.id = "pool_cycle_1k",
     .what = "from before a block of 1 KiB is taken until it is given back",
     .group = 15, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "pool_cycle_4k",
     .what = "as pool_cycle_1k, of 4 KiB",
     .group = 16, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "pool_cycle_1m",
     .what = "as pool_cycle_1k, of 1 MiB",
     .group = 17, .roles = 1, .handed = FEW,
     .quick_s = 2, .full_s = 20},
    {.id = "pool_64_then_64_4k",
     .what = "from before 64 blocks of 4 KiB are taken until all of them are given back; per block",
     .group = 18, .roles = 1, .handed = SOME, .unit = BATCH,
     .quick_s = 2, .full_s = 20},
    {.id = "pool_64_then_64_1m_touched",
     .what = "as pool_64_then_64_4k, of 1 MiB, with a byte of each 4096 written and one compared",
     .group = 19, .roles = 1, .handed = FEW, .unit = BATCH,
     .quick_s = 4, .full_s = 30},
    {.id = "pool_other_thread_frees_1k",
     .what = "from the start of the thread that takes and numbers blocks of 1 KiB until another "
             "one has compared and given them; per block",
     .group = 20, .roles = 2, .handed = SOME,
     .quick_s = 7, .full_s = 60},
    {.id = "pool_other_thread_frees_1m",
     .what = "as pool_other_thread_frees_1k, of 1 MiB",
     .group = 21, .roles = 2, .handed = FEW,
     .quick_s = 7, .full_s = 60},
    {.id = "message_build_8k",
     .what = "from the fields of a request with 8000 bytes of vectors until its message is built",
     .group = 22, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "message_build_8k_crc",
     .what = "as message_build_8k, with a checksum of all of it",
     .group = 22, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "message_open_validated_8k",
     .what = "from bytes that nothing is known of until they are known to be that message",
     .group = 23, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
    {.id = "message_field_read",
     .what = "from an opened message and an index until that element of its vector is read",
     .group = 24, .roles = 1, .handed = SOME,
     .quick_s = 2, .full_s = 20},
};
/* clang-format on */

static const peers_rule rules[] = {
    {.id = "spsc_cycle_8",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES_OR_PLUS,
     .times = 1.3,
     .plus_ns = 0.5},
    {.id = "spsc_cycle_64", .class_ = PEERS_SINGLE, .form = PEERS_LIMIT_TIMES, .times = 1.0},
    {.id = "mpmc_cycle_8", .class_ = PEERS_SINGLE, .form = PEERS_LIMIT_TIMES, .times = 1.05},
    {.id = "mpmc_cycle_64", .class_ = PEERS_SINGLE, .form = PEERS_LIMIT_TIMES, .times = 0.9},
    {.id = "mpmc_bulk32_cycle_8",
     .library = "DPDK",
     .way = "rte_ring burst MP/MC",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 1.0},
    {.id = "stream_1p1c_64", .class_ = PEERS_ANY_CLASS, .form = PEERS_LIMIT_TIMES, .times = 0.6},
    {.id = "stream_1p1c_64_bulk32",
     .class_ = PEERS_ANY_CLASS,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.35},
    {.id = "stream_4p1c_64",
     .library = "moodycamel",
     .class_ = PEERS_ANY_CLASS,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.8,
     .also = PEERS_ALSO_TAIL},
    {.id = "round_trip_spin",
     .against = PEERS_AGAINST_PINGPONG,
     .class_ = PEERS_FAR,
     .form = PEERS_LIMIT_TIMES,
     .times = 1.4},
    {.id = "round_trip_spin",
     .against = PEERS_AGAINST_PINGPONG,
     .class_ = PEERS_NEAR,
     .form = PEERS_LIMIT_PLUS,
     .plus_ns = 50},
    {.id = "round_trip_spin_vs_crossbeam",
     .work = "round_trip_spin",
     .library = "crossbeam",
     .way = "channel::bounded(1), reused",
     .class_ = PEERS_ANY_CLASS,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.7},
    {.id = "round_trip_park", .against = PEERS_AGAINST_FLOOR, .class_ = PEERS_ANY_CLASS},
    {.id = "send_small",
     .library = "tokio",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.4},
    {.id = "send_128",
     .library = "tokio",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.4},
    {.id = "send_1mib_prebuilt",
     .library = "tokio",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.35},
    {.id = "send_small_one_block",
     .library = "crossbeam",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.5},
    {.id = "oneshot_cycle",
     .library = "tokio",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.4},
    {.id = "bytes_clone_drop_1k",
     .library = "bytes",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.75},
    {.id = "bytes_clone_drop_1m",
     .library = "bytes",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.75,
     .also = PEERS_ALSO_FLAT,
     .flat_with = "bytes_clone_drop_1k"},
    {.id = "pool_cycle_1k", .class_ = PEERS_SINGLE, .form = PEERS_LIMIT_TIMES, .times = 0.8},
    {.id = "pool_cycle_4k", .class_ = PEERS_SINGLE, .form = PEERS_LIMIT_TIMES, .times = 0.8},
    {.id = "pool_cycle_1m", .class_ = PEERS_SINGLE, .form = PEERS_LIMIT_TIMES, .times = 0.2},
    {.id = "pool_64_then_64_4k", .class_ = PEERS_SINGLE, .form = PEERS_LIMIT_TIMES, .times = 0.7},
    {.id = "pool_64_then_64_1m_touched",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.7},
    {.id = "pool_other_thread_frees_1k",
     .class_ = PEERS_ANY_CLASS,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.7},
    {.id = "pool_other_thread_frees_1m",
     .class_ = PEERS_ANY_CLASS,
     .form = PEERS_LIMIT_TIMES,
     .times = 0.5},
    {.id = "message_build_8k",
     .against = PEERS_AGAINST_FLOOR,
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES,
     .times = 1.15},
    {.id = "message_build_8k_crc", .against = PEERS_AGAINST_FLOOR, .class_ = PEERS_SINGLE},
    {.id = "message_open_validated_8k",
     .library = "rkyv",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES_OR_PLUS,
     .times = 1.0,
     .plus_ns = 1},
    {.id = "message_field_read",
     .library = "rkyv",
     .class_ = PEERS_SINGLE,
     .form = PEERS_LIMIT_TIMES_OR_PLUS,
     .times = 1.0,
     .plus_ns = 0.3},
};

size_t peers_work_count(void)
{
    return sizeof works / sizeof works[0];
}

const peers_work *peers_work_at(size_t index)
{
    return index < peers_work_count() ? &works[index] : NULL;
}

const peers_work *peers_work_find(const char *id)
{
    for (size_t i = 0; i < peers_work_count(); i++)
        if (strcmp(works[i].id, id) == 0)
            return &works[i];
    return NULL;
}

const peers_rule *peers_rule_at(size_t index)
{
    return index < sizeof rules / sizeof rules[0] ? &rules[index] : NULL;
}

const char *peers_rule_work(const peers_rule *rule)
{
    return rule->work ? rule->work : rule->id;
}

bool peers_rule_allows(const peers_rule *rule, const char *library, const char *way)
{
    return rule->against == PEERS_AGAINST_BEST &&
           (!rule->library || strcmp(rule->library, library) == 0) &&
           (!rule->way || strncmp(rule->way, way, strlen(rule->way)) == 0);
}

double peers_rule_limit(const peers_rule *rule, double other_ns)
{
    const double plus = (other_ns + rule->plus_ns) / other_ns;

    if (rule->form == PEERS_LIMIT_PLUS)
        return plus;
    if (rule->form == PEERS_LIMIT_TIMES_OR_PLUS && plus > rule->times)
        return plus;
    return rule->times;
}

void peers_rule_print_limit(const peers_rule *rule, char *text, size_t size)
{
    switch (rule->form) {
    case PEERS_LIMIT_TIMES:
        snprintf(text, size, "%gx", rule->times);
        break;
    case PEERS_LIMIT_TIMES_OR_PLUS:
        snprintf(text, size, "max(%gx, +%g ns)", rule->times, rule->plus_ns);
        break;
    case PEERS_LIMIT_PLUS:
        snprintf(text, size, "+%g ns", rule->plus_ns);
        break;
    default:
        snprintf(text, size, "-");
        break;
    }
}

const char *peers_class_name(peers_class class_)
{
    static const char *const names[PEERS_CLASSES] = {"single", "near", "far"};

    return names[class_];
}
