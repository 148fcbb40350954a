/* SPDX-License-Identifier: Apache-2.0
 *
 * Each case is a folder with a git of its own making, or with a repository that the real one made.
 */
#include "record/commit.h"

#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gyre/clock.h"
#include "test.h"

static const uint64_t LONG_NS = 60000000000;
static char root[] = "/tmp/gyre-commit-test-XXXXXX";
static gyre_arena arena;

static bool is(const char *text, const char *expected)
{
    return expected ? text && strcmp(text, expected) == 0 : !text;
}

static const char *at(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

/* A program called git, and nothing else, in PATH. */
static void fake_git(const char *script)
{
    FILE *file = fopen(at("git"), "w");

    if (!file)
        abort();
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    chmod(at("git"), 0755);
    setenv("PATH", root, 1);
}

static void headers_name_commit_and_branch(void)
{
    const gyre_commit commit =
        gyre_commit_parse("# branch.oid 8a1f\n# branch.head main\n# branch.ab +1 -0\n", &arena);

    CHECK(is(commit.id, "8a1f") && is(commit.branch, "main") && !commit.dirty);
}

static void any_other_line_is_a_difference(void)
{
    CHECK(gyre_commit_parse("# branch.oid 8a1f\n1 .M N... 100644 a.c\n", &arena).dirty);
    CHECK(!gyre_commit_parse("# branch.oid 8a1f\n\n", &arena).dirty);
}

static void detached_head_has_no_branch(void)
{
    const gyre_commit commit =
        gyre_commit_parse("# branch.oid 8a1f\n# branch.head (detached)\n", &arena);

    CHECK(is(commit.id, "8a1f") && is(commit.branch, NULL));
}

static void repository_without_a_commit_has_none(void)
{
    const gyre_commit commit =
        gyre_commit_parse("# branch.oid (initial)\n# branch.head main\n1 A. a.c\n", &arena);

    CHECK(is(commit.id, NULL) && is(commit.branch, NULL) && !commit.dirty);
}

static void other_words_are_nothing(void)
{
    static const char *const texts[] = {"", "\n\n", "# branch.oid", "# branch.oid ", "fatal: no\n"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(is(gyre_commit_parse(texts[i], &arena).id, NULL));
}

static void failing_git_is_not_believed(void)
{
    fake_git("echo '# branch.oid 8a1f'; exit 128");
    CHECK(is(gyre_commit_ask(root, LONG_NS, &arena).id, NULL));
    fake_git("echo '# branch.oid 8a1f'");
    CHECK(is(gyre_commit_ask(root, LONG_NS, &arena).id, "8a1f"));
}

static void without_git_nothing_is_known(void)
{
    setenv("PATH", "/nonexistent", 1);
    CHECK(is(gyre_commit_ask(root, LONG_NS, &arena).id, NULL));
}

static void long_answer_is_read_to_its_end(void)
{
    fake_git("echo '# branch.oid 8a1f'; i=0\n"
             "while [ $i -lt 20000 ]; do echo '1 .M N... 100644 some/file.c'; i=$((i + 1)); done");
    CHECK(gyre_commit_ask(root, LONG_NS, &arena).dirty);
}

/* What hangs is ended, and what it started is ended with it: the pipe says so by its end. */
static void git_that_hangs_is_ended_with_its_children(void)
{
    char path[PATH_MAX], script[PATH_MAX + 64];
    struct stat there;
    pid_t child = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/child", root);
    snprintf(script, sizeof script, "/bin/sleep 600 & echo $! >%s\nwait", path);
    fake_git(script);
    /* a busy machine may need longer to come to the point where it hangs */
    for (uint64_t ns = 500000000; ns < LONG_NS; ns *= 4) {
        CHECK(is(gyre_commit_ask(root, ns, &arena).id, NULL));
        CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* none is left to wait for */
        if (stat(path, &there) == 0 && there.st_size > 0)
            break;
    }
    file = fopen(path, "r");
    REQUIRE(file && fscanf(file, "%d", &child) == 1);
    fclose(file);
    for (int i = 0; i < 3000 && kill(child, 0) == 0; i++)
        usleep(10000); /* until its new parent has taken note */
    CHECK(kill(child, 0) != 0);
}

/* Whether the shell does it, in the root. */
static bool shell(const char *script)
{
    const pid_t pid = fork();
    int state = -1;

    if (pid == 0) {
        if (chdir(root) == 0)
            execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &state, 0) == pid && state == 0;
}

static void real_repository_is_understood(void)
{
    gyre_commit commit;

    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    if (!shell("git --version >/dev/null 2>&1"))
        SKIP("git is not here");
    REQUIRE(shell("git -c init.defaultBranch=topic init -q repo && cd repo && echo 1 >a && "
                  "git add a && git -c user.name=n -c user.email=e commit -q -m m"));
    commit = gyre_commit_ask(at("repo"), LONG_NS, &arena);
    CHECK(commit.id && strlen(commit.id) >= 40 && is(commit.branch, "topic") && !commit.dirty);
    REQUIRE(shell("echo 2 >repo/untracked"));
    CHECK(!gyre_commit_ask(at("repo"), LONG_NS, &arena).dirty);
    REQUIRE(shell("echo 2 >repo/a"));
    CHECK(gyre_commit_ask(at("repo"), LONG_NS, &arena).dirty);
    setenv("GIT_CEILING_DIRECTORIES", "/tmp", 1);
    CHECK(is(gyre_commit_ask(root, LONG_NS, &arena).id, NULL)); /* no repository */
}

static int forget(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
    (void)s, (void)kind, (void)ftw;
    return remove(path);
}

static const test_case cases[] = {
    TEST(headers_name_commit_and_branch),
    TEST(any_other_line_is_a_difference),
    TEST(detached_head_has_no_branch),
    TEST(repository_without_a_commit_has_none),
    TEST(other_words_are_nothing),
    TEST(failing_git_is_not_believed),
    TEST(without_git_nothing_is_known),
    TEST(long_answer_is_read_to_its_end),
    TEST(git_that_hangs_is_ended_with_its_children),
    TEST(real_repository_is_understood),
};

int main(int argc, char **argv)
{
    int code;

    if (!mkdtemp(root))
        return 1;
    code = test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);
    gyre_arena_fini(&arena);
    nftw(root, forget, 8, FTW_DEPTH | FTW_PHYS);
    return code;
}
