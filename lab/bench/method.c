/* SPDX-License-Identifier: Apache-2.0
 *
 * method: see method.h.
 */
#include "bench/method.h"

gyre_method gyre_method_defaults(const gyre_method *method)
{
    gyre_method with = method ? *method : (gyre_method){0};

    if (with.sample_count == 0)
        with.sample_count = 100;
    if (with.sample_count < GYRE_LEAST_SAMPLES)
        with.sample_count = GYRE_LEAST_SAMPLES;
    if (with.sample_count > GYRE_MOST_SAMPLES)
        with.sample_count = GYRE_MOST_SAMPLES;
    if (with.warm_up_ns == 0)
        with.warm_up_ns = 1000000000;
    if (with.measurement_ns == 0)
        with.measurement_ns = 3000000000;
    if (with.confidence <= 0 || with.confidence >= 1)
        with.confidence = 0.95;
    if (with.resamples == 0)
        with.resamples = 10000;
    if (with.noise_threshold <= 0)
        with.noise_threshold = 0.01;
    if (with.significance <= 0 || with.significance >= 1)
        with.significance = 0.05;
    if (with.skip_when == GYRE_HEALTH_GOOD)
        with.skip_when = GYRE_HEALTH_CRITICAL;
    return with;
}

const char *gyre_sampling_name(gyre_sampling sampling)
{
    static const char *const names[] = {"auto", "linear", "flat"};

    return (size_t)sampling < sizeof names / sizeof names[0] ? names[sampling] : "unknown";
}
