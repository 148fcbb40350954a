/* SPDX-License-Identifier: Apache-2.0
 *
 * watch: how an actor is. It fails when its residence says so, or when messages wait for a seat and
 * for stall_ns it handled none. Whoever waits finds that out, for an answer or for a change of its
 * life; where nobody does, nobody looks, but for orders that stand (actor/warden.c).
 *
 * Threads   any. Edge: [actor-status].
 * Owns      nothing.
 */
#include <string.h>

#include "actor/away.h"
#include "actor/order.h"
#include "actor/print.h"
#include "base/fail.h"
#include "base/process.h"
#include "gyre/clock.h"

#define GLANCES_NS UINT64_C(100000000) /* looks further apart have not watched in between */
#define LISTENS_NS UINT64_C(200000000) /* in which a seat that listens has ended */

static const char *const names[] = {"created",  "launched",   "active", "paused", "parked",
                                    "draining", "terminated", "failed", "away"};

const char *gyre_actor_status_name(gyre_actor_status status)
{
    const size_t index = (size_t)status;

    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

gyre_actor_status gyre_actor_state(gyre_actor *actor)
{
    /* acquire [actor-status]: pairs with the release in become */
    return (gyre_actor_status)atomic_load_explicit(&actor->status, memory_order_acquire);
}

uint64_t gyre_actor_processed(const gyre_actor *actor)
{
    uint64_t processed = 0;

    for (uint32_t i = 0; actor->mailbox && i < actor->shape.seats; i++)
        processed += gyre_mailbox_load64(&gyre_actor_seat(actor, i)->control.device.processed);
    return processed;
}

gyre_status gyre_actor_wait(gyre_actor *actor, gyre_actor_status wanted, uint64_t deadline_ns)
{
    gyre_status status = gyre_process_check();
    uint32_t rounds = 0;

    while (status == GYRE_OK && gyre_actor_state(actor) != wanted) {
        const gyre_actor_status now = gyre_actor_state(actor);

        if (gyre_clock_now_ns() >= deadline_ns)
            return GYRE_TIMEOUT;
        if (now == GYRE_ACTOR_TERMINATED || now == GYRE_ACTOR_FAILED)
            return gyre_fail(GYRE_CLOSED, "actor '%s' is %s, and will not be %s", actor->name,
                             gyre_actor_status_name(now), gyre_actor_status_name(wanted));
        if (rounds % 64 == 63)
            (void)!gyre_actor_look(actor); /* if it has failed, that may be what is waited for */
        gyre_actor_doze(&rounds);
    }
    return status;
}

/* How many were sent beyond those that were handled, which may have become more meanwhile. */
static uint32_t ahead(uint32_t sent, uint32_t handled)
{
    return (int32_t)(sent - handled) > 0 ? sent - handled : 0;
}

/* Messages that were sent to a seat and not handled, as far as it told; or of those the ones that
 * are due: not what waits for a stream, and comes behind it, nor what is beyond its gates. */
static uint64_t count_waiting(const gyre_actor *actor, uint32_t i, bool due)
{
    const gyre_seat *const seat = gyre_actor_seat(actor, i);
    uint64_t waiting = 0;

    for (uint32_t p = 0; p < actor->shape.ports; p++) {
        const uint32_t head = gyre_mailbox_load(&seat->heads[p]);
        uint32_t requests, bells;

        gyre_port_sent(actor->port[p], i, &requests, &bells);
        if (due && !actor->told.active) {
            requests = gyre_mailbox_load(&seat->gates[p]);
            bells = gyre_mailbox_load(&seat->bell_gates[p]);
        }
        if (!due || !ahead(requests, head) || !gyre_port_is_held(actor->port[p], i, head))
            waiting += ahead(requests, head);
        waiting += ahead(bells, gyre_mailbox_load(&seat->rung[p]));
    }
    return waiting;
}

uint64_t gyre_actor_waiting(const gyre_actor *actor)
{
    uint64_t waiting = 0;

    for (uint32_t i = 0; i < actor->shape.seats; i++)
        waiting += count_waiting(actor, i, false);
    return waiting;
}

/* A number that changes whenever the seat tells that it has done something. */
static uint64_t count_told(const gyre_actor *actor, uint32_t i)
{
    const gyre_seat *const seat = gyre_actor_seat(actor, i);
    uint64_t told = gyre_mailbox_load64(&seat->control.device.processed);

    for (uint32_t p = 0; p < actor->shape.ports; p++)
        told += gyre_mailbox_load(&seat->heads[p]) + gyre_mailbox_load(&seat->rung[p]);
    return told;
}

/* Whether a seat tells of more than it was sent. For a moment it may, since a message can be
 * handled before its sender has counted it. */
static bool is_beyond(const gyre_actor *actor, uint32_t i)
{
    const gyre_seat *const seat = gyre_actor_seat(actor, i);

    for (uint32_t p = 0; p < actor->shape.ports; p++) {
        const uint32_t head = gyre_mailbox_load(&seat->heads[p]);
        const uint32_t rung = gyre_mailbox_load(&seat->rung[p]);
        uint32_t requests, bells;

        gyre_port_sent(actor->port[p], i, &requests, &bells);
        if (ahead(head, requests) || ahead(rung, bells))
            return true;
    }
    return false;
}

static gyre_status tell_beyond(const gyre_actor *actor, uint32_t i)
{
    return gyre_fail(GYRE_DEVICE_LOST,
                     "actor '%s': seat %u tells of messages that it was not sent: its mailbox is "
                     "damaged, by somebody else who wrote there",
                     actor->name, i);
}

bool gyre_actor_is_beyond(const gyre_actor *actor)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++)
        if (is_beyond(actor, i))
            return true;
    return false;
}

/* It is told to end. One that still listens does, and leaves the device to others. */
static void dismiss(gyre_actor *actor)
{
    const uint64_t until_ns = gyre_clock_after_ns(LISTENS_NS);
    uint32_t rounds = 0;

    gyre_order_give(actor, (gyre_order){.keep_gates = true, .terminate = 1});
    while (actor->residence->look(actor) == GYRE_AGAIN && gyre_clock_now_ns() < until_ns)
        gyre_actor_doze(&rounds);
}

static gyre_status tell_hang(const gyre_actor *actor, uint32_t i, uint64_t waiting)
{
    return gyre_fail(GYRE_DEVICE_LOST,
                     "actor '%s': %llu messages wait in seat %u, and none was handled for %llu ms: "
                     "its behaviour does not return",
                     actor->name, (unsigned long long)waiting, i,
                     (unsigned long long)(actor->stall_ns / 1000000));
}

/* Since when a seat has had something to do, and has done nothing; `anew`: since now at the
 * earliest. */
static uint64_t watch_seat(gyre_actor *actor, uint32_t i, bool anew, uint64_t now_ns)
{
    gyre_seat_watch *const watch = &actor->watch[i];
    const uint64_t told = count_told(actor, i);
    const bool ended = gyre_mailbox_load(&gyre_actor_seat(actor, i)->control.device.has_terminated);

    /* one that has ended in order may have left something, and waits for the others of its crew */
    if (anew || ended || told != watch->told || count_waiting(actor, i, true) == 0) {
        watch->told = told;
        watch->since_ns = now_ns;
    }
    if (anew || !is_beyond(actor, i))
        watch->sound_ns = now_ns;
    return watch->since_ns;
}

gyre_status gyre_actor_watch(gyre_actor *actor)
{
    const uint64_t now_ns = gyre_clock_now_ns();
    const bool anew = now_ns - actor->looked_ns > GLANCES_NS;

    actor->looked_ns = now_ns;
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        const bool hangs = now_ns - watch_seat(actor, i, anew, now_ns) > actor->stall_ns;
        const uint64_t waiting = hangs ? count_waiting(actor, i, true) : 0;

        if (!hangs && now_ns - actor->watch[i].sound_ns <= actor->stall_ns)
            continue;
        dismiss(actor);
        return gyre_actor_fail(actor, hangs ? tell_hang(actor, i, waiting) : tell_beyond(actor, i));
    }
    return GYRE_OK;
}

gyre_status gyre_actor_why_ended(gyre_actor *actor)
{
    const gyre_actor_status now = gyre_actor_state(actor);

    if (now == GYRE_ACTOR_FAILED)
        return gyre_fail_at(actor->fault.status, actor->fault.native, actor->fault.file,
                            actor->fault.line, "%s", actor->fault.text);
    if (now == GYRE_ACTOR_TERMINATED)
        return gyre_fail(GYRE_CLOSED, "actor '%s' has ended", actor->name);
    return GYRE_OK;
}

gyre_status gyre_actor_look_held(gyre_actor *actor)
{
    const gyre_actor_status now = gyre_actor_state(actor);
    gyre_status status = GYRE_OK;

    if (gyre_actor_is_resident(now)) {
        status = gyre_order_look(actor);
        if (status == GYRE_OK) /* by an order that nobody waits for any more */
            status = gyre_order_await_end(actor, gyre_order_end_of(now), 0);
        else if (status == GYRE_AGAIN)
            status = gyre_actor_watch(actor);
        if (status == GYRE_TIMEOUT) /* it tells of more than it was sent, but not for long */
            status = GYRE_OK;
    } else if (now == GYRE_ACTOR_PARKED) {
        status = gyre_context_check(actor->context);
        if (status != GYRE_OK)
            status = gyre_actor_fail(actor, status);
    } else if (now == GYRE_ACTOR_AWAY && gyre_actor_waiting(actor) > 0) {
        status = gyre_actor_come_back(actor);
        status = status == GYRE_AGAIN ? GYRE_OK : status;
    }
    return status == GYRE_OK ? gyre_actor_why_ended(actor) : status;
}

gyre_status gyre_actor_look(gyre_actor *actor)
{
    gyre_status status;

    gyre_prints_overhear(actor);
    /* somebody changes its life, looks as well, and waits no longer than he said */
    if (!gyre_latch_try(&actor->lock))
        return GYRE_OK;
    status = gyre_actor_look_held(actor);
    gyre_actor_release(actor);
    return status;
}

const gyre_error *gyre_actor_fault(const gyre_actor *actor)
{
    /* acquire [actor-status] */
    return atomic_load_explicit(&actor->status, memory_order_acquire) == GYRE_ACTOR_FAILED
               ? &actor->fault
               : NULL;
}

gyre_status gyre_actor_read_state(gyre_actor *actor, void *into, size_t size)
{
    gyre_status status = gyre_process_check();

    if (status != GYRE_OK)
        return status;
    if (size > actor->behaviour->state_bytes)
        return gyre_fail(GYRE_INVALID, "actor '%s': %zu bytes of a state of %zu", actor->name, size,
                         actor->behaviour->state_bytes);
    status = gyre_actor_hold_patiently(actor);
    if (status != GYRE_OK)
        return status;
    status = actor->state ? actor->residence->read_state(actor, into, size)
                          : gyre_actor_refuse(actor, actor->hung ? "its state is left to what hangs"
                                                                 : "it has no state yet");
    gyre_actor_release(actor);
    return status;
}

/* What the seats told, in their mailbox. */
static void add_seats(const gyre_actor *actor, gyre_actor_statistics *all)
{
    uint64_t total_ns = 0, timed = 0;

    all->seats = actor->shape.seats;
    all->replicas = actor->shape.replicas;
    all->incarnation = actor->shape.incarnation;
    all->min_ns = UINT64_MAX;
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        const gyre_seat *const seat = gyre_actor_seat(actor, i);
        const gyre_telemetry *const t = &seat->telemetry;
        const gyre_control_device *const device = &seat->control.device;
        const uint64_t min_ns = gyre_mailbox_load64(&t->min_latency_ns);
        const uint64_t max_ns = gyre_mailbox_load64(&t->max_latency_ns);
        const uint32_t error = gyre_mailbox_load(&device->last_error);

        all->processed += gyre_mailbox_load64(&device->processed);
        all->failed += gyre_mailbox_load64(&device->error_count);
        all->dropped += gyre_mailbox_load64(&t->dropped);
        timed += gyre_mailbox_load64(&t->processed);
        total_ns += gyre_mailbox_load64(&t->total_latency_ns);
        all->min_ns = min_ns < all->min_ns ? min_ns : all->min_ns;
        all->max_ns = max_ns > all->max_ns ? max_ns : all->max_ns;
        all->last_error = error ? error : all->last_error;
        all->prints_lost += gyre_mailbox_load(&gyre_actor_annex(actor, i)->seat.lost);
    }
    if (timed > 0)
        all->mean_ns = (double)total_ns / (double)timed;
    if (all->min_ns == UINT64_MAX)
        all->min_ns = 0;
    all->waiting = gyre_actor_waiting(actor);
}

void gyre_actor_survey(gyre_actor *actor, gyre_actor_statistics *out_statistics)
{
    *out_statistics =
        (gyre_actor_statistics){.struct_size = sizeof *out_statistics, .scheme = actor->scheme};
    pthread_mutex_lock(&actor->view);
    if (actor->in_view)
        add_seats(actor, out_statistics);
    pthread_mutex_unlock(&actor->view);
    /* acquire [actor-status]: pairs with the release in gyre_actor_come_back */
    out_statistics->returns = atomic_load_explicit(&actor->returns, memory_order_acquire);
    /* relaxed: a count */
    out_statistics->printed = atomic_load_explicit(&actor->printed, memory_order_relaxed);
}

gyre_status gyre_actor_describe(gyre_actor *actor, gyre_actor_statistics *out_statistics)
{
    const size_t size = out_statistics->struct_size;
    gyre_actor_statistics all;
    gyre_status status;

    status = gyre_process_check();
    if (status != GYRE_OK)
        return status;
    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "statistics without struct_size");
    gyre_prints_overhear(actor);
    gyre_actor_survey(actor, &all);
    all.struct_size = size;
    memcpy(out_statistics, &all, size < sizeof all ? size : sizeof all);
    return GYRE_OK;
}
