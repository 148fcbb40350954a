/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/team.h"

#include <stdatomic.h>

#include "gyre/bench.h"
#include "gyre/clock.h"
#include "test.h"

enum { ROUNDS = 200 };

typedef struct shared {
    uint64_t by_thread[4][16]; /* plain: a round's end must make them visible to the caller */
    uint64_t plan;             /* plain: written by the caller between rounds, read in them */
    _Atomic uint64_t inside, most_inside;
} shared;

static void work(void *fixture, uint64_t iterations)
{
    shared *s = fixture;
    const uint64_t inside = atomic_fetch_add(&s->inside, 1) + 1;
    uint64_t most = atomic_load(&s->most_inside);

    while (inside > most && !atomic_compare_exchange_weak(&s->most_inside, &most, inside))
        continue;
    s->by_thread[gyre_bench_thread()][0] += iterations * s->plan;
    atomic_fetch_sub(&s->inside, 1);
}

static void every_thread_runs_every_round(void)
{
    for (uint32_t count = 1; count <= 4; count++) {
        static shared s;
        gyre_team *team;

        s = (shared){.plan = 0};
        REQUIRE(gyre_team_start(count, &team) == GYRE_OK);
        for (uint64_t i = 1; i <= ROUNDS; i++) {
            s.plan = i;
            (void)gyre_team_round(team, work, &s, 3, gyre_clock_now_ns);
            for (uint32_t t = 0; t < count; t++)
                CHECK(s.by_thread[t][0] == 3 * i * (i + 1) / 2);
        }
        CHECK(s.by_thread[count % 4][0] == (count == 4 ? s.by_thread[0][0] : 0));
        gyre_team_stop(team);
    }
    CHECK(gyre_bench_thread() == 0);
}

/* All but the first are late by a clock that only they move. */
static _Atomic uint64_t fake_ns;

static uint64_t fake_now(void)
{
    return atomic_load(&fake_ns);
}

static void be_late(void *fixture, uint64_t iterations)
{
    (void)fixture;
    if (gyre_bench_thread() == 1)
        atomic_fetch_add(&fake_ns, iterations);
}

static void round_lasts_until_the_last_has_returned(void)
{
    gyre_team *team;

    REQUIRE(gyre_team_start(2, &team) == GYRE_OK);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(gyre_team_round(team, be_late, NULL, 1000, fake_now) == 1000);
    gyre_team_stop(team);
}

static void impossible_teams_are_refused(void)
{
    gyre_team *team;

    CHECK(gyre_team_start(0, &team) == GYRE_INVALID && !team);
    CHECK(gyre_team_start(GYRE_TEAM_MOST + 1, &team) == GYRE_INVALID && !team);
    gyre_team_stop(NULL);
}

static const test_case cases[] = {
    TEST(every_thread_runs_every_round),
    TEST(round_lasts_until_the_last_has_returned),
    TEST(impossible_teams_are_refused),
};
TEST_MAIN(cases)
