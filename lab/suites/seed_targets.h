/* SPDX-License-Identifier: Apache-2.0
 *
 * seed_targets: what the five seed documents aim at or expect, as a text of gyre.targets/1
 * (docs/formats/targets.md).
 *
 * Not here  rules about the difference of two runs: those are the gate's.
 */
#ifndef GYRE_SUITES_SEED_TARGETS_H
#define GYRE_SUITES_SEED_TARGETS_H

/* Static, terminated. */
extern const char gyre_seed_targets[];

#endif
