/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre/command.h"

#include <stdbool.h>
#include <stdlib.h>

#include "test.h"

enum { LARGEST = sizeof(gyre_command) };

static const uint32_t GRID[3] = {2, 3, 4}, BLOCK[3] = {32, 2, 1};
static const char WORDS[] = "parameters";

static void count_release(void *user, const void *data, size_t size)
{
    (void)data, (void)size;
    ++*(int *)user;
}

/* One command of each kind that refers to something, and how often that was released. */
static gyre_command to_device(int *released)
{
    gyre_command command = {.kind = GYRE_COMMAND_TO_DEVICE, .as.to_device = {.buffer = 7}};

    CHECK(gyre_bytes_wrap(WORDS, sizeof WORDS, count_release, released,
                          &command.as.to_device.data) == GYRE_OK);
    return command;
}

static gyre_command launch_shared(int *released)
{
    gyre_command command;

    CHECK(gyre_command_launch(1, GRID, BLOCK, NULL, 0, &command) == GYRE_OK);
    command.kind = GYRE_COMMAND_LAUNCH_SHARED;
    CHECK(gyre_bytes_wrap(WORDS, sizeof WORDS, count_release, released,
                          &command.as.launch.parameters.shared) == GYRE_OK);
    return command;
}

static gyre_command launch(size_t size)
{
    const unsigned char parameters[GYRE_COMMAND_PARAMETERS] = {1, 2, 3};
    gyre_command command;

    CHECK(gyre_command_launch(9, GRID, BLOCK, parameters, size, &command) == GYRE_OK);
    return command;
}

/* The check on a copy of exactly `size` bytes, so that the sanitizer sees one byte more, and on one
 * at an odd address. */
static gyre_status check_exactly(const gyre_command *command, size_t size)
{
    unsigned char *exact = malloc(size ? size : 1), *odd = malloc(size + 1);
    gyre_status status = GYRE_INTERNAL;

    if (exact && odd) {
        memcpy(exact, command, size);
        memcpy(odd + 1, command, size);
        status = gyre_command_check(exact, size);
        CHECK(gyre_command_check(odd + 1, size) == status);
    }
    free(exact);
    free(odd);
    return status;
}

static void size_is_what_the_kind_uses(void)
{
    int released = 0;
    gyre_command command = {.kind = GYRE_COMMAND_SYNCHRONIZE};

    CHECK(gyre_command_size(&command) == 8);
    command.kind = GYRE_COMMAND_FROM_DEVICE;
    CHECK(gyre_command_size(&command) == 32);
    command = to_device(&released);
    CHECK(gyre_command_size(&command) == 48);
    gyre_command_drop(NULL, &command, 48);
    command = launch(0);
    CHECK(gyre_command_size(&command) == 48);
    command = launch(5);
    CHECK(gyre_command_size(&command) == 53);
    command = launch(GYRE_COMMAND_PARAMETERS);
    CHECK(gyre_command_size(&command) == sizeof(gyre_command));
    command = launch_shared(&released);
    CHECK(gyre_command_size(&command) == 72);
    gyre_command_drop(NULL, &command, 72);
    CHECK(released == 2);
}

static void no_command_has_no_size(void)
{
    const uint32_t kinds[] = {0, GYRE_COMMAND_LAUNCH_SHARED + 1, 255, UINT32_MAX};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        CHECK(gyre_command_size(&(gyre_command){.kind = kinds[i]}) == 0);
    CHECK(gyre_command_size(
              &(gyre_command){.kind = GYRE_COMMAND_LAUNCH, .as.launch.parameters_size = 129}) == 0);
    CHECK(gyre_command_size(&(gyre_command){.kind = GYRE_COMMAND_LAUNCH,
                                            .as.launch.parameters_size = UINT32_MAX}) == 0);
}

static void launch_holds_what_it_was_given(void)
{
    unsigned char parameters[GYRE_COMMAND_PARAMETERS];
    gyre_command command;

    for (size_t i = 0; i < sizeof parameters; i++)
        parameters[i] = (unsigned char)(i + 1);
    memset(&command, 0xff, sizeof command);
    REQUIRE(gyre_command_launch(77, GRID, BLOCK, parameters, 128, &command) == GYRE_OK);
    CHECK(command.kind == GYRE_COMMAND_LAUNCH && command.stream == 0);
    CHECK(command.as.launch.kernel == 77 && command.as.launch.shared_bytes == 0);
    CHECK(memcmp(command.as.launch.grid, GRID, sizeof GRID) == 0);
    CHECK(memcmp(command.as.launch.block, BLOCK, sizeof BLOCK) == 0);
    CHECK(command.as.launch.parameters_size == 128);
    CHECK(memcmp(command.as.launch.parameters.inline_bytes, parameters, 128) == 0);
}

static void more_parameters_than_fit_are_refused(void)
{
    const unsigned char parameters[GYRE_COMMAND_PARAMETERS + 1] = {0};
    gyre_command command;

    CHECK(gyre_command_launch(1, GRID, BLOCK, parameters, 129, &command) == GYRE_INVALID);
    CHECK(command.kind == 0);
    CHECK(gyre_command_launch(1, GRID, BLOCK, parameters, SIZE_MAX, &command) == GYRE_INVALID);
    CHECK(gyre_command_launch(1, GRID, BLOCK, NULL, 1, &command) == GYRE_INVALID);
    CHECK(command.kind == 0);
    CHECK(gyre_command_launch(1, GRID, BLOCK, NULL, 0, &command) == GYRE_OK);
}

/* Every size for every kind: the one that gyre_command_size says passes, and no other. */
static void only_the_right_size_passes_the_check(void)
{
    int released = 0;
    gyre_command commands[] = {
        {.kind = GYRE_COMMAND_SYNCHRONIZE, .stream = 3},
        {.kind = GYRE_COMMAND_FROM_DEVICE, .as.from_device = {1, 2, 3}},
        to_device(&released),
        launch(0),
        launch(1),
        launch(64),
        launch(GYRE_COMMAND_PARAMETERS),
        launch_shared(&released),
    };

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const size_t right = gyre_command_size(&commands[i]);

        for (size_t size = 0; size <= LARGEST; size++)
            CHECK(check_exactly(&commands[i], size) == (size == right ? GYRE_OK : GYRE_CORRUPT));
        gyre_command_drop(NULL, &commands[i], right);
    }
    CHECK(released == 2);
    CHECK(gyre_command_check(&commands[0], LARGEST + 1) == GYRE_CORRUPT);
    CHECK(gyre_command_check(&commands[0], SIZE_MAX) == GYRE_CORRUPT);
}

static void hostile_kinds_and_parameters_fail_the_check(void)
{
    gyre_command command = launch(16);

    for (uint32_t kind = GYRE_COMMAND_LAUNCH_SHARED + 1; kind < 300; kind++)
        for (size_t size = 0; size <= LARGEST; size += 8) {
            command.kind = kind;
            CHECK(check_exactly(&command, size) == GYRE_CORRUPT);
        }
    command.kind = 0;
    CHECK(check_exactly(&command, 8) == GYRE_CORRUPT);
    command.kind = GYRE_COMMAND_LAUNCH;
    /* sums that wrap in 32 bits to what was sent are no sums */
    command.as.launch.parameters_size = UINT32_MAX - 47;
    for (size_t size = 0; size <= LARGEST; size++)
        CHECK(check_exactly(&command, size) == GYRE_CORRUPT);
    command.as.launch.parameters_size = 129;
    CHECK(check_exactly(&command, LARGEST) == GYRE_CORRUPT);
    command.kind = GYRE_COMMAND_LAUNCH_SHARED;
    command.as.launch.parameters_size = 24;
    CHECK(check_exactly(&command, 72) == GYRE_CORRUPT);
}

static void share_and_drop_balance(void)
{
    for (int kind = 0; kind < 2; kind++) {
        int released = 0;
        gyre_command first = kind ? launch_shared(&released) : to_device(&released), second;
        const size_t size = gyre_command_size(&first);

        memcpy(&second, &first, size);
        gyre_command_share(NULL, &second, size);
        gyre_command_drop(NULL, &first, size);
        CHECK(released == 0);
        gyre_command_drop(NULL, &first, size); /* refers to nothing by now */
        CHECK(released == 0);
        gyre_command_drop(NULL, &second, size);
        CHECK(released == 1);
    }
}

/* Whoever sends the whole struct, instead of the part that is used, loses nothing. */
static void whole_struct_is_shared_and_dropped_too(void)
{
    int released = 0;
    gyre_command first = to_device(&released), second = first;

    gyre_command_share(NULL, &second, sizeof second);
    gyre_command_drop(NULL, &first, sizeof first);
    CHECK(released == 0);
    gyre_command_drop(NULL, &second, sizeof second);
    CHECK(released == 1);
}

static bool are_equal(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

static void items_that_refer_to_nothing_are_left_alone(void)
{
    int released = 0;
    gyre_command commands[] = {
        {.kind = 0},
        {.kind = GYRE_COMMAND_SYNCHRONIZE},
        {.kind = GYRE_COMMAND_FROM_DEVICE, .as.from_device = {UINT64_MAX, UINT64_MAX, UINT64_MAX}},
        {.kind = 99},
        launch(GYRE_COMMAND_PARAMETERS),
    };
    gyre_command shortened = to_device(&released);

    memset(commands[4].as.launch.parameters.inline_bytes, 0xff, GYRE_COMMAND_PARAMETERS);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const gyre_command before = commands[i];

        gyre_command_share(NULL, &commands[i], LARGEST);
        gyre_command_drop(NULL, &commands[i], LARGEST);
        CHECK(are_equal(&before, &commands[i], sizeof before));
    }
    for (size_t size = 0; size < 48; size++) {
        gyre_command_share(NULL, &shortened, size);
        gyre_command_drop(NULL, &shortened, size);
    }
    CHECK(released == 0);
    gyre_command_drop(NULL, &shortened, 48);
    CHECK(released == 1);
}

static void channel_options_are_those_of_commands(void)
{
    const gyre_channel_options options = gyre_command_channel();

    CHECK(options.struct_size == sizeof options);
    CHECK(options.item_bytes == sizeof(gyre_command));
    CHECK(options.share == gyre_command_share && options.drop == gyre_command_drop);
    CHECK(options.capacity == 0 && options.delivery == GYRE_DELIVER_ONE && !options.banded);
}

static const test_case cases[] = {
    TEST(size_is_what_the_kind_uses),
    TEST(no_command_has_no_size),
    TEST(launch_holds_what_it_was_given),
    TEST(more_parameters_than_fit_are_refused),
    TEST(only_the_right_size_passes_the_check),
    TEST(hostile_kinds_and_parameters_fail_the_check),
    TEST(share_and_drop_balance),
    TEST(whole_struct_is_shared_and_dropped_too),
    TEST(items_that_refer_to_nothing_are_left_alone),
    TEST(channel_options_are_those_of_commands),
};
TEST_MAIN(cases)
