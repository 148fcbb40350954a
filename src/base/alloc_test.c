/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>

#include "test.h"

typedef struct ledger {
    size_t out_bytes;
    int calls;
    size_t alignment;
} ledger;

static void *take(void *user, size_t size_bytes, size_t alignment)
{
    ledger *l = user;

    l->calls++;
    l->out_bytes += size_bytes;
    l->alignment = alignment;
    return aligned_alloc(alignment, size_bytes);
}

static void give(void *user, void *block, size_t size_bytes)
{
    ((ledger *)user)->out_bytes -= size_bytes;
    free(block);
}

static void *refuse(void *user, size_t size_bytes, size_t alignment)
{
    (void)user, (void)size_bytes, (void)alignment;
    return NULL;
}

static void block_is_zeroed_and_aligned(void)
{
    void *block;

    REQUIRE(gyre_alloc(NULL, 3, 7, &block) == GYRE_OK);
    CHECK((uintptr_t)block % 64 == 0);
    for (int i = 0; i < 21; i++)
        CHECK(((unsigned char *)block)[i] == 0);
    gyre_free(NULL, block, 3, 7);
}

static void product_that_overflows_is_refused(void)
{
    void *block = &block;

    CHECK(gyre_alloc(NULL, SIZE_MAX / 2, 3, &block) == GYRE_NO_MEMORY);
    CHECK(block == NULL);
    CHECK(gyre_alloc(NULL, SIZE_MAX, 1, &block) == GYRE_NO_MEMORY); /* rounding up overflows */
    CHECK(gyre_alloc(NULL, SIZE_MAX / 2 + 1, 1, &block) == GYRE_NO_MEMORY);
}

static void empty_block_is_invalid(void)
{
    void *block;

    CHECK(gyre_alloc(NULL, 0, 8, &block) == GYRE_INVALID);
    CHECK(gyre_alloc(NULL, 8, 0, &block) == GYRE_INVALID);
}

static void callers_allocator_gets_back_what_it_gave(void)
{
    ledger l = {0, 0, 0};
    const gyre_allocator allocator = {take, give, &l};
    void *block;

    REQUIRE(gyre_alloc(&allocator, 5, 33, &block) == GYRE_OK);
    CHECK(l.calls == 1);
    CHECK(l.out_bytes >= 165);
    CHECK(l.alignment >= 16);
    gyre_free(&allocator, block, 5, 33);
    CHECK(l.out_bytes == 0);
}

static void exhausted_allocator_is_no_memory(void)
{
    const gyre_allocator allocator = {refuse, give, NULL};
    void *block = &block;

    CHECK(gyre_alloc(&allocator, 1, 8, &block) == GYRE_NO_MEMORY);
    CHECK(block == NULL);
    CHECK(strstr(gyre_error_last()->text, "no memory for 1 elements of 8 bytes") != NULL);
}

static void half_an_allocator_is_invalid(void)
{
    const gyre_allocator no_release = {take, NULL, NULL}, no_allocate = {NULL, give, NULL};

    CHECK(gyre_allocator_check(&no_release) == GYRE_INVALID);
    CHECK(gyre_allocator_check(&no_allocate) == GYRE_INVALID);
    CHECK(gyre_allocator_check(NULL) == GYRE_OK);
}

static void freeing_nothing_is_fine(void)
{
    gyre_free(NULL, NULL, 1, 1);
}

static const test_case cases[] = {
    TEST(block_is_zeroed_and_aligned),      TEST(product_that_overflows_is_refused),
    TEST(empty_block_is_invalid),           TEST(callers_allocator_gets_back_what_it_gave),
    TEST(exhausted_allocator_is_no_memory), TEST(half_an_allocator_is_invalid),
    TEST(freeing_nothing_is_fine),
};
TEST_MAIN(cases)
