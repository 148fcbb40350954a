/* SPDX-License-Identifier: Apache-2.0
 *
 * actor: from nothing to a launch, and the end. A launch that does not come to life fails.
 *
 * Threads   any, by the lock of the actor.
 * Owns      see actor/actor.h.
 * Not here  other changes of its life (actor/life.c), what seats do (actor/loop_single.h,
 *           actor/loop_cuda.h), ports (actor/port.c).
 */
#include "actor/actor.h"

#include <stdio.h>
#include <string.h>

#include "actor/board.h"
#include "actor/order.h"
#include "actor/print.h"
#include "actor/trial.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "gyre/clock.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
    CAPACITY_LEAST = 16,
    CAPACITY_MOST = 1 << 20,
    SEATS_MOST = 4096,
    PRINTS_LEAST = 16,
    PRINTS_MOST = 1 << 16,
    SHARED_MOST = 227 * 1024, /* of a block of the largest GPUs */
    NAP_US = 50,
    LEAVE_US = 100000,
};

gyre_status gyre_actor_create(gyre_context *context, const gyre_behaviour *behaviour,
                              const gyre_actor_options *options, gyre_actor **out_actor)
{
    gyre_actor_options o;
    gyre_behaviour mine;
    gyre_actor *actor;
    void *memory = NULL;
    gyre_status status = gyre_process_use();

    *out_actor = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status != GYRE_OK)
        return status;
    if (!context)
        return gyre_fail(GYRE_INVALID, "an actor needs a context");
    status = gyre_behaviour_read(behaviour, &mine);
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, 1, sizeof *actor, &memory);
    if (status != GYRE_OK)
        return status;
    actor = memory;
    actor->context = context;
    actor->given = mine;
    actor->behaviour = &actor->given;
    actor->stall_ns = o.stall_ns ? o.stall_ns : 2 * SECOND_NS;
    actor->print = o.print;
    actor->print_arg = o.print_arg;
    snprintf(actor->name, sizeof actor->name, "%s", o.name ? o.name : mine.name);
    pthread_mutex_init(&actor->hearing, NULL);
    pthread_mutex_init(&actor->view, NULL);
    actor->residence = gyre_device_has(gyre_context_device(context), GYRE_FEATURE_FUNCTIONS)
                           ? &gyre_residence_threads
                           : &gyre_residence_kernel;
    if (o.state && mine.state_bytes) {
        status = gyre_alloc(NULL, mine.state_bytes, 1, &actor->first_state);
        if (status == GYRE_OK)
            memcpy(actor->first_state, o.state, mine.state_bytes);
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

/* What the annex of each seat is for. */
static gyre_status plan_annex(gyre_actor *actor)
{
    gyre_actor_launch_options *const o = &actor->launched;

    o->prints = o->prints ? o->prints : GYRE_PRINTS;
    if (!is_power_of_two(o->prints) || o->prints < PRINTS_LEAST || o->prints > PRINTS_MOST)
        return gyre_fail(GYRE_INVALID, "actor '%s': room for %u prints; a power of two, %d to %d",
                         actor->name, o->prints, PRINTS_LEAST, PRINTS_MOST);
    if (o->histogram && o->no_telemetry)
        return gyre_fail(GYRE_INVALID, "actor '%s': a histogram without telemetry; ask for both",
                         actor->name);
    return GYRE_OK;
}

/* A thread is as good as a multiprocessor. */
static gyre_status check_units(const gyre_actor *actor)
{
    const uint32_t seats = actor->shape.seats, most = actor->launched.units;
    const uint32_t needed = actor->resident.units ? actor->resident.units : seats;

    if (most == 0 || needed <= most)
        return GYRE_OK;
    return gyre_fail(GYRE_NO_MEMORY, "actor '%s' needs %u units for %u seats, and may have %u",
                     actor->name, needed, seats, most);
}

/* What the device decides, and what all must refuse. */
static gyre_status plan_device(gyre_actor *actor)
{
    gyre_status status = gyre_actor_plan_warps(actor);

    if (status == GYRE_OK)
        status = actor->residence->plan(actor, &actor->launched);
    if (status == GYRE_OK)
        status = check_units(actor);
    return status == GYRE_OK ? gyre_bells_take(actor) : status;
}

/* What the seats are told of the caller's wishes. */
static void form(gyre_actor *actor, uint32_t incarnation)
{
    const gyre_actor_launch_options *const o = &actor->launched;

    actor->shape = (gyre_mailbox_shape){
        .incarnation = incarnation,
        .seats = o->seats,
        .ports = o->ports,
        .capacity = o->capacity,
        .idle = o->idle == GYRE_ACTOR_SPIN ? GYRE_SEAT_SPINS : GYRE_SEAT_BACKS_OFF,
        .nap_us = o->nap_us,
        .telemetry =
            (o->no_telemetry ? 0 : GYRE_SEAT_TELEMETRY) | (o->histogram ? GYRE_SEAT_HISTOGRAM : 0),
        .prints = o->prints,
    };
}

/* The caller's wishes, completed; the device's own part is filled in by its residence. */
static gyre_status plan(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_actor_launch_options *const o = &actor->launched;
    const uint32_t incarnation = actor->shape.incarnation + 1;
    gyre_status status = GYRE_OPTIONS_READ(*o, options);

    if (status == GYRE_OK)
        status = plan_annex(actor);
    if (status != GYRE_OK)
        return status;
    o->seats = o->seats ? o->seats : 1;
    o->ports = o->ports ? o->ports : 1;
    o->capacity = o->capacity ? o->capacity : GYRE_MAILBOX_CAPACITY;
    o->nap_us = o->nap_us ? o->nap_us : NAP_US;
    o->handshake_ns = o->handshake_ns ? o->handshake_ns : 2 * SECOND_NS;
    o->idle = o->idle ? o->idle : GYRE_ACTOR_BACK_OFF;
    o->leave_us = o->leave_us ? o->leave_us : LEAVE_US;
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
    if (o->shared_bytes > SHARED_MOST)
        return gyre_fail(GYRE_INVALID, "actor '%s': %u bytes of shared memory; %d is the most",
                         actor->name, o->shared_bytes, SHARED_MOST);
    /* a slot that was never written has stamp 0; those of a bell and its answer are twice its
     * number, and one more, modulo 2^32 */
    if (gyre_ring_salt(incarnation) - o->first < o->capacity ||
        gyre_ring_salt(incarnation) / 2 == 2 * (o->first + 1) / 2)
        return gyre_fail(GYRE_INVALID, "actor '%s': sequences of this launch cannot begin at %u",
                         actor->name, o->first);
    if (o->idle != GYRE_ACTOR_SPIN && o->idle != GYRE_ACTOR_BACK_OFF && o->idle != GYRE_ACTOR_LEAVE)
        return gyre_fail(GYRE_INVALID, "actor '%s': idle policy %d", actor->name, (int)o->idle);
    if (o->idle != GYRE_ACTOR_LEAVE &&
        gyre_device_has(gyre_context_device(actor->context), GYRE_FEATURE_TIME_LIMIT))
        return gyre_fail(GYRE_UNSUPPORTED,
                         "actor '%s': %s drives a display or has a time limit, and its driver ends "
                         "kernels that run for seconds; launch it with idle = GYRE_ACTOR_LEAVE",
                         actor->name, gyre_context_device(actor->context)->name);
    form(actor, incarnation);
    status = plan_device(actor);
    if (status == GYRE_OK)
        actor->shape.seat_bytes = gyre_annex_seat_bytes(&actor->shape);
    return status;
}

static void give_mailbox(gyre_actor *actor)
{
    const gyre_memory *const memory = gyre_context_memory(actor->context, GYRE_CONTEXT_PINNED);
    unsigned char *const mailbox = actor->mailbox;

    if (mailbox && !actor->hung &&
        gyre_streams_await(actor, gyre_clock_after_ns(SECOND_NS)) != GYRE_OK) {
        gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE,
                 "actor '%s': streams have yet to come to its messages: its mailbox is left",
                 actor->name);
        actor->hung = true;
    }
    gyre_prints_end(actor);
    if (mailbox && !actor->hung)
        memory->give(memory, mailbox, actor->mailbox_bytes, GYRE_MAILBOX_ROW);
    gyre_bells_give(actor);
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
    memset(block, 0, actor->mailbox_bytes);
    gyre_prints_begin(actor, block);
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

/* What the host alone knew of the mailbox. */
static void free_books(gyre_actor *actor)
{
    gyre_ports_destroy(actor);
    gyre_free(NULL, actor->watch, actor->shape.seats, sizeof *actor->watch);
    actor->watch = NULL;
}

static void show(gyre_actor *actor, bool in_view)
{
    pthread_mutex_lock(&actor->view);
    actor->in_view = in_view;
    pthread_mutex_unlock(&actor->view);
}

void gyre_actor_forget(gyre_actor *actor)
{
    show(actor, false);
    give_mailbox(actor);
    free_books(actor);
}

gyre_status gyre_actor_ready(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_status status = plan(actor, options);
    void *watch = NULL;

    if (status == GYRE_OK)
        status = gyre_alloc(NULL, actor->shape.seats, sizeof *actor->watch, &watch);
    actor->watch = watch;
    if (status == GYRE_OK)
        status = make_mailbox(actor);
    if (status == GYRE_OK)
        status = gyre_ports_create(actor, actor->launched.first);
    if (status != GYRE_OK)
        gyre_actor_forget(actor);
    else
        show(actor, true);
    actor->order = 0;
    actor->looked_ns = 0;
    return status;
}

/* GYRE_OK, or why it cannot be launched now. */
static gyre_status check_launch(gyre_actor *actor, gyre_actor_status now)
{
    gyre_status status = gyre_context_check(actor->context);

    if (now != GYRE_ACTOR_CREATED && now != GYRE_ACTOR_TERMINATED && now != GYRE_ACTOR_FAILED)
        return gyre_actor_refuse(actor, "terminate it before another launch");
    for (uint32_t p = 0; status == GYRE_OK && p < actor->shape.ports; p++)
        if (actor->port[p] && gyre_port_is_open(actor->port[p]))
            status = gyre_actor_refuse(actor, "close the ports of the last launch first");
    return status;
}

/* The lock is held. GYRE_AGAIN: its device is kept free, and nothing was done. */
static gyre_status launch(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    gyre_status status;

    gyre_actor_forget(actor);
    if (actor->residence->tries && actor->residence->tries(actor))
        gyre_trial_make(actor, options);
    status = gyre_context_check(actor->context);
    if (status == GYRE_OK)
        status = gyre_actor_ready(actor, options);
    if (status == GYRE_OK)
        status = gyre_warden_watch(actor);
    if (status != GYRE_OK) {
        gyre_actor_forget(actor);
        return status;
    }
    atomic_store_explicit(&actor->returns, 0, memory_order_relaxed);
    if (!actor->launched.not_active)
        gyre_order_give(actor, (gyre_order){.active = true});
    gyre_actor_become(actor, actor->launched.not_active ? GYRE_ACTOR_LAUNCHED : GYRE_ACTOR_ACTIVE);
    status = gyre_actor_come_to_life(actor, true);
    if (status != GYRE_OK && gyre_actor_state(actor) != GYRE_ACTOR_FAILED) {
        gyre_actor_forget(actor);
        gyre_actor_become(actor, GYRE_ACTOR_CREATED);
    }
    if (status == GYRE_OK) {
        gyre_log(GYRE_LOG_INFO, GYRE_TOPIC_DEVICE, "actor '%s' is resident on %s: %u seats, %s",
                 actor->name, gyre_context_device(actor->context)->name, actor->shape.seats,
                 actor->scheme);
        gyre_board_add(actor);
    }
    return status;
}

gyre_status gyre_actor_launch(gyre_actor *actor, const gyre_actor_launch_options *options)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(GYRE_ACTOR_KEPT_NS);
    gyre_status status = GYRE_AGAIN;
    gyre_actor_status now;

    while (status == GYRE_AGAIN) {
        status = gyre_actor_hold_free(actor, deadline_ns, &now);
        if (status != GYRE_OK)
            return status == GYRE_TIMEOUT ? gyre_actor_refuse_held(actor) : status;
        status = check_launch(actor, now);
        if (status == GYRE_OK)
            status = launch(actor, options);
        gyre_actor_release(actor);
    }
    return status;
}

/* Terminates it: false when for a second it handled nothing, and did not end. */
static bool has_ended(gyre_actor *actor)
{
    uint64_t before;
    gyre_status status;

    do {
        before = gyre_actor_processed(actor);
        status = gyre_actor_terminate(actor, gyre_clock_after_ns(SECOND_NS));
    } while (status == GYRE_TIMEOUT && gyre_actor_processed(actor) != before);
    return status != GYRE_TIMEOUT;
}

void gyre_actor_destroy(gyre_actor *actor)
{
    if (!actor)
        return;
    if (gyre_process_check() == GYRE_OK) {
        gyre_warden_forget(actor);
        if (!has_ended(actor)) {
            (void)!gyre_latch_take(&actor->lock, GYRE_NEVER);
            if (gyre_actor_is_resident(gyre_actor_state(actor)))
                (void)gyre_actor_fail(
                    actor, gyre_fail(GYRE_DEVICE_LOST, "actor '%s' does not end", actor->name));
            gyre_actor_release(actor);
        }
        gyre_board_remove(actor);
        give_mailbox(actor);
        actor->residence->destroy(actor);
    }
    free_books(actor);
    gyre_free(NULL, actor->first_state, actor->behaviour->state_bytes, 1);
    pthread_mutex_destroy(&actor->hearing);
    pthread_mutex_destroy(&actor->view);
    gyre_free(NULL, actor, 1, sizeof *actor);
}
