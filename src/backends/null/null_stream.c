/* SPDX-License-Identifier: Apache-2.0
 *
 * null_stream: decides when work counts as done. It is done when it is submitted; a stream's
 * ready_ns is the moment from which it counts, and an event remembers that moment.
 *
 * A stream that hangs has GYRE_NEVER: what is submitted to it is taken and not done. So is what
 * comes after a launch that faults; the fault is found by whoever polls once ready_ns has come.
 *
 * Threads   one at a time for a stream, but poll; times are under the device's lock.
 * Owns      streams and events, which are the caller's to close.
 * Not here  what a kernel does (null_code.c).
 */
#include <string.h>
#include <time.h>

#include "backends/null/null.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "dev/word.h"
#include "gyre/clock.h"

struct gyre_dev_stream {
    unsigned char shared[GYRE_NULL_SHARED_BYTES]; /* of the block that runs; aligned to 64 */
    gyre_dev *dev;
    uint64_t ready_ns;
    uint32_t faulted; /* the launch that did; 0: none */
    bool running;     /* on the submitting thread, now */
};

struct gyre_dev_event {
    gyre_dev *dev;
    uint64_t ready_ns; /* as the stream's, when it was recorded */
    uint32_t faulted;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

gyre_status gyre_null_stream_open(gyre_dev *dev, void *adopt, int32_t priority,
                                  gyre_dev_stream **out_stream)
{
    gyre_dev_stream *stream;
    gyre_status status;
    void *block;

    (void)priority;
    *out_stream = NULL;
    if (adopt)
        return gyre_fail(GYRE_UNSUPPORTED, "null:%u: there is no stream to adopt", dev->index);
    status = gyre_null_enter(dev);
    if (status != GYRE_OK)
        return status;
    gyre_null_leave(dev);
    status = gyre_alloc(NULL, 1, sizeof *stream, &block);
    if (status != GYRE_OK)
        return status;
    stream = block;
    stream->dev = dev;
    *out_stream = stream;
    return GYRE_OK;
}

/* Waits as a driver does. One that hangs would be waited for without end by any other, and has
 * nothing here that could be in use: it is freed. */
void gyre_null_stream_close(gyre_dev_stream *stream)
{
    const uint64_t ready_ns = stream->ready_ns;

    if (!stream->dev->abandoned && ready_ns != GYRE_NEVER) {
        for (uint64_t now = gyre_clock_now_ns(); now < ready_ns; now = gyre_clock_now_ns()) {
            const uint64_t rest = ready_ns - now;
            const struct timespec nap = {.tv_sec = (time_t)(rest / 1000000000),
                                         .tv_nsec = (long)(rest % 1000000000)};

            (void)nanosleep(&nap, NULL); /* cut short or not */
        }
    }
    gyre_free(NULL, stream, 1, sizeof *stream);
}

/* Whether work that is ready then is done. Locked. */
static gyre_status ask(gyre_dev *dev, uint64_t ready_ns, uint32_t faulted)
{
    if (ready_ns == GYRE_NEVER || gyre_clock_now_ns() < ready_ns)
        return GYRE_AGAIN;
    if (faulted != 0)
        gyre_null_lose(dev, faulted);
    return gyre_null_lost(dev);
}

gyre_status gyre_null_poll(gyre_dev_stream *stream)
{
    gyre_status status = gyre_null_enter(stream->dev);

    if (status != GYRE_OK)
        return status;
    status = ask(stream->dev, stream->running ? GYRE_NEVER : stream->ready_ns, stream->faulted);
    gyre_null_leave(stream->dev);
    return status;
}

static void do_copy(const gyre_dev_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            memmove((char *)copy->to + z * copy->to_slice + y * copy->to_pitch,
                    (const char *)copy->from + z * copy->from_slice + y * copy->from_pitch,
                    copy->width);
}

static void do_fill(const gyre_dev_fill *fill)
{
    uint32_t word;

    if (fill->pattern_size == sizeof word && fill->count == 1) { /* somebody may watch it */
        memcpy(&word, fill->pattern, sizeof word);
        gyre_word_store(fill->to, word);
        return;
    }
    for (size_t i = 0; i < fill->count; i++)
        memcpy((char *)fill->to + i * fill->pattern_size, fill->pattern, fill->pattern_size);
}

static void do_node(gyre_dev_stream *stream, const gyre_dev_node *node)
{
    switch (node->kind) {
    case GYRE_DEV_NODE_LAUNCH:
        gyre_null_run(&node->as.launch, stream->shared);
        break;
    case GYRE_DEV_NODE_COPY:
        do_copy(&node->as.copy);
        break;
    case GYRE_DEV_NODE_FILL:
        do_fill(&node->as.fill);
        break;
    }
}

/* Counts the node and moves ready_ns by what it takes; false when it is not to be done. Locked. */
static bool begin_node(gyre_dev_stream *stream, const gyre_dev_node *node)
{
    gyre_dev *const dev = stream->dev;
    const gyre_null_rule *const slow = gyre_null_faults_find(&dev->faults, GYRE_NULL_SLOW, 0);
    uint64_t takes_ns = slow ? (uint64_t)slow->value * 1000 : 0;
    bool hangs = gyre_null_faults_find(&dev->faults, GYRE_NULL_SILENT, 0) != NULL;

    if (node->kind == GYRE_DEV_NODE_LAUNCH) {
        const uint32_t launch = ++dev->launches;
        const gyre_null_rule *const hang =
            gyre_null_faults_find(&dev->faults, GYRE_NULL_HANG, launch);

        hangs = hangs || (hang && hang->value < 0);
        if (hang && hang->value > 0)
            takes_ns += (uint64_t)hang->value * 1000000;
        if (stream->faulted == 0 && gyre_null_faults_find(&dev->faults, GYRE_NULL_FAULT, launch))
            stream->faulted = launch;
    }
    if (hangs)
        stream->ready_ns = GYRE_NEVER;
    else if (stream->ready_ns != GYRE_NEVER)
        stream->ready_ns = later(stream->ready_ns, gyre_clock_now_ns()) + takes_ns;
    return stream->ready_ns != GYRE_NEVER && stream->faulted == 0;
}

gyre_status gyre_null_submit(gyre_dev_stream *stream, const gyre_dev_node *nodes, uint32_t count)
{
    gyre_dev *const dev = stream->dev;
    gyre_status status = gyre_null_enter(dev);

    if (status != GYRE_OK)
        return status;
    if (gyre_null_faults_find(&dev->faults, GYRE_NULL_REFUSE, ++dev->submissions))
        status = gyre_fail_native(GYRE_NO_MEMORY, GYRE_NULL_ERROR_REFUSED,
                                  "null:%u: NULL_ERROR_REFUSED: submission %u was told to fail",
                                  dev->index, dev->submissions);
    for (uint32_t i = 0; status == GYRE_OK && i < count; i++) {
        if (!begin_node(stream, &nodes[i]))
            continue;
        stream->running = true;
        gyre_null_leave(dev);
        do_node(stream, &nodes[i]);
        pthread_mutex_lock(&dev->device->lock); /* lost or not, it has been done */
        stream->running = false;
        stream->ready_ns = later(stream->ready_ns, gyre_clock_now_ns());
    }
    gyre_null_leave(dev);
    return status;
}

gyre_status gyre_null_launch(gyre_dev_stream *stream, const gyre_dev_launch *launch)
{
    const gyre_dev_node node = {.kind = GYRE_DEV_NODE_LAUNCH, .as.launch = *launch};

    return gyre_null_submit(stream, &node, 1);
}

gyre_status gyre_null_copy(gyre_dev_stream *stream, const gyre_dev_copy *copy)
{
    const gyre_dev_node node = {.kind = GYRE_DEV_NODE_COPY, .as.copy = *copy};

    return gyre_null_submit(stream, &node, 1);
}

gyre_status gyre_null_fill(gyre_dev_stream *stream, const gyre_dev_fill *fill)
{
    const gyre_dev_node node = {.kind = GYRE_DEV_NODE_FILL, .as.fill = *fill};

    return gyre_null_submit(stream, &node, 1);
}

gyre_status gyre_null_words(gyre_dev_stream *stream, const gyre_dev_word *words, uint32_t count)
{
    gyre_dev_node nodes[GYRE_DEV_WORDS_MOST];

    for (uint32_t i = 0; i < count; i++) {
        if (words[i].kind != GYRE_DEV_WORD_WRITE)
            return gyre_fail(GYRE_UNSUPPORTED,
                             "null:%u: work is done when it is submitted, so that no stream waits "
                             "for a word",
                             stream->dev->index);
        nodes[i] = (gyre_dev_node){
            .kind = GYRE_DEV_NODE_FILL,
            .as.fill = {.to = words[i].at, .pattern_size = sizeof words[i].value, .count = 1}};
        memcpy(nodes[i].as.fill.pattern, &words[i].value, sizeof words[i].value);
    }
    return gyre_null_submit(stream, nodes, count);
}

gyre_status gyre_null_event_open(gyre_dev *dev, bool timed, gyre_dev_event **out_event)
{
    gyre_status status = gyre_null_enter(dev);
    gyre_dev_event *event;
    void *block;

    (void)timed; /* every event knows its time */
    *out_event = NULL;
    if (status != GYRE_OK)
        return status;
    gyre_null_leave(dev);
    status = gyre_alloc(NULL, 1, sizeof *event, &block);
    if (status != GYRE_OK)
        return status;
    event = block;
    event->dev = dev;
    *out_event = event;
    return GYRE_OK;
}

void gyre_null_event_close(gyre_dev_event *event)
{
    gyre_free(NULL, event, 1, sizeof *event);
}

gyre_status gyre_null_event_record(gyre_dev_event *event, gyre_dev_stream *stream)
{
    const gyre_status status = gyre_null_enter(stream->dev);

    if (status != GYRE_OK)
        return status;
    event->ready_ns = later(stream->ready_ns, gyre_clock_now_ns());
    event->faulted = stream->faulted;
    gyre_null_leave(stream->dev);
    return GYRE_OK;
}

gyre_status gyre_null_event_poll(gyre_dev_event *event)
{
    gyre_status status = gyre_null_enter(event->dev);

    if (status != GYRE_OK)
        return status;
    status = ask(event->dev, event->ready_ns, event->faulted);
    gyre_null_leave(event->dev);
    return status;
}

gyre_status gyre_null_event_wait(gyre_dev_stream *stream, gyre_dev_event *event)
{
    const gyre_status status = gyre_null_enter(stream->dev);

    if (status != GYRE_OK)
        return status;
    stream->ready_ns = later(stream->ready_ns, event->ready_ns);
    if (stream->faulted == 0)
        stream->faulted = event->faulted;
    gyre_null_leave(stream->dev);
    return GYRE_OK;
}

gyre_status gyre_null_event_between(gyre_dev_event *from, gyre_dev_event *to, double *out_ns)
{
    gyre_status status = gyre_null_event_poll(from);

    *out_ns = 0;
    if (status == GYRE_OK)
        status = gyre_null_event_poll(to);
    if (status == GYRE_OK)
        *out_ns = (double)(int64_t)(to->ready_ns - from->ready_ns);
    return status;
}
