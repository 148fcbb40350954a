/* SPDX-License-Identifier: Apache-2.0
 *
 * A stranger's suite, with everything in it that a benchmark can do wrong, and some that do right.
 * The script tests choose among them.
 */
#include <gyre/bench.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;
static void *blocks[2];

static void count(void *fixture, uint64_t iterations)
{
    (void)fixture;
    for (uint64_t i = 0; i < iterations; i++) {
        sink = i;
        gyre_bench_keep(&iterations);
    }
}

static bool right(const void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    return true;
}

static bool wrong(const void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    return false;
}

static void crash(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    fprintf(stderr, "about to do something\033[31m silly\n");
    raise(SIGSEGV);
}

static void hang(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    for (;;)
        pause();
}

static void leave(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    exit(3);
}

static void leave_happily(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
    exit(0);
}

static void chatter(void *fixture, uint64_t iterations)
{
    static char line[1024];

    memset(line, 'x', sizeof line - 1);
    for (int i = 0; i < 4096; i++)
        printf("%s\n", line);
    count(fixture, iterations);
}

static void greet(void *fixture, uint64_t iterations)
{
    printf("hello from the benchmark\n");
    count(fixture, iterations);
}

/* Starts a process that would outlive everybody; its number is in a file for the test to look for.
 */
static void start_a_sleeper(bool leaves_the_group)
{
    const char *path = getenv("STRANGER_CHILD");
    FILE *file = path ? fopen(path, "w") : NULL;
    const pid_t child = fork();

    if (child == 0) {
        if (leaves_the_group)
            setsid();
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(1);
    }
    if (file) {
        fprintf(file, "%d\n", (int)child);
        fclose(file);
    }
}

static void leave_a_child(void *fixture, uint64_t iterations)
{
    start_a_sleeper(false);
    hang(fixture, iterations);
}

/* As daemons do: the one that starts it is gone before anybody looks. */
static void leave_a_daemon(void *fixture, uint64_t iterations)
{
    static bool left;

    if (!left) {
        const pid_t between = fork();

        if (between == 0) {
            start_a_sleeper(true);
            _exit(0);
        }
        waitpid(between, NULL, 0);
        left = true;
    }
    count(fixture, iterations);
}

/* Deaf to everything that can be blocked. */
static void mask_and_hang(void *fixture, uint64_t iterations)
{
    const char *path = getenv("STRANGER_CHILD");
    FILE *file = path ? fopen(path, "w") : NULL;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
    hang(fixture, iterations);
}

static void leave_the_group(void *fixture, uint64_t iterations)
{
    setpgid(0, getpgid(getppid()));
    hang(fixture, iterations);
}

/* A child that comes back from run as if it were the benchmark. */
static void return_twice(void *fixture, uint64_t iterations)
{
    const pid_t child = fork();

    count(fixture, iterations);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static uint64_t crash_when_asked(const gyre_bench_case *c)
{
    (void)c;
    raise(SIGSEGV);
    return 0;
}

static uint64_t prepared;

static void prepare_one(void *fixture, uint64_t iterations)
{
    (void)fixture;
    prepared = iterations;
    blocks[0] = malloc(1000); /* not the benchmark's own */
    gyre_bench_keep(blocks);
    free(blocks[0]);
}

static void use_one(void *fixture, uint64_t iterations)
{
    (void)fixture;
    if (prepared != iterations || iterations != 1)
        abort();
    blocks[0] = malloc(10);
    gyre_bench_keep(blocks);
    free(blocks[0]);
}

/* How many CPUs it may run on. */
static void tell_cpus(const void *fixture, uint64_t iterations, gyre_bench_facts *facts)
{
    cpu_set_t cpus;

    (void)fixture, (void)iterations;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        gyre_bench_count(facts, "cpus", CPU_COUNT(&cpus));
}

static void at_once(void *fixture, uint64_t iterations)
{
    (void)fixture, (void)iterations;
}

static gyre_status break_at_the_end(const gyre_bench_case *c, void **out_fixture)
{
    static bool registered;

    (void)c, (void)out_fixture;
    if (!registered)
        atexit(abort);
    registered = true;
    return GYRE_OK;
}

static gyre_status absent(const gyre_bench_case *c, void **out_fixture)
{
    (void)c, (void)out_fixture;
    return gyre_bench_refuse(GYRE_UNAVAILABLE, "no flux capacitor here");
}

static void allocate(void *fixture, uint64_t iterations)
{
    (void)fixture;
    for (uint64_t i = 0; i < iterations; i++) {
        blocks[0] = malloc(100);
        blocks[1] = calloc(2, 50);
        gyre_bench_keep(blocks);
        free(blocks[0]);
        free(blocks[1]);
    }
}

static uint32_t two(const gyre_bench_case *c)
{
    (void)c;
    return 2;
}

typedef struct tallies {
    uint64_t by_thread[2][16];
} tallies;

static gyre_status make_tallies(const gyre_bench_case *c, void **out_fixture)
{
    (void)c;
    *out_fixture = calloc(1, sizeof(tallies));
    return *out_fixture ? GYRE_OK : GYRE_NO_MEMORY;
}

static void tally(void *fixture, uint64_t iterations)
{
    tallies *t = fixture;

    for (uint64_t i = 0; i < iterations; i++) {
        t->by_thread[gyre_bench_thread()][0]++;
        gyre_bench_keep(t);
    }
}

static bool both_tallied(const void *fixture, uint64_t iterations)
{
    const tallies *t = fixture;

    return t->by_thread[0][0] == iterations && t->by_thread[1][0] == iterations;
}

static gyre_health ill(char *why, size_t size)
{
    snprintf(why, size, "it coughs");
    return GYRE_HEALTH_WARNING;
}

#define WORDS .t0 = "the call", .t1 = "its return", .observer = "the caller"

static const gyre_bench benches[] = {
    {.name = "fine/first", .run = count, .check = right, WORDS},
    {.name = "fine/second", .axes = {GYRE_AXIS("n", 1, 2)}, .run = count, .check = right, WORDS},
    {.name = "crash/before", .run = count, .check = right, WORDS},
    {.name = "crash/here", .run = crash, .check = right, WORDS},
    {.name = "crash/after", .run = count, .check = right, WORDS},
    {.name = "hang/here", .run = hang, .check = right, WORDS},
    {.name = "wrong/answer", .run = count, .check = wrong, WORDS},
    {.name = "exit/three", .run = leave, .check = right, WORDS},
    {.name = "exit/zero", .run = leave_happily, .check = right, WORDS},
    {.name = "late/abort", .setup = break_at_the_end, .run = count, .check = right, WORDS},
    {.name = "print/megabytes", .run = chatter, .check = right, WORDS},
    {.name = "print/little", .run = greet, .check = right, WORDS},
    {.name = "child/left", .run = leave_a_child, .check = right, WORDS},
    {.name = "daemon/left", .run = leave_a_daemon, .check = right, WORDS},
    {.name = "mask/hang", .run = mask_and_hang, .check = right, WORDS},
    {.name = "group/left", .run = leave_the_group, .check = right, WORDS},
    {.name = "twice/returned", .run = return_twice, .check = right, WORDS},
    {.name = "declared/crash", .run = count, .check = right, .bytes = crash_when_asked, WORDS},
    {.name = "each/one",
     .run = use_one,
     .check = right,
     .prepare = prepare_one,
     .batch = GYRE_BATCH_EACH,
     WORDS},
    {.name = "cpus/counted", .run = count, .check = right, .tell = tell_cpus, WORDS},
    {.name = "zero/ns", .run = at_once, .check = right, WORDS},
    {.name = "absent/device", .setup = absent, .run = count, .check = right, WORDS},
    {.name = "heap/two", .run = allocate, .check = right, WORDS},
    {.name = "team/two",
     .setup = make_tallies,
     .run = tally,
     .check = both_tallied,
     .teardown = free,
     .threads = two,
     WORDS},
    {.name = "slow/one", .run = count, .check = right, .tags = GYRE_TAG_SLOW, WORDS},
    {.name = "last/one", .run = count, .check = right, WORDS},
};

static const gyre_bench guarded[] = {{.name = "guarded/one", .run = count, .check = right, WORDS}};

static const gyre_bench_guard guard = {ill, NULL};
static const gyre_suite suite = GYRE_SUITE("stranger", benches);
static const gyre_suite guarded_suite = GYRE_DEVICE_SUITE("guarded", guarded, NULL, &guard);

int main(int argc, char **argv)
{
    const gyre_suite *const suites[] = {&suite, &guarded_suite, NULL};

    const char *folder = getenv("STRANGER_FOLDER");

    if (folder && chdir(folder) != 0)
        return 99;
    return gyre_bench_main(argc, argv, suites);
}
