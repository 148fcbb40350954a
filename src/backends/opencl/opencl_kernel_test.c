/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend's compiler, images and kernels, through its table.
 */
#include "backends/opencl/opencl_fake.h"
#include "backends/opencl/opencl_image.h"
#include "gyre/thread.h"

enum { COUNT = 256, BLOCK = 64 };

static const char scale_text[] =
    "__kernel void scale(__global const int *from, __global int *to, int by, ulong plus)\n"
    "{ size_t i = get_global_id(0); to[i] = from[i] * by + (int)plus; }\n";

typedef struct scale_parameters {
    const int *from;
    int *to;
    int by;
    uint64_t plus;
} scale_parameters;

static const gyre_dev_argument scale_arguments[] = {
    {offsetof(scale_parameters, from), 8, true},
    {offsetof(scale_parameters, to), 8, true},
    {offsetof(scale_parameters, by), 4, false},
    {offsetof(scale_parameters, plus), 8, false},
};

static void kernel_gets_addresses_and_values(void)
{
    static int from[COUNT], to[COUNT];
    scale_parameters p = {.by = 3, .plus = 1000};
    gyre_dev_module *module;
    gyre_dev_kernel *kernel;
    gyre_dev_stream *stream;
    gyre_dev *dev;
    int *block;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    module = build_text(dev, scale_text);
    REQUIRE(module);
    kernel = open_kernel(module, "scale", scale_arguments, 4);
    stream = open_stream(dev);
    block = take(dev, 2 * sizeof from);
    REQUIRE(kernel && stream && block);
    for (int i = 0; i < COUNT; i++)
        from[i] = i;
    p.from = block;
    p.to = block + COUNT; /* any offset of a block is an address */
    CHECK(copy(stream, block, from, sizeof from) == GYRE_OK);
    CHECK(launch(stream, kernel, COUNT / BLOCK, BLOCK, &p) == GYRE_OK);
    p = (scale_parameters){NULL, NULL, 0, 0}; /* they were copied */
    CHECK(copy(stream, to, block + COUNT, sizeof to) == GYRE_OK);
    CHECK(drain(stream) == GYRE_OK);
    for (int i = 0; i < COUNT; i++)
        CHECK(to[i] == 3 * i + 1000);
    cl->stream_close(stream);
    cl->module_close(module);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, block, 2 * sizeof from);
    cl->close(dev);
}

static void defines_and_includes_reach_the_source(void)
{
    static const char *const defines[] = {"YES", "SUM(a, b)=((a) + (b))", "WORDS=\"two words\"",
                                          NULL};
    static const char *const words[] = {"-cl-mad-enable", NULL};
    static const gyre_include includes[] = {
        {"outer.h", "#include \"deep/inner.h\"\n#if YES\n#define OUTER INNER\n#endif\n"},
        {"deep/inner.h", "#define INNER 40\n"},
        {NULL, NULL}};
    const gyre_dev_source source = {
        "with_includes.cl",
        "#include \"outer.h\"\n"
        "__constant char words[] = WORDS;\n"
        "__kernel void answer(__global int *to) { to[0] = SUM(OUTER, 2); to[1] = sizeof words; }\n",
        defines, words, includes};
    static const gyre_dev_argument arguments[] = {{0, 8, true}};
    gyre_dev_module *module;
    gyre_dev_stream *stream;
    gyre_dev *dev;
    int to[2] = {0, 0};
    int *block;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    REQUIRE(build(dev, &source, &module) == GYRE_OK);
    stream = open_stream(dev);
    block = take(dev, sizeof to);
    CHECK(launch(stream, open_kernel(module, "answer", arguments, 1), 1, 1, &block) == GYRE_OK);
    CHECK(copy(stream, to, block, sizeof to) == GYRE_OK);
    CHECK(drain(stream) == GYRE_OK && to[0] == 42 && to[1] == 10);
    cl->stream_close(stream);
    cl->module_close(module);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, block, sizeof to);
    cl->close(dev);
}

static void wrong_source_leaves_a_log_with_name_and_line(void)
{
    static const char *const defines[] = {"A=1", "B=2", NULL};
    static const char *const nonsense[] = {"-no-such-option", NULL};
    static const gyre_include includes[] = {{"some.h", "#define SOME 1\n"}, {NULL, NULL}};
    gyre_dev_source source = {"broken.cl",
                              "\n__kernel void broken(__global int *to)\n{ to[0] = missing; }\n",
                              defines, NULL, NULL};
    gyre_dev *dev;
    void *image = &dev;
    size_t size = 1;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    CHECK(cl->compile(dev, &source, &image, &size) == GYRE_BUILD && !image && size == 0);
    CHECK(strstr(gyre_build_log(), "missing") && strstr(gyre_build_log(), "broken.cl:3"));
    source.includes = includes; /* by the other way */
    CHECK(cl->compile(dev, &source, &image, &size) == GYRE_BUILD && !image && size == 0);
    CHECK(strstr(gyre_build_log(), "broken.cl:3"));
    source.text = scale_text;
    CHECK(cl->compile(dev, &source, &image, &size) == GYRE_OK && !gyre_build_log()[0]);
    gyre_free(NULL, image, size, 1);
    source.text = "#warning \"look here\"\n";
    CHECK(cl->compile(dev, &source, &image, &size) == GYRE_OK);
    CHECK(strstr(gyre_build_log(), "look here"));
    gyre_free(NULL, image, size, 1);
    source.text = "#include \"nowhere.h\"\n";
    CHECK(cl->compile(dev, &source, &image, &size) == GYRE_BUILD && !image);
    CHECK(strstr(gyre_build_log(), "nowhere.h"));
    source.text = scale_text;
    source.options = nonsense;
    CHECK(cl->compile(dev, &source, &image, &size) == GYRE_BUILD && !image);
    cl->close(dev);
}

static gyre_cl_api real;
static int builds;

static int32_t build_without_arguments_told(cl_program *program, uint32_t count,
                                            cl_device *const *devices, const char *options,
                                            void (*done)(void), void *arg)
{
    builds++;
    if (strstr(options, "-cl-kernel-arg-info"))
        return CL_BUILD_PROGRAM_FAILURE;
    return real.clBuildProgram(program, count, devices, options, done, arg);
}

static void compiler_that_cannot_tell_of_arguments_need_not(void)
{
    gyre_dev_source source = {.name = "scale.cl", .text = scale_text};
    gyre_dev_module *module;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    real = gyre_cl;
    builds = 0;
    gyre_cl.clBuildProgram = build_without_arguments_told;
    CHECK(build(dev, &source, &module) == GYRE_OK && module);
    CHECK(builds == 3); /* told, not told, and of the image, which remembers */
    cl->module_close(module);
    source.text = "nonsense";
    CHECK(build(dev, &source, &module) == GYRE_BUILD && !module && builds == 5);
    CHECK(strstr(gyre_build_log(), "nonsense"));
    gyre_cl = real;
    cl->close(dev);
}

/* An image with a change, which must be refused. */
static void refuse(gyre_dev *dev, const unsigned char *image, size_t size, size_t change)
{
    unsigned char *const copied = malloc(size);
    const gyre_dev_code code = {.image = copied, .image_bytes = size};
    gyre_dev_module *module = NULL;

    if (!copied)
        return;
    memcpy(copied, image, size);
    if (change < size)
        copied[change] ^= 0x20;
    CHECK(cl->module_open(dev, &code, &module) == GYRE_CORRUPT && !module);
    free(copied);
}

static void damaged_image_is_refused(void)
{
    static const gyre_entry functions[] = {{NULL, NULL}};
    const gyre_dev_source source = {.name = "test.cl", .text = scale_text};
    gyre_dev_code code = {.functions = functions};
    gyre_dev_module *module = NULL;
    unsigned char *bytes;
    gyre_dev *dev;
    void *image;
    size_t size;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    REQUIRE(cl->compile(dev, &source, &image, &size) == GYRE_OK);
    bytes = image;
    for (size_t i = 0; i < sizeof(gyre_cl_image); i++)
        refuse(dev, bytes, size, i);
    for (size_t i = sizeof(gyre_cl_image); i < size; i += 997)
        refuse(dev, bytes, size, i);
    refuse(dev, bytes, size - 1, SIZE_MAX);
    refuse(dev, bytes, size / 2, SIZE_MAX);
    for (size_t length = 1; length <= sizeof(gyre_cl_image) + 40; length++)
        refuse(dev, bytes, length, SIZE_MAX);
    CHECK(cl->module_open(dev, &code, &module) == GYRE_UNSUPPORTED && !module);
    code = (gyre_dev_code){.image = image, .image_bytes = size};
    CHECK(cl->module_open(dev, &code, &module) == GYRE_OK);
    cl->module_close(module);
    gyre_free(NULL, image, size, 1);
    cl->close(dev);
}

static gyre_status try_open(gyre_dev_module *module, const char *entry,
                            const gyre_dev_argument *arguments, uint32_t count)
{
    const gyre_dev_kernel_request request = {entry, arguments, count, 0};
    gyre_dev_kernel_facts facts;
    gyre_dev_kernel *kernel = NULL;
    const gyre_status status = cl->kernel_open(module, &request, &facts, &kernel);

    CHECK((status == GYRE_OK) == (kernel != NULL));
    return status;
}

static void arguments_that_differ_are_refused(void)
{
    static const gyre_dev_argument value_for_pointer[] = {
        {0, 8, true}, {8, 8, false}, {16, 4, false}, {24, 8, false}};
    static const gyre_dev_argument pointer_for_value[] = {
        {0, 8, true}, {8, 8, true}, {16, 4, false}, {24, 8, true}};
    static const gyre_dev_argument narrow[] = {
        {0, 8, true}, {8, 8, true}, {16, 4, false}, {24, 4, false}};
    static const gyre_dev_argument shared[] = {
        {0, 8, true}, {0, 0, false}, {16, 4, false}, {24, 8, false}};
    gyre_dev_module *module;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    module = build_text(dev, scale_text);
    REQUIRE(module);
    CHECK(try_open(module, "scale", scale_arguments, 4) == GYRE_OK);
    CHECK(try_open(module, "scale", scale_arguments, 3) == GYRE_INVALID);
    CHECK(try_open(module, "scale", NULL, 0) == GYRE_INVALID);
    CHECK(try_open(module, "scale", value_for_pointer, 4) == GYRE_INVALID);
    CHECK(try_open(module, "scale", pointer_for_value, 4) == GYRE_INVALID);
    CHECK(try_open(module, "scale", narrow, 4) == GYRE_INVALID);
    CHECK(try_open(module, "scale", shared, 4) == GYRE_INVALID);
    CHECK(try_open(module, "scales", scale_arguments, 4) == GYRE_NOT_FOUND);
    cl->module_close(module);
    cl->close(dev);
}

static void shared_memory_is_an_argument(void)
{
    static const char text[] =
        "__kernel void reverse(__global int *data, __local int *room)\n"
        "{ size_t i = get_local_id(0), n = get_local_size(0), at = get_group_id(0) * n;\n"
        "  room[i] = data[at + i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "  data[at + i] = room[n - 1 - i]; }\n"
        "__kernel void plain(__global int *data) { data[0] = 1; }\n";
    static const gyre_dev_argument arguments[] = {{0, 8, true}, {8, 0, false}};
    static int from[COUNT], to[COUNT];
    gyre_dev_launch l = {.grid = {COUNT / BLOCK, 1, 1}, .block = {BLOCK, 1, 1}};
    gyre_dev_module *module;
    gyre_dev_stream *stream;
    gyre_dev *dev;
    int *block;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    module = build_text(dev, text);
    REQUIRE(module);
    stream = open_stream(dev);
    block = take(dev, sizeof from);
    for (int i = 0; i < COUNT; i++)
        from[i] = i;
    l.kernel = open_kernel(module, "reverse", arguments, 2);
    l.parameters = &block;
    l.shared_bytes = BLOCK * sizeof(int);
    CHECK(copy(stream, block, from, sizeof from) == GYRE_OK);
    CHECK(cl->launch(stream, &l) == GYRE_OK);
    CHECK(copy(stream, to, block, sizeof to) == GYRE_OK && drain(stream) == GYRE_OK);
    for (int i = 0; i < COUNT; i++)
        CHECK(to[i] == i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK);
    l.kernel = open_kernel(module, "plain", arguments, 1);
    CHECK(cl->launch(stream, &l) == GYRE_INVALID);
    cl->stream_close(stream);
    cl->module_close(module);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, block, sizeof from);
    cl->close(dev);
}

static void null_address_is_null_there(void)
{
    static const char text[] = "__kernel void ask(__global int *to, __global int *maybe)\n"
                               "{ to[0] = maybe ? *maybe : -1; }\n";
    static const gyre_dev_argument arguments[] = {{0, 8, true}, {8, 8, true}};
    gyre_dev_module *module;
    gyre_dev_kernel *kernel;
    gyre_dev_stream *stream;
    gyre_dev *dev;
    int *parameters[2];
    int to[2] = {7, 0};

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    module = build_text(dev, text);
    REQUIRE(module);
    kernel = open_kernel(module, "ask", arguments, 2);
    stream = open_stream(dev);
    parameters[0] = take(dev, sizeof to);
    parameters[1] = NULL;
    CHECK(launch(stream, kernel, 1, 1, parameters) == GYRE_OK);
    CHECK(copy(stream, to, parameters[0], sizeof to) == GYRE_OK && drain(stream) == GYRE_OK);
    CHECK(to[0] == -1);
    cl->stream_close(stream);
    cl->module_close(module);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, parameters[0], sizeof to);
    cl->close(dev);
}

/* As merged launches do: the addresses lie in memory, where the driver does not see them. */
static void addresses_in_memory_are_followed(void)
{
    static const char text[] =
        "typedef struct { __global const int *from; __global int *to; } record;\n"
        "__kernel void many(__global const record *records, uint count)\n"
        "{ size_t i = get_global_id(0); if (i < count) *records[i].to = *records[i].from + 1; }\n";
    static const gyre_dev_argument arguments[] = {{0, 8, true}, {8, 4, false}};
    enum { RECORDS = 20 };
    struct {
        int *from, *to;
    } records[RECORDS];
    struct {
        void *records;
        uint32_t count;
    } parameters = {NULL, RECORDS};
    gyre_dev_module *module;
    gyre_dev_kernel *kernel;
    gyre_dev_stream *stream;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    module = build_text(dev, text);
    REQUIRE(module);
    kernel = open_kernel(module, "many", arguments, 2);
    stream = open_stream(dev);
    for (int round = 0; round < 3; round++) { /* each with other blocks */
        int value[RECORDS], to[RECORDS];

        parameters.records = take(dev, sizeof records);
        for (int i = 0; i < RECORDS; i++) {
            value[i] = round * 100 + i;
            records[i].from = take(dev, sizeof(int));
            records[i].to = take(dev, sizeof(int));
            CHECK(copy(stream, records[i].from, &value[i], sizeof(int)) == GYRE_OK);
        }
        CHECK(copy(stream, parameters.records, records, sizeof records) == GYRE_OK);
        CHECK(launch(stream, kernel, 1, BLOCK, &parameters) == GYRE_OK);
        for (int i = 0; i < RECORDS; i++)
            CHECK(copy(stream, &to[i], records[i].to, sizeof(int)) == GYRE_OK);
        CHECK(drain(stream) == GYRE_OK);
        for (int i = 0; i < RECORDS; i++) {
            CHECK(to[i] == value[i] + 1);
            cl->give(dev, GYRE_DEV_MEMORY_DEVICE, records[i].from, sizeof(int));
            cl->give(dev, GYRE_DEV_MEMORY_DEVICE, records[i].to, sizeof(int));
        }
        cl->give(dev, GYRE_DEV_MEMORY_DEVICE, parameters.records, sizeof records);
    }
    CHECK(dev->block_count == (dev->declares ? 1 : 0));
    cl->stream_close(stream);
    cl->module_close(module);
    cl->close(dev);
}

/* The same, and pinned memory, on a device that must be told what it shares. */
static void coarse_memory_is_declared_to_kernels(void)
{
    gyre_cl_found *found, before;
    void *pinned = NULL;
    gyre_dev *dev;

    NEED_DEVICE();
    found = gyre_cl_found_at(device_index);
    before = *found;
    found->fine = found->atomics = found->host_reach = false;
    addresses_in_memory_are_followed();
    kernel_gets_addresses_and_values();
    dev = open_device();
    if (dev) {
        CHECK(cl->take(dev, GYRE_DEV_MEMORY_PINNED, 100, 4096, &pinned) == GYRE_OK);
        CHECK((uintptr_t)pinned % 4096 == 0 && dev->block_count == 1);
        cl->give(dev, GYRE_DEV_MEMORY_PINNED, pinned, 100);
    }
    cl->close(dev);
    *found = before;
}

/* What the case below sees of the driver's calls. */
static int releases;
static cl_program *seen_program;
static cl_kernel *seen_kernel;

static int32_t release_event_seen(cl_event *event)
{
    releases++;
    return real.clReleaseEvent(event);
}

static cl_kernel *create_kernel_seen(cl_program *program, const char *entry, int32_t *code)
{
    seen_program = program;
    seen_kernel = real.clCreateKernel(program, entry, code);
    return seen_kernel;
}

static int32_t release_kernel_seen(cl_kernel *kernel)
{
    releases++;
    return real.clReleaseKernel(kernel);
}

static int32_t release_program_seen(cl_program *program)
{
    releases++;
    return real.clReleaseProgram(program);
}

/* Unloading code may wait for what hangs. */
static void abandoned_device_is_not_asked_to_release_code_and_events(void)
{
    gyre_dev_event *event = NULL;
    gyre_dev_module *module;
    gyre_dev_stream *stream;
    cl_context *context;
    cl_event *last;
    cl_queue *queue;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    real = gyre_cl;
    module = build_text(dev, "__kernel void one(void) { }\n");
    REQUIRE(module);
    gyre_cl.clCreateKernel = create_kernel_seen;
    CHECK(open_kernel(module, "one", NULL, 0));
    stream = open_stream(dev);
    CHECK(cl->event_open(dev, false, &event) == GYRE_OK);
    CHECK(cl->event_record(event, stream) == GYRE_OK && drain(stream) == GYRE_OK);
    context = cl->native(dev, NULL);
    queue = cl->native(dev, stream);
    last = stream->last;
    releases = 0;
    gyre_cl.clReleaseEvent = release_event_seen;
    gyre_cl.clReleaseKernel = release_kernel_seen;
    gyre_cl.clReleaseProgram = release_program_seen;
    cl->abandon(dev);
    cl->event_close(event);
    cl->module_close(module);
    cl->stream_close(stream);
    cl->close(dev);
    gyre_cl = real;
    CHECK(releases == 0);
    if (releases > 0)
        return;
    /* what was left there is the test's to tidy up: the event's reference and the stream's */
    gyre_cl.clReleaseEvent(last);
    gyre_cl.clReleaseEvent(last);
    gyre_cl.clReleaseKernel(seen_kernel);
    gyre_cl.clReleaseProgram(seen_program);
    gyre_cl.clReleaseCommandQueue(queue);
    gyre_cl.clReleaseContext(context);
}

enum { THREADS = 4, ROUNDS = 20, BURST = 50 };

typedef struct worker {
    gyre_dev *dev;
    gyre_dev_kernel *kernel;
    int number;
} worker;

/* Launches the kernel that all share with arguments of its own, many times before it looks. */
static void work(void *arg)
{
    const worker *const w = arg;
    const size_t bytes = sizeof(int) * (BURST + 1);
    gyre_dev_stream *const stream = open_stream(w->dev);
    int *const block = take(w->dev, bytes);
    const int from = 7;
    int to[BURST];

    CHECK(copy(stream, block, &from, sizeof from) == GYRE_OK);
    for (int round = 0; round < ROUNDS; round++) {
        bool same = true;

        for (int i = 0; i < BURST; i++) {
            const scale_parameters p = {block, block + 1 + i, w->number, (uint64_t)(round + i)};

            CHECK(launch(stream, w->kernel, 1, 1, &p) == GYRE_OK);
        }
        CHECK(copy(stream, to, block + 1, sizeof to) == GYRE_OK);
        CHECK(drain(stream) == GYRE_OK);
        for (int i = 0; i < BURST; i++)
            same = same && to[i] == from * w->number + round + i;
        CHECK(same);
    }
    cl->stream_close(stream);
    cl->give(w->dev, GYRE_DEV_MEMORY_DEVICE, block, bytes);
}

static void threads_share_a_kernel_without_mixing_arguments(void)
{
    gyre_thread *threads[THREADS] = {NULL};
    worker workers[THREADS];
    gyre_dev_module *module;
    gyre_dev_kernel *kernel;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    module = build_text(dev, scale_text);
    REQUIRE(module);
    kernel = open_kernel(module, "scale", scale_arguments, 4);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){dev, kernel, 1000 * (i + 1)};
        CHECK(gyre_thread_start(work, &workers[i], NULL, &threads[i]) == GYRE_OK);
    }
    for (int i = 0; i < THREADS; i++)
        gyre_thread_stop(threads[i]);
    cl->module_close(module);
    cl->close(dev);
}

static const test_case cases[] = {
    TEST(kernel_gets_addresses_and_values),
    TEST(defines_and_includes_reach_the_source),
    TEST(wrong_source_leaves_a_log_with_name_and_line),
    TEST(compiler_that_cannot_tell_of_arguments_need_not),
    TEST(damaged_image_is_refused),
    TEST(arguments_that_differ_are_refused),
    TEST(shared_memory_is_an_argument),
    TEST(null_address_is_null_there),
    TEST(addresses_in_memory_are_followed),
    TEST(coarse_memory_is_declared_to_kernels),
    TEST(abandoned_device_is_not_asked_to_release_code_and_events),
    TEST(threads_share_a_kernel_without_mixing_arguments),
};
TEST_MAIN(cases)
