/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviours: those of cmake/behaviours.cmake that a test is linked with.
 */
#ifndef GYRE_TESTS_BEHAVIOURS_H
#define GYRE_TESTS_BEHAVIOURS_H

#include "gyre/behaviour.h"

extern const gyre_behaviour *const behaviours[]; /* up to a NULL */

#endif
