/* SPDX-License-Identifier: Apache-2.0
 *
 * command_fuzz: any bytes, as a command from outside.
 *
 * What passes the check is a command whose size gyre_command_size agrees with; what does not pass
 * is none by a second reading of the rules that shares no code with the first. Nothing outside the
 * input is read, at whatever address it stands.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static uint32_t word_at(const uint8_t *data, size_t size, size_t offset)
{
    uint32_t word = 0;

    if (size >= offset + sizeof word)
        memcpy(&word, data + offset, sizeof word);
    return word;
}

/* The rules as the header tells them, in numbers. */
static bool is_command(const uint8_t *data, size_t size)
{
    const uint32_t kind = word_at(data, size, 0), parameters = word_at(data, size, 44);

    return (kind == 1 && size == 8) || (kind == 2 && size == 48) || (kind == 3 && size == 32) ||
           (kind == 4 && size >= 48 && size <= 176 && parameters == size - 48) ||
           (kind == 5 && size == 72 && parameters == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gyre_command command = {0};

    require((gyre_command_check(data, size) == GYRE_OK) == is_command(data, size));
    if (size > 0)
        memcpy(&command, data, size < sizeof command ? size : sizeof command);
    if (is_command(data, size))
        require(gyre_command_size(&command) == size);
    require(gyre_command_size(&command) <= sizeof command);
    return 0;
}
