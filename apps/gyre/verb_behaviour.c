/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour: prints the one text that a device's compiler needs for a behaviour.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "behaviour_file.h"
#include "behaviour_headers.h"
#include "gyre/behaviour_text.h"
#include "gyre/library.h"
#include "verb.h"

enum { CUDA, OPENCL };

static const gyre_option options[] = {
    [CUDA] = {"--cuda", 0, NULL, "in CUDA C, for nvcc (the default)"},
    [OPENCL] = {"--opencl", 0, NULL, "in OpenCL C"},
    {NULL, 0, NULL, NULL},
};

/* The headers of its own; all of them, since there is to be one text. */
static gyre_status find_headers(const behaviour_file *file, behaviour_headers *headers)
{
    const gyre_status status = behaviour_headers_read(headers, file);

    if (status != GYRE_OK || !headers->missing_from)
        return status;
    return gyre_fail(GYRE_INVALID,
                     "'%.*s' includes \"%s\", which is not beside it; put it there, or between "
                     "#ifdef GYRE_HOST and #endif if no device needs it",
                     gyre_text_cut(strlen(headers->missing_from)), headers->missing_from,
                     headers->missing);
}

static gyre_status print(const behaviour_file *file, const behaviour_headers *headers,
                         gyre_behaviour_language language)
{
    const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                      .name = file->name,
                                      .file = file->path,
                                      .text = file->text,
                                      .includes = headers->list};
    size_t size = 0;
    char *text = NULL;
    gyre_status status = gyre_behaviour_text(&behaviour, language, NULL, 0, &size);

    if (status != GYRE_OK)
        return status;
    text = malloc(size + 1);
    if (!text)
        return GYRE_NO_MEMORY;
    status = gyre_behaviour_text(&behaviour, language, text, size + 1, &size);
    if (status == GYRE_OK) {
        printf("/* The behaviour '%s' with the loop of Gyre %s around it. */\n", file->name,
               gyre_version());
        fwrite(text, 1, size, stdout);
    }
    free(text);
    return status;
}

static int run_behaviour(const gyre_args *args, int argc, char **argv)
{
    static behaviour_headers headers;
    behaviour_file file;
    gyre_status status;

    (void)argc, (void)argv;
    if (args->operand_count != 1 ||
        (gyre_args_given(args, CUDA) && gyre_args_given(args, OPENCL))) {
        fprintf(stderr, "gyre behaviour: %s\n",
                args->operand_count != 1 ? "name one C file with a behaviour in it"
                                         : "--cuda and --opencl exclude each other");
        return GYRE_EXIT_USAGE;
    }
    status = behaviour_file_read(&file, args->operands[0]);
    if (status == GYRE_OK) {
        status = find_headers(&file, &headers);
        if (status == GYRE_OK)
            status = print(&file, &headers,
                           gyre_args_given(args, OPENCL) ? GYRE_BEHAVIOUR_IN_OPENCL
                                                         : GYRE_BEHAVIOUR_IN_CUDA);
        behaviour_headers_fini(&headers);
        behaviour_file_fini(&file);
    }
    if (status == GYRE_OK)
        return GYRE_EXIT_DONE;
    fprintf(stderr, "gyre behaviour: %s\n",
            status == GYRE_NO_MEMORY ? "out of memory" : gyre_error_last()->text);
    return status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT;
}

const gyre_verb verb_behaviour = {
    .name = "behaviour",
    .operands = "FILE",
    .most_operands = 1,
    .summary = "print a behaviour as the one text that a device's compiler needs",
    .description =
        "FILE is a C file with one behaviour in it (gyre/behaviour.h). What is printed needs no "
        "other file, since headers that it includes in quotes are looked for beside it and put "
        "into their places: 'gyre behaviour echo.c >echo.cu && nvcc -fatbin -fmad=false "
        "-arch=sm_90 "
        "echo.cu' makes an image, which a program puts into the behaviour, so that the machine it "
        "runs on needs no compiler. What a compiler says against it names FILE and its lines. An "
        "image is good for the version of Gyre that printed its text, as long as the mailbox stays "
        "the same; another one is refused.",
    .options = options,
    .run = run_behaviour,
};
