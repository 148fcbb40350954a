/* SPDX-License-Identifier: Apache-2.0
 *
 * Behaviours that come with more than their text, or with a text for one device: images that nvcc
 * made, and functions of CUDA that were there before.
 */
#include "conformance.h"

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/port.h"

#include "behaviours/dot_cuda.h"
#include "behaviours/echo.c"   /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */

/* What nvcc made of echo.c's one text: CMakeLists.txt says where; empty without nvcc. */
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "conformance_image_begin:\n"
#ifdef GYRE_IMAGE_FILE
        ".incbin \"" GYRE_IMAGE_FILE "\"\n"
#endif
        "conformance_image_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const char conformance_image_begin[], conformance_image_end[];

static uint64_t soon(void)
{
    return gyre_clock_after_ns(20000 * MS);
}

static size_t image_bytes(void)
{
    return (size_t)(conformance_image_end - conformance_image_begin);
}

static bool is_cuda(void)
{
    return strcmp(on.device->backend, "cuda") == 0;
}

#define NEED_IMAGE()                                                                               \
    do {                                                                                           \
        if (!is_cuda())                                                                            \
            SKIP("images are for CUDA");                                                           \
        if (image_bytes() == 0)                                                                    \
            SKIP("this was built without nvcc");                                                   \
    } while (0)

/* The behaviour with an image and nothing else. */
static gyre_behaviour with_image(const gyre_behaviour *behaviour, const void *image, size_t size)
{
    gyre_behaviour changed = *behaviour;

    changed.text = changed.file = NULL;
    changed.handler = NULL;
    changed.image = image;
    changed.image_bytes = size;
    return changed;
}

static gyre_status create(const gyre_behaviour *behaviour)
{
    gyre_actor *actor;
    const gyre_status status = gyre_actor_create(on.context, behaviour, NULL, &actor);

    gyre_actor_destroy(actor);
    return status;
}

/* Launches it and calls it a hundred times; `right` judges. */
static bool answers(const gyre_behaviour *behaviour, const gyre_brief *message,
                    bool (*right)(const gyre_brief *message, const gyre_brief *answer))
{
    gyre_actor *actor = NULL;
    gyre_port *port = NULL;
    bool good = ok(gyre_actor_create(on.context, behaviour, NULL, &actor)) &&
                ok(gyre_actor_launch(actor, NULL)) && ok(gyre_port_open(actor, NULL, &port));

    for (int i = 0; i < 100 && good; i++) {
        gyre_brief answer;

        good = ok(gyre_port_call(port, message, &answer, soon())) && right(message, &answer);
    }
    if (actor)
        good = good && ok(gyre_actor_terminate(actor, soon()));
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    return good;
}

static bool is_echo(const gyre_brief *message, const gyre_brief *answer)
{
    return answer->body.words[0] == message->body.words[0] + 1 &&
           answer->body.words[9] == message->body.words[9];
}

static const gyre_brief numbers = {.type = 1, .body.words = {41, 2, 3, 4, 5, 6, 7, 8, 9, 10}};

static void an_image_needs_no_text(void)
{
    const gyre_behaviour imaged = with_image(&echo, conformance_image_begin, image_bytes());

    NEED_IMAGE();
    CHECK(answers(&imaged, &numbers, is_echo));
}

static void an_image_of_another_behaviour_is_refused(void)
{
    const gyre_behaviour imaged = with_image(&ledger, conformance_image_begin, image_bytes());

    NEED_IMAGE();
    CHECK(create(&imaged) == GYRE_INVALID);
    CHECK(strstr(gyre_error_last()->text, "'ledger': its image is of one with width 4"));
}

static void an_image_without_the_kernel_is_refused(void)
{
    static const char ptx[] = ".version 6.4\n.target sm_60\n.address_size 64\n"
                              ".visible .entry gyre_actor_v0()\n{\n    ret;\n}\n";
    const gyre_behaviour imaged = with_image(&echo, ptx, sizeof ptx);

    if (!is_cuda())
        SKIP("images are for CUDA");
    CHECK(create(&imaged) == GYRE_NOT_FOUND);
    CHECK(strstr(gyre_error_last()->text, "made by another version of Gyre"));
}

static void what_is_no_image_is_refused(void)
{
    const gyre_behaviour nonsense = with_image(&echo, "not an image", 12);
    const gyre_behaviour cut = with_image(&echo, "\177ELF", 4);

    if (!is_cuda())
        SKIP("images are for CUDA");
    CHECK(create(&cut) == GYRE_CORRUPT);
    CHECK(create(&nonsense) != GYRE_OK);
}

static void other_devices_have_no_use_for_an_image(void)
{
    gyre_behaviour both = echo;
    const gyre_behaviour imaged = with_image(&echo, "not an image", 12);

    if (is_cuda())
        SKIP("images are for CUDA");
    both.image = "not an image";
    both.image_bytes = 12;
    CHECK(create(&imaged) == GYRE_UNSUPPORTED);
    if (create(&echo) == GYRE_UNSUPPORTED)
        SKIP("this device has no actors");
    CHECK(answers(&both, &numbers, is_echo));
}

enum { COUNT_OF_PAIRS = 1000 };

static bool is_dot(const gyre_brief *message, const gyre_brief *answer)
{
    (void)message;
    /* whole numbers, and none too large for a float: 2 * (0 + 1 + ... + 999) */
    return answer->body.floats[0] == 999000.0f;
}

static void a_function_of_cuda_becomes_an_actor(void)
{
    const size_t size = 2 * sizeof(float) * COUNT_OF_PAIRS;
    gyre_brief message = {.type = 1, .flags = GYRE_BRIEF_REFERS};
    float *vectors;

    if (!is_cuda()) {
        CHECK(create(&dot_cuda) != GYRE_OK);
        SKIP("its text is in CUDA C");
    }
    vectors = take(GYRE_CONTEXT_PINNED, size);
    REQUIRE(vectors);
    for (int i = 0; i < COUNT_OF_PAIRS; i++) {
        vectors[i] = (float)i;
        vectors[COUNT_OF_PAIRS + i] = 2;
    }
    message.body.reference.address = vectors;
    message.body.reference.size = size;
    CHECK(answers(&dot_cuda, &message, is_dot));
    give(GYRE_CONTEXT_PINNED, vectors, size);
}

static const test_case cases[] = {
    TEST(an_image_needs_no_text),
    TEST(an_image_of_another_behaviour_is_refused),
    TEST(an_image_without_the_kernel_is_refused),
    TEST(what_is_no_image_is_refused),
    TEST(other_devices_have_no_use_for_an_image),
    TEST(a_function_of_cuda_becomes_an_actor),
};
CONFORMANCE_MAIN(cases)
