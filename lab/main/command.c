/* SPDX-License-Identifier: Apache-2.0
 *
 * command: see command.h.
 */
#include "main/command.h"

#include <stdio.h>

#include "base/fail.h"
#include "bench/method.h"
#include "gyre/clock.h"

/* How a process ended that was not stopped by anybody. */
static void tell_fate(const gyre_worker *worker, const gyre_overseer *overseer, gyre_fate *fate)
{
    *fate = (gyre_fate){.outcome = GYRE_OUTCOME_MEASURED, .side = -1};
    if (worker->gave_up || (*overseer->interrupted && !worker->timed_out)) {
        fate->outcome = GYRE_OUTCOME_INTERRUPTED;
        snprintf(fate->reason, sizeof fate->reason, "interrupted");
    } else if (worker->status != 0 || worker->timed_out) {
        fate->outcome = GYRE_OUTCOME_FAILED;
        gyre_worker_epitaph(worker, fate->reason, sizeof fate->reason);
        gyre_worker_last_words(worker, fate->last_words, sizeof fate->last_words);
    }
}

static gyre_status ask(gyre_worker *worker, const gyre_overseer *overseer,
                       gyre_listing *out_listing, gyre_fate *out_fate)
{
    bool listed = false;

    for (;;) {
        gyre_message message;
        gyre_status status = gyre_worker_next(worker, overseer->interrupted, &message);

        if (status == GYRE_CLOSED)
            break;
        if (status == GYRE_OK && message.kind == GYRE_MESSAGE_LIST && !listed) {
            status = gyre_listing_parse(message.text, message.length, message.number, out_listing);
            listed = status == GYRE_OK;
        }
        if (status != GYRE_OK)
            return status;
    }
    tell_fate(worker, overseer, out_fate);
    if (out_fate->outcome == GYRE_OUTCOME_INTERRUPTED)
        return GYRE_CANCELLED;
    if (worker->timed_out)
        return gyre_fail(GYRE_UNAVAILABLE, "asked for its benchmarks, it %s", out_fate->reason);
    return GYRE_OK;
}

gyre_status gyre_command_ask(const gyre_program *program, const gyre_overseer *overseer,
                             gyre_listing *out_listing, gyre_fate *out_fate)
{
    const gyre_worker_order order = {.purpose = GYRE_PURPOSE_LIST, .baton_fd = -1};
    const gyre_worker_start how = {.program = program,
                                   .timeout_ns = overseer->timeout_ns,
                                   .tick = overseer->tick,
                                   .user = overseer->user};
    gyre_worker worker;
    gyre_status status = gyre_worker_init(&worker, &order, &how);

    *out_listing = (gyre_listing){0};
    if (status != GYRE_OK)
        return status;
    gyre_guardian_watch(overseer->guardian, 0, worker.pid);
    status = ask(&worker, overseer, out_listing, out_fate);
    gyre_guardian_watch(overseer->guardian, 0, 0);
    gyre_worker_fini(&worker);
    gyre_orphans_end(overseer->orphans);
    if (status != GYRE_OK)
        gyre_listing_fini(out_listing);
    return status;
}

gyre_status gyre_command_time(const gyre_program *program, const gyre_overseer *overseer,
                              const gyre_cpu_set *cpus, double *out_ns, gyre_fate *out_fate)
{
    const gyre_worker_order none = {.baton_fd = -1};
    const gyre_worker_start how = {.program = program,
                                   .is_command = true,
                                   .cpus = cpus,
                                   .timeout_ns = overseer->timeout_ns,
                                   .tick = overseer->tick,
                                   .user = overseer->user};
    const uint64_t start_ns = gyre_clock_now_ns();
    gyre_message message;
    gyre_worker worker;
    gyre_status status = gyre_worker_init(&worker, &none, &how);

    *out_ns = 0;
    if (status != GYRE_OK)
        return status;
    gyre_guardian_watch(overseer->guardian, 0, worker.pid);
    status = gyre_worker_next(&worker, overseer->interrupted, &message);
    *out_ns = (double)(gyre_clock_now_ns() - start_ns);
    gyre_guardian_watch(overseer->guardian, 0, 0);
    if (status == GYRE_CLOSED) {
        tell_fate(&worker, overseer, out_fate);
    } else if (status != GYRE_NO_MEMORY) { /* it wrote where only workers write */
        *out_fate = (gyre_fate){.outcome = GYRE_OUTCOME_FAILED, .side = -1};
        snprintf(out_fate->reason, sizeof out_fate->reason,
                 "wrote to a descriptor it does not own");
    }
    gyre_worker_fini(&worker);
    gyre_orphans_end(overseer->orphans);
    return status == GYRE_NO_MEMORY ? status : GYRE_OK;
}
