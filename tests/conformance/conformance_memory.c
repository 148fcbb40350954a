/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a context: where blocks lie, that they keep what they are given, and what is refused.
 */
#include "conformance.h"

#include "gyre/memory.h"

static const gyre_context_memory_kind kinds[] = {GYRE_CONTEXT_DEVICE, GYRE_CONTEXT_PINNED};

static gyre_context_statistics statistics_of(gyre_context *context)
{
    gyre_context_statistics statistics = {.struct_size = sizeof statistics};

    CHECK(ok(gyre_context_describe(context, &statistics)));
    return statistics;
}

static uint64_t bytes_of(gyre_context_memory_kind kind)
{
    const gyre_context_statistics statistics = statistics_of(on.context);

    return kind == GYRE_CONTEXT_DEVICE ? statistics.device_bytes : statistics.pinned_bytes;
}

static void sources_say_who_reaches_them(void)
{
    const gyre_memory *const device = gyre_context_memory(on.context, GYRE_CONTEXT_DEVICE);
    const gyre_memory *const pinned = gyre_context_memory(on.context, GYRE_CONTEXT_PINNED);
    const bool host = gyre_device_has(on.device, GYRE_FEATURE_HOST_REACH);

    REQUIRE(device && pinned && device != pinned);
    CHECK(device->struct_size == sizeof(gyre_memory) && pinned->struct_size == sizeof(gyre_memory));
    CHECK(device->name && device->name[0] && pinned->name && pinned->name[0]);
    CHECK((device->reach & GYRE_MEMORY_DEVICE) != 0);
    CHECK(((device->reach & GYRE_MEMORY_HOST) != 0) == host);
    CHECK((pinned->reach & GYRE_MEMORY_HOST) != 0);
    CHECK(gyre_context_memory(on.context, GYRE_CONTEXT_DEVICE) == device);
    CHECK(gyre_context_memory(on.context, (gyre_context_memory_kind)2) == NULL);
    CHECK(gyre_context_memory(on.context, (gyre_context_memory_kind)99) == NULL);
}

static void blocks_are_aligned_as_asked(void)
{
    static const size_t sizes[] = {1, 3, 64, 100, 4096, 100001, 5 * MIB};

    for (size_t k = 0; k < COUNT(kinds); k++) {
        const gyre_memory *const memory = gyre_context_memory(on.context, kinds[k]);

        for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
            for (size_t s = 0; s < COUNT(sizes); s++) {
                void *pair[2] = {NULL, NULL};

                for (int i = 0; i < 2; i++) {
                    REQUIRE(ok(memory->take(memory, sizes[s], alignment, &pair[i])));
                    CHECK(pair[i] && ((uintptr_t)pair[i] & (alignment - 1)) == 0);
                }
                CHECK((uintptr_t)pair[0] + sizes[s] <= (uintptr_t)pair[1] ||
                      (uintptr_t)pair[1] + sizes[s] <= (uintptr_t)pair[0]);
                for (int i = 0; i < 2; i++)
                    memory->give(memory, pair[i], sizes[s], alignment);
            }
    }
}

static void more_alignment_is_given_or_refused(void)
{
    static const size_t alignments[] = {8192, 65536, MIB};

    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t a = 0; a < COUNT(alignments); a++) {
            const gyre_memory *const memory = gyre_context_memory(on.context, kinds[k]);
            void *block = &block;

            if (memory->take(memory, 100, alignments[a], &block) == GYRE_OK) {
                CHECK(((uintptr_t)block & (alignments[a] - 1)) == 0);
                memory->give(memory, block, 100, alignments[a]);
            } else {
                CHECK(block == NULL);
            }
        }
}

typedef struct kept {
    gyre_context_memory_kind kind;
    size_t size;
    void *block;
    unsigned char *copy;
} kept;

static void kept_take(kept *it, gyre_stream *stream, uint64_t *state)
{
    static const size_t most[] = {8, 300, 5000, 70000, MIB, 3 * MIB};

    it->kind = kinds[chance_below(state, COUNT(kinds))];
    it->size = 1 + chance_below(state, most[chance_below(state, COUNT(most))]);
    it->block = take(it->kind, it->size);
    it->copy = host_take(it->size);
    REQUIRE(it->block && it->copy);
    fill_random(state, it->copy, it->size);
    CHECK(put(stream, it->block, it->copy, it->size));
}

static void kept_give(kept *it, gyre_stream *stream)
{
    unsigned char *const back = host_take(it->size);

    REQUIRE(back && it->block);
    CHECK(put(stream, back, it->block, it->size));
    CHECK(memcmp(back, it->copy, it->size) == 0);
    host_give(back);
    host_give(it->copy);
    give(it->kind, it->block, it->size);
    it->block = NULL;
}

static void content_survives_whatever_the_neighbours_do(void)
{
    enum { BLOCKS = 40, MOVES = 120 };
    gyre_stream *const stream = stream_new();
    uint64_t seed = chance_seed(), state = seed;
    const int before = test_failed();
    kept blocks[BLOCKS] = {{0}};

    REQUIRE(stream);
    for (int i = 0; i < MOVES && test_failed() == before; i++) {
        kept *const it = &blocks[chance_below(&state, BLOCKS)];

        if (it->block)
            kept_give(it, stream);
        kept_take(it, stream, &state);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].block)
            kept_give(&blocks[i], stream);
    gyre_stream_destroy(stream);
    if (test_failed() > before)
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
}

static void the_host_reaches_pinned_memory(void)
{
    enum { SIZE = 100000 };
    gyre_stream *const stream = stream_new();
    unsigned char *const pinned = take(GYRE_CONTEXT_PINNED, SIZE);
    unsigned char *const device = take(GYRE_CONTEXT_DEVICE, SIZE);

    REQUIRE(stream && pinned && device);
    for (size_t i = 0; i < SIZE; i++)
        pinned[i] = (unsigned char)(i * 7);
    CHECK(put(stream, device, pinned, SIZE));
    memset(pinned, 0, SIZE);
    CHECK(put(stream, pinned, device, SIZE));
    for (size_t i = 0; i < SIZE; i++)
        if (pinned[i] != (unsigned char)(i * 7)) {
            CHECK(!"a byte that came back");
            break;
        }
    give(GYRE_CONTEXT_DEVICE, device, SIZE);
    give(GYRE_CONTEXT_PINNED, pinned, SIZE);
    gyre_stream_destroy(stream);
}

static void kernel_writes_host_memory_in_place(gyre_context_memory_kind kind)
{
    enum { N = 1000 };
    gyre_stream *const stream = stream_new();
    uint32_t *const words = take(kind, N * sizeof *words);

    REQUIRE(stream && words && kernel_of(KERNEL_STEP));
    for (uint32_t i = 0; i < N; i++)
        words[i] = i;
    CHECK(ok(step(stream, (step_parameters){words, N, 3, 5, 0})));
    CHECK(ok(gyre_stream_sync(stream)));
    for (uint32_t i = 0; i < N; i++)
        if (words[i] != i * 3 + 5) {
            CHECK(!"a word that the kernel wrote");
            break;
        }
    give(kind, words, N * sizeof *words);
    gyre_stream_destroy(stream);
}

static void kernels_reach_mapped_memory(void)
{
    if (!gyre_device_has(on.device, GYRE_FEATURE_MAPPED))
        SKIP("pinned memory is not mapped here");
    kernel_writes_host_memory_in_place(GYRE_CONTEXT_PINNED);
}

static void the_host_reaches_device_memory_where_it_can(void)
{
    if (!gyre_device_has(on.device, GYRE_FEATURE_HOST_REACH))
        SKIP("the host does not reach device memory");
    kernel_writes_host_memory_in_place(GYRE_CONTEXT_DEVICE);
}

static void impossible_sizes_are_no_memory_and_cost_nothing(void)
{
    const size_t sizes[] = {SIZE_MAX,        SIZE_MAX - 1,    SIZE_MAX - 63,
                            SIZE_MAX - 64,   SIZE_MAX - 4095, SIZE_MAX / 2,
                            (size_t)1 << 62, (size_t)1 << 56, (size_t)on.device->memory_bytes * 64};
    static const size_t alignments[] = {1, 64, 4096};

    for (size_t k = 0; k < COUNT(kinds); k++) {
        const gyre_memory *const memory = gyre_context_memory(on.context, kinds[k]);
        const uint64_t before = bytes_of(kinds[k]);
        void *block;

        /* the last is too large for the device; the host may lend it */
        for (size_t s = 0; s < COUNT(sizes) - k; s++)
            for (size_t a = 0; a < COUNT(alignments); a++) {
                block = &block;
                CHECK(memory->take(memory, sizes[s], alignments[a], &block) == GYRE_NO_MEMORY);
                CHECK(block == NULL);
                CHECK(gyre_error_last()->status == GYRE_NO_MEMORY &&
                      gyre_error_last()->text[0] != '\0');
            }
        CHECK(bytes_of(kinds[k]) == before);
        CHECK(gyre_context_check(on.context) == GYRE_OK);
        REQUIRE(ok(memory->take(memory, MIB, 64, &block)));
        memory->give(memory, block, MIB, 64);
    }
}

static void what_is_taken_is_counted(void)
{
    static const size_t sizes[] = {1, 4096, 3 * MIB};

    for (size_t k = 0; k < COUNT(kinds); k++) {
        const uint64_t before = bytes_of(kinds[k]), other = bytes_of(kinds[1 - k]);
        void *blocks[COUNT(sizes)];
        uint64_t sum = 0;

        for (size_t s = 0; s < COUNT(sizes); s++) {
            blocks[s] = take(kinds[k], sizes[s]);
            REQUIRE(blocks[s]);
            sum += sizes[s];
            CHECK(bytes_of(kinds[k]) >= before + sum);
        }
        CHECK(bytes_of(kinds[1 - k]) == other);
        for (size_t s = 0; s < COUNT(sizes); s++)
            give(kinds[k], blocks[s], sizes[s]);
        CHECK(bytes_of(kinds[k]) == before);
    }
}

static void room_is_less_than_all(void)
{
    uint64_t free_bytes = 0, total = 0;
    const gyre_status status = gyre_context_room(on.context, &free_bytes, &total);

    if (status == GYRE_UNSUPPORTED)
        SKIP("the driver does not tell");
    REQUIRE(ok(status));
    CHECK(total > 0 && free_bytes <= total);
    CHECK(on.device->memory_bytes == 0 || total <= on.device->memory_bytes * 2);
}

static void many_small_blocks_do_not_overlap(void)
{
    enum { BLOCKS = 300 };
    gyre_stream *const stream = stream_new();
    uint32_t *blocks[BLOCKS], back[4];

    REQUIRE(stream);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint32_t words[4] = {i, ~i, i * 3, i * 5};

        blocks[i] = take(GYRE_CONTEXT_DEVICE, sizeof words);
        REQUIRE(blocks[i]);
        CHECK(put(stream, blocks[i], words, sizeof words));
    }
    for (uint32_t i = 0; i < BLOCKS; i++) {
        CHECK(put(stream, back, blocks[i], sizeof back));
        CHECK(back[0] == i && back[1] == ~i && back[2] == i * 3 && back[3] == i * 5);
        give(GYRE_CONTEXT_DEVICE, blocks[i], sizeof back);
    }
    gyre_stream_destroy(stream);
}

static const test_case cases[] = {
    TEST(sources_say_who_reaches_them),
    TEST(blocks_are_aligned_as_asked),
    TEST(more_alignment_is_given_or_refused),
    TEST(content_survives_whatever_the_neighbours_do),
    TEST(the_host_reaches_pinned_memory),
    TEST(kernels_reach_mapped_memory),
    TEST(the_host_reaches_device_memory_where_it_can),
    TEST(impossible_sizes_are_no_memory_and_cost_nothing),
    TEST(what_is_taken_is_counted),
    TEST(room_is_less_than_all),
    TEST(many_small_blocks_do_not_overlap),
};
CONFORMANCE_MAIN(cases)
