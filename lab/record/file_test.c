/* SPDX-License-Identifier: Apache-2.0 */
#include "record/file.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char root[] = "/tmp/gyre-file-test-XXXXXX";
static char path[PATH_MAX];

static const char *at(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void put(FILE *stream, const void *text)
{
    fputs(text, stream);
}

/* A write that the stream cannot take: what a full disk does. */
static void put_and_break(FILE *stream, const void *text)
{
    fputs(text, stream);
    fflush(stream);
    close(fileno(stream));
    fputs(text, stream);
}

static bool holds(const char *name, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(at(name), "r");

    if (!file)
        return false;
    if (!fgets(got, sizeof got, file))
        got[0] = '\0';
    fclose(file);
    return strcmp(got, text) == 0;
}

static int entries(const char *name)
{
    DIR *d = opendir(at(name));
    int count = 0;

    if (!d)
        return -1;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

static void folders_are_made_and_left_empty(void)
{
    REQUIRE(gyre_folder_open(at("a/b/c")) == GYRE_OK);
    CHECK(entries("a/b/c") == 0); /* the probe is gone */
    CHECK(gyre_folder_open(at("a/b/c")) == GYRE_OK);
    CHECK(gyre_folder_open(at("a/b/c/")) == GYRE_OK);
}

static void file_in_the_way_is_a_status(void)
{
    REQUIRE(gyre_file_replace(at("plain"), put, "x") == GYRE_OK);
    CHECK(gyre_folder_open(at("plain/below")) == GYRE_IO);
    CHECK(gyre_error_last()->native == ENOTDIR);
    CHECK(gyre_folder_open(at("plain")) == GYRE_IO);
}

static void read_only_folder_is_a_status(void)
{
    if (geteuid() == 0)
        SKIP("root may write anywhere");
    REQUIRE(mkdir(at("locked"), 0500) == 0);
    CHECK(gyre_folder_open(at("locked")) == GYRE_IO);
    CHECK(gyre_error_last()->native == EACCES);
}

static void proc_is_not_writable_for_anyone(void)
{
    CHECK(gyre_folder_open("/proc/gyre-out") == GYRE_IO);
    CHECK(strstr(gyre_error_last()->text, "/proc/gyre-out") != NULL);
}

static void new_text_replaces_old(void)
{
    REQUIRE(gyre_folder_open(at("r")) == GYRE_OK);
    REQUIRE(gyre_file_replace(at("r/f"), put, "old") == GYRE_OK);
    REQUIRE(gyre_file_replace(at("r/f"), put, "new") == GYRE_OK);
    CHECK(holds("r/f", "new"));
    CHECK(entries("r") == 1);
}

static void umask_is_respected(void)
{
    const mode_t before = umask(077);
    struct stat about;

    REQUIRE(gyre_folder_open(at("u")) == GYRE_OK);
    REQUIRE(gyre_file_replace(at("u/f"), put, "x") == GYRE_OK);
    umask(before);
    REQUIRE(stat(at("u/f"), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
}

static void failed_write_keeps_the_old_file(void)
{
    REQUIRE(gyre_folder_open(at("k")) == GYRE_OK);
    REQUIRE(gyre_file_replace(at("k/f"), put, "old") == GYRE_OK);
    CHECK(gyre_file_replace(at("k/f"), put_and_break, "half") == GYRE_IO);
    CHECK(strstr(gyre_error_last()->text, "cannot write") != NULL);
    CHECK(holds("k/f", "old"));
    CHECK(entries("k") == 1); /* nothing half-written stays behind */
}

static void absurd_paths_are_refused(void)
{
    char longest[PATH_MAX + 10];

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(gyre_folder_open(longest) == GYRE_IO);
    CHECK(gyre_folder_open("") == GYRE_IO);
    CHECK(gyre_file_replace(longest, put, "x") == GYRE_IO);
}

static int remove_entry(const char *name, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(name);
}

static const test_case cases[] = {
    TEST(folders_are_made_and_left_empty), TEST(file_in_the_way_is_a_status),
    TEST(read_only_folder_is_a_status),    TEST(proc_is_not_writable_for_anyone),
    TEST(new_text_replaces_old),           TEST(umask_is_respected),
    TEST(failed_write_keeps_the_old_file), TEST(absurd_paths_are_refused),
};

int main(void)
{
    int code;

    if (!mkdtemp(root))
        return 1;
    code = test_run(cases, sizeof cases / sizeof cases[0], NULL);
    (void)nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return code;
}
