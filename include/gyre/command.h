/* SPDX-License-Identifier: Apache-2.0
 *
 * command: what is asked of a device: launch a kernel, move data, synchronise.
 *
 * A command is a plain struct that travels through a channel whose options come from
 * gyre_command_channel. Only the part that its kind uses is copied: the first three kinds need 48
 * bytes, which share a cache line with the slot's header. Parameters of a launch travel inside it
 * up to 128 bytes, larger ones as gyre_bytes.
 *
 * Threads   as plain data.
 * Owns      the gyre_bytes in it; gyre_command_drop releases them.
 * Not here  running commands (gyre/dispatch.h).
 */
#ifndef GYRE_COMMAND_H
#define GYRE_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/bytes.h"
#include "gyre/channel.h"
#include "gyre/common.h"
#include "gyre/status.h"

GYRE_BEGIN_DECLS

/* Values are frozen once released; 0 is no command. */
typedef enum gyre_command_kind {
    GYRE_COMMAND_SYNCHRONIZE = 1,
    GYRE_COMMAND_TO_DEVICE = 2,
    GYRE_COMMAND_FROM_DEVICE = 3,
    GYRE_COMMAND_LAUNCH = 4,        /* parameters inline */
    GYRE_COMMAND_LAUNCH_SHARED = 5, /* parameters in gyre_bytes, and parameters_size is 0 */
} gyre_command_kind;

enum { GYRE_COMMAND_PARAMETERS = 128 };

typedef struct gyre_command {
    uint32_t kind; /* gyre_command_kind */
    uint32_t stream;
    union {
        struct {
            uint64_t buffer;
            uint64_t offset;
            gyre_bytes data;
        } to_device;
        struct {
            uint64_t buffer;
            uint64_t offset;
            uint64_t size;
        } from_device; /* the answer holds the gyre_bytes */
        struct {
            uint64_t kernel;
            uint32_t grid[3];
            uint32_t block[3];
            uint32_t shared_bytes;
            uint32_t parameters_size; /* of the inline ones */
            union {
                unsigned char inline_bytes[GYRE_COMMAND_PARAMETERS];
                gyre_bytes shared;
            } parameters;
        } launch;
    } as;
} gyre_command;

/* The kernel, the grid and the parameters, copied inline. GYRE_INVALID for more than 128 bytes, or
 * some at NULL: for more, launch with none, then set the kind to GYRE_COMMAND_LAUNCH_SHARED and
 * parameters.shared. The stream is 0; room that the parameters leave is not cleared. Thread-safe,
 * never blocks, not for signal handlers; like all below. */
GYRE_API GYRE_MUST_USE gyre_status gyre_command_launch(uint64_t kernel, const uint32_t grid[3],
                                                       const uint32_t block[3],
                                                       const void *parameters, size_t size,
                                                       gyre_command *out_command);

/* How many bytes of the command are used: what to send. 0 for no known kind, or more parameters
 * than there is room for. */
GYRE_API size_t gyre_command_size(const gyre_command *command);

/* Whether bytes from outside, at any address, are a command: known kind, parameters that fit, and
 * exactly the size that gyre_command_size says. GYRE_CORRUPT says why not. What it refers to is not
 * looked at: who believes an address from outside is lost anyway. */
GYRE_API GYRE_MUST_USE gyre_status gyre_command_check(const void *item, size_t size);

/* For the options of a channel: another holder of what the command refers to, and one less, after
 * which it refers to nothing. The receiver of a command drops it too. An item of no known kind,
 * or too short for it, is left alone. */
GYRE_API void gyre_command_share(void *user, void *command, size_t size);
GYRE_API void gyre_command_drop(void *user, void *command, size_t size);

/* Options of a channel for commands: item_bytes, share and drop are set, the rest is default. */
GYRE_API gyre_channel_options gyre_command_channel(void);

GYRE_END_DECLS

#endif
