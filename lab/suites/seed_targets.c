/* SPDX-License-Identifier: Apache-2.0
 *
 * seed_targets: see seed_targets.h.
 *
 * An upper limit is the end of the range that a document gives, a figure in brackets its middle
 * one, and "N times faster" a ratio of at most 1/N. Notes say what a figure was really taken of
 * where that is not what its name says. Words without numbers ("minimal", "efficient") are left
 * out, but for "constant" and "faster".
 */
#include "suites/seed_targets.h"

/* ISO C promises 4095 bytes of a literal; gcc and clang have no such limit. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* The members of a target are JSON as they stand. */
#define FIRST(source_text, ...) "{\"source\": \"" source_text "\", " #__VA_ARGS__ "}"
#define ROW(source_text, ...) ",\n" FIRST(source_text, __VA_ARGS__)

#define S1_GROUPS "seed 1, Benchmark Groups"
#define S1_TARGETS "seed 1, Performance Targets"
#define S1_CRITERIA "seed 1, Success Criteria"
#define S2_CLONE "seed 2, Zero-Copy Verification"
#define S2_SEND "seed 2, Channel Send Latency"
#define S2_MUTEX "seed 2, Mutex+VecDeque Latency"
#define S2_COMPARISON "seed 2, Performance Comparison"
#define S2_ROUND_TRIP "seed 2, Round-Trip Latency"
#define S2_THROUGHPUT "seed 2, Throughput Benchmarks"
#define S2_BACKPRESSURE "seed 2, Backpressure Scenarios"
#define S2_POOL "seed 2, Memory Pool Operations"
#define S2_CONTENTION "seed 2, Contention Scenarios"
#define S2_PROCESSING "seed 2, Command Processing Patterns"
#define S2_SUMMARY "seed 2, Summary Table"
#define S3_TARGETS "seed 3, Target Performance Metrics"
#define S3_SERIALIZATION "seed 3, Serialization Performance"
#define S3_ALLOCATION "seed 3, Memory Allocation"
#define S3_LAYOUT "seed 3, Memory Layout Visualization"
#define S3_INTERACTIVE "seed 3, Interactive Benchmark Results"
#define S3_WHY "seed 3, Why the Dramatic Difference"
#define S3_FRAME "seed 3, Frame Budget Analysis"
#define S4_OVERVIEW "seed 4, Benchmark Overview"
#define S4_SYNC "seed 4, The sync() Method"
#define S5_MEMORY "seed 5, Memory Operations"
#define S5_SIMD "seed 5, SIMD Operations"
#define S5_DEVICE "seed 5, Device Operations"
#define S5_KERNEL "seed 5, Kernel Operations"
#define S5_ISSUES "seed 5, Performance Analysis"

/* clang-format off */
const char gyre_seed_targets[] = "{\"schema\": \"gyre.targets/1\", \"targets\": [\n"

FIRST(S1_GROUPS, "match": "channel_send_latency/.*", "quantity": "median_ns", "at_most": 1000)
ROW(S1_GROUPS, "id": "round_trip_latency/channel_oneshot", "quantity": "ratio", "at_most": 0.5,
    "to": "round_trip_latency/mutex_vecdeque",
    "note": "the polling of the second is one thread that does not poll")
ROW(S1_GROUPS, "match": "throughput/channel/.*", "quantity": "items_per_s", "at_least": 100000)
ROW(S1_GROUPS, "match": "throughput/mutex_vecdeque/.*", "quantity": "items_per_s",
    "at_least": 10000)
ROW(S1_GROUPS, "id": "backpressure/channel_bounded_100", "quantity": "ratio", "at_most": 1,
    "to": "backpressure/mutex_vecdeque_limited",
    "note": "the original channel overwrites its oldest: nothing was held back")
ROW(S1_GROUPS, "match": "bytes_clone/.*", "quantity": "median_ns", "at_most": 100)
ROW(S1_GROUPS, "id": "bytes_clone/1048576", "quantity": "ratio", "at_most": 1.1,
    "to": "bytes_clone/1024", "note": "constant: within a tenth")
ROW(S1_GROUPS, "id": "memory_pool/allocate_1kb", "quantity": "median_ns", "at_most": 1000,
    "note": "the original creates its pool inside the loop")
ROW(S1_GROUPS, "id": "memory_pool/allocate_1mb", "quantity": "median_ns", "at_most": 1000,
    "note": "the original creates its pool inside the loop")
ROW(S1_GROUPS, "id": "memory_pool/deallocate_1kb", "quantity": "median_ns", "at_most": 500,
    "note": "the original creates its pool inside the loop")
ROW(S1_GROUPS, "id": "memory_pool/read_1kb", "quantity": "median_ns", "at_most": 100)
ROW(S1_GROUPS, "id": "memory_pool/write_1kb", "quantity": "median_ns", "at_most": 100)
ROW(S1_GROUPS, "id": "command_processing/sequential_processing_channel", "quantity": "ratio",
    "at_most": 0.8, "to": "command_processing/sequential_processing_mutex")
ROW(S1_GROUPS, "id": "contention/multi_producer_channel", "quantity": "ratio", "at_most": 0.333,
    "to": "contention/multi_producer_mutex")

ROW(S1_TARGETS, "id": "channel_send_latency/small_command_bounded", "quantity": "median_ns",
    "at_most": 100)
ROW(S1_TARGETS, "id": "mutex_vecdeque_latency/push_small_command", "quantity": "median_ns",
    "at_most": 500)
ROW(S1_TARGETS, "id": "channel_send_latency/small_command_bounded", "quantity": "ratio",
    "at_most": 0.2, "to": "mutex_vecdeque_latency/push_small_command")
ROW(S1_TARGETS, "id": "round_trip_latency/channel_oneshot", "quantity": "median_ns",
    "at_most": 5000)
ROW(S1_TARGETS, "id": "round_trip_latency/mutex_vecdeque", "quantity": "median_ns",
    "at_most": 25000, "note": "the original polls nothing: one thread does both sides")
ROW(S1_TARGETS, "id": "round_trip_latency/channel_oneshot", "quantity": "ratio", "at_most": 0.2,
    "to": "round_trip_latency/mutex_vecdeque",
    "note": "the polling of the second is one thread that does not poll")
ROW(S1_TARGETS, "id": "throughput/channel/1000", "quantity": "items_per_s", "at_least": 500000)
ROW(S1_TARGETS, "id": "throughput/mutex_vecdeque/1000", "quantity": "items_per_s",
    "at_least": 50000)
ROW(S1_TARGETS, "id": "throughput/channel/1000", "quantity": "ratio", "at_most": 0.1,
    "to": "throughput/mutex_vecdeque/1000")
ROW(S1_TARGETS, "id": "contention/multi_producer_channel", "quantity": "median_ns",
    "at_most": 5000000)
ROW(S1_TARGETS, "id": "contention/multi_producer_mutex", "quantity": "median_ns",
    "at_most": 50000000)
ROW(S1_TARGETS, "id": "contention/multi_producer_channel", "quantity": "ratio", "at_most": 0.1,
    "to": "contention/multi_producer_mutex")
ROW(S1_TARGETS, "id": "bytes_clone/1048576", "quantity": "median_ns", "at_most": 100)

ROW(S1_CRITERIA, "id": "channel_send_latency/small_command_bounded", "quantity": "ratio",
    "at_most": 1, "to": "mutex_vecdeque_latency/push_small_command")
ROW(S1_CRITERIA, "id": "channel_send_latency/medium_command_bounded", "quantity": "ratio",
    "at_most": 1, "to": "mutex_vecdeque_latency/push_medium_command")
ROW(S1_CRITERIA, "id": "channel_send_latency/large_command_bounded", "quantity": "ratio",
    "at_most": 1, "to": "mutex_vecdeque_latency/push_large_command")
ROW(S1_CRITERIA, "id": "throughput/channel/10000", "quantity": "ratio", "at_most": 1000,
    "to": "throughput/channel/10", "note": "linear: a thousand times the work in that much time")
ROW(S1_CRITERIA, "id": "bytes_clone/1048576", "quantity": "ratio", "at_most": 1.1,
    "to": "bytes_clone/1024", "note": "constant: within a tenth")

ROW(S2_CLONE, "id": "bytes_clone/1024", "quantity": "median_ns", "at_most": 3.305)
ROW(S2_CLONE, "id": "bytes_clone/65536", "quantity": "median_ns", "at_most": 3.3663)
ROW(S2_CLONE, "id": "bytes_clone/1048576", "quantity": "median_ns", "at_most": 3.4776)
ROW(S2_CLONE, "id": "bytes_clone/1024", "quantity": "bytes_per_s", "at_least": 3.0983e11,
    "note": "bytes that are referred to; none moves")
ROW(S2_CLONE, "id": "bytes_clone/65536", "quantity": "bytes_per_s", "at_least": 1.9468e13,
    "note": "bytes that are referred to; none moves")
ROW(S2_CLONE, "id": "bytes_clone/1048576", "quantity": "bytes_per_s", "at_least": 3.0152e14,
    "note": "bytes that are referred to; none moves")

ROW(S2_SEND, "id": "channel_send_latency/small_command_bounded", "quantity": "median_ns",
    "at_most": 45.8)
ROW(S2_SEND, "id": "channel_send_latency/medium_command_bounded", "quantity": "median_ns",
    "at_most": 52.7)
ROW(S2_SEND, "id": "channel_send_latency/large_command_bounded", "quantity": "median_ns",
    "at_most": 48.5, "note": "with the buffer built beforehand")

ROW(S2_MUTEX, "id": "mutex_vecdeque_latency/push_small_command", "quantity": "median_ns",
    "at_most": 126.2)
ROW(S2_MUTEX, "id": "mutex_vecdeque_latency/push_medium_command", "quantity": "median_ns",
    "at_most": 139.5)
ROW(S2_MUTEX, "id": "mutex_vecdeque_latency/push_large_command", "quantity": "median_ns",
    "at_most": 146.8)
ROW(S2_MUTEX, "id": "mutex_vecdeque_latency/pop_command", "quantity": "median_ns", "at_most": 99.1)
ROW(S2_MUTEX, "id": "mutex_vecdeque_latency/push_pop_cycle", "quantity": "median_ns",
    "at_most": 217.2)

ROW(S2_COMPARISON, "id": "channel_send_latency/small_command_bounded", "quantity": "ratio",
    "at_most": 0.37, "to": "mutex_vecdeque_latency/push_small_command")
ROW(S2_COMPARISON, "id": "channel_send_latency/medium_command_bounded", "quantity": "ratio",
    "at_most": 0.385, "to": "mutex_vecdeque_latency/push_medium_command")
ROW(S2_COMPARISON, "id": "channel_send_latency/large_command_bounded", "quantity": "ratio",
    "at_most": 0.323, "to": "mutex_vecdeque_latency/push_large_command",
    "note": "of two sends, one builds its buffer inside the loop")

ROW(S2_ROUND_TRIP, "id": "round_trip_latency/channel_oneshot", "quantity": "median_ns",
    "at_most": 2480)
ROW(S2_ROUND_TRIP, "id": "round_trip_latency/mutex_vecdeque", "quantity": "median_ns",
    "at_most": 12600, "note": "the original polls nothing: one thread does both sides")
ROW(S2_ROUND_TRIP, "id": "round_trip_latency/channel_oneshot", "quantity": "ratio",
    "at_most": 0.2, "to": "round_trip_latency/mutex_vecdeque",
    "note": "the polling of the second is one thread that does not poll")

ROW(S2_THROUGHPUT, "id": "throughput/channel/10", "quantity": "median_ns", "at_most": 8310)
ROW(S2_THROUGHPUT, "id": "throughput/channel/100", "quantity": "median_ns", "at_most": 83200)
ROW(S2_THROUGHPUT, "id": "throughput/channel/1000", "quantity": "median_ns", "at_most": 831000)
ROW(S2_THROUGHPUT, "id": "throughput/channel/10000", "quantity": "median_ns", "at_most": 8310000)
ROW(S2_THROUGHPUT, "match": "throughput/channel/.*", "quantity": "items_per_s",
    "at_least": 1200000)
ROW(S2_THROUGHPUT, "id": "throughput/channel/10000", "quantity": "ratio", "at_most": 1000,
    "to": "throughput/channel/10", "note": "linear: a thousand times the work in that much time")
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/10", "quantity": "median_ns",
    "at_most": 12700)
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/100", "quantity": "median_ns",
    "at_most": 138000)
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/1000", "quantity": "median_ns",
    "at_most": 1480000)
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/10000", "quantity": "median_ns",
    "at_most": 15500000)
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/10", "quantity": "items_per_s",
    "at_least": 787000)
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/100", "quantity": "items_per_s",
    "at_least": 725000)
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/1000", "quantity": "items_per_s",
    "at_least": 676000)
ROW(S2_THROUGHPUT, "id": "throughput/mutex_vecdeque/10000", "quantity": "items_per_s",
    "at_least": 645000)
ROW(S2_THROUGHPUT, "id": "throughput/channel/10", "quantity": "ratio", "at_most": 0.667,
    "to": "throughput/mutex_vecdeque/10")
ROW(S2_THROUGHPUT, "id": "throughput/channel/10000", "quantity": "ratio", "at_most": 0.526,
    "to": "throughput/mutex_vecdeque/10000")

ROW(S2_BACKPRESSURE, "id": "backpressure/channel_bounded_100", "quantity": "median_ns",
    "at_most": 12700000,
    "note": "the original loses commands, cannot end, and sleeps 1 ms where it says 10 us")
ROW(S2_BACKPRESSURE, "id": "backpressure/mutex_vecdeque_limited", "quantity": "median_ns",
    "at_most": 16200000, "note": "the original sleeps 1 ms where it says 10 us")
ROW(S2_BACKPRESSURE, "id": "backpressure/channel_bounded_100", "quantity": "ratio",
    "at_most": 0.769, "to": "backpressure/mutex_vecdeque_limited",
    "note": "the original channel overwrites its oldest: nothing was held back")

ROW(S2_POOL, "id": "memory_pool/allocate_1kb", "quantity": "median_ns", "at_most": 248,
    "note": "the original creates its pool inside the loop")
ROW(S2_POOL, "id": "memory_pool/allocate_1mb", "quantity": "median_ns", "at_most": 43100,
    "note": "the original creates its pool inside the loop")
ROW(S2_POOL, "id": "memory_pool/allocate_1mb_zeroed", "quantity": "median_ns", "at_most": 43100,
    "note": "the original includes zeroing, and creates its pool inside the loop")
ROW(S2_POOL, "id": "memory_pool/deallocate_1kb", "quantity": "median_ns", "at_most": 127,
    "note": "the original creates its pool inside the loop")
ROW(S2_POOL, "id": "memory_pool/write_1kb", "quantity": "median_ns", "at_most": 79.1,
    "note": "the original creates its pool inside the loop")
ROW(S2_POOL, "id": "memory_pool/read_1kb", "quantity": "median_ns", "at_most": 83.2,
    "note": "the original creates its pool inside the loop")
ROW(S2_POOL, "id": "memory_pool/alloc_dealloc_cycle", "quantity": "median_ns", "at_most": 380,
    "note": "the original creates its pool inside the loop")

ROW(S2_CONTENTION, "id": "contention/multi_producer_channel", "quantity": "median_ns",
    "at_most": 2910000)
ROW(S2_CONTENTION, "id": "contention/multi_producer_mutex", "quantity": "median_ns",
    "at_most": 29200000)
ROW(S2_CONTENTION, "id": "contention/multi_producer_channel", "quantity": "items_per_s",
    "at_least": 343000)
ROW(S2_CONTENTION, "id": "contention/multi_producer_mutex", "quantity": "items_per_s",
    "at_least": 34000)
ROW(S2_CONTENTION, "id": "contention/multi_producer_channel", "quantity": "ratio", "at_most": 0.1,
    "to": "contention/multi_producer_mutex")

ROW(S2_PROCESSING, "id": "command_processing/sequential_processing_channel",
    "quantity": "median_ns", "at_most": 83200)
ROW(S2_PROCESSING, "id": "command_processing/sequential_processing_mutex",
    "quantity": "median_ns", "at_most": 127000)
ROW(S2_PROCESSING, "id": "command_processing/sequential_processing_channel", "quantity": "ratio",
    "at_most": 0.667, "to": "command_processing/sequential_processing_mutex")

ROW(S2_SUMMARY, "match": "channel_send_latency/(small|medium|large)_command_bounded",
    "quantity": "median_ns", "at_most": 53)
ROW(S2_SUMMARY, "match": "mutex_vecdeque_latency/push_(small|medium|large)_command",
    "quantity": "median_ns", "at_most": 148)
ROW(S2_SUMMARY, "id": "channel_send_latency/small_command_bounded", "quantity": "ratio",
    "at_most": 0.385, "to": "mutex_vecdeque_latency/push_small_command")
ROW(S2_SUMMARY, "id": "round_trip_latency/channel_oneshot", "quantity": "median_ns",
    "at_most": 2500)
ROW(S2_SUMMARY, "id": "round_trip_latency/mutex_vecdeque", "quantity": "median_ns",
    "at_most": 12600, "note": "the original polls nothing: one thread does both sides")
ROW(S2_SUMMARY, "id": "round_trip_latency/channel_oneshot", "quantity": "ratio", "at_most": 0.2,
    "to": "round_trip_latency/mutex_vecdeque",
    "note": "the polling of the second is one thread that does not poll")
ROW(S2_SUMMARY, "id": "throughput/channel/10", "quantity": "items_per_s", "at_least": 1200000)
ROW(S2_SUMMARY, "id": "throughput/mutex_vecdeque/10", "quantity": "items_per_s",
    "at_least": 800000)
ROW(S2_SUMMARY, "id": "throughput/channel/10", "quantity": "ratio", "at_most": 0.667,
    "to": "throughput/mutex_vecdeque/10")
ROW(S2_SUMMARY, "id": "throughput/channel/10000", "quantity": "items_per_s", "at_least": 1200000)
ROW(S2_SUMMARY, "id": "throughput/mutex_vecdeque/10000", "quantity": "items_per_s",
    "at_least": 640000)
ROW(S2_SUMMARY, "id": "throughput/channel/10000", "quantity": "ratio", "at_most": 0.526,
    "to": "throughput/mutex_vecdeque/10000")
ROW(S2_SUMMARY, "id": "contention/multi_producer_channel", "quantity": "median_ns",
    "at_most": 2900000)
ROW(S2_SUMMARY, "id": "contention/multi_producer_mutex", "quantity": "median_ns",
    "at_most": 29000000)
ROW(S2_SUMMARY, "id": "contention/multi_producer_channel", "quantity": "ratio", "at_most": 0.1,
    "to": "contention/multi_producer_mutex")
ROW(S2_SUMMARY, "id": "command_processing/sequential_processing_channel",
    "quantity": "median_ns", "at_most": 83000)
ROW(S2_SUMMARY, "id": "command_processing/sequential_processing_mutex", "quantity": "median_ns",
    "at_most": 127000)
ROW(S2_SUMMARY, "id": "command_processing/sequential_processing_channel", "quantity": "ratio",
    "at_most": 0.667, "to": "command_processing/sequential_processing_mutex")
ROW(S2_SUMMARY, "id": "backpressure/channel_bounded_100", "quantity": "median_ns",
    "at_most": 12700000,
    "note": "the original loses commands, cannot end, and sleeps 1 ms where it says 10 us")
ROW(S2_SUMMARY, "id": "backpressure/mutex_vecdeque_limited", "quantity": "median_ns",
    "at_most": 16200000, "note": "the original sleeps 1 ms where it says 10 us")
ROW(S2_SUMMARY, "id": "backpressure/channel_bounded_100", "quantity": "ratio",
    "at_most": 0.769, "to": "backpressure/mutex_vecdeque_limited",
    "note": "the original channel overwrites its oldest: nothing was held back")

ROW(S3_TARGETS, "id": "serialization/serialize_1k", "quantity": "median_ns", "at_most": 30,
    "note": "no cache moves 8 KB in that time")
ROW(S3_TARGETS, "id": "kernel_launch/round_trip_latency", "quantity": "median_ns",
    "at_most": 500000)
ROW(S3_TARGETS, "id": "kernel_launch/round_trip_latency", "quantity": "median_ns",
    "at_most": 5000000000, "note": "under WSL2, whose own delay it is")
ROW(S3_TARGETS, "id": "startup/library", "quantity": "median_ns", "at_most": 1000000)
ROW(S3_TARGETS, "id": "startup/library", "quantity": "counter", "counter": "binary_bytes",
    "at_most": 2000000)
ROW(S3_TARGETS, "id": "kernel_latency/launch_enqueue/cuda", "quantity": "median_ns",
    "at_most": 5000)

ROW(S3_SERIALIZATION, "id": "serialization/serialize_1k", "quantity": "median_ns",
    "at_most": 29.1, "note": "no cache moves 8 KB in that time")
ROW(S3_SERIALIZATION, "id": "serialization/deserialize_1k", "quantity": "median_ns",
    "at_most": 15.6)
ROW(S3_SERIALIZATION, "id": "serialization/zero_copy_access", "quantity": "median_ns",
    "at_most": 0.6)

ROW(S3_ALLOCATION, "id": "allocation/pooled_alloc_4kb", "quantity": "median_ns", "at_most": 48,
    "note": "of the host; the original is a device's, of which it touches nothing")
ROW(S3_ALLOCATION, "id": "device_pool/pooled_alloc_4kb", "quantity": "median_ns", "at_most": 48)
ROW(S3_ALLOCATION, "id": "device_pool/direct_cuda_alloc_4kb", "quantity": "median_ns",
    "at_most": 2300)
ROW(S3_ALLOCATION, "id": "device_pool/pooled_alloc_4kb", "quantity": "ratio", "at_most": 0.02,
    "to": "device_pool/direct_cuda_alloc_4kb")

ROW(S3_LAYOUT, "id": "layout/control_block", "quantity": "counter", "counter": "size_bytes",
    "at_most": 128)
ROW(S3_LAYOUT, "id": "layout/telemetry", "quantity": "counter", "counter": "size_bytes",
    "at_most": 64)

ROW(S3_INTERACTIVE, "id": "interactive/inject_traditional/cuda/64", "quantity": "median_ns",
    "at_most": 317000)
ROW(S3_INTERACTIVE, "id": "interactive/inject_persistent/cuda/64", "quantity": "median_ns",
    "at_most": 30, "note": "a store by the host that nobody reads; Gyre waits for the effect")
ROW(S3_INTERACTIVE, "id": "interactive/inject_persistent/cuda/64", "quantity": "ratio",
    "at_most": 0.0000883, "to": "interactive/inject_traditional/cuda/64",
    "note": "a store that nobody reads over a command that is done")
ROW(S3_INTERACTIVE, "id": "interactive/query_traditional/cuda/64", "quantity": "median_ns",
    "at_most": 10)
ROW(S3_INTERACTIVE, "id": "interactive/query_persistent/cuda/64", "quantity": "median_ns",
    "at_most": 10, "note": "reads what the host last saw, not the state")
ROW(S3_INTERACTIVE, "id": "interactive/step_traditional/cuda/64", "quantity": "median_ns",
    "at_most": 3200, "note": "handed in, not waited for: the rate of launching")
ROW(S3_INTERACTIVE, "id": "interactive/step_persistent/cuda/64", "quantity": "median_ns",
    "at_most": 163000, "note": "a sleep of 100 us between polls")
ROW(S3_INTERACTIVE, "id": "interactive/step_traditional/cuda/64", "quantity": "ratio",
    "at_most": 0.0196, "to": "interactive/step_persistent/cuda/64",
    "note": "a launch not waited for over a sleep")
ROW(S3_INTERACTIVE, "id": "interactive/mixed_traditional/cuda/64", "quantity": "median_ns",
    "at_most": 1620000, "note": "12 operations; 40.5 ms are 300, by the frame budget")
ROW(S3_INTERACTIVE, "id": "interactive/mixed_persistent/cuda/64", "quantity": "median_ns",
    "at_most": 612000, "note": "12 operations; 15.3 ms are 300, on a grid of 24^3")
ROW(S3_INTERACTIVE, "id": "interactive/mixed_persistent/cuda/64", "quantity": "ratio",
    "at_most": 0.37, "to": "interactive/mixed_traditional/cuda/64",
    "note": "a grid of 24^3 over one of 64^3")

ROW(S3_WHY, "id": "traditional_command/copy_to_device", "quantity": "median_ns", "at_most": 50000)
ROW(S3_WHY, "id": "kernel_latency/launch_enqueue/cuda", "quantity": "median_ns",
    "at_most": 30000)
ROW(S3_WHY, "id": "traditional_command/synchronize", "quantity": "median_ns", "at_most": 20000)
ROW(S3_WHY, "id": "traditional_command/copy_from_device", "quantity": "median_ns",
    "at_most": 50000)
ROW(S3_WHY, "id": "kernel_latency/traditional_command/cuda", "quantity": "median_ns",
    "at_most": 150000)
ROW(S3_WHY, "id": "persistent_command/write", "quantity": "median_ns", "at_most": 50,
    "note": "a store by the host that nobody has read yet")
ROW(S3_WHY, "id": "persistent_command/response", "quantity": "median_ns", "at_most": 5000)
ROW(S3_WHY, "id": "persistent_command/total", "quantity": "median_ns", "at_most": 10000)

ROW(S3_FRAME, "id": "interactive/mixed_traditional/cuda/64", "quantity": "counter",
    "counter": "operations_per_frame", "at_least": 123)
ROW(S3_FRAME, "id": "interactive/mixed_persistent/cuda/64", "quantity": "counter",
    "counter": "operations_per_frame", "at_least": 327,
    "note": "on a grid of 24^3, the other on 64^3")

ROW(S4_OVERVIEW, "id": "gpu_batch_processing/single_large_op/cuda/256", "quantity": "ratio",
    "at_most": 1, "to": "gpu_batch_processing/many_small_ops/cuda/256")
ROW(S4_OVERVIEW, "id": "gpu_batch_processing/single_large_op/opencl/256", "quantity": "ratio",
    "at_most": 1, "to": "gpu_batch_processing/many_small_ops/opencl/256")
ROW(S4_OVERVIEW, "id": "gpu_batch_processing/single_large_op/cpu/256", "quantity": "ratio",
    "at_most": 1, "to": "gpu_batch_processing/many_small_ops/cpu/256")

ROW(S4_SYNC, "match": "(matmul|binary_ops|unary_ops|reduce_ops)_cpu_vs_gpu/.*",
    "quantity": "median_ns", "at_most": 2000000000,
    "note": "the longest wait; a product of 2048^2 is 17.2 G operations, not 4.2 M")
ROW(S4_SYNC, "match": "(memory_transfer|gpu_batch_processing)/.*", "quantity": "median_ns",
    "at_most": 2000000000, "note": "the longest wait")

ROW(S5_MEMORY, "match": "memory_allocation/pooled.*", "quantity": "median_ns", "at_most": 10000)
ROW(S5_MEMORY, "id": "memory_operations/sequential_access", "quantity": "bytes_per_s",
    "at_least": 1000000000)
ROW(S5_MEMORY, "id": "cache_efficiency/repeated_allocations", "quantity": "counter",
    "counter": "hit_rate", "at_least": 0.95)
ROW(S5_MEMORY, "id": "cache_efficiency/repeated_allocations", "quantity": "counter",
    "counter": "hit_rate_first_pass", "at_least": 0.95,
    "note": "the first 4096, from an empty pool")

ROW(S5_SIMD, "id": "cpu_simd/add", "quantity": "ratio", "at_most": 0.5,
    "to": "cpu_simd/add_scalar")
ROW(S5_SIMD, "id": "cpu_simd/multiply", "quantity": "ratio", "at_most": 0.5,
    "to": "cpu_simd/multiply_scalar")
ROW(S5_SIMD, "id": "cpu_simd/dot_product", "quantity": "ratio", "at_most": 0.5,
    "to": "cpu_simd/dot_product_scalar")
ROW(S5_SIMD, "id": "simd_operations/threshold_detection", "quantity": "median_ns",
    "at_most": 100, "note": "the original compares a length with 16")
ROW(S5_SIMD, "id": "cpu_simd/add", "quantity": "counter", "counter": "share_of_peak_bandwidth",
    "at_least": 0.8)

ROW(S5_DEVICE, "id": "device_operations/create/cpu", "quantity": "median_ns", "at_most": 1000000,
    "note": "the original fills a structure")
ROW(S5_DEVICE, "match": "device_operations/feature_query/.*", "quantity": "median_ns",
    "at_most": 100)
ROW(S5_DEVICE, "id": "device_operations/capability_report", "quantity": "median_ns",
    "at_most": 10000)

ROW(S5_KERNEL, "match": "kernel_operations/(create|compile_cached)/.*", "quantity": "median_ns",
    "at_most": 5000000, "note": "the original fills a structure and compiles nothing")
ROW(S5_KERNEL, "match": "kernel_operations/compile_cached/.*", "quantity": "counter",
    "counter": "hit_rate", "at_least": 0.99)
ROW(S5_KERNEL, "match": "kernel_operations/metadata/.*", "quantity": "median_ns",
    "at_most": 1000000)

ROW(S5_ISSUES, "match": "(cache_efficiency/.*|kernel_operations/compile_cached/.*)",
    "quantity": "counter", "counter": "hit_rate", "at_least": 0.95,
    "note": "under 0.8 is worth a search")

"\n]}\n";
/* clang-format on */
