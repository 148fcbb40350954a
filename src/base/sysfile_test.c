/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sysfile.h"

#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static char path[] = "/tmp/gyre-sysfile-test-XXXXXX";

/* Puts `size` bytes into the file; false when that fails. */
static bool put(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    const bool good = file && fwrite(bytes, 1, size, file) == size;

    return file && fclose(file) == 0 && good;
}

static void line_ends_before_its_newline(void)
{
    char line[32];

    REQUIRE(put("one\ntwo\n", 8));
    CHECK(gyre_sysfile_line(path, line, sizeof line) && strcmp(line, "one") == 0);
    REQUIRE(put("no newline", 10));
    CHECK(gyre_sysfile_line(path, line, sizeof line) && strcmp(line, "no newline") == 0);
    REQUIRE(put("", 0));
    CHECK(gyre_sysfile_line(path, line, sizeof line) && line[0] == '\0');
}

static void line_is_cut_at_the_buffers_end(void)
{
    char line[4];

    REQUIRE(put("123456", 6));
    CHECK(gyre_sysfile_line(path, line, sizeof line) && strcmp(line, "123") == 0);
}

static void what_cannot_be_read_is_empty(void)
{
    char line[16] = "before";

    CHECK(!gyre_sysfile_line("/nowhere/at/all", line, sizeof line) && line[0] == '\0');
    CHECK(!gyre_sysfile_line("/", line, sizeof line) && line[0] == '\0'); /* a folder */
}

static void file_without_end_is_read_to_the_buffers(void)
{
    char line[16];

    CHECK(gyre_sysfile_line("/dev/zero", line, sizeof line) && line[0] == '\0');
}

static const test_case cases[] = {
    TEST(line_ends_before_its_newline),
    TEST(line_is_cut_at_the_buffers_end),
    TEST(what_cannot_be_read_is_empty),
    TEST(file_without_end_is_read_to_the_buffers),
};

int main(void)
{
    const int fd = mkstemp(path);
    int code;

    if (fd < 0)
        return 1;
    close(fd);
    code = test_run(cases, sizeof cases / sizeof cases[0], NULL);
    unlink(path);
    return code;
}
