/* SPDX-License-Identifier: Apache-2.0
 *
 * pair: see pair.h.
 *
 * A side that waits for its turn is silent without fault, so it is the baton that must move: every
 * epoch is a sign of life of both. When it has not moved for too long, the side that has it is
 * ended.
 */
#include "main/pair.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "gyre/atomic.h"
#include "gyre/clock.h"
#include "record/read.h"
#include "stat/random.h"

enum {
    MOST_AT_ONCE = 64,     /* messages of one side before the other is heard */
    MOST_MESSAGES = 10000, /* in a launch; set-up tells of itself twenty times a second */
};

/* One of the two. */
typedef struct runner {
    gyre_worker worker;
    bool started, ended, has_result;
    unsigned heard;     /* messages */
    gyre_status status; /* with which listening ended: GYRE_CLOSED, or the error in `fault` */
    gyre_result result;
    char fault[GYRE_PAIR_REASON_BYTES]; /* what it said or did wrong; "" nothing */
} runner;

typedef struct race {
    const gyre_pair *pair;
    const gyre_overseer *overseer;
    gyre_baton *baton; /* shared with both: they may write to it until they have ended */
    gyre_baton left;   /* as they left it */
    runner runners[GYRE_SIDES];
    uint64_t moved_ns;  /* when the baton was seen to move, */
    uint64_t moved_sum; /* by the sum of what had been done */
} race;

static gyre_status start(race *r, int baton_fd, size_t side)
{
    gyre_stat_random random;
    const gyre_worker_start how = {.program = r->pair->programs[side], .cpus = r->pair->cpus};
    gyre_worker_order order = {
        .purpose = GYRE_PURPOSE_TURNS,
        .ids_hash = r->pair->ids_hash[side],
        .first = r->pair->indices[side],
        .count = 1,
        .baton_fd = baton_fd,
        .side = (int)side,
    };
    gyre_status status;

    gyre_stat_random_seed(&random, r->pair->seed + side);
    order.seed = gyre_stat_random_next(&random) >> 1;
    status = gyre_worker_init(&r->runners[side].worker, &order, &how);
    if (status != GYRE_OK)
        return status;
    r->runners[side].started = true;
    gyre_guardian_watch(r->overseer->guardian, side, r->runners[side].worker.pid);
    return GYRE_OK;
}

static gyre_status take_result(const race *r, runner *one, const gyre_message *message)
{
    gyre_status status;

    if (one->has_result)
        return gyre_fail(GYRE_CORRUPT, "the process speaks of a case it has not begun");
    status = gyre_result_parse(message->text, message->length, &one->result);
    if (status != GYRE_OK)
        return status;
    one->has_result = true;
    if (strcmp(one->result.id, r->pair->id) != 0)
        return gyre_fail(GYRE_CORRUPT, "the process speaks of another case");
    return GYRE_OK;
}

static gyre_status hear(race *r, runner *one, const gyre_message *message)
{
    switch (message->kind) {
    case GYRE_MESSAGE_RESULT:
        return take_result(r, one, message);
    case GYRE_MESSAGE_SORRY:
        snprintf(one->fault, sizeof one->fault, "%.*s",
                 (int)(message->length < sizeof one->fault ? message->length : sizeof one->fault),
                 message->text);
        return GYRE_OK;
    case GYRE_MESSAGE_LIST:
    case GYRE_MESSAGE_TRACE:
        return gyre_fail(GYRE_CORRUPT, "the process tells what it was not asked");
    case GYRE_MESSAGE_BEGIN:
    case GYRE_MESSAGE_PROGRESS:
    case GYRE_MESSAGE_END:
        break;
    }
    if (++one->heard > MOST_MESSAGES)
        return gyre_fail(GYRE_CORRUPT, "the process talks without end");
    r->moved_ns = gyre_clock_now_ns();
    return GYRE_OK;
}

/* Hears what one has to say now. */
static gyre_status attend(race *r, size_t side)
{
    runner *one = &r->runners[side];
    gyre_message message;
    gyre_status status = GYRE_OK;

    for (int i = 0; i < MOST_AT_ONCE; i++) { /* the other side has to be heard, too */
        status = gyre_worker_look(&one->worker, r->overseer->interrupted, &message);
        if (status == GYRE_OK)
            status = hear(r, one, &message);
        if (status != GYRE_OK)
            break;
    }
    if (status == GYRE_NO_MEMORY)
        return status;
    if (status != GYRE_AGAIN && status != GYRE_OK) {
        one->ended = true;
        one->status = status;
        if (status != GYRE_CLOSED)
            snprintf(one->fault, sizeof one->fault, "%s", gyre_error_last()->text);
    }
    if (one->ended || one->has_result) /* nobody needs to wait for it any more */
        gyre_baton_pass(r->baton, GYRE_TURN_OVER);
    return GYRE_OK;
}

/* Whose doing it is that nothing moves. */
static size_t who_holds_it_up(const race *r)
{
    const uint32_t turn = gyre_load_relaxed32(&r->baton->turn); /* one look; it does not move */
    const uint32_t arrived = gyre_load_relaxed32(&r->baton->arrived);

    if (turn == GYRE_TURN_OLD || turn == GYRE_TURN_NEW)
        return turn;
    if (turn == GYRE_TURN_NOBODY)
        return arrived & 1u << GYRE_TURN_OLD ? GYRE_TURN_NEW : GYRE_TURN_OLD;
    return r->runners[GYRE_TURN_OLD].ended ? GYRE_TURN_NEW : GYRE_TURN_OLD;
}

static void lose_patience(race *r)
{
    const gyre_baton *b = r->baton;
    /* relaxed: only that it changes is of interest */
    const uint64_t sum =
        16 * ((uint64_t)gyre_load_relaxed32(&b->taken[0]) + gyre_load_relaxed32(&b->taken[1])) +
        4 * (uint64_t)gyre_load_relaxed32(&b->arrived) + gyre_load_relaxed32(&b->turn);
    const uint64_t now_ns = gyre_clock_now_ns();

    if (sum != r->moved_sum) {
        r->moved_sum = sum;
        r->moved_ns = now_ns;
    } else if (r->overseer->timeout_ns > 0 && now_ns - r->moved_ns > r->overseer->timeout_ns) {
        gyre_worker *worker = &r->runners[who_holds_it_up(r)].worker;

        worker->timeout_ns = r->overseer->timeout_ns;
        worker->heard_ns = r->moved_ns;
    }
}

/* Listens to both until both have ended. */
static gyre_status watch(race *r)
{
    r->moved_ns = gyre_clock_now_ns();
    for (;;) {
        const gyre_worker *waiting[GYRE_SIDES];
        size_t count = 0;

        for (size_t side = 0; side < GYRE_SIDES; side++) {
            runner *one = &r->runners[side];

            if (!one->ended) {
                const gyre_status status = attend(r, side);

                if (status != GYRE_OK)
                    return status;
            }
            if (!one->ended)
                waiting[count++] = &one->worker;
        }
        if (count == 0)
            return GYRE_OK;
        lose_patience(r);
        if (r->overseer->tick)
            r->overseer->tick(r->overseer->user);
        gyre_worker_wait(waiting, count);
    }
}

static void conclude(gyre_fate *fate, gyre_outcome outcome, int side, const char *reason)
{
    fate->outcome = outcome;
    fate->side = side;
    snprintf(fate->reason, sizeof fate->reason, "%s", reason);
}

/* What is wrong with one of them, if anything: worse things are asked for first. */
static bool is_to_blame(const race *r, size_t side, int severity, gyre_fate *fate)
{
    const runner *one = &r->runners[side];
    const bool deaf = one->worker.gave_up || (*r->overseer->interrupted && !one->worker.timed_out);
    char epitaph[GYRE_PAIR_REASON_BYTES];

    switch (severity) {
    case 0: /* its process came to a bad end */
        if (one->has_result && !one->fault[0] && one->worker.status == 0)
            return false;
        if (one->fault[0])
            snprintf(epitaph, sizeof epitaph, "%s", one->fault);
        else
            gyre_worker_epitaph(&one->worker, epitaph, sizeof epitaph);
        conclude(fate, deaf ? GYRE_OUTCOME_INTERRUPTED : GYRE_OUTCOME_FAILED, (int)side, epitaph);
        if (!deaf)
            gyre_worker_last_words(&one->worker, fate->last_words, sizeof fate->last_words);
        return true;
    case 1: /* it says so itself */
    case 2:
    default:
        if (one->result.outcome != (severity == 1   ? GYRE_OUTCOME_FAILED
                                    : severity == 2 ? GYRE_OUTCOME_SKIPPED
                                                    : GYRE_OUTCOME_INTERRUPTED))
            return false;
        conclude(fate, one->result.outcome, (int)side, one->result.reason);
        return true;
    }
}

/* Both ended well by their own account; but did they keep to their turns? */
static void check_turns(const race *r, gyre_fate *fate)
{
    const uint32_t *taken = r->left.taken;
    int idle = taken[0] == taken[1] ? -1 : taken[0] < taken[1] ? 0 : 1;

    if (r->left.seed == r->pair->seed && gyre_baton_kept(&r->left))
        return;
    for (int side = 0; side < GYRE_SIDES; side++) {
        for (size_t i = 0; i < taken[side] && i < GYRE_BATON_PAIRS; i++) {
            if (!(r->left.epochs[side][i].time_ns >= GYRE_BATON_LEAST_NS)) {
                conclude(fate, GYRE_OUTCOME_FAILED, side, "its clock shows that no time passed");
                return;
            }
        }
    }
    for (int side = 0; side < GYRE_SIDES; side++) /* done, while the other still waited for it */
        if (r->runners[1 - side].result.outcome == GYRE_OUTCOME_INTERRUPTED)
            idle = r->runners[side].result.outcome == GYRE_OUTCOME_INTERRUPTED ? -1 : side;
    if (idle < 0 && r->runners[0].result.outcome == GYRE_OUTCOME_INTERRUPTED)
        conclude(fate, GYRE_OUTCOME_FAILED, -1, "the processes were told to stop by somebody else");
    else
        conclude(fate, GYRE_OUTCOME_FAILED, idle,
                 idle < 0 ? "the two ignored the baton: they did not keep to their turns"
                          : "ignored the baton: it did not keep to its turns");
}

static void decide(const race *r, gyre_fate *fate)
{
    const int severities = *r->overseer->interrupted ? 4 : 3;

    *fate = (gyre_fate){.outcome = GYRE_OUTCOME_MEASURED, .side = -1};
    for (int severity = 0; severity < severities; severity++)
        for (size_t side = 0; side < GYRE_SIDES; side++)
            if (is_to_blame(r, side, severity, fate))
                return;
    check_turns(r, fate);
}

/* Ends both, and whatever they have left behind. */
static void end_all(race *r)
{
    for (size_t side = 0; side < GYRE_SIDES; side++) {
        if (!r->runners[side].started)
            continue;
        gyre_guardian_watch(r->overseer->guardian, side, 0); /* before its number is another's */
        gyre_worker_fini(&r->runners[side].worker);
    }
    gyre_orphans_end(r->overseer->orphans);
}

gyre_status gyre_pair_launch(const gyre_pair *pair, const gyre_overseer *overseer,
                             gyre_baton *out_baton, gyre_fate *out_fate)
{
    const size_t first = (pair->seed >> 7) & 1; /* who is started first */
    static race r;
    int fd;
    gyre_status status;

    r = (race){.pair = pair, .overseer = overseer};
    status = gyre_baton_create(pair->seed, &fd, &r.baton);
    if (status != GYRE_OK)
        return status;
    status = start(&r, fd, first);
    if (status == GYRE_OK)
        status = start(&r, fd, 1 - first);
    if (status == GYRE_OK)
        status = watch(&r);
    end_all(&r);
    r.left = *r.baton; /* nobody writes to it any more */
    if (status == GYRE_OK) {
        decide(&r, out_fate);
        *out_baton = r.left;
    }
    for (size_t side = 0; side < GYRE_SIDES; side++)
        if (r.runners[side].has_result)
            gyre_result_fini(&r.runners[side].result);
    gyre_baton_close(r.baton);
    close(fd);
    return status;
}
