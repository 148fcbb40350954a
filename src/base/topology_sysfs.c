/* SPDX-License-Identifier: Apache-2.0
 *
 * topology_sysfs: which CPUs share a core, a cache, a socket and a memory.
 *
 * Each CPU belongs to one node and to one cache of each index, whatever the lists claim: the first
 * that names it keeps it. So a cache is read once, not once for each CPU that shares it, and a tree
 * that contradicts itself costs no more memory than a sound one.
 *
 * Threads   pure functions on the caller's data.
 * Owns      nothing; what it allocates belongs to the topology.
 * Not here  which CPUs are online (topology.c), formats (topology_parse.c).
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/topology.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

const uint32_t *gyre_topology_keep(gyre_topology *topology, const gyre_cpu_set *set,
                                   uint32_t *out_count)
{
    uint32_t *ids = topology->ids + topology->id_count;
    uint32_t count = 0;

    for (uint32_t id = gyre_cpu_set_next(set, 0); id < GYRE_CPU_LIMIT;
         id = gyre_cpu_set_next(set, id + 1)) {
        assert(topology->id_count < GYRE_ID_LISTS * topology->info.cpu_count);
        ids[count++] = id;
        topology->id_count++;
    }
    *out_count = count;
    return count > 0 ? ids : NULL;
}

/* Leaves in `set` the online CPUs that nobody claimed before, and claims them. */
static void claim(gyre_cpu_set *set, const gyre_cpu_set *online, gyre_cpu_set *claimed)
{
    for (size_t i = 0; i < sizeof set->word / sizeof set->word[0]; i++) {
        set->word[i] &= online->word[i] & ~claimed->word[i];
        claimed->word[i] |= set->word[i];
    }
}

static int32_t read_id(gyre_sysfile *file, uint32_t cpu, const char *name)
{
    int32_t id;

    if (!gyre_sysfile_read(file, CPU_DIR "/cpu%u/topology/%s", cpu, name) ||
        !gyre_parse_i32(file->text, &id) || id < 0)
        return -1;
    return id;
}

static void read_siblings(gyre_topology_work *work, gyre_topology_cpu *cpu)
{
    uint32_t found[GYRE_SMT_MAX] = {0};
    uint32_t count = 0, place = 0;

    /* The first name is the newer; kernels before 5.4 have the second only. */
    if (!gyre_sysfile_read(&work->file, CPU_DIR "/cpu%u/topology/core_cpus_list", cpu->id) &&
        !gyre_sysfile_read(&work->file, CPU_DIR "/cpu%u/topology/thread_siblings_list", cpu->id))
        return;
    if (!gyre_parse_cpu_list(work->text, &work->some) || !gyre_cpu_set_has(&work->some, cpu->id))
        return;
    for (uint32_t id = gyre_cpu_set_next(&work->some, 0); id < GYRE_CPU_LIMIT;
         id = gyre_cpu_set_next(&work->some, id + 1)) {
        if (!gyre_cpu_set_has(&work->online, id))
            continue;
        if (count == GYRE_SMT_MAX)
            return;
        if (id == cpu->id)
            place = count;
        found[count++] = id;
    }
    memcpy(cpu->sibling, found, sizeof found);
    cpu->sibling_count = count;
    cpu->smt_index = place;
}

/* Room for the CPUs and for everything that is counted by them. */
static gyre_status reserve(gyre_topology *topology, uint32_t cpu_count)
{
    const gyre_allocator *allocator = topology->allocator;
    void *block;
    gyre_status status;

    topology->info.cpu_count = cpu_count;
    status = gyre_alloc(allocator, cpu_count, sizeof *topology->cpus, &block);
    topology->cpus = block;
    if (status != GYRE_OK)
        return status;
    status =
        gyre_alloc(allocator, cpu_count, GYRE_CACHE_INDICES * sizeof *topology->caches, &block);
    topology->caches = block;
    if (status != GYRE_OK)
        return status;
    status = gyre_alloc(allocator, cpu_count, GYRE_ID_LISTS * sizeof *topology->ids, &block);
    topology->ids = block;
    return status;
}

static void read_cpus(gyre_topology *topology, gyre_topology_work *work)
{
    gyre_topology_cpu *cpu = topology->cpus;

    for (uint32_t id = gyre_cpu_set_next(&work->online, 0); id < GYRE_CPU_LIMIT;
         id = gyre_cpu_set_next(&work->online, id + 1), cpu++) {
        cpu->id = id;
        cpu->core_id = read_id(&work->file, id, "core_id");
        cpu->package_id = read_id(&work->file, id, "physical_package_id");
        cpu->node_id = -1;
        cpu->allowed = gyre_cpu_set_has(&work->allowed, id);
        topology->info.allowed_count += cpu->allowed;
        read_siblings(work, cpu);
    }
}

/* Cores and packages are counted only when every CPU says where it belongs. */
static void count_cores(gyre_topology *topology, bool virtual_machine)
{
    const gyre_topology_cpu *cpus = topology->cpus;
    gyre_topology_info *info = &topology->info;
    uint32_t cores = 0, packages = 0;
    bool cores_known = true, packages_known = true, shared = false;

    for (uint32_t i = 0; i < info->cpu_count; i++) {
        uint32_t first = 0;

        cores_known = cores_known && cpus[i].sibling_count > 0;
        packages_known = packages_known && cpus[i].package_id >= 0;
        shared = shared || cpus[i].sibling_count > 1;
        cores += cpus[i].smt_index == 0;
        while (cpus[first].package_id != cpus[i].package_id)
            first++;
        packages += first == i;
    }
    info->core_count = cores_known ? cores : 0;
    info->package_count = packages_known ? packages : 0;
    info->smt_visible = cores_known && (shared || !virtual_machine);
}

/* Level and type; false when there is no such cache or it does not say what it is. */
static bool read_cache_kind(gyre_sysfile *file, uint32_t cpu, uint32_t index,
                            gyre_topology_cache *cache)
{
    static const char *const types[] = {
        [GYRE_CACHE_DATA] = "Data\n",
        [GYRE_CACHE_INSTRUCTION] = "Instruction\n",
        [GYRE_CACHE_UNIFIED] = "Unified\n",
    };
    int32_t level;

    if (!gyre_sysfile_read(file, CPU_DIR "/cpu%u/cache/index%u/level", cpu, index) ||
        !gyre_parse_i32(file->text, &level) || level < 1)
        return false;
    cache->level = (uint32_t)level;
    if (!gyre_sysfile_read(file, CPU_DIR "/cpu%u/cache/index%u/type", cpu, index))
        return false;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(file->text, types[i]) == 0) {
            cache->type = (gyre_cache_type)i;
            return true;
        }
    }
    return false;
}

static void read_cache(gyre_topology *topology, gyre_topology_work *work, uint32_t cpu,
                       uint32_t index)
{
    gyre_sysfile *file = &work->file;
    gyre_topology_cache *cache = &topology->caches[topology->info.cache_count];
    uint64_t line_bytes;

    if (!read_cache_kind(file, cpu, index, cache))
        return;
    if (gyre_sysfile_read(file, CPU_DIR "/cpu%u/cache/index%u/size", cpu, index))
        (void)gyre_parse_size(file->text, &cache->size_bytes);
    if (gyre_sysfile_read(file, CPU_DIR "/cpu%u/cache/index%u/coherency_line_size", cpu, index) &&
        gyre_parse_u64(file->text, &line_bytes) && line_bytes <= UINT32_MAX)
        cache->line_bytes = (uint32_t)line_bytes;
    (void)gyre_sysfile_read(file, CPU_DIR "/cpu%u/cache/index%u/shared_cpu_list", cpu, index);
    (void)gyre_parse_cpu_list(file->text, &work->some);
    gyre_cpu_set_add(&work->some, cpu);
    claim(&work->some, &work->online, &work->cached[index]);
    cache->cpus = gyre_topology_keep(topology, &work->some, &cache->cpu_count);
    topology->info.cache_count++;
}

static void read_caches(gyre_topology *topology, gyre_topology_work *work)
{
    for (uint32_t i = 0; i < topology->info.cpu_count; i++) {
        const uint32_t cpu = topology->cpus[i].id;

        for (uint32_t index = 0; index < GYRE_CACHE_INDICES; index++) {
            if (!gyre_cpu_set_has(&work->cached[index], cpu))
                read_cache(topology, work, cpu, index);
        }
    }
}

static void read_node(gyre_topology *topology, gyre_topology_work *work, gyre_topology_node *node)
{
    if (gyre_sysfile_read(&work->file, NODE_DIR "/node%u/meminfo", node->id)) {
        (void)gyre_parse_meminfo(work->text, "MemTotal", &node->memory_bytes);
        (void)gyre_parse_meminfo(work->text, "MemFree", &node->free_bytes);
    }
    (void)gyre_sysfile_read(&work->file, NODE_DIR "/node%u/cpulist", node->id);
    (void)gyre_parse_cpu_list(work->text, &work->some);
    claim(&work->some, &work->online, &work->placed);
    node->cpus = gyre_topology_keep(topology, &work->some, &node->cpu_count);
    for (uint32_t i = 0; node->cpu_count > 0 && i < topology->info.cpu_count; i++) {
        if (gyre_cpu_set_has(&work->some, topology->cpus[i].id))
            topology->cpus[i].node_id = (int32_t)node->id;
    }
}

static gyre_status read_nodes(gyre_topology *topology, gyre_topology_work *work)
{
    gyre_topology_node *node;
    uint32_t count;
    void *block;
    gyre_status status;

    /* Nodes are listed as CPUs are, and Linux has at most 1024. */
    (void)gyre_sysfile_read(&work->file, NODE_DIR "/online");
    (void)gyre_parse_cpu_list(work->text, &work->nodes);
    count = gyre_cpu_set_count(&work->nodes);
    if (count == 0)
        return GYRE_OK;
    status = gyre_alloc(topology->allocator, count, sizeof *node, &block);
    if (status != GYRE_OK)
        return status;
    node = topology->nodes = block;
    topology->info.node_count = count;
    for (uint32_t id = gyre_cpu_set_next(&work->nodes, 0); id < GYRE_CPU_LIMIT;
         id = gyre_cpu_set_next(&work->nodes, id + 1), node++) {
        node->id = id;
        read_node(topology, work, node);
    }
    return GYRE_OK;
}

gyre_status gyre_topology_read_sysfs(gyre_topology *topology, gyre_topology_work *work)
{
    gyre_status status = reserve(topology, gyre_cpu_set_count(&work->online));

    if (status != GYRE_OK)
        return status;
    read_cpus(topology, work);
    count_cores(topology, work->virtual_machine);
    read_caches(topology, work);
    return read_nodes(topology, work);
}
