/* SPDX-License-Identifier: Apache-2.0
 *
 * works: see works.h.
 *
 * What each side does is the same in every way of a work: the items are of one size, filled before
 * they are pushed and compared after they are popped; capacities are 1024 for queues and 100 for
 * channels of commands. Where a library cannot be bounded it says so in its row and is shown aside.
 */
#include "peers/runner/works.h"

#include <stdio.h>
#include <string.h>

enum { MILLION = 1000000, BATCHES = 800, TRIPS = 8 }; /* 800: of 32 and of 100 */
enum { PINNED_PATIENCE = 4096, CROWDED_PATIENCE = 64 };

static const peers_work works[] = {
    {"spsc_cycle_8", "from before the push until the pop of the same 8 bytes, by one thread", 1, 1,
     0, BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"spsc_cycle_64", "from before the push until the pop of the same 64 bytes, by one thread", 2,
     1, 0, BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"mpmc_cycle_8", "as spsc_cycle_8, with a queue for many threads, while a second thread lives",
     3, 1, 0, BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 5, 25},
    {"mpmc_cycle_64",
     "as spsc_cycle_64, with a queue for many threads, while a second thread lives", 4, 1, 0,
     BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 5, 25},
    {"mpmc_bulk32_cycle_8",
     "from before the push of 32 items until the pop of them, by one thread; per item", 5, 1, 0,
     BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"stream_1p1c_64",
     "from the start of the producer until the consumer has compared 1 000 000 items of 64 bytes; "
     "per item",
     6, 2, MILLION, 1, PINNED_PATIENCE, PEERS_ENOUGH, false, 34, 150},
    {"stream_1p1c_64_bulk32", "as stream_1p1c_64, pushed and popped by 32", 7, 2, MILLION, 1,
     PINNED_PATIENCE, PEERS_ENOUGH, false, 20, 100},
    {"stream_4p1c_64",
     "from the start of four producers until the consumer has compared 4 x 250 000 items of 64 "
     "bytes, five threads on two CPUs; per item",
     8, PEERS_ROLES, MILLION, 1, CROWDED_PATIENCE, PEERS_TAIL, false, 40, 240},
    {"round_trip_spin",
     "from before the request until the caller has compared the answer of a thread on another CPU",
     9, 2, 0, TRIPS, PINNED_PATIENCE, PEERS_ENOUGH, false, 14, 80},
    {"round_trip_park", "as round_trip_spin, both sides asleep whenever they wait", 10, 2, 0, TRIPS,
     PINNED_PATIENCE, PEERS_ENOUGH, true, 10, 40},
    {"send_small",
     "from before a synchronise command is built until it is sent to ALL; the subscriber is idle",
     11, 1, 0, BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"send_128", "as send_small, for a launch with 128 bytes of parameters", 11, 1, 0, BATCHES,
     PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"send_1mib_prebuilt", "as send_small, for a transfer of 1 MiB that is shared, not copied", 11,
     1, 0, BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"send_small_one_block",
     "from before the send of 48 bytes to ONE until it is accepted; drained untimed", 12, 1, 0,
     BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"oneshot_cycle", "from before an answer's place is made until it was sent, received and gone",
     13, 1, 0, BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"bytes_clone_drop_1k", "from before the clone of 1 KiB until it is released", 14, 1, 0,
     BATCHES, PINNED_PATIENCE, PEERS_ENOUGH, false, 4, 20},
    {"bytes_clone_drop_1m", "as bytes_clone_drop_1k, of 1 MiB", 14, 1, 0, BATCHES, PINNED_PATIENCE,
     PEERS_ENOUGH, false, 4, 20},
};

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
