/* SPDX-License-Identifier: Apache-2.0 */
#include "peers/runner/judge.h"

#include <math.h>
#include <string.h>

#include "test.h"

/* Nothing is linked: the results are made by hand. */
const peers_library *const peers_libraries[] = {NULL};
const peers_absent peers_absents[] = {{NULL, NULL}};

static const peers_library gyre = {"Gyre", "0.1", PEERS_GYRE, NULL, 0};
static const peers_library other = {"Boost", "1.74", PEERS_PEER, NULL, 0};
static const peers_library camel = {"moodycamel", "1.0", PEERS_PEER, NULL, 0};
static const peers_library tokio = {"tokio", "1", PEERS_PEER, NULL, 0};
static const peers_library bare = {"bare", "", PEERS_FLOOR, NULL, 0};
static const peers_way plain = {
    .name = "queue", .capacity = "8", .policy = "wait", .in_flight = "2", .lossless = true};
static const peers_way lossy = {
    .capacity = "8", .policy = "drop", .in_flight = "2", .name = "broadcast", .lossless = false};
static const peers_way aside = {.capacity = "8",
                                .policy = "drop",
                                .in_flight = "2",
                                .name = "aside",
                                .lossless = true,
                                .aside = "grows"};

static peers_result results[8];
static peers_row rows[PEERS_ROWS];
static size_t count;

static peers_result *add(const peers_library *library, const peers_way *way, const char *work)
{
    results[count] = (peers_result){.library = library, .way = way, .work = peers_work_find(work)};
    return &results[count++];
}

/* So many samples around `ns`, whose median is that. */
static void fill(peers_result *result, peers_class class_, double ns, size_t samples)
{
    peers_series *series = &result->series[class_];

    series->count = samples;
    for (size_t i = 0; i < samples; i++) {
        series->ns[i] = i % 2 ? ns + 0.001 * (double)i : ns - 0.001 * (double)i;
        series->pingpong_ns[i] = class_ == PEERS_FAR ? 250 : 40;
    }
    series->ns[0] = ns;
}

/* Gyre and one peer of a work, 20 samples each. */
static void pair(const char *work, peers_class class_, double gyre_ns, double peer_ns)
{
    count = 0;
    fill(add(&gyre, &plain, work), class_, gyre_ns, PEERS_ENOUGH);
    fill(add(&other, &plain, work), class_, peer_ns, PEERS_ENOUGH);
}

static size_t judge(void)
{
    memset(rows, 0, sizeof rows);
    return peers_judge(results, count, rows);
}

static void ratio_is_of_the_medians(void)
{
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    REQUIRE(judge() == 1);
    CHECK(fabs(rows[0].gyre_ns - 3) < 0.02 && fabs(rows[0].best_peer_ns - 4) < 0.02);
    CHECK(fabs(rows[0].ratio - 0.75) < 0.01);
    CHECK(strcmp(rows[0].work, "spsc_cycle_64") == 0);
    CHECK(strcmp(rows[0].best_peer, "Boost 1.74 queue") == 0);
    CHECK(rows[0].verdict == PEERS_MET && rows[0].samples == 20 && rows[0].limit == 1.0);
    CHECK(strcmp(rows[0].conditions, "8, wait, 2") == 0);
    CHECK(strcmp(rows[0].best_peer_conditions, "8, wait, 2") == 0);
}

static void slower_than_the_limit_is_missed(void)
{
    pair("mpmc_cycle_64", PEERS_SINGLE, 19, 20); /* 0.95x; 0.9x is allowed */
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_MISSED);
}

static void the_fastest_of_the_peers_counts(void)
{
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    fill(add(&camel, &plain, "spsc_cycle_64"), PEERS_SINGLE, 2, PEERS_ENOUGH);
    REQUIRE(judge() == 1);
    CHECK(strcmp(rows[0].best_peer, "moodycamel 1.0 queue") == 0);
    CHECK(rows[0].verdict == PEERS_MISSED);
}

static void a_named_peer_is_the_only_one(void)
{
    count = 0;
    fill(add(&gyre, &plain, "stream_4p1c_64"), PEERS_FAR, 30, PEERS_TAIL);
    fill(add(&camel, &plain, "stream_4p1c_64"), PEERS_FAR, 50, PEERS_ENOUGH);
    fill(add(&other, &plain, "stream_4p1c_64"), PEERS_FAR, 20, PEERS_ENOUGH);
    REQUIRE(judge() == 1);
    CHECK(strncmp(rows[0].best_peer, "moodycamel", 10) == 0 && rows[0].verdict == PEERS_MET);
    CHECK(strcmp(rows[0].faster_peer, "Boost 1.74 queue") == 0);
    CHECK(fabs(rows[0].faster_peer_ns - 20) < 0.1);
    fill(&results[2], PEERS_FAR, 60, PEERS_ENOUGH);
    REQUIRE(judge() == 1);
    CHECK(!rows[0].faster_peer[0] && isnan(rows[0].faster_peer_ns));
}

static void what_stands_aside_is_not_compared(void)
{
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    fill(add(&camel, &aside, "spsc_cycle_64"), PEERS_SINGLE, 1, PEERS_ENOUGH);
    REQUIRE(judge() == 1);
    CHECK(strncmp(rows[0].best_peer, "Boost", 5) == 0);
}

static void a_peer_with_a_problem_is_not_compared(void)
{
    peers_result *bad;

    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    bad = add(&camel, &plain, "spsc_cycle_64");
    fill(bad, PEERS_SINGLE, 1, PEERS_ENOUGH);
    snprintf(bad->problem, sizeof bad->problem, "collapsed");
    REQUIRE(judge() == 1);
    CHECK(strncmp(rows[0].best_peer, "Boost", 5) == 0);
}

static void a_lossy_peer_is_no_match_for_a_lossless_one(void)
{
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    fill(add(&camel, &lossy, "spsc_cycle_64"), PEERS_SINGLE, 1, PEERS_ENOUGH);
    REQUIRE(judge() == 1);
    CHECK(strncmp(rows[0].best_peer, "Boost", 5) == 0);
}

static void loss_is_a_share_of_what_was_sent(void)
{
    peers_result *ours;

    count = 0;
    ours = add(&gyre, &lossy, "send_small");
    fill(ours, PEERS_SINGLE, 10, PEERS_ENOUGH);
    fill(add(&tokio, &lossy, "send_small"), PEERS_SINGLE, 40, PEERS_ENOUGH);
    ours->sent = 1000;
    ours->lost = 900;
    REQUIRE(judge() == 1);
    CHECK(fabs(rows[0].loss - 0.9) < 1e-9 && rows[0].verdict == PEERS_MET);
}

static void nineteen_samples_decide_nothing(void)
{
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    results[1].series[PEERS_SINGLE].count = 19;
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_UNDECIDED && rows[0].samples == 19);
    CHECK(strstr(rows[0].reason, "19 of 20 good samples of the peer") != NULL);
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    results[0].series[PEERS_SINGLE].count = 19;
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_UNDECIDED && strstr(rows[0].reason, "of Gyre") != NULL);
}

static void a_fast_peer_with_few_samples_leaves_it_undecided(void)
{
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    fill(add(&camel, &plain, "spsc_cycle_64"), PEERS_SINGLE, 2, 5);
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_UNDECIDED && strncmp(rows[0].best_peer, "moodycamel", 10) == 0);
}

static void without_peers_it_is_undecided(void)
{
    count = 0;
    fill(add(&gyre, &plain, "spsc_cycle_64"), PEERS_SINGLE, 3, PEERS_ENOUGH);
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_UNDECIDED && isnan(rows[0].ratio) && !rows[0].best_peer[0]);
}

static void gyres_own_problem_leaves_it_undecided(void)
{
    pair("spsc_cycle_64", PEERS_SINGLE, 3, 4);
    snprintf(results[0].problem, sizeof results[0].problem, "wrong: 1 of 2");
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_UNDECIDED && strstr(rows[0].reason, "wrong: 1 of 2") != NULL);
}

static void the_larger_of_two_allowances_holds(void)
{
    pair("spsc_cycle_8", PEERS_SINGLE, 1.45, 1); /* 1.5x is more than 1.3x */
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_MET && fabs(rows[0].limit - 1.5) < 0.01);
    CHECK(strcmp(rows[0].limit_text, "max(1.3x, +0.5 ns)") == 0);
    pair("spsc_cycle_8", PEERS_SINGLE, 12.9, 10); /* and here less */
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_MET && fabs(rows[0].limit - 1.3) < 0.01);
    pair("spsc_cycle_8", PEERS_SINGLE, 13.2, 10);
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_MISSED);
}

static void classes_are_not_mixed(void)
{
    pair("stream_1p1c_64", PEERS_FAR, 30, 60); /* 0.5x: met */
    fill(&results[0], PEERS_NEAR, 10, PEERS_ENOUGH);
    fill(&results[1], PEERS_NEAR, 12, PEERS_ENOUGH); /* 0.83x: missed */
    REQUIRE(judge() == 2);
    CHECK(rows[0].class_ == PEERS_FAR && rows[0].verdict == PEERS_MET);
    CHECK(rows[1].class_ == PEERS_NEAR && rows[1].verdict == PEERS_MISSED);
}

static void a_class_seen_too_rarely_has_no_row_beside_a_decided_one(void)
{
    pair("stream_1p1c_64", PEERS_FAR, 30, 60);
    fill(&results[0], PEERS_NEAR, 10, 3);
    REQUIRE(judge() == 1);
    CHECK(rows[0].class_ == PEERS_FAR);
}

static void gyre_near_and_the_peer_far_decide_nothing(void)
{
    pair("stream_1p1c_64", PEERS_FAR, 30, 60);
    results[0].series[PEERS_NEAR] = results[0].series[PEERS_FAR];
    results[0].series[PEERS_FAR].count = 0;
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_UNDECIDED);
}

static void a_round_trip_stands_beside_its_pingpong(void)
{
    count = 0;
    fill(add(&gyre, &plain, "round_trip_spin"), PEERS_FAR, 300, PEERS_ENOUGH);
    REQUIRE(judge() == 3); /* far, near, and against crossbeam */
    CHECK(rows[0].class_ == PEERS_FAR && rows[0].verdict == PEERS_MET);
    CHECK(fabs(rows[0].ratio - 1.2) < 0.01 && rows[0].floor_ns == 250);
    CHECK(rows[1].class_ == PEERS_NEAR && rows[1].verdict == PEERS_UNDECIDED);
    CHECK(strcmp(rows[2].work, "round_trip_spin_vs_crossbeam") == 0);
    CHECK(rows[2].verdict == PEERS_UNDECIDED);
    fill(&results[0], PEERS_NEAR, 95, PEERS_ENOUGH); /* 40 + 50 = 90 are allowed */
    REQUIRE(judge() == 3);
    CHECK(rows[1].verdict == PEERS_MISSED && fabs(rows[1].limit - 90.0 / 40) < 0.01);
    fill(&results[0], PEERS_NEAR, 85, PEERS_ENOUGH);
    REQUIRE(judge() == 3);
    CHECK(rows[1].verdict == PEERS_MET);
}

static void without_a_limit_it_is_not_judged(void)
{
    count = 0;
    fill(add(&gyre, &plain, "round_trip_park"), PEERS_FAR, 70000, PEERS_ENOUGH);
    fill(add(&bare, &plain, "round_trip_park"), PEERS_FAR, 60000, PEERS_ENOUGH);
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_NOT_JUDGED && isnan(rows[0].limit));
    CHECK(strcmp(rows[0].best_peer, "bare queue") == 0 && fabs(rows[0].ratio - 7.0 / 6) < 0.01);
    CHECK(fabs(rows[0].floor_ns - 60000) < 1);
}

static void a_long_tail_is_a_miss(void)
{
    peers_result *ours;

    count = 0;
    ours = add(&gyre, &plain, "stream_4p1c_64");
    fill(ours, PEERS_FAR, 30, PEERS_TAIL);
    fill(add(&camel, &plain, "stream_4p1c_64"), PEERS_FAR, 50, PEERS_ENOUGH);
    for (size_t i = 0; i < 4; i++)
        ours->series[PEERS_FAR].ns[i] = 1000;
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_MISSED && rows[0].ratio < rows[0].limit);
    CHECK(rows[0].also_value > 3 && rows[0].also_limit == 3);
    ours->series[PEERS_FAR].count = PEERS_TAIL - 1;
    REQUIRE(judge() == 1);
    CHECK(rows[0].verdict == PEERS_UNDECIDED && strstr(rows[0].reason, "49 of 50") != NULL);
}

static const peers_library bytes = {"bytes", "1", PEERS_PEER, NULL, 0};

static void sizes(double small_ns, double large_ns)
{
    count = 0;
    fill(add(&gyre, &plain, "bytes_clone_drop_1k"), PEERS_SINGLE, small_ns, PEERS_ENOUGH);
    fill(add(&gyre, &plain, "bytes_clone_drop_1m"), PEERS_SINGLE, large_ns, PEERS_ENOUGH);
    fill(add(&bytes, &plain, "bytes_clone_drop_1k"), PEERS_SINGLE, 24, PEERS_ENOUGH);
    fill(add(&bytes, &plain, "bytes_clone_drop_1m"), PEERS_SINGLE, 24, PEERS_ENOUGH);
}

static void a_cost_that_grows_with_the_size_is_a_miss(void)
{
    sizes(14, 14.5);
    REQUIRE(judge() == 2);
    CHECK(rows[0].verdict == PEERS_MET && rows[1].verdict == PEERS_MET);
    sizes(14, 15);
    REQUIRE(judge() == 2);
    CHECK(rows[0].verdict == PEERS_MET && rows[1].verdict == PEERS_MISSED);
    CHECK(rows[1].ratio < rows[1].limit && fabs(rows[1].also_value - 15.0 / 14) < 0.01);
    sizes(15, 14);
    REQUIRE(judge() == 2);
    CHECK(rows[1].verdict == PEERS_MISSED);
}

static void every_rule_is_about_a_work(void)
{
    for (size_t i = 0; peers_rule_at(i); i++) {
        const peers_rule *rule = peers_rule_at(i);

        CHECK(peers_work_find(rule->work ? rule->work : rule->id) != NULL);
        CHECK(rule->also != PEERS_ALSO_FLAT || peers_work_find(rule->flat_with) != NULL);
    }
}

static const test_case cases[] = {
    TEST(ratio_is_of_the_medians),
    TEST(slower_than_the_limit_is_missed),
    TEST(the_fastest_of_the_peers_counts),
    TEST(a_named_peer_is_the_only_one),
    TEST(what_stands_aside_is_not_compared),
    TEST(a_peer_with_a_problem_is_not_compared),
    TEST(a_lossy_peer_is_no_match_for_a_lossless_one),
    TEST(loss_is_a_share_of_what_was_sent),
    TEST(nineteen_samples_decide_nothing),
    TEST(a_fast_peer_with_few_samples_leaves_it_undecided),
    TEST(without_peers_it_is_undecided),
    TEST(gyres_own_problem_leaves_it_undecided),
    TEST(the_larger_of_two_allowances_holds),
    TEST(classes_are_not_mixed),
    TEST(a_class_seen_too_rarely_has_no_row_beside_a_decided_one),
    TEST(gyre_near_and_the_peer_far_decide_nothing),
    TEST(a_round_trip_stands_beside_its_pingpong),
    TEST(without_a_limit_it_is_not_judged),
    TEST(a_long_tail_is_a_miss),
    TEST(a_cost_that_grows_with_the_size_is_a_miss),
    TEST(every_rule_is_about_a_work),
};
TEST_MAIN(cases)
