#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# With the slot size known at the call, push and pop leave no memcpy behind.
. "$(dirname "$0")/../../tests/sh.sh"

# compiles QUEUE SLOT_SIZE: into $work/out, the assembler of one push and one pop
compiles()
{
    sed "s/QUEUE/$1/g; s/SLOT_SIZE/$2/g" >"$work/unit.c" <<'END'
#include "gyre/QUEUE.h"
bool push(gyre_QUEUE *queue, const uint64_t *slot, size_t size);
bool pop(gyre_QUEUE *queue, uint64_t *slot, size_t size);
bool push(gyre_QUEUE *queue, const uint64_t *slot, size_t size)
{
    return gyre_QUEUE_push(queue, slot, SLOT_SIZE) && size > 0;
}
bool pop(gyre_QUEUE *queue, uint64_t *slot, size_t size)
{
    return gyre_QUEUE_pop(queue, slot, SLOT_SIZE) && size > 0;
}
END
    exits 0 "${CC:-cc}" -std=c11 -O2 -DNDEBUG -I"$root/include" -S -o - "$work/unit.c"
}
plain() { compiles "$1" 8 && ! says out memcpy; }
copied() { compiles "$1" size && says out memcpy; }

for queue in spsc mpmc; do
    claim "${queue}_moves_eight_bytes_without_memcpy" plain $queue
    claim "${queue}_moves_a_size_known_only_at_run_time_with_memcpy" copied $queue
done
finish
