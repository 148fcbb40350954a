/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading: which code a device gets, what is compiled and what comes from the disk.
 */
#include "dev/load.h"

#include "dev/backend_fake.h"
#include "dev/cache_fake.h"

static gyre_dev *const dev = (gyre_dev *)(void *)&fake; /* never looked into */
static gyre_loaded loaded;

static void compute(const gyre_block *block, const void *parameters)
{
    (void)block, (void)parameters;
}

static const gyre_entry functions[] = {{"saxpy", compute}, {NULL, NULL}};
static const char *const defines[] = {"N=4", NULL};
static const char *const options[] = {"-cuda", NULL};
static const char *const cl_options[] = {"-opencl", NULL};

/* Nothing was asked of the fake yet. */
static void forget(void)
{
    memset(&fake, 0, sizeof fake);
    fake.compiler = "fakecc 1.0";
    gyre_build_log_set(NULL, 0);
}

static gyre_program whole(void)
{
    return (gyre_program){
        .struct_size = sizeof(gyre_program),
        .name = "saxpy",
        .functions = functions,
        .cuda_image = "cubin",
        .cuda_image_bytes = 5,
        .cuda = "cuda source",
        .opencl = "opencl source",
        .defines = defines,
        .options = options,
        .cl_options = cl_options,
    };
}

static gyre_status load_on(const char *device, const gyre_program *program, bool no_cache)
{
    memset(&loaded, 0x55, sizeof loaded);
    return gyre_load(gyre_device_find(device), dev, program, NULL, no_cache, &loaded);
}

/* A device of OpenCL, though the fake driver has none. */
static gyre_status load_on_opencl(const gyre_program *program)
{
    const gyre_device device = {.name = "opencl:0",
                                .backend = "opencl",
                                .architecture = "gen_2",
                                .features = GYRE_FEATURE_SOURCE};

    return gyre_load(&device, dev, program, NULL, true, &loaded);
}

static void set_up(void)
{
    REQUIRE(fake_cache("1"));
    REQUIRE(gyre_device_count() > 0);
}

static void functions_come_first_where_they_run(void)
{
    const gyre_program program = whole();

    forget();
    REQUIRE(load_on("cpu", &program, false) == GYRE_OK);
    CHECK(fake.code.functions == functions && !fake.code.image && fake.compiles == 0);
    CHECK(loaded.module && !loaded.from_cache && loaded.build_ns == 0 && loaded.image_bytes == 0);
    REQUIRE(load_on("null", &program, false) == GYRE_OK);
    CHECK(fake.code.functions == functions && fake.compiles == 0);
}

static void cuda_takes_the_image_and_else_the_source(void)
{
    gyre_program program = whole();

    forget();
    REQUIRE(load_on("cuda", &program, false) == GYRE_OK);
    CHECK(fake.code.image == program.cuda_image && !fake.code.functions && fake.compiles == 0);
    CHECK(loaded.image_bytes == 5 && !loaded.from_cache);
    program.cuda_image = NULL;
    program.cuda_image_bytes = 0;
    REQUIRE(load_on("cuda", &program, true) == GYRE_OK);
    CHECK(fake.compiles == 1 && strcmp(fake.source.text, "cuda source") == 0);
    CHECK(fake.source.options == options && fake.source.defines == defines);
    CHECK(strcmp(fake.image, "image of cuda source") == 0 && loaded.image_bytes == 21);
    CHECK(loaded.build_ns > 0);
}

static void opencl_and_null_take_opencls_source(void)
{
    gyre_program program = whole();

    forget();
    REQUIRE(load_on_opencl(&program) == GYRE_OK);
    CHECK(strcmp(fake.source.text, "opencl source") == 0 && fake.source.options == cl_options);
    program.functions = NULL;
    forget();
    REQUIRE(load_on("null", &program, true) == GYRE_OK);
    CHECK(fake.compiles == 1 && strcmp(fake.source.text, "opencl source") == 0);
}

static void missing_code_is_named(void)
{
    const gyre_program nothing = {.struct_size = sizeof nothing};
    gyre_program program = {.struct_size = sizeof program, .name = "saxpy"};

    CHECK(load_on("cpu", &program, false) == GYRE_UNSUPPORTED && !loaded.module);
    CHECK(strcmp(gyre_error_last()->text,
                 "program 'saxpy' has no code for cpu:0, which takes C functions") == 0);
    CHECK(load_on("cuda", &program, false) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "for cuda:0, which takes a CUDA image or CUDA C"));
    CHECK(load_on_opencl(&program) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "for opencl:0, which takes OpenCL C"));
    program.cuda = "cuda source";
    CHECK(load_on("null", &program, false) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "for null:0, which takes C functions or OpenCL C"));
    CHECK(load_on("cpu", &nothing, false) == GYRE_UNSUPPORTED);
}

static void malformed_program_is_invalid(void)
{
    static const gyre_entry no_function[] = {{"saxpy", NULL}, {NULL, NULL}};
    static const gyre_include no_text[] = {{"a.h", NULL}, {NULL, NULL}};
    gyre_program program = whole();

    forget();
    CHECK(load_on("cpu", NULL, false) == GYRE_INVALID);
    program.struct_size = 0;
    CHECK(load_on("cpu", &program, false) == GYRE_INVALID);
    program = whole();
    program.cuda_image_bytes = 0;
    CHECK(load_on("cpu", &program, false) == GYRE_INVALID);
    program = whole();
    program.cuda_image = NULL;
    CHECK(load_on("cuda", &program, false) == GYRE_INVALID);
    program = whole();
    program.functions = no_function;
    CHECK(load_on("cpu", &program, false) == GYRE_INVALID);
    program = whole();
    program.includes = no_text;
    CHECK(load_on("cuda", &program, false) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "'a.h'") && !loaded.module && fake.opens == 0);
}

static void older_program_lacks_what_it_does_not_know(void)
{
    gyre_program program = whole();

    forget();
    program.struct_size = offsetof(gyre_program, cuda_image);
    CHECK(load_on("cpu", &program, false) == GYRE_OK);
    CHECK(load_on("cuda", &program, false) == GYRE_UNSUPPORTED);
}

static gyre_program source_only(void)
{
    return (gyre_program){.struct_size = sizeof(gyre_program), .name = "p", .cuda = "cuda source"};
}

static void second_load_comes_from_the_disk(void)
{
    const gyre_program program = source_only();
    const gyre_cache_statistics before = fake_counts();

    forget();
    REQUIRE(load_on("cuda", &program, false) == GYRE_OK);
    CHECK(fake.compiles == 1 && !loaded.from_cache);
    forget();
    REQUIRE(load_on("cuda", &program, false) == GYRE_OK);
    CHECK(fake.compiles == 0 && loaded.from_cache && loaded.build_ns == 0);
    CHECK(strcmp(fake.image, "image of cuda source") == 0 && loaded.image_bytes == 21);
    CHECK(fake_counts().hits == before.hits + 1 && fake_counts().misses == before.misses + 1);
    forget();
    REQUIRE(load_on("cuda", &program, true) == GYRE_OK);
    CHECK(fake.compiles == 1 && !loaded.from_cache && fake_counts().hits == before.hits + 1);
}

/* Each of these differs from the others in one thing, and is compiled once. */
static void everything_that_decides_is_in_the_key(void)
{
    static const char *const one[] = {"A", NULL}, *const two[] = {"A", "B", NULL};
    static const gyre_include include[] = {{"a.h", "1"}, {NULL, NULL}};
    static const gyre_include name[] = {{"b.h", "1"}, {NULL, NULL}};
    static const gyre_include text[] = {{"a.h", "2"}, {NULL, NULL}};
    gyre_program programs[10];

    for (size_t i = 0; i < 10; i++)
        programs[i] = source_only();
    programs[0].name = "q";
    programs[1].cuda = "cuda source of another";
    programs[2].defines = one;
    programs[3].defines = two;
    programs[4].options = one;
    programs[5].options = two;
    programs[6].includes = include;
    programs[7].includes = name;
    programs[8].includes = text;
    programs[9].defines = one;
    programs[9].options = one;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 10; i++) {
            forget();
            REQUIRE(load_on("cuda", &programs[i], false) == GYRE_OK);
            CHECK(loaded.from_cache == (round == 1));
        }
    }
    forget();
    REQUIRE(load_on("cuda:1", &programs[0], false) == GYRE_OK); /* of another title */
    CHECK(!loaded.from_cache);
    forget();
    fake.compiler = "fakecc 2.0";
    REQUIRE(load_on("cuda", &programs[0], false) == GYRE_OK);
    CHECK(!loaded.from_cache);
}

static void image_that_the_driver_refuses_is_compiled_again(void)
{
    const gyre_program program = source_only();
    const gyre_cache_statistics before = fake_counts();

    forget();
    REQUIRE(load_on("cuda", &program, false) == GYRE_OK && loaded.from_cache);
    forget();
    fake.open_cached = GYRE_CORRUPT;
    REQUIRE(load_on("cuda", &program, false) == GYRE_OK);
    CHECK(fake.opens == 2 && fake.compiles == 1 && !loaded.from_cache && loaded.build_ns > 0);
    CHECK(fake_counts().unsound == before.unsound + 1 && fake_counts().hits == before.hits + 1);
    forget();
    REQUIRE(load_on("cuda", &program, false) == GYRE_OK && loaded.from_cache);
}

static void lost_device_is_no_fault_of_the_image(void)
{
    const gyre_program program = source_only();

    forget();
    fake.open_cached = GYRE_DEVICE_LOST;
    CHECK(load_on("cuda", &program, false) == GYRE_DEVICE_LOST);
    CHECK(fake.compiles == 0 && !loaded.module);
    forget();
    CHECK(load_on("cuda", &program, false) == GYRE_OK && loaded.from_cache);
}

static void build_failure_has_its_log_and_keeps_nothing(void)
{
    gyre_program program = source_only();
    const gyre_cache_statistics before = fake_counts();

    program.name = "broken";
    forget();
    fake.compile = GYRE_BUILD;
    CHECK(load_on("cuda", &program, false) == GYRE_BUILD && !loaded.module);
    CHECK(strcmp(gyre_build_log(), "line 1: wrong") == 0 && fake.opens == 0);
    CHECK(fake_counts().stores == before.stores);
    fake.compile = GYRE_OK;
    fake.open = GYRE_CORRUPT;
    CHECK(load_on("cuda", &program, false) == GYRE_CORRUPT && !loaded.module);
    CHECK(strcmp(gyre_build_log(), "") == 0 && fake_counts().stores == before.stores);
}

static void without_a_compiler_source_is_unavailable(void)
{
    gyre_program program = whole();

    forget();
    fake.compiler = NULL;
    CHECK(load_on("cuda", &program, false) == GYRE_OK);
    program = source_only();
    CHECK(load_on("cuda", &program, false) == GYRE_UNAVAILABLE && fake.compiles == 0);
}

static void remove_the_folder(void)
{
    fake_remove(fake_root);
    CHECK(access(fake_root, F_OK) != 0);
}

static const test_case cases[] = {
    TEST(set_up),
    TEST(functions_come_first_where_they_run),
    TEST(cuda_takes_the_image_and_else_the_source),
    TEST(opencl_and_null_take_opencls_source),
    TEST(missing_code_is_named),
    TEST(malformed_program_is_invalid),
    TEST(older_program_lacks_what_it_does_not_know),
    TEST(second_load_comes_from_the_disk),
    TEST(everything_that_decides_is_in_the_key),
    TEST(image_that_the_driver_refuses_is_compiled_again),
    TEST(lost_device_is_no_fault_of_the_image),
    TEST(build_failure_has_its_log_and_keeps_nothing),
    TEST(without_a_compiler_source_is_unavailable),
    TEST(remove_the_folder),
};
TEST_MAIN(cases)
