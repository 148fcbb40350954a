/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel cache and everything that can be wrong with its files, its folder and its disk: never
 * used, never a crash, replaced by the next store.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/crc32c.h"
#include "child.h"
#include "dev/cache_fake.h"

enum {
    IMAGE = 300,
    WHOLE = IMAGE + GYRE_CACHE_HEAD_BYTES,
    WHOLE_BITS = 8 * WHOLE,
    HEAD_SUM_AT = 12,
    NOBODY = 65534
};

static gyre_cache_key key;
static unsigned char whole[WHOLE];

static void set_up(void)
{
    int fd;

    REQUIRE(fake_cache("1"));
    key = fake_key(1);
    fake_store(&key, IMAGE);
    REQUIRE(fake_found(&key) == 1);
    fd = open(fake_path(key.text), O_RDONLY);
    REQUIRE(fd >= 0 && read(fd, whole, sizeof whole) == WHOLE);
    close(fd);
}

static bool put(const unsigned char *bytes, size_t size)
{
    const int fd = open(fake_path(key.text), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const bool done = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;

    close(fd);
    return done;
}

/* What is there is not used, and the next store replaces it. */
static bool is_replaced(void)
{
    const uint64_t before = fake_counts().unsound;
    bool good = fake_found(&key) == 0 && fake_counts().unsound == before + 1;

    fake_store(&key, IMAGE);
    good &= fake_found(&key) == 1;
    return good;
}

static void file_cut_at_any_byte_is_not_used(void)
{
    for (size_t size = 0; size < WHOLE; size++) {
        REQUIRE(put(whole, size));
        CHECK(fake_found(&key) == 0);
    }
    CHECK(is_replaced());
}

static void any_flipped_bit_is_noticed(void)
{
    for (size_t bit = 0; bit < WHOLE_BITS; bit += 3) {
        unsigned char bytes[WHOLE];

        memcpy(bytes, whole, WHOLE);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        REQUIRE(put(bytes, WHOLE));
        CHECK(fake_found(&key) == 0);
    }
    CHECK(is_replaced());
}

static void longer_file_is_not_used(void)
{
    unsigned char bytes[WHOLE + 1] = {0};

    memcpy(bytes, whole, WHOLE);
    REQUIRE(put(bytes, sizeof bytes));
    CHECK(is_replaced());
}

/* A head with other numbers and a sum that is right. */
static void put_head(size_t at, uint64_t value, size_t bytes)
{
    unsigned char head[WHOLE];

    memcpy(head, whole, WHOLE);
    for (size_t i = 0; i < bytes; i++)
        head[at + i] = (unsigned char)(value >> (8 * i));
    memset(head + HEAD_SUM_AT, 0, 4);
    value = gyre_crc32c(head, GYRE_CACHE_HEAD_BYTES, 0);
    for (size_t i = 0; i < 4; i++)
        head[HEAD_SUM_AT + i] = (unsigned char)(value >> (8 * i));
    CHECK(put(head, WHOLE));
}

static void sizes_that_cannot_be_are_not_believed(void)
{
    static const uint64_t sizes[] = {0,
                                     1,
                                     IMAGE - 1,
                                     IMAGE + 1,
                                     GYRE_CACHE_IMAGE_MOST,
                                     GYRE_CACHE_IMAGE_MOST + 1,
                                     UINT64_MAX - GYRE_CACHE_HEAD_BYTES + 1,
                                     UINT64_MAX};

    put_head(16, IMAGE, 8);
    CHECK(fake_found(&key) == 1); /* put_head itself does no damage */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put_head(16, sizes[i], 8);
        CHECK(is_replaced());
    }
}

static void other_version_is_not_used(void)
{
    put_head(8, 0, 4);
    CHECK(is_replaced());
    put_head(8, 2, 4);
    CHECK(is_replaced());
}

static void file_under_another_name_is_not_used(void)
{
    const gyre_cache_key other = fake_key(2);
    char from[256];

    snprintf(from, sizeof from, "%s", fake_path(key.text));
    REQUIRE(rename(from, fake_path(other.text)) == 0);
    CHECK(fake_found(&other) == 0 && fake_found(&key) == 0);
    CHECK(unlink(fake_path(other.text)) == 0);
    fake_store(&key, IMAGE);
}

static void what_is_no_file_is_replaced(void)
{
    REQUIRE(unlink(fake_path(key.text)) == 0 && mkdir(fake_path(key.text), 0700) == 0);
    CHECK(is_replaced());
    REQUIRE(unlink(fake_path(key.text)) == 0 && mkfifo(fake_path(key.text), 0600) == 0);
    CHECK(is_replaced());
    REQUIRE(unlink(fake_path(key.text)) == 0 && symlink("/etc/passwd", fake_path(key.text)) == 0);
    CHECK(is_replaced());
    REQUIRE(unlink(fake_path(key.text)) == 0 && symlink("/nowhere", fake_path(key.text)) == 0);
    CHECK(is_replaced());
}

/* Nobody's link makes us write elsewhere, and a link to a sound entry is no entry. */
static void links_are_not_followed(void)
{
    char elsewhere[256];
    struct stat about;

    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", fake_root);
    REQUIRE(rename(fake_path(key.text), elsewhere) == 0);
    REQUIRE(symlink(elsewhere, fake_path(key.text)) == 0);
    CHECK(is_replaced());
    CHECK(lstat(fake_path(key.text), &about) == 0 && S_ISREG(about.st_mode));
    CHECK(unlink(elsewhere) == 0);
}

static void folder_with_something_in_it_stays_and_is_told(void)
{
    const uint64_t before = fake_counts().store_failures;
    uint64_t entries, bytes;
    char inner[64];

    snprintf(inner, sizeof inner, "%s/x", key.text);
    REQUIRE(unlink(fake_path(key.text)) == 0 && mkdir(fake_path(key.text), 0700) == 0);
    REQUIRE(mkdir(fake_path(inner), 0700) == 0);
    fake_store(&key, IMAGE);
    CHECK(fake_found(&key) == 0 && fake_counts().store_failures == before + 1);
    CHECK(fake_temporaries() == 0);
    CHECK(gyre_cache_clear(false, &entries, &bytes) == GYRE_IO && entries == 0);
    REQUIRE(rmdir(fake_path(inner)) == 0);
    CHECK(is_replaced());
}

static bool visit_nothing(void *user, const gyre_cache_entry *entry)
{
    (void)user, (void)entry;
    return true;
}

static void cache_that_is_a_file_keeps_nothing(void)
{
    const uint64_t before = fake_counts().store_failures;
    char aside[256];
    int fd;

    snprintf(aside, sizeof aside, "%s/aside", fake_root);
    REQUIRE(rename(fake_folder, aside) == 0);
    fd = open(fake_folder, O_CREAT | O_WRONLY, 0600);
    REQUIRE(fd >= 0);
    close(fd);
    fake_store(&key, IMAGE);
    CHECK(fake_found(&key) == 0 && fake_counts().store_failures == before + 1);
    CHECK(gyre_cache_visit(false, visit_nothing, NULL) == GYRE_IO);
    REQUIRE(unlink(fake_folder) == 0 && rename(aside, fake_folder) == 0);
    CHECK(fake_found(&key) == 1);
}

/* Without the rights of root, which nothing can be kept from. */
static bool become_nobody(void)
{
    return geteuid() != 0 || setuid(NOBODY) == 0;
}

static void use_without_rights(void)
{
    const gyre_cache_statistics before = fake_counts();

    REQUIRE(become_nobody());
    CHECK(fake_found(&key) == 0);
    fake_store(&key, IMAGE);
    CHECK(fake_counts().store_failures == before.store_failures + 1);
    CHECK(gyre_cache_visit(false, visit_nothing, NULL) == GYRE_IO);
}

static void read_without_writing(void)
{
    const gyre_cache_statistics before = fake_counts();

    REQUIRE(become_nobody());
    CHECK(fake_found(&key) == 1);
    fake_store(&key, IMAGE);
    CHECK(fake_counts().store_failures == before.store_failures + 1);
    CHECK(fake_found(&key) == 1);
}

static void folder_without_rights_is_no_failure(void)
{
    char parent[256];

    snprintf(parent, sizeof parent, "%s/some", fake_root);
    REQUIRE(chmod(fake_root, 0755) == 0 && chmod(parent, 0755) == 0);
    REQUIRE(chmod(fake_folder, 0) == 0);
    CHECK(passes_in_child(use_without_rights));
    REQUIRE(chmod(fake_folder, 0555) == 0 && chmod(fake_path(key.text), 0444) == 0);
    CHECK(passes_in_child(read_without_writing));
    REQUIRE(chmod(fake_folder, 0700) == 0 && chmod(fake_path(key.text), 0) == 0);
    CHECK(geteuid() == 0 || is_replaced());
    REQUIRE(chmod(fake_path(key.text), 0600) == 0);
}

static void store_on_a_full_disk(void)
{
    const struct rlimit limit = {.rlim_cur = GYRE_CACHE_HEAD_BYTES + 100,
                                 .rlim_max = GYRE_CACHE_HEAD_BYTES + 100};
    const gyre_cache_key other = fake_key(3);
    const uint64_t before = fake_counts().store_failures;

    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    fake_store(&key, IMAGE);
    fake_store(&other, IMAGE);
    CHECK(fake_counts().store_failures == before + 2 && fake_temporaries() == 0);
    CHECK(fake_found(&key) == 1 && fake_found(&other) == 0);
}

static void full_disk_leaves_what_was_there(void)
{
    CHECK(passes_in_child(store_on_a_full_disk));
}

static void folder_that_vanishes_is_made_again(void)
{
    fake_remove(fake_folder);
    CHECK(fake_found(&key) == 0);
    fake_store(&key, IMAGE);
    CHECK(fake_found(&key) == 1);
}

static bool count_unsound(void *user, const gyre_cache_entry *entry)
{
    CHECK(entry->sound == (entry->why[0] == '\0'));
    *(int *)user += !entry->sound;
    return true;
}

static void damage_is_listed_with_its_reason(void)
{
    unsigned char bytes[WHOLE];
    int heads = 0, sums = 0;

    memcpy(bytes, whole, WHOLE);
    bytes[WHOLE - 1] ^= 1;
    REQUIRE(put(bytes, WHOLE));
    CHECK(gyre_cache_visit(false, count_unsound, &heads) == GYRE_OK && heads == 0);
    CHECK(gyre_cache_visit(true, count_unsound, &sums) == GYRE_OK && sums == 1);
    REQUIRE(put(bytes, 10));
    CHECK(gyre_cache_visit(false, count_unsound, &heads) == GYRE_OK && heads == 1);
    CHECK(is_replaced());
}

static void remove_the_folder(void)
{
    fake_remove(fake_root);
    CHECK(access(fake_root, F_OK) != 0);
}

static const test_case cases[] = {
    TEST(set_up),
    TEST(file_cut_at_any_byte_is_not_used),
    TEST(any_flipped_bit_is_noticed),
    TEST(longer_file_is_not_used),
    TEST(sizes_that_cannot_be_are_not_believed),
    TEST(other_version_is_not_used),
    TEST(file_under_another_name_is_not_used),
    TEST(what_is_no_file_is_replaced),
    TEST(links_are_not_followed),
    TEST(folder_with_something_in_it_stays_and_is_told),
    TEST(cache_that_is_a_file_keeps_nothing),
    TEST(folder_without_rights_is_no_failure),
    TEST(full_disk_leaves_what_was_there),
    TEST(folder_that_vanishes_is_made_again),
    TEST(damage_is_listed_with_its_reason),
    TEST(remove_the_folder),
};
TEST_MAIN(cases)
