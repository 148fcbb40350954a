/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: that each thread of each block runs once, how arguments travel, and what makes no
 * kernel.
 */
#include "conformance.h"

/* Shapes of blocks: few, since some drivers compile for each. */
static const uint32_t shapes[][3] = {{1, 1, 1}, {64, 1, 1}, {4, 3, 2}, {1, 7, 1}, {16, 4, 0}};

static void marks_are_one(const uint32_t grid[3], const uint32_t block[3], gyre_stream *stream)
{
    size_t count = 1, cells;
    uint32_t *data, *host;
    mark_parameters parameters;
    gyre_launch launch = {.parameters = &parameters, .parameters_size = sizeof parameters};

    for (int i = 0; i < 3; i++) {
        launch.grid[i] = grid[i];
        launch.block[i] = block[i];
        count *= (size_t)(grid[i] ? grid[i] : 1) * (block[i] ? block[i] : 1);
    }
    cells = count + 16; /* and none behind */
    data = parameters.cells = take(GYRE_CONTEXT_DEVICE, cells * 4);
    host = host_take(cells * 4);
    REQUIRE(data && host);
    CHECK(put(stream, data, host, cells * 4));
    CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_MARK), &launch)));
    CHECK(put(stream, host, data, cells * 4));
    for (size_t i = 0; i < cells; i++)
        if (host[i] != (i < count ? 1u : 0u)) {
            CHECK(!"each thread of each block runs once");
            fprintf(stderr, "grid %u %u %u block %u %u %u cell %zu is %u\n", grid[0], grid[1],
                    grid[2], block[0], block[1], block[2], i, host[i]);
            break;
        }
    give(GYRE_CONTEXT_DEVICE, data, cells * 4);
    host_give(host);
}

static void every_thread_of_every_block_runs_once(void)
{
    gyre_stream *const stream = stream_new();
    uint64_t state = chance_seed();

    REQUIRE(stream && kernel_of(KERNEL_MARK));
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (int i = 0; i < 12; i++) {
            const uint32_t grid[3] = {(uint32_t)chance_below(&state, 40),
                                      (uint32_t)chance_below(&state, 10),
                                      (uint32_t)chance_below(&state, 6)};

            marks_are_one(grid, shapes[s], stream);
        }
    marks_are_one((uint32_t[3]){50000, 1, 1}, shapes[0], stream); /* far more than workers */
    marks_are_one((uint32_t[3]){0, 0, 0}, (uint32_t[3]){0, 0, 0}, stream);
    gyre_stream_destroy(stream);
}

static void launch_types(gyre_stream *stream, size_t size)
{
    enum { ROOM = TYPES_WORDS + 1 };
    uint64_t host[ROOM] = {0};
    types_parameters p = {.a = -7, .b = 250, .c = -30000, .d = 60000, .e = -2000000000, .l = 201};
    const uint64_t want[TYPES_WORDS] = {(uint64_t)-7,
                                        250,
                                        (uint64_t)-30000,
                                        60000,
                                        (uint64_t)-2000000000,
                                        4000000000,
                                        (uint64_t)-5,
                                        (uint64_t)INT64_MIN,
                                        UINT64_MAX - 1,
                                        99,
                                        UINT64_C(0x0123456789abcdef),
                                        2,
                                        UINT64_C(0xfedcba9876543210),
                                        201};
    gyre_launch launch = launch_of(1, 1, &p, size);

    p.f = 4000000000u;
    p.g = -1.25f;
    p.h = INT64_MIN;
    p.i = UINT64_MAX - 1;
    p.j = 12.375;
    p.k.x[0] = want[10], p.k.x[1] = want[11], p.k.x[2] = want[12];
    p.out = take(GYRE_CONTEXT_DEVICE, sizeof host);
    REQUIRE(p.out);
    CHECK(put(stream, p.out, host, sizeof host));
    CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_TYPES), &launch)));
    CHECK(put(stream, host, p.out, sizeof host));
    CHECK(memcmp(host, want, sizeof want) == 0 && host[TYPES_WORDS] == 0);
    give(GYRE_CONTEXT_DEVICE, p.out, sizeof host);
}

static void arguments_of_every_type_arrive(void)
{
    gyre_stream *const stream = stream_new();

    if (!gyre_device_has(on.device, GYRE_FEATURE_F64)) {
        gyre_stream_destroy(stream);
        SKIP("no f64 here");
    }
    REQUIRE(stream && kernel_of(KERNEL_TYPES) && sizeof(types_parameters) == 88);
    launch_types(stream, TYPES_BYTES); /* without the padding at the end, and with it */
    launch_types(stream, sizeof(types_parameters));
    gyre_stream_destroy(stream);
}

static void wrong_parameter_sizes_are_refused(void)
{
    static const size_t wrong[] = {0, 1, 8, 19, 21, 23, 25, 32, 4096, SIZE_MAX};
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, 256);
    unsigned char bytes[4096] = {0};
    gyre_launch launch = launch_of(1, 1, bytes, 0);
    uint32_t host[64] = {0};

    REQUIRE(stream && data && kernel_of(KERNEL_EACH));
    CHECK(put(stream, data, host, 256));
    memcpy(bytes, &(each_parameters){data, 1, 1, 0}, sizeof(each_parameters));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const uint64_t before = submitted(stream);

        launch.parameters_size = wrong[i];
        CHECK(gyre_stream_launch(stream, kernel_of(KERNEL_EACH), &launch) == GYRE_INVALID);
        CHECK(submitted(stream) == before);
    }
    for (size_t size = 20; size <= 24; size += 4) {
        launch.parameters_size = size;
        CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_EACH), &launch)));
    }
    CHECK(put(stream, host, data, 256));
    CHECK(host[0] == 2 && host[1] == 0);
    give(GYRE_CONTEXT_DEVICE, data, 256);
    gyre_stream_destroy(stream);
}

static void parameters_are_copied(void)
{
    enum { N = 64 };
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)N * 4);
    uint32_t host[N] = {0}, want = 0;
    step_parameters *p = host_take(sizeof *p);

    REQUIRE(stream && data && p && kernel_of(KERNEL_STEP));
    CHECK(put(stream, data, host, sizeof host));
    for (uint32_t i = 0; i < 30; i++) {
        const gyre_launch launch = launch_of(1, N, p, sizeof *p);

        *p = (step_parameters){data, N, 3, i, 5000};
        CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_STEP), &launch)));
        memset(p, 0xff, sizeof *p); /* an address that nobody has */
        want = want * 3 + i;
    }
    host_give(p);
    CHECK(put(stream, host, data, sizeof host));
    CHECK(host[0] == want && host[N - 1] == want);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)N * 4);
    gyre_stream_destroy(stream);
}

static void blocks_have_shared_memory_of_their_own(void)
{
    enum { BLOCK = 64, BLOCKS = 50, N = BLOCK * BLOCKS };
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)N * 4);
    uint32_t host[N];
    const turn_parameters p = {data, N};
    gyre_launch launch = launch_of(BLOCKS, BLOCK, &p, sizeof p);
    size_t right = 0;

    REQUIRE(stream && data && kernel_of(KERNEL_TURN));
    for (uint32_t i = 0; i < N; i++)
        host[i] = i;
    launch.shared_bytes = BLOCK * 4;
    CHECK(put(stream, data, host, sizeof host));
    CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_TURN), &launch)));
    launch.shared_bytes = 4000; /* more than it needs is no harm */
    CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_TURN), &launch)));
    launch.shared_bytes = BLOCK * 4;
    CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_TURN), &launch)));
    CHECK(put(stream, host, data, sizeof host));
    for (uint32_t i = 0; i < N; i++)
        right += host[i] == i / BLOCK * BLOCK + (BLOCK - 1 - i % BLOCK);
    CHECK(right == N);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)N * 4);
    gyre_stream_destroy(stream);
}

static void a_kernel_without_arguments_runs(void)
{
    gyre_stream *const stream = stream_new();
    const gyre_launch launch = {.grid = {1}};

    REQUIRE(stream && kernel_of(KERNEL_NOTHING));
    CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_NOTHING), &launch)));
    CHECK(ok(gyre_stream_sync(stream)));
    gyre_stream_destroy(stream);
}

static gyre_status create(const gyre_program *program, const char *entry, const char *signature)
{
    gyre_kernel *kernel = (gyre_kernel *)&on;
    const gyre_status status =
        gyre_kernel_create(on.context, program, entry, signature, NULL, &kernel);

    if (status == GYRE_OK) {
        gyre_kernel_release(kernel);
    } else {
        CHECK(kernel == NULL);
        CHECK(gyre_error_last()->status == status && gyre_error_last()->text[0] != '\0');
    }
    return status;
}

static void malformed_signatures_are_refused(void)
{
    static const char *const bad[] = {
        "int",        "pointer,u32",   "u33",     "POINTER",  "bytes",
        "bytes0",     "bytes7",        "bytes12", "bytes-8",  "bytes8x",
        "shared u32", "shared shared", "u 32",    "pointer*", "bytes99999999999999999999",
        "bytes8192",  "f16",           "p",       "u32;",     "pointer\x01",
    };
    char many[2000] = "";

    for (size_t i = 0; i < COUNT(bad); i++)
        if (create(&conformance_program, "mark", bad[i]) != GYRE_INVALID) {
            CHECK(!"a malformed signature is refused");
            fprintf(stderr, "signature '%s'\n", bad[i]);
        }
    for (size_t i = 0; i < 400; i++)
        memcpy(many + i * 4, "u64 ", 5);
    CHECK(create(&conformance_program, "mark", many) == GYRE_INVALID);
}

static void signatures_that_are_not_the_kernels_are_refused_where_known(void)
{
    if (gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS))
        SKIP("a C function tells nothing about its arguments");
    CHECK(create(&conformance_program, "advance", "pointer") == GYRE_INVALID);
    CHECK(create(&conformance_program, "advance", "pointer u32 u32 u32 u32 u32") == GYRE_INVALID);
    CHECK(create(&conformance_program, "nothing", "u32") == GYRE_INVALID);
    CHECK(create(&conformance_program, "advance", "pointer u32 u32 u32 u32") == GYRE_OK);
}

static void what_is_not_there_is_not_found(void)
{
    gyre_program none = {.struct_size = sizeof none, .name = "none"};
    static const gyre_entry no_entries[] = {{NULL, NULL}};

    CHECK(create(&conformance_program, "absent", "pointer") == GYRE_NOT_FOUND);
    CHECK(create(&conformance_program, "mar", "pointer") == GYRE_NOT_FOUND);
    CHECK(create(&conformance_program, "marks", "pointer") == GYRE_NOT_FOUND);
    CHECK(create(&none, "mark", "pointer") == GYRE_UNSUPPORTED);
    if (gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS)) {
        none.functions = no_entries;
        CHECK(create(&none, "mark", "pointer") == GYRE_NOT_FOUND);
        none.functions = NULL;
        none.cuda = conformance_program.cuda;
        CHECK(create(&none, "mark", "pointer") == GYRE_UNSUPPORTED);
    } else {
        none.functions = conformance_program.functions;
        CHECK(create(&none, "mark", "pointer") == GYRE_UNSUPPORTED);
    }
    none = conformance_program;
    none.struct_size = 0;
    CHECK(create(&none, "mark", "pointer") == GYRE_INVALID);
}

static void a_many_entry_that_is_not_there_is_not_found(void)
{
    const gyre_kernel_options options = {.struct_size = sizeof options, .many = "each_lots"};
    gyre_kernel *kernel = (gyre_kernel *)&on;

    CHECK(gyre_kernel_create(on.context, &conformance_program, "each",
                             conformance_signatures[KERNEL_EACH], &options,
                             &kernel) == GYRE_NOT_FOUND);
    CHECK(kernel == NULL);
}

static void kernels_can_be_described(void)
{
    gyre_kernel_facts facts = {.struct_size = sizeof facts};
    gyre_kernel *const kernel = kernel_of(KERNEL_STEP);

    REQUIRE(kernel);
    CHECK(ok(gyre_kernel_describe(kernel, &facts)));
    CHECK(facts.name && strcmp(facts.name, "advance") == 0);
    CHECK(facts.parameters_bytes == 24 && facts.argument_count == 5);
    CHECK(facts.block_threads_most <= on.device->block_threads_most);
    CHECK(!facts.from_cache || facts.build_ns == 0);
    if (!gyre_device_has(on.device, GYRE_FEATURE_FUNCTIONS))
        CHECK(facts.image_bytes > 0 && (facts.from_cache || facts.build_ns > 0));
    facts = (gyre_kernel_facts){.struct_size = 0};
    CHECK(gyre_kernel_describe(kernel, &facts) == GYRE_INVALID);
    facts = (gyre_kernel_facts){.struct_size = offsetof(gyre_kernel_facts, parameters_bytes),
                                .parameters_bytes = 777};
    CHECK(ok(gyre_kernel_describe(kernel, &facts)));
    CHECK(strcmp(facts.name, "advance") == 0 && facts.parameters_bytes == 777);
}

static void residency_is_known_or_unsupported(void)
{
    gyre_kernel *const kernel = kernel_of(KERNEL_MARK);
    uint32_t blocks = 0, fewer = 0;

    REQUIRE(kernel);
    if (!gyre_device_has(on.device, GYRE_FEATURE_RESIDENCY)) {
        CHECK(gyre_kernel_residency(kernel, 1, 0, &blocks) == GYRE_UNSUPPORTED);
        return;
    }
    CHECK(ok(gyre_kernel_residency(kernel, 1, 0, &blocks)) && blocks >= on.device->units);
    CHECK(ok(gyre_kernel_residency(kernel, on.device->block_threads_most,
                                   on.device->shared_bytes_most, &fewer)));
    CHECK(fewer >= 1 && fewer <= blocks);
    CHECK(gyre_kernel_residency(kernel, on.device->block_threads_most + 1, 0, &blocks) ==
          GYRE_INVALID);
    CHECK(gyre_kernel_residency(kernel, UINT32_MAX, 0, &blocks) == GYRE_INVALID);
    CHECK(gyre_kernel_residency(kernel, 1, on.device->shared_bytes_most + 1, &blocks) ==
          GYRE_INVALID);
}

static void cooperative_blocks_meet(void)
{
    gyre_stream *const stream = stream_new();
    gyre_kernel *const kernel = kernel_of(KERNEL_MEET);
    uint32_t blocks = 0, *data, *host, met = 0;
    meet_parameters p;
    gyre_launch launch = launch_of(1, 1, &p, sizeof p);

    REQUIRE(stream && kernel);
    launch.cooperative = true;
    if (!gyre_device_has(on.device, GYRE_FEATURE_COOPERATIVE)) {
        p = (meet_parameters){NULL, NULL};
        CHECK(gyre_stream_launch(stream, kernel, &launch) == GYRE_UNSUPPORTED);
        CHECK(submitted(stream) == 0);
        gyre_stream_destroy(stream);
        return;
    }
    if (gyre_device_has(on.device, GYRE_FEATURE_RESIDENCY))
        CHECK(ok(gyre_kernel_residency(kernel, 1, 0, &blocks)));
    else
        blocks = on.device->units;
    host = host_take((size_t)(blocks + 1) * 4);
    data = take(GYRE_CONTEXT_DEVICE, (size_t)(blocks + 1) * 4);
    REQUIRE(host && data);
    for (int round = 0; round < 5; round++) {
        memset(host, 0, (size_t)(blocks + 1) * 4);
        CHECK(put(stream, data, host, (size_t)(blocks + 1) * 4));
        p = (meet_parameters){data, data + 1};
        launch.grid[0] = blocks;
        CHECK(ok(gyre_stream_launch(stream, kernel, &launch)));
        CHECK(put(stream, host, data, (size_t)(blocks + 1) * 4));
        met = 0;
        for (uint32_t i = 0; i < blocks; i++)
            met += host[1 + i] == blocks;
        CHECK(met == blocks && host[0] == blocks);
    }
    launch.grid[0] = blocks + 1; /* one that could not be resident */
    if (gyre_device_has(on.device, GYRE_FEATURE_RESIDENCY))
        CHECK(gyre_stream_launch(stream, kernel, &launch) == GYRE_INVALID);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)(blocks + 1) * 4);
    host_give(host);
    gyre_stream_destroy(stream);
}

static void a_kernel_lives_as_long_as_its_launches(void)
{
    enum { N = 64 };
    gyre_stream *const stream = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)N * 4);
    uint32_t host[N] = {0};

    REQUIRE(stream && data);
    CHECK(put(stream, data, host, sizeof host));
    for (uint32_t i = 0; i < 5; i++) {
        const step_parameters p = {data, N, 1, 1, 300000};
        const gyre_launch launch = launch_of(1, N, &p, sizeof p);
        gyre_kernel *const kernel = kernel_in(on.context, KERNEL_STEP);

        REQUIRE(kernel);
        CHECK(gyre_kernel_retain(kernel) == kernel);
        gyre_kernel_release(kernel);
        CHECK(ok(gyre_stream_launch(stream, kernel, &launch)));
        gyre_kernel_release(kernel); /* while it runs */
    }
    CHECK(put(stream, host, data, sizeof host));
    CHECK(host[0] == 5 && host[N - 1] == 5);
    CHECK(gyre_kernel_retain(NULL) == NULL);
    gyre_kernel_release(NULL);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)N * 4);
    gyre_stream_destroy(stream);
}

static void kernels_of_another_context_are_refused(void)
{
    gyre_stream *const stream = stream_new();
    const gyre_launch launch = {.grid = {1}};
    gyre_context *other;
    gyre_kernel *kernel;

    REQUIRE(stream && ok(gyre_context_create(on.device, NULL, &other)));
    kernel = kernel_in(other, KERNEL_NOTHING);
    REQUIRE(kernel);
    CHECK(gyre_stream_launch(stream, kernel, &launch) == GYRE_INVALID);
    CHECK(submitted(stream) == 0);
    gyre_kernel_release(kernel);
    gyre_context_destroy(other);
    gyre_stream_destroy(stream);
}

static const test_case cases[] = {
    TEST(every_thread_of_every_block_runs_once),
    TEST(arguments_of_every_type_arrive),
    TEST(wrong_parameter_sizes_are_refused),
    TEST(parameters_are_copied),
    TEST(blocks_have_shared_memory_of_their_own),
    TEST(a_kernel_without_arguments_runs),
    TEST(malformed_signatures_are_refused),
    TEST(signatures_that_are_not_the_kernels_are_refused_where_known),
    TEST(what_is_not_there_is_not_found),
    TEST(a_many_entry_that_is_not_there_is_not_found),
    TEST(kernels_can_be_described),
    TEST(residency_is_known_or_unsupported),
    TEST(cooperative_blocks_meet),
    TEST(a_kernel_lives_as_long_as_its_launches),
    TEST(kernels_of_another_context_are_refused),
};
CONFORMANCE_MAIN(cases)
