/* SPDX-License-Identifier: Apache-2.0
 *
 * null_code: C functions as kernels, and a language that is just large enough to be compiled,
 * cached, damaged and refused.
 *
 * A source needs a line `entry NAME`: a kernel that does nothing. `entry NAME store` is one with
 * the arguments `pointer u32`: each block stores the number at its index in x. Lines that begin
 * with #error and #warning do what they say, any other line is nothing. The image is the text
 * behind a head with its sum.
 *
 * Threads   any; a module's list of kernels is under its device's lock.
 * Owns      a module owns its text and its kernels.
 * Not here  when a kernel runs (null_stream.c), where images are kept (dev/cache.c).
 */
#include <stdio.h>
#include <string.h>

#include "backends/null/null.h"
#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/fail.h"
#include "dev/build_log.h"

typedef struct image_head {
    char magic[8];
    uint32_t text_bytes;
    uint32_t sum; /* crc32c of the text */
} image_head;

static const char magic[8] = {'g', 'y', 'r', 'e', 'n', 'u', 'l', '1'};

struct gyre_dev_module {
    gyre_dev *dev;
    const gyre_entry *functions; /* borrowed; NULL: there is a text */
    char *text;
    size_t text_size; /* with its 0 */
    gyre_dev_kernel *kernels;
};

struct gyre_dev_kernel {
    gyre_dev_module *module;
    gyre_dev_kernel *next;
    gyre_function function;
    uint32_t parameters_bytes;
};

typedef struct store_parameters {
    uint32_t *to;
    uint32_t value;
} store_parameters;

static void run_nothing(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

static void run_store(const gyre_block *block, const void *parameters)
{
    const store_parameters *const p = parameters;

    p->to[block->index[0]] = p->value;
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* What stands behind `entry NAME`, or NULL: there is no such line. Any name for NULL. */
static const char *find_entry(const char *text, const char *name)
{
    for (const char *line = text; *line; line = next_line(line)) {
        size_t length;

        if (!begins(line, "entry "))
            continue;
        line += strlen("entry ");
        length = strcspn(line, " \r\n");
        if (length > 0 && (!name || (strlen(name) == length && memcmp(line, name, length) == 0)))
            return line + length;
    }
    return NULL;
}

/* Writes what there is to say of each line; false when one is an error. */
static bool judge(const gyre_dev_source *source, bool told_to_fail, char *log, size_t log_size)
{
    const char *const name = source->name ? source->name : "source";
    size_t used = 0;
    unsigned number = 1;
    bool good = true;

    for (const char *line = source->text; *line; line = next_line(line), number++) {
        const bool error = begins(line, "#error");

        if (!error && !begins(line, "#warning"))
            continue;
        good = good && !error;
        if (used < log_size)
            used += (size_t)snprintf(log + used, log_size - used, "%s:%u: %s: %.*s\n", name, number,
                                     error ? "error" : "warning", (int)strcspn(line, "\n"), line);
    }
    if (good && (told_to_fail || !find_entry(source->text, NULL))) {
        good = false;
        if (used < log_size)
            snprintf(log + used, log_size - used, "%s:1: error: %s\n", name,
                     told_to_fail ? "told to fail" : "there is no line 'entry NAME'");
    }
    return good;
}

gyre_status gyre_null_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                              size_t *out_size)
{
    const size_t length = strlen(source->text);
    gyre_status status = gyre_null_enter(dev);
    char log[2048] = "";
    bool told_to_fail, good;
    image_head head;

    *out_image = NULL;
    *out_size = 0;
    if (status != GYRE_OK)
        return status;
    told_to_fail = gyre_null_faults_find(&dev->faults, GYRE_NULL_BUILD, ++dev->builds) != NULL;
    gyre_null_leave(dev);
    good = judge(source, told_to_fail, log, sizeof log);
    gyre_build_log_set(log, strlen(log));
    if (!good || length >= UINT32_MAX - sizeof head)
        return gyre_fail(GYRE_BUILD, "null:%u: %s does not build", dev->index,
                         source->name ? source->name : "the source");
    status = gyre_alloc(NULL, sizeof head + length, 1, out_image);
    if (status != GYRE_OK)
        return status;
    memcpy(head.magic, magic, sizeof magic);
    head.text_bytes = (uint32_t)length;
    head.sum = gyre_crc32c(source->text, length, 0);
    memcpy(*out_image, &head, sizeof head);
    memcpy((char *)*out_image + sizeof head, source->text, length);
    *out_size = sizeof head + length;
    return GYRE_OK;
}

static gyre_status read_image(const gyre_dev_code *code, gyre_dev_module *module)
{
    const char *const text = (const char *)code->image + sizeof(image_head);
    gyre_status status;
    void *copy;
    image_head head;

    if (code->image_bytes < sizeof head)
        return gyre_fail(GYRE_CORRUPT, "null: %zu bytes are no image", code->image_bytes);
    memcpy(&head, code->image, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 ||
        head.text_bytes != code->image_bytes - sizeof head ||
        head.sum != gyre_crc32c(text, head.text_bytes, 0))
        return gyre_fail(GYRE_CORRUPT, "null: the image is not one of this compiler's");
    status = gyre_alloc(NULL, (size_t)head.text_bytes + 1, 1, &copy);
    if (status != GYRE_OK)
        return status;
    module->text = memcpy(copy, text, head.text_bytes);
    module->text_size = (size_t)head.text_bytes + 1;
    return GYRE_OK;
}

gyre_status gyre_null_module_open(gyre_dev *dev, const gyre_dev_code *code,
                                  gyre_dev_module **out_module)
{
    gyre_dev_module *module;
    gyre_status status = gyre_null_enter(dev);
    void *block;

    *out_module = NULL;
    if (status != GYRE_OK)
        return status;
    gyre_null_leave(dev);
    status = gyre_alloc(NULL, 1, sizeof *module, &block);
    if (status != GYRE_OK)
        return status;
    module = block;
    module->dev = dev;
    module->functions = code->functions;
    if (!code->functions)
        status = read_image(code, module);
    if (status != GYRE_OK) {
        gyre_null_module_close(module);
        return status;
    }
    *out_module = module;
    return GYRE_OK;
}

void gyre_null_module_close(gyre_dev_module *module)
{
    while (module->kernels) {
        gyre_dev_kernel *const kernel = module->kernels;

        module->kernels = kernel->next;
        gyre_free(NULL, kernel, 1, sizeof *kernel);
    }
    gyre_free(NULL, module->text, module->text_size, 1);
    gyre_free(NULL, module, 1, sizeof *module);
}

/* The function of an entry; only those of a text know what arguments they have. */
static gyre_status find_function(const gyre_dev_module *module,
                                 const gyre_dev_kernel_request *request,
                                 gyre_function *out_function)
{
    const gyre_dev_argument *const arguments = request->arguments;
    const char *rest;

    for (const gyre_entry *e = module->functions; e && e->name; e++)
        if (strcmp(e->name, request->entry) == 0) {
            *out_function = e->function;
            return GYRE_OK;
        }
    rest = module->text ? find_entry(module->text, request->entry) : NULL;
    if (!rest)
        return gyre_fail(GYRE_NOT_FOUND, "null: the program has no entry '%s'", request->entry);
    *out_function = run_nothing;
    if (!begins(rest, " store"))
        return GYRE_OK;
    *out_function = run_store;
    if (request->argument_count != 2 || !arguments[0].pointer || arguments[1].pointer ||
        arguments[1].size != sizeof(uint32_t))
        return gyre_fail(GYRE_INVALID, "null: the arguments of '%s' are pointer u32",
                         request->entry);
    return GYRE_OK;
}

gyre_status gyre_null_kernel_open(gyre_dev_module *module, const gyre_dev_kernel_request *request,
                                  gyre_dev_kernel_facts *out_facts, gyre_dev_kernel **out_kernel)
{
    gyre_function function = NULL;
    gyre_dev_kernel *kernel;
    gyre_status status;
    void *block;

    *out_kernel = NULL;
    *out_facts = (gyre_dev_kernel_facts){.block_threads_most = GYRE_NULL_BLOCK_THREADS};
    status = find_function(module, request, &function);
    if (status != GYRE_OK)
        return status;
    status = gyre_alloc(NULL, 1, sizeof *kernel, &block);
    if (status != GYRE_OK)
        return status;
    kernel = block;
    kernel->module = module;
    kernel->function = function;
    kernel->parameters_bytes = request->parameters_bytes;
    status = gyre_null_enter(module->dev);
    if (status != GYRE_OK) {
        gyre_free(NULL, kernel, 1, sizeof *kernel);
        return status;
    }
    kernel->next = module->kernels;
    module->kernels = kernel;
    gyre_null_leave(module->dev);
    *out_kernel = kernel;
    return GYRE_OK;
}

uint32_t gyre_null_parameters_bytes(const gyre_dev_kernel *kernel)
{
    return kernel->parameters_bytes;
}

gyre_status gyre_null_residency(gyre_dev_kernel *kernel, uint32_t block_threads,
                                uint32_t shared_bytes, uint32_t *out_blocks)
{
    const gyre_status status = gyre_null_enter(kernel->module->dev);
    uint32_t blocks = GYRE_NULL_BLOCK_THREADS / block_threads;

    *out_blocks = 0;
    if (status != GYRE_OK)
        return status;
    gyre_null_leave(kernel->module->dev);
    if (shared_bytes > 0 && blocks > GYRE_NULL_SHARED_BYTES / shared_bytes)
        blocks = GYRE_NULL_SHARED_BYTES / shared_bytes;
    *out_blocks = blocks;
    return GYRE_OK;
}

void gyre_null_run(const gyre_dev_launch *launch, void *shared)
{
    gyre_block block = {.shared_bytes = launch->shared_bytes,
                        .shared = launch->shared_bytes > 0 ? shared : NULL};
    uint32_t *const at = block.index;

    memcpy(block.grid, launch->grid, sizeof block.grid);
    memcpy(block.threads, launch->block, sizeof block.threads);
    for (at[2] = 0; at[2] < block.grid[2]; at[2]++)
        for (at[1] = 0; at[1] < block.grid[1]; at[1]++)
            for (at[0] = 0; at[0] < block.grid[0]; at[0]++)
                launch->kernel->function(&block, launch->parameters);
}
