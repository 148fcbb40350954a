/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive_targets: what actors ought to reach beside launches and graphs that do the same, on
 * any GPU, as a text of gyre.targets/1 (docs/formats/targets.md).
 */
#ifndef GYRE_SUITES_INTERACTIVE_TARGETS_H
#define GYRE_SUITES_INTERACTIVE_TARGETS_H

/* Static, terminated. */
extern const char gyre_interactive_targets[];

#endif
