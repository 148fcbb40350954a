/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel: what streams and graphs need of a kernel. See gyre/kernel.h for the contract.
 */
#ifndef GYRE_EXEC_KERNEL_H
#define GYRE_EXEC_KERNEL_H

#include <stdint.h>

#include "dev/backend.h"
#include "dev/signature.h"
#include "gyre/kernel.h"
#include "gyre/stream.h"

enum { GYRE_PARAMETERS_MOST = 4096 };

/* Where the parameters of one launch are put for the backend: aligned, and as long as it reads. */
typedef struct gyre_launch_room {
    _Alignas(16) unsigned char bytes[GYRE_PARAMETERS_MOST];
} gyre_launch_room;

gyre_context *gyre_kernel_context(const gyre_kernel *kernel);
const char *gyre_kernel_name(const gyre_kernel *kernel);
const gyre_signature *gyre_kernel_signature(const gyre_kernel *kernel);

/* Checks a launch and makes the backend's of it; `room` is only written where the caller's bytes
 * cannot be used as they are, and must live as long as `out_ready`. GYRE_INVALID,
 * GYRE_UNSUPPORTED. Pure. */
GYRE_MUST_USE gyre_status gyre_kernel_ready(gyre_kernel *kernel, const gyre_launch *launch,
                                            gyre_launch_room *room, gyre_dev_launch *out_ready);

/* The entry that does many launches like this one; NULL when there is none, or its blocks cannot be
 * as large. */
gyre_dev_kernel *gyre_kernel_many(const gyre_kernel *kernel, const gyre_dev_launch *launch);

/* What is submitted, checked and filled in (exec/stream.c). */
GYRE_MUST_USE gyre_status gyre_box_ready(const gyre_box *box, gyre_dev_copy *out_copy);
GYRE_MUST_USE gyre_status gyre_fill_ready(const gyre_fill *fill, gyre_dev_fill *out_fill);

#endif
