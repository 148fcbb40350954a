/* SPDX-License-Identifier: Apache-2.0 */
#include "peers/runner/measure.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/library.h"
#include "gyre/topology.h"
#include "peers/runner/apart.h"
#include "peers/tables.h"
#include "test.h"

const peers_library *const peers_libraries[] = {
    &peers_gyre_queues, &peers_gyre_flow, &peers_gyre_send, &peers_gyre_bytes, &peers_floors, NULL};
const peers_absent peers_absents[] = {{NULL, NULL}};

static volatile sig_atomic_t interrupted;

static bool begin(peers_measuring *how)
{
    gyre_topology *topology;
    const gyre_topology_cpu *cpu;
    size_t found = 0;

    *how = (peers_measuring){.quick = true, .once = true, .interrupted = &interrupted};
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
    peers_result *const one = &result;
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
            CHECK(peers_measure(&how, &one, 1, &rounds) == GYRE_OK && rounds == 1);
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
    peers_result *const from[] = {&sent[0], &sent[1]}, *const to[] = {&taken[0], &taken[1]};
    size_t rounds = 0;
    char line[512];
    FILE *stream = tmpfile();

    REQUIRE(stream != NULL);
    sent[0] = (peers_result){.count = 8, .stolen = 1, .unsteady = 2, .sent = 3, .lost = 4};
    sent[0].series[PEERS_FAR] = (peers_series){.count = 2, .ns = {0.1, 7e4}, .pingpong_ns = {1, 2}};
    snprintf(sent[1].problem, sizeof sent[1].problem, "collapsed: 3 of 4");
    peers_apart_send(stream, from, 2, 21);
    rewind(stream);
    while (fgets(line, sizeof line, stream))
        CHECK(peers_apart_take(line, to, 2, &rounds));
    fclose(stream);
    CHECK(memcmp(&sent[0], &taken[0], sizeof sent[0]) == 0);
    CHECK(strcmp(taken[1].problem, "collapsed: 3 of 4") == 0 && rounds == 21);
}

static void nonsense_from_another_process_is_refused(void)
{
    static peers_result result;
    peers_result *const one = &result;
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
    size_t rounds;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CHECK(!peers_apart_take(lines[i], &one, 1, &rounds));
    result.series[0].count = PEERS_SAMPLES;
    CHECK(!peers_apart_take("sample 0 0 1 1\n", &one, 1, &rounds));
}

static const test_case cases[] = {
    TEST(every_way_of_our_own_is_right),
    TEST(all_roles_are_there_together),
    TEST(what_takes_too_long_is_given_up),
    TEST(a_way_may_time_itself),
    TEST(pingpongs_must_agree),
    TEST(what_another_process_sends_arrives),
    TEST(nonsense_from_another_process_is_refused),
};
TEST_MAIN(cases)
