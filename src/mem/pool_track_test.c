/* SPDX-License-Identifier: Apache-2.0
 *
 * What tracking finds, and the address sanitizer without it: each mistake is made in a child, which
 * has to end by it and to say what it was. This process itself never uses the library, or its
 * children could not.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem/pool_fake.h"

/* How a child ended and what it wrote to stderr. */
typedef struct ending {
    int status;
    char text[16384];
} ending;

static fake_source source;
static gyre_pool *pool;

static bool run(void (*body)(void), ending *e)
{
    size_t length = 0;
    int ends[2];
    pid_t child;
    ssize_t n;

    e->status = -1;
    e->text[0] = '\0';
    if (pipe(ends) != 0)
        return false;
    child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};

        (void)setrlimit(RLIMIT_CORE, &none);
        alarm(20);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        test_failures = 0;
        body();
        _exit(test_failed() ? 2 : 0);
    }
    close(ends[1]);
    while ((n = read(ends[0], e->text + length, sizeof e->text - 1 - length)) > 0)
        length += (size_t)n;
    e->text[length] = '\0';
    close(ends[0]);
    return child > 0 && waitpid(child, &e->status, 0) == child;
}

static bool says(const ending *e, const char *words)
{
    return strstr(e->text, words) != NULL;
}

/* Where a block was taken or given: a function's name, or at least the program's. */
static bool says_where(const ending *e)
{
    return says(e, "pool_track_test") || says(e, "take_somewhere");
}

static bool went_well(const ending *e)
{
    return WIFEXITED(e->status) && WEXITSTATUS(e->status) == 0;
}

/* That it aborted with these words; or, where there is one, by the sanitizer's report. */
static void check_found(void (*body)(void), const char *words, const char *other_words)
{
    static ending e;
    const int failures = test_failed();

    REQUIRE(run(body, &e));
    if (FAKE_ASAN && says(&e, "AddressSanitizer") && says(&e, "poison"))
        return;
    CHECK(WIFSIGNALED(e.status) && WTERMSIG(e.status) == SIGABRT);
    CHECK(says(&e, words) || (other_words && says(&e, other_words)));
    CHECK(says(&e, "culprit")); /* the pool's name */
    CHECK(says_where(&e));
    if (test_failed() != failures)
        fprintf(stderr, "expected \"%s\", found status %x and:\n%s\n", words, (unsigned)e.status,
                e.text);
}

static void build(gyre_pool_track how)
{
    fake_source_init(&source, FAKE_HEAP);
    pool = fake_pool(&source, (gyre_pool_options){.name = "culprit", .track = how});
}

static __attribute__((noinline)) unsigned char *take_somewhere(size_t size, size_t alignment)
{
    void *block = fake_block(pool, size, alignment);

    if (block)
        memset(block, 1, size < 4096 ? size : 4096);
    return block;
}

static void give_twice(void)
{
    void *block;

    build(GYRE_POOL_TRACK_ON);
    block = take_somewhere(100, 64);
    gyre_pool_give(pool, block, 100);
    gyre_pool_give(pool, block, 100);
}

static void give_twice_with_others_between(void)
{
    unsigned char *blocks[500];

    build(GYRE_POOL_TRACK_ON);
    for (size_t i = 0; i < COUNT(blocks); i++)
        blocks[i] = take_somewhere(5000, 64);
    for (size_t i = 0; i < COUNT(blocks); i++)
        gyre_pool_give(pool, blocks[i], 5000);
    gyre_pool_give(pool, blocks[17], 5000);
}

static void give_twice_a_large_one(void)
{
    const size_t size = (size_t)GYRE_POOL_LARGEST + 1;
    void *block;

    build(GYRE_POOL_TRACK_ON);
    block = take_somewhere(size, 64);
    gyre_pool_give(pool, block, size);
    gyre_pool_give(pool, block, size);
}

static void give_twice_after_a_ticket(void)
{
    uint64_t completed = 0;
    void *block;

    build(GYRE_POOL_TRACK_ON);
    block = take_somewhere(300, 4096);
    CHECK(gyre_pool_give_after(pool, block, 300, 4096, (gyre_ticket){&completed, 1}) == GYRE_OK);
    gyre_pool_give_aligned(pool, block, 300, 4096);
}

static void give_after_twice(void)
{
    uint64_t completed = 0;
    void *block;

    build(GYRE_POOL_TRACK_ON);
    block = take_somewhere(300, 64);
    gyre_pool_give(pool, block, 300);
    CHECK(gyre_pool_give_after(pool, block, 300, 64, (gyre_ticket){&completed, 1}) == GYRE_OK);
}

static void *give_elsewhere(void *block)
{
    gyre_pool_give(pool, block, 100);
    return NULL;
}

static void give_twice_from_two_threads(void)
{
    pthread_t thread;
    void *block;

    build(GYRE_POOL_TRACK_ON);
    block = take_somewhere(100, 64);
    REQUIRE(pthread_create(&thread, NULL, give_elsewhere, block) == 0);
    pthread_join(thread, NULL);
    gyre_pool_give(pool, block, 100);
}

static void double_give_is_found(void)
{
    static void (*const ways[])(void) = {
        give_twice,       give_twice_with_others_between, give_twice_a_large_one,
        give_after_twice, give_twice_after_a_ticket,      give_twice_from_two_threads,
    };

    for (size_t i = 0; i < COUNT(ways); i++)
        check_found(ways[i], "given twice", "given before");
}

static void give_with_another_size_of_the_class(void)
{
    build(GYRE_POOL_TRACK_ON);
    gyre_pool_give(pool, take_somewhere(100, 64), 101);
}

static void give_with_a_size_of_another_class(void)
{
    build(GYRE_POOL_TRACK_ON);
    gyre_pool_give(pool, take_somewhere(100, 64), 1000);
}

static void give_after_with_another_size(void)
{
    uint64_t completed = 0;

    build(GYRE_POOL_TRACK_ON);
    CHECK(gyre_pool_give_after(pool, take_somewhere(100, 64), 99, 64,
                               (gyre_ticket){&completed, 1}) == GYRE_OK);
}

static void give_a_large_one_as_small(void)
{
    build(GYRE_POOL_TRACK_ON);
    gyre_pool_give(pool, take_somewhere((size_t)GYRE_POOL_LARGEST + 1, 64), 64);
}

static void give_with_another_size_is_found(void)
{
    static void (*const ways[])(void) = {
        give_with_another_size_of_the_class,
        give_with_a_size_of_another_class,
        give_after_with_another_size,
        give_a_large_one_as_small,
    };

    for (size_t i = 0; i < COUNT(ways); i++)
        check_found(ways[i], "and given as", NULL);
}

static void give_what_is_on_the_stack(void)
{
    _Alignas(64) unsigned char local[64] = {0};

    build(GYRE_POOL_TRACK_ON);
    gyre_pool_give(pool, take_somewhere(64, 64), 64);
    gyre_pool_give(pool, local, sizeof local);
}

static void give_the_middle_of_a_block(void)
{
    build(GYRE_POOL_TRACK_ON);
    gyre_pool_give(pool, take_somewhere(256, 64) + 64, 256);
}

static void give_a_block_of_another_pool(void)
{
    gyre_pool *other = NULL;
    void *block;

    build(GYRE_POOL_TRACK_ON);
    CHECK(gyre_pool_create(NULL, &other) == GYRE_OK);
    CHECK(gyre_pool_take(other, 64, &block) == GYRE_OK);
    gyre_pool_give(pool, block, 64);
}

static void give_of_a_stranger_is_found(void)
{
    static void (*const ways[])(void) = {
        give_what_is_on_the_stack,
        give_the_middle_of_a_block,
        give_a_block_of_another_pool,
    };

    for (size_t i = 0; i < COUNT(ways); i++)
        check_found(ways[i], "never taken", NULL);
}

/* Where in a block of which size something is written, and what is done then. */
static struct {
    size_t size, at;
    enum { DESTROY, TRIM, TAKE } then;
} late;

static void write_after_give(void)
{
    unsigned char *block;

    build(GYRE_POOL_TRACK_ON);
    block = take_somewhere(late.size, 64);
    gyre_pool_give(pool, block, late.size);
    block[late.at] ^= 0x40;
    if (late.then == TRIM)
        (void)gyre_pool_trim(pool);
    for (int i = 0; late.then == TAKE && i < 100; i++)
        (void)take_somewhere(late.size, 64);
    gyre_pool_destroy(pool);
}

static void write_after_give_is_found(void)
{
    static const size_t sizes[] = {1, 64, 100, 5000, 70000, 3 * MIB};

    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int then = DESTROY; then <= TAKE; then++) {
            /* of large blocks, the first 64 KiB are looked at */
            const size_t last = sizes[i] < 65536 ? sizes[i] - 1 : 65535;
            const size_t places[] = {0, last / 2, last};

            for (size_t k = 0; k < COUNT(places); k++) {
                late.size = sizes[i];
                late.at = places[k];
                late.then = then;
                check_found(write_after_give, "was written to", NULL);
            }
        }
}

static void leak(void)
{
    build(GYRE_POOL_TRACK_ON);
    (void)take_somewhere(4321, 64);
    gyre_pool_give(pool, take_somewhere(1234, 64), 1234);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void leak_many(void)
{
    build(GYRE_POOL_TRACK_ON);
    for (int i = 0; i < 5000; i++)
        (void)take_somewhere(4321, 64);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void blocks_that_are_out_are_logged_at_the_end(void)
{
    static ending e;

    REQUIRE(run(leak, &e));
    CHECK(went_well(&e));
    CHECK(says(&e, "culprit") && says(&e, "4321") && !says(&e, "1234"));
    CHECK(says_where(&e));
    REQUIRE(run(leak_many, &e));
    CHECK(went_well(&e));
    CHECK(says(&e, "culprit") && says(&e, "4321") && says_where(&e));
}

static void leak_with_a_long_name(void)
{
    gyre_pool_options options = {.struct_size = sizeof options,
                                 .name = "0123456789abcdefghijklmnopqrstuvwxyz",
                                 .track = GYRE_POOL_TRACK_ON};
    char name[64] = "short lived";

    CHECK(gyre_pool_create(&options, &pool) == GYRE_OK);
    (void)take_somewhere(64, 64);
    gyre_pool_destroy(pool);
    options.name = name;
    CHECK(gyre_pool_create(&options, &pool) == GYRE_OK);
    memset(name, 'x', sizeof name - 1);
    (void)take_somewhere(64, 64);
    gyre_pool_destroy(pool);
}

static void names_are_copied_and_cut(void)
{
    static ending e;

    REQUIRE(run(leak_with_a_long_name, &e));
    CHECK(went_well(&e));
    CHECK(says(&e, "0123456789abcdefghijklmnopqrstu") && !says(&e, "tuv"));
    CHECK(says(&e, "short lived") && !says(&e, "xxx"));
}

static void no_mistakes(void)
{
    uint64_t completed = 0;

    build(GYRE_POOL_TRACK_ON);
    for (size_t size = 1; size < 100000; size = size * 3 + 1) {
        void *block = take_somewhere(size, 64);

        gyre_pool_give_aligned(pool, take_somewhere(size, 4096), size, 4096);
        gyre_pool_give_aligned(pool, take_somewhere(size, 1), size, 1);
        CHECK(gyre_pool_give_after(pool, block, size, 64, (gyre_ticket){&completed, 1}) == GYRE_OK);
    }
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void nothing_is_said_without_mistakes(void)
{
    static ending e;

    REQUIRE(run(no_mistakes, &e));
    CHECK(went_well(&e) && e.text[0] == '\0');
}

static void leak_by_default(void)
{
    build(GYRE_POOL_TRACK_DEFAULT);
    (void)take_somewhere(4321, 64);
    gyre_pool_destroy(pool);
}

static void leak_when_set_on(void)
{
    (void)setenv("GYRE_POOL_TRACK", "on", 1);
    leak_by_default();
}

static void leak_when_set_off(void)
{
    (void)setenv("GYRE_POOL_TRACK", "off", 1);
    leak_by_default();
}

/* What a pool asks for itself stands above the setting. */
static void leak_tracked_when_set_off(void)
{
    (void)setenv("GYRE_POOL_TRACK", "off", 1);
    leak();
}

static void setting_decides_for_pools_that_do_not(void)
{
    static ending e;

    REQUIRE(run(leak_when_set_on, &e));
    CHECK(went_well(&e) && says(&e, "4321") && says_where(&e));
    REQUIRE(run(leak_tracked_when_set_off, &e));
    CHECK(went_well(&e) && says(&e, "4321"));
    if (FAKE_ASAN)
        return;
    REQUIRE(run(leak_when_set_off, &e));
    CHECK(went_well(&e) && e.text[0] == '\0');
    REQUIRE(run(leak_by_default, &e));
#ifdef NDEBUG
    CHECK(went_well(&e) && e.text[0] == '\0');
#else
    CHECK(went_well(&e) && says(&e, "4321"));
#endif
}

static void err_untracked(void)
{
    unsigned char *block;

    build(GYRE_POOL_TRACK_OFF);
    (void)take_somewhere(4321, 64);
    block = take_somewhere(100, 64);
    gyre_pool_give(pool, block, 100);
    block[0] ^= 0x40;
    gyre_pool_give(pool, take_somewhere(100, 64), 101);
    (void)gyre_pool_trim(pool);
    gyre_pool_destroy(pool);
    fake_source_fini(&source);
}

static void nothing_is_found_when_not_tracked(void)
{
    static ending e;

    if (FAKE_ASAN)
        SKIP("the address sanitizer tracks always");
    REQUIRE(run(err_untracked, &e));
    CHECK(went_well(&e) && e.text[0] == '\0');
}

/* What the sanitizer has to see; the size is none of a class. */
static struct {
    gyre_pool_track track;
    size_t size;
} poisoned;

static void use_after_give(void)
{
    unsigned char *block;

    build(poisoned.track);
    block = take_somewhere(poisoned.size, 64);
    gyre_pool_give(pool, block, poisoned.size);
    ((volatile unsigned char *)block)[poisoned.size - 1] ^= 1;
}

static void read_after_give(void)
{
    unsigned char *block;

    build(poisoned.track);
    block = take_somewhere(poisoned.size, 64);
    gyre_pool_give(pool, block, poisoned.size);
    (void)((volatile unsigned char *)block)[0];
}

static void use_beyond_the_end(void)
{
    unsigned char *block;

    build(poisoned.track);
    for (int i = 0; i < 3; i++) { /* a fresh one, and one that was larger before */
        block = take_somewhere(fake_class_bytes(poisoned.size, 1), 64);
        gyre_pool_give(pool, block, fake_class_bytes(poisoned.size, 1));
    }
    block = take_somewhere(poisoned.size, 64);
    ((volatile unsigned char *)block)[poisoned.size] = 1;
}

static void sanitizer_finds_what_is_used_beyond_its_time_and_size(void)
{
    static void (*const ways[])(void) = {use_after_give, read_after_give, use_beyond_the_end};
    static const size_t sizes[] = {1, 63, 100, 5000, 65535, 70000, 3 * MIB - 1};
    static ending e;

    if (!FAKE_ASAN)
        SKIP("there is no address sanitizer in this build");
    for (size_t i = 0; i < COUNT(ways); i++)
        for (size_t k = 0; k < COUNT(sizes); k++)
            for (int how = GYRE_POOL_TRACK_ON; how <= GYRE_POOL_TRACK_OFF; how++) {
                poisoned.size = sizes[k];
                poisoned.track = (gyre_pool_track)how;
                REQUIRE(run(ways[i], &e));
                CHECK(!went_well(&e) && says(&e, "AddressSanitizer") && says(&e, "poison"));
            }
}

static const test_case cases[] = {
    TEST(double_give_is_found),
    TEST(give_with_another_size_is_found),
    TEST(give_of_a_stranger_is_found),
    TEST(write_after_give_is_found),
    TEST(blocks_that_are_out_are_logged_at_the_end),
    TEST(names_are_copied_and_cut),
    TEST(nothing_is_said_without_mistakes),
    TEST(setting_decides_for_pools_that_do_not),
    TEST(nothing_is_found_when_not_tracked),
    TEST(sanitizer_finds_what_is_used_beyond_its_time_and_size),
};
TEST_MAIN(cases)
