/* SPDX-License-Identifier: Apache-2.0
 *
 * histogram: see gyre/histogram.h. Which bucket counts a time is said where devices see it, too
 * (actor/annex_abi.h).
 *
 * Threads   any.
 * Owns      nothing.
 */
#include "gyre/histogram.h"

#include <string.h>

#include "actor/actor.h"
#include "base/fail.h"
#include "base/process.h"

/* False: it has none. */
static bool add_seats(gyre_actor *actor, gyre_histogram *all)
{
    bool counts;

    pthread_mutex_lock(&actor->view);
    counts = actor->in_view && actor->launched.histogram;
    for (uint32_t i = 0; counts && i < actor->shape.seats; i++)
        for (uint32_t b = 0; b < GYRE_HISTOGRAM_BUCKETS; b++) {
            const uint64_t count = gyre_mailbox_load64(&gyre_actor_annex(actor, i)->histogram[b]);

            all->count[b] += count;
            all->total += count;
        }
    pthread_mutex_unlock(&actor->view);
    return counts;
}

gyre_status gyre_actor_histogram(gyre_actor *actor, gyre_histogram *out_histogram)
{
    const size_t size = out_histogram->struct_size;
    gyre_histogram all = {.struct_size = size};
    const gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "a histogram without struct_size");
    if (!add_seats(actor, &all))
        return gyre_fail(GYRE_INVALID,
                         "actor '%s' has no histogram; launch it with the option for one",
                         actor->name);
    memcpy(out_histogram, &all, size < sizeof all ? size : sizeof all);
    return GYRE_OK;
}

uint64_t gyre_histogram_bound_ns(uint32_t bucket)
{
    if (bucket < 4)
        return bucket;
    if (bucket >= GYRE_HISTOGRAM_BUCKETS)
        return UINT64_MAX;
    return (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

uint64_t gyre_histogram_percentile_ns(const gyre_histogram *histogram, double percent)
{
    const double wanted = percent / 100 * (double)histogram->total;
    uint64_t seen = 0, longest_ns = 0;

    for (uint32_t b = 0; b < GYRE_HISTOGRAM_BUCKETS; b++) {
        if (histogram->count[b] == 0)
            continue;
        seen += histogram->count[b];
        longest_ns = gyre_histogram_bound_ns(b + 1) - 1;
        if ((double)seen >= wanted)
            break;
    }
    return longest_ns;
}
