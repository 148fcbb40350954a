/* SPDX-License-Identifier: Apache-2.0
 *
 * The slots for modules, kernels and what is submitted, on a driver that computes nothing
 * (cuda_fake.h).
 */
#include "backends/cuda/cuda_fake_device.h"

#include "base/fail.h"
#include "dev/build_log.h"
#include "dev/resident.h"

static const gyre_dev_argument arguments[] = {{0, 8, true}, {8, 8, true}, {16, 4, false}};
static const gyre_dev_kernel_request request = {
    .entry = "add", .arguments = arguments, .argument_count = 3, .parameters_bytes = 20};

typedef struct parameters {
    const void *a;
    void *b;
    uint32_t n;
} parameters;

static gyre_dev_module *module_of(const char *text)
{
    gyre_dev_module *module = NULL;
    const gyre_dev_code code = {.image = text, .image_bytes = strlen(text)};

    CHECK(be->module_open(dev, &code, &module) == GYRE_OK);
    return module;
}

static void images_are_refused_with_the_drivers_reason(void)
{
    static const unsigned char fat[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 1};
    gyre_dev_module *module = NULL;

    REQUIRE(start(FAKE));
    CHECK(be->module_open(dev, &(gyre_dev_code){.image = "nonsense", .image_bytes = 8}, &module) ==
          GYRE_CORRUPT);
    CHECK(!module && strstr(gyre_build_log(), "no PTX") &&
          strstr(gyre_error_last()->text, "no PTX"));
    CHECK(be->module_open(dev, &(gyre_dev_code){.image = "OTHER", .image_bytes = 5}, &module) ==
          GYRE_UNSUPPORTED);
    CHECK(be->module_open(dev, &(gyre_dev_code){.image = "\177ELF", .image_bytes = 4}, &module) ==
          GYRE_CORRUPT);
    CHECK(be->module_open(dev, &(gyre_dev_code){.image = fat, .image_bytes = 16}, &module) ==
          GYRE_CORRUPT);
    CHECK(be->module_open(dev, &(gyre_dev_code){.image = "x", .image_bytes = 1}, &module) ==
          GYRE_CORRUPT);
    CHECK(be->module_open(dev, &(gyre_dev_code){.functions = NULL}, &module) == GYRE_UNSUPPORTED);
    CHECK(!module);
    end();
}

static void kernels_are_loaded_and_their_arguments_compared(void)
{
    static const gyre_dev_argument shifted[] = {{0, 8, true}, {8, 8, true}, {24, 4, false}};
    static const gyre_dev_argument four[] = {
        {0, 8, true}, {8, 8, true}, {16, 4, false}, {20, 4, false}};
    static const gyre_dev_argument shared[] = {
        {0, 8, true}, {8, 8, true}, {16, 4, false}, {20, 0, false}};
    const gyre_dev_kernel_request wrong[] = {
        {"add", arguments, 2, 16}, {"add", four, 4, 24}, {"add", shifted, 3, 28}};
    gyre_dev_kernel_facts facts;
    gyre_dev_kernel *kernel;
    gyre_dev_module *module;
    uint32_t blocks;

    REQUIRE(start(FAKE));
    module = module_of("FAKE");
    REQUIRE(module);
    REQUIRE(be->kernel_open(module, &request, &facts, &kernel) == GYRE_OK);
    CHECK(facts.block_threads_most == 1024 && facts.registers == 40 && facts.local_bytes == 16);
    CHECK(facts.shared_bytes == 1024 && fake->dynamic_shared == 232448 - 1024);
    CHECK(fake->loaded == 1);
    CHECK(be->residency(kernel, 256, 0, &blocks) == GYRE_OK && blocks == 8);
    CHECK(be->kernel_open(module, &(gyre_dev_kernel_request){"add", shared, 4, 20}, &facts,
                          &kernel) == GYRE_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK(be->kernel_open(module, &wrong[i], &facts, &kernel) == GYRE_INVALID && !kernel);
    CHECK(be->kernel_open(module, &(gyre_dev_kernel_request){.entry = "none"}, &facts, &kernel) ==
          GYRE_NOT_FOUND);
    be->module_close(module);
    end();
}

static int suspended;

static gyre_status suspend(gyre_resident *resident)
{
    (void)resident;
    suspended++;
    return GYRE_OK;
}

static void restore(gyre_resident *resident)
{
    CHECK(gyre_resident_add(resident) == GYRE_OK);
}

static void residents_leave_once_for_a_module_and_its_kernels(void)
{
    static const char *const entries[] = {"none", "add", NULL};
    const gyre_dev_code code = {.image = "FAKE", .image_bytes = 4, .entries = entries};
    gyre_resident resident = {.backend = "cuda",
                              .name = "resident",
                              .room = {.units = 1},
                              .suspend = suspend,
                              .restore = restore};
    gyre_dev_kernel_facts facts;
    gyre_dev_kernel *kernel;
    gyre_dev_module *module;

    suspended = 0;
    REQUIRE(start(FAKE) && gyre_resident_add(&resident) == GYRE_OK);
    REQUIRE(be->module_open(dev, &code, &module) == GYRE_OK);
    CHECK(suspended == 1 && fake->loaded == 1);
    CHECK(be->kernel_open(module, &request, &facts, &kernel) == GYRE_OK);
    CHECK(facts.shared_bytes == 1024 && fake->dynamic_shared == 232448 - 1024);
    CHECK(suspended == 1 && fake->loaded == 1);
    CHECK(be->kernel_open(module, &(gyre_dev_kernel_request){.entry = "none"}, &facts, &kernel) ==
          GYRE_NOT_FOUND);
    CHECK(suspended == 2);
    gyre_resident_forget(&resident);
    be->module_close(module);
    end();
}

static void launches_pass_every_argument(void)
{
    const parameters values = {&values, &fake, 77};
    gyre_dev_kernel_facts facts;
    gyre_dev_launch launch = {.grid = {7, 2, 1}, .block = {32, 4, 2}, .shared_bytes = 99};
    gyre_dev_module *module;

    REQUIRE(start(FAKE));
    module = module_of("FAKE");
    REQUIRE(module);
    REQUIRE(be->kernel_open(module, &request, &facts, &launch.kernel) == GYRE_OK);
    launch.parameters = &values;
    CHECK(be->launch(stream, &launch) == GYRE_OK);
    CHECK(fake->arguments[0] == (uintptr_t)&values && fake->arguments[1] == (uintptr_t)&fake);
    CHECK(fake->arguments[2] == 77 && fake->grid[0] == 7 && fake->block[1] == 4);
    CHECK(fake->shared_bytes == 99 && fake->cooperative == 0);
    launch.cooperative = true;
    CHECK(be->launch(stream, &launch) == GYRE_OK && fake->cooperative == 1);
    fake->launch_result = 701;
    CHECK(be->launch(stream, &launch) == GYRE_INVALID);
    be->module_close(module);
    end();
}

static void boxes_are_copied_whatever_their_pitches(void)
{
    /* height 3, depth 2, rows of 5: slices that are whole rows apart, and that are not */
    static const size_t cases[][4] = {{8, 24, 5, 15}, {8, 29, 5, 15}, {8, 24, 7, 22}};
    unsigned char from[64], to[64], expected[64];

    REQUIRE(start(FAKE));
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)i;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const size_t *at = cases[c];
        const gyre_dev_copy copy = {.to = to,
                                    .from = from,
                                    .width = 5,
                                    .height = 3,
                                    .depth = 2,
                                    .to_pitch = at[0],
                                    .to_slice = at[1],
                                    .from_pitch = at[2],
                                    .from_slice = at[3]};

        memset(to, 0xee, sizeof to);
        memset(expected, 0xee, sizeof expected);
        for (size_t z = 0; z < 2; z++)
            for (size_t y = 0; y < 3; y++)
                memcpy(expected + z * at[1] + y * at[0], from + z * at[3] + y * at[2], 5);
        CHECK(be->copy(stream, &copy) == GYRE_OK);
        CHECK(memcmp(to, expected, sizeof to) == 0);
    }
    CHECK(fake->boxes == 1 + 2 + 2 && fake->rows == 0);
    end();
}

static void plain_and_peer_copies_take_the_short_way(void)
{
    char from[16] = "one row", to[16] = "";
    gyre_dev *other = NULL;
    gyre_dev_copy copy = {.to = to,
                          .from = from,
                          .width = 16,
                          .height = 1,
                          .depth = 1,
                          .to_pitch = 16,
                          .to_slice = 16,
                          .from_pitch = 16,
                          .from_slice = 16};

    REQUIRE(start(FAKE));
    REQUIRE(be->open(1, &(gyre_dev_options){0}, &other) == GYRE_OK);
    CHECK(be->copy(stream, &copy) == GYRE_OK && fake->rows == 1 && strcmp(to, "one row") == 0);
    to[0] = 'x';
    copy.from_dev = other;
    CHECK(be->copy(stream, &copy) == GYRE_OK && fake->peers == 1 && strcmp(to, "one row") == 0);
    be->close(other);
    end();
}

static void fills_repeat_patterns_of_every_size(void)
{
    static const char patterns[][9] = {"abcdefgh", "abcdabcd"};
    unsigned char to[80];

    REQUIRE(start(FAKE));
    for (size_t p = 0; p < 2; p++)
        for (size_t size = 1; size <= 8; size *= 2) {
            gyre_dev_fill fill = {.to = to, .pattern_size = size, .count = 9};

            memcpy(fill.pattern, patterns[p], 8);
            memset(to, 0, sizeof to);
            CHECK(be->fill(stream, &fill) == GYRE_OK);
            for (size_t i = 0; i < size * 9; i++)
                CHECK(to[i] == (unsigned char)patterns[p][i % size]);
            CHECK(to[size * 9] == 0);
        }
    CHECK(fake->two_d == 2); /* for the one whose halves differ */
    end();
}

static void words_are_told_to_the_driver_in_one_call(void)
{
    uint32_t places[2] = {1, 2};
    const gyre_dev_word words[] = {{GYRE_DEV_WORD_WRITE, 7, &places[0]},
                                   {GYRE_DEV_WORD_WAIT, 8, &places[0]},
                                   {GYRE_DEV_WORD_WRITE, 9, &places[1]}};

    REQUIRE(start(FAKE));
    CHECK(be->words(stream, words, 3) == GYRE_OK);
    CHECK(places[0] == 7 && places[1] == 9 && fake->written == 2 && fake->awaited == 1);
    end();
    REQUIRE(start(FAKE_BARE)); /* a driver that is older than these */
    CHECK(be->words(stream, words, 1) == GYRE_UNSUPPORTED && places[0] == 7);
    end();
}

static void graphs_run_their_nodes_and_take_new_parameters(void)
{
    static const uint32_t after[] = {0, 0, 1};
    unsigned char from[24], to[24];
    parameters values = {from, to, 5};
    gyre_dev_kernel_facts facts;
    gyre_dev_module *module;
    gyre_dev_graph *graph = NULL;
    gyre_dev_node nodes[3];

    REQUIRE(start(FAKE));
    module = module_of("FAKE");
    REQUIRE(module);
    memset(nodes, 0, sizeof nodes);
    nodes[0].kind = GYRE_DEV_NODE_FILL;
    nodes[0].as.fill = (gyre_dev_fill){from, "abcdefgh", 8, 3};
    nodes[1].kind = GYRE_DEV_NODE_COPY;
    nodes[1].as.copy = (gyre_dev_copy){to, from, 24, 1, 1, 24, 24, 24, 24, NULL};
    nodes[1].after = after;
    nodes[1].after_count = 2; /* the same one twice */
    nodes[2].kind = GYRE_DEV_NODE_LAUNCH;
    nodes[2].as.launch = (gyre_dev_launch){
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .cooperative = true, .parameters = &values};
    nodes[2].after = after;
    nodes[2].after_count = 3;
    REQUIRE(be->kernel_open(module, &request, &facts, &nodes[2].as.launch.kernel) == GYRE_OK);
    REQUIRE(be->graph_open(dev, nodes, 3, &graph) == GYRE_OK);
    CHECK(be->graph_submit(stream, graph) == GYRE_OK);
    CHECK(memcmp(to, "abcdefghabcdefghabcdefgh", 24) == 0);
    CHECK(fake->arguments[2] == 5 && fake->submitted_nodes == 4 && fake->cooperative == 1);
    values.n = 6;
    CHECK(be->graph_update(graph, 2, &nodes[2].as.launch) == GYRE_OK);
    CHECK(be->graph_submit(stream, graph) == GYRE_OK && fake->arguments[2] == 6);
    be->graph_close(graph);
    nodes[1].as.copy.to_pitch = 30; /* no box of the driver's */
    nodes[1].as.copy = (gyre_dev_copy){to, from, 2, 2, 2, 3, 7, 2, 4, NULL};
    CHECK(be->graph_open(dev, nodes, 3, &graph) == GYRE_UNSUPPORTED && !graph);
    be->module_close(module);
    end();
}

static void older_drivers_load_launch_and_measure_too(void)
{
    static const gyre_dev_argument two[] = {{0, 8, true}};
    gyre_dev_node node = {.kind = GYRE_DEV_NODE_LAUNCH};
    parameters values = {&values, &values, 1};
    gyre_dev_kernel_facts facts;
    gyre_dev_module *module;
    gyre_dev_graph *graph = NULL;
    gyre_dev_kernel *kernel;
    gyre_dev_event *event;
    double ns;

    REQUIRE(start(FAKE_BARE));
    module = module_of("FAKE");
    REQUIRE(module);
    /* nobody knows better */
    CHECK(be->kernel_open(module, &(gyre_dev_kernel_request){"add", two, 1, 8}, &facts, &kernel) ==
          GYRE_OK);
    REQUIRE(be->kernel_open(module, &request, &facts, &kernel) == GYRE_OK);
    node.as.launch = (gyre_dev_launch){.kernel = kernel,
                                       .grid = {1, 1, 1},
                                       .block = {1, 1, 1},
                                       .cooperative = true,
                                       .parameters = &values};
    CHECK(be->graph_open(dev, &node, 1, &graph) == GYRE_UNSUPPORTED && !graph);
    CHECK(be->event_open(dev, true, &event) == GYRE_OK);
    CHECK(be->event_record(event, stream) == GYRE_OK);
    CHECK(be->event_between(event, event, &ns) == GYRE_OK);
    be->event_close(event);
    be->module_close(module);
    end();
}

static const test_case cases[] = {
    TEST(images_are_refused_with_the_drivers_reason),
    TEST(kernels_are_loaded_and_their_arguments_compared),
    TEST(residents_leave_once_for_a_module_and_its_kernels),
    TEST(launches_pass_every_argument),
    TEST(boxes_are_copied_whatever_their_pitches),
    TEST(plain_and_peer_copies_take_the_short_way),
    TEST(fills_repeat_patterns_of_every_size),
    TEST(words_are_told_to_the_driver_in_one_call),
    TEST(graphs_run_their_nodes_and_take_new_parameters),
    TEST(older_drivers_load_launch_and_measure_too),
};
TEST_MAIN(cases)
