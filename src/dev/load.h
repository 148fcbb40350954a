/* SPDX-License-Identifier: Apache-2.0
 *
 * load: from a program to a module on a device, by the shortest way: functions or image as they
 * are, source from the disk cache, source through the compiler.
 */
#ifndef GYRE_DEV_LOAD_H
#define GYRE_DEV_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/backend.h"
#include "gyre/common.h"
#include "gyre/program.h"
#include "gyre/status.h"

typedef struct gyre_loaded {
    gyre_dev_module *module; /* the caller's to close */
    bool from_cache;
    uint64_t build_ns; /* in the compiler; 0 when it was not asked */
    size_t image_bytes;
} gyre_loaded;

/* `entries`, up to NULL, are those that will be opened (dev/backend.h). A cached image that the
 * driver does not take counts as unsound and is compiled again. The statuses are those of
 * gyre_kernel_create. Sets this thread's build log. May block for seconds. */
GYRE_MUST_USE gyre_status gyre_load(const gyre_device *device, gyre_dev *dev,
                                    const gyre_program *program, const char *const *entries,
                                    bool no_cache, gyre_loaded *out_loaded);

#endif
