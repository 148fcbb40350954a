/* SPDX-License-Identifier: Apache-2.0
 *
 * Several processes and threads on one kernel cache, and processes that are killed while they
 * store: what is found is whole, always.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "dev/cache_fake.h"

enum { KEYS = 12, THREADS = 3, PROCESSES = 3, ROUNDS = 60, KILLS = 60, IMAGE = 500 * 1024 };

static bool all_sound(void *user, const gyre_cache_entry *entry)
{
    CHECK(entry->sound);
    *(int *)user += 1;
    return true;
}

static void *store_and_find(void *seed)
{
    const uint64_t start = *(const uint64_t *)seed;

    for (uint64_t i = 0; i < ROUNDS; i++) {
        const gyre_cache_key key = fake_key((start + i * 7) % KEYS);

        if (fake_found(&key) == 0)
            fake_store(&key, IMAGE + (start + i * 7) % KEYS);
        CHECK(fake_found(&key) >= 0);
        if (i % 16 == 15)
            gyre_cache_refuse(&key);
    }
    return NULL;
}

static void work_with_threads(void)
{
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];

    for (uint64_t i = 0; i < THREADS; i++) {
        seeds[i] = i + (uint64_t)getpid();
        REQUIRE(pthread_create(&threads[i], NULL, store_and_find, &seeds[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* The limit is below what all keys take, so that entries go while others look for them. */
static void processes_and_threads_share_the_folder(void)
{
    pid_t children[PROCESSES];
    int count = 0;

    REQUIRE(fake_cache("4"));
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        REQUIRE(children[i] >= 0);
        if (children[i] == 0) {
            alarm(100);
            work_with_threads();
            _exit(test_failed() ? 1 : 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        CHECK(waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0);
    }
    work_with_threads();
    CHECK(fake_counts().store_failures == 0);
    CHECK(gyre_cache_visit(true, all_sound, &count) == GYRE_OK && count > 0);
    CHECK(fake_temporaries() == 0);
}

/* The images are made before, so that nearly all the time is spent in stores. */
static void store_for_ever(void)
{
    static unsigned char images[KEYS][IMAGE];
    gyre_cache_key keys[KEYS];

    for (uint64_t i = 0; i < KEYS; i++) {
        keys[i] = fake_key(i);
        fake_image(&keys[i], images[i], IMAGE);
    }
    for (uint64_t i = 0;; i++)
        gyre_cache_store(&keys[i % KEYS], images[i % KEYS], IMAGE);
}

static void killed_while_storing_leaves_only_whole_entries(void)
{
    int count = 0;

    for (int i = 0; i < KILLS; i++) {
        const struct timespec pause = {.tv_nsec = 20000000 + i * 170000};
        const pid_t child = fork();
        int status;

        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(20);
            store_for_ever();
        }
        nanosleep(&pause, NULL);
        CHECK(kill(child, SIGKILL) == 0);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        CHECK(gyre_cache_visit(true, all_sound, &count) == GYRE_OK);
    }
    CHECK(count > 0);
    for (uint64_t i = 0; i < KEYS; i++) {
        const gyre_cache_key key = fake_key(i);

        CHECK(fake_found(&key) >= 0);
        fake_store(&key, IMAGE);
        CHECK(fake_found(&key) == 1);
    }
}

static void remove_the_folder(void)
{
    fake_remove(fake_root);
    CHECK(access(fake_root, F_OK) != 0);
}

static const test_case cases[] = {
    TEST(processes_and_threads_share_the_folder),
    TEST(killed_while_storing_leaves_only_whole_entries),
    TEST(remove_the_folder),
};
TEST_MAIN(cases)
