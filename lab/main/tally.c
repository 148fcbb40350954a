/* SPDX-License-Identifier: Apache-2.0
 *
 * tally: see tally.h.
 */
#include "main/tally.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "main/supervise.h"

static void keep_result(void *user, gyre_result *result)
{
    gyre_result *kept = user;

    gyre_result_fini(kept);
    *kept = *result;
    *result = (gyre_result){0};
}

static void say_nothing(void *user, size_t index, const char *phase, size_t phase_length,
                        uint64_t left_ns)
{
    (void)user, (void)index, (void)phase, (void)phase_length, (void)left_ns;
}

static void print_nothing(void *user, const char *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
}

/* As much of the program's list as those who supervise ask for: the ids. */
static gyre_status imitate(const gyre_listing *listing, gyre_case_list *out_list)
{
    gyre_status status;
    void *block;

    *out_list = (gyre_case_list){0};
    status = gyre_alloc(NULL, listing->count, sizeof out_list->cases[0], &block);
    if (status != GYRE_OK)
        return status;
    out_list->cases = block;
    out_list->count = listing->count;
    for (size_t i = 0; i < listing->count; i++) {
        gyre_bench_case *c = &out_list->cases[i];

        memcpy(c->id, listing->cases[i].id, sizeof c->id);
        c->suite = c->bench.t0 = c->bench.t1 = c->bench.observer = "";
    }
    return GYRE_OK;
}

gyre_status gyre_tally(const gyre_tally_request *request, size_t index, gyre_result *out_result)
{
    static const gyre_method method = {.purpose = GYRE_PURPOSE_CHECK};
    gyre_case_list list;
    const gyre_supervision s = {
        .list = &list,
        .program = request->program,
        .method = &method,
        .isolation = GYRE_ISOLATE_BENCH,
        .memory = request->memory,
        .instructions = request->instructions,
        .timeout_ns = request->timeout_ns,
        .cpus = request->cpus,
        .interrupted = request->interrupted,
        .progress = say_nothing,
        .result = keep_result,
        .output = print_nothing,
        .user = out_result,
    };
    gyre_status status = imitate(request->listing, &list);

    *out_result = (gyre_result){0};
    if (status == GYRE_OK)
        status = gyre_supervise_one(&s, index);
    gyre_free(NULL, list.cases, list.count, sizeof list.cases[0]);
    if (status == GYRE_OK && !out_result->id)
        status = GYRE_CANCELLED;
    if (status != GYRE_OK)
        gyre_result_fini(out_result);
    return status;
}

/* What the result has of each, or NAN. */
static void take_values(const gyre_result *result, double values[GYRE_AB_COUNTS])
{
    const double none = (double)NAN;

    values[GYRE_AB_PEAK_RSS] =
        result->memory.peak_rss_bytes > 0 ? (double)result->memory.peak_rss_bytes : none;
    values[GYRE_AB_ALLOCATIONS] = result->memory.counted ? result->memory.allocations : none;
    values[GYRE_AB_ALLOCATED] = result->memory.counted ? result->memory.allocated_bytes : none;
    values[GYRE_AB_INSTRUCTIONS] =
        result->instructions.source ? result->instructions.per_iteration : none;
}

static void take_warnings(gyre_ab *ab, gyre_ab_bench *bench, size_t side, const gyre_result *result)
{
    for (size_t i = 0; i < result->warning_count && bench->warning_count < GYRE_RESULT_WARNINGS;
         i++)
        bench->warnings[bench->warning_count++] =
            gyre_arena_print(&ab->arena, "%s: %s", gyre_side_names[side], result->warnings[i]);
    if (result->outcome != GYRE_OUTCOME_CHECKED && bench->warning_count < GYRE_RESULT_WARNINGS)
        bench->warnings[bench->warning_count++] = gyre_arena_print(
            &ab->arena, "%s: not counted: %s", gyre_side_names[side], result->reason);
}

gyre_status gyre_tally_both(const gyre_tally_request requests[GYRE_SIDES],
                            const size_t indices[GYRE_SIDES], gyre_ab *ab, gyre_ab_bench *bench)
{
    double values[GYRE_SIDES][GYRE_AB_COUNTS];

    for (size_t side = 0; side < GYRE_SIDES; side++) {
        gyre_result result;
        const gyre_status status = gyre_tally(&requests[side], indices[side], &result);

        if (status != GYRE_OK)
            return status;
        take_values(&result, values[side]);
        take_warnings(ab, bench, side, &result);
        gyre_result_fini(&result);
    }
    for (size_t i = 0; i < GYRE_AB_COUNTS; i++) {
        const double old = values[GYRE_TURN_OLD][i], new = values[GYRE_TURN_NEW][i];

        if (!isnan(old) && !isnan(new))
            bench->counts[i] = (gyre_ab_count){.known = true, .old_value = old, .new_value = new};
    }
    return GYRE_OK;
}
