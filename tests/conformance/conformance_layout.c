/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts: what a device's compiler makes of the structs that actors share with their host. A
 * kernel writes every offset and size down, and they are the host's.
 */
#include "conformance.h"

#include "actor/text.h"
#include "layouts.h"

/* The text of layouts.h, for devices. */
__asm__(".pushsection .rodata\n"
        ".hidden layouts_text\n"
        ".globl layouts_text\n"
        "layouts_text:\n"
        ".incbin \"tests/conformance/layouts.h\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char layouts_text[] __attribute__((visibility("hidden")));

typedef struct row {
    const char *name;
    uint64_t value;
} row;

#define SIZE(type_) {"sizeof " #type_, sizeof(type_)},
#define AT(type_, member_) {#type_ "." #member_, offsetof(type_, member_)},
static const row rows[] = {LAYOUTS_ROWS};
#undef SIZE
#undef AT

_Static_assert(COUNT(rows) < LAYOUTS_ROOM, "the kernel has room for all");

enum { AT_BYTES = 4096, INCLUDES = 32 };

typedef struct layouts_parameters {
    uint64_t *out;
    uint8_t *at;
} layouts_parameters;

/* Those that actors are compiled with. */
static bool gather(gyre_include into[INCLUDES])
{
    size_t count = 0;

    for (const gyre_include *i = gyre_actor_texts; i->name && count < INCLUDES - 1; i++)
        into[count++] = *i;
    into[count] = (gyre_include){NULL, NULL};
    return count > 0 && count < INCLUDES - 1;
}

static bool run(gyre_kernel *kernel, uint64_t told[LAYOUTS_ROOM])
{
    const size_t bytes = LAYOUTS_ROOM * sizeof *told;
    gyre_stream *const stream = stream_new();
    const layouts_parameters p = {take(GYRE_CONTEXT_DEVICE, bytes),
                                  take(GYRE_CONTEXT_DEVICE, AT_BYTES)};
    const gyre_launch launch = launch_of(1, 1, &p, sizeof p);
    const bool good = stream && p.out && p.at && put(stream, p.out, told, bytes) &&
                      ok(gyre_stream_launch(stream, kernel, &launch)) &&
                      put(stream, told, p.out, bytes);

    give(GYRE_CONTEXT_DEVICE, p.out, bytes);
    give(GYRE_CONTEXT_DEVICE, p.at, AT_BYTES);
    gyre_stream_destroy(stream);
    return good;
}

/* What the device tells, its compiler with these defines; false: it cannot, or it failed. */
static bool ask(const char *const *defines, uint64_t told[LAYOUTS_ROOM])
{
    gyre_include includes[INCLUDES];
    const gyre_program program = {.struct_size = sizeof program,
                                  .name = "tests/conformance/layouts.h",
                                  .cuda = layouts_text,
                                  .opencl = layouts_text,
                                  .defines = defines,
                                  .includes = includes};
    gyre_kernel *kernel = NULL;
    bool good;

    good = gather(includes) && ok(gyre_kernel_create(on.context, &program, "layouts",
                                                     "pointer pointer", NULL, &kernel));
    if (!good)
        fprintf(stderr, "%s\n", gyre_kernel_build_log());
    good = good && run(kernel, told);
    gyre_kernel_release(kernel);
    return good;
}

/* How many rows differ, and which was the last. */
static size_t differing(const uint64_t told[LAYOUTS_ROOM], const char **out_last)
{
    size_t count = 0;

    *out_last = "";
    for (size_t i = 0; i < COUNT(rows); i++)
        if (told[1 + i] != rows[i].value) {
            *out_last = rows[i].name;
            count++;
        }
    return count;
}

static bool compiles(void)
{
    if (!gyre_device_has(on.device, GYRE_FEATURE_SOURCE))
        test_skip_reason = "this device runs the host's own code";
    else if (on.device->kind == GYRE_DEVICE_NULL)
        test_skip_reason = "what the null device compiles is no C";
    return !test_skip_reason;
}

static void every_offset_is_the_hosts(void)
{
    uint64_t told[LAYOUTS_ROOM] = {0};
    const char *last;

    if (!compiles())
        return;
    REQUIRE(ask(NULL, told));
    CHECK(told[0] == COUNT(rows));
    CHECK(differing(told, &last) == 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (told[1 + i] != rows[i].value)
            fprintf(stderr, "%s: %llu on %s, %llu here\n", rows[i].name,
                    (unsigned long long)told[1 + i], on.device->name,
                    (unsigned long long)rows[i].value);
}

/* A struct that is the device's own on purpose. */
static void another_layout_would_be_seen(void)
{
    static const char *const planted[] = {"LAYOUTS_PLANTED", NULL};
    uint64_t told[LAYOUTS_ROOM] = {0};
    const char *last;

    if (!compiles())
        return;
    REQUIRE(ask(planted, told));
    CHECK(differing(told, &last) == 2);
    CHECK(strcmp(last, "layouts_planted.second") == 0);
}

static const test_case cases[] = {
    TEST(every_offset_is_the_hosts),
    TEST(another_layout_would_be_seen),
};
CONFORMANCE_MAIN(cases)
