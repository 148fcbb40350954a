/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_stream: the submitter's side of a stream: from a call to a slot of the ring.
 *
 * A submission fills in the next slot, stores its stamp, which a worker that is there sees, then
 * the tail, and looks whether somebody serves the stream. The worker that leaves says so and then
 * looks at the tail. Both are seq_cst, so one of them sees the other, and the swap of `served`
 * decides between them when both do. tests/models/cpu_stream.pml is this for spin.
 *
 * Threads   one submitter at a time; poll by any thread. Edges: [cpu-stamp], [cpu-serve],
 *           [cpu-done].
 * Owns      a stream belongs to its device, which frees it.
 * Not here  the worker's side (cpu_serve.c).
 */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/process.h"
#include "base/wait.h"
#include "gyre/clock.h"

/* The submitter holds a lock of its caller's, without which nobody can say that the stream hangs.
 */
enum { ROOM_NS = 500000000 };

bool gyre_cpu_reached(const gyre_dev_stream *stream, uint64_t position)
{
    /* acquire [cpu-done]: pairs with the store in gyre_cpu_serve. What was done can be seen. */
    return gyre_cpu_done(atomic_load_explicit(&stream->express.stamp, memory_order_acquire)) >=
           position;
}

gyre_status gyre_cpu_poll(gyre_dev_stream *stream)
{
    /* relaxed: whoever asks about a submission knows of it from the submitter */
    const uint64_t tail = atomic_load_explicit(&stream->tail, memory_order_relaxed);

    if (gyre_cpu_reached(stream, tail))
        return GYRE_OK;
    gyre_relax(); /* who asks at once again takes the line from the worker that wants to write it */
    return GYRE_AGAIN;
}

static bool has_come(void *arg)
{
    gyre_dev_stream *stream = arg;

    /* seq_cst [cpu-watch] [park-handshake]: pairs with gyre_cpu_serve; relaxed: ours */
    return gyre_cpu_done(atomic_load(&stream->express.stamp)) >=
           atomic_load_explicit(&stream->room_at, memory_order_relaxed);
}

/* Waits until so many operations are done. GYRE_UNAVAILABLE in a forked child. */
static gyre_status await(gyre_dev_stream *stream, uint64_t position, uint64_t deadline_ns)
{
    gyre_status status;

    /* seq_cst [cpu-watch], both: before `done` is read; pair with gyre_cpu_serve and its tell */
    atomic_store(&stream->room_at, position);
    atomic_fetch_add(&stream->watched, 1);
    status = gyre_park_wait(&stream->room, &stream->room_spin, has_come, stream, deadline_ns);
    atomic_fetch_sub_explicit(&stream->watched, 1, memory_order_relaxed); /* relaxed: a hint */
    return status;
}

gyre_status gyre_cpu_begin(gyre_dev_stream *stream, gyre_cpu_slot **out_slot)
{
    /* relaxed: this thread is the only writer of tail */
    const uint64_t tail = atomic_load_explicit(&stream->tail, memory_order_relaxed);
    uint64_t done;

    /* acquire [cpu-done]: pairs with gyre_cpu_serve. The worker has read the slots. */
    done = gyre_cpu_done(atomic_load_explicit(&stream->express.stamp, memory_order_acquire));
    if (tail - done >= GYRE_CPU_RING) {
        /* for a quarter of the ring, or each operation would need a wake of its own */
        const gyre_status status =
            await(stream, tail - UINT64_C(3) * GYRE_CPU_RING / 4, gyre_clock_after_ns(ROOM_NS));

        if (status != GYRE_OK)
            return status;
    }
    *out_slot = done == tail ? &stream->express : &stream->ring[tail % GYRE_CPU_RING];
    return GYRE_OK;
}

void gyre_cpu_commit(gyre_dev_stream *stream, gyre_cpu_slot *slot)
{
    /* relaxed: this thread is the only writer */
    const uint64_t tail = atomic_load_explicit(&stream->tail, memory_order_relaxed);
    const uint64_t stamp = slot == &stream->express ? 2 * tail + 1 : tail + 1;
    bool served = false;

    /* release [cpu-stamp]: pairs with has_come in cpu_serve.c. The slot is filled in. Not seq_cst:
     * that would let the line go to the worker, who watches it, and have to fetch it back. */
    atomic_store_explicit(&slot->stamp, stamp, memory_order_release);
    /* seq_cst [cpu-serve], all: pair with leave. A worker that leaves sees the tail, or is seen to
     * have left. */
    atomic_store(&stream->tail, tail + 1);
    if (!atomic_load(&stream->served) &&
        atomic_compare_exchange_strong(&stream->served, &served, true))
        gyre_cpu_ready(stream);
}

gyre_status gyre_cpu_launch_submit(gyre_dev_stream *stream, const gyre_dev_launch *launch)
{
    const uint32_t bytes = launch->kernel->parameters_bytes;
    void *apart = NULL;
    gyre_cpu_slot *slot;
    gyre_status status = GYRE_OK;

    if (bytes > GYRE_CPU_INLINE)
        status = gyre_alloc(NULL, 1, bytes, &apart);
    if (status == GYRE_OK)
        status = gyre_cpu_begin(stream, &slot);
    if (status != GYRE_OK) {
        gyre_free(NULL, apart, 1, bytes);
        return status;
    }
    slot->as.run.launch.function = launch->kernel->function;
    slot->as.run.launch.shared_bytes = launch->shared_bytes;
    for (int i = 0; i < 3; i++) {
        slot->as.run.launch.grid[i] = launch->grid[i];
        slot->block[i] = (uint16_t)launch->block[i];
    }
    if (apart) {
        memcpy(apart, launch->parameters, bytes);
        slot->kind = GYRE_CPU_LAUNCH_APART;
        slot->as.run.apart.block = apart;
        slot->as.run.apart.bytes = bytes;
    } else {
        slot->kind = GYRE_CPU_LAUNCH;
        if (bytes > 0)
            memcpy(slot->as.run.parameters, launch->parameters, bytes);
    }
    gyre_cpu_commit(stream, slot);
    return GYRE_OK;
}

gyre_status gyre_cpu_copy_submit(gyre_dev_stream *stream, const gyre_dev_copy *copy)
{
    gyre_cpu_slot *slot;
    const gyre_status status = gyre_cpu_begin(stream, &slot);

    if (status != GYRE_OK)
        return status;
    slot->kind = GYRE_CPU_COPY;
    slot->as.copy = *copy;
    gyre_cpu_commit(stream, slot);
    return GYRE_OK;
}

gyre_status gyre_cpu_fill_submit(gyre_dev_stream *stream, const gyre_dev_fill *fill)
{
    gyre_cpu_slot *slot;
    const gyre_status status = gyre_cpu_begin(stream, &slot);

    if (status != GYRE_OK)
        return status;
    slot->kind = GYRE_CPU_FILL;
    slot->as.fill = *fill;
    gyre_cpu_commit(stream, slot);
    return GYRE_OK;
}

gyre_status gyre_cpu_words_submit(gyre_dev_stream *stream, const gyre_dev_word *words,
                                  uint32_t count)
{
    gyre_cpu_slot *slot;
    const gyre_status status = gyre_cpu_begin(stream, &slot);

    if (status != GYRE_OK)
        return status;
    slot->kind = GYRE_CPU_WORDS;
    memcpy(slot->as.words.word, words, count * sizeof *words);
    slot->as.words.count = count;
    slot->as.words.next = slot->as.words.vain = 0;
    gyre_cpu_commit(stream, slot);
    return GYRE_OK;
}

gyre_status gyre_cpu_stream_open(gyre_dev *dev, void *adopt, int32_t priority,
                                 gyre_dev_stream **out_stream)
{
    gyre_dev_stream *stream;
    gyre_status status = gyre_process_use();
    void *block;

    (void)priority;
    *out_stream = NULL;
    if (status != GYRE_OK)
        return status;
    if (adopt)
        return gyre_fail(GYRE_UNSUPPORTED, "the CPU has no streams but Gyre's own");
    pthread_mutex_lock(&dev->lock);
    stream = dev->closed;
    if (stream)
        dev->closed = stream->next_closed;
    pthread_mutex_unlock(&dev->lock);
    if (!stream) {
        status = gyre_alloc(NULL, 1, sizeof *stream, &block);
        if (status != GYRE_OK)
            return status;
        stream = block;
        stream->dev = dev;
        pthread_mutex_lock(&dev->lock);
        stream->sibling = dev->streams;
        dev->streams = stream;
        pthread_mutex_unlock(&dev->lock);
    }
    *out_stream = stream;
    return GYRE_OK;
}

void gyre_cpu_stream_close(gyre_dev_stream *stream)
{
    gyre_dev *dev = stream->dev;

    /* In a forked child nobody works and the lock may be taken: the device frees it. */
    if (gyre_cpu_is_abandoned(dev) || gyre_process_check() != GYRE_OK)
        return;
    /* relaxed: this thread is the only writer */
    if (await(stream, atomic_load_explicit(&stream->tail, memory_order_relaxed), GYRE_NEVER) !=
        GYRE_OK)
        return;
    pthread_mutex_lock(&dev->lock);
    /* A worker may still be with it, which does not matter: it may be opened again. */
    stream->next_closed = dev->closed;
    dev->closed = stream;
    pthread_mutex_unlock(&dev->lock);
}
