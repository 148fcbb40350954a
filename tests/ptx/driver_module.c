/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_module: modules, which are PTX, alone or in a fatbin, and their functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static uint64_t number(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

/* The first PTX of a fatbin that is not compressed, as a string of its own; NULL: none. */
static char *ptx_in_fatbin(const uint8_t *image)
{
    enum { KIND_PTX = 1, HEAD_BYTES = 4, BYTES = 8, FLAGS = 40, COMPRESSED = 0xa000 };
    const uint8_t *at = image + number(image + 6, 2);
    const uint8_t *const end = at + number(image + 8, 8);

    while (at < end) {
        const uint64_t bytes = number(at + BYTES, 8), head = number(at + HEAD_BYTES, 4);

        if (number(at, 2) == KIND_PTX && !(number(at + FLAGS, 8) & COMPRESSED))
            return strndup((const char *)at + head, bytes);
        at += head + bytes;
    }
    return NULL;
}

/* What there is for this device in an image: a string to be freed, or why there is none. */
static char *ptx_of(const char *image, int *result)
{
    enum { ELF_CUDA = 190 };
    char *text;

    if (memcmp(image, "\177ELF", 4) == 0) {
        *result = number((const uint8_t *)image + 18, 2) == ELF_CUDA ? GYRE_CU_NO_BINARY_FOR_GPU
                                                                     : GYRE_CU_INVALID_IMAGE;
        return NULL;
    }
    if (memcmp(image, "\x50\xed\x55\xba", 4) != 0)
        return strdup(image);
    text = ptx_in_fatbin((const uint8_t *)image);
    if (!text)
        *result = GYRE_CU_NO_BINARY_FOR_GPU;
    return text;
}

int cuModuleLoadDataEx(gyre_cu_module **module, const void *image, unsigned count, int *options,
                       void **values)
{
    int result = driver_ready();
    ptx_module *code = NULL;
    char why[512] = "";
    char *text;

    (void)options;
    *module = NULL;
    if (result)
        return result;
    driver_await_work(driver_current());
    text = ptx_of(image, &result);
    if (text)
        code = ptx_module_parse(text, why, sizeof why);
    free(text);
    if (!code) {
        if (count == 2) {
            size_t room;

            memcpy(&room, &values[1], sizeof room);
            snprintf(values[0], room, "%s", why);
        }
        return result ? result : GYRE_CU_INVALID_PTX;
    }
    *module = calloc(1, sizeof **module);
    if (!*module) {
        ptx_module_free(code);
        return GYRE_CU_OUT_OF_MEMORY;
    }
    (*module)->code = code;
    (*module)->context = driver_current();
    return 0;
}

int cuModuleUnload(gyre_cu_module *module)
{
    const int result = driver_ready();

    if (result)
        return result;
    driver_await_work(module->context);
    while (module->functions) {
        gyre_cu_function *const function = module->functions;

        module->functions = function->next;
        free(function);
    }
    ptx_module_free(module->code);
    free(module);
    return 0;
}

int cuModuleGetFunction(gyre_cu_function **function, gyre_cu_module *module, const char *name)
{
    const ptx_function *const code = ptx_module_find(module->code, name);
    int result = driver_ready();

    *function = NULL;
    if (result)
        return result;
    if (!code)
        return GYRE_CU_NOT_FOUND;
    pthread_mutex_lock(&driver.mutex);
    for (gyre_cu_function *at = module->functions; at; at = at->next)
        if (at->code == code)
            *function = at;
    if (!*function && (*function = calloc(1, sizeof **function)) != NULL) {
        **function = (gyre_cu_function){.module = module,
                                        .code = code,
                                        .late = module->context->running > 0,
                                        .next = module->functions};
        module->functions = *function;
    }
    pthread_mutex_unlock(&driver.mutex);
    return *function ? 0 : GYRE_CU_OUT_OF_MEMORY;
}

int cuFuncLoad(gyre_cu_function *function)
{
    return function ? driver_ready() : GYRE_CU_INVALID_HANDLE;
}

int cuFuncGetAttribute(int *value, int attribute, gyre_cu_function *function)
{
    const ptx_module *const code = function->module->code;

    switch (attribute) {
    case GYRE_CU_FUNCTION_THREADS:
        *value = (int)function->code->threads_most;
        break;
    case GYRE_CU_FUNCTION_SHARED:
        *value = (int)code->shared_bytes;
        break;
    case GYRE_CU_FUNCTION_LOCAL:
        *value = (int)code->local_bytes;
        break;
    case GYRE_CU_FUNCTION_REGISTERS:
        *value = 32;
        break;
    default:
        return GYRE_CU_INVALID_VALUE;
    }
    return driver_ready();
}

int cuFuncSetAttribute(gyre_cu_function *function, int attribute, int value)
{
    const int most = DRIVER_SHARED_MOST - (int)function->module->code->shared_bytes;

    return attribute != GYRE_CU_FUNCTION_DYNAMIC || value > most ? GYRE_CU_INVALID_VALUE
                                                                 : driver_ready();
}

int cuFuncGetParamInfo(gyre_cu_function *function, size_t index, size_t *offset, size_t *size)
{
    if (index >= function->code->parameter_count)
        return GYRE_CU_INVALID_VALUE;
    *offset = function->code->parameters[index].at;
    *size = function->code->parameters[index].bytes;
    return driver_ready();
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, gyre_cu_function *function,
                                                int threads, size_t shared_bytes)
{
    const size_t shared = shared_bytes + function->module->code->shared_bytes;
    const size_t by_shared = shared ? DRIVER_SHARED_MOST / shared : 32;
    const size_t warps = ((size_t)(threads > 0 ? threads : 1) + PTX_LANES - 1) / PTX_LANES;
    const size_t by_threads = DRIVER_UNIT_THREADS / PTX_LANES / warps;

    *blocks = (int)(by_shared < by_threads ? by_shared : by_threads);
    *blocks = *blocks > 32 ? 32 : *blocks;
    return driver_ready();
}
