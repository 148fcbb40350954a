/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: sizes and offsets of the structs that callers and devices share, as compiled here.
 *
 * What devices share comes first, with who writes it and what it means.
 */
#ifndef GYRE_APPS_LAYOUT_H
#define GYRE_APPS_LAYOUT_H

#include <stdbool.h>

/* Prints every struct with its fields, as text or as JSON. */
void layout_print(bool as_json);

#endif
