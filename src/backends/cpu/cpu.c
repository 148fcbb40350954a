/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu: the host's processor as a device: its table, a device's life, memory and code.
 *
 * Device memory is the host's. Kernels are C functions. A device that is abandoned keeps everything
 * that its workers may touch until the last of them has ended, which nobody waits for: the next
 * open or close of any device frees those that have.
 *
 * Threads   any, as dev/backend.h says. Edge: [cpu-alive].
 * Owns      devices; those that were abandoned, for the process.
 * Not here  workers (cpu_workers.c), streams (cpu_stream.c, cpu_serve.c), events (cpu_event.c),
 *           graphs (cpu_graph.c), facts (cpu_facts.c).
 */
#include "backends/cpu/cpu.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/process.h"
#include "dev/backend_no.h"
#include "gyre/memory.h"

extern const gyre_backend gyre_backend_cpu;

struct gyre_dev_module {
    gyre_dev *dev;
    const gyre_entry *functions;
    gyre_dev_kernel *kernels; /* by the device's lock */
};

static pthread_mutex_t abandoned_lock = PTHREAD_MUTEX_INITIALIZER;
static gyre_dev *abandoned;

/* Accepts a half-built device. Waits for its workers. */
static void destroy(gyre_dev *dev)
{
    const bool forked = gyre_process_check() != GYRE_OK;

    if (dev->workers) {
        if (!forked)
            gyre_cpu_workers_end(dev, GYRE_CPU_STOPS);
        gyre_cpu_workers_stop(dev);
    }
    while (dev->streams) {
        gyre_dev_stream *stream = dev->streams;
        /* relaxed, both: nobody else is left */
        const uint64_t tail = atomic_load_explicit(&stream->tail, memory_order_relaxed);
        uint64_t done =
            gyre_cpu_done(atomic_load_explicit(&stream->express.stamp, memory_order_relaxed));

        /* what a worker was at when the process forked may be half given up */
        for (; !forked && done < tail; done++)
            gyre_cpu_slot_drop(gyre_cpu_slot_at(stream, done));
        dev->streams = stream->sibling;
        gyre_free(NULL, stream, 1, sizeof *stream);
    }
    while (dev->kept) {
        gyre_cpu_kept *kept = dev->kept;
        const gyre_memory *host = gyre_memory_host();

        dev->kept = kept->next;
        host->give(host, kept->block, kept->size, 1);
        gyre_free(NULL, kept, 1, sizeof *kept);
    }
    if (!forked)
        pthread_mutex_destroy(&dev->lock);
    gyre_free(NULL, dev, 1, sizeof *dev);
}

/* Frees abandoned devices whose workers have all ended. */
static void reap(void)
{
    gyre_dev *ended = NULL, **link = &abandoned;

    pthread_mutex_lock(&abandoned_lock);
    while (*link) {
        gyre_dev *dev = *link;

        /* acquire [cpu-alive]: pairs with the end of a worker, after which it touches nothing */
        if (atomic_load_explicit(&dev->alive, memory_order_acquire) > 0) {
            link = &dev->next_abandoned;
            continue;
        }
        *link = dev->next_abandoned;
        dev->next_abandoned = ended;
        ended = dev;
    }
    pthread_mutex_unlock(&abandoned_lock);
    while (ended) {
        gyre_dev *dev = ended;

        ended = dev->next_abandoned;
        destroy(dev);
    }
}

static gyre_status open_device(uint32_t index, const gyre_dev_options *options, gyre_dev **out_dev)
{
    gyre_status status = gyre_process_use();
    gyre_dev *dev;
    void *block;

    *out_dev = NULL;
    if (status != GYRE_OK)
        return status;
    if (index > 0)
        return gyre_fail(GYRE_INVALID, "there is no cpu:%u", index);
    if (options->adopt)
        return gyre_fail(GYRE_UNSUPPORTED, "the CPU has no context that could be adopted");
    if (options->workers == 0)
        return gyre_fail(GYRE_INVALID, "the CPU needs a worker");
    reap();
    status = gyre_alloc(NULL, 1, sizeof *dev, &block);
    if (status != GYRE_OK)
        return status;
    dev = block;
    pthread_mutex_init(&dev->lock, NULL);
    status = gyre_cpu_workers_start(dev, options->workers);
    if (status != GYRE_OK) {
        destroy(dev);
        return status;
    }
    *out_dev = dev;
    return GYRE_OK;
}

static void abandon(gyre_dev *dev)
{
    gyre_cpu_workers_end(dev, GYRE_CPU_ABANDONS);
}

static void close_device(gyre_dev *dev)
{
    if (gyre_process_check() != GYRE_OK) {
        destroy(dev); /* its workers are not here */
        return;
    }
    if (gyre_cpu_is_abandoned(dev)) {
        pthread_mutex_lock(&abandoned_lock);
        dev->next_abandoned = abandoned;
        abandoned = dev;
        pthread_mutex_unlock(&abandoned_lock);
    } else {
        destroy(dev);
    }
    reap();
}

static gyre_status take(gyre_dev *dev, gyre_dev_memory kind, size_t size, size_t alignment,
                        void **out_block)
{
    const gyre_memory *host = gyre_memory_host();
    const gyre_status status = gyre_process_use();

    (void)dev, (void)kind;
    *out_block = NULL;
    return status == GYRE_OK ? host->take(host, size, alignment, out_block) : status;
}

/* What hangs may still write to the block: it is given back when its device is freed. */
static void keep(gyre_dev *dev, void *block, size_t size)
{
    gyre_cpu_kept *kept;
    void *memory;

    if (gyre_alloc(NULL, 1, sizeof *kept, &memory) != GYRE_OK)
        return; /* then it never is */
    kept = memory;
    *kept = (gyre_cpu_kept){.block = block, .size = size};
    pthread_mutex_lock(&dev->lock);
    kept->next = dev->kept;
    dev->kept = kept;
    pthread_mutex_unlock(&dev->lock);
}

static void give(gyre_dev *dev, gyre_dev_memory kind, void *block, size_t size)
{
    const gyre_memory *host = gyre_memory_host();

    (void)kind;
    if (gyre_cpu_is_abandoned(dev))
        keep(dev, block, size);
    else
        host->give(host, block, size, 1); /* which it gives to free, however aligned */
}

static gyre_status module_open(gyre_dev *dev, const gyre_dev_code *code,
                               gyre_dev_module **out_module)
{
    gyre_status status = gyre_process_use();
    void *block;

    *out_module = NULL;
    if (status != GYRE_OK)
        return status;
    if (!code->functions)
        return gyre_fail(GYRE_UNSUPPORTED, "the CPU runs C functions, and no images");
    status = gyre_alloc(NULL, 1, sizeof **out_module, &block);
    if (status != GYRE_OK)
        return status;
    *out_module = block;
    (*out_module)->dev = dev;
    (*out_module)->functions = code->functions;
    return GYRE_OK;
}

static void module_close(gyre_dev_module *module)
{
    while (module->kernels) {
        gyre_dev_kernel *kernel = module->kernels;

        module->kernels = kernel->next;
        gyre_free(NULL, kernel, 1, sizeof *kernel);
    }
    gyre_free(NULL, module, 1, sizeof *module);
}

static gyre_status kernel_open(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                               gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel)
{
    const gyre_entry *entry = module->functions;
    gyre_dev_kernel *kernel;
    gyre_status status;
    void *block;

    *out_kernel = NULL;
    *out_facts = (gyre_dev_kernel_facts){0};
    while (entry->name && strcmp(entry->name, request->entry) != 0)
        entry++;
    if (!entry->name || !entry->function)
        return gyre_fail(GYRE_NOT_FOUND, "the program has no function '%s'", request->entry);
    if (request->parameters_bytes > GYRE_CPU_PARAMETERS_MOST)
        return gyre_fail(GYRE_INVALID, "'%s' has %u bytes of parameters; there may be %d",
                         request->entry, request->parameters_bytes, GYRE_CPU_PARAMETERS_MOST);
    status = gyre_alloc(NULL, 1, sizeof *kernel, &block);
    if (status != GYRE_OK)
        return status;
    kernel = block;
    kernel->function = entry->function;
    kernel->parameters_bytes = request->parameters_bytes;
    pthread_mutex_lock(&module->dev->lock);
    kernel->next = module->kernels;
    module->kernels = kernel;
    pthread_mutex_unlock(&module->dev->lock);
    *out_kernel = kernel;
    return GYRE_OK;
}

const gyre_backend gyre_backend_cpu = {
    .name = "cpu",
    .probe = gyre_cpu_probe,
    .describe = gyre_cpu_describe_device,
    .compiler = gyre_no_compiler,
    .look = gyre_cpu_look,
    .open = open_device,
    .abandon = abandon,
    .close = close_device,
    .native = gyre_no_native,
    .room = gyre_cpu_room,
    .take = take,
    .give = give,
    .window_open = gyre_no_window_open,
    .window_close = gyre_no_window_close,
    .compile = gyre_no_compile,
    .module_open = module_open,
    .module_close = module_close,
    .kernel_open = kernel_open,
    .residency = gyre_no_residency,
    .stream_open = gyre_cpu_stream_open,
    .stream_close = gyre_cpu_stream_close,
    .poll = gyre_cpu_poll,
    .launch = gyre_cpu_launch_submit,
    .copy = gyre_cpu_copy_submit,
    .fill = gyre_cpu_fill_submit,
    .words = gyre_cpu_words_submit,
    .event_open = gyre_cpu_event_open,
    .event_close = gyre_cpu_event_close,
    .event_record = gyre_cpu_event_record,
    .event_poll = gyre_cpu_event_poll,
    .event_wait = gyre_cpu_event_wait,
    .event_between = gyre_cpu_event_between,
    .graph_open = gyre_cpu_graph_open,
    .graph_close = gyre_cpu_graph_close,
    .graph_update = gyre_cpu_graph_update,
    .graph_submit = gyre_cpu_graph_submit,
};
