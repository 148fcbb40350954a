/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_image: what compile makes and module_open takes: this head, the options' text with its
 * end, and the driver's binary. Lives no longer than the driver, so bytes are as they lie.
 *
 * The checksum is there because drivers trust their own binaries: a damaged one may crash them. It
 * keeps accidents out, not malice; who can write the cache can run code anyway.
 */
#ifndef GYRE_BACKENDS_OPENCL_IMAGE_H
#define GYRE_BACKENDS_OPENCL_IMAGE_H

#include <stdint.h>

#define GYRE_CL_IMAGE_MAGIC "GYRECL01"

typedef struct gyre_cl_image {
    char magic[8];
    uint64_t binary_bytes;
    uint32_t options_bytes; /* with the zero at their end */
    uint32_t checksum;      /* CRC-32C of all that follows */
} gyre_cl_image;

#endif
