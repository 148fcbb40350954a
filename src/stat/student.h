/* SPDX-License-Identifier: Apache-2.0
 *
 * student: Student's t distribution.
 *
 * Degrees of freedom are real, from 1; without end they mean the normal distribution.
 * Probabilities are exact to about 1e-13 of themselves in the far tail too, down to 1e-100.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_STUDENT_H
#define GYRE_STAT_STUDENT_H

#include "gyre/common.h"

/* P(T >= t), of either sign and infinite too. */
GYRE_API double gyre_stat_t_tail(double t, double freedom);

/* The t with P(T <= t) = p, p inside (0, 1). */
GYRE_API double gyre_stat_t_quantile(double p, double freedom);

#endif
