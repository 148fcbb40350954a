/* SPDX-License-Identifier: Apache-2.0 */
#include "base/barrier.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gyre/clock.h"
#include "test.h"

enum { ROUNDS = 20000, LIMIT_MS = 300 };

static void answer_stays_the_same(void)
{
    const bool first = gyre_barrier_is_there();

    for (int i = 0; i < 3; i++)
        CHECK(gyre_barrier_is_there() == first);
    for (int i = 0; first && i < 3; i++)
        gyre_barrier_heavy();
}

/* Two threads meet in each round: each stores its own word and reads the other's. */
static struct {
    alignas(64) _Atomic uint32_t hurried;
    alignas(64) _Atomic uint32_t patient;
    alignas(64) _Atomic uint32_t hurried_round; /* that it may begin; UINT32_MAX: no more */
    alignas(64) _Atomic uint32_t hurried_done;
    uint32_t hurried_saw; /* handed over with hurried_done */
} meeting;

static void *hurry(void *unused)
{
    for (uint32_t round = 1;; round++) {
        uint32_t now;

        while ((now = atomic_load(&meeting.hurried_round)) < round)
            continue;
        if (now == UINT32_MAX)
            return unused;
        atomic_store_explicit(&meeting.hurried, round, memory_order_relaxed);
        gyre_barrier_light();
        meeting.hurried_saw = atomic_load_explicit(&meeting.patient, memory_order_relaxed);
        atomic_store(&meeting.hurried_done, round);
    }
}

/* In how many rounds neither saw the other. */
static uint32_t meet(void)
{
    const uint64_t end_ns = gyre_clock_after_ns((uint64_t)LIMIT_MS * 1000000);
    uint32_t missed = 0;
    pthread_t thread;

    memset(&meeting, 0, sizeof meeting);
    if (pthread_create(&thread, NULL, hurry, NULL) != 0)
        return UINT32_MAX;
    for (uint32_t round = 1; round <= ROUNDS && gyre_clock_now_ns() < end_ns; round++) {
        uint32_t saw;

        atomic_store(&meeting.hurried_round, round);
        for (volatile uint32_t i = round % 128; i > 0; i--)
            continue; /* at all distances from each other */
        atomic_store_explicit(&meeting.patient, round, memory_order_relaxed);
        gyre_barrier_heavy();
        saw = atomic_load_explicit(&meeting.hurried, memory_order_relaxed);
        while (atomic_load(&meeting.hurried_done) != round)
            sched_yield();
        missed += saw != round && meeting.hurried_saw != round;
    }
    atomic_store(&meeting.hurried_round, UINT32_MAX);
    pthread_join(thread, NULL);
    return missed;
}

static void one_of_two_sees_the_other(void)
{
    if (!gyre_barrier_is_there())
        SKIP("the system has no membarrier");
    CHECK(meet() == 0);
}

/* The process may not call membarrier any more; false: the system does not know such a thing. */
static bool forbid_membarrier(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void it_holds_in_a_sandbox_that_was_closed_later(void)
{
    pid_t child;
    int status;

    if (!gyre_barrier_is_there())
        SKIP("the system has no membarrier");
    child = fork();
    if (child == 0) {
        alarm(20);
        if (!forbid_membarrier())
            _exit(77);
        _exit(meet() == 0 ? 0 : 1);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        SKIP("the system has no seccomp");
    CHECK(WEXITSTATUS(status) == 0);
}

static const test_case cases[] = {
    TEST(answer_stays_the_same),
    TEST(one_of_two_sees_the_other),
    TEST(it_holds_in_a_sandbox_that_was_closed_later),
};
TEST_MAIN(cases)
