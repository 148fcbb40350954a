/* SPDX-License-Identifier: Apache-2.0
 *
 * command: sizes, validation and references of commands. See gyre/command.h.
 *
 * Threads   as plain data.
 * Owns      nothing.
 */
#include "gyre/command.h"

#include <string.h>

#include "base/copy.h"
#include "base/fail.h"

enum {
    HEAD = offsetof(gyre_command, as),
    LAUNCH_HEAD = offsetof(gyre_command, as.launch.parameters),
    FIRST_LINE = 64 - 16, /* less the header of a channel's slot */
};

/* Commands are built by callers. */
_Static_assert(sizeof(gyre_command) == 176 && offsetof(gyre_command, stream) == 4 && HEAD == 8,
               "layout is public");
_Static_assert(offsetof(gyre_command, as.to_device.offset) == 16 &&
                   offsetof(gyre_command, as.to_device.data) == 24 &&
                   offsetof(gyre_command, as.from_device.offset) == 16 &&
                   offsetof(gyre_command, as.from_device.size) == 24,
               "layout is public");
_Static_assert(offsetof(gyre_command, as.launch.grid) == 16 &&
                   offsetof(gyre_command, as.launch.block) == 28 &&
                   offsetof(gyre_command, as.launch.shared_bytes) == 40 &&
                   offsetof(gyre_command, as.launch.parameters_size) == 44,
               "layout is public");
/* What needs no parameters shares a line with the slot's header. */
_Static_assert(HEAD + sizeof(((gyre_command *)0)->as.to_device) == FIRST_LINE, "first line");
_Static_assert(HEAD + sizeof(((gyre_command *)0)->as.from_device) <= FIRST_LINE, "first line");
_Static_assert(LAUNCH_HEAD == FIRST_LINE, "first line");

gyre_status gyre_command_launch(uint64_t kernel, const uint32_t grid[3], const uint32_t block[3],
                                const void *parameters, size_t size, gyre_command *out_command)
{
    if (size > GYRE_COMMAND_PARAMETERS || (size > 0 && !parameters)) {
        memset(out_command, 0, sizeof *out_command);
        if (size > GYRE_COMMAND_PARAMETERS)
            return gyre_fail(GYRE_INVALID, "command: %zu bytes of parameters are more than %d",
                             size, GYRE_COMMAND_PARAMETERS);
        return gyre_fail(GYRE_INVALID, "command: %zu bytes of parameters are said to be at NULL",
                         size);
    }
    /* field by field: clearing what is written next costs as much again */
    out_command->kind = GYRE_COMMAND_LAUNCH;
    out_command->stream = 0;
    out_command->as.launch.kernel = kernel;
    memcpy(out_command->as.launch.grid, grid, sizeof out_command->as.launch.grid);
    memcpy(out_command->as.launch.block, block, sizeof out_command->as.launch.block);
    out_command->as.launch.shared_bytes = 0;
    out_command->as.launch.parameters_size = (uint32_t)size;
    gyre_copy(out_command->as.launch.parameters.inline_bytes, parameters, size);
    return GYRE_OK;
}

/* The size of a kind without what its parameters add; 0 for no kind. */
static size_t size_of_kind(uint32_t kind)
{
    switch (kind) {
    case GYRE_COMMAND_SYNCHRONIZE:
        return HEAD;
    case GYRE_COMMAND_TO_DEVICE:
        return HEAD + sizeof(((gyre_command *)0)->as.to_device);
    case GYRE_COMMAND_FROM_DEVICE:
        return HEAD + sizeof(((gyre_command *)0)->as.from_device);
    case GYRE_COMMAND_LAUNCH:
        return LAUNCH_HEAD;
    case GYRE_COMMAND_LAUNCH_SHARED:
        return LAUNCH_HEAD + sizeof(gyre_bytes);
    default:
        return 0;
    }
}

size_t gyre_command_size(const gyre_command *command)
{
    const size_t size = size_of_kind(command->kind);

    if (command->kind != GYRE_COMMAND_LAUNCH)
        return size;
    return command->as.launch.parameters_size <= GYRE_COMMAND_PARAMETERS
               ? size + command->as.launch.parameters_size
               : 0;
}

gyre_status gyre_command_check(const void *item, size_t size)
{
    gyre_command head = {0}; /* the item may stand at any address */
    size_t needed;

    if (size < HEAD || size > sizeof head)
        return gyre_fail(GYRE_CORRUPT, "command: %zu bytes are not %d to %zu", size, HEAD,
                         sizeof head);
    memcpy(&head, item, size < LAUNCH_HEAD ? size : LAUNCH_HEAD);
    needed = size_of_kind(head.kind);
    if (needed == 0)
        return gyre_fail(GYRE_CORRUPT, "command: there is no kind %u", head.kind);
    if (size < needed)
        return gyre_fail(GYRE_CORRUPT, "command: %zu bytes are too few for kind %u", size,
                         head.kind);
    if (head.kind == GYRE_COMMAND_LAUNCH_SHARED && head.as.launch.parameters_size != 0)
        return gyre_fail(GYRE_CORRUPT, "command: %u bytes of parameters beside shared ones",
                         head.as.launch.parameters_size);
    if (gyre_command_size(&head) != size) /* also for more parameters than there is room for */
        return gyre_fail(GYRE_CORRUPT, "command: %zu bytes for kind %u with %u of parameters", size,
                         head.kind,
                         head.kind == GYRE_COMMAND_LAUNCH ? head.as.launch.parameters_size : 0);
    return GYRE_OK;
}

/* What the command refers to; NULL for nothing. */
static gyre_bytes *bytes_of(gyre_command *command, size_t size)
{
    gyre_bytes *bytes;

    if (size < HEAD)
        return NULL;
    if (command->kind == GYRE_COMMAND_TO_DEVICE)
        bytes = &command->as.to_device.data;
    else if (command->kind == GYRE_COMMAND_LAUNCH_SHARED)
        bytes = &command->as.launch.parameters.shared;
    else
        return NULL;
    return size >= size_of_kind(command->kind) ? bytes : NULL;
}

void gyre_command_share(void *user, void *command, size_t size)
{
    gyre_bytes *const bytes = bytes_of(command, size);

    (void)user;
    if (bytes)
        *bytes = gyre_bytes_clone(bytes);
}

void gyre_command_drop(void *user, void *command, size_t size)
{
    gyre_bytes *const bytes = bytes_of(command, size);

    (void)user;
    if (bytes)
        gyre_bytes_release(bytes);
}

gyre_channel_options gyre_command_channel(void)
{
    return (gyre_channel_options){
        .struct_size = sizeof(gyre_channel_options),
        .item_bytes = sizeof(gyre_command),
        .share = gyre_command_share,
        .drop = gyre_command_drop,
    };
}
