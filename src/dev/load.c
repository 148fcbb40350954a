/* SPDX-License-Identifier: Apache-2.0
 *
 * load: decides which of a program's codes a device gets, and whether it must be compiled.
 *
 * `choose` is the only place that knows which backend takes what. C functions come first where a
 * device runs them: nothing is faster to load. The key of a compiled image covers everything that
 * the compiler is given and is, so that a stale image cannot be found.
 *
 * Threads   any.
 * Owns      images while they are loaded.
 * Not here  the disk (dev/cache.c), compilers (the backends).
 */
#include "dev/load.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/options.h"
#include "dev/build_log.h"
#include "dev/cache.h"
#include "gyre/clock.h"

enum { WORD_BYTES = 256 }; /* the key has more of the compiler than an entry can show */

/* What `choose` found: functions or an image as they are, or source. */
typedef struct choice {
    gyre_dev_code code;
    gyre_dev_source source; /* used when its text is set */
} choice;

typedef struct request {
    const gyre_device *device;
    const gyre_backend *backend;
    gyre_dev *dev;
    const char *const *entries;
    bool no_cache;
} request;

static gyre_status check(const gyre_program *program)
{
    if ((program->cuda_image != NULL) != (program->cuda_image_bytes > 0))
        return gyre_fail(GYRE_INVALID, "program '%.64s': cuda_image and its size go together",
                         program->name);
    for (const gyre_entry *e = program->functions; e && e->name; e++)
        if (!e->function)
            return gyre_fail(GYRE_INVALID, "program '%.64s': the function of '%.64s' is NULL",
                             program->name, e->name);
    for (const gyre_include *i = program->includes; i && i->name; i++)
        if (!i->text)
            return gyre_fail(GYRE_INVALID, "program '%.64s': the text of include '%.64s' is NULL",
                             program->name, i->name);
    return GYRE_OK;
}

static gyre_status has_nothing(const gyre_device *device, const gyre_program *program,
                               const char *takes)
{
    return gyre_fail(GYRE_UNSUPPORTED, "program '%.64s' has no code for %s, which takes %s",
                     program->name, device->name, takes);
}

/* Which code the device gets. */
static gyre_status choose(const gyre_device *device, const gyre_program *program,
                          choice *out_choice)
{
    choice c = {
        .source = {.name = program->name,
                   .defines = program->defines,
                   .includes = program->includes},
    };
    const bool functions = gyre_device_has(device, GYRE_FEATURE_FUNCTIONS);

    *out_choice = (choice){0};
    if (functions && program->functions) {
        c.code.functions = program->functions;
    } else if (strcmp(device->backend, "cuda") == 0) {
        if (program->cuda_image) {
            c.code.image = program->cuda_image;
            c.code.image_bytes = program->cuda_image_bytes;
        } else if (program->cuda) {
            c.source.text = program->cuda;
            c.source.options = program->options;
        } else {
            return has_nothing(device, program, "a CUDA image or CUDA C");
        }
    } else if (strcmp(device->backend, "opencl") == 0 || strcmp(device->backend, "null") == 0) {
        if (!program->opencl)
            return has_nothing(device, program, functions ? "C functions or OpenCL C" : "OpenCL C");
        c.source.text = program->opencl;
        c.source.options = program->cl_options;
    } else {
        return has_nothing(device, program, functions ? "C functions" : "nothing that Gyre knows");
    }
    *out_choice = c;
    return GYRE_OK;
}

static void add_text(gyre_digest *digest, const char *text)
{
    gyre_digest_add(digest, text, strlen(text));
}

/* The number of words comes first, so that a word cannot move from one list to the next. */
static void add_words(gyre_digest *digest, const char *const *words)
{
    uint64_t count = 0;

    while (words && words[count])
        count++;
    gyre_digest_add(digest, &count, sizeof count);
    for (uint64_t i = 0; i < count; i++)
        add_text(digest, words[i]);
}

static void make_key(const gyre_device *device, const gyre_dev_source *source, gyre_cache_key *key)
{
    gyre_digest digest;
    uint64_t includes = 0;

    while (source->includes && source->includes[includes].name)
        includes++;
    gyre_digest_begin(&digest);
    add_text(&digest, device->backend);
    add_text(&digest, device->title);
    add_text(&digest, device->architecture);
    add_text(&digest, device->driver);
    add_text(&digest, key->compiler);
    add_text(&digest, source->name);
    add_text(&digest, source->text);
    add_words(&digest, source->defines);
    add_words(&digest, source->options);
    gyre_digest_add(&digest, &includes, sizeof includes);
    for (uint64_t i = 0; i < includes; i++) {
        add_text(&digest, source->includes[i].name);
        add_text(&digest, source->includes[i].text);
    }
    gyre_digest_end(&digest, key->text);
}

static gyre_status open_image(const request *r, const void *image, size_t size, gyre_loaded *loaded)
{
    const gyre_dev_code code = {.image = image, .image_bytes = size, .entries = r->entries};

    loaded->image_bytes = size;
    return r->backend->module_open(r->dev, &code, &loaded->module);
}

/* True when the device has the module from a file, or can have none at all; then `out_status` says
 * which. False: compile. */
static bool open_cached(const request *r, const gyre_cache_key *key, gyre_loaded *loaded,
                        gyre_status *out_status)
{
    size_t size = 0;
    void *image = NULL;

    if (r->no_cache || gyre_cache_find(key, &image, &size) != GYRE_OK)
        return false;
    *out_status = open_image(r, image, size, loaded);
    gyre_free(NULL, image, size, 1);
    loaded->from_cache = *out_status == GYRE_OK;
    if (*out_status == GYRE_OK || *out_status == GYRE_NO_MEMORY || *out_status == GYRE_DEVICE_LOST)
        return true;
    gyre_cache_refuse(key);
    return false;
}

static gyre_status compile(const request *r, const gyre_dev_source *source,
                           const gyre_cache_key *key, gyre_loaded *loaded)
{
    const uint64_t before = gyre_clock_now_ns();
    void *image = NULL;
    size_t size = 0;
    gyre_status status;

    gyre_build_log_set(NULL, 0);
    status = r->backend->compile(r->dev, source, &image, &size);
    loaded->build_ns = gyre_clock_now_ns() - before;
    if (status != GYRE_OK)
        return status;
    status = open_image(r, image, size, loaded);
    if (status == GYRE_OK && !r->no_cache)
        gyre_cache_store(key, image, size);
    gyre_free(NULL, image, size, 1);
    return status;
}

static gyre_status load_source(const request *r, const gyre_dev_source *source, gyre_loaded *loaded)
{
    char compiler[WORD_BYTES] = "", name[WORD_BYTES];
    gyre_cache_key key = {.program = source->name, .device = name, .compiler = compiler};
    gyre_status status = r->backend->compiler(r->device->index, compiler, sizeof compiler);

    if (status != GYRE_OK)
        return status;
    snprintf(name, sizeof name, "%s %s", r->device->backend, r->device->architecture);
    make_key(r->device, source, &key);
    if (open_cached(r, &key, loaded, &status))
        return status;
    return compile(r, source, &key, loaded);
}

gyre_status gyre_load(const gyre_device *device, gyre_dev *dev, const gyre_program *program,
                      const char *const *entries, bool no_cache, gyre_loaded *out_loaded)
{
    const request r = {device, gyre_backend_of(device), dev, entries, no_cache};
    gyre_program mine;
    gyre_loaded loaded = {0};
    choice c;
    gyre_status status;

    *out_loaded = loaded;
    if (!program)
        return gyre_fail(GYRE_INVALID, "%s: there is no program to load", device->name);
    status = GYRE_OPTIONS_READ(mine, program);
    if (status == GYRE_OK && !mine.name)
        mine.name = "program";
    if (status == GYRE_OK)
        status = check(&mine);
    if (status == GYRE_OK)
        status = choose(device, &mine, &c);
    if (status != GYRE_OK)
        return status;
    c.code.entries = entries;
    if (c.source.text)
        status = load_source(&r, &c.source, &loaded);
    else
        status = r.backend->module_open(dev, &c.code, &loaded.module);
    if (status != GYRE_OK)
        return status;
    if (c.code.image)
        loaded.image_bytes = c.code.image_bytes;
    *out_loaded = loaded;
    return GYRE_OK;
}
