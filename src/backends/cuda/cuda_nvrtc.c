/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_nvrtc: from CUDA C to code, by NVIDIA's compiler library.
 *
 * Source becomes code of the device itself (a cubin). A device that is newer than the compiler gets
 * PTX of the newest architecture that the compiler knows, which the driver compiles when it is
 * loaded. The compiler's own defaults stay as they are.
 *
 * Threads   any; NVRTC locks for itself.
 * Owns      the library, to the end of the process.
 * Not here  keeping what was made (dev/cache.c).
 */
#include <stdio.h>
#include <string.h>

#include "backends/cuda/cuda.h"
#include "base/alloc.h"
#include "base/dynlib.h"
#include "base/fail.h"
#include "dev/build_log.h"

typedef struct nvrtc_program nvrtc_program; /* nvrtcProgram */

/* What nvrtcResult says. */
enum { NO_MEMORY = 1, INVALID_OPTION = 5, COMPILATION = 6, BUILTIN_FAILURE = 7 };

/* clang-format off */
#define FUNCTIONS(X)                                                                               \
    X(int, nvrtcVersion, (int *major, int *minor))                                                 \
    X(const char *, nvrtcGetErrorString, (int result))                                             \
    X(int, nvrtcGetNumSupportedArchs, (int *count))                                                \
    X(int, nvrtcGetSupportedArchs, (int *architectures))                                           \
    X(int, nvrtcCreateProgram, (nvrtc_program **out, const char *text, const char *name, int n,    \
                                const char *const *headers, const char *const *names))             \
    X(int, nvrtcDestroyProgram, (nvrtc_program **program))                                         \
    X(int, nvrtcCompileProgram, (nvrtc_program *program, int count, const char *const *options))   \
    X(int, nvrtcGetProgramLogSize, (nvrtc_program *program, size_t *size))                         \
    X(int, nvrtcGetProgramLog, (nvrtc_program *program, char *log))                                \
    X(int, nvrtcGetPTXSize, (nvrtc_program *program, size_t *size))                                \
    X(int, nvrtcGetPTX, (nvrtc_program *program, char *image))                                     \
    X(int, nvrtcGetCUBINSize, (nvrtc_program *program, size_t *size))                              \
    X(int, nvrtcGetCUBIN, (nvrtc_program *program, char *image))
/* clang-format on */

typedef struct nvrtc_api {
#define ROW(type, name, parameters) type(*name) parameters;
    FUNCTIONS(ROW)
#undef ROW
} nvrtc_api;

static const char *const symbols[] = {
#define ROW(type, name, parameters) #name,
    FUNCTIONS(ROW)
#undef ROW
        NULL};

_Static_assert(sizeof(nvrtc_api) == sizeof symbols - sizeof symbols[0], "only pointers");

static const char *const files[] = {
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/usr/local/cuda/lib/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
    NULL,
};

/* Constant once `asked` is true, which the mutex guards. */
static struct {
    pthread_mutex_t mutex;
    bool asked;
    gyre_error trouble; /* status GYRE_OK: none */
    gyre_dynlib *library;
    nvrtc_api api;
    int major, minor;
} nvrtc = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static gyre_status open_library(void)
{
    void *table[sizeof symbols / sizeof symbols[0]];
    gyre_status status = gyre_dynlib_open(files, symbols, table, &nvrtc.library);

    if (status != GYRE_OK) {
        char why[160];

        snprintf(why, sizeof why, "%.150s", gyre_error_last()->text);
        return gyre_fail(GYRE_UNAVAILABLE, "no compiler of CUDA 11.2 or newer (libnvrtc.so): %s",
                         why);
    }
    memcpy(&nvrtc.api, table, sizeof nvrtc.api);
    if (nvrtc.api.nvrtcVersion(&nvrtc.major, &nvrtc.minor) != 0)
        return gyre_fail(GYRE_UNAVAILABLE, "%s does not say its version",
                         gyre_dynlib_file(nvrtc.library));
    return GYRE_OK;
}

static gyre_status use(void)
{
    pthread_mutex_lock(&nvrtc.mutex);
    if (!nvrtc.asked) {
        nvrtc.asked = true;
        if (open_library() != GYRE_OK)
            nvrtc.trouble = *gyre_error_last();
    }
    pthread_mutex_unlock(&nvrtc.mutex);
    if (nvrtc.trouble.status == GYRE_OK)
        return GYRE_OK;
    return gyre_fail(nvrtc.trouble.status, "%s", nvrtc.trouble.text);
}

gyre_status gyre_cuda_nvrtc_name(char *text, size_t text_size)
{
    const gyre_status status = use();

    if (status == GYRE_OK)
        snprintf(text, text_size, "NVRTC %d.%d", nvrtc.major, nvrtc.minor);
    else
        text[0] = '\0';
    return status;
}

/* The word that names what to make: code for the device, or for the newest that is known. */
static gyre_status architecture_word(int architecture, char *word, size_t size)
{
    int known[64], count = 0, best = 0;

    if (nvrtc.api.nvrtcGetNumSupportedArchs(&count) != 0 || count <= 0 ||
        count > (int)(sizeof known / sizeof known[0]) ||
        nvrtc.api.nvrtcGetSupportedArchs(known) != 0)
        return gyre_fail(GYRE_UNAVAILABLE, "NVRTC %d.%d does not say what it compiles for",
                         nvrtc.major, nvrtc.minor);
    for (int i = 0; i < count; i++)
        if (known[i] <= architecture && known[i] > best)
            best = known[i];
    if (best == 0)
        return gyre_fail(GYRE_UNSUPPORTED,
                         "NVRTC %d.%d compiles for sm_%d and newer, and this device is sm_%d; an "
                         "older CUDA would",
                         nvrtc.major, nvrtc.minor, known[0], architecture);
    snprintf(word, size, "--gpu-architecture=%s_%d", best == architecture ? "sm" : "compute", best);
    return GYRE_OK;
}

/* What a program is made of, as NVRTC wants it. */
typedef struct nvrtc_words {
    const char **options; /* `option_room` of them */
    size_t option_room;
    int option_count;
    char *text; /* of the defines */
    size_t text_bytes;
    const char **headers; /* 2 * header_count: texts, then names */
    size_t header_count;
} nvrtc_words;

static void words_fini(nvrtc_words *words)
{
    gyre_free(NULL, words->options, words->option_room, sizeof words->options[0]);
    gyre_free(NULL, words->text, words->text_bytes, 1);
    gyre_free(NULL, words->headers, 2 * words->header_count, sizeof words->headers[0]);
}

static gyre_status words_alloc(nvrtc_words *words, const gyre_dev_source *source)
{
    gyre_status status;
    void *block;

    words->option_room = 1;
    words->text_bytes = 1;
    for (const char *const *at = source->defines; at && *at; at++) {
        words->option_room++;
        words->text_bytes += strlen(*at) + 3;
    }
    for (const char *const *at = source->options; at && *at; at++)
        words->option_room++;
    while (source->includes && source->includes[words->header_count].name)
        words->header_count++;
    status = gyre_alloc(NULL, words->option_room, sizeof words->options[0], &block);
    if (status != GYRE_OK)
        return status;
    words->options = block;
    status = gyre_alloc(NULL, words->text_bytes, 1, &block);
    if (status != GYRE_OK)
        return status;
    words->text = block;
    if (words->header_count == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, 2 * words->header_count, sizeof words->headers[0], &block);
    if (status == GYRE_OK)
        words->headers = block;
    return status;
}

/* `architecture` stays out when the caller names one. */
static gyre_status words_init(nvrtc_words *words, const gyre_dev_source *source,
                              const char *architecture)
{
    gyre_status status;
    bool named = false;
    char *text;

    *words = (nvrtc_words){0};
    status = words_alloc(words, source);
    if (status != GYRE_OK)
        return status;
    text = words->text;
    for (const char *const *at = source->defines; at && *at; at++) {
        const size_t size = strlen(*at) + 3;

        snprintf(text, size, "-D%s", *at);
        words->options[words->option_count++] = text;
        text += size;
    }
    for (const char *const *at = source->options; at && *at; at++) {
        named |= strncmp(*at, "--gpu-architecture", 18) == 0 || strncmp(*at, "-arch", 5) == 0;
        words->options[words->option_count++] = *at;
    }
    if (!named)
        words->options[words->option_count++] = architecture;
    for (size_t i = 0; i < words->header_count; i++) {
        words->headers[i] = source->includes[i].text ? source->includes[i].text : "";
        words->headers[words->header_count + i] = source->includes[i].name;
    }
    return GYRE_OK;
}

static gyre_status failed(int result, const char *what, const char *name)
{
    gyre_status status = GYRE_INTERNAL;

    if (result == NO_MEMORY)
        status = GYRE_NO_MEMORY;
    else if (result == BUILTIN_FAILURE)
        status = GYRE_UNAVAILABLE;
    else if (result == COMPILATION || result == INVALID_OPTION)
        status = GYRE_BUILD;
    return gyre_fail_native(status, result, "%s: '%s': %s; its build log says more", what, name,
                            nvrtc.api.nvrtcGetErrorString(result));
}

static void keep_log(nvrtc_program *program)
{
    size_t size = 0;
    void *log;

    gyre_build_log_set(NULL, 0);
    if (nvrtc.api.nvrtcGetProgramLogSize(program, &size) != 0 || size <= 1)
        return;
    if (gyre_alloc(NULL, size, 1, &log) != GYRE_OK)
        return;
    if (nvrtc.api.nvrtcGetProgramLog(program, log) == 0)
        gyre_build_log_set(log, size - 1); /* it ends with a zero */
    gyre_free(NULL, log, size, 1);
}

static gyre_status take_image(nvrtc_program *program, void **out_image, size_t *out_size)
{
    const nvrtc_api *api = &nvrtc.api;
    size_t size = 0;
    gyre_status status;
    bool cubin;
    int result;

    cubin = api->nvrtcGetCUBINSize(program, &size) == 0 && size > 0;
    if (!cubin) {
        result = api->nvrtcGetPTXSize(program, &size);
        if (result != 0 || size == 0)
            return gyre_fail_native(GYRE_INTERNAL, result, "the compiler made nothing");
    }
    status = gyre_alloc(NULL, size, 1, out_image);
    if (status != GYRE_OK)
        return status;
    result =
        cubin ? api->nvrtcGetCUBIN(program, *out_image) : api->nvrtcGetPTX(program, *out_image);
    if (result != 0) {
        gyre_free(NULL, *out_image, size, 1);
        *out_image = NULL;
        return gyre_fail_native(GYRE_INTERNAL, result, "nvrtcGet%s: %s", cubin ? "CUBIN" : "PTX",
                                api->nvrtcGetErrorString(result));
    }
    *out_size = size;
    return GYRE_OK;
}

gyre_status gyre_cuda_nvrtc_compile(int architecture, const gyre_dev_source *source,
                                    void **out_image, size_t *out_size)
{
    const char *name = source->name ? source->name : "program.cu";
    nvrtc_program *program = NULL;
    nvrtc_words words = {0};
    char word[48];
    gyre_status status;
    int result;

    *out_image = NULL;
    *out_size = 0;
    gyre_build_log_set(NULL, 0);
    status = use();
    if (status == GYRE_OK)
        status = architecture_word(architecture, word, sizeof word);
    if (status != GYRE_OK)
        return status;
    status = words_init(&words, source, word);
    if (status != GYRE_OK)
        goto done;
    result = nvrtc.api.nvrtcCreateProgram(&program, source->text, name, (int)words.header_count,
                                          words.headers, words.headers + words.header_count);
    if (result != 0) {
        status = failed(result, "nvrtcCreateProgram", name);
        goto done;
    }
    result = nvrtc.api.nvrtcCompileProgram(program, words.option_count, words.options);
    keep_log(program);
    status = result == 0 ? take_image(program, out_image, out_size)
                         : failed(result, "nvrtcCompileProgram", name);
done:
    if (program)
        (void)nvrtc.api.nvrtcDestroyProgram(&program);
    words_fini(&words);
    return status;
}
