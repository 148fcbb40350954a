/* SPDX-License-Identifier: Apache-2.0
 *
 * The wave that suites/interactive.c compares by: the reference, the kernels' C functions and the
 * behaviour make the same of it, with any number of lanes and slabs.
 */
#include <stdatomic.h>

#include "gyre/thread.h"
#include "suites/behaviours/wave_step.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "suites/wave_field.h"
#include "suites/wave_kernels.h"
#include "test.h"

static gyre_wave_field two_fields[2];

static bool both_init(int64_t side)
{
    return gyre_wave_field_init(&two_fields[0], side) == GYRE_OK &&
           gyre_wave_field_init(&two_fields[1], side) == GYRE_OK;
}

static void both_fini(void)
{
    gyre_wave_field_fini(&two_fields[0]);
    gyre_wave_field_fini(&two_fields[1]);
}

static bool are_same(void)
{
    return memcmp(two_fields[0].block, two_fields[1].block, two_fields[0].bytes) == 0;
}

/* One message, by all its lanes one after the other: none of them waits for another. */
static wave_answer handle(uint32_t lanes, uint16_t type, const wave_request *request,
                          uint32_t *out_errors)
{
    gyre_brief brief = {.type = type, .flags = GYRE_BRIEF_REFERS};
    wave_answer answer = {0};

    memcpy(&brief.body, request, sizeof *request);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        gyre_self self = {.lane = lane, .lanes = lanes};

        wave_step.handler(&self, NULL, &brief);
        *out_errors += self.error != 0;
        if (lane == 0)
            memcpy(&answer, &self.answer.body, sizeof answer);
    }
    return answer;
}

static wave_request request_for(const gyre_wave_field *field)
{
    return (wave_request){.address = field->block, .size = field->bytes, .bits = field->bits};
}

/* A step, its slabs in an order that is not theirs. */
static void step_by_slabs(gyre_wave_field *field, uint32_t lanes, uint32_t slabs)
{
    float *const even = field->block + GYRE_WAVE_HEAD;
    const wave_block block = {
        .count = (uint32_t *)(void *)field->block, .even = even, .odd = even + field->cells};
    wave_request request = request_for(field);

    request.slabs = slabs;
    for (uint32_t i = slabs; i-- > 0;)
        for (uint32_t lane = 0; lane < lanes; lane++)
            wave_slab(&(gyre_self){.lane = lane, .lanes = lanes}, &request, &block, i);
    ++*block.count;
}

enum { FOLLOWERS = 2 };

static void follow(void *arg)
{
    static _Atomic uint32_t places;
    wave_request request = request_for(arg);
    uint32_t errors = 0;

    request.slabs = FOLLOWERS + 1;
    request.place = 1 + atomic_fetch_add(&places, 1) % FOLLOWERS;
    (void)handle(1, WAVE_FOLLOW, &request, &errors);
}

static void followers_make_the_reference(void)
{
    gyre_thread *thread[FOLLOWERS];
    uint32_t errors = 0;
    wave_request request;

    REQUIRE(both_init(16));
    request = request_for(&two_fields[1]);
    (void)handle(1, WAVE_BEGIN, &request, &errors);
    for (int i = 0; i < FOLLOWERS; i++)
        REQUIRE(gyre_thread_start(follow, &two_fields[1], NULL, &thread[i]) == GYRE_OK);
    request.slabs = FOLLOWERS + 1;
    for (uint32_t step = 0; step < 200; step++) {
        gyre_wave_field_step(&two_fields[0]);
        CHECK(handle(1, WAVE_STEP, &request, &errors).generation == step + 1);
        CHECK(are_same());
    }
    (void)handle(1, WAVE_END, &request, &errors);
    for (int i = 0; i < FOLLOWERS; i++)
        gyre_thread_stop(thread[i]);
    CHECK(errors == 0);
    both_fini();
}

static void slabs_and_lanes_make_the_reference(void)
{
    static const uint32_t shapes[][2] = {{1, 1}, {1, 3}, {32, 1}, {32, 7}, {256, 8}, {512, 64}};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        REQUIRE(both_init(16));
        for (int step = 0; step < 5; step++) {
            gyre_wave_field_step(&two_fields[0]);
            step_by_slabs(&two_fields[1], shapes[i][0], shapes[i][1]);
            CHECK(are_same());
        }
        both_fini();
    }
}

static void impulses_and_questions_make_the_reference(void)
{
    REQUIRE(both_init(8));
    for (uint64_t n = 0; n < 50; n++) {
        const gyre_wave_impulse impulse = gyre_wave_impulse_at(&two_fields[0], n);
        const gyre_wave_answer right = gyre_wave_field_inject(&two_fields[0], impulse);
        wave_request request = request_for(&two_fields[1]);
        uint32_t errors = 0;
        wave_answer answer;

        request.place = impulse.cell;
        request.amplitude = impulse.amplitude;
        answer = handle(4, WAVE_INJECT, &request, &errors);
        CHECK(answer.value == right.value && answer.generation == right.generation);
        answer = handle(4, WAVE_QUERY, &request, &errors);
        CHECK(answer.value == right.value && answer.generation == n);
        CHECK(are_same() && errors == 0);
        gyre_wave_field_step(&two_fields[0]);
        step_by_slabs(&two_fields[1], 2, 2);
    }
    both_fini();
}

static gyre_function function_of(const char *name)
{
    const gyre_entry *entry = gyre_wave_program.functions;

    while (entry->name && strcmp(entry->name, name) != 0)
        entry++;
    return entry->function;
}

static void launch(const char *name, const gyre_launch *launch)
{
    const gyre_function function = function_of(name);
    const uint32_t blocks = launch->grid[0] ? launch->grid[0] : 1;

    for (uint32_t i = blocks; i-- > 0;) {
        const gyre_block block = {
            .index = {i}, .grid = {blocks, 1, 1}, .threads = {launch->block[0], 1, 1}};

        function(&block, launch->parameters);
    }
}

static float *field_of(const gyre_wave_field *field, uint32_t generation)
{
    return field->block + GYRE_WAVE_HEAD + (size_t)(generation & 1) * field->cells;
}

static void kernels_make_the_reference(void)
{
    for (int64_t side = 8; side <= 32; side *= 2) {
        REQUIRE(both_init(side));
        for (uint32_t n = 0; n < 5; n++) {
            gyre_wave_field *const field = &two_fields[1];
            const gyre_wave_impulse impulse = gyre_wave_impulse_at(field, n);
            gyre_wave_answer told = {0, 9};
            const gyre_wave_command_parameters command = {field->block, &impulse, &told,
                                                          field->bits};
            const gyre_wave_step_parameters step = {(uint32_t *)(void *)field->block,
                                                    field_of(field, n), field_of(field, n + 1),
                                                    field->bits};
            const gyre_wave_answer right = gyre_wave_field_inject(&two_fields[0], impulse);
            const gyre_launch steps = gyre_wave_step_launch(&step);
            const gyre_launch commands = {.parameters = &command};

            launch("wave_inject", &commands);
            CHECK(told.value == right.value && told.generation == n);
            told = (gyre_wave_answer){0, 9};
            launch("wave_query", &commands);
            CHECK(told.value == right.value && told.generation == n);
            launch("wave_step", &steps);
            gyre_wave_field_step(&two_fields[0]);
            CHECK(are_same());
        }
        both_fini();
    }
}

static void impulses_spare_the_faces_and_do_something(void)
{
    REQUIRE(both_init(8));
    for (uint64_t n = 0; n < 500; n++) {
        const gyre_wave_impulse impulse = gyre_wave_impulse_at(&two_fields[0], n);
        const uint32_t x = impulse.cell % 8, y = impulse.cell / 8 % 8, z = impulse.cell / 64;

        REQUIRE(x > 0 && x < 7 && y > 0 && y < 7 && z > 0 && z < 7);
    }
    (void)gyre_wave_field_inject(&two_fields[0], gyre_wave_impulse_at(&two_fields[0], 0));
    CHECK(!are_same());
    both_fini();
}

static void only_some_sides_are_taken(void)
{
    static const int64_t bad[] = {-8, 0, 4, 12, 48, 512};
    gyre_wave_field field;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(gyre_wave_field_init(&field, bad[i]) == GYRE_INVALID);
        gyre_wave_field_fini(&field);
    }
}

static const test_case cases[] = {
    TEST(slabs_and_lanes_make_the_reference),        TEST(followers_make_the_reference),
    TEST(impulses_and_questions_make_the_reference), TEST(kernels_make_the_reference),
    TEST(impulses_spare_the_faces_and_do_something), TEST(only_some_sides_are_taken),
};
TEST_MAIN(cases)
