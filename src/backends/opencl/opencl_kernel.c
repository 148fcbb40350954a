/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_kernel: from an image to kernels, and their launches.
 *
 * A cl_kernel holds its arguments, and OpenCL lets only one thread set them: a lock of the kernel
 * is held from the first argument until the launch is enqueued, which captures them all.
 *
 * Some drivers (PoCL) compile again for each new size of a block, when it is first launched; no
 * call of OpenCL does that earlier.
 *
 * Threads   any.
 * Owns      a module its kernels.
 * Not here  compiling (opencl_program.c), the order of launches (opencl_stream.c).
 */
#include <string.h>

#include "backends/opencl/opencl.h"
#include "backends/opencl/opencl_image.h"
#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/fail.h"

struct gyre_dev_kernel {
    gyre_dev *dev;
    gyre_dev_kernel *next; /* of the module */
    cl_kernel *kernel;
    const gyre_dev_argument *arguments; /* borrowed */
    uint32_t argument_count;
    bool shared;          /* one of them is shared memory */
    pthread_mutex_t lock; /* for the driver's kernel, and */
    uint64_t seen;        /* the blocks that it was told of */
};

struct gyre_dev_module {
    gyre_dev *dev;
    cl_program *program;
    pthread_mutex_t lock; /* for */
    gyre_dev_kernel *kernels;
};

/* The parts of an image, if it is one of ours and sound. */
static gyre_status read_image(const gyre_dev_code *code, const char **out_options,
                              const unsigned char **out_binary, size_t *out_bytes)
{
    const unsigned char *const bytes = code->image;
    gyre_cl_image head;
    size_t rest;

    if (code->image_bytes < sizeof head)
        return gyre_fail(GYRE_CORRUPT, "an image of %zu bytes is none", code->image_bytes);
    memcpy(&head, bytes, sizeof head);
    rest = code->image_bytes - sizeof head;
    if (memcmp(head.magic, GYRE_CL_IMAGE_MAGIC, sizeof head.magic) != 0)
        return gyre_fail(GYRE_CORRUPT, "the image is not one of this backend's");
    if (head.options_bytes == 0 || head.options_bytes > rest || head.binary_bytes == 0 ||
        head.binary_bytes != rest - head.options_bytes)
        return gyre_fail(GYRE_CORRUPT, "the image has %zu bytes after its head, not %u and %llu",
                         rest, head.options_bytes, (unsigned long long)head.binary_bytes);
    if (gyre_crc32c(bytes + sizeof head, rest, 0) != head.checksum ||
        bytes[sizeof head + head.options_bytes - 1] != '\0')
        return gyre_fail(GYRE_CORRUPT, "the image is not what was compiled: wrong checksum");
    *out_options = (const char *)bytes + sizeof head;
    *out_binary = bytes + sizeof head + head.options_bytes;
    *out_bytes = head.binary_bytes;
    return GYRE_OK;
}

gyre_status gyre_cl_module_open(gyre_dev *dev, const gyre_dev_code *code,
                                gyre_dev_module **out_module)
{
    int32_t result = CL_SUCCESS, of_binary = CL_SUCCESS;
    const unsigned char *binary = NULL;
    const char *options = NULL;
    gyre_dev_module *module;
    gyre_status status;
    size_t bytes = 0;
    void *block;

    *out_module = NULL;
    if (!code->image)
        return gyre_fail(GYRE_UNSUPPORTED, "OpenCL runs no C functions");
    status = read_image(code, &options, &binary, &bytes);
    if (status == GYRE_OK)
        status = gyre_alloc(NULL, 1, sizeof *module, &block);
    if (status != GYRE_OK)
        return status;
    module = block;
    module->dev = dev;
    pthread_mutex_init(&module->lock, NULL);
    module->program = gyre_cl.clCreateProgramWithBinary(dev->context, 1, &dev->found->id, &bytes,
                                                        &binary, &of_binary, &result);
    if (result == CL_SUCCESS && of_binary == CL_SUCCESS)
        result = gyre_cl.clBuildProgram(module->program, 1, &dev->found->id, options, NULL, NULL);
    if (result == CL_SUCCESS && of_binary == CL_SUCCESS) {
        *out_module = module;
        return GYRE_OK;
    }
    if (result == CL_SUCCESS)
        result = of_binary;
    status = gyre_cl_check(result, "an image");
    if (status == GYRE_BUILD || status == GYRE_INTERNAL)
        status =
            gyre_fail_native(GYRE_CORRUPT, result, "the driver does not take the image: %s (%d)",
                             gyre_cl_name(result), (int)result);
    gyre_cl_module_close(module);
    return status;
}

static void kernel_close(gyre_dev_kernel *kernel)
{
    if (kernel->kernel && !gyre_cl_abandoned(kernel->dev))
        gyre_cl.clReleaseKernel(kernel->kernel);
    pthread_mutex_destroy(&kernel->lock);
    gyre_free(NULL, kernel, 1, sizeof *kernel);
}

void gyre_cl_module_close(gyre_dev_module *module)
{
    if (!module)
        return;
    while (module->kernels) {
        gyre_dev_kernel *const kernel = module->kernels;

        module->kernels = kernel->next;
        kernel_close(kernel);
    }
    /* a driver that unloads code may wait until nothing runs on the device */
    if (module->program && !gyre_cl_abandoned(module->dev))
        gyre_cl.clReleaseProgram(module->program);
    pthread_mutex_destroy(&module->lock);
    gyre_free(NULL, module, 1, sizeof *module);
}

static const char *kind_of(const gyre_dev_argument *argument)
{
    return argument->pointer ? "a pointer" : argument->size == 0 ? "shared memory" : "a value";
}

/* What the driver knows of argument `i`, if it tells, against what is asked for. */
static gyre_status check_argument(const gyre_dev_kernel *kernel, uint32_t i, const char *entry)
{
    static const uint64_t zeros[64];
    const gyre_dev_argument *const a = &kernel->arguments[i];
    uint32_t space = 0;
    int32_t code;

    if (gyre_cl.clGetKernelArgInfo(kernel->kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space,
                                   &space, NULL) == CL_SUCCESS) {
        const bool pointer =
            space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
        const bool local = space == CL_KERNEL_ARG_ADDRESS_LOCAL;

        if (pointer != a->pointer || local != (!a->pointer && a->size == 0))
            return gyre_fail(GYRE_INVALID, "argument %u of '%s' is %s, and the signature says %s",
                             i, entry,
                             pointer ? "a pointer"
                             : local ? "shared memory"
                                     : "a value",
                             kind_of(a));
    }
    if (a->pointer || a->size == 0 || a->size > sizeof zeros)
        return GYRE_OK;
    code = gyre_cl.clSetKernelArg(kernel->kernel, i, a->size, zeros);
    if (code == CL_INVALID_ARG_SIZE || code == CL_INVALID_ARG_VALUE)
        return gyre_fail_native(GYRE_INVALID, code,
                                "argument %u of '%s' has not the signature's %u bytes", i, entry,
                                a->size);
    return gyre_cl_check(code, "clSetKernelArg");
}

static gyre_status check_arguments(const gyre_dev_kernel *kernel, const char *entry)
{
    uint32_t count = 0;
    gyre_status status;

    status = gyre_cl_check(
        gyre_cl.clGetKernelInfo(kernel->kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL),
        "clGetKernelInfo");
    if (status == GYRE_OK && count != kernel->argument_count)
        status = gyre_fail(GYRE_INVALID, "'%s' has %u arguments, and the signature %u", entry,
                           count, kernel->argument_count);
    for (uint32_t i = 0; status == GYRE_OK && i < count; i++)
        status = check_argument(kernel, i, entry);
    return status;
}

static uint32_t fact(const gyre_dev_kernel *kernel, uint32_t what)
{
    uint64_t value = 0; /* of a size_t or a ulong, which are the same here */

    _Static_assert(sizeof(size_t) == sizeof value, "a size_t is asked for as 8 bytes");
    if (gyre_cl.clGetKernelWorkGroupInfo(kernel->kernel, kernel->dev->found->id, what, sizeof value,
                                         &value, NULL) != CL_SUCCESS)
        return 0;
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

gyre_status gyre_cl_kernel_open(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                                gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel)
{
    int32_t code = CL_SUCCESS;
    gyre_dev_kernel *kernel;
    gyre_status status;
    void *block;

    *out_kernel = NULL;
    memset(out_facts, 0, sizeof *out_facts);
    status = gyre_alloc(NULL, 1, sizeof *kernel, &block);
    if (status != GYRE_OK)
        return status;
    kernel = block;
    kernel->dev = module->dev;
    kernel->arguments = request->arguments;
    kernel->argument_count = request->argument_count;
    pthread_mutex_init(&kernel->lock, NULL);
    for (uint32_t i = 0; i < request->argument_count; i++)
        kernel->shared =
            kernel->shared || (!request->arguments[i].pointer && request->arguments[i].size == 0);
    kernel->kernel = gyre_cl.clCreateKernel(module->program, request->entry, &code);
    if (code == CL_INVALID_KERNEL_NAME)
        status =
            gyre_fail_native(GYRE_NOT_FOUND, code, "the program has no entry '%s'", request->entry);
    else
        status = gyre_cl_check(code, "clCreateKernel");
    if (status == GYRE_OK)
        status = check_arguments(kernel, request->entry);
    if (status != GYRE_OK)
        goto fail;
    out_facts->block_threads_most = fact(kernel, CL_KERNEL_WORK_GROUP_SIZE);
    out_facts->shared_bytes = fact(kernel, CL_KERNEL_LOCAL_MEM_SIZE);
    out_facts->local_bytes = fact(kernel, CL_KERNEL_PRIVATE_MEM_SIZE);
    pthread_mutex_lock(&module->lock);
    kernel->next = module->kernels;
    module->kernels = kernel;
    pthread_mutex_unlock(&module->lock);
    *out_kernel = kernel;
    return GYRE_OK;
fail:
    kernel_close(kernel);
    return status;
}

/* Sets all arguments; under the kernel's lock. */
static gyre_status set_arguments(const gyre_dev_kernel *kernel, const gyre_dev_launch *launch)
{
    enum { SHARED_LEAST = 16 }; /* a __local pointer to nothing is refused */
    int32_t code = CL_SUCCESS;

    for (uint32_t i = 0; code == CL_SUCCESS && i < kernel->argument_count; i++) {
        const gyre_dev_argument *const a = &kernel->arguments[i];
        const char *const at = (const char *)launch->parameters + a->offset;
        void *address = NULL;

        if (a->pointer)
            memcpy(&address, at, sizeof address);
        if (a->pointer && address)
            code = gyre_cl.clSetKernelArgSVMPointer(kernel->kernel, i, address);
        else if (a->pointer) /* no address, which is not a shared one */
            code = gyre_cl.clSetKernelArg(kernel->kernel, i, sizeof address, NULL);
        else if (a->size == 0)
            code = gyre_cl.clSetKernelArg(
                kernel->kernel, i, launch->shared_bytes ? launch->shared_bytes : SHARED_LEAST,
                NULL);
        else
            code = gyre_cl.clSetKernelArg(kernel->kernel, i, a->size, at);
    }
    return gyre_cl_check(code, "clSetKernelArg");
}

gyre_status gyre_cl_kernel_submit(gyre_dev_stream *stream, const gyre_dev_launch *launch,
                                  cl_event *wait)
{
    gyre_dev_kernel *const kernel = launch->kernel;
    gyre_dev *const dev = kernel->dev;
    size_t threads[3], block[3];
    cl_event *event = NULL;
    gyre_status status;

    if (launch->shared_bytes > 0 && !kernel->shared)
        return gyre_fail(GYRE_INVALID,
                         "%u bytes of shared memory for a kernel whose signature has no `shared`",
                         launch->shared_bytes);
    for (int i = 0; i < 3; i++) {
        block[i] = launch->block[i];
        threads[i] = (size_t)launch->grid[i] * launch->block[i];
    }
    pthread_mutex_lock(&kernel->lock);
    status = set_arguments(kernel, launch);
    if (dev->declares)
        pthread_mutex_lock(&dev->lock);
    if (status == GYRE_OK && dev->declares)
        status = gyre_cl_declare(dev, kernel->kernel, &kernel->seen);
    if (status == GYRE_OK)
        status = gyre_cl_check(gyre_cl.clEnqueueNDRangeKernel(stream->queue, kernel->kernel, 3,
                                                              NULL, threads, block, wait ? 1 : 0,
                                                              wait ? &wait : NULL, &event),
                               "clEnqueueNDRangeKernel");
    if (status == GYRE_OK) /* before another thread can free a block that the kernel knows */
        gyre_cl_stream_replace(stream, event);
    if (dev->declares)
        pthread_mutex_unlock(&dev->lock);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
