/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_litmus: see ring_litmus.h.
 *
 * The writer's quarters all follow from their stamp, so the reader can tell a quarter of one write
 * from a quarter of two.
 */
#include "flow/ring_litmus.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "gyre/clock.h"
#include "gyre/cpu.h"
#include "gyre/thread.h"

enum { READS_PER_CLOCK = 256 };

typedef struct trial {
    alignas(128) gyre_ring_slot slot; /* shared; written by the writer with `store` */
    alignas(128) _Atomic bool stop;
    void (*store)(gyre_ring_quarter *to, gyre_ring_quarter quarter);
} trial;

static gyre_ring_quarter quarter_of(gyre_ring_u32 stamp)
{
    return (gyre_ring_quarter){stamp * 0x9e3779b97f4a7c15u, stamp * 0x85ebca6bu, stamp};
}

static bool is_whole(gyre_ring_quarter quarter)
{
    const gyre_ring_quarter whole = quarter_of(quarter.stamp);

    return quarter.eight == whole.eight && quarter.four == whole.four;
}

static void write_on(void *arg)
{
    trial *const t = arg;

    /* relaxed: says when to stop, and nothing else */
    for (gyre_ring_u32 stamp = 1; !atomic_load_explicit(&t->stop, memory_order_relaxed); stamp++)
        for (int q = 0; q < 4; q++)
            t->store(&t->slot.quarter[q], quarter_of(stamp));
}

static void read_on(trial *t, uint64_t end_ns, gyre_ring_verdict *verdict)
{
    gyre_ring_u32 last[4] = {0};

    do {
        for (int i = 0; i < READS_PER_CLOCK; i++) {
            const gyre_ring_quarter quarter = gyre_ring_load_quarter(&t->slot.quarter[i % 4]);

            verdict->reads++;
            verdict->overlaps += quarter.stamp != last[i % 4];
            verdict->torn += !is_whole(quarter);
            last[i % 4] = quarter.stamp;
        }
    } while (gyre_clock_now_ns() < end_ns);
}

gyre_status gyre_ring_litmus_with(void (*store)(gyre_ring_quarter *to, gyre_ring_quarter quarter),
                                  bool promised, uint64_t budget_ns, gyre_ring_verdict *out_verdict)
{
    static const gyre_thread_options options = {.struct_size = sizeof options,
                                                .name = "gyre-litmus"};
    trial t = {.store = store};
    gyre_thread *writer;
    gyre_status status;

    *out_verdict = (gyre_ring_verdict){.promised = promised, .because = "it could not be tried"};
    status = gyre_thread_start(write_on, &t, &options, &writer);
    if (status != GYRE_OK)
        return status;
    read_on(&t, gyre_clock_after_ns(budget_ns), out_verdict);
    /* relaxed: as in write_on */
    atomic_store_explicit(&t.stop, true, memory_order_relaxed);
    gyre_thread_stop(writer);

    out_verdict->quarters = promised && out_verdict->torn == 0;
    out_verdict->because = out_verdict->torn > 0 ? "16-byte accesses were seen half done"
                           : promised            ? "the processor promises whole 16-byte accesses"
                                      : "the processor does not promise whole 16-byte accesses";
    return GYRE_OK;
}

gyre_status gyre_ring_litmus(uint64_t budget_ns, gyre_ring_verdict *out_verdict)
{
    const bool promised = gyre_cpu_has(GYRE_CPU_AVX) || gyre_cpu_has(GYRE_CPU_USCAT);

    return gyre_ring_litmus_with(gyre_ring_store_quarter, promised, budget_ns, out_verdict);
}
