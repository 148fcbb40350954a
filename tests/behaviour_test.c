/* SPDX-License-Identifier: Apache-2.0
 *
 * Every behaviour of the tree, but for the examples', compiles for CUDA and for OpenCL as it
 * compiled for this test; and what is wrong with one is told by its own file and line.
 */
#include "actor/text.h"
#include "backends/cuda/cuda.h"
#include "base/alloc.h"
#include "dev/build_log.h"
#include "gyre/actor.h"
#include "gyre/device.h"
#include "gyre/kernel.h"
#include "lab/suites/behaviours/echo_block.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "lab/suites/behaviours/echo_quad.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "lab/suites/behaviours/sum_payload.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "lab/suites/behaviours/tally_block.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "lab/suites/behaviours/tally_quad.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "test.h"
#include "tests/conformance/behaviours/blend.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "tests/conformance/behaviours/echo.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "tests/conformance/behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */

static const gyre_behaviour *const all[] = {&echo_block, &echo_quad, &sum_payload, &tally_block,
                                            &tally_quad, &blend,     &echo,        &ledger};

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

static gyre_status compile_for_cuda(const gyre_behaviour *behaviour)
{
    static const char *const options[] = {"-fmad=false", NULL};
    gyre_dev_source source = {
        .name = behaviour->file, .options = options, .includes = gyre_actor_texts};
    gyre_status status;
    void *image = NULL;
    size_t size, room;
    char *text;

    status = gyre_actor_text(behaviour, true, &text, &room);
    if (status != GYRE_OK)
        return status;
    source.text = text;
    status = gyre_cuda_nvrtc_compile(90, &source, &image, &size);
    gyre_free(NULL, text, room, 1);
    if (status == GYRE_OK)
        gyre_free(NULL, image, size, 1);
    return status;
}

static void behaviours_compile_for_cuda(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const gyre_status status = compile_for_cuda(all[i]);

        CHECK(status == GYRE_OK);
        if (status != GYRE_OK)
            printf("%s: %s\n", all[i]->name, gyre_build_log());
    }
}

static void cuda_names_the_line_that_is_wrong(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    CHECK(compile_for_cuda(&broken) == GYRE_BUILD);
    CHECK(strstr(gyre_build_log(), "some/where/broken.c(6)") != NULL);
}

/* The first device that compiles behaviours by OpenCL. */
static gyre_context *opencl_open(void)
{
    const gyre_device *const device = gyre_device_find("opencl");
    gyre_context *context = NULL;

    if (!device || device->trouble[0] || !gyre_device_has(device, GYRE_FEATURE_MAPPED))
        return NULL;
    return gyre_context_create(device, NULL, &context) == GYRE_OK ? context : NULL;
}

static void behaviours_compile_for_opencl(void)
{
    gyre_context *const context = opencl_open();

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gyre_actor *actor;

        CHECK(gyre_actor_create(context, all[i], NULL, &actor) == GYRE_OK);
        gyre_actor_destroy(actor);
    }
    gyre_context_destroy(context);
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

/* A device's own code for a device, and nothing for the others. */
static void a_behaviour_without_a_handler_is_not_for_the_cpu(void)
{
    gyre_context *context;
    gyre_actor *actor;

    REQUIRE(gyre_context_create(gyre_device_at(0), NULL, &context) == GYRE_OK);
    CHECK(gyre_actor_create(context, &broken, NULL, &actor) == GYRE_UNSUPPORTED && !actor);
    gyre_context_destroy(context);
}

static const test_case cases[] = {
    TEST(behaviours_compile_for_cuda),
    TEST(cuda_names_the_line_that_is_wrong),
    TEST(behaviours_compile_for_opencl),
    TEST(opencl_names_the_line_that_is_wrong),
    TEST(a_behaviour_without_a_handler_is_not_for_the_cpu),
};
TEST_MAIN(cases)
