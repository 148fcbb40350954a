/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch_run: the thread that takes commands, submits them, looks how far they are and answers.
 *
 * It never waits for one thing: while anything is under way it looks at the channel and at the
 * streams in turn, so a command is taken while others run, and an answer leaves within one look of
 * its work's end. It looks without a break for as long as spinning may take (spin_ns), then lets
 * others run in between, then sleeps for a part of the time that it has waited already, so that
 * long work is told a little late but does not cost a CPU. With nothing under way it sleeps in the
 * channel, a while at a time: the channel is the caller's and cannot be closed to stop us.
 *
 * A deadline is missed here without anybody waiting: a stream that made no progress for as long as
 * a wait may take gets the strike that a wait would have got (exec/stream.h).
 *
 * Threads   one; it alone submits to the lanes' streams. Edge: [stream-done].
 * Owns      the commands that it has taken, until they are answered.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/wait.h"
#include "exec/dispatch.h"
#include "exec/stream.h"
#include "gyre/atomic.h"
#include "gyre/clock.h"

enum {
    TAKES = 32,              /* in a row, before the streams are looked at */
    ROUNDS = 16,             /* between two readings of the clock, which costs as much as a look */
    SLEEP_MOST_NS = 1000000, /* with something under way */
    SLEEP_PART = 16,         /* of the time waited */
    SLICE_NS = 20000000,     /* asleep in the channel before `stopping` is looked at */
};

/* Adds to a number that this thread alone writes. relaxed: a figure. */
static void count(_Atomic uint64_t *number, uint64_t more)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

static bool is_stopping(const gyre_dispatch *dispatch)
{
    /* relaxed: nothing comes with it; gyre_dispatch_stop waits for the thread */
    return atomic_load_explicit(&dispatch->stopping, memory_order_relaxed);
}

static gyre_dispatch_record *record_at(const gyre_dispatch *dispatch,
                                       const gyre_dispatch_lane *lane, uint64_t position)
{
    return &lane->ring[position % dispatch->pending_most];
}

/* Sends an answer, and hands over its bytes or releases them. */
static void answer(gyre_dispatch *dispatch, gyre_reply reply, uint64_t taken_ns,
                   gyre_dispatch_answer *a)
{
    a->work_ns = gyre_clock_now_ns() - taken_ns;
    if (a->work_ns > atomic_load_explicit(&dispatch->worst_ns, memory_order_relaxed))
        atomic_store_explicit(&dispatch->worst_ns, a->work_ns, memory_order_relaxed);
    if (reply &&
        gyre_reply_send(dispatch->channel, reply, (gyre_status)a->status, a, sizeof *a) == GYRE_OK)
        return;
    count(&dispatch->late, reply != 0);
    gyre_bytes_release(&a->bytes);
}

/* Answers a command that failed, with the sentence that says why. */
static void answer_failure(gyre_dispatch *dispatch, gyre_reply reply, uint64_t taken_ns,
                           const gyre_error *error)
{
    gyre_dispatch_answer a = {.status = error->status, .native = error->native};

    count(&dispatch->failures, 1);
    if (reply && error->text[0]) {
        /* without memory for it there is still the status */
        (void)!gyre_bytes_copy(NULL, error->text, strlen(error->text) + 1, &a.bytes);
    } else if (!reply) {
        if (atomic_load_explicit(&dispatch->unheard, memory_order_relaxed) == 0)
            gyre_log(GYRE_LOG_WARN, GYRE_TOPIC_DEVICE,
                     "dispatch '%s': a command without a reply failed, later ones are only "
                     "counted: %s: %s",
                     dispatch->name, gyre_status_name(error->status), error->text);
        count(&dispatch->unheard, 1);
    }
    answer(dispatch, reply, taken_ns, &a);
}

/* What this thread's last call said, when it returned `status`: copied, since answering writes it
 * too. */
static gyre_error error_of(gyre_status status)
{
    gyre_error error = {.status = status};

    if (status != GYRE_AGAIN && status != GYRE_TIMEOUT) /* which leave an older one there */
        error = *gyre_error_last();
    error.status = status;
    return error;
}

void gyre_dispatch_let_go(const gyre_dispatch *dispatch, gyre_dispatch_lane *lane)
{
    /* acquire [stream-done]: pairs with the release in exec/health.c. The device has read or
     * written the bytes. */
    const uint64_t done = gyre_load_acquire(lane->completed);

    while (lane->head != lane->next && record_at(dispatch, lane, lane->head)->value <= done)
        gyre_bytes_release(&record_at(dispatch, lane, lane->head++)->bytes);
}

/* Answers what is through: whether anything was. */
static bool answer_through(gyre_dispatch *dispatch, gyre_dispatch_lane *lane)
{
    /* acquire [stream-done]: as in gyre_dispatch_let_go */
    const uint64_t before = lane->next, done = gyre_load_acquire(lane->completed);

    while (lane->next != lane->tail && record_at(dispatch, lane, lane->next)->value <= done) {
        gyre_dispatch_record *const record = record_at(dispatch, lane, lane->next++);
        gyre_dispatch_answer a = {.status = GYRE_OK};

        if (record->kind == GYRE_COMMAND_FROM_DEVICE) {
            a.bytes = record->bytes;
            record->bytes = (gyre_bytes){0};
        }
        count(&dispatch->pending, UINT64_MAX); /* one less */
        answer(dispatch, record->reply, record->taken_ns, &a);
    }
    if (lane->next == before)
        return false;
    lane->waiting_ns = gyre_clock_now_ns();
    gyre_dispatch_let_go(dispatch, lane);
    return true;
}

/* Answers everything under way with why the stream failed. What they refer to stays while the
 * device may still touch it; a fault has ended the stream's work. */
static void fail_lane(gyre_dispatch *dispatch, gyre_dispatch_lane *lane, const gyre_error *error)
{
    lane->failed = true;
    for (; lane->next != lane->tail; lane->next++) {
        const gyre_dispatch_record *const record = record_at(dispatch, lane, lane->next);

        count(&dispatch->pending, UINT64_MAX);
        answer_failure(dispatch, record->reply, record->taken_ns, error);
    }
    if (gyre_stream_fault(lane->stream))
        for (; lane->head != lane->tail; lane->head++)
            gyre_bytes_release(&record_at(dispatch, lane, lane->head)->bytes);
}

static bool is_failure(gyre_status status)
{
    return status != GYRE_OK && status != GYRE_AGAIN && status != GYRE_TIMEOUT;
}

/* Looks how far the first of a lane is that is under way, and answers accordingly: whether anything
 * happened. Whether it takes too long is asked if `timed`. */
static bool look(gyre_dispatch *dispatch, gyre_dispatch_lane *lane, bool timed)
{
    const uint64_t value = record_at(dispatch, lane, lane->next)->value;
    const bool last = value == record_at(dispatch, lane, lane->tail - 1)->value;
    gyre_status status = gyre_stream_usable(lane->stream);
    gyre_error error;
    bool moved;

    if (status == GYRE_OK)
        status = last ? gyre_stream_look_for(lane->stream, value) : gyre_stream_poll(lane->stream);
    if (is_failure(status))
        error = error_of(status);
    moved = answer_through(dispatch, lane);
    if (status == GYRE_AGAIN && timed && !moved) {
        status = gyre_stream_overdue(lane->stream, value, lane->waiting_ns);
        if (status != GYRE_AGAIN)
            lane->waiting_ns = gyre_clock_now_ns();
        if (is_failure(status))
            error = error_of(status);
    }
    if (!is_failure(status))
        return moved;
    fail_lane(dispatch, lane, &error);
    return true;
}

static gyre_status submit_launch(gyre_dispatch *dispatch, gyre_dispatch_lane *lane,
                                 const gyre_command *command)
{
    const bool shared = command->kind == GYRE_COMMAND_LAUNCH_SHARED;
    const gyre_bytes *const bytes = &command->as.launch.parameters.shared;
    const uint64_t id = command->as.launch.kernel;
    gyre_launch launch = {.shared_bytes = command->as.launch.shared_bytes};
    gyre_kernel *kernel = NULL;

    pthread_mutex_lock(&dispatch->lock);
    if (id > 0 && id <= dispatch->kernel_count)
        kernel = dispatch->kernels[id - 1];
    pthread_mutex_unlock(&dispatch->lock);
    if (!kernel)
        return gyre_fail(GYRE_NOT_FOUND, "dispatch '%s': %llu is no kernel's id", dispatch->name,
                         (unsigned long long)id);
    memcpy(launch.grid, command->as.launch.grid, sizeof launch.grid);
    memcpy(launch.block, command->as.launch.block, sizeof launch.block);
    launch.parameters =
        shared ? (const void *)bytes->data : command->as.launch.parameters.inline_bytes;
    launch.parameters_size = shared ? bytes->size : command->as.launch.parameters_size;
    return gyre_stream_launch(lane->stream, kernel, &launch);
}

static gyre_status submit_to(gyre_dispatch *dispatch, gyre_dispatch_lane *lane,
                             const gyre_command *command)
{
    const gyre_bytes *const data = &command->as.to_device.data;
    unsigned char *address;
    gyre_status status;

    pthread_mutex_lock(&dispatch->lock);
    status = gyre_dispatch_find(dispatch, command->as.to_device.buffer,
                                command->as.to_device.offset, data->size, &address);
    if (status == GYRE_OK && data->size > 0)
        status = gyre_stream_copy(lane->stream, address, data->data, data->size);
    pthread_mutex_unlock(&dispatch->lock);
    return status;
}

static gyre_status submit_from(gyre_dispatch *dispatch, gyre_dispatch_lane *lane,
                               const gyre_command *command, gyre_bytes *out_bytes)
{
    const uint64_t id = command->as.from_device.buffer, size = command->as.from_device.size;
    unsigned char *address;
    gyre_status status;

    pthread_mutex_lock(&dispatch->lock);
    status = gyre_dispatch_find(dispatch, id, command->as.from_device.offset, size, &address);
    if (status == GYRE_OK)
        status = gyre_bytes_take(gyre_dispatch_memory(dispatch), size, out_bytes);
    if (status == GYRE_OK && size > 0) {
        status = gyre_stream_copy(lane->stream, gyre_bytes_writable(out_bytes), address, size);
        if (status != GYRE_OK)
            gyre_bytes_release(out_bytes);
    }
    pthread_mutex_unlock(&dispatch->lock);
    return status;
}

/* Submits the command in hand; what it refers to goes to the record, or is dropped. */
static gyre_status submit(gyre_dispatch *dispatch, gyre_dispatch_lane *lane, gyre_bytes *out_bytes)
{
    gyre_command *const command = &dispatch->hand;

    switch (command->kind) {
    case GYRE_COMMAND_TO_DEVICE: {
        const gyre_status status = submit_to(dispatch, lane, command);

        if (status == GYRE_OK) {
            *out_bytes = command->as.to_device.data;
            command->as.to_device.data = (gyre_bytes){0};
        }
        return status;
    }
    case GYRE_COMMAND_FROM_DEVICE:
        return submit_from(dispatch, lane, command, out_bytes);
    case GYRE_COMMAND_LAUNCH:
    case GYRE_COMMAND_LAUNCH_SHARED:
        return submit_launch(dispatch, lane, command);
    default: /* SYNCHRONIZE is through with what was submitted before */
        return gyre_stream_usable(lane->stream);
    }
}

/* Whether the lane's device answers again, after it did not: what hung may have ended, and somebody
 * may have reset the context. */
static gyre_status revive(gyre_dispatch *dispatch, gyre_dispatch_lane *lane)
{
    const gyre_status status = lane->failed ? gyre_stream_poll(lane->stream) : GYRE_OK;

    if (is_failure(status))
        return status;
    if (lane->failed)
        gyre_dispatch_let_go(dispatch, lane);
    lane->failed = false;
    return GYRE_OK;
}

/* Before more is submitted behind a command that somebody waits for: makes its end known by itself,
 * instead of with what comes behind it. */
static void mark_last(const gyre_dispatch *dispatch, gyre_dispatch_lane *lane)
{
    gyre_stream *const stream = lane->stream;
    const gyre_dispatch_record *last;

    if (lane->next == lane->tail)
        return;
    last = record_at(dispatch, lane, lane->tail - 1);
    if (!last->reply)
        return;
    pthread_mutex_lock(&stream->lock);
    if (stream->marked < last->value)
        gyre_stream_mark(stream);
    pthread_mutex_unlock(&stream->lock);
}

/* Runs the command in hand on its lane. False: there is no room, and it stays in hand. */
static bool run_hand(gyre_dispatch *dispatch, gyre_dispatch_lane *lane)
{
    gyre_dispatch_record record = {.reply = dispatch->hand_from.reply,
                                   .taken_ns = dispatch->hand_ns,
                                   .kind = dispatch->hand.kind};
    gyre_status status = revive(dispatch, lane);

    if (status == GYRE_OK && lane->tail - lane->head == dispatch->pending_most)
        return false;
    if (status == GYRE_OK) {
        mark_last(dispatch, lane);
        status = submit(dispatch, lane, &record.bytes);
    }
    if (status == GYRE_OK) {
        record.value = gyre_stream_ticket(lane->stream).value;
        if (lane->next == lane->tail)
            lane->waiting_ns = gyre_clock_now_ns(); /* it may have been in hand for long */
        *record_at(dispatch, lane, lane->tail++) = record;
        count(&dispatch->pending, 1);
        if (record.kind == GYRE_COMMAND_SYNCHRONIZE)
            (void)look(dispatch, lane, false);
    } else {
        const gyre_error error = error_of(status);

        answer_failure(dispatch, record.reply, record.taken_ns, &error);
    }
    return true;
}

/* Takes a command, unless there is one in hand. With a deadline it waits. */
static bool take(gyre_dispatch *dispatch, uint64_t deadline_ns)
{
    gyre_status status;

    if (dispatch->has_hand)
        return true;
    if (dispatch->closed || is_stopping(dispatch))
        return false;
    if (deadline_ns)
        status = gyre_channel_receive(dispatch->channel, &dispatch->hand, &dispatch->hand_from,
                                      deadline_ns);
    else
        status = gyre_channel_try_receive(dispatch->channel, &dispatch->hand, &dispatch->hand_from);
    dispatch->closed = is_failure(status);
    if (status != GYRE_OK)
        return false;
    dispatch->has_hand = true;
    dispatch->hand_ns = gyre_clock_now_ns();
    status = gyre_command_check(&dispatch->hand, dispatch->hand_from.size);
    count(&dispatch->kinds[status == GYRE_OK ? dispatch->hand.kind : 0], 1);
    if (status == GYRE_OK && dispatch->hand.stream >= dispatch->stream_count)
        status = gyre_fail(GYRE_INVALID, "dispatch '%s': there is no stream %u, but %u of them",
                           dispatch->name, dispatch->hand.stream, dispatch->stream_count);
    dispatch->hand_status = status;
    if (status != GYRE_OK)
        dispatch->hand_error = error_of(status);
    return true;
}

/* Takes and runs one command: whether there was one, and room for it. */
static bool take_and_run(gyre_dispatch *dispatch)
{
    if (!take(dispatch, 0))
        return false;
    if (dispatch->hand_status != GYRE_OK)
        answer_failure(dispatch, dispatch->hand_from.reply, dispatch->hand_ns,
                       &dispatch->hand_error);
    else if (!run_hand(dispatch, &dispatch->lanes[dispatch->hand.stream]))
        return false;
    gyre_command_drop(NULL, &dispatch->hand, dispatch->hand_from.size);
    dispatch->has_hand = false;
    return true;
}

static void sleep_ns(uint64_t ns)
{
    const struct timespec time = {.tv_nsec = (long)ns};

    (void)nanosleep(&time, NULL);
}

static bool is_busy(const gyre_dispatch *dispatch)
{
    return dispatch->has_hand || atomic_load_explicit(&dispatch->pending, memory_order_relaxed) > 0;
}

/* Nothing happened: waits in the way that the time since then asks for. */
static void wait_a_while(gyre_dispatch *dispatch)
{
    const uint64_t now = gyre_clock_now_ns();
    const bool busy = is_busy(dispatch);
    uint64_t waited, part;

    if (dispatch->idle_ns == 0)
        dispatch->idle_ns = now;
    waited = now - dispatch->idle_ns;
    part = waited / SLEEP_PART < SLEEP_MOST_NS ? waited / SLEEP_PART : SLEEP_MOST_NS;
    dispatch->spins = waited < dispatch->spin_ns;
    if (dispatch->spins)
        return;
    if (busy && waited < GYRE_YIELD_NS)
        sched_yield();
    else if (dispatch->has_hand || dispatch->closed || is_stopping(dispatch))
        sleep_ns(part);
    else
        (void)take(dispatch, now + (busy ? part : SLICE_NS));
}

void gyre_dispatch_run(void *arg)
{
    gyre_dispatch *const dispatch = arg;

    dispatch->spins = true;
    for (uint32_t round = 1;; round++) {
        const bool timed = !dispatch->spins || round % ROUNDS == 0;
        bool moved = false;

        for (int i = 0; i < TAKES && take_and_run(dispatch); i++)
            moved = true;
        for (uint32_t i = 0; i < dispatch->stream_count; i++)
            if (dispatch->lanes[i].next != dispatch->lanes[i].tail)
                moved |= look(dispatch, &dispatch->lanes[i], timed);
        if (moved) {
            dispatch->idle_ns = 0;
            dispatch->spins = true;
            continue;
        }
        if ((dispatch->closed || is_stopping(dispatch)) && !dispatch->has_hand &&
            atomic_load_explicit(&dispatch->pending, memory_order_relaxed) == 0)
            break;
        if (timed)
            wait_a_while(dispatch);
        else if (!is_busy(dispatch))
            gyre_relax();
    }
}
