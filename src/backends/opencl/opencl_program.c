/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_program: from source to an image.
 *
 * Defines are lines before the source and not options, because drivers disagree on how an option
 * with a blank or a quote is written; the line after them makes messages name the program and its
 * own lines, if the driver heeds it. Without defines nothing stands before the source.
 *
 * What the driver knows of arguments is asked for, and gone without where that does not compile:
 * with it, NVIDIA's makes no valid code of a kernel without arguments.
 *
 * Without includes a program is built at once. With them it is compiled with each of them as a
 * program of its own, and linked: the only way to hand over a header that is no file.
 *
 * Threads   any.
 * Owns      nothing beyond a call.
 * Not here  loading an image (opencl_kernel.c), keeping it (dev/cache.c).
 */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/opencl.h"
#include "backends/opencl/opencl_image.h"
#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/fail.h"
#include "dev/build_log.h"

#define ARGUMENTS_TOLD "-cl-kernel-arg-info" /* the first of the options */

/* What one compile makes and drops again. */
typedef struct building {
    gyre_dev *dev;
    const gyre_dev_source *source;
    char *options, *prologue; /* owned; the latter NULL without defines */
    size_t options_room, prologue_room;
    const char *used; /* the options, or those after the first */
    uint32_t include_count;
    cl_program **includes; /* owned, with what they hold */
    const char **names;    /* owned; the texts are the caller's */
    cl_program *program;   /* compiled, or built; owned */
    cl_program *linked;    /* owned */
} building;

static void building_fini(building *b)
{
    for (uint32_t i = 0; b->includes && i < b->include_count; i++)
        if (b->includes[i])
            gyre_cl.clReleaseProgram(b->includes[i]);
    if (b->program)
        gyre_cl.clReleaseProgram(b->program);
    if (b->linked)
        gyre_cl.clReleaseProgram(b->linked);
    gyre_free(NULL, b->includes, b->include_count, sizeof(void *));
    gyre_free(NULL, b->names, b->include_count, sizeof(void *));
    gyre_free(NULL, b->options, b->options_room, 1);
    gyre_free(NULL, b->prologue, b->prologue_room, 1);
}

static const char *name_of(const building *b)
{
    return b->source->name ? b->source->name : "program";
}

static size_t append(char *text, size_t room, size_t length, const char *piece)
{
    const int written = snprintf(text + length, room - length, "%s", piece);

    return length + (size_t)written;
}

/* The words, after the standard that the device has unless they name one. */
static gyre_status write_options(building *b)
{
    const uint32_t standard = b->dev->found->standard;
    const char *const *word;
    size_t room = 64, length = 0;
    gyre_status status;
    bool chosen = false;
    void *text;

    for (word = b->source->options; word && *word; word++) {
        chosen = chosen || strncmp(*word, "-cl-std=", 8) == 0;
        room += strlen(*word) + 1;
    }
    status = gyre_alloc(NULL, room, 1, &text);
    if (status != GYRE_OK)
        return status;
    b->options = text;
    b->options_room = room;
    b->used = text;
    length = append(text, room, length, ARGUMENTS_TOLD);
    if (!chosen)
        length = append(text, room, length,
                        standard == 300   ? " -cl-std=CL3.0"
                        : standard == 200 ? " -cl-std=CL2.0"
                                          : " -cl-std=CL1.2");
    for (word = b->source->options; word && *word; word++) {
        length = append(text, room, length, " ");
        length = append(text, room, length, *word);
    }
    return GYRE_OK;
}

/* A define as a line: NAME is 1, as with -D. */
static size_t append_define(char *text, size_t room, size_t length, const char *define)
{
    const char *const value = strchr(define, '=');
    const size_t name_length = value ? (size_t)(value - define) : strlen(define);
    const int written = snprintf(text + length, room - length, "#define %.*s %s\n",
                                 (int)name_length, define, value ? value + 1 : "1");

    return length + (size_t)written;
}

static gyre_status write_prologue(building *b)
{
    enum { NAME = 64, LINES = 32 }; /* of the program's name as shown; for the rest of the line */
    const char *const *define;
    size_t room = NAME + LINES, length = 0;
    gyre_status status;
    char name[NAME + 1];
    void *text;

    if (!b->source->defines || !b->source->defines[0])
        return GYRE_OK;
    for (define = b->source->defines; *define; define++)
        room += strlen(*define) + LINES;
    status = gyre_alloc(NULL, room, 1, &text);
    if (status != GYRE_OK)
        return status;
    b->prologue = text;
    b->prologue_room = room;
    for (define = b->source->defines; *define; define++)
        length = append_define(text, room, length, *define);
    snprintf(name, sizeof name, "%s", name_of(b));
    for (char *c = name; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '_';
    snprintf((char *)text + length, room - length, "#line 1 \"%s\"\n", name);
    return GYRE_OK;
}

/* `first` may be NULL. */
static gyre_status create_program(cl_context *context, const char *first, const char *second,
                                  cl_program **out_program)
{
    const char *texts[] = {first ? first : second, second};
    int32_t code = CL_SUCCESS;

    *out_program = gyre_cl.clCreateProgramWithSource(context, first ? 2 : 1, texts, NULL, &code);
    return gyre_cl_check(code, "clCreateProgramWithSource");
}

static gyre_status create_includes(building *b)
{
    const gyre_include *const list = b->source->includes;
    gyre_status status;
    void *block;

    while (list && list[b->include_count].name)
        b->include_count++;
    if (b->include_count == 0)
        return GYRE_OK;
    status = gyre_alloc(NULL, b->include_count, sizeof(void *), &block);
    b->includes = block;
    if (status == GYRE_OK) {
        status = gyre_alloc(NULL, b->include_count, sizeof(void *), &block);
        b->names = block;
    }
    for (uint32_t i = 0; status == GYRE_OK && i < b->include_count; i++) {
        b->names[i] = list[i].name;
        status = create_program(b->dev->context, list[i].text, "\n", &b->includes[i]);
    }
    return status;
}

/* Whatever the compiler said of a program, for this thread's log. */
static void keep_log(const building *b, cl_program *program)
{
    cl_device *const id = b->dev->found->id;
    size_t size = 0;
    void *text;

    if (gyre_cl.clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        size < 2 || gyre_alloc(NULL, size, 1, &text) != GYRE_OK)
        return;
    if (gyre_cl.clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, text, NULL) ==
        CL_SUCCESS)
        gyre_build_log_set(text, strnlen(text, size));
    gyre_free(NULL, text, size, 1);
}

static gyre_status build_once(building *b)
{
    cl_device *const id = b->dev->found->id;
    int32_t code;

    if (b->linked)
        gyre_cl.clReleaseProgram(b->linked);
    b->linked = NULL;
    if (b->include_count == 0) {
        code = gyre_cl.clBuildProgram(b->program, 1, &id, b->used, NULL, NULL);
        keep_log(b, b->program);
    } else {
        code = gyre_cl.clCompileProgram(b->program, 1, &id, b->used, b->include_count, b->includes,
                                        b->names, NULL, NULL);
        keep_log(b, b->program);
        if (code == CL_SUCCESS) {
            b->linked = gyre_cl.clLinkProgram(b->dev->context, 1, &id, NULL, 1, &b->program, NULL,
                                              NULL, &code);
            if (code != CL_SUCCESS && b->linked)
                keep_log(b, b->linked);
        }
    }
    if (code == CL_SUCCESS)
        return GYRE_OK;
    if (code == CL_BUILD_PROGRAM_FAILURE || code == CL_COMPILE_PROGRAM_FAILURE ||
        code == CL_LINK_PROGRAM_FAILURE)
        return gyre_fail_native(GYRE_BUILD, code, "'%s' does not compile: see the build log",
                                name_of(b));
    return gyre_cl_check(code, "clBuildProgram");
}

static gyre_status build(building *b)
{
    const gyre_status status = build_once(b);

    if (status != GYRE_BUILD)
        return status;
    b->used = b->options + strlen(ARGUMENTS_TOLD);
    return build_once(b);
}

/* Where our device is among the program's: an adopted context may have several. */
static gyre_status find_binary(const building *b, cl_program *program, size_t *out_index,
                               size_t *out_count, size_t *out_bytes)
{
    enum { DEVICES_MOST = 64 };
    cl_device *ids[DEVICES_MOST];
    size_t sizes[DEVICES_MOST], bytes = 0;
    gyre_status status;

    status = gyre_cl_check(
        gyre_cl.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof ids, ids, &bytes),
        "clGetProgramInfo(CL_PROGRAM_DEVICES)");
    if (status == GYRE_OK)
        status = gyre_cl_check(
            gyre_cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL),
            "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)");
    if (status != GYRE_OK)
        return status;
    *out_count = bytes / sizeof(void *);
    for (size_t i = 0; i < *out_count; i++)
        if (ids[i] == b->dev->found->id && sizes[i] > 0) {
            *out_index = i;
            *out_bytes = sizes[i];
            return GYRE_OK;
        }
    return gyre_fail(GYRE_UNSUPPORTED, "the driver gives no binary of '%s'", name_of(b));
}

static gyre_status write_image(const building *b, void **out_image, size_t *out_size)
{
    enum { DEVICES_MOST = 64 };
    cl_program *const program = b->linked ? b->linked : b->program;
    unsigned char *binaries[DEVICES_MOST] = {NULL}; /* the driver skips those without an address */
    const size_t options_bytes = strlen(b->used) + 1;
    gyre_cl_image head = {.magic = GYRE_CL_IMAGE_MAGIC};
    size_t index = 0, count = 0, bytes = 0, size;
    unsigned char *image;
    gyre_status status;
    void *block;

    status = find_binary(b, program, &index, &count, &bytes);
    if (status != GYRE_OK)
        return status;
    size = sizeof head + options_bytes + bytes;
    status = gyre_alloc(NULL, size, 1, &block);
    if (status != GYRE_OK)
        return status;
    image = block;
    memcpy(image + sizeof head, b->used, options_bytes);
    binaries[index] = image + sizeof head + options_bytes;
    status = gyre_cl_check(gyre_cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES,
                                                    count * sizeof binaries[0], binaries, NULL),
                           "clGetProgramInfo(CL_PROGRAM_BINARIES)");
    if (status != GYRE_OK) {
        gyre_free(NULL, image, size, 1);
        return status;
    }
    head.binary_bytes = bytes;
    head.options_bytes = (uint32_t)options_bytes;
    head.checksum = gyre_crc32c(image + sizeof head, size - sizeof head, 0);
    memcpy(image, &head, sizeof head);
    *out_image = image;
    *out_size = size;
    return GYRE_OK;
}

gyre_status gyre_cl_compile(gyre_dev *dev, const gyre_dev_source *source, void **out_image,
                            size_t *out_size)
{
    building b = {.dev = dev, .source = source};
    gyre_status status;

    *out_image = NULL;
    *out_size = 0;
    gyre_build_log_set(NULL, 0);
    status = write_options(&b);
    if (status == GYRE_OK)
        status = write_prologue(&b);
    if (status == GYRE_OK)
        status = create_includes(&b);
    if (status == GYRE_OK)
        status = create_program(dev->context, b.prologue, source->text, &b.program);
    if (status == GYRE_OK)
        status = build(&b);
    if (status == GYRE_OK)
        status = write_image(&b, out_image, out_size);
    building_fini(&b);
    return status;
}
