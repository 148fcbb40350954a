/* SPDX-License-Identifier: Apache-2.0
 *
 * selftest: see selftest.h.
 */
#include "record/selftest.h"

#include <assert.h>

#include "base/alloc.h"
#include "stat/binomial.h"
#include "stat/moments.h"
#include "stat/order.h"
#include "stat/random.h"

static const double CONFIDENCE = 0.95;

/* Full: 3 alarms in 400 have an upper bound under 2 %. Quick: what fits into 3 minutes, with 30 of
 * the same program; what is found is measured twice, and a change that equals the margin cannot be
 * decided and takes all its launches. */
static const size_t planned[][GYRE_SELFTEST_KINDS] = {
    [GYRE_SELFTEST_QUICK] = {30, 2, 20, 15, 5},
    [GYRE_SELFTEST_FULL] = {400, 200, 200, 200, 100},
};

static void plan_rows(gyre_selftest *selftest, size_t trials)
{
    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++) {
        gyre_selftest_row *row = &selftest->rows[i];

        row->workload = (gyre_selftest_workload)(i / GYRE_SELFTEST_KINDS);
        row->kind = (gyre_selftest_kind)(i % GYRE_SELFTEST_KINDS);
        row->planned =
            selftest->mode == GYRE_SELFTEST_CUSTOM ? trials : planned[selftest->mode][row->kind];
        row->proof.reason = "";
        selftest->capacity += row->planned;
    }
}

gyre_status gyre_selftest_create(gyre_selftest_mode mode, size_t trials, gyre_run *head,
                                 gyre_selftest **out_selftest)
{
    gyre_selftest *selftest;
    void *block;
    gyre_status status = gyre_alloc(NULL, 1, sizeof *selftest, &block);

    assert(mode != GYRE_SELFTEST_CUSTOM || (trials >= 1 && trials <= GYRE_SELFTEST_MOST));
    *out_selftest = NULL;
    if (status != GYRE_OK) {
        gyre_run_destroy(head);
        return status;
    }
    selftest = block;
    selftest->head = head;
    selftest->mode = mode;
    plan_rows(selftest, trials);
    status = gyre_alloc(NULL, selftest->capacity, sizeof selftest->trials[0], &block);
    if (status != GYRE_OK)
        goto fail;
    selftest->trials = block;
    status = gyre_alloc(NULL, selftest->capacity, sizeof selftest->scratch[0], &block);
    if (status != GYRE_OK)
        goto fail;
    selftest->scratch = block;
    *out_selftest = selftest;
    return GYRE_OK;
fail:
    gyre_selftest_destroy(selftest);
    return status;
}

void gyre_selftest_destroy(gyre_selftest *selftest)
{
    if (!selftest)
        return;
    gyre_run_destroy(selftest->head);
    gyre_free(NULL, selftest->trials, selftest->capacity, sizeof selftest->trials[0]);
    gyre_free(NULL, selftest->scratch, selftest->capacity, sizeof selftest->scratch[0]);
    gyre_arena_fini(&selftest->arena);
    gyre_free(NULL, selftest, 1, sizeof *selftest);
}

void gyre_selftest_order(const gyre_selftest *selftest, size_t *rows)
{
    gyre_stat_random random;
    size_t count = 0;

    for (size_t i = 0; i < GYRE_SELFTEST_ROWS; i++)
        for (size_t k = 0; k < selftest->rows[i].planned; k++)
            rows[count++] = i;
    gyre_stat_random_seed(&random, selftest->seed);
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)gyre_stat_random_below(&random, i);
        const size_t row = rows[i - 1];

        rows[i - 1] = rows[other];
        rows[other] = row;
    }
}

void gyre_selftest_add(gyre_selftest *selftest, const gyre_selftest_trial *trial)
{
    assert(selftest->count < selftest->capacity && trial->row < GYRE_SELFTEST_ROWS);
    selftest->trials[selftest->count++] = *trial;
    selftest->rows[trial->row].count++;
}

bool gyre_selftest_full(const gyre_selftest *selftest)
{
    return selftest->mode == GYRE_SELFTEST_FULL && selftest->count == selftest->capacity &&
           !selftest->head->interrupted;
}

static bool is_change(gyre_ab_verdict verdict)
{
    return verdict == GYRE_AB_SLOWER || verdict == GYRE_AB_FASTER;
}

bool gyre_selftest_confirmed(const gyre_selftest_trial *trial)
{
    return is_change(trial->verdict) && trial->second == trial->verdict;
}

static gyre_selftest_share share_of(size_t hits, size_t trials)
{
    gyre_selftest_share share = {.hits = hits, .trials = trials, .high = 1};

    if (trials == 0)
        return share;
    share.share = (double)hits / (double)trials;
    share.low = gyre_stat_binomial_lower(hits, trials, CONFIDENCE);
    share.high = gyre_stat_binomial_upper(hits, trials, CONFIDENCE);
    return share;
}

typedef double getter(const gyre_selftest_trial *trial);

static double get_change(const gyre_selftest_trial *trial)
{
    return trial->change;
}

static double get_mde(const gyre_selftest_trial *trial)
{
    return trial->mde;
}

static double get_seconds(const gyre_selftest_trial *trial)
{
    return trial->seconds;
}

static double get_launches(const gyre_selftest_trial *trial)
{
    return (double)trial->launches;
}

/* That number of the row's trials, sorted, in the scratch; how many. */
static size_t collect(const gyre_selftest *selftest, size_t row, getter *get)
{
    size_t count = 0;

    for (size_t i = 0; i < selftest->count; i++)
        if (selftest->trials[i].row == row)
            selftest->scratch[count++] = get(&selftest->trials[i]);
    gyre_stat_sort(selftest->scratch, count);
    return count;
}

/* The median, and the largest where somebody wants it. */
static double middle(const gyre_selftest *selftest, size_t row, getter *get, double *out_largest)
{
    const size_t count = collect(selftest, row, get);

    if (out_largest)
        *out_largest = selftest->scratch[count - 1];
    return gyre_stat_quantile(selftest->scratch, count, 0.5);
}

gyre_selftest_figures gyre_selftest_figure(const gyre_selftest *selftest, size_t row)
{
    const bool added = gyre_selftest_extra(selftest->rows[row].kind) > 0;
    size_t trials = 0, equivalent = 0, undecided = 0, unconfirmed = 0, found = 0;
    gyre_selftest_figures figures = {0};

    for (size_t i = 0; i < selftest->count; i++) {
        const gyre_selftest_trial *trial = &selftest->trials[i];
        const bool confirmed = gyre_selftest_confirmed(trial);
        const bool wrong = confirmed && added && trial->verdict == GYRE_AB_FASTER;

        if (trial->row != row)
            continue;
        trials++;
        equivalent += trial->verdict == GYRE_AB_EQUIVALENT;
        undecided += trial->verdict == GYRE_AB_UNDECIDED;
        unconfirmed += is_change(trial->verdict) && !confirmed;
        figures.wrong += wrong;
        found += confirmed && !wrong;
    }
    figures.trials = trials;
    figures.found = share_of(found, trials);
    figures.equivalent = share_of(equivalent, trials);
    figures.undecided = share_of(undecided, trials);
    figures.unconfirmed = share_of(unconfirmed, trials);
    if (trials == 0)
        return figures;
    figures.change = middle(selftest, row, get_change, NULL);
    figures.change_sd = gyre_stat_std_dev(selftest->scratch, trials);
    figures.mde = middle(selftest, row, get_mde, &figures.mde_largest);
    figures.seconds = middle(selftest, row, get_seconds, &figures.seconds_largest);
    figures.launches = middle(selftest, row, get_launches, NULL);
    return figures;
}

unsigned gyre_selftest_extra(gyre_selftest_kind kind)
{
    static const unsigned parts[GYRE_SELFTEST_KINDS] = {0, 100, 200, 500, 0};

    return parts[kind];
}

const char *gyre_selftest_kind_name(gyre_selftest_kind kind)
{
    static const char *const names[] = {"A/A", "+1 %", "+2 %", "+5 %", "relinked"};

    return names[kind];
}

const char *gyre_selftest_workload_name(gyre_selftest_workload workload)
{
    static const char *const names[] = {"judge/alu", "judge/memory"};

    return names[workload];
}

const char *gyre_selftest_mode_name(gyre_selftest_mode mode)
{
    static const char *const names[] = {"quick", "full", "custom"};

    return names[mode];
}
