/* SPDX-License-Identifier: Apache-2.0 */
#include "base/topology.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/topology_fake.h"
#include "test.h"

#define CPU "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"

/* Two sockets, two cores each, two threads a core; CPU 8 is offline. */
static const fake_file two_packages[] = {
    FAKE(CPU "/online", "0-7\n"),
    FAKE(CPU "/offline", "8\n"),
    FAKE(CPU "/cpu0/topology/core_id", "0\n"),
    FAKE(CPU "/cpu0/topology/physical_package_id", "0\n"),
    FAKE(CPU "/cpu0/topology/thread_siblings_list", "0,4\n"),
    FAKE(CPU "/cpu1/topology/core_id", "1\n"),
    FAKE(CPU "/cpu1/topology/physical_package_id", "0\n"),
    FAKE(CPU "/cpu1/topology/thread_siblings_list", "1,5\n"),
    FAKE(CPU "/cpu2/topology/core_id", "0\n"),
    FAKE(CPU "/cpu2/topology/physical_package_id", "1\n"),
    FAKE(CPU "/cpu2/topology/thread_siblings_list", "2,6\n"),
    FAKE(CPU "/cpu3/topology/core_id", "1\n"),
    FAKE(CPU "/cpu3/topology/physical_package_id", "1\n"),
    FAKE(CPU "/cpu3/topology/core_cpus_list", "3,7-8\n"),
    FAKE(CPU "/cpu4/topology/core_id", "0\n"),
    FAKE(CPU "/cpu4/topology/physical_package_id", "0\n"),
    FAKE(CPU "/cpu4/topology/thread_siblings_list", "0,4\n"),
    FAKE(CPU "/cpu5/topology/core_id", "1\n"),
    FAKE(CPU "/cpu5/topology/physical_package_id", "0\n"),
    FAKE(CPU "/cpu5/topology/thread_siblings_list", "1,5\n"),
    FAKE(CPU "/cpu6/topology/core_id", "0\n"),
    FAKE(CPU "/cpu6/topology/physical_package_id", "1\n"),
    FAKE(CPU "/cpu6/topology/thread_siblings_list", "2,6\n"),
    FAKE(CPU "/cpu7/topology/core_id", "1\n"),
    FAKE(CPU "/cpu7/topology/physical_package_id", "1\n"),
    FAKE(CPU "/cpu7/topology/thread_siblings_list", "3,7\n"),
    FAKE(CPU "/cpu0/cache/index0/level", "1\n"),
    FAKE(CPU "/cpu0/cache/index0/type", "Data\n"),
    FAKE(CPU "/cpu0/cache/index0/size", "48K\n"),
    FAKE(CPU "/cpu0/cache/index0/coherency_line_size", "64\n"),
    FAKE(CPU "/cpu0/cache/index0/shared_cpu_list", "0,4\n"),
    FAKE(CPU "/cpu4/cache/index0/level", "1\n"),
    FAKE(CPU "/cpu4/cache/index0/type", "Data\n"),
    FAKE(CPU "/cpu4/cache/index0/shared_cpu_list", "0,4\n"),
    FAKE(CPU "/cpu0/cache/index3/level", "3\n"),
    FAKE(CPU "/cpu0/cache/index3/type", "Unified\n"),
    FAKE(CPU "/cpu0/cache/index3/size", "32768K\n"),
    FAKE(CPU "/cpu0/cache/index3/shared_cpu_list", "0-1,4-5\n"),
    FAKE(NODE "/online", "0-1,3\n"),
    FAKE(NODE "/node0/cpulist", "0-1,4-5\n"),
    FAKE(NODE "/node0/meminfo", "Node 0 MemTotal:  1000 kB\nNode 0 MemFree:  10 kB\n"),
    FAKE(NODE "/node1/cpulist", "2-3,6-7\n"),
    FAKE(NODE "/node1/meminfo", "Node 1 MemTotal:  2000 kB\n"),
    FAKE(NODE "/node3/cpulist", "\n"),
    FAKE(NODE "/node3/meminfo", "Node 3 MemTotal:  3000 kB\n"),
    FAKE("/proc/meminfo", "MemTotal:    24682416 kB\nMemFree: 1 kB\nMemAvailable: 24362048 kB\n"
                          "HugePages_Total: 0\nHugepagesize:    2048 kB\n"),
    FAKE("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    FAKE("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
    FAKE("/proc/version", "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)\n"),
};

static void smt_siblings_are_found_on_two_packages(void)
{
    gyre_topology *topology = fake_read(two_packages, COUNT(two_packages), "0-7", true);
    const gyre_topology_info *info;
    const gyre_topology_cpu *cpu;

    REQUIRE(topology);
    info = gyre_topology_describe(topology);
    CHECK(info->cpu_count == 8 && info->core_count == 4 && info->package_count == 2);
    CHECK(info->smt_visible); /* though virtual: pairs are shown */
    cpu = gyre_topology_cpu_at(topology, 6);
    CHECK(cpu->id == 6 && cpu->core_id == 0 && cpu->package_id == 1);
    CHECK(cpu->sibling_count == 2 && cpu->sibling[0] == 2 && cpu->sibling[1] == 6);
    CHECK(cpu->smt_index == 1);
    CHECK(gyre_topology_cpu_at(topology, 2)->smt_index == 0);
    CHECK(gyre_topology_cpu_at(topology, 8) == NULL);
    gyre_topology_destroy(topology);
}

static void offline_cpus_are_no_siblings(void)
{
    gyre_topology *topology = fake_read(two_packages, COUNT(two_packages), "0-7", false);

    REQUIRE(topology);
    CHECK(gyre_topology_cpu_at(topology, 3)->sibling_count == 2);
    gyre_topology_destroy(topology);
}

static void affinity_narrows_the_allowed_cpus(void)
{
    gyre_topology *topology = fake_read(two_packages, COUNT(two_packages), "1,6-7", false);

    REQUIRE(topology);
    CHECK(gyre_topology_describe(topology)->cpu_count == 8);
    CHECK(gyre_topology_describe(topology)->allowed_count == 3);
    CHECK(!gyre_topology_cpu_at(topology, 0)->allowed);
    CHECK(gyre_topology_cpu_at(topology, 7)->allowed);
    CHECK(gyre_topology_worker_count(topology) == 3);
    gyre_topology_destroy(topology);
}

static void a_shared_cache_is_listed_once(void)
{
    gyre_topology *topology = fake_read(two_packages, COUNT(two_packages), "0-7", false);
    const gyre_topology_cache *cache;

    REQUIRE(topology);
    CHECK(gyre_topology_describe(topology)->cache_count == 2);
    cache = gyre_topology_cache_at(topology, 0);
    REQUIRE(cache);
    CHECK(cache->level == 1 && cache->type == GYRE_CACHE_DATA && cache->size_bytes == 49152);
    CHECK(cache->line_bytes == 64 && cache->cpu_count == 2 && cache->cpus[1] == 4);
    cache = gyre_topology_cache_at(topology, 1);
    REQUIRE(cache);
    CHECK(cache->level == 3 && cache->type == GYRE_CACHE_UNIFIED && cache->cpu_count == 4);
    CHECK(cache->size_bytes == 33554432 && cache->line_bytes == 0);
    CHECK(gyre_topology_cache_at(topology, 2) == NULL);
    gyre_topology_destroy(topology);
}

static void nodes_have_cpus_and_memory(void)
{
    gyre_topology *topology = fake_read(two_packages, COUNT(two_packages), "0-7", false);
    const gyre_topology_node *node;

    REQUIRE(topology);
    CHECK(gyre_topology_describe(topology)->node_count == 3);
    node = gyre_topology_node_at(topology, 1);
    CHECK(node->id == 1 && node->cpu_count == 4 && node->cpus[3] == 7);
    CHECK(node->memory_bytes == 2048000 && node->free_bytes == 0);
    CHECK(gyre_topology_node_at(topology, 0)->free_bytes == 10240);
    node = gyre_topology_node_at(topology, 2); /* memory without processors */
    CHECK(node->id == 3 && node->cpu_count == 0 && node->cpus == NULL);
    CHECK(gyre_topology_cpu_at(topology, 6)->node_id == 1);
    gyre_topology_destroy(topology);
}

static void memory_and_kernel_are_as_proc_says(void)
{
    gyre_topology *topology = fake_read(two_packages, COUNT(two_packages), "0-7", false);
    const gyre_topology_info *info;

    REQUIRE(topology);
    info = gyre_topology_describe(topology);
    CHECK(info->memory_bytes == UINT64_C(24682416) * 1024);
    CHECK(info->available_bytes == UINT64_C(24362048) * 1024);
    CHECK(info->huge_page_bytes == 2097152 && info->thp == GYRE_THP_MADVISE);
    CHECK(strcmp(info->kernel_release, "6.1.0-18-amd64") == 0);
    CHECK(!info->wsl && info->container[0] == '\0');
    CHECK(info->cgroup_version == 0 && info->cpu_quota == 0 && info->memory_limit_bytes == 0);
    gyre_topology_destroy(topology);
}

static void single_threads_prove_nothing_in_a_virtual_machine(void)
{
    static const fake_file files[] = {
        FAKE(CPU "/online", "0-1\n"),
        FAKE(CPU "/cpu0/topology/thread_siblings_list", "0\n"),
        FAKE(CPU "/cpu1/topology/thread_siblings_list", "1\n"),
    };
    gyre_topology *virtual = fake_read(files, COUNT(files), "0-1", true);
    gyre_topology *real = fake_read(files, COUNT(files), "0-1", false);

    CHECK(virtual && !gyre_topology_describe(virtual)->smt_visible);
    CHECK(virtual && gyre_topology_describe(virtual)->core_count == 2);
    CHECK(real && gyre_topology_describe(real)->smt_visible);
    gyre_topology_destroy(virtual);
    gyre_topology_destroy(real);
}

static void cpus_with_holes_keep_their_numbers(void)
{
    static const fake_file files[] = {FAKE(CPU "/online", "0,2,4095\n")};
    gyre_topology *topology = fake_read(files, COUNT(files), "2,4095", false);

    REQUIRE(topology);
    CHECK(gyre_topology_describe(topology)->cpu_count == 3);
    CHECK(gyre_topology_cpu_at(topology, 2)->id == 4095);
    CHECK(gyre_topology_worker_count(topology) == 2);
    gyre_topology_destroy(topology);
}

static void without_sysfs_the_affinity_counts(void)
{
    gyre_topology *topology = fake_read(NULL, 0, "3,5", false);
    const gyre_topology_info *info;

    REQUIRE(topology);
    info = gyre_topology_describe(topology);
    CHECK(info->cpu_count == 2 && info->allowed_count == 2);
    CHECK(gyre_topology_cpu_at(topology, 1)->id == 5);
    CHECK(gyre_topology_cpu_at(topology, 1)->core_id == -1);
    CHECK(gyre_topology_cpu_at(topology, 1)->node_id == -1);
    CHECK(info->core_count == 0 && info->package_count == 0 && info->node_count == 0);
    CHECK(info->cache_count == 0 && !info->smt_visible);
    CHECK(info->thp == GYRE_THP_UNKNOWN && info->memory_bytes > 0);
    CHECK(info->kernel_release[0] != '\0');
    CHECK(gyre_topology_worker_count(topology) == 2);
    gyre_topology_destroy(topology);
}

static void cpus_we_run_on_are_online_whatever_the_list_says(void)
{
    static const fake_file files[] = {FAKE(CPU "/online", "0-1\n")};
    gyre_topology *topology = fake_read(files, COUNT(files), "6,9", false);

    REQUIRE(topology);
    CHECK(gyre_topology_describe(topology)->cpu_count == 4);
    CHECK(gyre_topology_describe(topology)->allowed_count == 2);
    gyre_topology_destroy(topology);
}

static void containers_and_wsl_are_recognised(void)
{
    static const fake_file docker[] = {
        FAKE("/.dockerenv", ""),
        FAKE("/proc/sys/kernel/osrelease", "5.15.153.1-Microsoft-standard-WSL2\n"),
    };
    static const fake_file podman[] = {
        FAKE("/run/.containerenv", ""),
        FAKE("/proc/version", "Linux version 5.15 (oe-user@oe-host) MICROSOFT\n"),
    };
    gyre_topology *first = fake_read(docker, COUNT(docker), "0", true);
    gyre_topology *second = fake_read(podman, COUNT(podman), "0", true);

    CHECK(first && gyre_topology_describe(first)->wsl);
    CHECK(first && strcmp(gyre_topology_describe(first)->container, "docker") == 0);
    CHECK(second && gyre_topology_describe(second)->wsl);
    CHECK(second && strcmp(gyre_topology_describe(second)->container, "podman") == 0);
    gyre_topology_destroy(first);
    gyre_topology_destroy(second);
}

/* One hostile text in every file that is read. */
static void hostile_files_are_survived(void)
{
    static const char *const paths[] = {
        CPU "/cpu0/topology/core_id",
        CPU "/cpu0/topology/physical_package_id",
        CPU "/cpu0/topology/core_cpus_list",
        CPU "/cpu0/cache/index0/level",
        CPU "/cpu0/cache/index0/type",
        CPU "/cpu0/cache/index0/size",
        CPU "/cpu0/cache/index0/coherency_line_size",
        CPU "/cpu0/cache/index0/shared_cpu_list",
        CPU "/online",
        NODE "/online",
        NODE "/node0/cpulist",
        NODE "/node0/meminfo",
        "/proc/meminfo",
        "/proc/self/cgroup",
        "/proc/self/mountinfo",
        "/proc/sys/kernel/osrelease",
        "/proc/version",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    };
    static const fake_file texts[] = {
        FAKE("empty", ""),
        FAKE("newlines", "\n\n\n"),
        FAKE("number", "18446744073709551615\n"),
        FAKE("overflow", "99999999999999999999999999\n"),
        FAKE("range", "0-99999999999\n"),
        FAKE("everything", "0-8191\n"),
        FAKE("unterminated", "0-"),
        FAKE("comma", "0,1,"),
        FAKE("descending", "7-3\n"),
        FAKE("repeated", "0-8191,0-8191,0-8191\n"),
        FAKE("negative", "-1\n"),
        FAKE("binary", "\x00\xff\x01\x80 0-3\x00\n"),
        FAKE("meminfo", "MemTotal: 18446744073709551615 kB\nNode \nMemAvailable:\n:\n"),
        FAKE("cgroup", "0::/..\n4:memory\n::\n:::\n1:cpu:relative\n"),
        FAKE("mountinfo", "1 2 3 / /x\\04 - cgroup2\n1 2 3 / \\777 o - cgroup2 x y\n- - - - -\n"),
    };

    for (size_t t = 0; t < COUNT(texts); t++) {
        fake_file files[COUNT(paths)];
        gyre_topology *topology;

        for (size_t i = 0; i < COUNT(paths); i++)
            files[i] = (fake_file){paths[i], texts[t].content, texts[t].size};
        topology = fake_read(files, COUNT(files), "0-1", false);
        CHECK(topology);
        if (!topology)
            continue;
        CHECK(gyre_topology_describe(topology)->cpu_count >= 2);
        CHECK(gyre_topology_describe(topology)->allowed_count == 2);
        CHECK(gyre_topology_worker_count(topology) == 2);
        gyre_topology_destroy(topology);
    }
}

static void more_siblings_than_a_core_can_have_are_unknown(void)
{
    static const fake_file files[] = {
        FAKE(CPU "/online", "0-9\n"), FAKE(CPU "/cpu1/topology/core_cpus_list", "0-7\n"),
        FAKE(CPU "/cpu2/topology/core_cpus_list", "0-8\n"),
        FAKE(CPU "/cpu3/topology/core_cpus_list", "4-5\n"), /* not even itself */
    };
    gyre_topology *topology = fake_read(files, COUNT(files), "0-9", false);

    REQUIRE(topology);
    CHECK(gyre_topology_cpu_at(topology, 1)->sibling_count == GYRE_SMT_MAX);
    CHECK(gyre_topology_cpu_at(topology, 1)->smt_index == 1);
    CHECK(gyre_topology_cpu_at(topology, 2)->sibling_count == 0);
    CHECK(gyre_topology_cpu_at(topology, 2)->smt_index == 0);
    CHECK(gyre_topology_cpu_at(topology, 3)->sibling_count == 0);
    CHECK(gyre_topology_describe(topology)->core_count == 0);
    gyre_topology_destroy(topology);
}

static void contradictory_lists_give_each_cpu_one_place(void)
{
    static const fake_file files[] = {
        FAKE(CPU "/online", "0-2\n"),
        FAKE(CPU "/cpu0/cache/index0/level", "1\n"),
        FAKE(CPU "/cpu0/cache/index0/type", "Data\n"),
        FAKE(CPU "/cpu0/cache/index0/shared_cpu_list", "0\n"),
        FAKE(CPU "/cpu1/cache/index0/level", "1\n"),
        FAKE(CPU "/cpu1/cache/index0/type", "Data\n"),
        FAKE(CPU "/cpu1/cache/index0/shared_cpu_list", "0-2\n"),
        FAKE(NODE "/online", "0-1\n"),
        FAKE(NODE "/node0/cpulist", "0-1\n"),
        FAKE(NODE "/node1/cpulist", "0-2\n"),
    };
    gyre_topology *topology = fake_read(files, COUNT(files), "0", false);

    REQUIRE(topology);
    CHECK(gyre_topology_describe(topology)->cache_count == 2);
    CHECK(gyre_topology_cache_at(topology, 1)->cpu_count == 2);
    CHECK(gyre_topology_node_at(topology, 1)->cpu_count == 1);
    CHECK(gyre_topology_cpu_at(topology, 1)->node_id == 0);
    gyre_topology_destroy(topology);
}

static size_t live_blocks, blocks_left;

static void *scarce_allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    if (blocks_left == 0)
        return NULL;
    blocks_left--;
    live_blocks++;
    return aligned_alloc(alignment, size_bytes);
}

static void scarce_release(void *user, void *block, size_t size_bytes)
{
    (void)user;
    memset(block, 0xdd, size_bytes); /* the sanitizer sees a size that is too large */
    live_blocks--;
    free(block);
}

static void running_out_of_memory_at_any_point_leaks_nothing(void)
{
    const gyre_allocator allocator = {scarce_allocate, scarce_release, NULL};
    const gyre_topology_source source = {fake_root, "0-7", false};
    gyre_topology *topology = NULL;
    gyre_status status = GYRE_NO_MEMORY;

    REQUIRE(fake_build(two_packages, COUNT(two_packages)));
    for (size_t blocks = 0; status == GYRE_NO_MEMORY && blocks < 100; blocks++) {
        blocks_left = blocks;
        status = gyre_topology_read(&source, &allocator, &topology);
        CHECK(status == GYRE_OK || (topology == NULL && live_blocks == 0));
    }
    CHECK(status == GYRE_OK && live_blocks > 0);
    gyre_topology_destroy(topology);
    CHECK(live_blocks == 0);
    fake_remove();
}

static void options_must_carry_their_size(void)
{
    const gyre_allocator half = {scarce_allocate, NULL, NULL};
    gyre_topology_options options = {0};
    gyre_topology *topology = (gyre_topology *)&options;

    CHECK(gyre_topology_create(&options, &topology) == GYRE_INVALID);
    CHECK(topology == NULL);
    options = (gyre_topology_options){.struct_size = sizeof options, .allocator = &half};
    CHECK(gyre_topology_create(&options, &topology) == GYRE_INVALID);
    CHECK(gyre_topology_create(NULL, NULL) == GYRE_INVALID);
    gyre_topology_destroy(NULL);
}

static void this_machine_makes_sense(void)
{
    gyre_topology *topology;
    const gyre_topology_info *info;
    uint32_t workers;

    REQUIRE(gyre_topology_create(NULL, &topology) == GYRE_OK);
    info = gyre_topology_describe(topology);
    workers = gyre_topology_worker_count(topology);
    CHECK(info->cpu_count >= info->allowed_count && info->allowed_count >= 1);
    CHECK(workers >= 1 && workers <= info->allowed_count);
    CHECK(workers == gyre_topology_worker_count(NULL));
    CHECK(info->memory_bytes > info->available_bytes && info->page_bytes >= 4096);
    CHECK(strcmp(gyre_thp_mode_name(info->thp), "") != 0);
    for (uint32_t i = 0; i < info->cache_count; i++) {
        const gyre_topology_cache *cache = gyre_topology_cache_at(topology, i);

        CHECK(cache->level >= 1 && cache->cpu_count >= 1);
        CHECK(cache->cpu_count <= info->cpu_count);
    }
    gyre_topology_destroy(topology);
}

static void pinned_to_one_cpu_one_worker_remains(void)
{
    cpu_set_t before, one;
    const int cpu = sched_getcpu();

    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    REQUIRE(cpu >= 0 && cpu < CPU_SETSIZE);
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        SKIP("this process may not change its affinity");
    CHECK(gyre_topology_worker_count(NULL) == 1);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void a_forked_child_may_only_destroy(void)
{
    gyre_topology *topology, *other;
    pid_t child;
    int how = 0;

    REQUIRE(gyre_topology_create(NULL, &topology) == GYRE_OK);
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const bool refused = gyre_topology_create(NULL, &other) == GYRE_UNAVAILABLE;

        gyre_topology_destroy(topology);
        _exit(refused ? 0 : 1);
    }
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    gyre_topology_destroy(topology);
}

static const test_case cases[] = {
    /* processors, caches, memory */
    TEST(smt_siblings_are_found_on_two_packages),
    TEST(offline_cpus_are_no_siblings),
    TEST(affinity_narrows_the_allowed_cpus),
    TEST(a_shared_cache_is_listed_once),
    TEST(nodes_have_cpus_and_memory),
    TEST(memory_and_kernel_are_as_proc_says),
    TEST(single_threads_prove_nothing_in_a_virtual_machine),
    TEST(cpus_with_holes_keep_their_numbers),
    TEST(containers_and_wsl_are_recognised),
    /* little or nothing to read, or lies */
    TEST(without_sysfs_the_affinity_counts),
    TEST(cpus_we_run_on_are_online_whatever_the_list_says),
    TEST(hostile_files_are_survived),
    TEST(more_siblings_than_a_core_can_have_are_unknown),
    TEST(contradictory_lists_give_each_cpu_one_place),
    TEST(running_out_of_memory_at_any_point_leaks_nothing),
    /* the interface, on this machine */
    TEST(options_must_carry_their_size),
    TEST(this_machine_makes_sense),
    TEST(pinned_to_one_cpu_one_worker_remains),
    TEST(a_forked_child_may_only_destroy),
};
TEST_MAIN(cases)
