/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_pairs: see actor_pairs.h.
 */
#include "suites/actor_pairs.h"

#include <stdlib.h>

#include "gyre/bench.h"
#include "suites/actor_message.h"

gyre_status gyre_bulk_init(gyre_bulk *bulk, uint64_t first)
{
    *bulk = (gyre_bulk){.first = first};
    bulk->messages = calloc(GYRE_BULK, sizeof bulk->messages[0]);
    bulk->answers = calloc(GYRE_BULK, sizeof bulk->answers[0]);
    if (!bulk->messages || !bulk->answers) {
        gyre_bulk_fini(bulk);
        return gyre_bench_refuse(GYRE_NO_MEMORY, "no memory for %d messages", GYRE_BULK);
    }
    for (uint32_t i = 0; i < GYRE_BULK; i++)
        bulk->messages[i].type = 1;
    return GYRE_OK;
}

void gyre_bulk_fini(gyre_bulk *bulk)
{
    free(bulk->messages);
    free(bulk->answers);
    bulk->messages = bulk->answers = NULL;
}

/* One by one, where something was wrong. */
static uint64_t count_right(const gyre_bulk *bulk, uint64_t first, uint32_t count)
{
    uint64_t right = 0;

    for (uint32_t i = 0; i < count; i++)
        right += gyre_message_is(&bulk->answers[i], first + i);
    return right;
}

/* In one go, since each is a walk through memory that does not fit into the first cache. */
void gyre_bulk_compare(gyre_bulk *bulk, uint32_t count)
{
    const gyre_brief *const answers = bulk->answers;
    gyre_brief *const messages = bulk->messages;
    const uint64_t first = bulk->first;
    uint64_t sum = bulk->sum, mix = bulk->mix;
    gyre_message_pair wrong = {0, 0};

    for (uint32_t i = 0; i < count; i++) {
        wrong |= gyre_message_wrong(&answers[i], first + i);
        sum += answers[i].body.longs[0];
        mix ^= answers[i].body.longs[4];
        gyre_message_fill(&messages[i], first + count + i);
    }
    bulk->sum = sum;
    bulk->mix = mix;
    bulk->answered += wrong[0] | wrong[1] ? count_right(bulk, first, count) : count;
    bulk->first = first + count;
    bulk->made = count;
}

gyre_status gyre_bulk_call(gyre_bulk *bulk, gyre_port *port, uint32_t count, uint64_t deadline_ns)
{
    gyre_status status;

    for (uint32_t i = bulk->made; i < count; i++)
        gyre_message_fill(&bulk->messages[i], bulk->first + i);
    status = gyre_port_call_many(port, bulk->messages, bulk->answers, count, deadline_ns);
    if (status == GYRE_OK) {
        gyre_bulk_compare(bulk, count);
    } else {
        bulk->first += count;
        bulk->made = 0;
    }
    return status;
}

/* 0 ^ 1 ^ ... ^ (n - 1) */
static uint64_t mix_below(uint64_t n)
{
    const uint64_t last = n - 1;

    switch (n % 4) {
    case 0:
        return 0;
    case 1:
        return last;
    case 2:
        return 1;
    default:
        return last + 1;
    }
}

bool gyre_bulk_is_right(const gyre_bulk *bulk, uint64_t first, uint64_t count)
{
    /* first + ... + (first + count - 1), without the overflow of the product */
    const uint64_t below = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
    uint64_t mix = mix_below(first + count) ^ mix_below(first);

    if (count % 2 == 1)
        mix = ~mix;
    return bulk->first == first + count && bulk->answered == count &&
           bulk->sum == first * count + below && bulk->mix == mix;
}
