/* SPDX-License-Identifier: Apache-2.0
 *
 * workload: what `gyre selftest` lets the judge compare: the same work, and the same work plus a
 * known part of it.
 *
 * The first word of the command line is the extra work, in parts of ten thousand; the others are
 * those of every benchmark program. The extra is steps like all the others, in the same loop, so it
 * costs what its share of the steps says. Instructions count for the same share, which callgrind
 * can show.
 *
 * Threads   the harness's.
 * Owns      the fixtures.
 * Not here  the judge (lab/record/judge.h), the self-test (lab/main/selftest.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/bench.h"

enum {
    WHOLE = 10000,       /* parts */
    CHAIN_STEPS = 10000, /* of an iteration */
    LINES = 1 << 16,     /* of the ring, and that an iteration reads */
    WORDS_OF_A_LINE = 8, /* 64 bytes */
    PAGE_BYTES = 4096,
};

/* x -> x * MULTIPLIER + INCREMENT, of full period (Knuth's MMIX). */
static const uint64_t MULTIPLIER = 6364136223846793005, INCREMENT = 1442695040888963407;

static unsigned long extra; /* parts; set by main, constant afterwards */

static uint64_t with_extra(uint64_t steps)
{
    return steps + (steps * extra + WHOLE - 1) / WHOLE;
}

typedef struct chain {
    uint64_t state, steps; /* of an iteration */
} chain;

static gyre_status chain_setup(const gyre_bench_case *c, void **out_fixture)
{
    chain *fixture = calloc(1, sizeof *fixture);

    (void)c;
    *out_fixture = fixture;
    if (!fixture)
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a chain");
    fixture->steps = with_extra(CHAIN_STEPS);
    return GYRE_OK;
}

static void chain_run(void *fixture, uint64_t iterations)
{
    chain *f = fixture;
    uint64_t state = f->state;

    for (uint64_t i = 0; i < iterations; i++)
        for (uint64_t step = f->steps; step > 0; step--) {
            state = state * MULTIPLIER + INCREMENT;
            __asm__ volatile(""
                             : "+r"(state)); /* each step for itself: none is folded into another */
        }
    f->state = state;
}

/* The state that many steps after 0: the map of two steps, of four, ..., those that make up
 * `steps` applied. */
static uint64_t state_after(uint64_t steps)
{
    uint64_t state = 0, multiplier = MULTIPLIER, increment = INCREMENT;

    for (; steps > 0; steps /= 2) {
        if (steps % 2)
            state = state * multiplier + increment;
        increment *= multiplier + 1;
        multiplier *= multiplier;
    }
    return state;
}

static bool chain_is_where_it_must_be(const void *fixture, uint64_t iterations)
{
    const chain *f = fixture;

    return f->state == state_after(iterations * f->steps);
}

/* 4 MB, more than the caches of one core hold. Every step is to cost the same, or the extra ones
 * would not cost their share. So the cursor goes on around the ring from iteration to iteration:
 * one that began at 0 again would find its first lines in the nearest cache. And an iteration is a
 * whole round, so that the untimed batch after a hand-off (lab/bench/turns.h) touches every line:
 * with quarters of a round, lines that had not been touched since were slower, extra work meant
 * fewer of them, and 5 % showed as 4.2 on two virtual cores that others were busy on. */
typedef struct ring {
    uint64_t *words; /* LINES lines, the first word of each is its number */
    uint64_t at;     /* the next line */
    uint64_t sum;    /* of the numbers that were read */
    uint64_t lines;  /* of an iteration */
} ring;

static void ring_teardown(void *fixture)
{
    ring *f = fixture;

    if (f)
        free(f->words);
    free(f);
}

static gyre_status ring_setup(const gyre_bench_case *c, void **out_fixture)
{
    const size_t bytes = (size_t)LINES * WORDS_OF_A_LINE * sizeof(uint64_t);
    ring *fixture = calloc(1, sizeof *fixture);

    (void)c;
    *out_fixture = NULL;
    if (fixture)
        fixture->words = aligned_alloc(PAGE_BYTES, bytes);
    if (!fixture || !fixture->words) {
        ring_teardown(fixture);
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for a ring of %zu bytes", bytes);
    }
    memset(fixture->words, 0, bytes);
    for (uint64_t line = 0; line < LINES; line++)
        fixture->words[line * WORDS_OF_A_LINE] = line;
    fixture->lines = with_extra(LINES);
    *out_fixture = fixture;
    return GYRE_OK;
}

static void ring_run(void *fixture, uint64_t iterations)
{
    ring *f = fixture;
    uint64_t at = f->at, sum = f->sum;

    for (uint64_t i = 0; i < iterations; i++)
        for (uint64_t left = f->lines; left > 0; left--) {
            sum += f->words[at % LINES * WORDS_OF_A_LINE];
            at++;
            __asm__ volatile("" : "+r"(sum));
        }
    f->at = at;
    f->sum = sum;
}

static bool ring_sum_is_right(const void *fixture, uint64_t iterations)
{
    const uint64_t whole = (uint64_t)LINES * (LINES - 1) / 2;
    const ring *f = fixture;
    const uint64_t rounds = f->at / LINES, rest = f->at % LINES;

    return f->at == iterations * f->lines && f->sum == rounds * whole + rest * (rest - 1) / 2;
}

static const gyre_bench benches[] = {
    {
        .name = "judge/alu",
        .t0 = "before the first step",
        .t1 = "after the last",
        .observer = "the same thread; where the chain must have come to is computed beside it",
        .setup = chain_setup,
        .run = chain_run,
        .check = chain_is_where_it_must_be,
        .teardown = free,
    },
    {
        .name = "judge/memory",
        .t0 = "before the first line",
        .t1 = "after the last",
        .observer = "the same thread, which adds up what it reads",
        .setup = ring_setup,
        .run = ring_run,
        .check = ring_sum_is_right,
        .teardown = ring_teardown,
    },
};

static const gyre_suite suite = GYRE_SUITE("judge", benches);

int main(int argc, char **argv)
{
    const gyre_suite *const suites[] = {&suite, NULL};
    char *end = NULL;

    extra = argc > 1 ? strtoul(argv[1], &end, 10) : 0;
    if (!end || end == argv[1] || *end || extra > WHOLE) {
        fprintf(stderr,
                "usage: %s PARTS [OPTIONS] [FILTER...]\n\nPARTS is the extra work, from 0 to "
                "%d ten-thousandths.\n",
                argc > 0 ? argv[0] : "workload", WHOLE);
        return 2;
    }
    argv[1] = argv[0]; /* the name, for messages */
    return gyre_bench_main(argc - 1, argv + 1, suites);
}
