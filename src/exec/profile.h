/* SPDX-License-Identifier: Apache-2.0
 *
 * profile: what a stream calls around each submission. See gyre/profile.h for the contract.
 */
#ifndef GYRE_EXEC_PROFILE_H
#define GYRE_EXEC_PROFILE_H

#include <stdint.h>

#include "exec/stream.h"

/* Around a submission, with the stream's lock held. Cost one load while no profile is on. */
void gyre_profile_enter(gyre_stream *stream);
void gyre_profile_leave(gyre_stream *stream, const char *name, gyre_status status);

/* Its context; NULL while the profile is on. */
const gyre_context *gyre_profile_context(const struct gyre_profile *profile);

#endif
