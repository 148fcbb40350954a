/* SPDX-License-Identifier: Apache-2.0
 *
 * image: whether an image that somebody made of a behaviour is one for this host.
 *
 * Threads   any.
 * Owns      nothing.
 * Not here  what images are made of (gyre/behaviour_text.h).
 */
#ifndef GYRE_ACTOR_IMAGE_H
#define GYRE_ACTOR_IMAGE_H

#include "actor/actor.h"
#include "gyre/common.h"
#include "gyre/program.h"
#include "gyre/status.h"

/* A name of actor/mailbox_abi.h as text. */
#define GYRE_IMAGE_NAME(name) GYRE_IMAGE_NAME_(name)
#define GYRE_IMAGE_NAME_(name) #name

/* Asks the image, by a kernel of it, of which behaviour it is. GYRE_NOT_FOUND when it has no such
 * kernel: it was made by another version of Gyre, or of something else; GYRE_INVALID when it is of
 * another width or state; otherwise as gyre_kernel_create and gyre_stream_sync. The actor has its
 * streams. */
GYRE_MUST_USE gyre_status gyre_image_check(gyre_actor *actor, const gyre_program *program);

#endif
