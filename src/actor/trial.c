/* SPDX-License-Identifier: Apache-2.0
 *
 * trial: see trial.h.
 */
#include "actor/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/order.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/options.h"
#include "gyre/clock.h"

enum {
    DEVICES = 16,
    WARM = 64,          /* calls that do not count, */
    CALLS = 256,        /* and that do */
    MOST_NS = 40000000, /* when no call is made any more */
    CALL_NS = 5000000,  /* what takes longer ends it */
    WORTH = 98,         /* percent of the time with fewer that more have to take at most */
};

typedef struct finding {
    uint32_t replicas; /* 0: not tried */
    char words[128];
} finding;

/* For all contexts: `index` is of the device. A finding is written once, under the lock, and stays:
 * who has seen its number may read its words. Two threads that try at once disturb each other, and
 * the first one's is kept. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static finding findings[DEVICES][5][2];

/* Where it is noted; NULL: nowhere. */
static finding *find(const gyre_actor *actor, uint32_t ports)
{
    const uint32_t index = gyre_context_device(actor->context)->index;
    const int power = ports ? __builtin_ctz(ports) : 5; /* none: nothing was planned yet */

    if (index >= DEVICES || power >= 5)
        return NULL;
    return &findings[index][power][actor->behaviour->width == GYRE_WIDTH_BLOCK];
}

/* The number that was found; 0: none yet. */
static uint32_t known(const finding *f)
{
    uint32_t replicas;

    pthread_mutex_lock(&lock);
    replicas = f->replicas;
    pthread_mutex_unlock(&lock);
    return replicas;
}

uint32_t gyre_trial_found(const gyre_actor *actor)
{
    const finding *const f = find(actor, actor->shape.ports);

    return f ? known(f) : 0;
}

const char *gyre_trial_words(const gyre_actor *actor)
{
    const finding *const f = find(actor, actor->shape.ports);

    return f && gyre_trial_found(actor) ? f->words : "";
}

static int compare(const void *a, const void *b)
{
    const uint64_t *const x = a, *const y = b;

    return *x < *y ? -1 : *x > *y;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* The median of a few hundred calls; 0: one went wrong, or not all were over in time. */
static uint64_t time_calls(gyre_actor *actor, uint64_t until_ns)
{
    const gyre_brief message = {.type = GYRE_BRIEF_OWN};
    uint64_t took[CALLS];
    gyre_brief answer;

    for (int i = -WARM; i < CALLS; i++) {
        const uint64_t before_ns = gyre_clock_now_ns();

        if (before_ns >= until_ns ||
            gyre_port_call(actor->port[0], &message, &answer,
                           earlier(before_ns + CALL_NS, until_ns)) != GYRE_OK)
            return 0;
        if (i >= 0)
            took[i] = gyre_clock_now_ns() - before_ns;
    }
    qsort(took, CALLS, sizeof took[0], compare);
    return took[CALLS / 2];
}

/* One launch with that many replicas, of which `shape` says how many they really were. Only calls
 * end by then: a seat that was launched has to come and go. */
static uint64_t try_one(gyre_actor *actor, gyre_actor_launch_options *o, uint32_t replicas,
                        bool fresh, uint64_t until_ns)
{
    const uint32_t incarnation = actor->shape.incarnation;
    uint64_t median_ns = 0;
    gyre_status status;

    o->replicas = replicas;
    status = gyre_actor_ready(actor, o);
    if (status == GYRE_OK) {
        gyre_actor_become(actor, GYRE_ACTOR_LAUNCHED);
        gyre_order_give(actor, (gyre_order){.active = true});
        status = gyre_actor_come_to_life(actor, fresh);
    }
    if (status == GYRE_OK) {
        median_ns = time_calls(actor, until_ns);
        gyre_order_give(actor, (gyre_order){.terminate = 1});
        status = gyre_order_await_end(actor, GYRE_ACTOR_CREATED, gyre_order_gone_by(actor));
        if (status == GYRE_TIMEOUT) /* what it may still touch is left to it */
            status = gyre_actor_fail(
                actor, gyre_fail(GYRE_DEVICE_LOST, "actor '%s' does not end", actor->name));
    }
    if (gyre_actor_state(actor) != GYRE_ACTOR_FAILED)
        gyre_actor_become(actor, GYRE_ACTOR_CREATED);
    gyre_actor_forget(actor);
    actor->shape.incarnation = incarnation;
    return status == GYRE_OK ? median_ns : 0;
}

void gyre_trial_make(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    static const uint32_t tried[] = {4, 8, 16, GYRE_MAILBOX_REPLICAS};
    const uint64_t began_ns = gyre_clock_now_ns(), until_ns = began_ns + MOST_NS;
    gyre_actor_launch_options o;
    finding found = {0};
    uint64_t best_ns = 0;
    uint32_t last = 0;
    size_t length = 0;
    finding *into;

    if (GYRE_OPTIONS_READ(o, options) != GYRE_OK || o.replicas || o.ports > GYRE_MAILBOX_PORTS ||
        (o.ports & (o.ports - 1)))
        return;
    into = find(actor, o.ports ? o.ports : 1);
    if (!into || known(into))
        return;
    o.struct_size = sizeof o;
    o.seats = 1;
    o.idle = o.idle == GYRE_ACTOR_LEAVE ? GYRE_ACTOR_LEAVE : GYRE_ACTOR_SPIN;
    o.bells = GYRE_ACTOR_BELLS_INSIDE; /* elsewhere there is one */
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        const uint64_t took_ns = try_one(actor, &o, tried[i], i == 0, until_ns);
        const uint32_t replicas = actor->shape.replicas;

        if (took_ns == 0 || replicas == last)
            break;
        length +=
            (size_t)snprintf(found.words + length, sizeof found.words - length, "%s%u: %.2f us",
                             i ? ", " : " (", replicas, (double)took_ns / 1000);
        if (best_ns == 0 || took_ns * 100 < best_ns * WORTH) {
            best_ns = took_ns;
            found.replicas = replicas;
        }
        last = replicas;
        if (gyre_clock_now_ns() >= until_ns)
            break;
    }
    if (!found.replicas)
        return;
    snprintf(found.words + length, sizeof found.words - length, "; tried in %.1f ms)",
             (double)(gyre_clock_now_ns() - began_ns) / 1e6);
    gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE, "actor '%s': %u replicas of a bell%s", actor->name,
             found.replicas, found.words);
    pthread_mutex_lock(&lock);
    if (!into->replicas)
        *into = found;
    pthread_mutex_unlock(&lock);
}
