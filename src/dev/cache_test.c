/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel cache: what is found again, what goes, what the counters and the lists say.
 */
#include <errno.h>
#include <time.h>

#include "child.h"
#include "dev/cache_fake.h"

enum { MIB = 1 << 20, BIG = 300 << 10, HOUR = 3600, LONG_AGO = 2 * HOUR };

static void folder_is_xdgs(void)
{
    REQUIRE(gyre_settings_set("GYRE_CACHE", "") == GYRE_OK);
    REQUIRE(gyre_settings_set("XDG_CACHE_HOME", "/some/cache") == GYRE_OK);
    CHECK(strcmp(fake_counts().folder, "/some/cache/gyre/kernels") == 0);
}

static void folder_is_the_homes(void)
{
    REQUIRE(gyre_settings_set("GYRE_CACHE", "") == GYRE_OK);
    REQUIRE(gyre_settings_set("XDG_CACHE_HOME", "relative/is/ignored") == GYRE_OK);
    REQUIRE(gyre_settings_set("HOME", "/home/me") == GYRE_OK);
    CHECK(strcmp(fake_counts().folder, "/home/me/.cache/gyre/kernels") == 0);
    CHECK(fake_counts().limit_bytes == (uint64_t)256 << 20);
}

/* A process that goes elsewhere finds again what it stored, and leaves no folders behind there. */
static void folder_stays_where_it_was(void)
{
    const gyre_cache_key key = fake_key(1);
    char root[] = "/tmp/gyre-cache-XXXXXX", path[64];

    REQUIRE(mkdtemp(root) && chdir(root) == 0 && mkdir("elsewhere", 0700) == 0);
    REQUIRE(gyre_settings_set("GYRE_CACHE", "some/kernels") == GYRE_OK);
    fake_store(&key, 100);
    REQUIRE(chdir("elsewhere") == 0);
    CHECK(fake_found(&key) == 1);
    fake_store(&key, 100);
    CHECK(access("some", F_OK) != 0);
    snprintf(path, sizeof path, "%s/some/kernels", root);
    CHECK(strcmp(fake_counts().folder, path) == 0);
    REQUIRE(chdir("/") == 0);
    fake_remove(root);
}

static bool never(void *user, const gyre_cache_entry *entry)
{
    (void)user, (void)entry;
    CHECK(false);
    return false;
}

static void nothing_is_kept(void)
{
    const gyre_cache_key key = fake_key(1);
    uint64_t entries, bytes;

    REQUIRE(gyre_settings_set("GYRE_CACHE", "off") == GYRE_OK);
    fake_store(&key, 100);
    CHECK(fake_found(&key) == 0);
    gyre_cache_refuse(&key);
    CHECK(strcmp(fake_counts().folder, "") == 0 && fake_counts().store_failures == 0);
    CHECK(gyre_cache_visit(false, never, NULL) == GYRE_UNAVAILABLE);
    CHECK(gyre_cache_clear(false, &entries, &bytes) == GYRE_UNAVAILABLE && entries == 0);
}

/* These come first: a child of a process that read its settings cannot set others. */
static void folder_follows_the_conventions(void)
{
    CHECK(passes_in_child(folder_is_xdgs));
    CHECK(passes_in_child(folder_is_the_homes));
    CHECK(passes_in_child(folder_stays_where_it_was));
}

static void off_keeps_nothing(void)
{
    CHECK(passes_in_child(nothing_is_kept));
}

static void cache_in_a_folder_of_its_own(void)
{
    REQUIRE(fake_cache("1"));
    CHECK(strcmp(fake_counts().folder, fake_folder) == 0);
    CHECK(fake_counts().limit_bytes == (uint64_t)1 << 20);
    CHECK(gyre_cache_visit(true, never, NULL) == GYRE_NOT_FOUND);
}

static void stored_image_is_found_again(void)
{
    const gyre_cache_key key = fake_key(1), other = fake_key(2);
    const gyre_cache_statistics before = fake_counts();
    struct stat about;

    CHECK(fake_found(&key) == 0);
    fake_store(&key, 1000);
    CHECK(fake_found(&key) == 1 && fake_found(&key) == 1 && fake_found(&other) == 0);
    CHECK(fake_counts().hits == before.hits + 2 && fake_counts().misses == before.misses + 2);
    CHECK(fake_counts().stores == before.stores + 1 && fake_counts().unsound == before.unsound);
    REQUIRE(stat(fake_folder, &about) == 0);
    CHECK((about.st_mode & 0777) == 0700);
    REQUIRE(stat(fake_path(key.text), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600 && about.st_size == 1000 + GYRE_CACHE_HEAD_BYTES);
    CHECK(fake_temporaries() == 0);
}

static void image_of_one_byte_is_an_image(void)
{
    const gyre_cache_key key = fake_key(3);

    fake_store(&key, 1);
    CHECK(fake_found(&key) == 1);
}

static void empty_image_is_not_kept(void)
{
    const gyre_cache_key key = fake_key(4);

    gyre_cache_store(&key, "", 0);
    CHECK(fake_found(&key) == 0);
}

static void image_beyond_the_limit_is_not_kept(void)
{
    const gyre_cache_key key = fake_key(5), small = fake_key(1);
    const gyre_cache_statistics before = fake_counts();

    fake_store(&key, MIB);
    CHECK(fake_found(&key) == 0 && fake_found(&small) == 1);
    CHECK(fake_counts().store_failures == before.store_failures + 1);
    CHECK(fake_counts().evictions == before.evictions);
}

static void refused_image_is_gone_and_counts_as_a_miss(void)
{
    const gyre_cache_key key = fake_key(6);
    const gyre_cache_statistics before = fake_counts();

    fake_store(&key, 500);
    CHECK(fake_found(&key) == 1);
    gyre_cache_refuse(&key);
    CHECK(fake_counts().hits == before.hits && fake_counts().misses == before.misses + 1);
    CHECK(fake_counts().unsound == before.unsound + 1);
    CHECK(fake_found(&key) == 0);
}

static void use_at(const gyre_cache_key *key, time_t seconds_ago)
{
    const time_t then = time(NULL) - seconds_ago;
    const struct timespec times[2] = {{.tv_sec = then}, {.tv_sec = then}};

    CHECK(utimensat(AT_FDCWD, fake_path(key->text), times, 0) == 0);
}

static void clear_all(void)
{
    uint64_t entries, bytes;

    CHECK(gyre_cache_clear(false, &entries, &bytes) == GYRE_OK);
}

static void longest_unused_goes_first(void)
{
    const gyre_cache_key keys[] = {fake_key(10), fake_key(11), fake_key(12), fake_key(13)};
    const gyre_cache_statistics before = fake_counts();

    clear_all();
    for (time_t i = 0; i < 3; i++) {
        fake_store(&keys[i], BIG);
        use_at(&keys[i], 30 - i);
    }
    CHECK(fake_found(&keys[0]) == 1); /* which makes the second the longest unused */
    fake_store(&keys[3], BIG);
    CHECK(fake_counts().evictions == before.evictions + 1);
    CHECK(fake_found(&keys[0]) == 1 && fake_found(&keys[1]) == 0);
    CHECK(fake_found(&keys[2]) == 1 && fake_found(&keys[3]) == 1);
}

static void newest_stays_though_others_lie_in_the_future(void)
{
    const gyre_cache_key keys[] = {fake_key(20), fake_key(21), fake_key(22), fake_key(23)};

    clear_all();
    for (int i = 0; i < 3; i++) {
        fake_store(&keys[i], BIG);
        use_at(&keys[i], -HOUR);
    }
    fake_store(&keys[3], BIG);
    CHECK(fake_found(&keys[3]) == 1);
}

static void left_temporaries_go_after_an_hour(void)
{
    const gyre_cache_key key = fake_key(30);
    char name[64];
    const struct timespec old[2] = {{.tv_sec = time(NULL) - LONG_AGO},
                                    {.tv_sec = time(NULL) - LONG_AGO}};

    for (int i = 0; i < 2; i++) {
        int fd;

        snprintf(name, sizeof name, ".%s.12-%d.tmp", key.text, i);
        fd = open(fake_path(name), O_CREAT | O_EXCL | O_WRONLY, 0600);
        REQUIRE(fd >= 0);
        close(fd);
    }
    CHECK(fake_temporaries() == 2);
    REQUIRE(utimensat(AT_FDCWD, fake_path(name), old, 0) == 0);
    fake_store(&key, 100);
    CHECK(fake_temporaries() == 1 && access(fake_path(name), F_OK) != 0);
    snprintf(name, sizeof name, ".%s.12-0.tmp", key.text);
    CHECK(unlink(fake_path(name)) == 0);
}

static void files_of_others_are_left_alone(void)
{
    static const char *const others[] = {"README", "0123", ".hidden.tmp",
                                         "0123456789ABCDEF0123456789ABCDEF",
                                         "0123456789abcdef0123456789abcdef0"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const int fd = open(fake_path(others[i]), O_CREAT | O_WRONLY, 0600);

        REQUIRE(fd >= 0);
        close(fd);
    }
    clear_all();
    CHECK(gyre_cache_visit(true, never, NULL) == GYRE_OK);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(unlink(fake_path(others[i])) == 0);
}

typedef struct seen {
    gyre_cache_entry entries[4];
    size_t count, most;
} seen;

static bool see(void *user, const gyre_cache_entry *entry)
{
    seen *s = user;

    if (s->count < 4)
        s->entries[s->count] = *entry;
    s->count++;
    return s->count < s->most;
}

static void entries_are_visited_the_last_used_first(void)
{
    const gyre_cache_key a = fake_key(40), b = fake_key(41), c = fake_key(42);
    seen all = {.most = 9}, some = {.most = 2};

    clear_all();
    fake_store(&a, 100);
    fake_store(&b, 200);
    fake_store(&c, 300);
    use_at(&a, 10);
    use_at(&b, 0);
    use_at(&c, 20);
    REQUIRE(gyre_cache_visit(true, see, &all) == GYRE_OK && all.count == 3);
    CHECK(strcmp(all.entries[0].key, b.text) == 0 && strcmp(all.entries[1].key, a.text) == 0);
    CHECK(all.entries[0].sound && all.entries[0].size_bytes == 200 + GYRE_CACHE_HEAD_BYTES);
    CHECK(strcmp(all.entries[2].program, "saxpy") == 0 && all.entries[2].why[0] == '\0');
    CHECK(strcmp(all.entries[2].device, "fake gen_1") == 0);
    CHECK(strcmp(all.entries[2].compiler, "fakecc 1.0") == 0);
    CHECK(all.entries[1].used - all.entries[2].used == 10);
    CHECK(all.entries[0].struct_size == sizeof all.entries[0]);
    REQUIRE(gyre_cache_visit(false, see, &some) == GYRE_OK);
    CHECK(some.count == 2);
}

static void long_and_hostile_words_are_cut_and_plain(void)
{
    gyre_cache_key key = fake_key(50);
    char program[200];
    seen s = {.most = 9};

    memset(program, 'p', sizeof program);
    program[sizeof program - 1] = '\0';
    key.program = program;
    key.device = "\x1b[2Jdevice";
    key.compiler = "";
    clear_all();
    fake_store(&key, 100);
    CHECK(fake_found(&key) == 1);
    REQUIRE(gyre_cache_visit(true, see, &s) == GYRE_OK && s.count == 1);
    CHECK(strlen(s.entries[0].program) == 63 && strchr(s.entries[0].device, 0x1b) == NULL);
    CHECK(strcmp(s.entries[0].compiler, "") == 0);
}

static void only_unsound_ones_can_be_removed(void)
{
    const gyre_cache_key good = fake_key(60), bad = fake_key(61);
    uint64_t entries = 9, bytes = 9;

    clear_all();
    fake_store(&good, 100);
    fake_store(&bad, 100);
    REQUIRE(truncate(fake_path(bad.text), 300) == 0);
    CHECK(gyre_cache_clear(true, &entries, &bytes) == GYRE_OK && entries == 1 && bytes == 300);
    CHECK(fake_found(&good) == 1);
    CHECK(gyre_cache_clear(false, &entries, &bytes) == GYRE_OK && entries == 1);
    CHECK(bytes == 100 + GYRE_CACHE_HEAD_BYTES && fake_found(&good) == 0);
}

static void statistics_need_their_size(void)
{
    gyre_cache_statistics s = {.struct_size = 0};

    CHECK(gyre_cache_describe(&s) == GYRE_INVALID);
    memset(&s, 0x55, sizeof s);
    s.struct_size = offsetof(gyre_cache_statistics, hits);
    CHECK(gyre_cache_describe(&s) == GYRE_OK);
    CHECK(s.limit_bytes == (uint64_t)1 << 20 && s.hits == UINT64_C(0x5555555555555555));
}

static void pieces_do_not_run_together(void)
{
    char texts[4][33];
    static const char *const pieces[4][2] = {{"ab", "c"}, {"a", "bc"}, {"abc", ""}, {"", "abc"}};

    for (size_t i = 0; i < 4; i++) {
        gyre_digest digest;

        gyre_digest_begin(&digest);
        gyre_digest_add(&digest, pieces[i][0], strlen(pieces[i][0]));
        gyre_digest_add(&digest, pieces[i][1], strlen(pieces[i][1]));
        gyre_digest_end(&digest, texts[i]);
        CHECK(gyre_cache_is_entry(texts[i]) && strncmp(texts[i], texts[i] + 16, 16) != 0);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(texts[i], texts[k]) != 0);
    }
}

static void remove_the_folder(void)
{
    fake_remove(fake_root);
    CHECK(access(fake_root, F_OK) != 0);
}

static const test_case cases[] = {
    TEST(folder_follows_the_conventions),
    TEST(off_keeps_nothing),
    TEST(cache_in_a_folder_of_its_own),
    TEST(stored_image_is_found_again),
    TEST(image_of_one_byte_is_an_image),
    TEST(empty_image_is_not_kept),
    TEST(image_beyond_the_limit_is_not_kept),
    TEST(refused_image_is_gone_and_counts_as_a_miss),
    TEST(longest_unused_goes_first),
    TEST(newest_stays_though_others_lie_in_the_future),
    TEST(left_temporaries_go_after_an_hour),
    TEST(files_of_others_are_left_alone),
    TEST(entries_are_visited_the_last_used_first),
    TEST(long_and_hostile_words_are_cut_and_plain),
    TEST(only_unsound_ones_can_be_removed),
    TEST(statistics_need_their_size),
    TEST(pieces_do_not_run_together),
    TEST(remove_the_folder),
};
TEST_MAIN(cases)
