/* SPDX-License-Identifier: Apache-2.0
 *
 * suites: the suites of this folder, one per file; suites.c puts them into one table.
 */
#ifndef GYRE_SUITES_H
#define GYRE_SUITES_H

#include "gyre/bench.h"

extern const gyre_suite gyre_suite_actor;
extern const gyre_suite gyre_suite_actor_beside;
extern const gyre_suite gyre_suite_actor_floor;
extern const gyre_suite gyre_suite_actor_floor_echo;
extern const gyre_suite gyre_suite_actor_idle;
extern const gyre_suite gyre_suite_actor_life;
extern const gyre_suite gyre_suite_actor_rate;
extern const gyre_suite gyre_suite_actor_sustained;
extern const gyre_suite gyre_suite_bare_opencl;
extern const gyre_suite gyre_suite_base;
extern const gyre_suite gyre_suite_buffers;
extern const gyre_suite gyre_suite_bytes;
extern const gyre_suite gyre_suite_channel;
extern const gyre_suite gyre_suite_channel_error;
extern const gyre_suite gyre_suite_command;
extern const gyre_suite gyre_suite_device;
extern const gyre_suite gyre_suite_device_error;
extern const gyre_suite gyre_suite_device_memory;
extern const gyre_suite gyre_suite_device_metrics;
extern const gyre_suite gyre_suite_dispatch;
extern const gyre_suite gyre_suite_gpu_batch;
extern const gyre_suite gyre_suite_gpu_batch_device;
extern const gyre_suite gyre_suite_harness;
extern const gyre_suite gyre_suite_interactive;
extern const gyre_suite gyre_suite_interactive_crew;
extern const gyre_suite gyre_suite_kernel;
extern const gyre_suite gyre_suite_launch;
extern const gyre_suite gyre_suite_layout;
extern const gyre_suite gyre_suite_memory_pressure;
extern const gyre_suite gyre_suite_message;
extern const gyre_suite gyre_suite_multi_gpu;
extern const gyre_suite gyre_suite_platform;
extern const gyre_suite gyre_suite_pool;
extern const gyre_suite gyre_suite_queue;
extern const gyre_suite gyre_suite_reply;
extern const gyre_suite gyre_suite_stream;
extern const gyre_suite gyre_suite_transfer;
extern const gyre_suite gyre_suite_transfer_stream;

/* All of them, NULL-terminated. */
extern const gyre_suite *const gyre_suites[];

/* Defines the set-up `name` as setup(c, value, out_fixture): for benchmarks that differ in a value
 * but have names of their own, so that it cannot be an axis. */
#define GYRE_SETUP_WITH(name, setup, value)                                                        \
    static gyre_status name(const gyre_bench_case *c, void **out_fixture)                          \
    {                                                                                              \
        return setup(c, value, out_fixture);                                                       \
    }

#endif
