/* SPDX-License-Identifier: Apache-2.0
 *
 * interactive_targets: see interactive_targets.h.
 *
 * All are ratios of the same run: an actor is to take no longer than the other way.
 */
#include "suites/interactive_targets.h"

/* The members of a target are JSON as they stand. */
#define FIRST(source_text, ...) "{\"source\": \"" source_text "\", " #__VA_ARGS__ "}"
#define ROW(source_text, ...) ",\n" FIRST(source_text, __VA_ARGS__)

/* clang-format off */
const char gyre_interactive_targets[] = "{\"schema\": \"gyre.targets/1\", \"targets\": [\n"

FIRST("impulses", "id": "interactive/inject_persistent/cuda/64", "quantity": "ratio", "at_most": 1,
    "to": "interactive/inject_traditional/cuda/64")
ROW("impulses", "id": "interactive/inject_persistent/cuda/64", "quantity": "ratio", "at_most": 1,
    "to": "interactive/inject_graph/cuda/64")

ROW("steps", "id": "interactive/step_persistent/cuda/64", "quantity": "ratio", "at_most": 1,
    "to": "interactive/step_traditional/cuda/64")
ROW("steps", "id": "interactive/step_persistent/cuda/64", "quantity": "ratio", "at_most": 1,
    "to": "interactive/step_graph/cuda/64")

ROW("rounds", "id": "interactive/mixed_persistent/cuda/64", "quantity": "ratio", "at_most": 1,
    "to": "interactive/mixed_traditional/cuda/64")
ROW("rounds", "id": "interactive/mixed_persistent/cuda/64", "quantity": "ratio", "at_most": 1,
    "to": "interactive/mixed_graph/cuda/64",
    "note": "mixed_graph_whole beside it is the same without a look in between")

ROW("small operations", "id": "gpu_batch_processing/crew/cuda/256", "quantity": "ratio", "at_most": 1,
    "to": "gpu_batch_processing/single_large_op/cuda/256",
    "note": "20 messages against one launch of all floats, and its sync")
ROW("small operations", "id": "gpu_batch_processing/crew/cuda/256", "quantity": "ratio", "at_most": 1,
    "to": "gpu_batch_processing/bare_single_large_op/cuda/256")

"\n]}\n";
/* clang-format on */
