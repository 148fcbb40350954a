/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_build: a behaviour file as a library that processes can load.
 *
 * The system's C compiler makes it, in a folder of its own that is gone when this returns, however
 * it does: Ctrl-C is held until then. What is left is a descriptor, which ends with the processes
 * that have it. What the compiler says goes to stderr as it is.
 *
 * Threads   one.
 * Owns      nothing: the descriptor is the caller's.
 */
#ifndef GYRE_BEHAVIOUR_BUILD_H
#define GYRE_BEHAVIOUR_BUILD_H

#include "behaviour_file.h"
#include "gyre/common.h"
#include "gyre/status.h"

/* Compiles it with CC, or cc. The descriptor stays open over exec. GYRE_BUILD when it does not
 * compile, GYRE_UNAVAILABLE without a compiler, GYRE_CANCELLED when it was interrupted, GYRE_IO,
 * also when it does not end within a minute. Blocks meanwhile. */
GYRE_MUST_USE gyre_status behaviour_build(const behaviour_file *file, int *out_fd);

#endif
