/* SPDX-License-Identifier: Apache-2.0 */
#include "peers/runner/measure.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gyre/library.h"
#include "gyre/topology.h"
#include "peers/runner/apart.h"
#include "peers/tables.h"
#include "test.h"

const peers_library *const peers_libraries[] = {&peers_gyre_queues,     &peers_gyre_flow,
                                                &peers_gyre_send,       &peers_gyre_bytes,
                                                &peers_gyre_pool,       &peers_gyre_message,
                                                &peers_floors,          &peers_floors_blocks,
                                                &peers_floors_requests, NULL};
const peers_absent peers_absents[] = {{NULL, NULL}};

static volatile sig_atomic_t interrupted;

static bool begin(peers_measuring *how)
{
    gyre_topology *topology;
    const gyre_topology_cpu *cpu;
    size_t found = 0;

    *how = (peers_measuring){.quick = true, .once = true, .passes = 1, .interrupted = &interrupted};
    if (gyre_prepare() != GYRE_OK || gyre_topology_create(NULL, &topology) != GYRE_OK)
        return false;
    for (uint32_t i = 0; (cpu = gyre_topology_cpu_at(topology, i)); i++)
        if (cpu->allowed)
            how->cpus[found++ ? 1 : 0] = cpu->id;
    if (found == 1)
        how->cpus[1] = how->cpus[0];
    gyre_topology_destroy(topology);
    gyre_stat_random_seed(&how->random, 1);
    gyre_usage_open(&how->usage);
    return peers_crew_create(how->cpus, &how->crew) == GYRE_OK;
}

static void end(peers_measuring *how)
{
    peers_crew_destroy(how->crew);
    gyre_usage_close(&how->usage);
}

/* Every way of Gyre and every floor: hands over, answers right, settles. */
static void every_way_of_our_own_is_right(void)
{
    static peers_result result;
    peers_measuring how;
    size_t rounds;

    REQUIRE(begin(&how));
    for (size_t i = 0; peers_libraries[i]; i++)
        for (size_t k = 0; k < peers_libraries[i]->count; k++) {
            const peers_way *way = &peers_libraries[i]->ways[k];

            memset(&result, 0, sizeof result);
            result.library = peers_libraries[i];
            result.way = way;
            result.work = peers_work_find(way->work);
            CHECK(result.work != NULL);
            if (!result.work || (result.work->roles > 1 && how.cpus[0] == how.cpus[1]))
                continue;
            CHECK(peers_measure(&how, &result, 1, &rounds) == GYRE_OK && rounds == 1);
            if (result.problem[0] && !strstr(result.problem, "collapsed")) /* sanitizers are slow */
                test_fail(way->work, 0, result.problem);
        }
    end(&how);
}

typedef struct party {
    _Atomic uint32_t present, most;
} party;

static uint64_t attend(void *state, peers_turn *turn)
{
    party *p = state;
    const uint32_t now = atomic_fetch_add(&p->present, 1) + 1;
    uint32_t most = atomic_load(&p->most), tries = 0;

    while (now > most && !atomic_compare_exchange_weak(&p->most, &most, now))
        ;
    while (atomic_load(&p->most) < turn->roles && peers_wait(&tries))
        ;
    return turn->role == 0 ? turn->count : 0;
}

static void all_roles_are_there_together(void)
{
    peers_measuring how;

    REQUIRE(begin(&how));
    for (uint32_t roles = 1; roles <= PEERS_ROLES; roles++) {
        party p = {0};
        const peers_job job = {attend, &p, roles, 7, 16, UINT64_C(20000000000)};
        const peers_done done = peers_crew_run(how.crew, &job);

        CHECK(done.right == 7 && !done.given_up);
        CHECK(atomic_load(&p.present) == roles && atomic_load(&p.most) == roles);
    }
    end(&how);
}

static uint64_t never(void *state, peers_turn *turn)
{
    uint32_t tries = 0;

    (void)state;
    while (peers_wait(&tries))
        ;
    return turn->role == 0 ? 3 : 0;
}

static void what_takes_too_long_is_given_up(void)
{
    const peers_job job = {never, NULL, 2, 10, 16, 20000000};
    const peers_job next = {attend, &(party){0}, 2, 5, 16, UINT64_C(20000000000)};
    peers_measuring how;
    peers_done done;

    REQUIRE(begin(&how));
    done = peers_crew_run(how.crew, &job);
    CHECK(done.given_up && done.right == 3);
    done = peers_crew_run(how.crew, &next); /* and the crew works on */
    CHECK(!done.given_up && done.right == 5);
    end(&how);
}

static uint64_t own_time(void *state, peers_turn *turn)
{
    (void)state;
    turn->elapsed_ns = 1234;
    return turn->count;
}

static void a_way_may_time_itself(void)
{
    const peers_job job = {own_time, NULL, 1, 1, 16, UINT64_C(20000000000)};
    peers_measuring how;

    REQUIRE(begin(&how));
    CHECK(peers_crew_run(how.crew, &job).elapsed_ns == 1234);
    end(&how);
}

/* ---- queues that err, in the words of loops.h */

typedef enum fault { NONE, LOSES, DOUBLES, SWAPS, TEARS, FAULTS } fault;

typedef struct faulty {
    peers_item64 items[64];
    uint64_t head, tail, pops;
    fault fault;
} faulty;

static bool faulty_push(void *state, uint32_t producer, const peers_item64 *item)
{
    faulty *f = state;

    (void)producer;
    if (f->tail - f->head == 64)
        return false;
    f->items[f->tail++ % 64] = *item;
    return true;
}

/* The tenth pop is the wrong one. */
static bool faulty_pop(void *state, peers_item64 *item)
{
    faulty *f = state;

    if (f->head == f->tail)
        return false;
    if (++f->pops == 10) {
        if (f->fault == LOSES && f->tail - f->head > 1)
            f->head++;
        else if (f->fault == DOUBLES)
            f->head--;
        else if (f->fault == SWAPS && f->tail - f->head > 1) {
            *item = f->items[f->head % 64];
            f->items[f->head % 64] = f->items[(f->head + 1) % 64];
            f->items[(f->head + 1) % 64] = *item;
        } else if (f->fault == TEARS)
            f->items[f->head % 64].word[7]++;
    }
    *item = f->items[f->head++ % 64];
    return true;
}

static uint32_t faulty_push_bulk(void *state, uint32_t producer, const peers_item64 *items,
                                 uint32_t count)
{
    uint32_t done = 0;

    while (done < count && faulty_push(state, producer, &items[done]))
        done++;
    return done;
}

static uint32_t faulty_pop_bulk(void *state, peers_item64 *items, uint32_t count)
{
    uint32_t done = 0;

    while (done < count && faulty_pop(state, &items[done]))
        done++;
    return done;
}

#define WAY faulty
#define ITEM peers_item64
#define BULK
#include "peers/loops.h"

/* Both roles by one thread, one after the other: 40 items fit. Of the lost one nothing is left to
 * wait for, so one item less is asked for. */
static void a_queue_that_errs_is_noticed(void)
{
    for (int i = NONE; i < FAULTS; i++) {
        faulty one = {.fault = (fault)i}, many = {.fault = (fault)i}, alone = {.fault = (fault)i};
        peers_turn producer = {1, 2, 40, 0}, consumer = {0, 2, i == LOSES ? 39 : 40, 0};
        peers_turn cycles = {0, 1, 64, 0};
        uint64_t by_one, by_many;

        (void)faulty_stream(&one, &producer);
        (void)faulty_stream_bulk(&many, &producer);
        by_one = faulty_stream(&one, &consumer);
        by_many = faulty_stream_bulk(&many, &consumer);
        CHECK((by_one == consumer.count) == (i == NONE));
        CHECK((by_many == consumer.count) == (i == NONE));
        CHECK((faulty_cycle_bulk(&alone, &cycles) == 64) == (i == NONE));
    }
}

/* ---- whole groups of made-up ways, whose times are made up too */

static void *unit_create(void)
{
    return calloc(1, 1);
}

static uint64_t each_ns(peers_turn *turn, uint64_t ns)
{
    turn->elapsed_ns = turn->count * ns;
    return turn->count;
}

static uint64_t takes_10(void *state, peers_turn *turn)
{
    (void)state;
    return each_ns(turn, 10);
}

static uint64_t takes_25(void *state, peers_turn *turn)
{
    (void)state;
    return each_ns(turn, 25);
}

static int stolen_ticks = -1; /* a file like /proc/stat; -1: none */

/* Once, when the trials before the samples are long over. */
static uint64_t is_robbed(void *state, peers_turn *turn)
{
    static unsigned calls;

    (void)state;
    if (++calls == 15)
        (void)!pwrite(stolen_ticks, "cpu 0 0 0 0 0 0 0 9999\n", 23, 0);
    return each_ns(turn, 10);
}

static bool half_lost(void *state, peers_account *out_account)
{
    (void)state;
    *out_account = (peers_account){10, 5, 5};
    return true;
}

static const char block[] = "send_small_one_block";
static const peers_way ours = {.work = block,
                               .name = "ours",
                               .lossless = true,
                               .create = unit_create,
                               .run = takes_10,
                               .hand_over = takes_10,
                               .settle = half_lost,
                               .destroy = free};
static const peers_way quick = {.work = block,
                                .name = "quick",
                                .lossless = true,
                                .create = unit_create,
                                .run = takes_10,
                                .hand_over = takes_10,
                                .destroy = free};
static const peers_way slow = {.work = block,
                               .name = "slow",
                               .lossless = true,
                               .create = unit_create,
                               .run = takes_25,
                               .hand_over = takes_25,
                               .destroy = free};
static const peers_way shown = {.work = block,
                                .name = "shown",
                                .lossless = true,
                                .aside = "why",
                                .create = unit_create,
                                .run = takes_10,
                                .hand_over = takes_10,
                                .destroy = free};
static const peers_way robbed = {.work = block,
                                 .name = "robbed",
                                 .lossless = true,
                                 .create = unit_create,
                                 .run = is_robbed,
                                 .hand_over = takes_10,
                                 .destroy = free};
static const peers_library gyre = {"Gyre", "0", PEERS_GYRE, NULL, 0};
static const peers_library named = {"crossbeam", "0", PEERS_PEER, NULL, 0}; /* by the row */
static const peers_library other = {"flume", "0", PEERS_PEER, NULL, 0};

static peers_result group[4];

static bool measure(const peers_result *results, size_t count, bool once)
{
    peers_measuring how;
    size_t rounds;
    bool good;

    if (!begin(&how))
        return false;
    how.once = once;
    if (stolen_ticks >= 0)
        how.usage.stat = stolen_ticks;
    for (size_t i = 0; i < count; i++) {
        group[i] = results[i];
        group[i].work = peers_work_find(block);
    }
    good = peers_measure(&how, group, count, &rounds) == GYRE_OK && rounds > 0;
    if (stolen_ticks >= 0)
        how.usage.stat = -1; /* the test's own */
    end(&how);
    return good;
}

static size_t samples(size_t i)
{
    return group[i].series[PEERS_SINGLE].count;
}

static void a_peer_that_a_row_names_is_measured_to_the_end(void)
{
    const peers_result results[] = {{.library = &gyre, .way = &ours},
                                    {.library = &named, .way = &slow},
                                    {.library = &other, .way = &quick},
                                    {.library = &other, .way = &shown}};

    REQUIRE(measure(results, 4, false));
    CHECK(samples(0) >= PEERS_ENOUGH && samples(1) >= PEERS_ENOUGH);
    CHECK(samples(2) > 0 && samples(2) < PEERS_ENOUGH);
    CHECK(samples(3) > 0 && samples(3) < PEERS_ENOUGH);
    CHECK(group[0].series[PEERS_SINGLE].ns[0] == 10 && group[1].series[PEERS_SINGLE].ns[0] == 25);
    CHECK(!group[0].problem[0] && group[0].sent > 0 && group[0].sent == 2 * group[0].lost);
}

static void a_peer_far_behind_is_not(void)
{
    const peers_result results[] = {{.library = &gyre, .way = &ours},
                                    {.library = &named, .way = &slow},
                                    {.library = &named, .way = &quick}};

    REQUIRE(measure(results, 3, false));
    CHECK(samples(0) >= PEERS_ENOUGH && samples(2) >= PEERS_ENOUGH);
    CHECK(samples(1) > 0 && samples(1) < PEERS_ENOUGH);
}

static void passes_add_up(void)
{
    peers_measuring how;
    size_t rounds;
    uint64_t sent;

    REQUIRE(begin(&how));
    how.once = false;
    how.passes = 2;
    group[0] = (peers_result){.library = &gyre, .way = &ours, .work = peers_work_find(block)};
    group[1] = (peers_result){.library = &named, .way = &slow, .work = peers_work_find(block)};
    CHECK(peers_measure(&how, group, 2, &rounds) == GYRE_OK);
    CHECK(samples(0) == PEERS_ENOUGH / 2 && samples(1) == PEERS_ENOUGH / 2);
    sent = group[0].sent;
    snprintf(group[1].problem, sizeof group[1].problem, "out");
    how.pass = 1;
    CHECK(peers_measure(&how, group, 2, &rounds) == GYRE_OK);
    CHECK(samples(0) == PEERS_ENOUGH && group[0].sent > sent && group[0].sent == 2 * group[0].lost);
    CHECK(samples(1) == PEERS_ENOUGH / 2); /* what erred once is out for good */
    end(&how);
}

static void samples_with_steal_are_counted_and_left_out(void)
{
    const peers_result results[] = {{.library = &gyre, .way = &ours},
                                    {.library = &named, .way = &robbed}};
    char name[] = "/tmp/peers_measure_test.XXXXXX";

    stolen_ticks = mkstemp(name);
    REQUIRE(stolen_ticks >= 0);
    (void)unlink(name);
    (void)!write(stolen_ticks, "cpu 0 0 0 0 0 0 0 0000\n", 23);
    CHECK(measure(results, 2, false));
    CHECK(group[1].stolen == 1 && group[1].unsteady == 0); /* the file says the same from then on */
    CHECK(group[0].stolen == 0 && samples(0) >= PEERS_ENOUGH);
    CHECK(samples(1) + 1 == samples(0)); /* each has one in every round */
    close(stolen_ticks);
    stolen_ticks = -1;
}

static void pingpongs_must_agree(void)
{
    peers_class class_;

    CHECK(peers_classify(100, 119, &class_) && class_ == PEERS_FAR);
    CHECK(!peers_classify(100, 121, &class_));
    CHECK(!peers_classify(121, 100, &class_));
    CHECK(peers_classify(45, 50, &class_) && class_ == PEERS_NEAR);
    CHECK(peers_classify(90, 90, &class_) && class_ == PEERS_NEAR); /* as gyre doctor */
    CHECK(peers_classify(91, 91, &class_) && class_ == PEERS_FAR);
    CHECK(!peers_classify(0, 0, &class_)); /* there was none */
}

static void what_another_process_sends_arrives(void)
{
    static peers_result sent[2], taken[2];
    peers_apart_news news = {0};
    char line[512];
    FILE *stream = tmpfile();

    REQUIRE(stream != NULL);
    sent[0] = (peers_result){.count = 8, .stolen = 1, .unsteady = 2, .sent = 3, .lost = 4};
    sent[0].series[PEERS_FAR] = (peers_series){.count = 2, .ns = {0.1, 7e4}, .pingpong_ns = {1, 2}};
    snprintf(sent[1].problem, sizeof sent[1].problem, "collapsed: 3 of 4");
    peers_apart_send(stream, sent, 2, 21);
    rewind(stream);
    while (fgets(line, sizeof line, stream))
        CHECK(peers_apart_take(line, taken, 2, &news));
    fclose(stream);
    CHECK(taken[0].count == 8 && taken[0].stolen == 1 && taken[0].unsteady == 2);
    CHECK(taken[0].sent == 3 && taken[0].lost == 4 && !taken[0].problem[0]);
    CHECK(taken[0].series[PEERS_FAR].count == 2 && taken[0].series[PEERS_NEAR].count == 0);
    CHECK(taken[0].series[PEERS_FAR].ns[0] == 0.1 && taken[0].series[PEERS_FAR].ns[1] == 7e4);
    CHECK(taken[0].series[PEERS_FAR].pingpong_ns[1] == 2);
    CHECK(strcmp(taken[1].problem, "collapsed: 3 of 4") == 0 && news.rounds == 21);
    CHECK(!news.sleeps); /* this process spins */
    CHECK(peers_apart_take("spin 0\n", taken, 2, &news) && news.sleeps);
}

static void nonsense_from_another_process_is_refused(void)
{
    static peers_result result;
    static const char *const lines[] = {
        "",
        "\n",
        "way 1 0 0 0 0 0\n",
        "way 0 1 2\n",
        "sample 0 3 1 1\n",
        "sample 1 0 1 1\n",
        "sample 0 0 x 1\n",
        "problem 1 a\n",
        "problem\n",
        "rounds x\n",
        "hello\n",
    };
    peers_apart_news news;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CHECK(!peers_apart_take(lines[i], &result, 1, &news));
    result.series[0].count = PEERS_SAMPLES;
    CHECK(!peers_apart_take("sample 0 0 1 1\n", &result, 1, &news));
}

static const test_case cases[] = {
    TEST(every_way_of_our_own_is_right),
    TEST(all_roles_are_there_together),
    TEST(what_takes_too_long_is_given_up),
    TEST(a_way_may_time_itself),
    TEST(a_queue_that_errs_is_noticed),
    TEST(a_peer_that_a_row_names_is_measured_to_the_end),
    TEST(a_peer_far_behind_is_not),
    TEST(passes_add_up),
    TEST(samples_with_steal_are_counted_and_left_out),
    TEST(pingpongs_must_agree),
    TEST(what_another_process_sends_arrives),
    TEST(nonsense_from_another_process_is_refused),
};
TEST_MAIN(cases)
