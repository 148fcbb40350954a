/* SPDX-License-Identifier: Apache-2.0
 *
 * launch_bare: the cases of suites/launch.c done by the CUDA driver alone, and the command that
 * both carry.
 *
 * Threads   the one that runs the case.
 * Owns      a fixture per case.
 */
#ifndef GYRE_SUITES_LAUNCH_BARE_H
#define GYRE_SUITES_LAUNCH_BARE_H

#include "gyre/bench.h"

enum { GYRE_COMMAND_FLOATS = 64, GYRE_COMMAND_BYTES = 256 };

/* What a traditional command carries; in pinned memory. */
typedef struct gyre_words {
    float in[GYRE_COMMAND_FLOATS];
    float out[GYRE_COMMAND_FLOATS];
    uint64_t number; /* of the command */
} gyre_words;

void gyre_words_init(gyre_words *words);

/* The next command differs from the last in its first and its last float, one of which is negative.
 */
GYRE_INLINE void gyre_words_next(gyre_words *words)
{
    const float number = (float)(++words->number % 65536 + 1);
    const float sign = words->number % 2 == 0 ? 1.0F : -1.0F;

    words->in[0] = sign * number;
    words->in[GYRE_COMMAND_FLOATS - 1] = -sign * number;
}

/* Whether these two came back as they should. */
GYRE_INLINE bool gyre_words_came_back(const gyre_words *words)
{
    const float first = words->in[0], last = words->in[GYRE_COMMAND_FLOATS - 1];

    gyre_bench_keep(words); /* the device wrote it */
    return words->out[0] == (first > 0 ? first : 0) &&
           words->out[GYRE_COMMAND_FLOATS - 1] == (last > 0 ? last : 0);
}

/* The functions of the cases, for a table. */
GYRE_MUST_USE gyre_status gyre_bare_launch_setup(const gyre_bench_case *c, void **out_fixture);
void gyre_bare_launch_teardown(void *fixture);
void gyre_bare_launch_tell(const void *fixture, uint64_t iterations, gyre_bench_facts *facts);
void gyre_bare_wait_until_idle(void *fixture, uint64_t iterations);
void gyre_bare_enqueue(void *fixture, uint64_t iterations);
void gyre_bare_launch_and_sync(void *fixture, uint64_t iterations);
void gyre_bare_graph_and_sync(void *fixture, uint64_t iterations);
void gyre_bare_wait_for_event(void *fixture, uint64_t iterations);
void gyre_bare_command_each(void *fixture, uint64_t iterations);
GYRE_MUST_USE bool gyre_bare_all_counted(const void *fixture, uint64_t iterations);
GYRE_MUST_USE bool gyre_bare_all_came_back(const void *fixture, uint64_t iterations);

#endif
