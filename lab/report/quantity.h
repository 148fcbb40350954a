/* SPDX-License-Identifier: Apache-2.0
 *
 * quantity: numbers with units, as people read them.
 *
 * Threads   any; pure.
 */
#ifndef GYRE_REPORT_QUANTITY_H
#define GYRE_REPORT_QUANTITY_H

#include <stdint.h>

#include "gyre/common.h"

enum { GYRE_QUANTITY_BYTES = 32 };

typedef struct gyre_quantity {
    char text[GYRE_QUANTITY_BYTES];
} gyre_quantity;

/* Four significant digits or more, in ps, ns, us, ms or s: "12.345 us". */
gyre_quantity gyre_quantity_time(double ns);

/* A rate of `work` per iteration of `ns`: "1.2345 GiB/s", "12.345 Melem/s". */
gyre_quantity gyre_quantity_bytes_rate(uint64_t work, double ns);
gyre_quantity gyre_quantity_items_rate(uint64_t work, double ns);

/* "512 B", "32 KiB", "1.5 GiB". */
gyre_quantity gyre_quantity_bytes(uint64_t bytes);

/* A part of 1 in percent, without the sign for that: "1.27"; "inf" when it has no end. */
gyre_quantity gyre_quantity_percent(double part);

/* The same of a change: "+1.27", "-0.50". */
gyre_quantity gyre_quantity_change(double part);

#endif
