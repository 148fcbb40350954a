/* SPDX-License-Identifier: Apache-2.0
 *
 * text: the headers that a behaviour is compiled with on a device, as text.
 *
 * Threads   const data.
 * Owns      nothing.
 */
#ifndef GYRE_ACTOR_TEXT_H
#define GYRE_ACTOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/behaviour.h"
#include "gyre/common.h"
#include "gyre/program.h"
#include "gyre/status.h"

/* So many there may be: who writes them down has a bit for each. */
enum { GYRE_ACTOR_TEXTS_MOST = 32 };

/* By the names that they include each other by; up to one without a name. */
extern const gyre_include gyre_actor_texts[];

/* What a program begins with, for CUDA, else for OpenCL. Static. */
const char *gyre_actor_text_before(bool cuda);

/* A letter of a file's name as it may stand in a #line: what would end the string is a '_'. */
char gyre_actor_text_letter(char letter);

/* The whole program of a behaviour for CUDA, else for OpenCL: its own text, under its own name, and
 * the loop behind it. From gyre_alloc(NULL, *out_room, 1). */
GYRE_MUST_USE gyre_status gyre_actor_text(const gyre_behaviour *behaviour, bool cuda,
                                          char **out_text, size_t *out_room);

/* Whether a compiler complained about a header that the text includes and the behaviour does not
 * bring; its name then, cut where there is no room. */
bool gyre_actor_text_misses(const gyre_behaviour *behaviour, const char *complaint, char *name,
                            size_t room);

#endif
