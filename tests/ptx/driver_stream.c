/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_stream: streams, events, and words that streams write and wait for.
 */
#include <stdlib.h>
#include <time.h>

#include "driver.h"
#include "ptx_warp.h"

/* --- streams ---------------------------------------------------------------------------------- */

static void *serve(void *argument)
{
    gyre_cu_stream *const stream = argument;

    pthread_mutex_lock(&driver.mutex);
    for (;;) {
        driver_work *work;
        int result;

        while (!stream->first && !stream->ends)
            pthread_cond_wait(&driver.changed, &driver.mutex);
        work = stream->first;
        if (!work)
            break;
        stream->first = work->next;
        result = driver.fault;
        pthread_mutex_unlock(&driver.mutex);
        if (!result)
            result = work->run(work, stream);
        free(work);
        pthread_mutex_lock(&driver.mutex);
        if (result && !driver.fault) {
            driver.fault = result;
            /* release: pairs with the acquire in run_blocks */
            __atomic_store_n(&driver.stop, 1, __ATOMIC_RELEASE);
        }
        stream->pending--;
        stream->context->pending--;
        driver.pending--;
        pthread_cond_broadcast(&driver.changed);
    }
    pthread_mutex_unlock(&driver.mutex);
    free(stream);
    return NULL;
}

void *driver_work_make(size_t size, int (*run)(driver_work *work, gyre_cu_stream *stream))
{
    driver_work *const work = calloc(1, size);

    if (work)
        work->run = run;
    return work;
}

int driver_submit(gyre_cu_stream *stream, void *made)
{
    driver_work *const work = made;
    int result = driver_ready();

    if (!work)
        return GYRE_CU_OUT_OF_MEMORY;
    if (!result && (!stream || stream->context != driver_current()))
        result = GYRE_CU_INVALID_HANDLE;
    if (result) {
        free(work);
        return result;
    }
    pthread_mutex_lock(&driver.mutex);
    if (stream->first)
        stream->last->next = work;
    else
        stream->first = work;
    stream->last = work;
    stream->pending++;
    stream->context->pending++;
    driver.pending++;
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.mutex);
    return 0;
}

void driver_drain(gyre_cu_stream *stream)
{
    pthread_mutex_lock(&driver.mutex);
    while (stream->pending > 0)
        pthread_cond_wait(&driver.changed, &driver.mutex);
    pthread_mutex_unlock(&driver.mutex);
}

int cuStreamCreateWithPriority(gyre_cu_stream **stream, unsigned flags, int priority)
{
    const int result = driver_ready();
    pthread_t thread;

    (void)flags, (void)priority;
    if (result)
        return result;
    *stream = calloc(1, sizeof **stream);
    if (!*stream)
        return GYRE_CU_OUT_OF_MEMORY;
    (*stream)->context = driver_current();
    if (pthread_create(&thread, NULL, serve, *stream) != 0) {
        free(*stream);
        return GYRE_CU_OUT_OF_MEMORY;
    }
    pthread_detach(thread);
    return 0;
}

/* Its thread goes on to the end of what it has, and takes it along. */
int cuStreamDestroy_v2(gyre_cu_stream *stream)
{
    pthread_mutex_lock(&driver.mutex);
    stream->ends = true;
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.mutex);
    return 0;
}

int cuStreamQuery(gyre_cu_stream *stream)
{
    int result = driver_ready();

    if (result)
        return result;
    pthread_mutex_lock(&driver.mutex);
    /* one look at both: what was done last may have been the fault */
    result = driver.fault ? driver.fault : stream->pending > 0 ? GYRE_CU_NOT_READY : 0;
    pthread_mutex_unlock(&driver.mutex);
    return result;
}

int cuStreamGetCtx(gyre_cu_stream *stream, gyre_cu_context **context)
{
    *context = stream->context;
    return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

typedef struct event_work {
    driver_work work;
    gyre_cu_event *event;
    uint64_t number; /* of the record */
} event_work;

/* With the mutex. */
static void event_leave(gyre_cu_event *event)
{
    if (--event->works == 0 && event->ends)
        free(event);
}

static int record(driver_work *work, gyre_cu_stream *stream)
{
    const event_work *const it = (const event_work *)(const void *)work;

    (void)stream;
    pthread_mutex_lock(&driver.mutex);
    if (it->event->reached < it->number)
        it->event->reached = it->number;
    it->event->ns = ptx_now_ns();
    event_leave(it->event);
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.mutex);
    return 0;
}

static int await(driver_work *work, gyre_cu_stream *stream)
{
    const event_work *const it = (const event_work *)(const void *)work;

    (void)stream;
    pthread_mutex_lock(&driver.mutex);
    while (it->event->reached < it->number && !driver.fault)
        pthread_cond_wait(&driver.changed, &driver.mutex);
    event_leave(it->event);
    pthread_mutex_unlock(&driver.mutex);
    return 0;
}

static int submit_event(gyre_cu_stream *stream, gyre_cu_event *event, bool records)
{
    event_work *const it = driver_work_make(sizeof *it, records ? record : await);
    int result;

    if (!it)
        return GYRE_CU_OUT_OF_MEMORY;
    pthread_mutex_lock(&driver.mutex);
    event->recorded += records;
    event->works++;
    it->event = event;
    it->number = event->recorded;
    pthread_mutex_unlock(&driver.mutex);
    result = driver_submit(stream, it);
    if (result) {
        pthread_mutex_lock(&driver.mutex);
        event_leave(event);
        pthread_mutex_unlock(&driver.mutex);
    }
    return result;
}

int cuEventCreate(gyre_cu_event **event, unsigned flags)
{
    const int result = driver_ready();

    if (result)
        return result;
    *event = calloc(1, sizeof **event);
    if (!*event)
        return GYRE_CU_OUT_OF_MEMORY;
    (*event)->timed = !(flags & GYRE_CU_EVENT_NO_TIMING);
    return 0;
}

int cuEventDestroy_v2(gyre_cu_event *event)
{
    pthread_mutex_lock(&driver.mutex);
    event->ends = true;
    event->works++;
    event_leave(event);
    pthread_mutex_unlock(&driver.mutex);
    return 0;
}

int cuEventRecord(gyre_cu_event *event, gyre_cu_stream *stream)
{
    return submit_event(stream, event, true);
}

int cuStreamWaitEvent(gyre_cu_stream *stream, gyre_cu_event *event, unsigned flags)
{
    (void)flags;
    return submit_event(stream, event, false);
}

int cuEventQuery(gyre_cu_event *event)
{
    int result = driver_ready();

    if (result)
        return result;
    pthread_mutex_lock(&driver.mutex);
    result = driver.fault ? driver.fault : event->reached < event->recorded ? GYRE_CU_NOT_READY : 0;
    pthread_mutex_unlock(&driver.mutex);
    return result;
}

int cuEventElapsedTime(float *ms, gyre_cu_event *from, gyre_cu_event *to)
{
    int result = driver_ready();

    if (result)
        return result;
    pthread_mutex_lock(&driver.mutex);
    if (!from->timed || !to->timed || !from->recorded || !to->recorded)
        result = GYRE_CU_INVALID_HANDLE;
    else if (from->reached < from->recorded || to->reached < to->recorded)
        result = GYRE_CU_NOT_READY;
    else
        *ms = (float)((double)(int64_t)(to->ns - from->ns) / 1e6);
    pthread_mutex_unlock(&driver.mutex);
    return result;
}

int cuEventElapsedTime_v2(float *ms, gyre_cu_event *from, gyre_cu_event *to)
{
    return cuEventElapsedTime(ms, from, to);
}

/* --- words ------------------------------------------------------------------------------------ */

typedef struct word_work {
    driver_work work;
    gyre_cu_word word;
} word_work;

static int write_word(driver_work *work, gyre_cu_stream *stream)
{
    const gyre_cu_word *const word = &((const word_work *)(const void *)work)->word;

    (void)stream;
    /* release: whatever the stream did before is seen by who sees the word */
    __atomic_store_n((uint32_t *)word->one.address, (uint32_t)word->one.value, __ATOMIC_RELEASE);
    return 0;
}

static int await_word(driver_work *work, gyre_cu_stream *stream)
{
    const gyre_cu_word *const word = &((const word_work *)(const void *)work)->word;
    const struct timespec nap = {0, 20000};

    (void)stream;
    /* acquire, both: pairs with who writes the word, or with a fault */
    while (__atomic_load_n((const uint32_t *)word->one.address, __ATOMIC_ACQUIRE) !=
               (uint32_t)word->one.value &&
           !__atomic_load_n(&driver.stop, __ATOMIC_ACQUIRE))
        nanosleep(&nap, NULL);
    return 0;
}

int cuStreamBatchMemOp_v2(gyre_cu_stream *stream, unsigned count, gyre_cu_word *words,
                          unsigned flags)
{
    int result = flags ? GYRE_CU_INVALID_VALUE : 0;

    for (unsigned i = 0; i < count && !result; i++) {
        const bool waits = words[i].one.operation == GYRE_CU_WORD_WAIT;
        word_work *it;

        if (driver_room(words[i].one.address) < sizeof(uint32_t) ||
            words[i].one.flags != (unsigned)(waits ? GYRE_CU_WORD_EQUAL : GYRE_CU_WORD_IN_ORDER))
            return GYRE_CU_INVALID_VALUE;
        it = driver_work_make(sizeof *it, waits ? await_word : write_word);
        if (it)
            it->word = words[i];
        result = driver_submit(stream, it);
    }
    return result;
}
