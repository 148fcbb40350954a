/* SPDX-License-Identifier: Apache-2.0
 *
 * attainment: see attainment.h.
 */
#include "record/attainment.h"

#include <string.h>

static gyre_attainment not_measured(const char *why, const char *reason)
{
    return (gyre_attainment){.attained = GYRE_ATTAINED_NOT_MEASURED,
                             .why = why,
                             .reason = reason && reason[0] ? reason : NULL};
}

static gyre_attainment figure(double point, double low, double high)
{
    return (gyre_attainment){.point = point, .low = low, .high = high};
}

/* The time of another benchmark, in the same words for one that is not there. */
static gyre_attainment median_of(const gyre_result *result)
{
    if (!result)
        return not_measured("no such benchmark here", NULL);
    switch (result->outcome) {
    case GYRE_OUTCOME_MEASURED:
        return figure(result->time.median_ns, result->time.ns.low, result->time.ns.high);
    case GYRE_OUTCOME_CHECKED:
        return not_measured("only checked", NULL);
    case GYRE_OUTCOME_FAILED:
        return not_measured("failed", result->reason);
    case GYRE_OUTCOME_SKIPPED:
        return not_measured("skipped", result->reason);
    case GYRE_OUTCOME_INTERRUPTED:
        break;
    }
    return not_measured("interrupted", NULL);
}

/* The longest time is the lowest rate. */
static gyre_attainment rate(const gyre_result *result, uint64_t work, const char *why)
{
    const gyre_figure *time = gyre_result_work_time(result);
    const double per_second = (double)work * 1e9;

    if (work == 0)
        return not_measured(why, NULL);
    return figure(per_second / time->median_ns, per_second / time->ns.high,
                  per_second / time->ns.low);
}

static gyre_attainment p99(const gyre_latency *latency, double confidence)
{
    for (size_t i = 0; i < latency->quantile_count; i++) {
        const gyre_interval *interval = &latency->quantile[i].interval;

        if (latency->quantile[i].p != 0.99)
            continue;
        if (interval->coverage < confidence)
            return not_measured("too few calls for an interval of p99", NULL);
        return figure(latency->quantile[i].ns, interval->low, interval->high);
    }
    return not_measured("its calls were not timed one by one (--latency)", NULL);
}

static gyre_attainment allocations(const gyre_result *result)
{
    const double count = result->memory.allocations;

    if (!result->memory.counted)
        return not_measured("its allocations were not counted (--memory)", NULL);
    return figure(count, count, count);
}

/* By the samples that were taken in turns with those of the other benchmark, where they were. */
static gyre_attainment against(const gyre_result *result, const gyre_run *run,
                               const gyre_target *target)
{
    const gyre_ratio *beside = &result->beside;
    const gyre_attainment time = median_of(result);
    gyre_attainment other;

    if (beside->id && strcmp(beside->id, target->other) == 0) {
        const gyre_estimate *e =
            target->quantity == GYRE_TARGET_RATIO ? &beside->times : &beside->more_ns;

        return figure(e->point, e->low, e->high);
    }
    other = median_of(gyre_run_find(run, target->other));

    if (other.why)
        return not_measured(other.reason ? "the other benchmark was not measured"
                                         : "the other benchmark is not here",
                            other.reason);
    if (target->quantity == GYRE_TARGET_MORE_NS)
        return figure(time.point - other.point, time.low - other.high, time.high - other.low);
    return figure(time.point / other.point, time.low / other.high, time.high / other.low);
}

static gyre_attainment counter(const gyre_bench_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (!facts->fact[i].text && strcmp(facts->fact[i].name, name) == 0)
            return figure(facts->fact[i].number, facts->fact[i].number, facts->fact[i].number);
    return not_measured("it does not report that number", NULL);
}

static gyre_attainment measure(const gyre_target *target, const gyre_run *run,
                               const gyre_result *result)
{
    const gyre_attainment time = median_of(result);

    if (time.why)
        return time;
    switch (target->quantity) {
    case GYRE_TARGET_MEDIAN_NS:
        return time;
    case GYRE_TARGET_P99_NS:
        return p99(&result->latency, run->method.confidence);
    case GYRE_TARGET_ITEMS_PER_S:
        return rate(result, result->items, "it declares no items");
    case GYRE_TARGET_BYTES_PER_S:
        return rate(result, result->bytes, "it declares no bytes");
    case GYRE_TARGET_ALLOCATIONS:
        return allocations(result);
    case GYRE_TARGET_RATIO:
    case GYRE_TARGET_MORE_NS:
        return against(result, run, target);
    case GYRE_TARGET_COUNTER:
        break;
    }
    return counter(&result->facts, target->counter);
}

gyre_attainment gyre_attainment_judge(const gyre_target *target, const gyre_run *run,
                                      const gyre_result *result)
{
    gyre_attainment a = measure(target, run, result);

    if (a.why)
        return a;
    if (target->at_least ? a.low >= target->limit : a.high <= target->limit)
        a.attained = GYRE_ATTAINED_MET;
    else if (target->at_least ? a.high < target->limit : a.low > target->limit)
        a.attained = GYRE_ATTAINED_MISSED;
    else
        a.attained = GYRE_ATTAINED_UNCLEAR;
    return a;
}

const char *gyre_attained_name(gyre_attained attained)
{
    static const char *const names[] = {"met", "missed", "unclear", "not measured"};

    return (size_t)attained < sizeof names / sizeof names[0] ? names[attained] : "unknown";
}
