/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_targets: what actors ought to reach, on an H200 and on CPUs, as a text of gyre.targets/1
 * (docs/formats/targets.md).
 */
#ifndef GYRE_SUITES_ACTOR_TARGETS_H
#define GYRE_SUITES_ACTOR_TARGETS_H

/* Static, terminated. */
extern const char gyre_actor_targets[];

#endif
