/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_bench: see behaviour_bench.h.
 */
#include "behaviour_bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "behaviour_build.h"
#include "behaviour_headers.h"
#include "suites/behaviour.h"

_Static_assert((int)BEHAVIOUR_NAME_BYTES == (int)GYRE_BEHAVIOUR_NAME_BYTES, "a name fits both");

static behaviour_file file;
static int library = -1;
static behaviour_headers headers;
static gyre_behaviour whole; /* with its headers, for devices */
static const gyre_behaviour *loaded;

/* For as long as the process lives. */
static gyre_status open_library(void)
{
    char path[64];
    const gyre_behaviour *found;
    void *handle;

    snprintf(path, sizeof path, "/proc/self/fd/%d", library);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return gyre_fail(GYRE_BUILD, "behaviour '%s' cannot be loaded: %s", file.name, dlerror());
    found = dlsym(handle, file.name);
    if (!found)
        return gyre_fail(GYRE_BUILD,
                         "there is no behaviour '%s' in what was compiled: it is left out by "
                         "the preprocessor, or made by another macro",
                         file.name);
    whole = *found;
    whole.includes = headers.list;
    loaded = &whole;
    return GYRE_OK;
}

static gyre_status load(const gyre_behaviour **out_behaviour)
{
    gyre_status status = GYRE_OK;

    if (library < 0) /* another program has started this process, and given none */
        status = behaviour_build(&file, &library);
    if (status == GYRE_OK && !loaded)
        status = open_library();
    *out_behaviour = loaded;
    return status;
}

/* For the processes that this one starts. */
static gyre_status hand_down(void)
{
    char number[16];

    snprintf(number, sizeof number, "%d", library);
    if (setenv(gyre_settings_at(GYRE_SETTING_BEHAVIOUR)->name, number, 1) == 0)
        return GYRE_OK;
    return gyre_fail(GYRE_NO_MEMORY, "out of memory for the environment");
}

static gyre_status find_library(const gyre_behaviour_request *request)
{
    const char *const number = gyre_settings_text(GYRE_SETTING_BEHAVIOUR);
    gyre_status status = GYRE_OK;
    long long fd = -1;

    if (request->worker) {
        if (number[0] && !gyre_text_count(number, 3, 1 << 20, &fd))
            return gyre_fail(GYRE_INVALID,
                             "GYRE_BEHAVIOUR is set by Gyre, not by people; unset it");
        library = (int)fd;
        return GYRE_OK;
    }
    if (request->list)
        return GYRE_OK;
    status = behaviour_build(&file, &library);
    return status == GYRE_OK ? hand_down() : status;
}

gyre_status behaviour_bench(const gyre_behaviour_request *request,
                            const gyre_suite *const **out_suites)
{
    static const gyre_suite *suites[2];
    gyre_behaviour_bench bench = {.name = file.name,
                                  .load = load,
                                  .message = {.type = request->type},
                                  .body_bytes = request->body_bytes,
                                  .payload_bytes = request->payload_bytes,
                                  .shared_bytes = request->shared_bytes,
                                  .seats = request->seats,
                                  .threads = request->threads};
    gyre_status status = behaviour_file_read(&file, request->file);

    *out_suites = suites;
    if (status == GYRE_OK && request->shared_bytes == 0 &&
        behaviour_names(file.text, "self", "shared"))
        status = gyre_fail(GYRE_INVALID,
                           "'%.*s' uses self->shared, of which there is none; --shared BYTES says "
                           "how much a block has",
                           gyre_text_cut(strlen(request->file)), request->file);
    if (status == GYRE_OK)
        status = behaviour_headers_read(&headers, &file);
    if (status == GYRE_OK)
        status = find_library(request);
    if (status != GYRE_OK)
        return status;
    memcpy(bench.message.body.bytes + (request->payload_bytes ? GYRE_BEHAVIOUR_FRONT_BYTES : 0),
           request->body, request->body_bytes);
    suites[0] = gyre_suite_behaviour(&bench);
    return GYRE_OK;
}
