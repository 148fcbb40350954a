/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "test.h"

typedef struct report {
    int runs;
    char name[32];
    sigset_t blocked;
    cpu_set_t cpus;
    size_t stack_bytes;
} report;

static void look_around(void *arg)
{
    report *r = arg;
    pthread_attr_t attributes;

    r->runs++;
    pthread_getname_np(pthread_self(), r->name, sizeof r->name);
    pthread_sigmask(SIG_SETMASK, NULL, &r->blocked);
    pthread_getaffinity_np(pthread_self(), sizeof r->cpus, &r->cpus);
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &r->stack_bytes);
        pthread_attr_destroy(&attributes);
    }
}

static uint32_t some_allowed_cpu(void)
{
    cpu_set_t set;
    uint32_t last = 0;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (uint32_t i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &set))
                last = i;
    return last;
}

static void body_runs_once_before_stop_returns(void)
{
    report r = {0};
    gyre_thread *thread;

    REQUIRE(gyre_thread_start(look_around, &r, NULL, &thread) == GYRE_OK);
    gyre_thread_stop(thread);
    CHECK(r.runs == 1);
    CHECK(strcmp(r.name, "gyre") == 0);
}

static void library_threads_block_all_signals(void)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGPIPE};
    sigset_t mine_before, mine_after;
    gyre_thread *thread;
    report r = {0};

    pthread_sigmask(SIG_SETMASK, NULL, &mine_before);
    REQUIRE(gyre_thread_start(look_around, &r, NULL, &thread) == GYRE_OK);
    gyre_thread_stop(thread);
    pthread_sigmask(SIG_SETMASK, NULL, &mine_after);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        CHECK(sigismember(&r.blocked, ours[i]) == 1);
        CHECK(sigismember(&mine_before, ours[i]) == sigismember(&mine_after, ours[i]));
    }
}

static void options_are_obeyed(void)
{
    const uint32_t cpu = some_allowed_cpu();
    const gyre_thread_options options = {.struct_size = sizeof options,
                                         .name = "a-name-that-is-too-long",
                                         .stack_bytes = 300001,
                                         .cpus = &cpu,
                                         .cpu_count = 1};
    gyre_thread *thread;
    report r = {0};

    REQUIRE(gyre_thread_start(look_around, &r, &options, &thread) == GYRE_OK);
    gyre_thread_stop(thread);
    CHECK(strcmp(r.name, "a-name-that-is-") == 0);
    CHECK(CPU_COUNT(&r.cpus) == 1 && CPU_ISSET(cpu, &r.cpus));
    CHECK(r.stack_bytes >= 300001);
}

static void unusable_cpu_is_invalid(void)
{
    const uint32_t none[] = {65535, 65536};
    const gyre_thread_options options = {
        .struct_size = sizeof options, .cpus = none, .cpu_count = 1};
    gyre_thread *thread = (gyre_thread *)&thread;

    CHECK(gyre_thread_start(look_around, NULL, &options, &thread) == GYRE_INVALID);
    CHECK(thread == NULL);
    CHECK(gyre_thread_pin_self(none, 1) == GYRE_INVALID);
    CHECK(gyre_thread_pin_self(none + 1, 1) == GYRE_INVALID);
    CHECK(gyre_thread_pin_self(NULL, 0) == GYRE_INVALID);
}

static void impossible_stack_is_refused(void)
{
    const gyre_thread_options options = {.struct_size = sizeof options, .stack_bytes = (size_t)-1};
    gyre_thread *thread;

    CHECK(gyre_thread_start(look_around, NULL, &options, &thread) != GYRE_OK);
    CHECK(thread == NULL);
}

static void *count_and_take(void *user, size_t size_bytes, size_t alignment)
{
    ++*(int *)user;
    return aligned_alloc(alignment, size_bytes);
}

static void count_and_give(void *user, void *block, size_t size_bytes)
{
    (void)size_bytes;
    --*(int *)user;
    free(block);
}

static void callers_allocator_holds_the_handle(void)
{
    int out = 0;
    const gyre_allocator allocator = {count_and_take, count_and_give, &out};
    const gyre_thread_options options = {.struct_size = sizeof options, .allocator = &allocator};
    gyre_thread *thread;
    report r = {0};

    REQUIRE(gyre_thread_start(look_around, &r, &options, &thread) == GYRE_OK);
    CHECK(out == 1);
    gyre_thread_stop(thread);
    CHECK(out == 0);
}

static void stopping_nothing_is_fine(void)
{
    gyre_thread_stop(NULL);
}

static const test_case cases[] = {
    TEST(body_runs_once_before_stop_returns),
    TEST(library_threads_block_all_signals),
    TEST(options_are_obeyed),
    TEST(unusable_cpu_is_invalid),
    TEST(impossible_stack_is_refused),
    TEST(callers_allocator_holds_the_handle),
    TEST(stopping_nothing_is_fine),
};
TEST_MAIN(cases)
