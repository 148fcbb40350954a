/* SPDX-License-Identifier: Apache-2.0
 *
 * options: reads an options struct that an older or newer caller compiled.
 *
 * Every options struct begins with size_t struct_size. An older caller's struct is shorter: the
 * rest is zero, which means default. A newer caller's is longer: what we do not know must be zero,
 * or the caller would believe in something that is not done.
 */
#ifndef GYRE_BASE_OPTIONS_H
#define GYRE_BASE_OPTIONS_H

#include <stddef.h>

#include "gyre/common.h"
#include "gyre/status.h"

/* Fills `into` from `options`, which may be NULL (all defaults). GYRE_INVALID when struct_size is
 * not set, GYRE_UNSUPPORTED when a newer field is not zero. */
#define GYRE_OPTIONS_READ(into, options) gyre_options_read(&(into), sizeof(into), (options))

GYRE_MUST_USE gyre_status gyre_options_read(void *into, size_t size, const void *options);

#endif
