/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes that reach the reader of targets.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "record/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gyre_targets *targets;
    gyre_status status = gyre_targets_parse((const char *)data, size, "fuzz", &targets);

    assert((status == GYRE_OK) == (targets != NULL));
    if (!targets) {
        assert(status == GYRE_CORRUPT && gyre_error_last()->text[0]);
        return 0;
    }
    assert(targets->count > 0);
    for (size_t i = 0; i < targets->count; i++) {
        const gyre_target *target = &targets->items[i];

        assert(target->limit >= 0);
        assert((target->other != NULL) == (target->quantity == GYRE_TARGET_RATIO));
        assert((target->counter != NULL) == (target->quantity == GYRE_TARGET_COUNTER));
        (void)gyre_target_concerns(target, "throughput/channel/1000");
        assert(target->is_pattern || gyre_target_concerns(target, target->id));
    }
    gyre_targets_destroy(targets);
    return 0;
}
