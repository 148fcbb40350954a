/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup: what the control groups around this process allow it. See cgroup.c.
 */
#ifndef GYRE_BASE_CGROUP_H
#define GYRE_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/topology.h"

enum { GYRE_CGROUP_PATH_BYTES = 2048 };

typedef struct gyre_cgroup_limits {
    uint32_t version;      /* 1, 2, or 0 when no hierarchy is mounted */
    double cpu_quota;      /* in CPUs; 0 none */
    uint64_t memory_bytes; /* 0 none */
    gyre_cpu_set cpuset;   /* empty when unknown */
} gyre_cgroup_limits;

/* Reads the limits of this process through `file`; what cannot be read does not limit. */
void gyre_cgroup_read(gyre_sysfile *file, gyre_cgroup_limits *out_limits);

/* "150000 100000" is 1.5 CPUs; "max 100000" is 0, no limit. False, and 0, when malformed. */
bool gyre_cgroup_parse_cpu_max(const char *text, double *out_cpus);

/* The path of the process in the hierarchy that has `controller` ("" for version 2), out of
 * /proc/self/cgroup. False when it is not there, does not fit or climbs with "..". */
bool gyre_cgroup_parse_path(const char *text, const char *controller,
                            char out_path[GYRE_CGROUP_PATH_BYTES]);

typedef struct gyre_cgroup_mount {
    char point[GYRE_CGROUP_PATH_BYTES]; /* where it is mounted */
    char root[GYRE_CGROUP_PATH_BYTES];  /* which of its directories is */
} gyre_cgroup_mount;

/* Where the hierarchy that has `controller` ("" for version 2) is mounted, out of
 * /proc/self/mountinfo. False when it is not, or a path does not fit. */
bool gyre_cgroup_parse_mount(const char *text, const char *controller,
                             gyre_cgroup_mount *out_mount);

#endif
