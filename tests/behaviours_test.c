/* SPDX-License-Identifier: Apache-2.0
 *
 * Every behaviour of cmake/behaviours.cmake compiles for CUDA and for OpenCL as it compiled for
 * this test, and does so as one text alone. They are linked with it, each compiled as a file of its
 * own. And what the compilers made of one file answers the same.
 *
 *   behaviours_GROUP_test [CASE]
 *   behaviours_GROUP_as_cpp transcripts    the same, with what the C++ compiler made of them
 */
#include "behaviours.h"

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor/image.h"
#include "behaviour_compile.h"
#include "behaviour_transcript.h"
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
                                 "pointer pointer bytes72 shared", NULL, &kernel) == GYRE_OK);
        gyre_kernel_release(kernel);
        free(text);
    }
    gyre_context_destroy(context);
}

/* For the CPU each has been compiled: that is how it came here. */
static void each_is_whole(void)
{
    CHECK(compiled_count() > 0);
    for (size_t i = 0; behaviours[i]; i++) {
        CHECK(transcript_knows(behaviours[i]));
        CHECK(behaviours[i]->handler && strstr(behaviours[i]->text, behaviours[i]->name) &&
              strstr(behaviours[i]->text, "GYRE_BEHAVIOUR("));
    }
}

/* The handlers of this program, each in an actor. */
static bool write_handlers(FILE *to)
{
    const gyre_device *const device = gyre_device_find("cpu");
    gyre_context *context = NULL;
    bool good;

    if (!device || gyre_context_create(device, NULL, &context) != GYRE_OK)
        return false;
    good = transcripts_write(context, to) > 0;
    gyre_context_destroy(context);
    return good;
}

/* Says where they part. */
static bool are_the_same(FILE *one, FILE *other)
{
    static char a[80000], b[80000]; /* a state in hexadecimal, and some more */
    size_t lines = 0;

    rewind(one);
    rewind(other);
    for (;; lines++) {
        const bool more = fgets(a, sizeof a, one), others = fgets(b, sizeof b, other);

        if (!more && !others)
            return lines > 0;
        if (more != others || strcmp(a, b) != 0) {
            printf("      %.300s\n      %.300s\n", more ? a : "the end", others ? b : "the end");
            return false;
        }
    }
}

/* What the handlers of this program say, and `its`: as it was written. */
static void compare(FILE *its, bool written)
{
    FILE *const mine = tmpfile();

    CHECK(written && mine && write_handlers(mine) && are_the_same(mine, its));
    if (mine)
        fclose(mine);
}

/* Against the context's device, with which it is done then. */
static void compare_with(gyre_context *context)
{
    FILE *const its = tmpfile();

    CHECK(its);
    if (its) {
        compare(its, transcripts_write(context, its) > 0);
        fclose(its);
    }
    gyre_context_destroy(context);
}

#ifdef GYRE_BEHAVIOURS_CPP

extern char **environ;

static bool run_cpp(FILE *to)
{
    static char program[] = GYRE_BEHAVIOURS_CPP, what[] = "transcripts";
    char *const arguments[] = {program, what, NULL};
    posix_spawn_file_actions_t actions;
    int status = -1;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(to), STDOUT_FILENO);
    if (posix_spawn(&pid, program, &actions, NULL, arguments, environ) == 0)
        (void)waitpid(pid, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

static void cpp_answers_as_c_does(void)
{
    FILE *const its = tmpfile();

    REQUIRE(its);
    compare(its, run_cpp(its));
    fclose(its);
}

#else

static void cpp_answers_as_c_does(void)
{
    SKIP("there is no C++ compiler");
}

#endif

static void opencl_answers_as_c_does(void)
{
    gyre_context *const context = opencl_open();

    if (!context)
        SKIP("there is no device of OpenCL that can have actors");
    compare_with(context);
}

static void cuda_answers_as_c_does(void)
{
    const gyre_device *const device = gyre_device_find("cuda");
    gyre_context *context = NULL;

    if (!device || device->trouble[0] || gyre_context_create(device, NULL, &context) != GYRE_OK)
        SKIP("there is no device of CUDA");
    compare_with(context);
}

static const test_case cases[] = {
    TEST(each_is_whole),
    TEST(behaviours_compile_for_cuda),
    TEST(one_text_is_enough_for_cuda),
    TEST(behaviours_compile_for_opencl),
    TEST(one_text_is_enough_for_opencl),
    TEST(cpp_answers_as_c_does),
    TEST(opencl_answers_as_c_does),
    TEST(cuda_answers_as_c_does),
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "transcripts") == 0)
        return write_handlers(stdout) ? 0 : 1;
    return test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);
}
