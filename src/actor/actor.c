/* SPDX-License-Identifier: Apache-2.0
 *
 * actor: life. Every change is an order, which each seat reads when it has time and says when it is
 * carried out; and every wait for that has a deadline, after which the order stands.
 *
 * An actor fails when its residence says so, when a launch does not come to life, or when messages
 * wait and for stall_ns none was handled. Whoever waits finds that out: there is no watching
 * thread.
 *
 * Threads   any. Edges: [actor-order] with the seats, [actor-status].
 * Owns      see actor/actor.h.
 * Not here  what seats do (actor/loop_single.h, actor/loop_cuda.h), ports (actor/port.c).
 */
#include "actor/actor.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "actor/board.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "base/wait.h"
#include "gyre/clock.h"

#define SECOND_NS UINT64_C(1000000000)
#define GLANCES_NS UINT64_C(100000000) /* looks further apart have not watched in between */

enum { CAPACITY_LEAST = 16, CAPACITY_MOST = 1 << 20, SEATS_MOST = 4096, NAP_US = 50 };

static const char *const names[] = {"created", "launched", "active",     "paused",
                                    "parked",  "draining", "terminated", "failed"};

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

static void become(gyre_actor *actor, gyre_actor_status status)
{
    /* release [actor-status]: whoever sees it finds what belongs to it */
    atomic_store_explicit(&actor->status, (uint32_t)status, memory_order_release);
    if (status == GYRE_ACTOR_CREATED || status >= GYRE_ACTOR_TERMINATED)
        gyre_board_end(actor);
    else if (status == GYRE_ACTOR_PARKED) /* again, where it did not come back */
        gyre_board_add(actor);
}

static bool is_resident(gyre_actor_status status)
{
    return status == GYRE_ACTOR_LAUNCHED || status == GYRE_ACTOR_ACTIVE ||
           status == GYRE_ACTOR_PAUSED || status == GYRE_ACTOR_DRAINING;
}

static gyre_status refuse(const gyre_actor *actor, const char *what)
{
    return gyre_fail(GYRE_INVALID, "actor '%s' is %s: %s", actor->name,
                     names[atomic_load_explicit(&actor->status, memory_order_relaxed)], what);
}

/* Keeps this thread's detail as what made it fail. */
static gyre_status fail(gyre_actor *actor, gyre_status status)
{
    actor->fault = *gyre_error_last();
    actor->fault.status = status;
    gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE, "actor '%s' failed: %s", actor->name,
             actor->fault.text);
    actor->residence->leave(actor);
    become(actor, GYRE_ACTOR_FAILED);
    return status;
}

gyre_status gyre_actor_create(gyre_context *context, const gyre_behaviour *behaviour,
                              const gyre_actor_options *options, gyre_actor **out_actor)
{
    gyre_actor_options o;
    gyre_actor *actor;
    void *memory = NULL;
    gyre_status status = gyre_process_use();

    *out_actor = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status != GYRE_OK)
        return status;
    if (!context || !behaviour || behaviour->struct_size < sizeof *behaviour || !behaviour->name)
        return gyre_fail(GYRE_INVALID, "an actor needs a context and a behaviour with a name");
    if (behaviour->width != GYRE_WIDTH_QUAD && behaviour->width != GYRE_WIDTH_WARP &&
        behaviour->width != GYRE_WIDTH_BLOCK)
        return gyre_fail(GYRE_INVALID, "behaviour '%s': a width of %u", behaviour->name,
                         behaviour->width);
    status = gyre_alloc(NULL, 1, sizeof *actor, &memory);
    if (status != GYRE_OK)
        return status;
    actor = memory;
    actor->context = context;
    actor->behaviour = behaviour;
    actor->stall_ns = o.stall_ns ? o.stall_ns : 2 * SECOND_NS;
    snprintf(actor->name, sizeof actor->name, "%s", o.name ? o.name : behaviour->name);
    pthread_mutex_init(&actor->lock, NULL);
    actor->residence = gyre_device_has(gyre_context_device(context), GYRE_FEATURE_FUNCTIONS)
                           ? &gyre_residence_threads
                           : &gyre_residence_kernel;
    if (o.state && behaviour->state_bytes) {
        status = gyre_alloc(NULL, behaviour->state_bytes, 1, &actor->first_state);
        if (status == GYRE_OK)
            memcpy(actor->first_state, o.state, behaviour->state_bytes);
    }
    if (status == GYRE_OK)
        status = actor->residence->prepare(actor);
    if (status != GYRE_OK) {
        gyre_actor_destroy(actor);
        return status;
    }
    *out_actor = actor;
    return GYRE_OK;
}

static bool is_power_of_two(uint32_t value)
{
    return value && (value & (value - 1)) == 0;
}

/* The caller's wishes, completed; the device's own part is filled in by its residence. */
static gyre_status plan(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_actor_launch_options *const o = &actor->launched;
    gyre_mailbox_shape *const shape = &actor->shape;
    const uint32_t incarnation = shape->incarnation + 1;
    gyre_status status = GYRE_OPTIONS_READ(*o, options);

    if (status != GYRE_OK)
        return status;
    o->seats = o->seats ? o->seats : 1;
    o->ports = o->ports ? o->ports : 1;
    o->capacity = o->capacity ? o->capacity : GYRE_MAILBOX_CAPACITY;
    o->nap_us = o->nap_us ? o->nap_us : NAP_US;
    o->handshake_ns = o->handshake_ns ? o->handshake_ns : 2 * SECOND_NS;
    o->idle = o->idle ? o->idle : GYRE_ACTOR_BACK_OFF;
    if (o->seats > SEATS_MOST)
        return gyre_fail(GYRE_INVALID, "actor '%s': %u seats; %d is the most", actor->name,
                         o->seats, SEATS_MOST);
    if (!is_power_of_two(o->ports) || o->ports > GYRE_MAILBOX_PORTS)
        return gyre_fail(GYRE_INVALID, "actor '%s': %u ports; it can have 1, 2, 4, 8 or 16",
                         actor->name, o->ports);
    if (!is_power_of_two(o->capacity) || o->capacity < CAPACITY_LEAST ||
        o->capacity > CAPACITY_MOST)
        return gyre_fail(GYRE_INVALID, "actor '%s': rings of %u slots; a power of two, %d to %d",
                         actor->name, o->capacity, CAPACITY_LEAST, CAPACITY_MOST);
    if (o->replicas > GYRE_MAILBOX_REPLICAS)
        return gyre_fail(GYRE_INVALID, "actor '%s': %u replicas; %d is the most", actor->name,
                         o->replicas, GYRE_MAILBOX_REPLICAS);
    /* a slot that was never written has stamp 0 */
    if (gyre_ring_salt(incarnation) - o->first < o->capacity ||
        gyre_ring_salt(incarnation) / 2 == o->first + 1)
        return gyre_fail(GYRE_INVALID, "actor '%s': sequences of this launch cannot begin at %u",
                         actor->name, o->first);
    if (o->idle != GYRE_ACTOR_SPIN && o->idle != GYRE_ACTOR_BACK_OFF)
        return gyre_fail(GYRE_INVALID, "actor '%s': idle policy %d", actor->name, (int)o->idle);
    memset(shape, 0, sizeof *shape);
    shape->incarnation = incarnation;
    shape->seats = o->seats;
    shape->ports = o->ports;
    shape->capacity = o->capacity;
    shape->idle = o->idle == GYRE_ACTOR_SPIN ? GYRE_SEAT_SPINS : GYRE_SEAT_BACKS_OFF;
    shape->nap_us = o->nap_us;
    shape->telemetry = !o->no_telemetry;
    status = actor->residence->plan(actor, o);
    if (status == GYRE_OK)
        shape->seat_bytes = gyre_mailbox_seat_bytes(shape);
    return status;
}

static void give_mailbox(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_PINNED);

    if (actor->mailbox && !actor->hung)
        memory->give(memory, actor->mailbox, actor->mailbox_bytes, GYRE_MAILBOX_ROW);
    actor->mailbox = NULL;
    actor->hung = false;
}

/* Memory that is zero but for where everything begins. */
static gyre_status make_mailbox(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_PINNED);
    const gyre_mailbox_shape *const shape = &actor->shape;
    const uint32_t first = actor->launched.first;
    void *block = NULL;
    gyre_status status;

    if (!gyre_size_multiply(shape->seat_bytes, shape->seats, &actor->mailbox_bytes))
        return gyre_fail(GYRE_NO_MEMORY, "actor '%s': a mailbox of more than all memory",
                         actor->name);
    status = memory->take(memory, actor->mailbox_bytes, GYRE_MAILBOX_ROW, &block);
    if (status != GYRE_OK)
        return status;
    actor->mailbox = block;
    memset(block, 0, actor->mailbox_bytes);
    for (uint32_t i = 0; i < shape->seats; i++) {
        gyre_seat *const seat = gyre_actor_seat(actor, i);

        seat->control.host.incarnation = shape->incarnation;
        seat->control.host.input_capacity = shape->capacity;
        seat->telemetry.min_latency_ns = UINT64_MAX;
        for (uint32_t p = 0; p < shape->ports; p++) {
            seat->heads[p] = seat->gates[p] = first;
            seat->rung[p] = seat->bell_gates[p] = first;
        }
    }
    return GYRE_OK;
}

/* What seats are told. */
typedef struct order {
    bool active;        /* 0: up to the gates, which are moved to what was sent so far, */
    bool keep_gates;    /* unless they stay */
    uint32_t terminate; /* 1: at once; 2: at the gates */
} order;

static void give_order(gyre_actor *actor, order o)
{
    actor->order++;
    actor->ending = o.terminate != 0;
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        gyre_seat *const seat = gyre_actor_seat(actor, i);

        for (uint32_t p = 0; p < actor->shape.ports && !o.active && !o.keep_gates; p++) {
            uint32_t requests, bells;

            gyre_port_sent(actor->port[p], i, &requests, &bells);
            gyre_mailbox_store(&seat->gates[p], requests);
            gyre_mailbox_store(&seat->bell_gates[p], bells);
        }
        gyre_mailbox_store_order(&seat->control.host, o.active, o.terminate);
        /* release [actor-order]: pairs with the acquire in the seat's loop */
        gyre_mailbox_release(&seat->control.host.order, actor->order);
    }
}

static bool order_done(const gyre_actor *actor)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++)
        /* acquire [actor-order]: pairs with the release in the seat's loop */
        if (gyre_mailbox_acquire(&gyre_actor_seat(actor, i)->control.device.order) != actor->order)
            return false;
    return true;
}

static bool all_alive(const gyre_actor *actor)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++)
        /* acquire [actor-order] */
        if (gyre_mailbox_acquire(&gyre_actor_seat(actor, i)->control.device.incarnation) !=
            actor->shape.incarnation)
            return false;
    return true;
}

static bool all_ended(const gyre_actor *actor)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++)
        /* acquire [actor-order] */
        if (!gyre_mailbox_acquire(&gyre_actor_seat(actor, i)->control.device.has_terminated))
            return false;
    return true;
}

uint64_t gyre_actor_processed(const gyre_actor *actor)
{
    uint64_t processed = 0;

    for (uint32_t i = 0; i < actor->shape.seats; i++)
        processed += gyre_mailbox_load64(&gyre_actor_seat(actor, i)->control.device.processed);
    return processed;
}

/* Sleeps a little longer each time, from a microsecond to half a millisecond. */
static void doze(uint32_t *rounds)
{
    struct timespec pause = {.tv_sec = 0};

    if (++*rounds < 64) {
        gyre_relax();
        return;
    }
    pause.tv_nsec = *rounds < 128 ? 1000 : *rounds < 512 ? 20000 : 500000;
    nanosleep(&pause, NULL);
}

/* Whether all have ended by the last order. */
static bool ended_in_order(const gyre_actor *actor)
{
    return all_ended(actor) && order_done(actor);
}

static gyre_status begin(gyre_actor *actor, bool fresh);

/* Waits for what the seats say; the lock is held. Failing seats end it. Seats that were told to end
 * by an order before the last, and did, come back to carry out that one. */
static gyre_status await(gyre_actor *actor, bool (*done)(const gyre_actor *actor),
                         uint64_t deadline_ns)
{
    uint32_t rounds = 0;

    while (!done(actor)) {
        gyre_status status = GYRE_AGAIN;

        if (rounds % 64 == 63)
            status = actor->residence->look(actor);
        if (status == GYRE_OK && !done(actor)) {
            if (!all_ended(actor))
                return fail(actor, gyre_fail(GYRE_CLOSED, "actor '%s' ended unasked", actor->name));
            actor->residence->finish(actor);
            status = begin(actor, false);
            if (status == GYRE_OK)
                status = GYRE_AGAIN;
        }
        if (status != GYRE_OK && status != GYRE_AGAIN)
            return gyre_actor_state(actor) == GYRE_ACTOR_FAILED ? status : fail(actor, status);
        if (gyre_clock_now_ns() >= deadline_ns)
            return done(actor) ? GYRE_OK : GYRE_TIMEOUT;
        doze(&rounds);
    }
    return GYRE_OK;
}

/* They were told to end, and have until the deadline. The lock is held. */
static gyre_status await_end(gyre_actor *actor, gyre_actor_status then, uint64_t deadline_ns)
{
    gyre_status status = await(actor, ended_in_order, deadline_ns);
    uint32_t rounds = 0;

    while (status == GYRE_OK && (status = actor->residence->look(actor)) == GYRE_AGAIN) {
        status = gyre_clock_now_ns() >= deadline_ns ? GYRE_TIMEOUT : GYRE_OK;
        doze(&rounds);
    }
    if (status == GYRE_OK) {
        actor->residence->finish(actor);
        actor->ending = false;
        become(actor, then);
    } else if (status != GYRE_TIMEOUT && gyre_actor_state(actor) != GYRE_ACTOR_FAILED) {
        status = fail(actor, status);
    }
    return status;
}

/* The residence is told to begin. */
static gyre_status begin(gyre_actor *actor, bool fresh)
{
    for (uint32_t i = 0; i < actor->shape.seats; i++) {
        gyre_control_device *const device = &gyre_actor_seat(actor, i)->control.device;

        gyre_mailbox_store(&device->incarnation, 0);
        gyre_mailbox_store(&device->has_terminated, 0);
    }
    return actor->residence->start(actor, fresh);
}

/* The seats begin, and have to answer. */
static gyre_status come_to_life(gyre_actor *actor, bool fresh)
{
    gyre_status status = begin(actor, fresh);

    if (status == GYRE_OK)
        status = await(actor, all_alive, gyre_clock_after_ns(actor->launched.handshake_ns));
    if (status != GYRE_TIMEOUT)
        return status;
    /* those that came to life make room for the others, which end as soon as they begin */
    give_order(actor, (order){.keep_gates = true, .terminate = 1});
    status =
        await_end(actor, GYRE_ACTOR_TERMINATED, gyre_clock_after_ns(actor->launched.handshake_ns));
    if (status == GYRE_OK)
        return gyre_fail(GYRE_NO_MEMORY,
                         "actor '%s': %s did not have all of %u seats resident within %llu ms",
                         actor->name, gyre_context_device(actor->context)->name, actor->shape.seats,
                         (unsigned long long)(actor->launched.handshake_ns / 1000000));
    if (status == GYRE_TIMEOUT)
        status = fail(
            actor, gyre_fail(GYRE_DEVICE_LOST, "actor '%s' neither began nor ended", actor->name));
    return status;
}

static void forget_launch(gyre_actor *actor)
{
    gyre_ports_destroy(actor);
    give_mailbox(actor);
}

/* Before a change of its life: the lock is held after GYRE_OK, and it is what *out_now says. */
static gyre_status hold(gyre_actor *actor, gyre_actor_status *out_now)
{
    const gyre_status status = gyre_process_check();

    if (status == GYRE_OK) {
        pthread_mutex_lock(&actor->lock);
        *out_now = gyre_actor_state(actor);
    }
    return status;
}

gyre_status gyre_actor_launch(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_actor_status now;
    gyre_status status = hold(actor, &now);

    if (status != GYRE_OK)
        return status;
    if (now != GYRE_ACTOR_CREATED && now != GYRE_ACTOR_TERMINATED && now != GYRE_ACTOR_FAILED) {
        status = refuse(actor, "terminate it before another launch");
        goto out;
    }
    status = gyre_context_check(actor->context);
    for (uint32_t p = 0; status == GYRE_OK && p < actor->shape.ports; p++)
        if (actor->port[p] && gyre_port_is_open(actor->port[p]))
            status = refuse(actor, "close the ports of the last launch first");
    if (status != GYRE_OK)
        goto out;
    forget_launch(actor);
    status = plan(actor, options);
    if (status == GYRE_OK)
        status = make_mailbox(actor);
    if (status == GYRE_OK)
        status = gyre_ports_create(actor, actor->launched.first);
    if (status != GYRE_OK) {
        forget_launch(actor);
        goto out;
    }
    actor->order = 0;
    if (!actor->launched.not_active)
        give_order(actor, (order){.active = true});
    become(actor, actor->launched.not_active ? GYRE_ACTOR_LAUNCHED : GYRE_ACTOR_ACTIVE);
    status = come_to_life(actor, true);
    if (status != GYRE_OK && gyre_actor_state(actor) != GYRE_ACTOR_FAILED) {
        forget_launch(actor);
        become(actor, GYRE_ACTOR_CREATED);
    }
    if (status == GYRE_OK) {
        gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE, "actor '%s' is resident on %s: %u seats, %s",
                 actor->name, gyre_context_device(actor->context)->name, actor->shape.seats,
                 actor->scheme);
        gyre_board_add(actor);
    }
out:
    pthread_mutex_unlock(&actor->lock);
    return status;
}

gyre_status gyre_actor_activate(gyre_actor *actor)
{
    gyre_actor_status now;
    gyre_status status = hold(actor, &now);

    if (status != GYRE_OK)
        return status;
    if (now == GYRE_ACTOR_LAUNCHED) {
        give_order(actor, (order){.active = true});
        become(actor, GYRE_ACTOR_ACTIVE);
    } else if (now != GYRE_ACTOR_ACTIVE) {
        status = refuse(actor, "it cannot be activated");
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

gyre_status gyre_actor_resume(gyre_actor *actor)
{
    gyre_actor_status now;
    gyre_status status = hold(actor, &now);

    if (status != GYRE_OK)
        return status;
    if (now == GYRE_ACTOR_PAUSED || now == GYRE_ACTOR_PARKED) {
        const bool ending = actor->ending;

        give_order(actor, (order){.active = true});
        if (now == GYRE_ACTOR_PARKED)
            status = come_to_life(actor, false);
        else if (ending) /* by a park that was not over in time: they may end yet */
            status = await(actor, order_done, gyre_clock_after_ns(actor->launched.handshake_ns));
        if (gyre_actor_state(actor) != GYRE_ACTOR_FAILED)
            become(actor, status == GYRE_OK ? GYRE_ACTOR_ACTIVE : now);
    } else if (now != GYRE_ACTOR_ACTIVE) {
        status = refuse(actor, "it cannot resume");
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

gyre_status gyre_actor_pause(gyre_actor *actor, uint64_t deadline_ns)
{
    gyre_actor_status now;
    gyre_status status = hold(actor, &now);

    if (status != GYRE_OK)
        return status;
    if (now != GYRE_ACTOR_ACTIVE && now != GYRE_ACTOR_PAUSED && now != GYRE_ACTOR_LAUNCHED) {
        status = refuse(actor, "it cannot pause");
    } else {
        /* one that is paused stays where it is */
        give_order(actor, (order){.keep_gates = now != GYRE_ACTOR_ACTIVE});
        become(actor, GYRE_ACTOR_PAUSED);
        status = await(actor, order_done, deadline_ns);
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

gyre_status gyre_actor_park(gyre_actor *actor, uint64_t deadline_ns)
{
    gyre_actor_status now;
    gyre_status status = hold(actor, &now);

    if (status != GYRE_OK)
        return status;
    if (now == GYRE_ACTOR_ACTIVE || now == GYRE_ACTOR_PAUSED || now == GYRE_ACTOR_LAUNCHED) {
        give_order(actor, (order){.keep_gates = now != GYRE_ACTOR_ACTIVE, .terminate = 2});
        become(actor, GYRE_ACTOR_PAUSED);
        status = await_end(actor, GYRE_ACTOR_PARKED, deadline_ns);
    } else if (now != GYRE_ACTOR_PARKED) {
        status = refuse(actor, "it cannot be parked");
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

static gyre_actor *actor_of(gyre_resident *resident)
{
    return (gyre_actor *)(void *)((char *)resident - offsetof(gyre_actor, resident));
}

gyre_status gyre_actor_suspend(gyre_resident *resident)
{
    gyre_actor *const actor = actor_of(resident);
    gyre_status status = GYRE_OK;

    pthread_mutex_lock(&actor->lock);
    actor->before = gyre_actor_state(actor);
    if (is_resident((gyre_actor_status)actor->before)) {
        give_order(actor,
                   (order){.keep_gates = actor->before != GYRE_ACTOR_ACTIVE, .terminate = 2});
        status = await_end(actor, GYRE_ACTOR_PARKED, gyre_clock_after_ns(actor->stall_ns));
    }
    if (status == GYRE_TIMEOUT) {
        /* it goes on as it was */
        give_order(actor,
                   (order){.active = actor->before == GYRE_ACTOR_ACTIVE, .keep_gates = true});
        status = gyre_fail(GYRE_UNAVAILABLE,
                           "actor '%s' is resident and did not leave the device within %llu ms",
                           actor->name, (unsigned long long)(actor->stall_ns / 1000000));
    } else if (status != GYRE_OK) {
        status = GYRE_OK; /* it has failed, and is not in the way */
        actor->before = GYRE_ACTOR_FAILED;
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

void gyre_actor_restore(gyre_resident *resident)
{
    gyre_actor *const actor = actor_of(resident);

    pthread_mutex_lock(&actor->lock);
    if (gyre_actor_state(actor) == GYRE_ACTOR_PARKED &&
        is_resident((gyre_actor_status)actor->before)) {
        give_order(actor,
                   (order){.active = actor->before == GYRE_ACTOR_ACTIVE, .keep_gates = true});
        if (come_to_life(actor, false) == GYRE_OK)
            become(actor, (gyre_actor_status)actor->before);
        else
            gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE, "actor '%s' did not come back: %s",
                     actor->name, gyre_error_last()->text);
    }
    pthread_mutex_unlock(&actor->lock);
}

/* Ends it, `how` the seats are told. One that is parked comes back for what is left to do. */
static gyre_status end(gyre_actor *actor, uint32_t how, uint64_t deadline_ns)
{
    gyre_actor_status now;
    gyre_status status = hold(actor, &now);

    if (status != GYRE_OK)
        return status;
    if (now == GYRE_ACTOR_PARKED && how == 2) {
        status = come_to_life(actor, false);
        now = status == GYRE_OK ? GYRE_ACTOR_PAUSED : now;
    }
    if (is_resident(now)) {
        give_order(actor, (order){.terminate = how});
        become(actor, GYRE_ACTOR_DRAINING);
        status = await_end(actor, GYRE_ACTOR_TERMINATED, deadline_ns);
    } else if (now == GYRE_ACTOR_PARKED || now == GYRE_ACTOR_CREATED) {
        become(actor, GYRE_ACTOR_TERMINATED);
    } else if (now == GYRE_ACTOR_FAILED && how == 2) {
        status = refuse(actor, "it cannot drain");
    }
    pthread_mutex_unlock(&actor->lock);
    return status;
}

gyre_status gyre_actor_drain(gyre_actor *actor, uint64_t deadline_ns)
{
    return end(actor, 2, deadline_ns);
}

gyre_status gyre_actor_terminate(gyre_actor *actor, uint64_t deadline_ns)
{
    return end(actor, 1, deadline_ns);
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
        if (rounds % 64 == 63 && gyre_actor_look(actor) != GYRE_OK)
            continue; /* it has failed, which may be what is waited for */
        doze(&rounds);
    }
    return status;
}

/* How many were sent beyond those that were handled, which may have become more meanwhile. */
static uint32_t ahead(uint32_t sent, uint32_t handled)
{
    return (int32_t)(sent - handled) > 0 ? sent - handled : 0;
}

/* Messages that were sent to all seats and not handled, as far as they told. */
static uint64_t count_waiting(const gyre_actor *actor)
{
    uint64_t waiting = 0;

    for (uint32_t i = 0; i < actor->shape.seats; i++)
        for (uint32_t p = 0; p < actor->shape.ports; p++) {
            const gyre_seat *const seat = gyre_actor_seat(actor, i);
            uint32_t requests, bells;

            gyre_port_sent(actor->port[p], i, &requests, &bells);
            waiting += ahead(requests, gyre_mailbox_load(&seat->heads[p]));
            waiting += ahead(bells, gyre_mailbox_load(&seat->rung[p]));
        }
    return waiting;
}

/* Whether messages have waited for too long, as far as somebody kept looking. */
static gyre_status watch(gyre_actor *actor)
{
    const uint64_t processed = gyre_actor_processed(actor), now_ns = gyre_clock_now_ns();

    if (processed != actor->watched || now_ns - actor->looked_ns > GLANCES_NS ||
        count_waiting(actor) == 0) {
        actor->watched = processed;
        actor->watched_ns = now_ns;
    }
    actor->looked_ns = now_ns;
    if (now_ns - actor->watched_ns <= actor->stall_ns)
        return GYRE_OK;
    return fail(actor, gyre_fail(GYRE_DEVICE_LOST,
                                 "actor '%s': %llu messages wait, and none was handled for %llu "
                                 "ms: its behaviour does not return",
                                 actor->name, (unsigned long long)count_waiting(actor),
                                 (unsigned long long)(actor->stall_ns / 1000000)));
}

gyre_status gyre_actor_look(gyre_actor *actor)
{
    gyre_status status = GYRE_OK;
    gyre_actor_status now;

    /* somebody changes its life, looks as well, and waits no longer than he said */
    if (pthread_mutex_trylock(&actor->lock) != 0)
        return GYRE_OK;
    now = gyre_actor_state(actor);
    if (is_resident(now)) {
        status = actor->residence->look(actor);
        if (status == GYRE_OK && !actor->ending)
            status = fail(actor, gyre_fail(GYRE_CLOSED, "actor '%s' ended unasked", actor->name));
        else if (status == GYRE_AGAIN || status == GYRE_OK)
            status =
                now == GYRE_ACTOR_ACTIVE || now == GYRE_ACTOR_DRAINING ? watch(actor) : GYRE_OK;
        else
            status = fail(actor, status);
    }
    now = gyre_actor_state(actor);
    if (status == GYRE_OK && now == GYRE_ACTOR_FAILED)
        status = gyre_fail_at(actor->fault.status, actor->fault.native, actor->fault.file,
                              actor->fault.line, "%s", actor->fault.text);
    else if (status == GYRE_OK && now == GYRE_ACTOR_TERMINATED)
        status = gyre_fail(GYRE_CLOSED, "actor '%s' has ended", actor->name);
    pthread_mutex_unlock(&actor->lock);
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
    pthread_mutex_lock(&actor->lock);
    status = actor->state ? actor->residence->read_state(actor, into, size)
                          : refuse(actor, "it has no state yet");
    pthread_mutex_unlock(&actor->lock);
    return status;
}

gyre_status gyre_actor_describe(gyre_actor *actor, gyre_actor_statistics *out_statistics)
{
    const size_t size = out_statistics->struct_size;
    gyre_actor_statistics all = {.struct_size = size, .scheme = actor->scheme};
    uint64_t total_ns = 0;

    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "statistics without struct_size");
    all.seats = actor->shape.seats;
    all.replicas = actor->shape.replicas;
    all.incarnation = actor->shape.incarnation;
    all.min_ns = UINT64_MAX;
    for (uint32_t i = 0; actor->mailbox && i < actor->shape.seats; i++) {
        const gyre_seat *const seat = gyre_actor_seat(actor, i);
        const gyre_telemetry *const t = &seat->telemetry;
        const gyre_control_device *const device = &seat->control.device;
        const uint64_t min_ns = gyre_mailbox_load64(&t->min_latency_ns);
        const uint64_t max_ns = gyre_mailbox_load64(&t->max_latency_ns);
        const uint32_t error = gyre_mailbox_load(&device->last_error);

        all.processed += gyre_mailbox_load64(&device->processed);
        all.failed += gyre_mailbox_load64(&device->error_count);
        all.dropped += gyre_mailbox_load64(&t->dropped);
        total_ns += gyre_mailbox_load64(&t->total_latency_ns);
        all.min_ns = min_ns < all.min_ns ? min_ns : all.min_ns;
        all.max_ns = max_ns > all.max_ns ? max_ns : all.max_ns;
        all.last_error = error ? error : all.last_error;
    }
    if (actor->mailbox)
        all.waiting = count_waiting(actor);
    if (all.processed > 0)
        all.mean_ns = (double)total_ns / (double)all.processed;
    if (all.min_ns == UINT64_MAX)
        all.min_ns = 0;
    memcpy(out_statistics, &all, size < sizeof all ? size : sizeof all);
    return GYRE_OK;
}

void gyre_actor_destroy(gyre_actor *actor)
{
    if (!actor)
        return;
    if (gyre_process_check() == GYRE_OK) {
        if (is_resident(gyre_actor_state(actor)) &&
            gyre_actor_terminate(actor, gyre_clock_after_ns(SECOND_NS)) == GYRE_TIMEOUT) {
            pthread_mutex_lock(&actor->lock);
            (void)fail(actor, gyre_fail(GYRE_DEVICE_LOST, "actor '%s' does not end", actor->name));
            pthread_mutex_unlock(&actor->lock);
        }
        gyre_board_remove(actor);
        give_mailbox(actor);
        actor->residence->destroy(actor);
    }
    gyre_ports_destroy(actor);
    gyre_free(NULL, actor->first_state, actor->behaviour->state_bytes, 1);
    pthread_mutex_destroy(&actor->lock);
    gyre_free(NULL, actor, 1, sizeof *actor);
}
