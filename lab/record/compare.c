/* SPDX-License-Identifier: Apache-2.0
 *
 * compare: see compare.h.
 */
#include "record/compare.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "bench/analyse.h"

/* The result of that id if it was measured, else NULL. */
static const gyre_result *measured(const gyre_run *run, const char *id)
{
    const gyre_result *result = gyre_run_find(run, id);

    return result && result->outcome == GYRE_OUTCOME_MEASURED ? result : NULL;
}

/* Room for the ids of all results of a run. */
static gyre_id_list list_for(const gyre_run *run, gyre_arena *arena)
{
    return (gyre_id_list){
        .ids = gyre_arena_array(arena, run->count + 1, sizeof(const char *)),
    };
}

static void list_add(gyre_id_list *list, const char *id)
{
    list->ids[list->count++] = id;
}

static gyre_status require_all(const gyre_run *run, const gyre_run *base, const char *name)
{
    for (size_t i = 0; i < run->count; i++) {
        const gyre_result *result = &run->results[i];

        if (result->outcome == GYRE_OUTCOME_MEASURED && !measured(base, result->id))
            return gyre_fail(GYRE_NOT_FOUND,
                             "the baseline '%.*s' has no '%s': measure it there too",
                             gyre_text_cut(strlen(name)), name, result->id);
    }
    return GYRE_OK;
}

static gyre_status judge(gyre_result *result, const gyre_result *old, const char *name,
                         const gyre_method *method, gyre_compared *compared)
{
    const gyre_status status = gyre_analyse_change(result, old, name, method);
    gyre_comparison *change = &result->change;

    if (status == GYRE_NO_MEMORY || result->arena.exhausted)
        return gyre_fail(GYRE_NO_MEMORY, "out of memory comparing '%s'", result->id);
    if (status != GYRE_OK || !isfinite(change->low) || !isfinite(change->high)) {
        *change = (gyre_comparison){0};
        list_add(&compared->unjudged, result->id);
        return GYRE_OK;
    }
    compared->verdicts[change->verdict]++;
    compared->count++;
    return GYRE_OK;
}

static gyre_status judge_all(gyre_run *run, const gyre_run *base, const char *name,
                             const gyre_method *method, gyre_compared *compared)
{
    const gyre_method with = gyre_method_defaults(method);
    gyre_status status = GYRE_OK;

    for (size_t i = 0; i < run->count && status == GYRE_OK; i++) {
        gyre_result *result = &run->results[i];
        const gyre_result *old = measured(base, result->id);

        result->change = (gyre_comparison){0};
        if (result->outcome != GYRE_OUTCOME_MEASURED)
            continue;
        if (old)
            status = judge(result, old, name, &with, compared);
        else
            list_add(&compared->only_run, result->id);
    }
    for (size_t i = 0; i < base->count; i++) {
        const gyre_result *old = &base->results[i];

        if (old->outcome == GYRE_OUTCOME_MEASURED && !measured(run, old->id))
            list_add(&compared->only_base, old->id);
    }
    return status;
}

gyre_status gyre_compare(gyre_run *run, const gyre_run *base, const char *name,
                         const gyre_method *method, gyre_missing missing,
                         gyre_compared *out_compared)
{
    gyre_compared compared = {0};
    gyre_status status = GYRE_OK;

    *out_compared = compared;
    if (missing == GYRE_MISSING_REFUSED)
        status = require_all(run, base, name);
    if (status != GYRE_OK)
        return status;
    compared.only_run = list_for(run, &compared.arena);
    compared.only_base = list_for(base, &compared.arena);
    compared.unjudged = list_for(run, &compared.arena);
    if (compared.arena.exhausted)
        status = gyre_fail(GYRE_NO_MEMORY, "out of memory comparing with '%s'", name);
    else
        status = judge_all(run, base, name, method, &compared);
    if (status == GYRE_OK)
        *out_compared = compared;
    else
        gyre_compared_fini(&compared);
    return status;
}

void gyre_compared_fini(gyre_compared *compared)
{
    gyre_arena_fini(&compared->arena);
    *compared = (gyre_compared){0};
}
