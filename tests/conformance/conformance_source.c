/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels from source and images: what the compiler is told and says, and what the disk keeps. The
 * programs are short, for drivers that compile slowly.
 */
#include "conformance.h"

#include "gyre/cache.h"

static const char *const defines[] = {"VALUE=41", "FLAG", NULL};
static const gyre_include includes[] = {{"gift.h", "#define GIFT 1\n#include \"deep/more.h\"\n"},
                                        {"deep/more.h", "#define MORE 100\n"},
                                        {NULL, NULL}};

static const gyre_program defined = {
    .struct_size = sizeof(gyre_program),
    .name = "defined",
    .defines = defines,
    .includes = includes,
    .cuda = "#include \"gift.h\"\n"
            "#ifndef FLAG\n#error no flag\n#endif\n"
            "extern \"C\" __global__ void tell(unsigned *out) { *out = VALUE + GIFT + MORE; }\n",
    .opencl = "#include \"gift.h\"\n"
              "#ifndef FLAG\n#error no flag\n#endif\n"
              "__kernel void tell(__global uint *out) { *out = VALUE + GIFT + MORE; }\n",
};

static const gyre_program wrong = {
    .struct_size = sizeof(gyre_program),
    .name = "wrong_program",
    .cuda = "// one\n// two\nextern \"C\" __global__ void tell(unsigned *out) { *out = nobody; }\n",
    .opencl = "// one\n// two\n__kernel void tell(__global uint *out) { *out = nobody; }\n",
};

static bool compiles(void)
{
    if (!gyre_device_has(on.device, GYRE_FEATURE_SOURCE))
        test_skip_reason = "there is no compiler for this device";
    else if (on.device->kind == GYRE_DEVICE_NULL)
        test_skip_reason = "what the null device compiles is no C";
    return !test_skip_reason;
}

static void tells(gyre_kernel *kernel, uint32_t want)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const out = take(GYRE_CONTEXT_DEVICE, 4);
    const mark_parameters p = {out};
    const gyre_launch launch = launch_of(1, 1, &p, sizeof p);
    uint32_t host = 0;

    REQUIRE(stream && out);
    CHECK(ok(gyre_stream_launch(stream, kernel, &launch)));
    CHECK(put(stream, &host, out, 4));
    CHECK(host == want);
    give(GYRE_CONTEXT_DEVICE, out, 4);
    gyre_stream_destroy(stream);
}

static void source_gets_its_defines_and_includes(void)
{
    gyre_kernel *kernel;

    if (!compiles())
        return;
    REQUIRE(ok(gyre_kernel_create(on.context, &defined, "tell", "pointer", NULL, &kernel)));
    tells(kernel, 142);
    gyre_kernel_release(kernel);
}

static void other_defines_are_another_kernel(void)
{
    static const char *const others[] = {"VALUE=7", "FLAG=1", NULL};
    gyre_program program = defined;
    gyre_kernel *kernel;

    if (!compiles())
        return;
    program.defines = others;
    REQUIRE(ok(gyre_kernel_create(on.context, &program, "tell", "pointer", NULL, &kernel)));
    tells(kernel, 108);
    gyre_kernel_release(kernel);
}

static void a_kernel_is_compiled_once(void)
{
    gyre_cache_statistics statistics = {.struct_size = sizeof statistics};
    gyre_kernel_facts facts = {.struct_size = sizeof facts};
    const gyre_kernel_options fresh = {.struct_size = sizeof fresh, .no_cache = true};
    gyre_kernel *kernel;

    if (!compiles())
        return;
    CHECK(ok(gyre_cache_describe(&statistics)));
    if (statistics.folder[0] == '\0')
        SKIP("the cache is off");
    for (int i = 0; i < 2; i++) {
        REQUIRE(ok(gyre_kernel_create(on.context, &defined, "tell", "pointer", NULL, &kernel)));
        CHECK(ok(gyre_kernel_describe(kernel, &facts)));
        gyre_kernel_release(kernel);
    }
    CHECK(facts.from_cache && facts.build_ns == 0 && facts.image_bytes > 0);
    REQUIRE(ok(gyre_kernel_create(on.context, &defined, "tell", "pointer", &fresh, &kernel)));
    CHECK(ok(gyre_kernel_describe(kernel, &facts)));
    CHECK(!facts.from_cache && facts.build_ns > 0);
    tells(kernel, 142);
    gyre_kernel_release(kernel);
}

static void source_that_does_not_compile_says_where(void)
{
    gyre_kernel *kernel = (gyre_kernel *)&on;
    const char *log;

    if (!compiles())
        return;
    CHECK(gyre_kernel_create(on.context, &wrong, "tell", "pointer", NULL, &kernel) == GYRE_BUILD);
    CHECK(kernel == NULL && gyre_error_last()->status == GYRE_BUILD);
    log = gyre_kernel_build_log();
    CHECK(strstr(log, "nobody") != NULL);
    CHECK(strstr(log, ":3") || strstr(log, "(3)"));
    if (!strstr(log, "nobody") || !(strstr(log, ":3") || strstr(log, "(3)")))
        fprintf(stderr, "%s\n", log);
    /* and the next one is as good as before */
    REQUIRE(ok(gyre_kernel_create(on.context, &defined, "tell", "pointer", NULL, &kernel)));
    tells(kernel, 142);
    gyre_kernel_release(kernel);
}

static void a_missing_include_does_not_compile(void)
{
    gyre_program program = defined;
    gyre_kernel *kernel;

    if (!compiles())
        return;
    program.includes = NULL;
    CHECK(gyre_kernel_create(on.context, &program, "tell", "pointer", NULL, &kernel) == GYRE_BUILD);
    CHECK(strstr(gyre_kernel_build_log(), "gift.h") != NULL);
}

static void a_missing_entry_of_a_source_is_not_found(void)
{
    gyre_kernel *kernel;

    if (!compiles())
        return;
    CHECK(gyre_kernel_create(on.context, &defined, "yell", "pointer", NULL, &kernel) ==
          GYRE_NOT_FOUND);
    CHECK(kernel == NULL);
}

static void an_image_that_is_none_is_corrupt(void)
{
    static const unsigned char image[256] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33};
    gyre_program program = {.struct_size = sizeof program,
                            .name = "image",
                            .cuda_image = image,
                            .cuda_image_bytes = sizeof image};
    gyre_kernel *kernel = (gyre_kernel *)&on;
    const gyre_status status =
        gyre_kernel_create(on.context, &program, "tell", "pointer", NULL, &kernel);

    CHECK(kernel == NULL);
    if (strcmp(on.device->backend, "cuda") == 0) {
        CHECK(status == GYRE_CORRUPT);
        program.cuda_image = "no PTX at all";
        program.cuda_image_bytes = 14;
        CHECK(gyre_kernel_create(on.context, &program, "tell", "pointer", NULL, &kernel) ==
              GYRE_CORRUPT);
        CHECK(gyre_context_check(on.context) == GYRE_OK);
    } else {
        CHECK(status == GYRE_UNSUPPORTED);
    }
}

static void logs_belong_to_their_thread(size_t number)
{
    gyre_kernel *kernel;

    if (number == 0) {
        CHECK(gyre_kernel_create(on.context, &wrong, "tell", "pointer", NULL, &kernel) ==
              GYRE_BUILD);
        CHECK(strstr(gyre_kernel_build_log(), "nobody") != NULL);
    } else {
        CHECK(gyre_kernel_build_log()[0] == '\0');
        CHECK(ok(gyre_kernel_create(on.context, &defined, "tell", "pointer", NULL, &kernel)));
        CHECK(strstr(gyre_kernel_build_log(), "nobody") == NULL);
        gyre_kernel_release(kernel);
    }
}

static void threads_compile_at_once(void)
{
    if (!compiles())
        return;
    CHECK(together(3, logs_belong_to_their_thread));
}

static const test_case cases[] = {
    TEST(source_gets_its_defines_and_includes),
    TEST(other_defines_are_another_kernel),
    TEST(a_kernel_is_compiled_once),
    TEST(source_that_does_not_compile_says_where),
    TEST(a_missing_include_does_not_compile),
    TEST(a_missing_entry_of_a_source_is_not_found),
    TEST(an_image_that_is_none_is_corrupt),
    TEST(threads_compile_at_once),
};
CONFORMANCE_MAIN(cases)
