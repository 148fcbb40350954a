/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text as --axis: it is refused, or gives 1 to 32 values and leaves the name alone.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/axis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try(const gyre_axis_choice *choice, gyre_axis axis)
{
    const gyre_axis before = axis;

    if (gyre_axis_choose(choice, &axis) != GYRE_OK) {
        if (memcmp(&axis, &before, sizeof axis) != 0)
            abort();
    } else if (axis.count < 1 || axis.count > GYRE_AXIS_VALUES || axis.name != before.name) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const gyre_axis numbers = GYRE_AXIS("n", 1, 2), words = GYRE_AXIS_WORDS("n", "block", "drop");
    gyre_axis_choice choice;
    char text[256];

    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (gyre_axis_choice_parse(text, &choice) != GYRE_OK)
        return 0;
    try(&choice, numbers);
    try(&choice, words);
    return 0;
}
