/* SPDX-License-Identifier: Apache-2.0
 *
 * lasting: texts that stay to the end of the process, each once.
 *
 * For names of things that end before the traces in which they are named.
 *
 * Threads   any.
 * Owns      the texts.
 */
#ifndef GYRE_BASE_LASTING_H
#define GYRE_BASE_LASTING_H

/* A copy that stays; the same pointer for the same text. "?" when there is no memory for it. May
 * block in a lock. */
const char *gyre_lasting(const char *text);

#endif
