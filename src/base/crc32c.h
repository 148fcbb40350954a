/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c: the Castagnoli checksum of iSCSI, ext4 and others, by the processor's own instruction
 * where it has one.
 *
 * Threads   any; pure.
 */
#ifndef GYRE_BASE_CRC32C_H
#define GYRE_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Chain several pieces by giving one result as the next seed; start with 0. */
uint32_t gyre_crc32c(const void *data, size_t size, uint32_t seed);

/* The same by tables, on any processor. */
uint32_t gyre_crc32c_plain(const void *data, size_t size, uint32_t seed);

#endif
