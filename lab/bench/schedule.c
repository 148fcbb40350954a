/* SPDX-License-Identifier: Apache-2.0
 *
 * schedule: see schedule.h.
 *
 * Every case gets a key (its group's, then its own), and the list is sorted by the keys.
 */
#include "bench/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "stat/random.h"

typedef struct key {
    size_t group;     /* where its group first appears: tells groups apart, and breaks ties */
    uint64_t rank[2]; /* of the group */
    uint64_t own;     /* within the group */
    size_t index;     /* of the case, before */
} key;

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_key(const void *left, const void *right)
{
    const key *a = left, *b = right;
    int difference = compare(a->rank[0], b->rank[0]);

    if (difference == 0)
        difference = compare(a->rank[1], b->rank[1]);
    if (difference == 0)
        difference = compare(a->group, b->group);
    if (difference == 0)
        difference = compare(a->own, b->own);
    return difference ? difference : compare(a->index, b->index);
}

static bool same_group(const char *a, const char *b)
{
    const size_t length = gyre_case_group_length(a);

    return length == gyre_case_group_length(b) && memcmp(a, b, length) == 0;
}

static size_t first_of_group(const gyre_case_list *list, const key *keys, size_t index)
{
    const char *id = list->cases[index].id;

    if (index > 0 && same_group(list->cases[index - 1].id, id))
        return keys[index - 1].group;
    for (size_t i = 0; i < index; i++)
        if (keys[i].group == i && same_group(list->cases[i].id, id))
            return i;
    return index;
}

/* None of the suite's own code is asked: it might crash, and this is not a worker. */
static uint64_t work_of(const gyre_bench_case *c)
{
    uint64_t most = 0;

    for (size_t i = 0; i < GYRE_BENCH_AXES; i++)
        if (c->bench.axes[i].name && !c->words[i] && c->values[i] > 0 &&
            (uint64_t)c->values[i] > most)
            most = (uint64_t)c->values[i];
    return most;
}

/* Ranks of a group are kept with its first case, then given to all. */
static void rank(const gyre_case_list *list, gyre_order order, uint64_t seed, key *keys)
{
    gyre_stat_random random;

    gyre_stat_random_seed(&random, seed);
    for (size_t i = 0; i < list->count; i++) {
        const gyre_bench_case *c = &list->cases[i];
        key *first;

        keys[i].index = i;
        keys[i].group = first_of_group(list, keys, i);
        first = &keys[keys[i].group];
        if (order == GYRE_ORDER_RANDOM) {
            if (first == &keys[i])
                first->rank[0] = gyre_stat_random_next(&random);
            keys[i].own = gyre_stat_random_next(&random);
        } else if (order == GYRE_ORDER_LIGHT) {
            const uint64_t class = c->bench.tags & (GYRE_TAG_GPU | GYRE_TAG_SLOW);
            const uint64_t work = work_of(c);

            first->rank[0] = first->rank[0] > class ? first->rank[0] : class;
            first->rank[1] = first->rank[1] > work ? first->rank[1] : work;
        }
    }
    for (size_t i = 0; i < list->count; i++)
        memcpy(keys[i].rank, keys[keys[i].group].rank, sizeof keys[i].rank);
}

gyre_status gyre_schedule(gyre_case_list *list, gyre_order order, uint64_t seed)
{
    gyre_bench_case *sorted;
    key *keys;
    gyre_status status;
    void *block;

    if (list->count == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, list->count, sizeof keys[0], &block);
    if (status != GYRE_OK)
        return status;
    keys = block;
    status = gyre_alloc(NULL, list->count, sizeof sorted[0], &block);
    if (status == GYRE_OK) {
        sorted = block;
        rank(list, order, seed, keys);
        qsort(keys, list->count, sizeof keys[0], by_key);
        for (size_t i = 0; i < list->count; i++)
            sorted[i] = list->cases[keys[i].index];
        memcpy(list->cases, sorted, list->count * sizeof sorted[0]);
        gyre_free(NULL, sorted, list->count, sizeof sorted[0]);
    }
    gyre_free(NULL, keys, list->count, sizeof keys[0]);
    return status;
}

size_t gyre_schedule_share(const gyre_case_list *list, size_t first, gyre_isolation isolation)
{
    size_t end = first + 1;

    if (isolation == GYRE_ISOLATE_BENCH)
        return 1;
    while (end < list->count && (isolation == GYRE_ISOLATE_NONE ||
                                 same_group(list->cases[first].id, list->cases[end].id)))
        end++;
    return end - first;
}

const char *gyre_order_name(gyre_order order)
{
    static const char *const names[] = {"declared", "light", "random"};

    return (size_t)order < sizeof names / sizeof names[0] ? names[order] : "unknown";
}

const char *gyre_isolation_name(gyre_isolation isolation)
{
    static const char *const names[] = {"group", "bench", "none"};

    return (size_t)isolation < sizeof names / sizeof names[0] ? names[isolation] : "unknown";
}
