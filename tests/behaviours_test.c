/* SPDX-License-Identifier: Apache-2.0
 *
 * Every behaviour of cmake/behaviours.cmake compiles for CUDA and for OpenCL as it compiled for
 * this test, and does so as one text alone. They are linked with it, each compiled as a file of its
 * own.
 */
#include "behaviours.h"

#include <stdlib.h>

#include "actor/image.h"
#include "behaviour_compile.h"
#include "dev/build_log.h"
#include "gyre/actor.h"
#include "gyre/kernel.h"
#include "test.h"

/* Of all: the compiler is not what sanitizers look at, and takes long. */
static size_t compiled_count(void)
{
    size_t count = 0;

    while (behaviours[count])
        count++;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return count < 2 ? count : 2;
#else
    return count;
#endif
}

static void behaviours_compile_for_cuda(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    for (size_t i = 0; i < compiled_count(); i++) {
        const gyre_status status = compile_for_cuda(behaviours[i]);

        CHECK(status == GYRE_OK);
        if (status != GYRE_OK)
            printf("%s: %s\n", behaviours[i]->name, gyre_build_log());
    }
}

static void one_text_is_enough_for_cuda(void)
{
    char name[64];

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    for (size_t i = 0; i < compiled_count(); i++) {
        const gyre_status status = compile_whole(behaviours[i]);

        CHECK(status == GYRE_OK);
        if (status != GYRE_OK)
            printf("%s: %s\n", behaviours[i]->name, gyre_build_log());
    }
}

static void behaviours_compile_for_opencl(void)
{
    gyre_context *const context = opencl_open();

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    for (size_t i = 0; behaviours[i]; i++) {
        gyre_actor *actor;

        CHECK(gyre_actor_create(context, behaviours[i], NULL, &actor) == GYRE_OK);
        gyre_actor_destroy(actor);
    }
    gyre_context_destroy(context);
}

static void one_text_is_enough_for_opencl(void)
{
    gyre_context *const context = opencl_open();

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    for (size_t i = 0; behaviours[i]; i++) {
        char *const text = whole_text(behaviours[i], GYRE_BEHAVIOUR_IN_OPENCL);
        const gyre_program program = {.struct_size = sizeof program, .opencl = text};
        gyre_kernel *kernel = NULL;

        CHECK(text &&
              gyre_kernel_create(context, &program, GYRE_IMAGE_NAME(GYRE_MAILBOX_KERNEL),
                                 "pointer pointer bytes64 shared", NULL, &kernel) == GYRE_OK);
        gyre_kernel_release(kernel);
        free(text);
    }
    gyre_context_destroy(context);
}

/* For the CPU each has been compiled: that is how it came here. */
static void each_is_whole(void)
{
    CHECK(compiled_count() > 0);
    for (size_t i = 0; behaviours[i]; i++)
        CHECK(behaviours[i]->handler && strstr(behaviours[i]->text, behaviours[i]->name) &&
              strstr(behaviours[i]->text, "GYRE_BEHAVIOUR("));
}

static const test_case cases[] = {
    TEST(each_is_whole),
    TEST(behaviours_compile_for_cuda),
    TEST(one_text_is_enough_for_cuda),
    TEST(behaviours_compile_for_opencl),
    TEST(one_text_is_enough_for_opencl),
};
TEST_MAIN(cases)
