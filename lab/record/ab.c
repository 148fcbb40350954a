/* SPDX-License-Identifier: Apache-2.0
 *
 * ab: see ab.h.
 */
#include "record/ab.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "stat/order.h"

/* Over a head that the caller has made, which is the new one's, or gone when there is no memory. */
static gyre_status create_around(gyre_run *head, gyre_ab **out_ab)
{
    void *block;
    gyre_status status = gyre_alloc(NULL, 1, sizeof **out_ab, &block);

    *out_ab = NULL;
    if (status != GYRE_OK) {
        gyre_run_destroy(head);
        return status;
    }
    *out_ab = block;
    (*out_ab)->head = head;
    for (size_t i = 0; i < 2; i++)
        (*out_ab)->sides[i].command = (*out_ab)->sides[i].path = "";
    return GYRE_OK;
}

gyre_status gyre_ab_create(int argc, char *const *argv, gyre_ab **out_ab)
{
    gyre_run *head;
    gyre_status status = gyre_run_create(0, argc, argv, &head);

    *out_ab = NULL;
    return status == GYRE_OK ? create_around(head, out_ab) : status;
}

gyre_status gyre_ab_create_blank(gyre_ab **out_ab)
{
    gyre_run *head;
    gyre_status status = gyre_run_create_blank(0, &head);

    *out_ab = NULL;
    return status == GYRE_OK ? create_around(head, out_ab) : status;
}

gyre_status gyre_ab_reserve(gyre_ab *ab, size_t capacity)
{
    gyre_status status;
    void *block;

    assert(!ab->benches);
    if (capacity == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, capacity, sizeof ab->benches[0], &block);
    if (status != GYRE_OK)
        return status;
    ab->benches = block;
    ab->capacity = capacity;
    return GYRE_OK;
}

gyre_ab_bench *gyre_ab_add(gyre_ab *ab, const char *id)
{
    gyre_ab_bench *bench = &ab->benches[ab->count];

    assert(ab->count < ab->capacity);
    ab->count++;
    bench->id = gyre_arena_text(&ab->arena, id);
    bench->clock = "host";
    bench->side = -1;
    bench->reason = bench->last_words = "";
    return bench;
}

gyre_ab_launch *gyre_ab_launch_begin(gyre_ab *ab, gyre_ab_bench *bench, size_t pairs)
{
    gyre_ab_launch *launch = &bench->launches[bench->launch_count];
    double *times;

    assert(bench->launch_count < GYRE_JUDGE_LAUNCHES && pairs >= 1 && pairs <= GYRE_JUDGE_PAIRS);
    times = gyre_arena_array(&ab->arena, 2 * pairs, sizeof times[0]);
    if (!times)
        return NULL;
    *launch = (gyre_ab_launch){
        .iterations = 1,
        .cpu = -1,
        .pairs = pairs,
        .order = "",
        .old_ns = times,
        .new_ns = times + pairs,
    };
    return launch;
}

size_t gyre_ab_words(const gyre_ab_bench *bench, double words[GYRE_JUDGE_LAUNCHES])
{
    for (size_t i = 0; i < bench->launch_count; i++) {
        const gyre_ab_launch *launch = &bench->launches[i];

        words[i] = gyre_judge_launch(launch->old_ns, launch->new_ns, launch->pairs);
    }
    return bench->launch_count;
}

double gyre_ab_old_ns(const gyre_ab_bench *bench)
{
    double medians[GYRE_JUDGE_LAUNCHES], times[GYRE_JUDGE_PAIRS];

    for (size_t i = 0; i < bench->launch_count; i++) {
        const gyre_ab_launch *launch = &bench->launches[i];

        memcpy(times, launch->old_ns, launch->pairs * sizeof times[0]);
        gyre_stat_sort(times, launch->pairs);
        medians[i] = gyre_stat_quantile(times, launch->pairs, 0.5) / (double)launch->iterations;
    }
    if (bench->launch_count == 0)
        return 0;
    gyre_stat_sort(medians, bench->launch_count);
    return gyre_stat_quantile(medians, bench->launch_count, 0.5);
}

gyre_status gyre_ab_judge(gyre_ab *ab)
{
    gyre_judgement *judgements;
    gyre_status status;
    size_t count = 0;
    void *block;

    if (ab->count == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, ab->count, sizeof judgements[0], &block);
    if (status != GYRE_OK)
        return status;
    judgements = block;
    for (size_t i = 0; i < ab->count; i++) {
        double words[GYRE_JUDGE_LAUNCHES];

        ab->benches[i].judgement = (gyre_judgement){0};
        if (ab->benches[i].outcome == GYRE_OUTCOME_MEASURED)
            judgements[count++] =
                gyre_judge(words, gyre_ab_words(&ab->benches[i], words), &ab->rule);
    }
    status = gyre_judge_suite(judgements, count, ab->count, &ab->rule);
    count = 0;
    for (size_t i = 0; i < ab->count; i++)
        if (ab->benches[i].outcome == GYRE_OUTCOME_MEASURED)
            ab->benches[i].judgement = judgements[count++];
    gyre_free(NULL, block, ab->count, sizeof judgements[0]);
    return status;
}

void gyre_ab_destroy(gyre_ab *ab)
{
    if (!ab)
        return;
    gyre_run_destroy(ab->head);
    gyre_free(NULL, ab->benches, ab->capacity, sizeof ab->benches[0]);
    gyre_arena_fini(&ab->arena);
    gyre_free(NULL, ab, 1, sizeof *ab);
}

const char *gyre_ab_counted_name(gyre_ab_counted counted)
{
    static const char *const names[] = {"peak_rss_bytes", "allocations", "allocated_bytes",
                                        "instructions"};

    return names[counted];
}

static bool same_bits(double a, double b)
{
    uint64_t bits_a, bits_b;

    memcpy(&bits_a, &a, sizeof bits_a);
    memcpy(&bits_b, &b, sizeof bits_b);
    return bits_a == bits_b;
}

bool gyre_judgement_same(const gyre_judgement *a, const gyre_judgement *b)
{
    return a->launches == b->launches && same_bits(a->change, b->change) &&
           same_bits(a->low, b->low) && same_bits(a->high, b->high) &&
           same_bits(a->hodges_lehmann, b->hodges_lehmann) && same_bits(a->sd, b->sd) &&
           same_bits(a->mde, b->mde) && same_bits(a->p_slower, b->p_slower) &&
           same_bits(a->p_faster, b->p_faster) && same_bits(a->p_equivalent, b->p_equivalent) &&
           a->verdict == b->verdict;
}
