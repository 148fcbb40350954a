/* SPDX-License-Identifier: Apache-2.0
 *
 * baton: see baton.h.
 *
 * `turn` is the futex: a waiter sleeps only while it still has the value that the waiter saw, which
 * the kernel compares under its own lock, so a pass between the look and the sleep is not missed.
 */
#include "bench/baton.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "gyre/atomic.h"
#include "stat/random.h"

const char *const gyre_side_names[GYRE_SIDES] = {"old", "new"};

enum { NAP_NS = 200000000 }; /* between two looks at `interrupted` */

/* NULL when it cannot be mapped; errno says why. */
static gyre_baton *map(int fd)
{
    void *memory = mmap(NULL, sizeof(gyre_baton), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

gyre_status gyre_baton_create(uint64_t seed, int *out_fd, gyre_baton **out_baton)
{
    const int fd = memfd_create("gyre-baton", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    gyre_baton *baton = NULL;

    *out_fd = -1;
    *out_baton = NULL;
    /* a side that made it shorter would take down whoever looks at it */
    if (fd >= 0 && ftruncate(fd, sizeof *baton) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        baton = map(fd);
    if (!baton) {
        const int error = errno;

        if (fd >= 0)
            close(fd);
        return gyre_fail_native(GYRE_IO, error, "cannot make shared memory: %s", strerror(error));
    }
    baton->version = GYRE_BATON_VERSION;
    baton->turn = GYRE_TURN_NOBODY;
    baton->seed = seed;
    *out_baton = baton;
    *out_fd = fd;
    return GYRE_OK;
}

gyre_status gyre_baton_open(int fd, gyre_baton **out_baton)
{
    static const char other_version[] =
        "this program and the gyre command that compares it are of different versions of Gyre";
    gyre_baton *baton;
    struct stat file;

    *out_baton = NULL;
    if (fstat(fd, &file) != 0 || file.st_size < (off_t)sizeof(uint32_t))
        return gyre_fail(GYRE_INVALID, "there is no baton behind descriptor %d", fd);
    if (file.st_size != (off_t)sizeof(gyre_baton))
        return gyre_fail(GYRE_UNSUPPORTED, "%s", other_version);
    baton = map(fd);
    if (!baton)
        return gyre_fail_native(GYRE_IO, errno, "cannot map shared memory: %s", strerror(errno));
    if (baton->version != GYRE_BATON_VERSION) {
        gyre_baton_close(baton);
        return gyre_fail(GYRE_UNSUPPORTED, "%s", other_version);
    }
    *out_baton = baton;
    return GYRE_OK;
}

void gyre_baton_close(gyre_baton *baton)
{
    if (baton)
        munmap(baton, sizeof *baton);
}

void gyre_baton_pass(gyre_baton *baton, gyre_turn to)
{
    uint32_t turn = gyre_load_relaxed32(&baton->turn); /* the exchange looks again */

    /* release [baton-pass]: pairs with the acquire in gyre_baton_wait. What this side wrote while
     * it had the baton is visible to whoever has it next. */
    while (turn != GYRE_TURN_OVER &&
           !__atomic_compare_exchange_n(&baton->turn, &turn, (uint32_t)to, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    (void)syscall(SYS_futex, &baton->turn, FUTEX_WAKE, GYRE_SIDES, NULL, NULL, 0);
}

gyre_turn gyre_baton_leader(const gyre_baton *baton)
{
    return baton->seed >> 3 & 1 ? GYRE_TURN_NEW : GYRE_TURN_OLD;
}

void gyre_baton_arrive(gyre_baton *baton, gyre_turn side)
{
    const uint32_t both = 1u << GYRE_TURN_OLD | 1u << GYRE_TURN_NEW;

    /* acq_rel [baton-arrive]: the second to arrive sees what the first had done before it, and
     * passes it on. */
    if (__atomic_or_fetch(&baton->arrived, 1u << side, __ATOMIC_ACQ_REL) == both)
        gyre_baton_pass(baton, gyre_baton_leader(baton));
}

gyre_status gyre_baton_wait(gyre_baton *baton, gyre_turn turn,
                            const volatile sig_atomic_t *interrupted)
{
    for (;;) {
        const struct timespec nap = {.tv_nsec = NAP_NS};
        /* acquire [baton-pass]: pairs with the release in gyre_baton_pass. */
        const uint32_t now = __atomic_load_n(&baton->turn, __ATOMIC_ACQUIRE);

        if (now == (uint32_t)turn)
            return GYRE_OK;
        if (now == GYRE_TURN_OVER)
            return GYRE_CLOSED;
        if (interrupted && *interrupted)
            return GYRE_CANCELLED;
        /* every return leads to another look: woken, changed, interrupted or timed out */
        (void)syscall(SYS_futex, &baton->turn, FUTEX_WAIT, now, &nap, NULL, 0);
    }
}

void gyre_baton_order(uint64_t seed, size_t pairs, char letters[2 * GYRE_BATON_PAIRS + 1])
{
    const size_t blocks = pairs / 2;
    bool reversed[GYRE_BATON_PAIRS / 2];
    gyre_stat_random random;

    gyre_stat_random_seed(&random, seed);
    for (size_t i = 0; i < blocks; i++)
        reversed[i] = i < blocks / 2;
    if (blocks % 2 == 1) /* the odd one is either */
        reversed[blocks - 1] = gyre_stat_random_next(&random) >> 63;
    for (size_t i = blocks; i > 1; i--) {
        const size_t j = (size_t)gyre_stat_random_below(&random, i);
        const bool kept = reversed[i - 1];

        reversed[i - 1] = reversed[j];
        reversed[j] = kept;
    }
    for (size_t i = 0; i < blocks; i++)
        memcpy(letters + 4 * i, reversed[i] ? "BAAB" : "ABBA", 4);
    letters[4 * blocks] = '\0';
}

bool gyre_baton_planned(const gyre_baton *baton)
{
    return baton->pairs >= 2 && baton->pairs <= GYRE_BATON_PAIRS && baton->pairs % 2 == 0 &&
           baton->iterations > 0 && baton->iterations <= UINT64_C(1) << 40;
}

bool gyre_baton_kept(const gyre_baton *baton)
{
    char letters[2 * GYRE_BATON_PAIRS + 1];
    size_t next[GYRE_SIDES] = {0};
    uint64_t last_ns = 0;

    if (!gyre_baton_planned(baton) || baton->taken[0] != baton->pairs ||
        baton->taken[1] != baton->pairs)
        return false;
    gyre_baton_order(baton->seed, baton->pairs, letters);
    for (size_t i = 0; letters[i]; i++) {
        const size_t side = letters[i] == 'A' ? GYRE_TURN_OLD : GYRE_TURN_NEW;
        const gyre_epoch *epoch = &baton->epochs[side][next[side]++];

        /* `!(x >= y)` refuses what is no number, too */
        if (epoch->start_ns < last_ns || epoch->end_ns < epoch->start_ns ||
            !(epoch->time_ns >= GYRE_BATON_LEAST_NS) || !(epoch->time_ns < 1e18))
            return false;
        last_ns = epoch->end_ns;
    }
    return true;
}
