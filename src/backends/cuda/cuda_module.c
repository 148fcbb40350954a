/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_module: loaded code and its kernels.
 *
 * Images are copied with a zero behind them before the driver sees them: it takes PTX as a string.
 * It takes no size at all, so an image that is cut short is refused here, as far as its own head
 * tells; one that lies about what is inside can still crash the driver, so images from strangers
 * belong in a process of their own.
 *
 * Kernels are loaded for good and allowed all the shared memory there is, with their module if it
 * is known which they will be, or when they are opened: the first launch of one that is not waits
 * for whatever is resident.
 *
 * Threads   any; the kernels of a module are under its mutex.
 * Owns      the driver's module, and the kernels.
 * Not here  compiling (cuda_nvrtc.c), launching (cuda_work.c).
 */
#include <stdio.h>
#include <string.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_later.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/lasting.h"
#include "dev/build_log.h"
#include "dev/resident.h"

enum { LOG_BYTES = 8192, READY = 2 };

/* A function that was loaded with its module. */
typedef struct ready {
    const char *entry; /* lasting; NULL: none */
    gyre_cu_function *function;
} ready;

struct gyre_dev_module {
    gyre_dev *dev;
    gyre_cu_module *module;
    ready ready[READY];
    pthread_mutex_t mutex;
    gyre_dev_kernel *kernels;
};

static uint64_t number(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

/* Whether `count` entries of `entry` bytes from `offset` on are inside. */
static bool inside(size_t size, uint64_t offset, uint64_t entry, uint64_t count)
{
    return count == 0 || (offset <= size && entry * count <= size - offset);
}

gyre_status gyre_cuda_image_check(const void *image, size_t size)
{
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    static const unsigned char fat[4] = {0x50, 0xed, 0x55, 0xba};
    const unsigned char *bytes = image;
    bool whole = true;

    if (size < 4)
        return gyre_fail(GYRE_CORRUPT, "an image of %zu bytes", size);
    if (memcmp(bytes, elf, sizeof elf) == 0)
        whole = size >= 64 && bytes[4] == 2 && /* of 64 bits: its two tables */
                inside(size, number(bytes + 32, 8), number(bytes + 54, 2), number(bytes + 56, 2)) &&
                inside(size, number(bytes + 40, 8), number(bytes + 58, 2), number(bytes + 60, 2));
    else if (memcmp(bytes, fat, sizeof fat) == 0)
        whole = size >= 16 && inside(size, number(bytes + 6, 2), 1, number(bytes + 8, 8));
    if (!whole)
        return gyre_fail(GYRE_CORRUPT, "an image of %zu bytes that is cut short", size);
    return GYRE_OK;
}

/* A number in the place of a pointer, as the driver wants its options. */
static void *as_pointer(size_t value)
{
    void *pointer;

    memcpy(&pointer, &value, sizeof pointer);
    return pointer;
}

static uint32_t fact(gyre_dev *dev, gyre_cu_function *function, int attribute)
{
    int value = 0;
    const int result = dev->cu->cuFuncGetAttribute(&value, attribute, function);

    gyre_cuda_note(dev, result);
    return result == GYRE_CU_SUCCESS && value > 0 ? (uint32_t)value : 0;
}

/* A function is loaded with the first call that names it. That seems to go well beside a kernel
 * that stays, but then the first launch waits until that one ends. So nobody is resident here, and
 * the context is current. */
static gyre_status load_function(gyre_dev_module *module, const char *entry,
                                 gyre_cu_function **out_function)
{
    gyre_dev *dev = module->dev;
    const gyre_cu_api *cu = dev->cu;
    gyre_cu_function *function = NULL;
    int result = cu->cuModuleGetFunction(&function, module->module, entry);
    uint32_t shared_bytes;

    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuModuleGetFunction of '%.64s'", entry);
    if (cu->cuFuncLoad) {
        result = cu->cuFuncLoad(function);
        if (result != GYRE_CU_SUCCESS)
            return gyre_cuda_fail(dev, result, "cuFuncLoad of '%.64s'", entry);
    }
    shared_bytes = fact(dev, function, GYRE_CU_FUNCTION_SHARED);
    if (shared_bytes < (uint32_t)dev->shared_most) {
        result = cu->cuFuncSetAttribute(function, GYRE_CU_FUNCTION_DYNAMIC,
                                        dev->shared_most - (int)shared_bytes);
        if (result != GYRE_CU_SUCCESS)
            return gyre_cuda_fail(dev, result, "cuFuncSetAttribute: %d bytes of shared memory",
                                  dev->shared_most - (int)shared_bytes);
    }
    *out_function = function;
    return GYRE_OK;
}

/* Those that will be opened, while nobody is resident. What fails does so again then. */
static void load_functions(gyre_dev_module *module, const char *const *entries)
{
    uint32_t count = 0;

    for (; entries && *entries && count < READY; entries++) {
        ready *const r = &module->ready[count];

        if (load_function(module, *entries, &r->function) == GYRE_OK) {
            r->entry = gyre_lasting(*entries);
            count++;
        }
    }
}

static gyre_status load(gyre_dev_module *module, const char *image, const char *const *entries)
{
    gyre_dev *dev = module->dev;
    int options[] = {GYRE_CU_JIT_ERROR_LOG, GYRE_CU_JIT_ERROR_LOG_BYTES};
    void *values[2];
    char log[LOG_BYTES] = "";
    gyre_status status;
    bool pushed;
    int result;

    values[0] = log;
    values[1] = as_pointer(sizeof log - 1);
    /* loading waits for every kernel on the device to end */
    status = gyre_residents_suspend("cuda", dev->index);
    if (status != GYRE_OK)
        return status;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK) {
        gyre_residents_restore();
        return status;
    }
    gyre_cuda_catch_up(dev);
    result = dev->cu->cuModuleLoadDataEx(&module->module, image, 2, options, values);
    if (result == GYRE_CU_SUCCESS)
        load_functions(module, entries);
    gyre_cuda_leave(dev, pushed);
    gyre_residents_restore();
    if (result == GYRE_CU_SUCCESS)
        return GYRE_OK;
    module->module = NULL;
    log[sizeof log - 1] = '\0';
    if (log[0])
        gyre_build_log_set(log, strlen(log));
    if (result == GYRE_CU_NO_BINARY_FOR_GPU)
        return gyre_cuda_fail(dev, result, "cuModuleLoadData: there is no code for sm_%d in it",
                              dev->architecture);
    if (result == GYRE_CU_PTX_VERSION)
        return gyre_cuda_fail(dev, result, "cuModuleLoadData: PTX that is newer than the driver");
    return gyre_cuda_fail(dev, result, "cuModuleLoadData: %.100s", log);
}

gyre_status gyre_cuda_module_open(gyre_dev *dev, const gyre_dev_code *code,
                                  gyre_dev_module **out_module)
{
    gyre_dev_module *module;
    gyre_status status;
    size_t copied;
    void *block, *image;

    *out_module = NULL;
    if (!code->image)
        return gyre_fail(GYRE_UNSUPPORTED, "a GPU does not run C functions of this program");
    status = gyre_cuda_image_check(code->image, code->image_bytes);
    if (status != GYRE_OK)
        return status;
    if (!gyre_size_add(code->image_bytes, 1, &copied))
        return gyre_fail(GYRE_NO_MEMORY, "an image of %zu bytes", code->image_bytes);
    status = gyre_alloc(NULL, copied, 1, &image);
    if (status != GYRE_OK)
        return status;
    memcpy(image, code->image, code->image_bytes);
    status = gyre_alloc(NULL, 1, sizeof *module, &block);
    if (status == GYRE_OK) {
        module = block;
        module->dev = dev;
        pthread_mutex_init(&module->mutex, NULL);
        status = load(module, image, code->entries);
        if (status == GYRE_OK)
            *out_module = module;
        else
            gyre_cuda_module_close(module);
    }
    gyre_free(NULL, image, copied, 1);
    return status;
}

void gyre_cuda_module_close(gyre_dev_module *module)
{
    gyre_dev *dev = module->dev;

    if (module->module && !gyre_cuda_quiet(dev))
        gyre_cuda_later(dev, GYRE_CUDA_UNLOAD, module->module);
    while (module->kernels) {
        gyre_dev_kernel *kernel = module->kernels;

        module->kernels = kernel->next;
        gyre_free(NULL, kernel, 1, sizeof *kernel);
    }
    pthread_mutex_destroy(&module->mutex);
    gyre_free(NULL, module, 1, sizeof *module);
}

/* Compares the declared arguments with what the driver knows, if it tells. */
static gyre_status check_arguments(gyre_dev *dev, gyre_cu_function *function,
                                   const gyre_dev_kernel_request *request)
{
    uint32_t index = 0;
    size_t offset, size;
    int result;

    if (!dev->cu->cuFuncGetParamInfo)
        return GYRE_OK;
    for (uint32_t i = 0; i < request->argument_count; i++) {
        const gyre_dev_argument *argument = &request->arguments[i];

        if (argument->size == 0)
            continue;
        result = dev->cu->cuFuncGetParamInfo(function, index, &offset, &size);
        if (result == GYRE_CU_INVALID_VALUE)
            return gyre_fail(GYRE_INVALID, "kernel '%s' has %u arguments, and more are declared",
                             request->entry, index);
        if (result != GYRE_CU_SUCCESS)
            return gyre_cuda_fail(dev, result, "cuFuncGetParamInfo of '%s'", request->entry);
        if (offset != argument->offset || size != argument->size)
            return gyre_fail(GYRE_INVALID,
                             "argument %u of kernel '%s' has %zu bytes at %zu, and %u at %u are "
                             "declared",
                             index, request->entry, size, offset, argument->size, argument->offset);
        index++;
    }
    result = dev->cu->cuFuncGetParamInfo(function, index, &offset, &size);
    if (result == GYRE_CU_SUCCESS)
        return gyre_fail(GYRE_INVALID, "kernel '%s' has more than the %u arguments declared",
                         request->entry, index);
    return GYRE_OK;
}

/* The function of an entry: loaded already, or now, with nobody resident. */
static gyre_status find(gyre_dev_module *module, const char *entry, gyre_cu_function **out_function)
{
    gyre_dev *dev = module->dev;
    gyre_status status;
    bool pushed;

    for (uint32_t i = 0; i < READY; i++)
        if (module->ready[i].entry && strcmp(module->ready[i].entry, entry) == 0) {
            *out_function = module->ready[i].function;
            return GYRE_OK;
        }
    status = gyre_residents_suspend("cuda", dev->index);
    if (status != GYRE_OK)
        return status;
    status = gyre_cuda_enter(dev, &pushed);
    if (status == GYRE_OK) {
        status = load_function(module, entry, out_function);
        gyre_cuda_leave(dev, pushed);
    }
    gyre_residents_restore();
    return status;
}

static gyre_status describe(gyre_dev *dev, gyre_cu_function *function,
                            const gyre_dev_kernel_request *request,
                            gyre_dev_kernel_facts *out_facts)
{
    bool pushed;
    gyre_status status = gyre_cuda_enter(dev, &pushed);

    if (status != GYRE_OK)
        return status;
    status = check_arguments(dev, function, request);
    if (status == GYRE_OK) {
        out_facts->block_threads_most = fact(dev, function, GYRE_CU_FUNCTION_THREADS);
        out_facts->registers = fact(dev, function, GYRE_CU_FUNCTION_REGISTERS);
        out_facts->shared_bytes = fact(dev, function, GYRE_CU_FUNCTION_SHARED);
        out_facts->local_bytes = fact(dev, function, GYRE_CU_FUNCTION_LOCAL);
    }
    gyre_cuda_leave(dev, pushed);
    return status;
}

gyre_status gyre_cuda_kernel_open(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                                  gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel)
{
    gyre_dev *dev = module->dev;
    gyre_dev_kernel *kernel;
    gyre_status status;
    void *block;

    *out_kernel = NULL;
    *out_facts = (gyre_dev_kernel_facts){0};
    status = gyre_alloc(NULL, 1, sizeof *kernel, &block);
    if (status != GYRE_OK)
        return status;
    kernel = block;
    kernel->dev = dev;
    kernel->arguments = request->arguments;
    kernel->argument_count = request->argument_count;
    status = find(module, request->entry, &kernel->function);
    if (status == GYRE_OK)
        status = describe(dev, kernel->function, request, out_facts);
    if (status != GYRE_OK) {
        gyre_free(NULL, kernel, 1, sizeof *kernel);
        return status;
    }
    pthread_mutex_lock(&module->mutex);
    kernel->next = module->kernels;
    module->kernels = kernel;
    pthread_mutex_unlock(&module->mutex);
    *out_kernel = kernel;
    return GYRE_OK;
}

gyre_status gyre_cuda_residency(gyre_dev_kernel *kernel, uint32_t block_threads,
                                uint32_t shared_bytes, uint32_t *out_blocks)
{
    gyre_dev *dev = kernel->dev;
    gyre_status status;
    int blocks = 0;
    bool pushed;
    int result;

    *out_blocks = 0;
    status = gyre_cuda_enter(dev, &pushed);
    if (status != GYRE_OK)
        return status;
    result = dev->cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel->function,
                                                                  (int)block_threads, shared_bytes);
    gyre_cuda_leave(dev, pushed);
    if (result != GYRE_CU_SUCCESS)
        return gyre_cuda_fail(dev, result, "cuOccupancy of %u threads and %u bytes", block_threads,
                              shared_bytes);
    *out_blocks = blocks > 0 ? (uint32_t)blocks : 0;
    return GYRE_OK;
}

gyre_status gyre_cuda_compiler(uint32_t index, char *text, size_t text_size)
{
    (void)index;
    return gyre_cuda_nvrtc_name(text, text_size);
}

gyre_status gyre_cuda_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                              size_t *out_size)
{
    return gyre_cuda_nvrtc_compile(dev->architecture, source, out_image, out_size);
}
