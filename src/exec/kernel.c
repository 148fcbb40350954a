/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel: one entry of a loaded program, and what a launch of it may look like.
 *
 * Threads   any; constant once created. Edge: [kernel-last].
 * Owns      the module, which owns the entries.
 * Not here  finding or compiling the code (dev/load.c).
 */
#include "exec/kernel.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/lasting.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "dev/build_log.h"
#include "dev/load.h"
#include "exec/context.h"

enum { NAME_MOST = 255 };

struct gyre_kernel {
    gyre_context *context;
    gyre_dev_kernel *native;
    gyre_dev_kernel *many; /* NULL: there is none */
    gyre_loaded loaded;
    gyre_signature signature;
    gyre_signature many_signature;
    gyre_dev_kernel_facts facts, many_facts;
    _Atomic uint32_t holders;
    const char *name; /* lasting */
};

static void free_kernel(gyre_kernel *kernel)
{
    gyre_context *const context = kernel->context;

    if (kernel->loaded.module && gyre_process_check() == GYRE_OK) {
        gyre_context_leave(context);
        context->backend->module_close(kernel->loaded.module);
    }
    gyre_free(gyre_allocator_kept(&context->allocator), kernel, 1, sizeof *kernel);
}

static gyre_status open_entry(gyre_kernel *kernel, const char *entry,
                              const gyre_signature *signature, gyre_dev_kernel_facts *out_facts,
                              gyre_dev_kernel **out_native)
{
    const gyre_dev_kernel_request request = {.entry = entry,
                                             .arguments = signature->arguments,
                                             .argument_count = signature->count,
                                             .parameters_bytes = signature->bytes};

    return kernel->context->backend->kernel_open(kernel->loaded.module, &request, out_facts,
                                                 out_native);
}

static gyre_status open_kernel(gyre_kernel *kernel, const gyre_program *program,
                               const gyre_kernel_options *options)
{
    const gyre_context *const context = kernel->context;
    const char *const entries[] = {kernel->name, options->many, NULL};
    gyre_status status = gyre_load(context->device, context->dev, program, entries,
                                   options->no_cache, &kernel->loaded);

    if (status == GYRE_OK)
        status =
            open_entry(kernel, kernel->name, &kernel->signature, &kernel->facts, &kernel->native);
    if (status == GYRE_OK && options->many)
        status = gyre_signature_parse("pointer u32", &kernel->many_signature);
    if (status == GYRE_OK && options->many)
        status = open_entry(kernel, options->many, &kernel->many_signature, &kernel->many_facts,
                            &kernel->many);
    return status;
}

gyre_status gyre_kernel_create(gyre_context *context, const gyre_program *program,
                               const char *entry, const char *signature,
                               const gyre_kernel_options *options, gyre_kernel **out_kernel)
{
    gyre_kernel_options o;
    gyre_kernel *kernel;
    void *memory = NULL;
    gyre_status status = gyre_context_usable(context);

    *out_kernel = NULL;
    if (status == GYRE_OK)
        status = GYRE_OPTIONS_READ(o, options);
    if (status != GYRE_OK)
        return status;
    if (!program || !entry || !signature)
        return gyre_fail(GYRE_INVALID, "a kernel needs a program, an entry and a signature");
    if (*entry == '\0' || strlen(entry) > NAME_MOST)
        return gyre_fail(GYRE_INVALID, "an entry's name has 1 to %d bytes", NAME_MOST);
    status = gyre_alloc(gyre_allocator_kept(&context->allocator), 1, sizeof *kernel, &memory);
    if (status != GYRE_OK)
        return status;
    kernel = memory;
    kernel->context = context;
    atomic_store_explicit(&kernel->holders, 1, memory_order_relaxed);
    kernel->name = gyre_lasting(entry);
    status = gyre_signature_parse(signature, &kernel->signature);
    if (status == GYRE_OK)
        status = open_kernel(kernel, program, &o);
    if (status != GYRE_OK) {
        status = gyre_context_heard(context, status);
        free_kernel(kernel);
        return status;
    }
    gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_DEVICE, "%s: kernel '%s' loaded%s", context->name, entry,
             kernel->loaded.from_cache ? " from the cache"
             : kernel->loaded.build_ns ? " after compiling"
                                       : "");
    atomic_fetch_add_explicit(&context->objects, 1, memory_order_relaxed);
    *out_kernel = kernel;
    return GYRE_OK;
}

const char *gyre_kernel_build_log(void)
{
    return gyre_build_log();
}

gyre_context *gyre_kernel_context(const gyre_kernel *kernel)
{
    return kernel->context;
}

const char *gyre_kernel_name(const gyre_kernel *kernel)
{
    return kernel->name;
}

const gyre_signature *gyre_kernel_signature(const gyre_kernel *kernel)
{
    return &kernel->signature;
}

gyre_dev_kernel *gyre_kernel_many(const gyre_kernel *kernel, const gyre_dev_launch *launch)
{
    const gyre_dev_kernel_facts *const facts = &kernel->many_facts;
    const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t shared_bytes = (uint64_t)launch->shared_bytes + facts->shared_bytes;

    if ((facts->block_threads_most && threads > facts->block_threads_most) ||
        shared_bytes > kernel->context->device->shared_bytes_most)
        return NULL;
    return kernel->many;
}

static gyre_status check_shape(const gyre_kernel *kernel, const gyre_dev_launch *launch)
{
    const gyre_device *const device = kernel->context->device;
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const uint32_t most = kernel->facts.block_threads_most ? kernel->facts.block_threads_most
                                                           : device->block_threads_most;

    for (int i = 0; i < 3; i++) {
        if (launch->block[i] > device->block_most[i])
            return gyre_fail(GYRE_INVALID, "'%s': a block of %u threads in dimension %d; %s has %u",
                             kernel->name, launch->block[i], i, device->name,
                             device->block_most[i]);
        if (launch->grid[i] > device->grid_most[i])
            return gyre_fail(GYRE_INVALID, "'%s': a grid of %u blocks in dimension %d; %s has %u",
                             kernel->name, launch->grid[i], i, device->name, device->grid_most[i]);
    }
    if (threads > most)
        return gyre_fail(GYRE_INVALID, "'%s': blocks of %llu threads; %u is the most on %s",
                         kernel->name, (unsigned long long)threads, most, device->name);
    if (launch->shared_bytes > device->shared_bytes_most ||
        launch->shared_bytes > device->shared_bytes_most - kernel->facts.shared_bytes)
        return gyre_fail(GYRE_INVALID, "'%s': %u bytes of shared memory beside its %u; %s has %u",
                         kernel->name, launch->shared_bytes, kernel->facts.shared_bytes,
                         device->name, device->shared_bytes_most);
    if (launch->cooperative && !gyre_device_has(device, GYRE_FEATURE_COOPERATIVE))
        return gyre_fail(GYRE_UNSUPPORTED, "'%s': %s has no cooperative launches", kernel->name,
                         device->name);
    return GYRE_OK;
}

static gyre_status check_residency(const gyre_kernel *kernel, const gyre_dev_launch *launch)
{
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint32_t most;
    gyre_status status =
        gyre_kernel_residency(kernel, launch->block[0] * launch->block[1] * launch->block[2],
                              launch->shared_bytes, &most);

    if (status == GYRE_UNSUPPORTED)
        return GYRE_OK; /* the driver will say */
    if (status == GYRE_OK && blocks > most)
        status = gyre_fail(GYRE_INVALID,
                           "'%s': a cooperative grid of %llu blocks, of which %u are resident",
                           kernel->name, (unsigned long long)blocks, most);
    return status;
}

gyre_status gyre_kernel_ready(gyre_kernel *kernel, const gyre_launch *launch,
                              gyre_launch_room *room, gyre_dev_launch *out_ready)
{
    const gyre_signature *const signature = &kernel->signature;
    gyre_status status;

    /* into place, member by member: every launch waits for this */
    out_ready->kernel = kernel->native;
    out_ready->shared_bytes = launch->shared_bytes;
    out_ready->cooperative = launch->cooperative;
    out_ready->parameters = launch->parameters;
    for (int i = 0; i < 3; i++) {
        out_ready->grid[i] = launch->grid[i] ? launch->grid[i] : 1;
        out_ready->block[i] = launch->block[i] ? launch->block[i] : 1;
    }
    if (launch->parameters_size != signature->bytes &&
        launch->parameters_size != signature->padded_bytes)
        return gyre_fail(GYRE_INVALID, "'%s': %zu bytes of parameters; its signature has %u",
                         kernel->name, launch->parameters_size, signature->bytes);
    if (signature->bytes > 0 && !launch->parameters)
        return gyre_fail(GYRE_INVALID, "'%s': parameters at NULL", kernel->name);
    status = check_shape(kernel, out_ready);
    if (status == GYRE_OK && launch->cooperative)
        status = check_residency(kernel, out_ready);
    if (status == GYRE_OK && signature->bytes > 0 && (uintptr_t)launch->parameters % 16 != 0) {
        memcpy(room->bytes, launch->parameters, signature->bytes);
        out_ready->parameters = room->bytes;
    }
    return status;
}

gyre_status gyre_kernel_describe(const gyre_kernel *kernel, gyre_kernel_facts *out_facts)
{
    const size_t size = out_facts->struct_size;
    const gyre_kernel_facts facts = {
        .struct_size = size,
        .name = kernel->name,
        .parameters_bytes = kernel->signature.bytes,
        .argument_count = kernel->signature.count,
        .block_threads_most = kernel->facts.block_threads_most,
        .registers = kernel->facts.registers,
        .shared_bytes = kernel->facts.shared_bytes,
        .local_bytes = kernel->facts.local_bytes,
        .from_cache = kernel->loaded.from_cache,
        .build_ns = kernel->loaded.build_ns,
        .image_bytes = kernel->loaded.image_bytes,
    };

    if (size < sizeof size)
        return gyre_fail(GYRE_INVALID, "facts without struct_size");
    memcpy(out_facts, &facts, size < sizeof facts ? size : sizeof facts);
    return GYRE_OK;
}

gyre_status gyre_kernel_residency(const gyre_kernel *kernel, uint32_t block_threads,
                                  uint32_t shared_bytes, uint32_t *out_blocks)
{
    gyre_context *const context = kernel->context;
    const gyre_device *const device = context->device;
    uint32_t on_unit = 0;
    gyre_status status = gyre_context_usable(context);

    *out_blocks = 0;
    if (status != GYRE_OK)
        return status;
    if (!gyre_device_has(device, GYRE_FEATURE_RESIDENCY))
        return gyre_fail(GYRE_UNSUPPORTED, "%s does not know how many blocks are resident",
                         device->name);
    if (block_threads == 0 || block_threads > device->block_threads_most ||
        shared_bytes > device->shared_bytes_most)
        return gyre_fail(GYRE_INVALID, "blocks of %u threads with %u bytes of shared memory",
                         block_threads, shared_bytes);
    status = context->backend->residency(kernel->native, block_threads, shared_bytes, &on_unit);
    if (status == GYRE_OK)
        *out_blocks = on_unit * device->units;
    return gyre_context_heard(context, status);
}

gyre_kernel *gyre_kernel_retain(gyre_kernel *kernel)
{
    if (kernel) /* relaxed: the caller holds it */
        atomic_fetch_add_explicit(&kernel->holders, 1, memory_order_relaxed);
    return kernel;
}

void gyre_kernel_release(gyre_kernel *kernel)
{
    gyre_context *context;

    /* acq_rel [kernel-last]: the last one sees what the others did with it before they left */
    if (!kernel || atomic_fetch_sub_explicit(&kernel->holders, 1, memory_order_acq_rel) != 1)
        return;
    context = kernel->context;
    free_kernel(kernel);
    atomic_fetch_sub_explicit(&context->objects, 1, memory_order_relaxed);
}
