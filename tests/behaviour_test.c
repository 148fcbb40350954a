/* SPDX-License-Identifier: Apache-2.0
 *
 * What compilers of devices say to behaviours that are not as they should be, each told by its own
 * file and line, and how a behaviour becomes one text. That all of the tree's compile is
 * behaviours_test.c's.
 */
#include <stdlib.h>

#include "behaviour_compile.h"
#include "dev/build_log.h"
#include "gyre/actor.h"
#include "gyre/behaviour_text.h"
#include "gyre/device.h"
#include "gyre/kernel.h"
#include "test.h"
#include "tests/conformance/behaviours/dot_cuda.h"
#include "tests/conformance/behaviours/echo.c" /* NOLINT(bugprone-suspicious-include): its types as well */

static const gyre_behaviour broken = {
    .struct_size = sizeof broken,
    .name = "broken",
    .width = GYRE_WIDTH_BLOCK,
    .state_bytes = 4,
    .file = "some/where/broken.c",
    .text = "#include \"gyre/behaviour.h\"\n"
            "typedef struct none { gyre_abi_u32 x; } none;\n"
            "GYRE_BEHAVIOUR(broken, none, GYRE_WIDTH_BLOCK)\n"
            "{\n"
            "    state->x = 1;\n"
            "    missing_thing = 2;\n"
            "}\n",
};

/* A width that there is not. */
static const gyre_behaviour widthless = {
    .struct_size = sizeof widthless,
    .name = "widthless",
    .width = GYRE_WIDTH_QUAD, /* for who takes it by its word */
    .state_bytes = 4,
    .file = "widthless.c",
    .text = "#include \"gyre/behaviour.h\"\n"
            "typedef struct none { gyre_abi_u32 x; } none;\n"
            "GYRE_BEHAVIOUR(widthless, none, 7)\n"
            "{\n}\n",
};

#define SPEAKS(line)                                                                               \
    {                                                                                              \
        .struct_size = sizeof(gyre_behaviour), .name = "speaks", .width = GYRE_WIDTH_BLOCK,        \
        .state_bytes = 4, .file = "speaks.c",                                                      \
        .text = "#include \"gyre/behaviour.h\"\n"                                                  \
                "typedef struct none { gyre_abi_u32 x; } none;\n"                                  \
                "GYRE_BEHAVIOUR(speaks, none, GYRE_WIDTH_BLOCK)\n"                                 \
                "{\n" line ";\n}\n",                                                               \
    }

/* One that is as long as may be, then one character more, a float for a number, and no literal. */
static const gyre_behaviour speaks =
    SPEAKS("gyre_self_print(self, \"1234567890123456789012345678901\", state->x)");
static const gyre_behaviour stammers[] = {
    SPEAKS("gyre_self_print(self, \"12345678901234567890123456789012\", state->x)"),
    SPEAKS("gyre_self_print(self, \"half\", 0.5f)"),
    SPEAKS("gyre_self_print(self, state, 1)"),
};

/* What does not fit is told by name. */
static const gyre_behaviour too_much =
    SPEAKS("typedef struct wide { gyre_abi_u64 x[6]; } wide; GYRE_ANSWER(wide)->x[0] = 1");
static const char message_limit[] = "gyre_message_carries_40_bytes_at_most";
static const char text_limit[] = "gyre_text_has_31_characters_at_most";

static void a_quote_in_the_path_ends_no_line(void)
{
    gyre_behaviour odd = broken;
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    odd.file = "some/q\"u\\oted/broken.c";
    CHECK(compile_for_cuda(&odd) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "some/q_u_oted/broken.c(6)") != NULL);
    CHECK(compile_whole(&odd) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "some/q_u_oted/broken.c(6)") != NULL);
}

/* With a function that somebody had before, which only CUDA understands. */
static void a_function_of_cuda_compiles_as_a_behaviour(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    CHECK(compile_whole(&dot_cuda) == GYRE_OK);
}

static void cuda_names_the_line_that_is_wrong(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    CHECK(compile_for_cuda(&broken) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "some/where/broken.c(6)") != NULL);
    CHECK(compile_whole(&broken) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "some/where/broken.c(6)") != NULL);
}

static void cuda_refuses_a_width_that_is_not_there(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    CHECK(compile_for_cuda(&widthless) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "widthless.c(3)") != NULL);
}

static void cuda_refuses_what_cannot_be_printed(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    CHECK(compile_for_cuda(&speaks) == GYRE_OK);
    for (size_t i = 0; i < sizeof stammers / sizeof stammers[0]; i++) {
        CHECK(compile_for_cuda(&stammers[i]) == GYRE_BUILD);
        CHECK(i > 0 || strstr(gyre_build_log(), text_limit));
    }
    CHECK(compile_for_cuda(&too_much) == GYRE_BUILD && strstr(gyre_build_log(), message_limit));
}

static void opencl_names_the_line_that_is_wrong(void)
{
    gyre_context *const context = opencl_open();
    gyre_actor *actor;

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    CHECK(gyre_actor_create(context, &broken, NULL, &actor) == GYRE_BUILD && !actor);
    CHECK(strstr(gyre_kernel_build_log(), "broken.c:6") != NULL);
    gyre_context_destroy(context);
}

static void fifteen_headers_are_the_most(void)
{
    gyre_context *const context = opencl_open();
    gyre_include includes[17];
    gyre_behaviour many = echo;
    gyre_actor *actor;
    char names[16][32];

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    for (int i = 0; i < 16; i++) {
        snprintf(names[i], sizeof names[i], "header_%d.h", i);
        includes[i] = (gyre_include){names[i], ""};
    }
    includes[16] = (gyre_include){NULL, NULL};
    many.includes = includes;
    CHECK(gyre_actor_create(context, &many, NULL, &actor) == GYRE_INVALID && !actor);
    CHECK(strstr(gyre_error_last()->text, "more than 15 includes") != NULL);
    many.includes = includes + 1;
    CHECK(gyre_actor_create(context, &many, NULL, &actor) == GYRE_OK);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
}

/* Filled in by hand, where width and state stand twice. */
static void what_is_said_twice_must_be_the_same(void)
{
    gyre_behaviour wider = echo, larger = echo;
    gyre_context *const context = opencl_open();
    gyre_actor *actor;
    char name[64];
    const bool nvrtc = gyre_cuda_nvrtc_name(name, sizeof name) == GYRE_OK;

    if (!nvrtc && !context)
        SKIP("there is neither NVRTC nor a device of OpenCL that can have actors");
    wider.width = echo.width == GYRE_WIDTH_BLOCK ? GYRE_WIDTH_WARP : GYRE_WIDTH_BLOCK;
    larger.state_bytes += 4;
    if (nvrtc) {
        CHECK(compile_for_cuda(&echo) == GYRE_OK);
        CHECK(compile_for_cuda(&wider) == GYRE_BUILD && compile_for_cuda(&larger) == GYRE_BUILD);
        CHECK(strstr(gyre_build_log(), "the_text_has_width_") != NULL);
    }
    if (context) {
        CHECK(gyre_actor_create(context, &wider, NULL, &actor) == GYRE_BUILD && !actor);
        CHECK(gyre_actor_create(context, &larger, NULL, &actor) == GYRE_BUILD && !actor);
        CHECK(strstr(gyre_kernel_build_log(), "the_text_has_width_") != NULL);
    }
    gyre_context_destroy(context);
}

/* One that is on no disk. The same includes are for all compilers. */
static void a_header_of_its_own_comes_with_the_behaviour(void)
{
    static const gyre_include includes[] = {{"nowhere/taps.h", "#define TAPS 7u\n"}, {NULL, NULL}};
    gyre_behaviour filter = {
        .struct_size = sizeof filter,
        .name = "filter",
        .width = GYRE_WIDTH_QUAD,
        .state_bytes = 4,
        .file = "filter.c",
        .text = "#include \"gyre/behaviour.h\"\n"
                "#include \"nowhere/taps.h\"\n"
                "typedef struct taps { gyre_abi_u32 x; } taps;\n"
                "GYRE_BEHAVIOUR(filter, taps, GYRE_WIDTH_QUAD) { GYRE_ANSWER(taps)->x = TAPS; }\n",
    };
    gyre_context *const context = opencl_open();
    gyre_actor *actor;
    char name[64];

    CHECK(gyre_actor_text_misses(&filter, "cannot open \"nowhere/taps.h\"", name, sizeof name) &&
          strcmp(name, "nowhere/taps.h") == 0);
    CHECK(!gyre_actor_text_misses(&filter, "something else", name, sizeof name));
    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    CHECK(gyre_actor_create(context, &filter, NULL, &actor) == GYRE_BUILD && !actor);
    CHECK(strstr(gyre_error_last()->text, "includes 'nowhere/taps.h'") != NULL);
    filter.includes = includes;
    CHECK(gyre_actor_create(context, &filter, NULL, &actor) == GYRE_OK);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
}

static void opencl_refuses_a_width_that_is_not_there(void)
{
    gyre_context *const context = opencl_open();
    gyre_actor *actor;

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    CHECK(gyre_actor_create(context, &widthless, NULL, &actor) == GYRE_BUILD && !actor);
    CHECK(strstr(gyre_kernel_build_log(), "widthless.c:3") != NULL);
    gyre_context_destroy(context);
}

static void opencl_refuses_what_cannot_be_printed(void)
{
    gyre_context *const context = opencl_open();
    gyre_actor *actor;

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    CHECK(gyre_actor_create(context, &speaks, NULL, &actor) == GYRE_OK);
    gyre_actor_destroy(actor);
    for (size_t i = 0; i < sizeof stammers / sizeof stammers[0]; i++) {
        CHECK(gyre_actor_create(context, &stammers[i], NULL, &actor) == GYRE_BUILD && !actor);
        CHECK(i > 0 || strstr(gyre_kernel_build_log(), text_limit));
    }
    CHECK(gyre_actor_create(context, &too_much, NULL, &actor) == GYRE_BUILD && !actor);
    CHECK(strstr(gyre_kernel_build_log(), message_limit));
    gyre_context_destroy(context);
}

/* A device's own code for a device, and nothing for the others. */
static void a_behaviour_without_a_handler_is_not_for_the_cpu(void)
{
    gyre_context *context;
    gyre_actor *actor;

    REQUIRE(gyre_context_create(gyre_device_at(0), NULL, &context) == GYRE_OK);
    CHECK(gyre_actor_create(context, &broken, NULL, &actor) == GYRE_UNSUPPORTED && !actor);
    gyre_context_destroy(context);
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

static void includes_are_put_where_they_are_asked_for(void)
{
    static const char *const defines[] = {"FLAG", "SIZE=7", NULL};
    const gyre_include includes[] = {{"own.h", "int own;\n"}, {NULL, NULL}};
    const gyre_behaviour given = {
        .struct_size = sizeof given,
        .file = "given.c",
        .includes = includes,
        .defines = defines,
        .text = "#include <gyre/behaviour.h>\n"
                "  #  include \"own.h\" /* twice,\n"
                "#include \"own.h\" is not one */ int between;\n"
                "#include \"own.h\"\n"
                "#include \"gyre/behaviour.h\"\n"
                "#include <stdio.h>\n"
                "// no comment: /*\n"
                "#include \"own.h\"",
    };
    char *const text = whole_text(&given, GYRE_BEHAVIOUR_IN_CUDA);

    REQUIRE(text);
    CHECK(strncmp(text, "#define GYRE_BEHAVIOUR_CUDA 1\n#define FLAG 1\n#define SIZE 7\n", 60) ==
          0);
    CHECK(occurrences(text, "\n#line 1 \"own.h\"\nint own;\n#line ") == 3);
    CHECK(strstr(text, "#line 2 \"given.c\"\n /* twice,\n#include \"own.h\" is not one */ int"));
    CHECK(strstr(text, "#line 5 \"given.c\"\n\n#include <stdio.h>\n// no comment: /*\n#line 1"));
    CHECK(strstr(text, "#line 8 \"given.c\"\n"));
    CHECK(occurrences(text, "\n#line 1 \"gyre/behaviour.h\"\n") == 1);
    CHECK(occurrences(text, "\n#line 1 \"gyre/abi.h\"\n") == 1);
    free(text);
}

static void includes_that_go_in_circles_are_refused(void)
{
    const gyre_include includes[] = {
        {"a.h", "#include \"b.h\"\n"}, {"b.h", "#include \"a.h\"\n"}, {NULL, NULL}};
    gyre_behaviour given = {.struct_size = sizeof given,
                            .file = "given.c",
                            .text = "#include \"a.h\"\n",
                            .includes = includes};
    size_t size;

    CHECK(gyre_behaviour_text(&given, GYRE_BEHAVIOUR_IN_CUDA, NULL, 0, &size) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "includes itself"));
    given.text = NULL;
    CHECK(gyre_behaviour_text(&given, GYRE_BEHAVIOUR_IN_CUDA, NULL, 0, &size) == GYRE_INVALID);
}

/* Compiled with a header that had no images. */
static void an_older_behaviour_is_taken(void)
{
    gyre_behaviour older = echo;
    gyre_context *context;
    gyre_actor *actor;

    REQUIRE(gyre_context_create(gyre_device_at(0), NULL, &context) == GYRE_OK);
    older.struct_size = offsetof(gyre_behaviour, image);
    older.image_bytes = 99; /* whatever lies behind it */
    CHECK(gyre_actor_create(context, &older, NULL, &actor) == GYRE_OK && actor);
    gyre_actor_destroy(actor);
    older.struct_size = sizeof older;
    CHECK(gyre_actor_create(context, &older, NULL, &actor) == GYRE_INVALID && !actor);
    older.struct_size = 0;
    CHECK(gyre_actor_create(context, &older, NULL, &actor) == GYRE_INVALID && !actor);
    CHECK(gyre_actor_create(context, NULL, NULL, &actor) == GYRE_INVALID && !actor);
    gyre_context_destroy(context);
}

static const test_case cases[] = {
    TEST(a_function_of_cuda_compiles_as_a_behaviour),
    TEST(cuda_names_the_line_that_is_wrong),
    TEST(a_quote_in_the_path_ends_no_line),
    TEST(cuda_refuses_a_width_that_is_not_there),
    TEST(cuda_refuses_what_cannot_be_printed),
    TEST(opencl_names_the_line_that_is_wrong),
    TEST(fifteen_headers_are_the_most),
    TEST(what_is_said_twice_must_be_the_same),
    TEST(a_header_of_its_own_comes_with_the_behaviour),
    TEST(opencl_refuses_a_width_that_is_not_there),
    TEST(opencl_refuses_what_cannot_be_printed),
    TEST(a_behaviour_without_a_handler_is_not_for_the_cpu),
    TEST(includes_are_put_where_they_are_asked_for),
    TEST(includes_that_go_in_circles_are_refused),
    TEST(an_older_behaviour_is_taken),
};
TEST_MAIN(cases)
