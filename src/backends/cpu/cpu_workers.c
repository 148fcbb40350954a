/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_workers: who does what: the threads, the streams that wait for one, the launches that several
 * share.
 *
 * A worker takes the stream that has been ready longest, else helps with a launch that has blocks
 * left, else sleeps. A launch is shared by a counter of blocks: the worker that serves the stream
 * lists it, wakes one other, and begins; each that comes wakes the next while there are blocks. So
 * a launch costs its stream at most one wake, however many workers come. One that is likely to be
 * over before somebody has come is not shared.
 *
 * Threads   [cpu-ready] and [park-handshake]: whoever adds to a list raises its count with a
 *           seq_cst operation before it wakes. [cpu-job]: a helper's last step with a job is to
 *           lower `helpers`; the job is the worker's own memory and outlives the wake after it.
 * Owns      the threads and each one's shared memory.
 * Not here  what a stream's operations do (cpu_serve.c).
 */
#include <stdio.h>

#include "backends/cpu/cpu.h"
#include "base/alloc.h"
#include "base/settings.h"
#include "gyre/clock.h"
#include "gyre/memory.h"

enum {
    CLAIMS = 16,      /* that each worker makes of a launch, so that all end together */
    CHUNK_MOST = 256, /* blocks */
    SHARE_NS = 10000, /* what takes less is not worth a wake */
    PARTS = 16,       /* of a nanosecond, in which paces are kept */
};

static bool is_ending(const gyre_dev *dev)
{
    /* seq_cst [park-handshake]: pairs with gyre_cpu_workers_end */
    return atomic_load(&dev->end) != GYRE_CPU_GOES_ON;
}

static bool has_work(void *arg)
{
    gyre_dev *dev = arg;

    /* seq_cst [cpu-ready], both: pair with gyre_cpu_ready_locked and list_job */
    return atomic_load(&dev->ready_count) > 0 || atomic_load(&dev->job_count) > 0 || is_ending(dev);
}

void gyre_cpu_ready_locked(gyre_dev_stream *stream)
{
    gyre_dev *dev = stream->dev;

    stream->next = NULL;
    if (dev->ready_last)
        dev->ready_last->next = stream;
    else
        dev->ready_first = stream;
    dev->ready_last = stream;
    atomic_fetch_add(&dev->ready_count, 1); /* seq_cst [cpu-ready]: pairs with has_work */
}

void gyre_cpu_ready(gyre_dev_stream *stream)
{
    gyre_dev *dev = stream->dev;

    pthread_mutex_lock(&dev->lock);
    gyre_cpu_ready_locked(stream);
    pthread_mutex_unlock(&dev->lock);
    gyre_park_wake(&dev->idle, 1);
}

static gyre_dev_stream *take_ready(gyre_dev *dev)
{
    gyre_dev_stream *stream;

    /* relaxed, both: a hint; the lock decides */
    if (atomic_load_explicit(&dev->ready_count, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&dev->lock);
    stream = dev->ready_first;
    if (stream) {
        dev->ready_first = stream->next;
        if (!dev->ready_first)
            dev->ready_last = NULL;
        atomic_fetch_sub_explicit(&dev->ready_count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&dev->lock);
    return stream;
}

/* Blocks `first` up to `end` of a launch, in the order of their numbers. */
static void run_blocks(const gyre_dev *dev, const gyre_cpu_job *job, void *shared, uint64_t first,
                       uint64_t end)
{
    const uint32_t *grid = job->launch->grid;
    const uint16_t *threads = job->threads;
    const uint64_t plane = (uint64_t)grid[0] * grid[1], in_plane = first % plane;
    gyre_block block = {
        .index = {(uint32_t)(in_plane % grid[0]), (uint32_t)(in_plane / grid[0]),
                  (uint32_t)(first / plane)},
        .grid = {grid[0], grid[1], grid[2]},
        .threads = {threads[0], threads[1], threads[2]},
        .shared_bytes = job->launch->shared_bytes,
        .shared = job->launch->shared_bytes > 0 ? shared : NULL,
    };

    for (uint64_t i = first; i < end && !gyre_cpu_is_abandoned(dev); i++) {
        gyre_block given = block; /* a function that writes to its block harms no other */

        job->launch->function(&given, job->parameters);
        if (++block.index[0] < grid[0])
            continue;
        block.index[0] = 0;
        if (++block.index[1] < grid[1])
            continue;
        block.index[1] = 0;
        block.index[2]++;
    }
}

/* Claims blocks until there are none; how many it had. */
static uint64_t work_on(const gyre_dev *dev, gyre_cpu_job *job, void *shared)
{
    uint64_t had = 0;

    while (!gyre_cpu_is_abandoned(dev)) {
        /* relaxed: a number; the job itself came by the lock */
        const uint64_t first =
            atomic_fetch_add_explicit(&job->next_block, job->chunk, memory_order_relaxed);
        const uint64_t left = first < job->blocks ? job->blocks - first : 0;
        const uint64_t some = left < job->chunk ? left : job->chunk;

        if (some == 0)
            break;
        run_blocks(dev, job, shared, first, first + some);
        had += some;
    }
    return had;
}

/* Blocks one after the other, up to the last one or until it has taken too long; how many. */
static uint64_t work_alone(const gyre_dev *dev, const gyre_cpu_job *job, void *shared,
                           uint64_t began_ns)
{
    uint64_t done = 0;

    for (uint64_t step = 1; done < job->blocks; step *= 2) {
        const uint64_t left = job->blocks - done, some = left < step ? left : step;

        if (done > 0 && gyre_clock_now_ns() - began_ns > SHARE_NS)
            break;
        run_blocks(dev, job, shared, done, done + some);
        done += some;
    }
    return done;
}

static gyre_cpu_pace *pace_of(gyre_dev *dev, gyre_function function)
{
    const uint64_t address = (uint64_t)(uintptr_t)function;

    return &dev->paces[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % GYRE_CPU_PACES];
}

/* Whether blocks of a function are likely to take less than a wake; not when it is new. */
static bool is_short(const gyre_cpu_pace *pace, gyre_function function, uint64_t blocks)
{
    /* relaxed, both: a guess */
    const uint64_t block_ns = atomic_load_explicit(&pace->block_ns, memory_order_relaxed);

    return atomic_load_explicit(&pace->function, memory_order_relaxed) == function &&
           block_ns < (uint64_t)SHARE_NS * PARTS / blocks;
}

/* Up faster than down: who shares in vain loses little, who does not may lose much. But one launch
 * that was interrupted is not to make all that follow shared. */
static void learn(gyre_cpu_pace *pace, gyre_function function, uint64_t blocks, uint64_t spent_ns)
{
    /* relaxed, all: a guess */
    const uint64_t before = atomic_load_explicit(&pace->block_ns, memory_order_relaxed);
    uint64_t now = spent_ns * PARTS / blocks + 1;

    if (atomic_load_explicit(&pace->function, memory_order_relaxed) != function)
        atomic_store_explicit(&pace->function, function, memory_order_relaxed);
    else if (now > 2 * before)
        now = 2 * before;
    else if (now < before)
        now = before - (before - now) / 8;
    atomic_store_explicit(&pace->block_ns, now, memory_order_relaxed);
}

static bool has_blocks(const gyre_cpu_job *job)
{
    /* relaxed: a hint, who claims finds out */
    return atomic_load_explicit(&job->next_block, memory_order_relaxed) < job->blocks;
}

static void list_job(gyre_dev *dev, gyre_cpu_job *job)
{
    pthread_mutex_lock(&dev->lock);
    job->next = dev->jobs;
    job->listed = true;
    dev->jobs = job;
    atomic_fetch_add(&dev->job_count, 1); /* seq_cst [cpu-ready]: pairs with has_work */
    pthread_mutex_unlock(&dev->lock);
    gyre_park_wake(&dev->idle, 1);
}

/* Under the lock. Nobody new comes to help from then on. */
static void unlist_job(gyre_dev *dev, gyre_cpu_job *job)
{
    gyre_cpu_job **link = &dev->jobs;

    if (!job->listed)
        return;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    job->listed = false;
    atomic_fetch_sub_explicit(&dev->job_count, 1, memory_order_relaxed); /* relaxed: the lock */
}

/* Helps with the launch that was listed last; false when there is none. */
static bool help(gyre_cpu_worker *worker)
{
    gyre_dev *dev = worker->dev;
    gyre_cpu_job *job;

    /* relaxed: a hint; the lock decides */
    if (atomic_load_explicit(&dev->job_count, memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&dev->lock);
    job = dev->jobs;
    if (job) {
        /* relaxed: the lock hands it to the one whose job it is, which takes it before it asks */
        atomic_fetch_add_explicit(&job->helpers, 1, memory_order_relaxed);
        if (!has_blocks(job))
            unlist_job(dev, job);
    }
    pthread_mutex_unlock(&dev->lock);
    if (!job)
        return false;
    if (has_blocks(job))
        gyre_park_wake(&dev->idle, 1);
    work_on(dev, job, worker->shared);
    pthread_mutex_lock(&dev->lock);
    unlist_job(dev, job);
    pthread_mutex_unlock(&dev->lock);
    /* seq_cst [cpu-job] [park-handshake]: pairs with is_over. What the blocks wrote is seen. */
    if (atomic_fetch_sub(&job->helpers, 1) == 1)
        gyre_park_wake(&job->over, 1);
    return true;
}

static bool is_over(void *arg)
{
    gyre_cpu_job *job = arg;

    return atomic_load(&job->helpers) == 0; /* seq_cst [cpu-job]: pairs with help */
}

/* A launch of several blocks, with several workers. */
static void share(gyre_cpu_worker *worker, gyre_cpu_job *job)
{
    gyre_dev *dev = worker->dev;
    const gyre_function function = job->launch->function;
    const uint64_t chunk = job->blocks / ((uint64_t)dev->worker_count * CLAIMS);
    gyre_cpu_pace *pace = pace_of(dev, function);
    uint64_t began_ns = gyre_clock_now_ns(), done = 0, had;

    if (is_short(pace, function, job->blocks)) {
        done = work_alone(dev, job, worker->shared, began_ns);
        learn(pace, function, done, gyre_clock_now_ns() - began_ns);
    }
    if (done == job->blocks)
        return;
    job->chunk = chunk < 1 ? 1 : chunk < CHUNK_MOST ? chunk : CHUNK_MOST;
    /* relaxed: nobody else sees the job now */
    atomic_store_explicit(&job->next_block, done, memory_order_relaxed);
    list_job(dev, job);
    began_ns = gyre_clock_now_ns(); /* without the wake */
    had = work_on(dev, job, worker->shared);
    if (had > 0)
        learn(pace, function, had, gyre_clock_now_ns() - began_ns);
    pthread_mutex_lock(&dev->lock);
    unlist_job(dev, job);
    pthread_mutex_unlock(&dev->lock);
    (void)!gyre_park_wait(&job->over, &job->over_spin, is_over, job, GYRE_NEVER);
}

void gyre_cpu_run(gyre_cpu_worker *worker, const gyre_cpu_launch *launch, const uint16_t block[3],
                  const void *parameters)
{
    gyre_cpu_job *job = &worker->job;
    gyre_dev *dev = worker->dev;
    /* 2^31 * 2^16 * 2^16 at most */
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];

    if (blocks == 1) { /* on its own: somebody may watch the line that brought it */
        const gyre_block only = {
            .grid = {1, 1, 1},
            .threads = {block[0], block[1], block[2]},
            .shared_bytes = launch->shared_bytes,
            .shared = launch->shared_bytes > 0 ? worker->shared : NULL,
        };

        launch->function(&only, parameters);
        return;
    }
    job->launch = launch;
    job->parameters = parameters;
    job->threads = block;
    job->blocks = blocks;
    if (dev->worker_count == 1)
        run_blocks(dev, job, worker->shared, 0, blocks);
    else
        share(worker, job);
}

static void work(void *arg)
{
    gyre_cpu_worker *worker = arg;
    gyre_dev *dev = worker->dev;

    for (bool lingered = false; !gyre_cpu_is_abandoned(dev);) {
        gyre_dev_stream *stream = take_ready(dev);

        if (stream) {
            gyre_cpu_serve(worker, stream);
            lingered = true; /* which is as good as a spin here */
        } else if (help(worker)) {
            lingered = false;
        } else if (is_ending(dev)) {
            break;
        } else {
            (void)!gyre_park_wait(&dev->idle, lingered ? NULL : &worker->idle_spin, has_work, dev,
                                  GYRE_NEVER);
            lingered = false;
        }
    }
    /* release [cpu-alive]: pairs with reap in cpu.c */
    atomic_fetch_sub_explicit(&dev->alive, 1, memory_order_release);
}

gyre_status gyre_cpu_workers_start(gyre_dev *dev, uint32_t count)
{
    const gyre_memory *host = gyre_memory_host();
    gyre_thread_options options = {.struct_size = sizeof options};
    gyre_status status;
    char name[32];
    void *block;

    options.name = name;
    options.stack_bytes = (size_t)gyre_settings_number(GYRE_SETTING_CPU_STACK_KIB) * 1024;
    status = gyre_alloc(NULL, count, sizeof(gyre_cpu_worker), &block);
    if (status != GYRE_OK)
        return status;
    dev->workers = block;
    dev->worker_count = count;
    for (uint32_t i = 0; i < count && status == GYRE_OK; i++) {
        gyre_cpu_worker *worker = &dev->workers[i];

        worker->dev = dev;
        snprintf(name, sizeof name, "%.11s%u", gyre_settings_text(GYRE_SETTING_CPU_NAME), i);
        status = host->take(host, GYRE_CPU_SHARED_MOST, 64, &worker->shared);
        if (status != GYRE_OK)
            break;
        /* relaxed: whoever asks stops the threads first, or has found 0 */
        atomic_fetch_add_explicit(&dev->alive, 1, memory_order_relaxed);
        status = gyre_thread_start(work, worker, &options, &worker->thread);
    }
    if (status != GYRE_OK) {
        gyre_cpu_workers_end(dev, GYRE_CPU_STOPS);
        gyre_cpu_workers_stop(dev);
    }
    return status;
}

void gyre_cpu_workers_end(gyre_dev *dev, gyre_cpu_end how)
{
    atomic_store(&dev->end, (uint32_t)how); /* seq_cst [park-handshake]: pairs with has_work */
    gyre_park_wake(&dev->idle, UINT32_MAX);
}

void gyre_cpu_workers_stop(gyre_dev *dev)
{
    const gyre_memory *host = gyre_memory_host();

    for (uint32_t i = 0; dev->workers && i < dev->worker_count; i++)
        gyre_thread_stop(dev->workers[i].thread);
    for (uint32_t i = 0; dev->workers && i < dev->worker_count; i++)
        if (dev->workers[i].shared)
            host->give(host, dev->workers[i].shared, GYRE_CPU_SHARED_MOST, 64);
    gyre_free(NULL, dev->workers, dev->worker_count, sizeof(gyre_cpu_worker));
    dev->workers = NULL;
}
