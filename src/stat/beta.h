/* SPDX-License-Identifier: Apache-2.0
 *
 * beta: the regularised incomplete beta function, on which Student's t and binomial bounds stand.
 *
 * I_x(a, b) is the probability that a value of the beta distribution is at most x. The fraction
 * that computes it converges where x is below the middle of the distribution; above it, the
 * complement is computed. So small probabilities are as exact as large ones: to about 1e-13 of
 * themselves, and 1e-16 times the larger of a and b where that is more and x far from the middle.
 * Both may be 1e9, one of them 1e17.
 *
 * Threads   any; pure.
 * Owns      nothing.
 */
#ifndef GYRE_STAT_BETA_H
#define GYRE_STAT_BETA_H

/* I_x(a, b) for a and b above 0: 0 for x up to 0, 1 from 1 on. */
double gyre_stat_beta(double x, double a, double b);

/* The same, where 1 - x is known better than x tells: `rest` is that. */
double gyre_stat_beta_parts(double x, double rest, double a, double b);

/* The smallest x with I_x(a, b) >= p, p in [0, 1]. */
double gyre_stat_beta_quantile(double p, double a, double b);

#endif
