/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour: what callers fill in, as this version of Gyre knows it.
 *
 * Threads   any.
 * Owns      nothing.
 */
#include "actor/actor.h"
#include "base/fail.h"
#include "base/options.h"
#include "gyre/clock.h"

uint64_t gyre_self_now(gyre_self *self)
{
    (void)self;
    return gyre_clock_now_ns();
}

gyre_status gyre_behaviour_read(const gyre_behaviour *behaviour, gyre_behaviour *out_behaviour)
{
    gyre_behaviour *const b = out_behaviour;
    const gyre_status status = GYRE_OPTIONS_READ(*b, behaviour);

    if (status != GYRE_OK)
        return status;
    if (!b->name)
        return gyre_fail(GYRE_INVALID, "an actor needs a behaviour with a name");
    if (b->width != GYRE_WIDTH_QUAD && b->width != GYRE_WIDTH_WARP && b->width != GYRE_WIDTH_BLOCK)
        return gyre_fail(GYRE_INVALID,
                         "behaviour '%s': a width of %u; GYRE_WIDTH_QUAD, GYRE_WIDTH_WARP and "
                         "GYRE_WIDTH_BLOCK (%d, %d, %d) are all there are",
                         b->name, b->width, GYRE_WIDTH_QUAD, GYRE_WIDTH_WARP, GYRE_WIDTH_BLOCK);
    if ((b->image != NULL) != (b->image_bytes > 0))
        return gyre_fail(GYRE_INVALID, "behaviour '%s': an image and its size go together",
                         b->name);
    return GYRE_OK;
}
