/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/buffers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "chance.h"
#include "test.h"

static const char WORDS[] = "who holds an id holds no pointer";

static gyre_buffers *make(uint32_t most_count)
{
    const gyre_buffers_options options = {.struct_size = sizeof options, .most_count = most_count};
    gyre_buffers *buffers;

    CHECK(gyre_buffers_create(&options, &buffers) == GYRE_OK);
    return buffers;
}

static uint64_t allocate(gyre_buffers *buffers, size_t size)
{
    uint64_t id;

    CHECK(gyre_buffer_allocate(buffers, size, GYRE_BUFFER_ANY, &id) == GYRE_OK);
    CHECK(id != 0);
    return id;
}

/* Whether every call refuses the id. */
static bool is_nobodys(gyre_buffers *buffers, uint64_t id)
{
    char byte = 7;
    size_t size = 9;

    return gyre_buffer_read(buffers, id, 0, &byte, 1) == GYRE_NOT_FOUND && byte == 7 &&
           gyre_buffer_write(buffers, id, 0, &byte, 1) == GYRE_NOT_FOUND &&
           gyre_buffer_size(buffers, id, &size) == GYRE_NOT_FOUND && size == 0 &&
           gyre_buffer_deallocate(buffers, id) == GYRE_NOT_FOUND;
}

static void buffer_holds_what_was_written(void)
{
    gyre_buffers *const buffers = make(0);
    const uint64_t id = allocate(buffers, 1000), other = allocate(buffers, 1000);
    char read[sizeof WORDS];
    size_t size;

    CHECK(id != other);
    CHECK(gyre_buffer_write(buffers, id, 1000 - sizeof WORDS, WORDS, sizeof WORDS) == GYRE_OK);
    CHECK(gyre_buffer_write(buffers, other, 1000 - sizeof WORDS, "x", 1) == GYRE_OK);
    CHECK(gyre_buffer_read(buffers, id, 1000 - sizeof WORDS, read, sizeof read) == GYRE_OK);
    CHECK(memcmp(read, WORDS, sizeof WORDS) == 0);
    CHECK(gyre_buffer_read(buffers, id, 1000 - sizeof WORDS + 4, read, 5) == GYRE_OK);
    CHECK(memcmp(read, WORDS + 4, 5) == 0);
    CHECK(gyre_buffer_size(buffers, id, &size) == GYRE_OK && size == 1000);
    CHECK(gyre_buffers_count(buffers) == 2);
    CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
    CHECK(gyre_buffers_count(buffers) == 1);
    gyre_buffers_destroy(buffers);
}

static void zeroed_buffer_is_zero_in_used_memory(void)
{
    gyre_buffers *const buffers = make(0);
    const size_t sizes[] = {1, 63, 1024, 5000, 1 << 20};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *const bytes = malloc(sizes[i]);
        uint64_t id = allocate(buffers, sizes[i]);

        REQUIRE(bytes != NULL);
        memset(bytes, 0xa5, sizes[i]);
        CHECK(gyre_buffer_write(buffers, id, 0, bytes, sizes[i]) == GYRE_OK);
        CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
        CHECK(gyre_buffer_allocate(buffers, sizes[i], GYRE_BUFFER_ZEROED, &id) == GYRE_OK);
        CHECK(gyre_buffer_read(buffers, id, 0, bytes, sizes[i]) == GYRE_OK);
        for (size_t k = 0; k < sizes[i]; k++)
            REQUIRE(bytes[k] == 0);
        free(bytes);
    }
    gyre_buffers_destroy(buffers);
}

static void ids_of_nobody_are_not_found(void)
{
    gyre_buffers *const buffers = make(0);
    const uint64_t id = allocate(buffers, 8);
    const uint64_t bad[] = {
        0,
        id + 1,                       /* a place that was never used, */
        id + GYRE_BUFFERS_FIRST,      /* and one that is not there yet */
        id + GYRE_BUFFER_LIVE,        /* the place's generation when it is free, */
        id - GYRE_BUFFER_LIVE,        /* before, */
        id + 2 * GYRE_BUFFER_LIVE,    /* and of the next buffer */
        id & ~GYRE_BUFFER_GENERATION, /* an index alone */
        UINT64_MAX,
        UINT64_MAX - GYRE_BUFFER_LIVE,
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(is_nobodys(buffers, bad[i]));
        CHECK(gyre_error_last()->status == GYRE_NOT_FOUND);
    }
    CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
    CHECK(is_nobodys(buffers, id));
    CHECK(is_nobodys(buffers, id + GYRE_BUFFER_LIVE)); /* the free place's own word */
    gyre_buffers_destroy(buffers);
}

static void id_is_never_valid_again(void)
{
    enum { TIMES = 1000 };
    gyre_buffers *const buffers = make(1);
    uint64_t ids[TIMES];

    for (int i = 0; i < TIMES; i++) {
        ids[i] = allocate(buffers, 64);
        for (int k = 0; k < i; k += i / 10 + 1)
            CHECK(ids[k] != ids[i] && is_nobodys(buffers, ids[k]));
        CHECK(gyre_buffer_deallocate(buffers, ids[i]) == GYRE_OK);
    }
    gyre_buffers_destroy(buffers);
}

static void copies_outside_are_refused_and_copy_nothing(void)
{
    gyre_buffers *const buffers = make(0);
    const uint64_t id = allocate(buffers, 10);
    char given[16] = "abcdefghijklmno", held[10], got[16] = "unchanged.....";
    const struct {
        size_t offset, size;
    } bad[] = {
        {0, 11},
        {11, 0},
        {10, 1},
        {5, 6},
        {SIZE_MAX, 1},
        {1, SIZE_MAX},
        {SIZE_MAX, SIZE_MAX},
        {5, SIZE_MAX - 4}, /* whose sum wraps to 0, */
        {8, SIZE_MAX - 2}, /* and to 5 */
    };

    CHECK(gyre_buffer_write(buffers, id, 0, "0123456789", 10) == GYRE_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(gyre_buffer_write(buffers, id, bad[i].offset, given, bad[i].size) == GYRE_INVALID);
        CHECK(gyre_buffer_read(buffers, id, bad[i].offset, got, bad[i].size) == GYRE_INVALID);
        CHECK(gyre_buffer_read(buffers, id, 0, held, 10) == GYRE_OK); /* nobody stayed inside */
        CHECK(memcmp(held, "0123456789", 10) == 0 && got[0] == 'u');
    }
    CHECK(gyre_buffer_write(buffers, id, 0, NULL, 1) == GYRE_INVALID);
    CHECK(gyre_buffer_read(buffers, id, 0, NULL, 1) == GYRE_INVALID);
    CHECK(gyre_buffer_write(buffers, id, 10, NULL, 0) == GYRE_OK);
    CHECK(gyre_buffer_read(buffers, id, 0, NULL, 0) == GYRE_OK);
    CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
    gyre_buffers_destroy(buffers);
}

static void nonsense_is_refused(void)
{
    gyre_buffers_options options = {.struct_size = sizeof options,
                                    .most_count = GYRE_BUFFERS_MOST + 1};
    const gyre_allocator half = {0};
    gyre_buffers *buffers = (gyre_buffers *)&buffers;
    uint64_t id = 5;

    CHECK(gyre_buffers_create(&options, &buffers) == GYRE_INVALID && !buffers);
    options = (gyre_buffers_options){.struct_size = sizeof options, .allocator = &half};
    CHECK(gyre_buffers_create(&options, &buffers) == GYRE_INVALID && !buffers);
    options = (gyre_buffers_options){0};
    CHECK(gyre_buffers_create(&options, &buffers) == GYRE_INVALID && !buffers);
    gyre_buffers_destroy(NULL);

    REQUIRE(gyre_buffers_create(NULL, &buffers) == GYRE_OK);
    CHECK(gyre_buffer_allocate(buffers, 0, GYRE_BUFFER_ANY, &id) == GYRE_INVALID && id == 0);
    id = 5;
    CHECK(gyre_buffer_allocate(buffers, 8, (gyre_buffer_content)2, &id) == GYRE_INVALID);
    CHECK(id == 0 && gyre_buffers_count(buffers) == 0);
    gyre_buffers_destroy(buffers);
}

static void no_more_than_as_many_as_may_be(void)
{
    enum { MOST = 300 };
    gyre_buffers *const buffers = make(MOST);
    uint64_t ids[MOST], id = 5;

    for (int i = 0; i < MOST; i++)
        ids[i] = allocate(buffers, 1);
    gyre_fail_clear();
    CHECK(gyre_buffer_allocate(buffers, 1, GYRE_BUFFER_ANY, &id) == GYRE_AGAIN && id == 0);
    CHECK(gyre_error_last()->status == GYRE_OK);
    CHECK(gyre_buffers_count(buffers) == MOST);
    CHECK(gyre_buffer_deallocate(buffers, ids[MOST / 2]) == GYRE_OK);
    ids[MOST / 2] = allocate(buffers, 1);
    CHECK(gyre_buffer_allocate(buffers, 1, GYRE_BUFFER_ANY, &id) == GYRE_AGAIN);
    gyre_buffers_destroy(buffers);
}

static void table_grows_and_its_places_stay(void)
{
    enum { COUNT = 5000 };
    static uint64_t ids[COUNT];
    static const gyre_buffer_place *places[COUNT];
    gyre_buffers *const buffers = make(0);

    for (uint32_t i = 0; i < COUNT; i++) {
        ids[i] = allocate(buffers, sizeof i);
        places[i] = gyre_buffers_place(buffers, ids[i] & (GYRE_BUFFERS_MOST - 1));
        CHECK(gyre_buffer_write(buffers, ids[i], 0, &i, sizeof i) == GYRE_OK);
    }
    CHECK(gyre_buffers_count(buffers) == COUNT);
    for (uint32_t i = 0, read; i < COUNT; i++) {
        CHECK(places[i] == gyre_buffers_place(buffers, ids[i] & (GYRE_BUFFERS_MOST - 1)));
        CHECK(i == 0 || places[i] != places[i - 1]);
        CHECK(gyre_buffer_read(buffers, ids[i], 0, &read, sizeof read) == GYRE_OK && read == i);
        CHECK(gyre_buffer_deallocate(buffers, ids[i]) == GYRE_OK);
    }
    CHECK(gyre_buffers_count(buffers) == 0);
    CHECK(!gyre_buffers_place(buffers, GYRE_BUFFERS_MOST - 1));
    gyre_buffers_destroy(buffers);
}

/* The place is made old by hand. */
static void place_whose_generations_are_used_up_is_retired(void)
{
    gyre_buffers *const buffers = make(2);
    const uint64_t kept = allocate(buffers, 8);
    uint64_t id = allocate(buffers, 8), again;
    const uint32_t index = id & (GYRE_BUFFERS_MOST - 1);

    CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
    gyre_buffers_place(buffers, index)->word = GYRE_BUFFER_GENERATION - 3 * GYRE_BUFFER_LIVE;
    for (int left = 2; left > 0; left--) {
        id = allocate(buffers, 8);
        CHECK((id & (GYRE_BUFFERS_MOST - 1)) == index);
        CHECK(id >> 24 == UINT64_MAX >> 24 || left == 2);
        CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
        CHECK(is_nobodys(buffers, id));
    }
    again = allocate(buffers, 8);
    CHECK((again & (GYRE_BUFFERS_MOST - 1)) != index); /* another place, and as many as before */
    CHECK(is_nobodys(buffers, GYRE_BUFFER_LIVE | index));
    CHECK(gyre_buffer_allocate(buffers, 8, GYRE_BUFFER_ANY, &id) == GYRE_AGAIN);
    CHECK(gyre_buffer_deallocate(buffers, again) == GYRE_OK);
    CHECK(gyre_buffer_deallocate(buffers, kept) == GYRE_OK);
    gyre_buffers_destroy(buffers);
}

/* An allocator and a source that refuse when their patience is used up. */
typedef struct ledger {
    int left; /* calls that succeed */
    int out;
} ledger;

static void *ledger_allocate(void *user, size_t size_bytes, size_t alignment)
{
    ledger *const l = user;

    if (l->left-- <= 0)
        return NULL;
    l->out++;
    return aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
}

static void ledger_release(void *user, void *block, size_t size_bytes)
{
    (void)size_bytes;
    ((ledger *)user)->out--;
    free(block);
}

static gyre_status ledger_take(const gyre_memory *memory, size_t size_bytes, size_t alignment,
                               void **out_block)
{
    *out_block = ledger_allocate(memory->user, size_bytes, alignment);
    return *out_block ? GYRE_OK : gyre_fail(GYRE_NO_MEMORY, "the source is empty");
}

static void ledger_give(const gyre_memory *memory, void *block, size_t size_bytes, size_t alignment)
{
    (void)alignment;
    ledger_release(memory->user, block, size_bytes);
}

static void failing_allocator_leaves_nothing(void)
{
    for (int calls = 0, made = 0; made < 600; calls++) {
        ledger l = {.left = calls};
        const gyre_allocator allocator = {ledger_allocate, ledger_release, &l};
        const gyre_buffers_options options = {.struct_size = sizeof options,
                                              .allocator = &allocator};
        gyre_status status;
        gyre_buffers *buffers;
        uint64_t id;

        REQUIRE(calls < 1000);
        status = gyre_buffers_create(&options, &buffers);
        for (made = 0; status == GYRE_OK && made < 600; made++)
            status = gyre_buffer_allocate(buffers, 16, GYRE_BUFFER_ANY, &id);
        CHECK(status == GYRE_OK || status == GYRE_NO_MEMORY);
        made -= status != GYRE_OK && made > 0;
        CHECK(!buffers || gyre_buffers_count(buffers) == (uint32_t)made);
        gyre_buffers_destroy(buffers);
        CHECK(l.out == 0);
    }
}

static void empty_source_costs_no_place(void)
{
    ledger l = {.left = 0};
    const gyre_memory source = {
        sizeof source, "test", GYRE_MEMORY_HOST, ledger_take, ledger_give, &l, 0};
    gyre_buffers_options options = {.struct_size = sizeof options, .most_count = 1};
    gyre_buffers *buffers;
    uint64_t id;

    REQUIRE(gyre_pool_create(&(gyre_pool_options){.struct_size = sizeof(gyre_pool_options),
                                                  .source = &source,
                                                  .limit_bytes = 1 << 20},
                             &options.pool) == GYRE_OK);
    REQUIRE(gyre_buffers_create(&options, &buffers) == GYRE_OK);
    CHECK(gyre_buffer_allocate(buffers, 100, GYRE_BUFFER_ANY, &id) == GYRE_NO_MEMORY && id == 0);
    CHECK(gyre_buffer_allocate(buffers, 100, GYRE_BUFFER_ZEROED, &id) == GYRE_NO_MEMORY);
    CHECK(gyre_buffers_count(buffers) == 0);
    l.left = 100;
    CHECK(gyre_buffer_allocate(buffers, 2 << 20, GYRE_BUFFER_ANY, &id) == GYRE_AGAIN && id == 0);
    id = allocate(buffers, 100); /* the only place */
    gyre_buffers_destroy(buffers);
    gyre_pool_destroy(options.pool);
    CHECK(l.out == 0);
}

static void destroy_gives_all_to_the_pool(void)
{
    gyre_buffers_options options = {.struct_size = sizeof options};
    gyre_pool_statistics statistics = {.struct_size = sizeof statistics};
    gyre_buffers *buffers;
    uint64_t id;

    REQUIRE(gyre_pool_create(NULL, &options.pool) == GYRE_OK);
    REQUIRE(gyre_buffers_create(&options, &buffers) == GYRE_OK);
    for (size_t size = 1; size < 1 << 21; size *= 3)
        id = allocate(buffers, size);
    CHECK(gyre_buffer_deallocate(buffers, id) == GYRE_OK);
    CHECK(gyre_pool_describe(options.pool, &statistics) == GYRE_OK);
    CHECK(statistics.blocks_out == gyre_buffers_count(buffers) && statistics.blocks_out > 10);
    gyre_buffers_destroy(buffers);
    CHECK(gyre_pool_describe(options.pool, &statistics) == GYRE_OK);
    CHECK(statistics.blocks_out == 0);
    gyre_pool_destroy(options.pool);
}

static void pool_that_the_host_cannot_reach_is_refused(void)
{
    ledger l = {0};
    const gyre_memory source = {
        sizeof source, "test", GYRE_MEMORY_DEVICE, ledger_take, ledger_give, &l, 0};
    const gyre_pool_options of_device = {.struct_size = sizeof of_device, .source = &source};
    gyre_buffers_options options = {.struct_size = sizeof options};
    gyre_buffers *buffers;

    REQUIRE(gyre_pool_create(&of_device, &options.pool) == GYRE_OK);
    CHECK(gyre_buffers_create(&options, &buffers) == GYRE_UNSUPPORTED && !buffers);
    gyre_pool_destroy(options.pool);
}

static void forked_child_may_destroy_and_nothing_else(void)
{
    gyre_buffers *const buffers = make(0);
    const uint64_t id = allocate(buffers, sizeof WORDS);
    char read[sizeof WORDS];
    int status;
    pid_t child;

    CHECK(gyre_buffer_write(buffers, id, 0, WORDS, sizeof WORDS) == GYRE_OK);
    fflush(stdout); /* or the child may print it again */
    child = fork();
    if (child == 0) {
        gyre_buffers *other;
        uint64_t made;
        size_t size;
        const bool right =
            gyre_buffers_create(NULL, &other) == GYRE_UNAVAILABLE &&
            gyre_buffer_allocate(buffers, 1, GYRE_BUFFER_ANY, &made) == GYRE_UNAVAILABLE &&
            gyre_buffer_write(buffers, id, 0, WORDS, 1) == GYRE_UNAVAILABLE &&
            gyre_buffer_read(buffers, id, 0, read, 1) == GYRE_UNAVAILABLE &&
            gyre_buffer_size(buffers, id, &size) == GYRE_UNAVAILABLE &&
            gyre_buffer_deallocate(buffers, id) == GYRE_UNAVAILABLE;

        gyre_buffers_destroy(buffers);
        _exit(right ? 0 : 1);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(gyre_buffer_read(buffers, id, 0, read, sizeof read) == GYRE_OK);
    CHECK(memcmp(read, WORDS, sizeof WORDS) == 0);
    gyre_buffers_destroy(buffers);
}

/* What a buffer should be. */
typedef struct expected {
    uint64_t id; /* 0: none */
    size_t size;
    unsigned char *bytes;
} expected;

enum { MODEL_MOST = 40, MODEL_LARGEST = 9000, MODEL_STEPS = 30000 };

static bool model_allocate(gyre_buffers *buffers, expected *e, uint64_t *random)
{
    const bool zeroed = chance_below(random, 2);

    e->size = 1 + chance_below(random, chance_below(random, 2) ? 100 : MODEL_LARGEST);
    if (gyre_buffer_allocate(buffers, e->size, zeroed ? GYRE_BUFFER_ZEROED : GYRE_BUFFER_ANY,
                             &e->id) != GYRE_OK)
        return false;
    memset(e->bytes, 0, e->size);
    return zeroed || gyre_buffer_write(buffers, e->id, 0, e->bytes, e->size) == GYRE_OK;
}

/* A copy to or from anywhere in the buffer and around; whether it did what it should. */
static bool model_copy(gyre_buffers *buffers, expected *e, uint64_t *random)
{
    static unsigned char bytes[2 * MODEL_LARGEST];
    const size_t offset = chance_below(random, e->size + 2);
    const size_t size = chance_below(random, e->size - (offset < e->size ? offset : 0) + 2);
    const gyre_status right = offset + size <= e->size ? GYRE_OK : GYRE_INVALID;

    if (chance_below(random, 2)) {
        memset(bytes, (int)chance_below(random, 256), size);
        if (right == GYRE_OK)
            memcpy(e->bytes + offset, bytes, size);
        return gyre_buffer_write(buffers, e->id, offset, bytes, size) == right;
    }
    return gyre_buffer_read(buffers, e->id, offset, bytes, size) == right &&
           (right != GYRE_OK || memcmp(e->bytes + offset, bytes, size) == 0);
}

static void any_steps_do_as_the_model(void)
{
    static unsigned char rooms[MODEL_MOST][MODEL_LARGEST];
    expected all[MODEL_MOST] = {{0}};
    const uint64_t seed = chance_seed();
    gyre_buffers *const buffers = make(MODEL_MOST);
    uint64_t random = seed, stale = 0, other;
    uint32_t count = 0;
    bool right = true;

    for (int i = 0; i < MODEL_MOST; i++)
        all[i].bytes = rooms[i];
    for (int step = 0; step < MODEL_STEPS && right; step++) {
        expected *const e = &all[chance_below(&random, MODEL_MOST)];

        if (count == MODEL_MOST)
            right = gyre_buffer_allocate(buffers, 1, GYRE_BUFFER_ANY, &other) == GYRE_AGAIN;
        if (!e->id) {
            right &= model_allocate(buffers, e, &random);
            count++;
        } else if (chance_below(&random, 4) == 0) {
            right &= gyre_buffer_deallocate(buffers, e->id) == GYRE_OK;
            stale = e->id;
            e->id = 0;
            count--;
        } else {
            right &= model_copy(buffers, e, &random);
        }
        right &= is_nobodys(buffers, stale) && gyre_buffers_count(buffers) == count;
        if (!right)
            fprintf(stderr, "seed %llu, step %d\n", (unsigned long long)seed, step);
    }
    CHECK(right);
    gyre_buffers_destroy(buffers);
}

static const test_case cases[] = {
    TEST(buffer_holds_what_was_written),
    TEST(zeroed_buffer_is_zero_in_used_memory),
    TEST(ids_of_nobody_are_not_found),
    TEST(id_is_never_valid_again),
    TEST(copies_outside_are_refused_and_copy_nothing),
    TEST(nonsense_is_refused),
    TEST(no_more_than_as_many_as_may_be),
    TEST(table_grows_and_its_places_stay),
    TEST(place_whose_generations_are_used_up_is_retired),
    TEST(failing_allocator_leaves_nothing),
    TEST(empty_source_costs_no_place),
    TEST(destroy_gives_all_to_the_pool),
    TEST(pool_that_the_host_cannot_reach_is_refused),
    TEST(forked_child_may_destroy_and_nothing_else),
    TEST(any_steps_do_as_the_model),
};
TEST_MAIN(cases)
