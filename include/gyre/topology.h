/* SPDX-License-Identifier: Apache-2.0
 *
 * topology: the machine as this process may use it.
 *
 * Which CPUs there are, which share a core, a cache or memory, how much memory there is, and what
 * the container around us allows. Read once from sysfs, procfs and the cgroup tree; what cannot be
 * read is reported as unknown (0, -1 or "" as each field says), never guessed and never a failure.
 *
 * Threads   a topology does not change once created: any number of threads may read it.
 * Owns      its own copy of everything; the strings and arrays it hands out live as long as it.
 * Not here  what the processor can do (gyre/cpu.h), pinning threads (gyre/thread.h).
 */
#ifndef GYRE_TOPOLOGY_H
#define GYRE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/alloc.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

typedef struct gyre_topology gyre_topology;

/* Zero means default, everywhere. */
typedef struct gyre_topology_options {
    size_t struct_size;              /* sizeof(gyre_topology_options): lets the struct grow */
    const gyre_allocator *allocator; /* copied; default malloc */
} gyre_topology_options;

enum { GYRE_SMT_MAX = 8 }; /* CPUs of one core that are told apart */

/* Fields of this struct and those below are only ever added at the end. */
typedef struct gyre_topology_cpu {
    uint32_t id;                    /* the kernel's number, as sched_setaffinity counts */
    int32_t core_id;                /* unique within its package only; -1 unknown */
    int32_t package_id;             /* the socket; -1 unknown */
    int32_t node_id;                /* the NUMA node; -1 unknown */
    uint32_t sibling_count;         /* online CPUs of the same core, itself included; 0 unknown */
    uint32_t smt_index;             /* its place among them: one CPU a core has 0 */
    uint32_t sibling[GYRE_SMT_MAX]; /* their ids, ascending */
    bool allowed;                   /* this process may run here */
} gyre_topology_cpu;

typedef enum gyre_cache_type {
    GYRE_CACHE_DATA = 0,
    GYRE_CACHE_INSTRUCTION = 1,
    GYRE_CACHE_UNIFIED = 2,
} gyre_cache_type;

/* One cache, not one kind of cache: a machine with 8 cores has 8 of most. */
typedef struct gyre_topology_cache {
    uint32_t level; /* 1 is nearest */
    gyre_cache_type type;
    uint64_t size_bytes;  /* 0 unknown */
    uint32_t line_bytes;  /* 0 unknown */
    uint32_t cpu_count;   /* online CPUs that share it, at least 1 */
    const uint32_t *cpus; /* their ids, ascending */
} gyre_topology_cache;

typedef struct gyre_topology_node {
    uint32_t id;
    uint32_t cpu_count;   /* online; 0 for memory without processors */
    const uint32_t *cpus; /* their ids, ascending; NULL when there are none */
    /* As the node says; in some virtual machines less than the machine's own figure. 0 unknown. */
    uint64_t memory_bytes;
    uint64_t free_bytes; /* when it was read; 0 unknown */
} gyre_topology_node;

/* Who gets transparent huge pages. */
typedef enum gyre_thp_mode {
    GYRE_THP_UNKNOWN = 0,
    GYRE_THP_NEVER = 1,
    GYRE_THP_MADVISE = 2,
    GYRE_THP_ALWAYS = 3,
} gyre_thp_mode;

typedef struct gyre_topology_info {
    uint32_t cpu_count;     /* online, at least 1 */
    uint32_t allowed_count; /* of those, where the creating thread might run; at least 1 */
    uint32_t core_count;    /* 0 unknown */
    uint32_t package_count; /* 0 unknown */
    uint32_t cache_count;   /* 0 unknown */
    uint32_t node_count;    /* 0 unknown, or a kernel without NUMA */
    /* Whether sibling counts can be believed: not when they cannot be read, nor in a virtual
     * machine that shows every CPU as a core of its own; two may still be one core outside. */
    bool smt_visible;
    bool wsl; /* Windows Subsystem for Linux */
    gyre_thp_mode thp;
    uint64_t page_bytes;
    uint64_t huge_page_bytes;    /* the default size; 0 unknown */
    uint64_t memory_bytes;       /* of the machine */
    uint64_t available_bytes;    /* without swapping, when it was read; 0 unknown */
    uint64_t memory_limit_bytes; /* the tightest of our cgroup and those above it; 0 none */
    double cpu_quota;            /* CPUs' worth of time that they grant: 1.5; 0 none */
    uint32_t cgroup_version;     /* 1 or 2, of the hierarchy that has the limits; 0 neither */
    uint32_t cpuset_count;       /* CPUs of our cgroup's cpuset; 0 unknown */
    const uint32_t *cpuset;      /* their ids, ascending; NULL when unknown */
    const char *container;       /* "docker" or "podman" when one left its mark, else "": a hint */
    const char *kernel_release;  /* as uname -r */
} gyre_topology_info;

/* Reads the machine. NULL options mean all defaults. GYRE_INVALID for options without struct_size
 * or half an allocator, GYRE_UNSUPPORTED for an option this version does not know, GYRE_NO_MEMORY,
 * GYRE_UNAVAILABLE in a child forked after the library was used. Thread-safe; blocks while it reads
 * about 30 small files for each CPU; not for signal handlers. */
GYRE_API GYRE_MUST_USE gyre_status gyre_topology_create(const gyre_topology_options *options,
                                                        gyre_topology **out_topology);

/* The whole at a glance. Borrowed; valid until destroy. Thread-safe, never blocks, may be called
 * from a signal handler; like the three below. */
GYRE_API const gyre_topology_info *gyre_topology_describe(const gyre_topology *topology);

/* The index-th online CPU, by ascending id; NULL past the last. Borrowed likewise. */
GYRE_API const gyre_topology_cpu *gyre_topology_cpu_at(const gyre_topology *topology,
                                                       uint32_t index);

/* The index-th cache, NULL past the last. Borrowed likewise. */
GYRE_API const gyre_topology_cache *gyre_topology_cache_at(const gyre_topology *topology,
                                                           uint32_t index);

/* The index-th NUMA node, by ascending id; NULL past the last. Borrowed likewise. */
GYRE_API const gyre_topology_node *gyre_topology_node_at(const gyre_topology *topology,
                                                         uint32_t index);

/* How many threads should compute at once here: the CPUs this process may run on, or the quota
 * rounded up where that is less; at least 1. NULL asks the machine now, and reads only what this
 * answer needs. Thread-safe; NULL may block on reading files and is not for signal handlers. */
GYRE_API uint32_t gyre_topology_worker_count(const gyre_topology *topology);

/* "always", "madvise", "never"; "unknown" otherwise. Borrowed, static. Thread-safe, never blocks,
 * may be called from a signal handler. */
GYRE_API const char *gyre_thp_mode_name(gyre_thp_mode mode);

/* "data", "instruction", "unified"; "unknown" outside the enum. As gyre_thp_mode_name. */
GYRE_API const char *gyre_cache_type_name(gyre_cache_type type);

/* Frees the topology and everything borrowed from it; NULL is a no-op. No other thread may be
 * reading it. Never blocks; not for signal handlers. */
GYRE_API void gyre_topology_destroy(gyre_topology *topology);

GYRE_END_DECLS

#endif
