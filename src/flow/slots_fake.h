/* SPDX-License-Identifier: Apache-2.0
 *
 * slots_fake: slots of any size whose bytes tell which value they hold, for the tests of queues.
 */
#ifndef GYRE_FLOW_SLOTS_FAKE_H
#define GYRE_FLOW_SLOTS_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline unsigned char fake_byte(uint64_t value, size_t at)
{
    return (unsigned char)((value >> at % 8 * 8) + at / 8);
}

static inline void fake_slot(void *slot, size_t slot_size, uint64_t value)
{
    for (size_t i = 0; i < slot_size; i++)
        ((unsigned char *)slot)[i] = fake_byte(value, i);
}

static inline bool is_fake_slot(const void *slot, size_t slot_size, uint64_t value)
{
    for (size_t i = 0; i < slot_size; i++)
        if (((const unsigned char *)slot)[i] != fake_byte(value, i))
            return false;
    return true;
}

/* `count` of them, for values `first`, first + 1, ... */
static inline void fake_slots(void *slots, size_t slot_size, uint64_t count, uint64_t first)
{
    for (uint64_t i = 0; i < count; i++)
        fake_slot((unsigned char *)slots + i * slot_size, slot_size, first + i);
}

static inline bool are_fake_slots(const void *slots, size_t slot_size, uint64_t count,
                                  uint64_t first)
{
    for (uint64_t i = 0; i < count; i++)
        if (!is_fake_slot((const unsigned char *)slots + i * slot_size, slot_size, first + i))
            return false;
    return true;
}

#endif
