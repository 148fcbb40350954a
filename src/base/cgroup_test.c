/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cgroup.h"

#include "base/topology_fake.h"
#include "test.h"

#define CGROUP "/sys/fs/cgroup"
#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define PROC_MOUNT "24 29 0:22 / /proc rw,relatime shared:13 - proc proc rw\n"

static gyre_topology *topology; /* of the case that runs */

/* What the limits come to on a machine with 8 CPUs of which we may use all. */
static const gyre_topology_info *read_limits(const fake_file *files, size_t count)
{
    gyre_topology_destroy(topology);
    topology = fake_read(files, count, "0-7", false);
    return topology ? gyre_topology_describe(topology) : NULL;
}

static void nested_v2_groups_are_as_tight_as_the_tightest(void)
{
    static const fake_file files[] = {
        FAKE("/proc/self/mountinfo", PROC_MOUNT V2_MOUNT),
        FAKE("/proc/self/cgroup", "0::/a.slice/b.scope/c\n"),
        FAKE(CGROUP "/cpuset.cpus.effective", "0-7\n"),
        FAKE(CGROUP "/a.slice/cpu.max", "150000 100000\n"),
        FAKE(CGROUP "/a.slice/memory.max", "max\n"),
        FAKE(CGROUP "/a.slice/cpuset.cpus.effective", "2-5\n"),
        FAKE(CGROUP "/a.slice/b.scope/cpu.max", "max 100000\n"),
        FAKE(CGROUP "/a.slice/b.scope/memory.max", "1073741824\n"),
        FAKE(CGROUP "/a.slice/b.scope/c/cpu.max", "400000 100000\n"),
        FAKE(CGROUP "/a.slice/b.scope/c/memory.max", "2147483648\n"),
    };
    const gyre_topology_info *info = read_limits(files, COUNT(files));

    REQUIRE(info);
    CHECK(info->cgroup_version == 2);
    CHECK(info->cpu_quota > 1.49 && info->cpu_quota < 1.51);
    CHECK(info->memory_limit_bytes == UINT64_C(1) << 30);
    CHECK(info->cpuset_count == 4 && info->cpuset[0] == 2 && info->cpuset[3] == 5);
    CHECK(gyre_topology_worker_count(topology) == 2);
}

static void v1_controllers_are_read_each_from_its_own_mount(void)
{
    static const fake_file files[] = {
        FAKE("/proc/self/mountinfo",
             "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
             "33 31 0:30 / /sys/fs/cgroup/my\\040memory rw shared:9 - cgroup cgroup rw,memory\n"
             "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"),
        FAKE("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/box\n3:cpuset:/\n"
                                  "2:cpu,cpuacct:/box/inner\n0::/\n"),
        FAKE(CGROUP "/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        FAKE(CGROUP "/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        FAKE(CGROUP "/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n"),
        FAKE(CGROUP "/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"),
        FAKE(CGROUP "/cpu,cpuacct/box/inner/cpu.cfs_quota_us", "-1\n"),
        FAKE(CGROUP "/cpu,cpuacct/box/inner/cpu.cfs_period_us", "100000\n"),
        FAKE(CGROUP "/my memory/memory.limit_in_bytes", "9223372036854771712\n"),
        FAKE(CGROUP "/my memory/box/memory.limit_in_bytes", "536870912\n"),
        FAKE(CGROUP "/cpuset/cpuset.cpus", "0-3,12\n"),
    };
    const gyre_topology_info *info = read_limits(files, COUNT(files));

    REQUIRE(info);
    CHECK(info->cgroup_version == 1);
    CHECK(info->cpu_quota > 2.99 && info->cpu_quota < 3.01);
    CHECK(info->memory_limit_bytes == 536870912);
    CHECK(info->cpuset_count == 4); /* CPU 12 is offline */
    CHECK(gyre_topology_worker_count(topology) == 3);
}

static void v1_without_limits_has_none(void)
{
    static const fake_file files[] = {
        FAKE("/proc/self/mountinfo",
             "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
        FAKE("/proc/self/cgroup", "4:memory:/\n"),
        FAKE(CGROUP "/memory/memory.limit_in_bytes", "9223372036854771712\n"),
    };
    const gyre_topology_info *info = read_limits(files, COUNT(files));

    REQUIRE(info);
    CHECK(info->memory_limit_bytes == 0 && info->cpu_quota == 0 && info->cpuset_count == 0);
    CHECK(gyre_topology_worker_count(topology) == 8);
}

/* A container without a namespace of its own: both files speak of the host's path. */
static void the_mounted_part_is_taken_off_the_path(void)
{
    static const fake_file files[] = {
        FAKE("/proc/self/mountinfo", "30 23 0:26 /docker/1f /sys/fs/cgroup ro - cgroup2 none rw\n"),
        FAKE("/proc/self/cgroup", "0::/docker/1f/job\n"),
        FAKE(CGROUP "/cpu.max", "400000 100000\n"),
        FAKE(CGROUP "/job/cpu.max", "250000 100000\n"),
    };
    const gyre_topology_info *info = read_limits(files, COUNT(files));

    REQUIRE(info);
    CHECK(info->cpu_quota > 2.49 && info->cpu_quota < 2.51);
    CHECK(gyre_topology_worker_count(topology) == 3);
}

static void a_path_outside_the_mount_means_the_mount_itself(void)
{
    static const char *const paths[] = {"0::/../../elsewhere\n", "0::/dockerx\n", "0::/other\n",
                                        ""};

    for (size_t i = 0; i < COUNT(paths); i++) {
        const fake_file files[] = {
            FAKE("/proc/self/mountinfo",
                 "30 23 0:26 /docker /sys/fs/cgroup ro - cgroup2 none rw\n"),
            {"/proc/self/cgroup", paths[i], strlen(paths[i])},
            FAKE(CGROUP "/cpu.max", "200000 100000\n"),
            FAKE("/sys/cpu.max", "100000 100000\n"), /* where ".." would lead */
            FAKE(CGROUP "/other/cpu.max", "100000 100000\n"),
            FAKE(CGROUP "x/cpu.max", "100000 100000\n"),
        };
        const gyre_topology_info *info = read_limits(files, COUNT(files));

        REQUIRE(info);
        CHECK(info->cpu_quota > 1.99 && info->cpu_quota < 2.01);
    }
}

static void quotas_round_up_and_never_to_zero(void)
{
    static const struct {
        const char *text;
        uint32_t workers;
    } rows[] = {
        {"1000 100000\n", 1},   {"100000 100000\n", 1}, {"100001 100000\n", 2},
        {"750000 100000\n", 8}, {"800000 100000\n", 8}, {"18446744073709551615 1\n", 8},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const fake_file files[] = {
            FAKE("/proc/self/mountinfo", V2_MOUNT),
            FAKE("/proc/self/cgroup", "0::/\n"),
            {CGROUP "/cpu.max", rows[i].text, strlen(rows[i].text)},
        };

        REQUIRE(read_limits(files, COUNT(files)));
        CHECK(gyre_topology_worker_count(topology) == rows[i].workers);
    }
}

static void cpu_max_is_a_quota_and_a_period(void)
{
    static const char *const malformed[] = {
        "",         "max",      "100000",
        "100000 0", "0 100000", "-1 100000",
        "1 2 3",    "x 100000", "99999999999999999999999999 1",
    };
    double cpus;

    CHECK(gyre_cgroup_parse_cpu_max("max 100000\n", &cpus) && cpus == 0);
    CHECK(gyre_cgroup_parse_cpu_max("50000 100000\n", &cpus) && cpus > 0.49 && cpus < 0.51);
    for (size_t i = 0; i < COUNT(malformed); i++)
        CHECK(!gyre_cgroup_parse_cpu_max(malformed[i], &cpus) && cpus == 0);
}

static void paths_are_found_by_controller(void)
{
    static const char text[] = "12:cpuset:/a\n5:cpu,cpuacct:/b:c\n1:name=systemd:/d\n0::/e f\n";
    char path[GYRE_CGROUP_PATH_BYTES];

    CHECK(gyre_cgroup_parse_path(text, "cpu", path) && strcmp(path, "/b:c") == 0);
    CHECK(gyre_cgroup_parse_path(text, "cpuset", path) && strcmp(path, "/a") == 0);
    CHECK(gyre_cgroup_parse_path(text, "", path) && strcmp(path, "/e f") == 0);
    CHECK(!gyre_cgroup_parse_path(text, "memory", path));
    CHECK(!gyre_cgroup_parse_path("0::relative\n", "", path));
    CHECK(!gyre_cgroup_parse_path("0::/a/../b\n", "", path));
    CHECK(gyre_cgroup_parse_path("0::/a..b/...\n", "", path));
    CHECK(!gyre_cgroup_parse_path("0:\n", "", path));
}

static void a_path_that_does_not_fit_is_refused(void)
{
    static char text[2 * GYRE_CGROUP_PATH_BYTES] = "0::/";
    char path[GYRE_CGROUP_PATH_BYTES];

    memset(text + 4, 'a', GYRE_CGROUP_PATH_BYTES - 2);
    CHECK(gyre_cgroup_parse_path(text, "", path));
    CHECK(strlen(path) == GYRE_CGROUP_PATH_BYTES - 1);
    memset(text + 4, 'a', GYRE_CGROUP_PATH_BYTES - 1);
    CHECK(!gyre_cgroup_parse_path(text, "", path));
}

static void mounts_are_found_by_type_and_controller(void)
{
    static gyre_cgroup_mount mount;

    CHECK(gyre_cgroup_parse_mount(PROC_MOUNT V2_MOUNT, "", &mount));
    CHECK(strcmp(mount.point, "/sys/fs/cgroup") == 0 && strcmp(mount.root, "/") == 0);
    CHECK(!gyre_cgroup_parse_mount(PROC_MOUNT V2_MOUNT, "cpu", &mount));
    CHECK(!gyre_cgroup_parse_mount("1 2 3 / /x rw - cgroup c rw,cpuset\n", "cpu", &mount));
    CHECK(gyre_cgroup_parse_mount("1 2 3 / /x rw a:1 b:2 - cgroup c rw,cpu", "cpu", &mount));
    CHECK(!gyre_cgroup_parse_mount("1 2 3 / /x rw cgroup2 c rw\n", "", &mount));
    CHECK(gyre_cgroup_parse_mount("1 2 3 /\\134 /a\\040b\\04 rw - cgroup2 c rw", "", &mount));
    CHECK(strcmp(mount.point, "/a b\\04") == 0 && strcmp(mount.root, "/\\") == 0);
}

static const test_case cases[] = {
    /* trees */
    TEST(nested_v2_groups_are_as_tight_as_the_tightest),
    TEST(v1_controllers_are_read_each_from_its_own_mount),
    TEST(v1_without_limits_has_none),
    TEST(the_mounted_part_is_taken_off_the_path),
    TEST(a_path_outside_the_mount_means_the_mount_itself),
    TEST(quotas_round_up_and_never_to_zero),
    /* texts */
    TEST(cpu_max_is_a_quota_and_a_period),
    TEST(paths_are_found_by_controller),
    TEST(a_path_that_does_not_fit_is_refused),
    TEST(mounts_are_found_by_type_and_controller),
};
TEST_MAIN(cases)
