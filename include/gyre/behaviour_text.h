/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_text: the one text that a device's compiler gets for a behaviour.
 *
 * It is the text of the behaviour, with what it includes of Gyre's and of its own, and the loop of
 * the device behind it. Nothing else is needed to compile it: `gyre behaviour FILE.c` prints it,
 * and nvcc makes an image of it for machines that have no compiler.
 *
 * Threads   any.
 * Owns      nothing.
 * Not here  what a behaviour is, and where its image goes (gyre/behaviour.h).
 */
#ifndef GYRE_BEHAVIOUR_TEXT_H
#define GYRE_BEHAVIOUR_TEXT_H

#include <stddef.h>

#include "gyre/behaviour.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* Values are frozen. */
typedef enum gyre_behaviour_language {
    GYRE_BEHAVIOUR_IN_CUDA = 0,
    GYRE_BEHAVIOUR_IN_OPENCL = 1,
} gyre_behaviour_language;

/* Writes the text to `into`, as much as `room` bytes hold with a 0 behind it, and how long the
 * whole is to *out_size: when that is not below `room`, it was cut. NULL with a room of 0 asks for
 * the size alone. Of the behaviour `text`, `file`, `includes` and `defines` are used; complaints of
 * a compiler name `file` and its lines. GYRE_INVALID without a text or a file, or when its includes
 * go round in circles. Thread-safe, never blocks. */
GYRE_API GYRE_MUST_USE gyre_status gyre_behaviour_text(const gyre_behaviour *behaviour,
                                                       gyre_behaviour_language language, char *into,
                                                       size_t room, size_t *out_size);

GYRE_END_DECLS

#endif
