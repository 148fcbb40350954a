/* SPDX-License-Identifier: Apache-2.0
 *
 * text: the headers that a behaviour is compiled with on a device, as text.
 *
 * Threads   const data.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_TEXT_H
#define GYRE_ACTOR_TEXT_H

#include "gyre/program.h"

/* By the names that they include each other by; up to one without a name. */
extern const gyre_include gyre_actor_texts[];

#endif
