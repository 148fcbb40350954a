/* SPDX-License-Identifier: Apache-2.0 */
#include "base/topology.h"

#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void cpu_lists_are_read(void)
{
    gyre_cpu_set set;

    CHECK(gyre_parse_cpu_list("0-3,8\n", &set));
    CHECK(gyre_cpu_set_count(&set) == 5);
    CHECK(gyre_cpu_set_has(&set, 3) && !gyre_cpu_set_has(&set, 4) && gyre_cpu_set_has(&set, 8));
    CHECK(gyre_cpu_set_next(&set, 4) == 8 && gyre_cpu_set_next(&set, 9) == GYRE_CPU_LIMIT);
    CHECK(gyre_parse_cpu_list("63-64,8191", &set));
    CHECK(gyre_cpu_set_count(&set) == 3 && gyre_cpu_set_next(&set, 65) == 8191);
    CHECK(gyre_parse_cpu_list("0-8191", &set) && gyre_cpu_set_count(&set) == GYRE_CPU_LIMIT);
    CHECK(!gyre_cpu_set_has(&set, GYRE_CPU_LIMIT) && !gyre_cpu_set_has(&set, UINT32_MAX));
}

static void an_empty_cpu_list_is_a_list(void)
{
    gyre_cpu_set set;

    CHECK(gyre_parse_cpu_list("", &set) && gyre_cpu_set_count(&set) == 0);
    CHECK(gyre_parse_cpu_list("\n", &set) && gyre_cpu_set_count(&set) == 0);
}

static void malformed_cpu_lists_are_refused_whole(void)
{
    static const char *const texts[] = {
        ",",   "0,",    "0-",    "-1",     "3-1",           "1,0",
        "0,0", "0-3,2", "8192",  "0-8192", "0-99999999999", "18446744073709551616",
        "0x1", "1 2",   "0-1-2", "a",      "0-3:1/2",
    };
    gyre_cpu_set set;

    for (size_t i = 0; i < COUNT(texts); i++) {
        CHECK(!gyre_parse_cpu_list(texts[i], &set));
        CHECK(gyre_cpu_set_count(&set) == 0);
    }
}

static void numbers_are_read_whole_or_not_at_all(void)
{
    uint64_t value;
    int32_t small;

    CHECK(gyre_parse_u64("18446744073709551615\n", &value) && value == UINT64_MAX);
    CHECK(!gyre_parse_u64("18446744073709551616", &value) && value == 0);
    CHECK(!gyre_parse_u64("-1", &value));
    CHECK(!gyre_parse_u64("", &value));
    CHECK(!gyre_parse_u64("12x", &value));
    CHECK(gyre_parse_i32("-1\n", &small) && small == -1);
    CHECK(gyre_parse_i32("2147483647", &small) && small == INT32_MAX);
    CHECK(!gyre_parse_i32("2147483648", &small) && small == 0);
    CHECK(!gyre_parse_i32("-", &small));
}

static void sizes_have_units(void)
{
    uint64_t bytes;

    CHECK(gyre_parse_size("32K\n", &bytes) && bytes == 32768);
    CHECK(gyre_parse_size("2M", &bytes) && bytes == 2097152);
    CHECK(gyre_parse_size("1G", &bytes) && bytes == UINT64_C(1) << 30);
    CHECK(gyre_parse_size("64", &bytes) && bytes == 64);
    CHECK(!gyre_parse_size("K", &bytes));
    CHECK(!gyre_parse_size("1KB", &bytes) && bytes == 0);
    CHECK(!gyre_parse_size("18014398509481984K", &bytes) && bytes == 0);
}

static void meminfo_is_searched_by_whole_keys(void)
{
    static const char machine[] = "\nMemTotalX: 5 kB\nMemTotal:     24 kB\nHugePages_Total:   3\n";
    static const char node[] = "Node 11 MemTotal:  7 kB\nNode 11 MemFree: 6 kB";
    uint64_t bytes;

    CHECK(gyre_parse_meminfo(machine, "MemTotal", &bytes) && bytes == 24576);
    CHECK(gyre_parse_meminfo(machine, "HugePages_Total", &bytes) && bytes == 3);
    CHECK(!gyre_parse_meminfo(machine, "MemFree", &bytes) && bytes == 0);
    CHECK(gyre_parse_meminfo(node, "MemFree", &bytes) && bytes == 6144);
    CHECK(!gyre_parse_meminfo("MemFree:\n", "MemFree", &bytes));
    CHECK(!gyre_parse_meminfo("MemFree: 18446744073709551615 kB", "MemFree", &bytes));
    CHECK(bytes == 0);
}

static void the_mode_in_brackets_counts(void)
{
    CHECK(gyre_parse_thp("always madvise [never]\n") == GYRE_THP_NEVER);
    CHECK(gyre_parse_thp("[always] madvise never\n") == GYRE_THP_ALWAYS);
    CHECK(gyre_parse_thp("always madvise never\n") == GYRE_THP_UNKNOWN);
    CHECK(strcmp(gyre_thp_mode_name(GYRE_THP_ALWAYS), "always") == 0);
    CHECK(strcmp(gyre_thp_mode_name((gyre_thp_mode)99), "unknown") == 0);
    CHECK(strcmp(gyre_cache_type_name(GYRE_CACHE_UNIFIED), "unified") == 0);
    CHECK(strcmp(gyre_cache_type_name((gyre_cache_type)99), "unknown") == 0);
}

static void an_endless_file_is_cut(void)
{
    static char text[GYRE_SYSFILE_BYTES];
    gyre_sysfile file = {"", text};

    memset(text, 'x', sizeof text);
    CHECK(gyre_sysfile_read(&file, "/dev/zero"));
    CHECK(text[0] == '\0' && text[sizeof text - 2] == '\0' && text[sizeof text - 1] == '\0');
}

static void a_file_that_cannot_be_read_is_empty(void)
{
    static char text[GYRE_SYSFILE_BYTES] = "before";
    gyre_sysfile file = {"", text};

    CHECK(!gyre_sysfile_read(&file, "/nowhere/%s", "at all"));
    CHECK(text[0] == '\0');
    CHECK(!gyre_sysfile_read(&file, "/proc/self"));  /* a directory */
    CHECK(!gyre_sysfile_read(&file, "/%05000d", 1)); /* longer than a path can be */
    CHECK(!gyre_sysfile_exists(&file, "/nowhere"));
    CHECK(gyre_sysfile_exists(&file, "/proc"));
}

static const test_case cases[] = {
    TEST(cpu_lists_are_read),
    TEST(an_empty_cpu_list_is_a_list),
    TEST(malformed_cpu_lists_are_refused_whole),
    TEST(numbers_are_read_whole_or_not_at_all),
    TEST(sizes_have_units),
    TEST(meminfo_is_searched_by_whole_keys),
    TEST(the_mode_in_brackets_counts),
    TEST(an_endless_file_is_cut),
    TEST(a_file_that_cannot_be_read_is_empty),
};
TEST_MAIN(cases)
