/* SPDX-License-Identifier: Apache-2.0
 *
 * suites: the table of them. See suites.h.
 */
#include "suites/suites.h"

#include <stddef.h>

/* clang-format off */
const gyre_suite *const gyre_suites[] = {
    &gyre_suite_base,
    &gyre_suite_bytes,
    &gyre_suite_pool,
    &gyre_suite_buffers,
    &gyre_suite_message,
    &gyre_suite_layout,
    &gyre_suite_queue,
    &gyre_suite_channel,
    &gyre_suite_channel_error,
    &gyre_suite_reply,
    &gyre_suite_stream,
    &gyre_suite_command,
    &gyre_suite_device,
    &gyre_suite_kernel,
    &gyre_suite_launch,
    &gyre_suite_transfer,
    &gyre_suite_transfer_stream,
    &gyre_suite_bare_opencl,
    &gyre_suite_device_memory,
    &gyre_suite_memory_pressure,
    &gyre_suite_device_error,
    &gyre_suite_gpu_batch,
    &gyre_suite_gpu_batch_device,
    &gyre_suite_dispatch,
    &gyre_suite_interactive,
    &gyre_suite_interactive_crew,
    &gyre_suite_device_metrics,
    &gyre_suite_platform,
    &gyre_suite_multi_gpu,
    &gyre_suite_actor,
    &gyre_suite_actor_life,
    &gyre_suite_actor_rate,
    &gyre_suite_actor_floor_echo,
    &gyre_suite_actor_floor,
    &gyre_suite_actor_sustained,
    &gyre_suite_actor_idle,
    &gyre_suite_actor_beside,
    &gyre_suite_harness,
    NULL,
};
/* clang-format on */
