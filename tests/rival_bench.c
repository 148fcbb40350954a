/* SPDX-License-Identifier: Apache-2.0
 *
 * A program to be compared with itself. Its first argument says in what it differs: the script
 * tests run it on one side with one and on the other side with another.
 *
 * RIVAL_COUNT names a file to which every set-up adds a byte, so that a launch can be chosen.
 */
#include <fcntl.h>
#include <gyre/bench.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *mode = "";
static volatile uint64_t sink;

static bool is(const char *name)
{
    return strcmp(mode, name) == 0;
}

/* How often something was set up, this time included. */
static off_t count_up(void)
{
    const char *path = getenv("RIVAL_COUNT");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    struct stat file = {0};

    if (fd >= 0) {
        (void)!write(fd, ".", 1);
        (void)fstat(fd, &file);
        close(fd);
    }
    return file.st_size;
}

static gyre_status setup(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    *out_fixture = NULL;
    if (is("crash") && count_up() == 5) {
        fprintf(stderr, "the fifth time is one too many\n");
        raise(SIGSEGV);
    }
    if (is("absent"))
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "no flux capacitor here");
    return GYRE_OK;
}

static void count(void *fixture, uint64_t iterations)
{
    const uint64_t steps = is("slow") ? 2000 : 1000;

    (void)fixture;
    if (is("hang"))
        pause();
    if (is("leave"))
        exit(0);
    if (is("shrink")) {
        for (int fd = 3; fd < 1024; fd++)
            (void)!ftruncate(fd, 0);
    }
    if (is("shout"))
        for (int i = 0; i < 100; i++)
            printf("%01000d\n", i);
    for (uint64_t i = 0; i < iterations * steps; i++)
        sink = i;
}

static bool check(const void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    return !is("wrong");
}

static void steady(void *fixture, uint64_t iterations)
{
    (void)fixture;
    for (uint64_t i = 0; i < iterations * 1000; i++)
        sink = i;
}

static bool right(const void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    return true;
}

static uint32_t two(const gyre_bench_case *c)
{
    (void)c;
    return 2;
}

#define WHEN .t0 = "the call", .t1 = "its return", .observer = "the caller"

static const gyre_bench first[] = {
    {.name = "rival/count", WHEN, .setup = setup, .run = count, .check = check},
    {.name = "rival/steady", WHEN, .run = steady, .check = right},
    {.name = "rival/team", WHEN, .run = steady, .check = right, .threads = two},
};
static const gyre_bench second[] = {
    {.name = "rival/steady", WHEN, .run = steady, .check = right},
    {.name = "rival/fresh", WHEN, .run = steady, .check = right},
};
static const gyre_bench third[] = {{.name = "else/where", WHEN, .run = steady, .check = right}};

/* A program that speaks for itself: "deaf" answers at once, whoever's turn it is. */
static int answer_by_hand(void)
{
    static const char result[] =
        "{\"id\":\"rival/count\",\"suite\":\"rival\",\"axes\":{},\"t0\":\"a\",\"t1\":\"b\","
        "\"observer\":\"c\",\"outcome\":\"checked\"}";
    const char *order = getenv("GYRE_WORKER");
    int fd, parent;
    unsigned purpose;

    if (!order || sscanf(order, "%d %d %u", &fd, &parent, &purpose) != 3)
        return 2;
    if (purpose == 5 && is("twice"))
        dprintf(fd, "l 2 42\n1 0 rival/count host\n1 0 rival/count host\n");
    else if (purpose == 5 && is("clocked"))
        dprintf(fd, "l 1 24\n1 0 rival/count a clock\n");
    else if (purpose == 5)
        dprintf(fd, "l 1 21\n1 0 rival/count host\n");
    else if (is("talk"))
        while (dprintf(fd, "p 0 0\n") > 0)
            continue;
    else
        dprintf(fd, "b 0 0\nr 0 %zu\n%se 0 0\n", sizeof result - 1, result);
    return 0;
}

int main(int argc, char **argv)
{
    static const gyre_suite whole = GYRE_SUITE("rival", first);
    static const gyre_suite other = GYRE_SUITE("rival", second);
    static const gyre_suite elsewhere = GYRE_SUITE("rival", third);
    const gyre_suite *suites[] = {&whole, NULL};

    if (argc < 2)
        return 2;
    mode = argv[1];
    if (is("deaf") || is("twice") || is("clocked") || is("talk"))
        return answer_by_hand();
    if (is("stranger")) /* not built with the lab, for all that it shows */
        return 7;
    if (is("other"))
        suites[0] = &other;
    if (is("elsewhere"))
        suites[0] = &elsewhere;
    argv[1] = argv[0];
    return gyre_bench_main(argc - 1, argv + 1, suites);
}
