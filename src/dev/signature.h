/* SPDX-License-Identifier: Apache-2.0
 *
 * signature: the declared arguments of a kernel, as offsets and sizes. See gyre/kernel.h for the
 * words. Pure.
 */
#ifndef GYRE_DEV_SIGNATURE_H
#define GYRE_DEV_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#include "dev/backend.h"
#include "gyre/common.h"
#include "gyre/status.h"

enum { GYRE_ARGUMENTS_MOST = 64 };

typedef struct gyre_signature {
    gyre_dev_argument arguments[GYRE_ARGUMENTS_MOST];
    uint32_t count;
    uint32_t bytes;        /* up to the end of the last argument */
    uint32_t padded_bytes; /* as sizeof of the C struct */
} gyre_signature;

/* GYRE_INVALID, with the word that is wrong, for what is no signature; bytes never pass 4096. */
GYRE_MUST_USE gyre_status gyre_signature_parse(const char *text, gyre_signature *out_signature);

#endif
