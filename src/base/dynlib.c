/* SPDX-License-Identifier: Apache-2.0
 *
 * dynlib: see dynlib.h.
 */
#include "base/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"

struct gyre_dynlib {
    void *handle;
    char file[240];
};

/* dlerror's sentence. */
static const char *reason(void)
{
    const char *text = dlerror();

    return text ? text : "no reason given";
}

static gyre_status open_first(const char *const *files, gyre_dynlib *library)
{
    char why[160] = "";

    for (; *files; files++) {
        library->handle = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
        if (library->handle) {
            snprintf(library->file, sizeof library->file, "%s", *files);
            gyre_log(GYRE_LOG_DEBUG, GYRE_TOPIC_BASE, "loaded %s", *files);
            return GYRE_OK;
        }
        if (why[0] == '\0') /* what the usual one lacks is what the user can mend */
            snprintf(why, sizeof why, "%s", reason());
    }
    return gyre_fail(GYRE_UNAVAILABLE, "%s", why[0] ? why : "no file named");
}

gyre_status gyre_dynlib_open(const char *const *files, const char *const *symbols, void **table,
                             gyre_dynlib **out_library)
{
    gyre_dynlib *library;
    gyre_status status;
    void *block;
    size_t count = 0;

    *out_library = NULL;
    while (symbols[count])
        table[count++] = NULL;
    status = gyre_alloc(NULL, 1, sizeof *library, &block);
    if (status != GYRE_OK)
        return status;
    library = block;
    status = open_first(files, library);
    if (status != GYRE_OK)
        goto fail;
    for (size_t i = 0; i < count; i++) {
        table[i] = dlsym(library->handle, symbols[i]);
        if (!table[i]) {
            status = gyre_fail(GYRE_UNAVAILABLE, "%s has no %s; a newer one is needed",
                               library->file, symbols[i]);
            goto fail;
        }
    }
    *out_library = library;
    return GYRE_OK;
fail:
    memset(table, 0, count * sizeof table[0]);
    gyre_dynlib_close(library);
    return status;
}

void *gyre_dynlib_symbol(const gyre_dynlib *library, const char *symbol)
{
    return dlsym(library->handle, symbol);
}

const char *gyre_dynlib_file(const gyre_dynlib *library)
{
    return library->file;
}

void gyre_dynlib_close(gyre_dynlib *library)
{
    if (!library)
        return;
    if (library->handle)
        dlclose(library->handle);
    gyre_free(NULL, library, 1, sizeof *library);
}
