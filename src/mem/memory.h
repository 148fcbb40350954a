/* SPDX-License-Identifier: Apache-2.0
 *
 * memory: what those who take from a caller's source ask first.
 */
#ifndef GYRE_MEM_MEMORY_H
#define GYRE_MEM_MEMORY_H

#include "gyre/memory.h"

/* GYRE_INVALID when the source lacks its size or a function. */
GYRE_MUST_USE gyre_status gyre_memory_check(const gyre_memory *memory);

#endif
