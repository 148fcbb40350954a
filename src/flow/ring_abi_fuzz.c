/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_abi_fuzz: any bytes in a slot, and any stamp that a reader waits for.
 *
 * The first four bytes are the stamp, the others the slot. Offsets are counted here in bytes, apart
 * from the header's structs: a slot is accepted when all its stamps match, and never otherwise.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flow/ring_abi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* Whether `count` stamps, `apart` bytes from one another, are all the one at `stamp`. */
static int all_match(const uint8_t *first, size_t apart, size_t count, const uint8_t *stamp)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(first + i * apart, stamp, 4) != 0)
            return 0;
    return 1;
}

static void fuzz_slot(const uint8_t *bytes, const uint8_t *stamp_bytes, uint32_t stamp)
{
    gyre_ring_payload got, untouched;
    gyre_ring_slot slot, again;
    int ready;

    memset(&got, 0x5a, sizeof got);
    untouched = got;
    memcpy(&slot, bytes, sizeof slot);
    ready = gyre_ring_read(&slot, stamp, &got);
    require(ready ==
            (all_match(bytes + 12, 16, 4, stamp_bytes) ? GYRE_RING_READY : GYRE_RING_NOT_YET));
    if (ready == GYRE_RING_NOT_YET) {
        require(memcmp(&got, &untouched, sizeof got) == 0);
        return;
    }
    for (size_t q = 0; q < 4; q++) {
        require(memcmp((uint8_t *)&got + 8 * q, bytes + 16 * q, 8) == 0);
        require(memcmp((uint8_t *)&got + 32 + 4 * q, bytes + 16 * q + 8, 4) == 0);
    }
    gyre_ring_write(&again, stamp, &got);
    require(memcmp(&again, bytes, sizeof again) == 0);
}

static void fuzz_wide_slot(const uint8_t *bytes, const uint8_t *stamp_bytes, uint32_t stamp)
{
    gyre_ring_payload got, untouched;
    gyre_ring_wide_slot slot, again;
    int ready;

    memset(&got, 0x5a, sizeof got);
    untouched = got;
    memcpy(&slot, bytes, sizeof slot);
    ready = gyre_ring_wide_read(&slot, stamp, &got);
    require(ready ==
            (all_match(bytes + 4, 8, 12, stamp_bytes) ? GYRE_RING_READY : GYRE_RING_NOT_YET));
    if (ready == GYRE_RING_NOT_YET) {
        require(memcmp(&got, &untouched, sizeof got) == 0);
        return;
    }
    for (size_t i = 0; i < 12; i++)
        require(memcmp((uint8_t *)&got + 4 * i, bytes + 8 * i, 4) == 0);
    gyre_ring_wide_write(&again, stamp, &got);
    require(memcmp(&again, bytes, 96) == 0);
}

/* Whatever is packed comes back, for its own stamp only. */
static void fuzz_payload(const uint8_t *bytes, uint32_t stamp)
{
    gyre_ring_payload sent, got;
    gyre_ring_wide_slot wide;
    gyre_ring_slot slot;

    memcpy(&sent, bytes, sizeof sent);
    gyre_ring_pack(&sent, stamp, &slot);
    require(gyre_ring_unpack(&slot, stamp ^ 1, &got) == GYRE_RING_NOT_YET);
    require(gyre_ring_unpack(&slot, stamp, &got) == GYRE_RING_READY);
    require(memcmp(&got, &sent, sizeof got) == 0);
    gyre_ring_wide_pack(&sent, stamp, &wide);
    require(gyre_ring_wide_unpack(&wide, stamp ^ 1, &got) == GYRE_RING_NOT_YET);
    require(gyre_ring_wide_unpack(&wide, stamp, &got) == GYRE_RING_READY);
    require(memcmp(&got, &sent, sizeof got) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t bytes[4 + sizeof(gyre_ring_wide_slot)] = {0};
    uint32_t stamp;

    if (size > 0)
        memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
    memcpy(&stamp, bytes, 4);
    fuzz_slot(bytes + 4, bytes, stamp);
    fuzz_wide_slot(bytes + 4, bytes, stamp);
    fuzz_payload(bytes + 4, stamp);
    return 0;
}
