/* SPDX-License-Identifier: Apache-2.0
 *
 * warden: see warden.h.
 *
 * Threads   base/duty.h's.
 */
#include "actor/warden.h"

#include <pthread.h>

#include "actor/away.h"
#include "actor/order.h"
#include "actor/print.h"
#include "base/duty.h"
#include "base/log.h"
#include "gyre/clock.h"

enum {
    LOOK_LEAST_NS = 20000,   /* between two looks at one that is active */
    SLICE_NS = 20000000,     /* for which one that leaves is waited for, while others wait too */
    SOON_NS = 1000000,       /* one that is away or has an order, or whose lock is not free */
    LATE_NS = 50000000,      /* one that has been for long, or is at rest */
    STRANDED_NS = 100000000, /* one that had no place to come back to */
    RESIDENT_NS = 500000000, /* the longest stay, where the driver has a limit */
    LOOKS = 4,               /* in the time after which one leaves */
    SINCE_PART = 8,          /* of the time that it has been what it is */
};

static struct {
    pthread_mutex_t life, books;
    gyre_duty duty;    /* under `life` */
    gyre_actor *first; /* under `books` */
} warden = {.life = PTHREAD_MUTEX_INITIALIZER, .books = PTHREAD_MUTEX_INITIALIZER};

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static bool is_limited(const gyre_actor *actor)
{
    return gyre_device_has(gyre_context_device(actor->context), GYRE_FEATURE_TIME_LIMIT);
}

/* Whether one that is active is to leave. */
static bool shall_leave(gyre_actor *actor, uint64_t now_ns)
{
    gyre_warden_place *const place = &actor->warden;
    const uint64_t processed = gyre_actor_processed(actor);

    if (actor->ending) /* it does already */
        return true;
    if (processed != place->processed || gyre_actor_waiting(actor) > 0) {
        place->processed = processed;
        place->moved_ns = now_ns;
    }
    if (is_limited(actor) && now_ns - actor->began_ns >= RESIDENT_NS)
        return true;
    return now_ns - later(place->moved_ns, actor->began_ns) >= place->leave_ns;
}

/* When one that is active is looked at again. */
static uint64_t next_look(const gyre_actor *actor, uint64_t now_ns)
{
    const uint64_t next_ns = now_ns + later(actor->warden.leave_ns / LOOKS, LOOK_LEAST_NS);

    return is_limited(actor) ? earlier(next_ns, later(actor->began_ns + RESIDENT_NS, now_ns))
                             : next_ns;
}

static uint64_t serve_active(gyre_actor *actor, uint64_t now_ns)
{
    gyre_status status;

    if (!shall_leave(actor, now_ns))
        return next_look(actor, now_ns);
    status = gyre_actor_leave(actor, gyre_clock_after_ns(SLICE_NS));
    now_ns = gyre_clock_now_ns();
    /* what it leaves behind may have come meanwhile */
    return status == GYRE_OK ? now_ns : now_ns + SOON_NS;
}

/* When one is looked at again of which less and less is to be expected. */
static uint64_t later_each_time(const gyre_actor *actor, uint64_t now_ns)
{
    return now_ns +
           earlier(later((now_ns - actor->warden.since_ns) / SINCE_PART, SOON_NS), LATE_NS);
}

static uint64_t serve_away(gyre_actor *actor, uint64_t now_ns)
{
    gyre_warden_place *const place = &actor->warden;
    gyre_status status;

    if (gyre_actor_waiting(actor) == 0)
        return later_each_time(actor, now_ns);
    status = gyre_actor_come_back(actor);
    if (status == GYRE_NO_MEMORY && !place->stranded)
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE,
                 "actor '%s' has messages and cannot come back, which is tried again: %s",
                 actor->name, gyre_error_last()->text);
    place->stranded = status == GYRE_NO_MEMORY;
    now_ns = gyre_clock_now_ns();
    if (status == GYRE_NO_MEMORY)
        return now_ns + STRANDED_NS;
    return status == GYRE_OK ? next_look(actor, now_ns) : now_ns + SOON_NS;
}

/* One that has nothing to do by order, and is not to end: nor may its kernel run for long. */
static uint64_t serve_resting(gyre_actor *actor, uint64_t now_ns)
{
    gyre_status status;

    if (!is_limited(actor) || actor->ending)
        return now_ns + LATE_NS;
    if (now_ns - actor->began_ns < RESIDENT_NS)
        return actor->began_ns + RESIDENT_NS;
    status = gyre_actor_step_out(actor, gyre_clock_after_ns(actor->launched.handshake_ns));
    return gyre_clock_now_ns() + (status == GYRE_AGAIN ? SOON_NS : LATE_NS);
}

/* Does what is due, and says when to look again. The lock of the actor is held. */
static uint64_t serve(gyre_actor *actor)
{
    const gyre_actor_status status = gyre_actor_state(actor);
    gyre_warden_place *const place = &actor->warden;
    const bool leaves = place->leave_ns != 0;
    const uint64_t now_ns = gyre_clock_now_ns();

    if (place->seen != (uint32_t)status) {
        place->seen = (uint32_t)status;
        place->since_ns = now_ns;
    }
    if (gyre_order_stands(actor) && !(leaves && status == GYRE_ACTOR_ACTIVE)) {
        gyre_prints_overhear(actor);
        (void)!gyre_actor_look_held(actor);
        return later_each_time(actor, now_ns);
    }
    if (!leaves)
        return GYRE_NEVER; /* until an order stands */
    switch (status) {
    case GYRE_ACTOR_ACTIVE:
        return serve_active(actor, now_ns);
    case GYRE_ACTOR_AWAY:
        return serve_away(actor, now_ns);
    case GYRE_ACTOR_LAUNCHED:
    case GYRE_ACTOR_PAUSED:
        return serve_resting(actor, now_ns);
    case GYRE_ACTOR_PARKED:
        return actor->before && gyre_actor_return(actor) == GYRE_AGAIN ? now_ns + SOON_NS
                                                                       : now_ns + LATE_NS;
    case GYRE_ACTOR_DRAINING:
        return now_ns + LATE_NS;
    case GYRE_ACTOR_CREATED:
    case GYRE_ACTOR_TERMINATED:
    case GYRE_ACTOR_FAILED:
        break;
    }
    return GYRE_NEVER; /* until it is launched again */
}

/* One that is due, with its lock; NULL: none is before *out_next_ns. */
static gyre_actor *take_due(uint64_t *out_next_ns)
{
    const uint64_t now_ns = gyre_clock_now_ns();
    gyre_actor *found = NULL;

    *out_next_ns = GYRE_NEVER;
    pthread_mutex_lock(&warden.books);
    for (gyre_actor *a = warden.first; a && !found; a = a->warden.next) {
        if (a->warden.due_ns <= now_ns) {
            if (gyre_latch_try(&a->lock))
                found = a;
            else
                a->warden.due_ns = now_ns + SOON_NS;
        }
        *out_next_ns = earlier(*out_next_ns, a->warden.due_ns);
    }
    pthread_mutex_unlock(&warden.books);
    return found;
}

static void run_thread(void *arg)
{
    (void)arg;
    while (!gyre_duty_is_over(&warden.duty)) {
        const uint32_t seen = gyre_duty_changes(&warden.duty);
        uint64_t next_ns;
        gyre_actor *const actor = take_due(&next_ns);

        if (!actor) {
            (void)gyre_duty_rest(&warden.duty, seen, next_ns);
            continue;
        }
        next_ns = serve(actor);
        pthread_mutex_lock(&warden.books);
        actor->warden.due_ns = next_ns;
        pthread_mutex_unlock(&warden.books);
        gyre_actor_release(actor);
    }
}

/* It is looked at by then; GYRE_OK, or there is no thread for that. */
static gyre_status enlist(gyre_actor *actor, uint64_t due_ns)
{
    const gyre_thread_options options = {.struct_size = sizeof options, .name = "gyre-warden"};
    gyre_warden_place *const place = &actor->warden;
    gyre_status status = GYRE_OK;

    pthread_mutex_lock(&warden.life);
    if (!warden.duty.thread)
        status = gyre_duty_start(&warden.duty, run_thread, NULL, &options);
    if (status == GYRE_OK) {
        pthread_mutex_lock(&warden.books);
        if (!place->listed) {
            place->next = warden.first;
            warden.first = actor;
        }
        place->listed = true;
        place->due_ns = due_ns;
        pthread_mutex_unlock(&warden.books);
        gyre_duty_wake(&warden.duty);
    }
    pthread_mutex_unlock(&warden.life);
    return status;
}

void gyre_warden_mind(gyre_actor *actor)
{
    gyre_warden_place *const place = &actor->warden;
    const uint64_t due_ns = gyre_clock_after_ns(SOON_NS);
    bool listed, idle;

    if (place->gone)
        return;
    pthread_mutex_lock(&warden.books);
    listed = place->listed;
    idle = listed && place->due_ns == GYRE_NEVER;
    if (idle)
        place->due_ns = due_ns;
    pthread_mutex_unlock(&warden.books);
    if (idle)
        gyre_duty_wake(&warden.duty);
    if (!listed)
        (void)!enlist(actor, due_ns); /* without a thread whoever waits next looks */
}

gyre_status gyre_warden_watch(gyre_actor *actor)
{
    gyre_warden_place *const place = &actor->warden;
    const bool leaves = actor->launched.idle == GYRE_ACTOR_LEAVE;

    place->leave_ns = leaves ? (uint64_t)actor->launched.leave_us * 1000 : 0;
    place->processed = 0;
    place->stranded = false;
    place->moved_ns = gyre_clock_now_ns();
    return leaves ? enlist(actor, 0) : GYRE_OK;
}

void gyre_warden_forget(gyre_actor *actor)
{
    bool empty;

    /* the thread is not at it, nor will be */
    (void)!gyre_latch_take(&actor->lock, GYRE_NEVER);
    pthread_mutex_lock(&warden.books);
    for (gyre_actor **a = &warden.first; actor->warden.listed && *a; a = &(*a)->warden.next)
        if (*a == actor) {
            *a = actor->warden.next;
            break;
        }
    actor->warden.listed = false;
    actor->warden.gone = true;
    pthread_mutex_unlock(&warden.books);
    gyre_actor_release(actor);
    pthread_mutex_lock(&warden.life);
    pthread_mutex_lock(&warden.books);
    empty = !warden.first;
    pthread_mutex_unlock(&warden.books);
    if (empty)
        gyre_duty_stop(&warden.duty);
    pthread_mutex_unlock(&warden.life);
}
