/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: how the structs that hosts and devices share lie in memory, as data.
 *
 * For tools that print or check them, and for who reads such memory from another language.
 *
 * Threads   const data; any.
 * Owns      nothing.
 * Not here  the structs themselves (gyre/actor_abi.h, gyre/message_abi.h).
 */
#ifndef GYRE_LAYOUT_H
#define GYRE_LAYOUT_H

#include <stddef.h>

#include "gyre/common.h"

GYRE_BEGIN_DECLS

typedef struct gyre_layout_field {
    const char *name;    /* as it is reached in C: "host.active" */
    const char *type;    /* "u8", "u16", "u32", "u64" */
    const char *writer;  /* who writes it while it is shared: "host", "device", "sender" */
    const char *meaning; /* one line */
    size_t offset;
    size_t size;
} gyre_layout_field;

typedef struct gyre_layout {
    const char *name; /* of the C type */
    size_t size;
    size_t alignment;
    const gyre_layout_field *fields; /* by offset; what is between them is zero */
    size_t field_count;
} gyre_layout;

/* The layouts, from 0 on; NULL behind the last. Static. Thread-safe, never blocks, may be called
 * from a signal handler. */
GYRE_API const gyre_layout *gyre_layout_at(size_t index);

GYRE_END_DECLS

#endif
