/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_targets: see actor_targets.h.
 *
 * Times and rates are of a GPU that sits behind PCIe 5; ratios are to what the same machine does by
 * hand in the same run.
 */
#include "suites/actor_targets.h"

/* ISO C promises 4095 bytes of a literal; gcc and clang have no such limit. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* The members of a target are JSON as they stand. */
#define FIRST(source_text, ...) "{\"source\": \"" source_text "\", " #__VA_ARGS__ "}"
#define ROW(source_text, ...) ",\n" FIRST(source_text, __VA_ARGS__)

#define LATENCY "actors, one message at a time"
#define RATE "actors, many messages"
#define ONE "actors, many messages, by one block"
#define CREW "actors, many messages, by a crew of two blocks"
#define LASTING "actors, for a minute"
#define HOST "actors, on CPUs"

/* clang-format off */
const char gyre_actor_targets[] = "{\"schema\": \"gyre.targets/1\", \"targets\": [\n"

FIRST(LATENCY, "id": "actor/round_trip/cuda/quad/1", "quantity": "ratio", "at_most": 1.15,
    "to": "actor_floor/bare_echo/cuda")
ROW(LATENCY, "id": "actor/round_trip/cuda/quad/1", "quantity": "median_ns", "at_most": 2000)
ROW(LATENCY, "id": "actor/round_trip/cuda/quad/1", "quantity": "p99_ns", "at_most": 2800)
ROW(LATENCY, "id": "actor/round_trip_telemetry/cuda", "quantity": "ratio", "at_most": 1.01,
    "to": "actor/round_trip_no_telemetry/cuda")

ROW(ONE, "id": "actor/pairs/cuda/2", "quantity": "items_per_s", "at_least": 100000000,
    "note": "by hand: actor_floor/bare_pairs/cuda/2")
ROW(CREW, "id": "actor/crew_pairs/cuda/2", "quantity": "items_per_s", "at_least": 100000000,
    "note": "by hand: actor_floor/bare_crew_pairs/cuda/2")
ROW(ONE, "id": "actor/stream/cuda/1", "quantity": "items_per_s", "at_least": 150000000,
    "note": "by hand: actor_floor/bare_stream/cuda/1")
ROW(ONE, "id": "actor/stream/cuda/2", "quantity": "items_per_s", "at_least": 150000000,
    "note": "by hand: actor_floor/bare_stream/cuda/2")
ROW(CREW, "id": "actor/crew_stream/cuda/1", "quantity": "items_per_s", "at_least": 150000000,
    "note": "by hand: actor_floor/bare_crew_stream/cuda/1")
ROW(CREW, "id": "actor/crew_stream/cuda/2", "quantity": "items_per_s", "at_least": 150000000,
    "note": "by hand: actor_floor/bare_crew_stream/cuda/2")
ROW(RATE, "id": "actor/block_pairs/cuda/1", "quantity": "items_per_s", "at_least": 3000000)
ROW(RATE, "id": "actor/block_pairs/cuda/8", "quantity": "items_per_s", "at_least": 20000000)
ROW(RATE, "id": "actor/block_stream/cuda/1", "quantity": "items_per_s", "at_least": 3000000,
    "note": "one way")
ROW(RATE, "id": "actor/block_stream/cuda/8", "quantity": "items_per_s", "at_least": 20000000,
    "note": "one way")
ROW(RATE, "id": "actor/pairs_telemetry/cuda/2", "quantity": "ratio", "at_most": 1.01,
    "to": "actor/pairs_no_telemetry/cuda/2")

#define LASTS(id_text, note_text) \
ROW(LASTING, "id": id_text, "quantity": "counter", "counter": "p5_of_median", "at_least": 0.95, \
    "note": note_text) \
ROW(LASTING, "id": id_text, "quantity": "counter", "counter": "lost", "at_most": 0) \
ROW(LASTING, "id": id_text, "quantity": "counter", "counter": "resident_growth_bytes", \
    "at_most": 8192, "note": "two pages, after the warm-up")
LASTS("actor_sustained/pairs_60s/cuda/2/60", "two host threads")
LASTS("actor_sustained/pairs_60s/cuda/4/60", "four host threads")

ROW(HOST, "id": "actor/round_trip/cpu/quad/1", "quantity": "ratio", "at_most": 1.5,
    "to": "actor_floor/bare_echo/cpu", "note": "holds where the two CPUs are far from each other")
ROW(HOST, "id": "actor/round_trip_in_turns/cpu", "quantity": "ratio", "at_most": 1.5,
    "to": "actor_floor/ping_pong_in_turns/cpu",
    "note": "one word that both poll: the stricter of the two")
ROW(HOST, "id": "actor/round_trip/opencl/quad/1", "quantity": "ratio", "at_most": 2,
    "to": "actor_floor/bare_echo/opencl", "note": "on PoCL")
ROW(HOST, "id": "actor/round_trip_in_turns/opencl", "quantity": "ratio", "at_most": 2,
    "to": "actor_floor/ping_pong_in_turns/opencl", "note": "on PoCL; the stricter of the two")

"\n]}\n";
/* clang-format on */
