/* SPDX-License-Identifier: Apache-2.0
 *
 * topology: reading a machine described under any directory, and the texts it is described in.
 *
 * The files may come from a fake tree or a hostile one, so everything is bounded: a file counts up
 * to GYRE_SYSFILE_BYTES, a CPU up to GYRE_CPU_LIMIT, and a list must ascend, as the kernel's do. A
 * malformed text is refused whole, and what it would have said is unknown.
 *
 * Threads   pure functions on the caller's data.
 * Owns      nothing.
 * Not here  cgroups (base/cgroup.h).
 */
#ifndef GYRE_BASE_TOPOLOGY_H
#define GYRE_BASE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sysfile.h"
#include "gyre/common.h"
#include "gyre/topology.h"

enum { GYRE_CPU_LIMIT = 8192 }; /* the largest NR_CPUS that Linux can be configured with */

typedef struct gyre_cpu_set {
    uint64_t word[GYRE_CPU_LIMIT / 64];
} gyre_cpu_set;

static inline bool gyre_cpu_set_has(const gyre_cpu_set *set, uint32_t cpu)
{
    return cpu < GYRE_CPU_LIMIT && (set->word[cpu / 64] >> cpu % 64 & 1) != 0;
}

/* Adds `cpu`, which is below the limit. */
GYRE_API void gyre_cpu_set_add(gyre_cpu_set *set, uint32_t cpu);
GYRE_API uint32_t gyre_cpu_set_count(const gyre_cpu_set *set);

/* The lowest member at or above `from`; GYRE_CPU_LIMIT when there is none. */
GYRE_API uint32_t gyre_cpu_set_next(const gyre_cpu_set *set, uint32_t from);

/* "0-3,8": false, and an empty set, when malformed, descending or beyond the limit. An empty text
 * is an empty list. */
GYRE_API bool gyre_parse_cpu_list(const char *text, gyre_cpu_set *out_set);

/* A whole number and nothing else but a final newline. False, and 0, when malformed or too large.
 */
bool gyre_parse_u64(const char *text, uint64_t *out_value);
bool gyre_parse_i32(const char *text, int32_t *out_value);

/* "32K", "1M", "512": bytes. False, and 0, likewise. */
bool gyre_parse_size(const char *text, uint64_t *out_bytes);

/* The value of `key` in /proc/meminfo or a node's meminfo, in bytes. False, and 0, without it. */
GYRE_API bool gyre_parse_meminfo(const char *text, const char *key, uint64_t *out_bytes);

/* "always [madvise] never": the one in brackets. */
gyre_thp_mode gyre_parse_thp(const char *text);

/* What the files do not say. */
typedef struct gyre_topology_source {
    const char *root;    /* as in gyre_sysfile */
    const char *allowed; /* the affinity as a list; NULL asks sched_getaffinity */
    bool virtual_machine;
} gyre_topology_source;

/* gyre_topology_create on any source. `allocator` is checked by the caller. */
GYRE_MUST_USE gyre_status gyre_topology_read(const gyre_topology_source *source,
                                             const gyre_allocator *allocator,
                                             gyre_topology **out_topology);

enum {
    GYRE_CACHE_INDICES = 8, /* index0..index7 of a CPU; today's have 4 or 5 */
    GYRE_ID_LISTS =
        GYRE_CACHE_INDICES + 2, /* a CPU is in one cache of each, one node, one cpuset */
};

struct gyre_topology {
    gyre_allocator allocator_copy;
    const gyre_allocator *allocator; /* the copy, or NULL for malloc */
    gyre_topology_info info;
    gyre_topology_cpu *cpus;
    gyre_topology_node *nodes;
    gyre_topology_cache *caches; /* GYRE_CACHE_INDICES for each CPU; info counts those in use */
    uint32_t *ids;               /* every list of CPUs, one after the other; GYRE_ID_LISTS each */
    uint32_t id_count;
    char kernel_release[96];
};

/* What reading needs and the topology does not keep: too large for a small thread's stack. */
typedef struct gyre_topology_work {
    gyre_sysfile file; /* over `text` */
    bool virtual_machine;
    gyre_cpu_set online;  /* at least one; set before sysfs is read, like the next */
    gyre_cpu_set allowed; /* a subset, at least one */
    gyre_cpu_set some;    /* the list just parsed */
    gyre_cpu_set nodes;
    gyre_cpu_set placed;                     /* CPUs whose node is known */
    gyre_cpu_set cached[GYRE_CACHE_INDICES]; /* CPUs whose cache of this index is known */
    char text[GYRE_SYSFILE_BYTES];
} gyre_topology_work;

/* Fills CPUs, caches and nodes and their counts; topology_sysfs.c. */
GYRE_MUST_USE gyre_status gyre_topology_read_sysfs(gyre_topology *topology,
                                                   gyre_topology_work *work);

/* Writes the members behind the lists that are kept already; NULL for an empty set. No CPU may be
 * in more than GYRE_ID_LISTS of them, and all are online. */
const uint32_t *gyre_topology_keep(gyre_topology *topology, const gyre_cpu_set *set,
                                   uint32_t *out_count);

#endif
