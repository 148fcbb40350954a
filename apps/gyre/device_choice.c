/* SPDX-License-Identifier: Apache-2.0
 *
 * device_choice: see device_choice.h.
 */
#include "device_choice.h"

#include "base/fail.h"

gyre_status device_choice(const gyre_args *args, size_t row,
                          bool (*wanted)(const gyre_device *device),
                          const gyre_device *list[GYRE_MONITOR_DEVICES], size_t *out_count)
{
    const char *names[GYRE_REPEATS_MAX];
    const size_t asked = gyre_args_values(args, row, names, GYRE_REPEATS_MAX);
    const gyre_device *device;
    size_t count = 0;

    *out_count = 0;
    for (size_t i = 0; i < asked; i++) {
        bool twice = false;

        device = gyre_device_find(names[i]);
        if (!device)
            return GYRE_NOT_FOUND;
        for (size_t k = 0; k < count; k++)
            twice |= list[k] == device;
        if (twice)
            continue;
        if (count == GYRE_MONITOR_DEVICES)
            return gyre_fail(GYRE_INVALID, "--device: %d devices at most", GYRE_MONITOR_DEVICES);
        list[count++] = device;
    }
    for (size_t i = 0; asked == 0 && count < GYRE_MONITOR_DEVICES && (device = gyre_device_at(i));
         i++)
        if (wanted(device))
            list[count++] = device;
    *out_count = count;
    return GYRE_OK;
}
