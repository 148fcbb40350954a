/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_serve: the worker's side of a stream: from a slot of the ring to what it asks for.
 *
 * A worker goes on with a stream as long as nobody else is ready, and stays with an empty one for
 * as long as spinning pays. A stream that must wait for another is set aside: hung onto that one,
 * whose worker makes it ready again. So no worker ever waits for a stream. One that waits for a
 * word goes behind the others that are ready, again and again.
 *
 * Threads   one worker at a time for a stream, handed on by the lock or by `served`. Edges:
 *           [cpu-stamp], [cpu-serve], [cpu-done], [cpu-watch].
 * Owns      nothing.
 * Not here  sharing the blocks of a launch (cpu_workers.c).
 */
#include <string.h>
#include <time.h>

#include "backends/cpu/cpu.h"
#include "base/alloc.h"
#include "base/wait.h"
#include "dev/word.h"
#include "gyre/clock.h"

typedef struct visit {
    gyre_dev *dev;
    gyre_dev_stream *stream;
    uint64_t position; /* of the operation to come */
} visit;

gyre_cpu_slot *gyre_cpu_slot_at(gyre_dev_stream *stream, uint64_t position)
{
    gyre_cpu_slot *slot = &stream->ring[position % GYRE_CPU_RING];

    /* acquire [cpu-stamp], both: pair with gyre_cpu_commit. The slot is filled in. */
    if (atomic_load_explicit(&stream->express.stamp, memory_order_acquire) == 2 * position + 1)
        return &stream->express;
    if (atomic_load_explicit(&slot->stamp, memory_order_acquire) == position + 1)
        return slot;
    return NULL;
}

/* relaxed, all: hints; who is ready stays so until the lock is taken, and the end is for ever */
static bool is_wanted_elsewhere(gyre_dev *dev)
{
    return atomic_load_explicit(&dev->ready_count, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&dev->job_count, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&dev->end, memory_order_relaxed) != GYRE_CPU_GOES_ON;
}

static bool is_over(void *arg)
{
    const visit *v = arg;

    return gyre_cpu_slot_at(v->stream, v->position) || is_wanted_elsewhere(v->dev);
}

/* Leaves an empty stream; false when it is not empty after all and is still ours. */
static bool leave(visit *v)
{
    bool served = false;

    /* seq_cst [cpu-serve], all: said before it looks; pairs with gyre_cpu_commit */
    atomic_store(&v->stream->served, false);
    if (atomic_load(&v->stream->tail) == v->position ||
        !atomic_compare_exchange_strong(&v->stream->served, &served, true))
        return true;
    /* relaxed: the swap saw the last who left. Others may have been here meanwhile. */
    v->position =
        gyre_cpu_done(atomic_load_explicit(&v->stream->express.stamp, memory_order_relaxed));
    return false;
}

/* Sets a stream aside until another has come to a position; false when it has. */
static bool set_aside(gyre_dev_stream *stream, gyre_dev_stream *other, uint64_t position)
{
    gyre_dev *dev = stream->dev;
    bool aside;

    if (gyre_cpu_reached(other, position))
        return false;
    pthread_mutex_lock(&dev->lock);
    /* seq_cst [cpu-watch], both: watched before it looks; pairs with gyre_cpu_serve */
    atomic_fetch_add(&other->watched, 1);
    aside = gyre_cpu_done(atomic_load(&other->express.stamp)) < position;
    if (aside) {
        stream->until = position;
        stream->next = other->waiting;
        other->waiting = stream;
    } else {
        atomic_fetch_sub_explicit(&other->watched, 1, memory_order_relaxed); /* relaxed: a hint */
    }
    pthread_mutex_unlock(&dev->lock);
    return aside;
}

/* Makes ready who waited for this, and wakes the submitter when it waits. */
static GYRE_APART void tell(gyre_dev_stream *stream, uint64_t done)
{
    gyre_dev *dev = stream->dev;
    gyre_dev_stream **link = &stream->waiting;
    uint32_t count = 0;

    pthread_mutex_lock(&dev->lock);
    while (*link) {
        gyre_dev_stream *other = *link;

        if (other->until > done) {
            link = &other->next;
            continue;
        }
        *link = other->next;
        gyre_cpu_ready_locked(other);
        atomic_fetch_sub_explicit(&stream->watched, 1, memory_order_relaxed); /* relaxed: a hint */
        count++;
    }
    pthread_mutex_unlock(&dev->lock);
    if (count > 0)
        gyre_park_wake(&dev->idle, count);
    /* seq_cst [cpu-watch]: pairs with await in cpu_stream.c */
    if (done >= atomic_load(&stream->room_at))
        gyre_park_wake(&stream->room, 1);
}

void gyre_cpu_copy(const gyre_dev_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++) {
        unsigned char *to = (unsigned char *)copy->to + z * copy->to_slice;
        const unsigned char *from = (const unsigned char *)copy->from + z * copy->from_slice;

        for (size_t y = 0; y < copy->height; y++)
            memmove(to + y * copy->to_pitch, from + y * copy->from_pitch, copy->width);
    }
}

/* By copying what is filled already, up to a piece that stays in the nearest cache. */
void gyre_cpu_fill(const gyre_dev_fill *fill)
{
    enum { PIECE = 4096 };
    const size_t bytes = fill->count * fill->pattern_size;
    unsigned char *to = fill->to;
    size_t filled = fill->pattern_size;

    if (fill->pattern_size == 1) {
        memset(to, fill->pattern[0], bytes);
        return;
    }
    memcpy(to, fill->pattern, fill->pattern_size);
    while (filled < bytes) {
        const size_t piece = filled < PIECE ? filled : PIECE, left = bytes - filled;

        memcpy(to + filled, to, piece < left ? piece : left);
        filled += piece < left ? piece : left;
    }
}

void gyre_cpu_slot_drop(gyre_cpu_slot *slot)
{
    if (slot->kind == GYRE_CPU_LAUNCH_APART)
        gyre_free(NULL, slot->as.run.apart.block, 1, slot->as.run.apart.bytes);
    else if (slot->kind == GYRE_CPU_MARK)
        gyre_cpu_stamp_release(slot->as.mark);
    else if (slot->kind == GYRE_CPU_GRAPH)
        gyre_cpu_plan_release(slot->as.plan);
}

/* The same for who waits for a word: others that do are no reason to leave it. */
static bool is_wanted_more(gyre_dev *dev)
{
    return atomic_load_explicit(&dev->ready_count, memory_order_relaxed) >
               atomic_load_explicit(&dev->watching, memory_order_relaxed) ||
           atomic_load_explicit(&dev->job_count, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&dev->end, memory_order_relaxed) != GYRE_CPU_GOES_ON;
}

/* Looks at a word for a while; in vain, and often so, it sleeps for a moment: nobody tells that the
 * word was written. */
static bool watch_word(gyre_dev *dev, gyre_cpu_slot *slot, const gyre_dev_word *word)
{
    enum { LOOKS = 256, ROUNDS = 64, NAP_NS = 20000 };

    for (uint32_t i = 0; !gyre_word_is(word->at, word->value); i++) {
        gyre_relax();
        if (i < LOOKS && !is_wanted_more(dev))
            continue;
        if (slot->as.words.vain++ == 0) /* relaxed: a hint, here and below */
            atomic_fetch_add_explicit(&dev->watching, 1, memory_order_relaxed);
        if (slot->as.words.vain > ROUNDS && !is_wanted_more(dev))
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        return false;
    }
    if (slot->as.words.vain > 0)
        atomic_fetch_sub_explicit(&dev->watching, 1, memory_order_relaxed);
    slot->as.words.vain = 0;
    return true;
}

/* Writes and waits, as far as they go; whether all are done. */
static bool do_words(gyre_dev *dev, gyre_cpu_slot *slot)
{
    for (; slot->as.words.next < slot->as.words.count; slot->as.words.next++) {
        const gyre_dev_word *const word = &slot->as.words.word[slot->as.words.next];

        if (word->kind == GYRE_DEV_WORD_WRITE)
            gyre_word_store(word->at, word->value);
        else if (!watch_word(dev, slot, word))
            return false;
    }
    return true;
}

/* Behind those that are ready; who is here goes on with one of them, or with this one. */
static void come_back(gyre_dev_stream *stream)
{
    gyre_dev *const dev = stream->dev;

    if (is_wanted_more(dev)) {
        gyre_cpu_ready(stream);
        return;
    }
    pthread_mutex_lock(&dev->lock);
    gyre_cpu_ready_locked(stream);
    pthread_mutex_unlock(&dev->lock);
}

static void execute(gyre_cpu_worker *worker, gyre_cpu_slot *slot)
{
    switch ((gyre_cpu_kind)slot->kind) {
    case GYRE_CPU_LAUNCH:
        gyre_cpu_run(worker, &slot->as.run.launch, slot->block, slot->as.run.parameters);
        break;
    case GYRE_CPU_LAUNCH_APART:
        gyre_cpu_run(worker, &slot->as.run.launch, slot->block, slot->as.run.apart.block);
        break;
    case GYRE_CPU_COPY:
        gyre_cpu_copy(&slot->as.copy);
        break;
    case GYRE_CPU_FILL:
        gyre_cpu_fill(&slot->as.fill);
        break;
    case GYRE_CPU_MARK:
        gyre_cpu_stamp_now(slot->as.mark);
        break;
    case GYRE_CPU_GRAPH:
        gyre_cpu_plan_run(worker, slot->as.plan);
        break;
    case GYRE_CPU_WAIT: /* is over */
    case GYRE_CPU_WORDS:
        break;
    }
}

void gyre_cpu_serve(gyre_cpu_worker *worker, gyre_dev_stream *stream)
{
    gyre_dev *dev = stream->dev;
    /* relaxed: handed on with the stream */
    visit v = {dev, stream,
               gyre_cpu_done(atomic_load_explicit(&stream->express.stamp, memory_order_relaxed))};

    while (!gyre_cpu_is_abandoned(dev)) {
        gyre_cpu_slot *slot = gyre_cpu_slot_at(stream, v.position);

        if (!slot) {
            (void)!gyre_spin_until(&worker->linger_spin, is_over, &v, GYRE_NEVER);
            slot = gyre_cpu_slot_at(stream, v.position);
        }
        if (!slot) {
            if (leave(&v))
                return;
            continue;
        }
        if (slot->kind == GYRE_CPU_WAIT &&
            set_aside(stream, slot->as.wait.stream, slot->as.wait.position))
            return;
        if (slot->kind == GYRE_CPU_WORDS && !do_words(dev, slot)) {
            come_back(stream);
            return;
        }
        execute(worker, slot);
        if (gyre_cpu_is_abandoned(dev))
            return; /* it may have been cut short */
        gyre_cpu_slot_drop(slot);
        v.position++;
        /* seq_cst [cpu-done] [cpu-watch]: pairs with gyre_cpu_reached, await and set_aside. What
         * was done can be seen; and who watches sees that it is, or is seen here. */
        atomic_store(&stream->express.stamp, 2 * v.position);
        if (atomic_load(&stream->watched) > 0)
            tell(stream, v.position);
        /* relaxed: a hint */
        if (atomic_load_explicit(&dev->ready_count, memory_order_relaxed) > 0) {
            gyre_cpu_ready(stream); /* behind them */
            return;
        }
    }
}
