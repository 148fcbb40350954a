/* SPDX-License-Identifier: Apache-2.0
 *
 * The compiler needs no driver and no GPU.
 */
#include "backends/cuda/cuda.h"
#include "base/alloc.h"
#include "dev/build_log.h"
#include "test.h"

static const char good[] =
    "extern \"C\" __global__ void add(const float *a, float *b, unsigned n)\n"
    "{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) b[i] += a[i]; }\n";

static bool here(void)
{
    char name[32];

    return gyre_cuda_nvrtc_name(name, sizeof name) == GYRE_OK && strncmp(name, "NVRTC ", 6) == 0;
}

static gyre_status compile(int architecture, const gyre_dev_source *source)
{
    void *image;
    size_t size;
    const gyre_status status = gyre_cuda_nvrtc_compile(architecture, source, &image, &size);

    CHECK((status == GYRE_OK) == (image != NULL) && (status == GYRE_OK) == (size > 0));
    if (image)
        gyre_free(NULL, image, size, 1);
    return status;
}

static void good_source_becomes_code_of_the_device(void)
{
    const gyre_dev_source source = {.name = "good.cu", .text = good};
    void *image;
    size_t size;

    if (!here())
        SKIP("there is no NVRTC here");
    REQUIRE(gyre_cuda_nvrtc_compile(90, &source, &image, &size) == GYRE_OK);
    CHECK(size > 4 && memcmp(image, "\177ELF", 4) == 0);
    CHECK(gyre_cuda_image_check(image, size) == GYRE_OK);
    CHECK(gyre_cuda_image_check(image, size / 2) == GYRE_CORRUPT);
    CHECK(gyre_cuda_image_check(image, size - 1) == GYRE_CORRUPT);
    CHECK(gyre_build_log()[0] == '\0');
    gyre_free(NULL, image, size, 1);
}

static void device_that_is_newer_than_the_compiler_gets_ptx(void)
{
    const gyre_dev_source source = {.name = "good.cu", .text = good};
    void *image;
    size_t size;

    if (!here())
        SKIP("there is no NVRTC here");
    REQUIRE(gyre_cuda_nvrtc_compile(999, &source, &image, &size) == GYRE_OK);
    CHECK(((char *)image)[size - 1] == '\0' && strstr(image, ".entry add"));
    CHECK(gyre_cuda_image_check(image, size) == GYRE_OK);
    gyre_free(NULL, image, size, 1);
}

static void device_that_is_older_than_the_compiler_is_unsupported(void)
{
    const gyre_dev_source source = {.name = "good.cu", .text = good};

    if (!here())
        SKIP("there is no NVRTC here");
    CHECK(compile(20, &source) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "sm_20"));
}

static void broken_source_leaves_its_log(void)
{
    const gyre_dev_source source = {.name = "broken.cu",
                                    .text = "extern \"C\" __global__ void f() { nonsense; }"};

    if (!here())
        SKIP("there is no NVRTC here");
    CHECK(compile(90, &source) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "broken.cu") && strstr(gyre_build_log(), "nonsense"));
    CHECK(strstr(gyre_error_last()->text, "broken.cu"));
    /* and the next one starts anew */
    CHECK(compile(90, &(gyre_dev_source){.name = "good.cu", .text = good}) == GYRE_OK);
    CHECK(gyre_build_log()[0] == '\0');
}

static void warnings_are_kept_too(void)
{
    const gyre_dev_source source = {.name = "warned.cu",
                                    .text = "extern \"C\" __global__ void f() { int unused_one; }"};

    if (!here())
        SKIP("there is no NVRTC here");
    CHECK(compile(90, &source) == GYRE_OK);
    CHECK(strstr(gyre_build_log(), "unused_one"));
}

static void defines_options_and_includes_reach_the_compiler(void)
{
    static const char *const defines[] = {"TWICE", "FACTOR=2", NULL};
    static const char *const options[] = {"--use_fast_math", "-lineinfo", NULL};
    static const gyre_include includes[] = {
        {"twice.h", "#include \"one.h\"\n__device__ int twice(int x) { return ONE * FACTOR * x; }"},
        {"one.h", "#define ONE 1"},
        {NULL, NULL},
    };
    gyre_dev_source source = {
        .name = "including.cu",
        .text = "#include \"twice.h\"\n#ifndef TWICE\n#error not defined\n#endif\n"
                "extern \"C\" __global__ void f(int *x) { *x = twice(*x); }",
        .defines = defines,
        .options = options,
        .includes = includes,
    };

    if (!here())
        SKIP("there is no NVRTC here");
    CHECK(compile(90, &source) == GYRE_OK);
    source.includes = &includes[2];
    CHECK(compile(90, &source) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "twice.h"));
}

static void architecture_of_the_callers_own_is_taken(void)
{
    static const char *const options[] = {"-arch=compute_80", NULL};
    const gyre_dev_source source = {.name = "good.cu", .text = good, .options = options};
    void *image;
    size_t size;

    if (!here())
        SKIP("there is no NVRTC here");
    REQUIRE(gyre_cuda_nvrtc_compile(90, &source, &image, &size) == GYRE_OK);
    CHECK(strstr(image, ".target sm_80"));
    gyre_free(NULL, image, size, 1);
}

static void unknown_option_is_a_failed_build(void)
{
    static const char *const options[] = {"--no-such-option", NULL};

    if (!here())
        SKIP("there is no NVRTC here");
    CHECK(compile(90, &(gyre_dev_source){.name = "x", .text = good, .options = options}) ==
          GYRE_BUILD);
}

static void empty_source_compiles_to_nothing_or_fails(void)
{
    gyre_status status;

    if (!here())
        SKIP("there is no NVRTC here");
    status = compile(90, &(gyre_dev_source){.name = "", .text = ""});
    CHECK(status == GYRE_OK || status == GYRE_BUILD);
}

static const test_case cases[] = {
    TEST(good_source_becomes_code_of_the_device),
    TEST(device_that_is_newer_than_the_compiler_gets_ptx),
    TEST(device_that_is_older_than_the_compiler_is_unsupported),
    TEST(broken_source_leaves_its_log),
    TEST(warnings_are_kept_too),
    TEST(defines_options_and_includes_reach_the_compiler),
    TEST(architecture_of_the_callers_own_is_taken),
    TEST(unknown_option_is_a_failed_build),
    TEST(empty_source_compiles_to_nothing_or_fails),
};
TEST_MAIN(cases)
