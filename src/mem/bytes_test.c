/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/bytes.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { MOST_THREADS = 64, ROUNDS = 2000, PAGE = 4096 };

/* What an allocator or a source of memory has given away and got back. */
typedef struct ledger {
    size_t out_bytes, most_alignment;
    int calls, returns;
    void *last;
    bool broke; /* refuse from now on */
} ledger;

static void *ledger_allocate(void *user, size_t size_bytes, size_t alignment)
{
    ledger *l = user;

    l->calls++;
    if (l->broke)
        return NULL;
    l->out_bytes += size_bytes;
    l->most_alignment = alignment > l->most_alignment ? alignment : l->most_alignment;
    l->last = aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
    return l->last;
}

static void ledger_release(void *user, void *block, size_t size_bytes)
{
    ledger *l = user;

    l->returns++;
    l->out_bytes -= size_bytes;
    free(block);
}

static gyre_status ledger_take(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                               void **out_block)
{
    *out_block = ledger_allocate(memory->user, size_bytes, alignment);
    return *out_block ? GYRE_OK : GYRE_NO_MEMORY;
}

static void ledger_give(const gyre_memory *memory, void *block, size_t size_bytes, size_t alignment)
{
    CHECK((uintptr_t)block % alignment == 0);
    ledger_release(memory->user, block, size_bytes);
}

/* Pages that no load or store of this process may touch, as memory of a device is. */
static gyre_status device_take(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                               void **out_block)
{
    ledger *l = memory->user;
    void *pages;

    *out_block = NULL;
    l->calls++;
    if (l->broke || size_bytes > PAGE || alignment > PAGE)
        return GYRE_NO_MEMORY;
    pages = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return GYRE_NO_MEMORY;
    l->out_bytes += size_bytes;
    l->last = *out_block = pages;
    return GYRE_OK;
}

static void device_give(const gyre_memory *memory, void *block, size_t size_bytes, size_t alignment)
{
    CHECK((uintptr_t)block % alignment == 0);
    ledger *l = memory->user;

    l->returns++;
    l->out_bytes -= size_bytes;
    CHECK(munmap(block, PAGE) == 0);
}

static gyre_memory memory_of(ledger *l, uint32_t reach)
{
    const bool host = reach & GYRE_MEMORY_HOST;

    return (gyre_memory){sizeof(gyre_memory),
                         "test",
                         reach,
                         host ? ledger_take : device_take,
                         host ? ledger_give : device_give,
                         l,
                         0};
}

/* How often, and for what, a wrapped run was released. */
typedef struct farewell {
    int calls;
    const void *data;
    size_t size;
    pthread_t by;
} farewell;

static void say_farewell(void *user, const void *data, size_t size)
{
    farewell *f = user;

    f->calls++;
    f->data = data;
    f->size = size;
    f->by = pthread_self();
}

static bool is_empty(const gyre_bytes *bytes)
{
    return !bytes->data && bytes->size == 0 && !bytes->owner;
}

static const char WORDS[] = "nothing is copied twice";

static void copy_holds_what_was_copied(void)
{
    char words[sizeof WORDS];
    gyre_bytes bytes;

    memcpy(words, WORDS, sizeof WORDS);
    REQUIRE(gyre_bytes_copy(NULL, words, sizeof words, &bytes) == GYRE_OK);
    memset(words, 0, sizeof words);
    CHECK(bytes.size == sizeof words);
    CHECK(memcmp(bytes.data, WORDS, sizeof WORDS) == 0);
    gyre_bytes_release(&bytes);
    CHECK(is_empty(&bytes));
}

static void clone_and_slice_are_the_same_bytes(void)
{
    gyre_bytes bytes, clone, slice, part;

    REQUIRE(gyre_bytes_copy(NULL, WORDS, sizeof WORDS, &bytes) == GYRE_OK);
    clone = gyre_bytes_clone(&bytes);
    CHECK(clone.data == bytes.data && clone.size == bytes.size);
    CHECK(gyre_bytes_slice(&clone, 8, 9, &slice) == GYRE_OK);
    CHECK(slice.data == bytes.data + 8 && slice.size == 9);
    CHECK(gyre_bytes_slice(&slice, 3, 6, &part) == GYRE_OK); /* of a slice, from its start */
    CHECK(part.data == bytes.data + 11 && part.size == 6);
    gyre_bytes_release(&part);
    gyre_bytes_release(&slice);
    gyre_bytes_release(&clone);
    gyre_bytes_release(&bytes);
}

/* Read after the value they were made from is gone; the sanitizer sees bytes that went too. */
static void clone_and_slice_keep_the_bytes_alive(void)
{
    ledger l = {0};
    const gyre_allocator allocator = {ledger_allocate, ledger_release, &l};
    gyre_bytes bytes, clone, slice;

    REQUIRE(gyre_bytes_copy(&allocator, WORDS, sizeof WORDS, &bytes) == GYRE_OK);
    clone = gyre_bytes_clone(&bytes);
    gyre_bytes_release(&bytes);
    CHECK(l.returns == 0);
    CHECK(memcmp(clone.data, WORDS, sizeof WORDS) == 0);
    REQUIRE(gyre_bytes_slice(&clone, sizeof WORDS - 6, 5, &slice) == GYRE_OK);
    gyre_bytes_release(&clone);
    CHECK(l.returns == 0);
    CHECK(memcmp(slice.data, "twice", 5) == 0);
    gyre_bytes_release(&slice);
    CHECK(l.returns == 1 && l.out_bytes == 0);
}

static void slice_outside_is_refused(void)
{
    gyre_bytes bytes, slice;
    const struct {
        size_t offset, size;
    } bad[] = {
        {0, 11},
        {11, 0},
        {10, 1},
        {1, 10},
        {5, 6},
        {SIZE_MAX, 1},
        {1, SIZE_MAX},
        {SIZE_MAX, SIZE_MAX},
        {5, SIZE_MAX - 4}, /* whose sum wraps to 0, */
        {8, SIZE_MAX - 2}, /* and to 5 */
    };

    REQUIRE(gyre_bytes_copy(NULL, WORDS, 10, &bytes) == GYRE_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        slice = (gyre_bytes){bytes.data, 1, NULL};
        CHECK(gyre_bytes_slice(&bytes, bad[i].offset, bad[i].size, &slice) == GYRE_INVALID);
        CHECK(is_empty(&slice));
    }
    CHECK(gyre_bytes_writable(&bytes) != NULL); /* no refused one became a holder */
    gyre_bytes_release(&bytes);
}

static void slice_may_be_all_or_nothing(void)
{
    gyre_bytes bytes, all, nothing, of_empty = {0};

    REQUIRE(gyre_bytes_copy(NULL, WORDS, 10, &bytes) == GYRE_OK);
    CHECK(gyre_bytes_slice(&bytes, 0, 10, &all) == GYRE_OK && all.size == 10);
    CHECK(gyre_bytes_slice(&bytes, 10, 0, &nothing) == GYRE_OK && nothing.size == 0);
    gyre_bytes_release(&all);
    gyre_bytes_release(&nothing);
    gyre_bytes_release(&bytes);
    CHECK(gyre_bytes_slice(&of_empty, 0, 0, &nothing) == GYRE_OK);
    CHECK(is_empty(&nothing));
    CHECK(gyre_bytes_slice(&of_empty, 0, 1, &nothing) == GYRE_INVALID);
}

static void release_is_told_once_by_the_last(void)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (int i = 0; i < 6; i++) {
        farewell f = {0};
        gyre_bytes bytes[3];

        REQUIRE(gyre_bytes_wrap(WORDS, sizeof WORDS, say_farewell, &f, &bytes[0]) == GYRE_OK);
        CHECK(bytes[0].data == (const void *)WORDS && bytes[0].size == sizeof WORDS);
        bytes[1] = gyre_bytes_clone(&bytes[0]);
        REQUIRE(gyre_bytes_slice(&bytes[0], 4, 2, &bytes[2]) == GYRE_OK);
        gyre_bytes_release(&bytes[orders[i][0]]);
        gyre_bytes_release(&bytes[orders[i][1]]);
        CHECK(f.calls == 0);
        gyre_bytes_release(&bytes[orders[i][2]]);
        CHECK(f.calls == 1);
        CHECK(f.data == WORDS && f.size == sizeof WORDS); /* the whole, whoever was last */
        for (int k = 0; k < 3; k++)
            gyre_bytes_release(&bytes[k]); /* empty by now */
        CHECK(f.calls == 1);
    }
}

static void *release_here(void *bytes)
{
    gyre_bytes_release(bytes);
    return NULL;
}

static void last_release_may_come_from_any_thread(void)
{
    farewell f = {0};
    gyre_bytes bytes, clone;
    pthread_t thread;

    REQUIRE(gyre_bytes_wrap(WORDS, sizeof WORDS, say_farewell, &f, &bytes) == GYRE_OK);
    clone = gyre_bytes_clone(&bytes);
    gyre_bytes_release(&bytes);
    REQUIRE(pthread_create(&thread, NULL, release_here, &clone) == 0);
    pthread_join(thread, NULL);
    CHECK(f.calls == 1);
    CHECK(pthread_equal(f.by, thread));
}

static void bytes_that_live_for_ever_have_no_owner(void)
{
    gyre_bytes bytes, clone;

    REQUIRE(gyre_bytes_wrap(WORDS, sizeof WORDS, NULL, NULL, &bytes) == GYRE_OK);
    CHECK(bytes.owner == NULL);
    clone = gyre_bytes_clone(&bytes);
    gyre_bytes_release(&bytes);
    CHECK(clone.data == (const void *)WORDS);
    gyre_bytes_release(&clone);
    CHECK(is_empty(&clone));
}

static void wrapping_nothing_at_null_is_told(void)
{
    farewell f = {0};
    gyre_bytes bytes = {(const unsigned char *)WORDS, 1, NULL};

    CHECK(gyre_bytes_wrap(NULL, 1, say_farewell, &f, &bytes) == GYRE_INVALID);
    CHECK(is_empty(&bytes));
    CHECK(f.calls == 0);
    REQUIRE(gyre_bytes_wrap(NULL, 0, say_farewell, &f, &bytes) == GYRE_OK);
    CHECK(f.calls == 0);
    gyre_bytes_release(&bytes);
    CHECK(f.calls == 1);
}

static void empty_run_needs_nothing(void)
{
    ledger l = {0};
    const gyre_allocator allocator = {ledger_allocate, ledger_release, &l};
    const gyre_memory memory = memory_of(&l, GYRE_MEMORY_HOST);
    gyre_bytes bytes = {0}, clone = gyre_bytes_clone(&bytes);

    gyre_bytes_release(&bytes);
    gyre_bytes_release(&bytes);
    CHECK(is_empty(&clone));
    CHECK(gyre_bytes_copy(&allocator, NULL, 0, &bytes) == GYRE_OK && is_empty(&bytes));
    CHECK(gyre_bytes_copy(&allocator, WORDS, 0, &bytes) == GYRE_OK && is_empty(&bytes));
    CHECK(gyre_bytes_take(&memory, 0, &bytes) == GYRE_OK && is_empty(&bytes));
    CHECK(gyre_bytes_take(NULL, 0, &bytes) == GYRE_OK && is_empty(&bytes));
    CHECK(l.calls == 0);
    CHECK(gyre_bytes_writable(&bytes) == NULL);
}

static void failing_allocator_leaves_nothing(void)
{
    ledger l = {.broke = true};
    const gyre_allocator allocator = {ledger_allocate, ledger_release, &l};
    const gyre_allocator half = {ledger_allocate, NULL, &l};
    gyre_bytes bytes = {(const unsigned char *)WORDS, 1, NULL};

    CHECK(gyre_bytes_copy(&allocator, WORDS, 8, &bytes) == GYRE_NO_MEMORY);
    CHECK(is_empty(&bytes));
    CHECK(l.calls == 1 && l.returns == 0);
    CHECK(gyre_bytes_copy(&half, WORDS, 8, &bytes) == GYRE_INVALID);
    CHECK(gyre_bytes_copy(NULL, NULL, 8, &bytes) == GYRE_INVALID);
    CHECK(is_empty(&bytes));
    CHECK(l.calls == 1);
}

/* Leaks are the sanitizer's to find. */
static void failing_memory_leaves_nothing(void)
{
    const uint32_t reaches[] = {GYRE_MEMORY_HOST, GYRE_MEMORY_DEVICE,
                                GYRE_MEMORY_HOST | GYRE_MEMORY_DEVICE};

    for (int i = 0; i < 3; i++) {
        ledger l = {.broke = true};
        gyre_memory memory = memory_of(&l, reaches[i]);
        gyre_bytes bytes = {(const unsigned char *)WORDS, 1, NULL};

        CHECK(gyre_bytes_take(&memory, 8, &bytes) == GYRE_NO_MEMORY);
        CHECK(is_empty(&bytes));
        CHECK(l.calls == 1 && l.returns == 0);
        memory.give = NULL;
        CHECK(gyre_bytes_take(&memory, 8, &bytes) == GYRE_INVALID);
        memory = memory_of(&l, reaches[i]);
        memory.struct_size = 0;
        CHECK(gyre_bytes_take(&memory, 8, &bytes) == GYRE_INVALID);
        CHECK(is_empty(&bytes));
        CHECK(l.calls == 1);
    }
}

static void sizes_beyond_the_address_space_are_refused(void)
{
    ledger l = {0};
    const gyre_allocator allocator = {ledger_allocate, ledger_release, &l};
    const gyre_memory memory = memory_of(&l, GYRE_MEMORY_HOST);
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, (size_t)PTRDIFF_MAX, (size_t)PTRDIFF_MAX - 63};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        gyre_bytes bytes = {(const unsigned char *)WORDS, 1, NULL};

        CHECK(gyre_bytes_copy(&allocator, WORDS, sizes[i], &bytes) == GYRE_NO_MEMORY);
        CHECK(gyre_bytes_copy(NULL, WORDS, sizes[i], &bytes) == GYRE_NO_MEMORY);
        CHECK(gyre_bytes_take(&memory, sizes[i], &bytes) == GYRE_NO_MEMORY);
        CHECK(gyre_bytes_take(NULL, sizes[i], &bytes) == GYRE_NO_MEMORY);
        CHECK(is_empty(&bytes));
    }
    CHECK(l.calls == 0);
}

static void host_memory_is_aligned_and_refuses_nonsense(void)
{
    const gyre_memory *host = gyre_memory_host();
    void *block;

    CHECK(host->struct_size == sizeof(gyre_memory) && host->reach == GYRE_MEMORY_HOST);
    for (size_t alignment = 1; alignment <= PAGE; alignment *= 2) {
        REQUIRE(host->take(host, alignment + 1, alignment, &block) == GYRE_OK);
        CHECK((uintptr_t)block % alignment == 0);
        memset(block, 1, alignment + 1);
        host->give(host, block, alignment + 1, alignment);
    }
    CHECK(host->take(host, 0, 64, &block) == GYRE_INVALID && !block);
    CHECK(host->take(host, 8, 0, &block) == GYRE_INVALID && !block);
    CHECK(host->take(host, 8, 48, &block) == GYRE_INVALID && !block);
    CHECK(host->take(host, SIZE_MAX, 64, &block) == GYRE_NO_MEMORY && !block);
    CHECK(host->take(host, SIZE_MAX, 1, &block) == GYRE_NO_MEMORY && !block);
}

static void huge_memory_is_whole_pages_that_go_back(void)
{
    const gyre_memory *huge = gyre_memory_huge();
    unsigned char core;
    void *block;

    CHECK(huge->reach == GYRE_MEMORY_HOST && huge->grain_bytes == (size_t)2 << 20);
    for (size_t size = 1; size <= huge->grain_bytes + 1; size += huge->grain_bytes / 2) {
        const size_t end = (size + huge->grain_bytes - 1) & ~(huge->grain_bytes - 1);

        REQUIRE(huge->take(huge, size, 64, &block) == GYRE_OK);
        CHECK((uintptr_t)block % huge->grain_bytes == 0);
        memset(block, 1, end);
        huge->give(huge, block, size, 64);
        CHECK(mincore((unsigned char *)block + end - PAGE, PAGE, &core) != 0 && errno == ENOMEM);
    }
    CHECK(huge->take(huge, 0, 64, &block) == GYRE_INVALID && !block);
    CHECK(huge->take(huge, 8, 48, &block) == GYRE_INVALID && !block);
    CHECK(huge->take(huge, 8, (size_t)4 << 20, &block) == GYRE_INVALID && !block);
    CHECK(huge->take(huge, SIZE_MAX, 64, &block) == GYRE_NO_MEMORY && !block);
    CHECK(huge->take(huge, (size_t)PTRDIFF_MAX - huge->grain_bytes, 64, &block) == GYRE_NO_MEMORY &&
          !block);
}

static void taken_bytes_are_aligned_and_filled_by_their_holder(void)
{
    for (size_t size = 1; size < 1000; size += 37) {
        gyre_bytes bytes;
        unsigned char *into;

        REQUIRE(gyre_bytes_take(NULL, size, &bytes) == GYRE_OK);
        CHECK((uintptr_t)bytes.data % 64 == 0);
        CHECK(bytes.size == size);
        into = gyre_bytes_writable(&bytes);
        REQUIRE(into == bytes.data);
        memset(into, (int)(size & 0xff), size);
        CHECK(bytes.data[0] == (size & 0xff) && bytes.data[size - 1] == (size & 0xff));
        gyre_bytes_release(&bytes);
    }
}

static void memory_gets_back_what_it_gave(void)
{
    ledger l = {0};
    const gyre_memory memory = memory_of(&l, GYRE_MEMORY_HOST | GYRE_MEMORY_DEVICE);
    gyre_bytes bytes, slice;

    REQUIRE(gyre_bytes_take(&memory, 100, &bytes) == GYRE_OK);
    CHECK(l.calls == 1); /* header and bytes are one block */
    CHECK(l.out_bytes >= 100 && l.most_alignment == 64);
    REQUIRE(gyre_bytes_slice(&bytes, 50, 10, &slice) == GYRE_OK);
    gyre_bytes_release(&bytes);
    CHECK(l.returns == 0);
    gyre_bytes_release(&slice);
    CHECK(l.returns == 1 && l.out_bytes == 0);
}

static void memory_of_a_device_is_never_touched(void)
{
    ledger l = {0};
    const gyre_memory memory = memory_of(&l, GYRE_MEMORY_DEVICE);
    gyre_bytes bytes, clone, slice;

    REQUIRE(gyre_bytes_take(&memory, 256, &bytes) == GYRE_OK);
    CHECK(bytes.data == l.last && l.out_bytes == 256); /* all of it, and no more than it */
    CHECK(gyre_bytes_writable(&bytes) == NULL);
    clone = gyre_bytes_clone(&bytes);
    REQUIRE(gyre_bytes_slice(&clone, 128, 128, &slice) == GYRE_OK);
    gyre_bytes_release(&clone);
    gyre_bytes_release(&bytes);
    CHECK(l.returns == 0);
    gyre_bytes_release(&slice);
    CHECK(l.returns == 1 && l.out_bytes == 0);
}

static void only_the_sole_holder_may_write(void)
{
    farewell f = {0};
    gyre_bytes bytes, clone, slice, wrapped;

    REQUIRE(gyre_bytes_copy(NULL, WORDS, sizeof WORDS, &bytes) == GYRE_OK);
    CHECK(gyre_bytes_writable(&bytes) == bytes.data);
    clone = gyre_bytes_clone(&bytes);
    CHECK(gyre_bytes_writable(&bytes) == NULL);
    CHECK(gyre_bytes_writable(&clone) == NULL);
    gyre_bytes_release(&bytes);
    CHECK(gyre_bytes_writable(&clone) == clone.data);

    REQUIRE(gyre_bytes_slice(&clone, 8, 2, &slice) == GYRE_OK);
    CHECK(gyre_bytes_writable(&slice) == NULL); /* the whole has another holder */
    gyre_bytes_release(&clone);
    REQUIRE(gyre_bytes_writable(&slice) == slice.data); /* its own part, not the block's start */
    gyre_bytes_writable(&slice)[0] = 'X';
    CHECK(slice.data[0] == 'X');
    gyre_bytes_release(&slice);

    REQUIRE(gyre_bytes_wrap(WORDS, sizeof WORDS, say_farewell, &f, &wrapped) == GYRE_OK);
    CHECK(gyre_bytes_writable(&wrapped) == NULL); /* the caller's bytes are the caller's */
    gyre_bytes_release(&wrapped);
}

static void forked_child_may_release_and_nothing_else(void)
{
    gyre_bytes bytes, other;
    pid_t child;
    int status;

    REQUIRE(gyre_bytes_copy(NULL, WORDS, sizeof WORDS, &bytes) == GYRE_OK);
    fflush(stdout); /* or the child may print it again */
    child = fork();
    if (child == 0) {
        const bool right = gyre_bytes_copy(NULL, WORDS, 1, &other) == GYRE_UNAVAILABLE &&
                           gyre_bytes_take(NULL, 1, &other) == GYRE_UNAVAILABLE &&
                           gyre_bytes_wrap(WORDS, 1, NULL, NULL, &other) == GYRE_UNAVAILABLE &&
                           is_empty(&other) && memcmp(bytes.data, WORDS, sizeof WORDS) == 0;

        gyre_bytes_release(&bytes);
        _exit(right ? 0 : 1);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    gyre_bytes_release(&bytes);
}

static int thread_count(void)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus < 2 ? 8 : cpus > MOST_THREADS / 4 ? MOST_THREADS : (int)(4 * cpus);
}

/* One run of bytes, held by many threads, each of which leaves a mark before it lets go. The marks
 * are plain: only the release of the bytes orders them before whoever comes last. */
typedef struct crowd {
    gyre_bytes bytes;
    uint64_t marks[MOST_THREADS];
    uint64_t sum; /* of the marks, by the last */
    int calls;
    int threads;
} crowd;

typedef struct visitor {
    crowd *c;
    gyre_bytes held;
    int index;
} visitor;

static void sum_marks(void *user, const void *data, size_t size)
{
    crowd *c = user;

    (void)data, (void)size;
    c->calls++;
    for (int i = 0; i < c->threads; i++)
        c->sum += c->marks[i];
}

static void *clone_and_release(void *arg)
{
    visitor *v = arg;
    uint64_t read = 0;

    for (int i = 0; i < ROUNDS; i++) {
        gyre_bytes clone = gyre_bytes_clone(&v->held), slice;

        if (gyre_bytes_slice(&clone, (size_t)i % sizeof WORDS, 1, &slice) == GYRE_OK)
            read += slice.data[0] == (unsigned char)WORDS[(size_t)i % sizeof WORDS];
        gyre_bytes_release(i % 2 ? &clone : &slice);
        gyre_bytes_release(i % 2 ? &slice : &clone);
    }
    v->c->marks[v->index] = read;
    gyre_bytes_release(&v->held);
    return NULL;
}

static void crowd_releases_once_and_after_every_holder(void)
{
    for (int round = 0; round < 5; round++) {
        crowd c = {.threads = thread_count()};
        visitor visitors[MOST_THREADS];
        pthread_t threads[MOST_THREADS];

        REQUIRE(gyre_bytes_wrap(WORDS, sizeof WORDS, sum_marks, &c, &c.bytes) == GYRE_OK);
        for (int i = 0; i < c.threads; i++)
            visitors[i] = (visitor){&c, gyre_bytes_clone(&c.bytes), i};
        gyre_bytes_release(&c.bytes);
        for (int i = 0; i < c.threads; i++)
            REQUIRE(pthread_create(&threads[i], NULL, clone_and_release, &visitors[i]) == 0);
        for (int i = 0; i < c.threads; i++)
            pthread_join(threads[i], NULL);
        CHECK(c.calls == 1);
        CHECK(c.sum == (uint64_t)c.threads * ROUNDS);
    }
}

static void *read_and_release(void *arg)
{
    visitor *v = arg;

    CHECK(v->held.data[0] == 'n');
    gyre_bytes_release(&v->held);
    return NULL;
}

/* The thread sanitizer sees a write that is not ordered behind the readers' loads. */
static void sole_holder_writes_after_the_others_have_read(void)
{
    for (int round = 0; round < 50; round++) {
        crowd c = {.threads = 4};
        visitor visitors[4];
        pthread_t threads[4];
        unsigned char *into;

        REQUIRE(gyre_bytes_copy(NULL, WORDS, sizeof WORDS, &c.bytes) == GYRE_OK);
        for (int i = 0; i < c.threads; i++)
            visitors[i] = (visitor){&c, gyre_bytes_clone(&c.bytes), i};
        for (int i = 0; i < c.threads; i++)
            REQUIRE(pthread_create(&threads[i], NULL, read_and_release, &visitors[i]) == 0);
        while (!(into = gyre_bytes_writable(&c.bytes)))
            sched_yield();
        into[0] = 'X';
        for (int i = 0; i < c.threads; i++)
            pthread_join(threads[i], NULL);
        gyre_bytes_release(&c.bytes);
    }
}

static const test_case cases[] = {
    TEST(copy_holds_what_was_copied),
    TEST(clone_and_slice_are_the_same_bytes),
    TEST(clone_and_slice_keep_the_bytes_alive),
    TEST(slice_outside_is_refused),
    TEST(slice_may_be_all_or_nothing),
    TEST(release_is_told_once_by_the_last),
    TEST(last_release_may_come_from_any_thread),
    TEST(bytes_that_live_for_ever_have_no_owner),
    TEST(wrapping_nothing_at_null_is_told),
    TEST(empty_run_needs_nothing),
    TEST(failing_allocator_leaves_nothing),
    TEST(failing_memory_leaves_nothing),
    TEST(sizes_beyond_the_address_space_are_refused),
    TEST(host_memory_is_aligned_and_refuses_nonsense),
    TEST(huge_memory_is_whole_pages_that_go_back),
    TEST(taken_bytes_are_aligned_and_filled_by_their_holder),
    TEST(memory_gets_back_what_it_gave),
    TEST(memory_of_a_device_is_never_touched),
    TEST(only_the_sole_holder_may_write),
    TEST(forked_child_may_release_and_nothing_else),
    TEST(crowd_releases_once_and_after_every_holder),
    TEST(sole_holder_writes_after_the_others_have_read),
};
TEST_MAIN(cases)
