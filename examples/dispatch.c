/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch: commands for a device through a channel: numbers go there, are squared, and come back.
 *
 *     cc -O2 dispatch.c $(pkg-config --cflags --libs gyre) -o dispatch && ./dispatch
 */
#include <gyre/clock.h>
#include <gyre/dispatch.h>
#include <stdio.h>

typedef struct square_parameters {
    unsigned *numbers;
} square_parameters;

/* One block computes one number: a kernel for the CPU. */
static void square(const gyre_block *block, const void *parameters)
{
    const square_parameters *const p = parameters;

    p->numbers[block->index[0]] *= p->numbers[block->index[0]];
}

static const gyre_entry entries[] = {{"square", square}, {NULL, NULL}};
static const gyre_program program = {
    .struct_size = sizeof program, .name = "square", .functions = entries};

/* Any thread that has the channel can do this; it needs no context. */
static gyre_status ask(gyre_channel *channel, uint64_t kernel, uint64_t buffer, void *address)
{
    static const unsigned numbers[] = {1, 2, 3, 4, 5};
    const square_parameters parameters = {address};
    const uint32_t grid[3] = {5, 1, 1}, block[3] = {1, 1, 1};
    const uint64_t deadline_ns = gyre_clock_after_ns(1000000000);
    gyre_command command = {.kind = GYRE_COMMAND_TO_DEVICE, .as.to_device.buffer = buffer};
    gyre_dispatch_answer answer = {.status = GYRE_OK};
    gyre_status status;

    status = gyre_bytes_wrap(numbers, sizeof numbers, NULL, NULL, &command.as.to_device.data);
    if (status == GYRE_OK)
        status = gyre_dispatch_call(channel, 0, &command, deadline_ns, NULL);
    if (status == GYRE_OK)
        status = gyre_command_launch(kernel, grid, block, &parameters, sizeof parameters, &command);
    if (status == GYRE_OK)
        status = gyre_dispatch_call(channel, 0, &command, deadline_ns, NULL);
    command = (gyre_command){.kind = GYRE_COMMAND_FROM_DEVICE,
                             .as.from_device = {buffer, 0, sizeof numbers}};
    if (status == GYRE_OK)
        status = gyre_dispatch_call(channel, 0, &command, deadline_ns, &answer);
    for (size_t i = 0; i < answer.bytes.size / sizeof numbers[0]; i++)
        printf("%u squared is %u\n", numbers[i],
               ((const unsigned *)(const void *)answer.bytes.data)[i]);
    gyre_bytes_release(&answer.bytes); /* before the dispatcher stops */
    return status;
}

int main(void)
{
    const gyre_channel_options options = gyre_command_channel();
    gyre_context *context = NULL;
    gyre_channel *channel = NULL;
    gyre_dispatch *dispatch = NULL;
    gyre_kernel *kernel = NULL;
    uint64_t kernel_id = 0, buffer = 0;
    void *address = NULL;
    gyre_status status;

    status = gyre_context_create(gyre_device_find("cpu"), NULL, &context);
    if (status == GYRE_OK)
        status = gyre_channel_create(&options, &channel);
    if (status == GYRE_OK)
        status = gyre_dispatch_start(context, channel, NULL, &dispatch);
    if (status == GYRE_OK)
        status = gyre_kernel_create(context, &program, "square", "pointer", NULL, &kernel);
    if (status == GYRE_OK)
        status = gyre_dispatch_kernel(dispatch, kernel, &kernel_id);
    if (status == GYRE_OK)
        status = gyre_dispatch_allocate(dispatch, 64, GYRE_BUFFER_ANY, &buffer);
    if (status == GYRE_OK)
        status = gyre_dispatch_address(dispatch, buffer, &address);
    if (status == GYRE_OK)
        status = ask(channel, kernel_id, buffer, address);
    if (status != GYRE_OK)
        fprintf(stderr, "dispatch: %s\n", gyre_error_last()->text);
    gyre_kernel_release(kernel);
    gyre_dispatch_stop(dispatch);
    gyre_channel_destroy(channel);
    gyre_context_destroy(context);
    return status == GYRE_OK ? 0 : 1;
}
