/* SPDX-License-Identifier: Apache-2.0
 *
 * judge: see judge.h.
 *
 * "Faster" is asked as "slower" of the words with their signs turned, so that swapping the two
 * versions swaps the verdicts and nothing else.
 */
#include "record/judge.h"

#include <assert.h>
#include <math.h>

#include "base/alloc.h"
#include "stat/hodges_lehmann.h"
#include "stat/holm.h"
#include "stat/moments.h"
#include "stat/order.h"
#include "stat/student.h"

static const size_t looks[GYRE_JUDGE_LOOKS] = {GYRE_JUDGE_FIRST, 16, 32, GYRE_JUDGE_LAUNCHES};

/* Quantile of the normal distribution for the power that the MDE promises, 0.9. */
static const double POWER_QUANTILE = 1.28;

/* What some launches say: the estimate of ln(new / old) and how far it may be off. */
typedef struct evidence {
    double theta, error, freedom;
} evidence;

double gyre_judge_launch(const double *old_ns, const double *new_ns, size_t pairs)
{
    double ratios[GYRE_JUDGE_PAIRS];

    assert(pairs >= 1 && pairs <= GYRE_JUDGE_PAIRS);
    for (size_t i = 0; i < pairs; i++)
        ratios[i] = log(new_ns[i]) - log(old_ns[i]); /* finite, where the quotient may not be */
    gyre_stat_sort(ratios, pairs);
    return gyre_stat_quantile(ratios, pairs, 0.5);
}

bool gyre_judge_is_look(size_t launches)
{
    for (size_t i = 0; i < GYRE_JUDGE_LOOKS; i++)
        if (looks[i] == launches)
            return true;
    return false;
}

size_t gyre_judge_next_look(size_t launches)
{
    for (size_t i = 0; i < GYRE_JUDGE_LOOKS; i++)
        if (looks[i] > launches)
            return looks[i];
    return launches;
}

static evidence weigh(const double *words, size_t launches)
{
    const double sd = gyre_stat_std_dev(words, launches);

    return (evidence){
        .theta = gyre_stat_mean(words, launches),
        .error = sd / sqrt((double)launches),
        .freedom = (double)(launches - 1),
    };
}

/* The probability of evidence at least so far above the limit, were the truth at the limit. */
static double tail_above(const evidence *e, double limit)
{
    const double distance = e->theta - limit;

    if (e->error > 0)
        return gyre_stat_t_tail(distance / e->error, e->freedom);
    return distance > 0 ? 0 : 1;
}

static double tail_below(const evidence *e, double limit)
{
    const evidence turned = {-e->theta, e->error, e->freedom};

    return tail_above(&turned, -limit);
}

static double for_looks(double p)
{
    return fmin(1, GYRE_JUDGE_LOOKS * p);
}

/* The smallest over the looks taken, of which the end of the launches is one. */
static double p_above(const double *words, size_t launches, double limit)
{
    double smallest = 1;

    for (size_t n = 0; n < launches;) {
        const size_t look = gyre_judge_next_look(n);
        evidence e;

        n = look < launches ? look : launches;
        if (n < 2)
            break;
        e = weigh(words, n);
        smallest = fmin(smallest, tail_above(&e, limit));
    }
    return for_looks(smallest);
}

static double p_below_turned(const double *words, size_t launches, double limit)
{
    double turned[GYRE_JUDGE_LAUNCHES];

    for (size_t i = 0; i < launches; i++)
        turned[i] = -words[i];
    return p_above(turned, launches, limit);
}

gyre_answer gyre_judge_ask(const double *words, size_t launches, double bound)
{
    const double limit = log1p(bound);
    gyre_answer answer = {1, 1};
    evidence e;

    assert(launches <= GYRE_JUDGE_LAUNCHES && bound > -1);
    if (launches < 2)
        return answer;
    e = weigh(words, launches);
    answer.p_above = p_above(words, launches, limit);
    answer.p_below = for_looks(tail_below(&e, limit));
    return answer;
}

/* `p` is that of the likelier change, corrected for whatever suite it is in. */
static gyre_ab_verdict verdict_of(const gyre_judgement *judgement, double p, double alpha)
{
    if (judgement->p_equivalent <= alpha)
        return GYRE_AB_EQUIVALENT;
    if (p > alpha)
        return GYRE_AB_UNDECIDED;
    if (judgement->p_slower != judgement->p_faster)
        return judgement->p_slower < judgement->p_faster ? GYRE_AB_SLOWER : GYRE_AB_FASTER;
    return judgement->change > 0 ? GYRE_AB_SLOWER : GYRE_AB_FASTER;
}

static double p_changed(const gyre_judgement *judgement)
{
    return fmin(judgement->p_slower, judgement->p_faster);
}

gyre_judgement gyre_judge(const double *words, size_t launches, const gyre_rule *rule)
{
    const double limit = log1p(rule->margin);
    gyre_judgement judgement = {
        .launches = launches,
        .low = -1,
        .high = (double)INFINITY,
        .mde = (double)INFINITY,
        .p_slower = 1,
        .p_faster = 1,
        .p_equivalent = 1,
    };
    double estimate, t;
    evidence e;

    assert(launches <= GYRE_JUDGE_LAUNCHES);
    if (launches == 0)
        return judgement;
    if (gyre_stat_hodges_lehmann(words, launches, &estimate) != GYRE_OK)
        estimate = gyre_stat_mean(words, launches); /* without memory; it is for display */
    judgement.hodges_lehmann = expm1(estimate);
    judgement.change = expm1(gyre_stat_mean(words, launches));
    if (launches < 2)
        return judgement;
    e = weigh(words, launches);
    t = gyre_stat_t_quantile(1 - rule->alpha / GYRE_JUDGE_LOOKS, e.freedom);
    judgement.sd = gyre_stat_std_dev(words, launches);
    judgement.low = expm1(e.theta - t * e.error);
    judgement.high = expm1(e.theta + t * e.error);
    judgement.mde = expm1(limit + (t + POWER_QUANTILE) * e.error);
    judgement.p_slower = p_above(words, launches, limit);
    judgement.p_faster = p_below_turned(words, launches, limit);
    judgement.p_equivalent = for_looks(fmax(tail_below(&e, limit), tail_above(&e, -limit)));
    judgement.verdict = verdict_of(&judgement, p_changed(&judgement), rule->alpha);
    return judgement;
}

bool gyre_judge_settled(const gyre_judgement *judgement, const gyre_rule *rule, size_t family)
{
    return gyre_judge_is_look(judgement->launches) &&
           (p_changed(judgement) <= rule->alpha / (double)family ||
            judgement->p_equivalent <= rule->alpha);
}

gyre_status gyre_judge_suite(gyre_judgement *judgements, size_t count, size_t family,
                             const gyre_rule *rule)
{
    gyre_status status;
    double *p, *adjusted;
    void *block;

    assert(count <= family);
    if (count == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, 2 * family, sizeof *p, &block);
    if (status != GYRE_OK)
        return status;
    p = block;
    adjusted = p + family;
    for (size_t i = 0; i < family; i++)
        p[i] = i < count ? p_changed(&judgements[i]) : 1;
    gyre_stat_holm(p, family, adjusted);
    for (size_t i = 0; i < count; i++)
        judgements[i].verdict = verdict_of(&judgements[i], adjusted[i], rule->alpha);
    gyre_free(NULL, block, 2 * family, sizeof *p);
    return GYRE_OK;
}

const char *gyre_ab_verdict_name(gyre_ab_verdict verdict)
{
    static const char *const names[] = {"undecided", "equivalent", "faster", "slower"};

    return names[verdict];
}
