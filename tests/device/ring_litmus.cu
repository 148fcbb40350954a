/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_litmus: whether the stamped slots of flow/ring_abi.h hold between this host and its GPU.
 *
 *   nvcc -O2 -arch=native -I src tests/device/ring_litmus.cu -o ring_litmus && ./ring_litmus
 * [rounds]
 *
 * Eight slots in mapped host memory. The host overwrites them without a pause while one warp reads
 * them, four lanes a slot; then the warp writes and the host reads. Everything in a quarter follows
 * from its stamp, so one that holds parts of two writes shows. Prints one JSON object. Exit status:
 * 0 nothing was torn, 1 something was, or nothing could have been, 77 there is no device for it.
 */
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#include "flow/ring_abi.h"

namespace
{
constexpr int slot_count = 8, lanes = 4 * slot_count;
constexpr unsigned poll_every = 1024; /* rounds of the host between two questions to the driver */

struct tally {
    unsigned long long reads;         /* of quarters, */
    unsigned long long overlaps;      /* that found another stamp than the read before, */
    unsigned long long torn_quarters; /* or parts of two writes: must not be */
    unsigned long long mixed_slots;   /* caught half written, and so they say: "not yet" */
    unsigned long long torn_slots;    /* four equal stamps over something else: must not be */
};

/* The quarter that follows from a stamp; all zero from 0, as the slots are at first. */
__host__ __device__ gyre_ring_quarter quarter_of(unsigned stamp, int q)
{
    gyre_ring_quarter quarter;

    quarter.eight = stamp * (0x9e3779b97f4a7c15ULL + 2 * q);
    quarter.four = stamp * (0x85ebca6bU + 2 * q);
    quarter.stamp = stamp;
    return quarter;
}

__host__ __device__ bool is_whole(const gyre_ring_quarter &quarter, int q)
{
    const gyre_ring_quarter whole = quarter_of(quarter.stamp, q);

    return quarter.eight == whole.eight && quarter.four == whole.four;
}

/* One warp; lane l has quarter l % 4 of slot l / 4, and its own tally. */
__global__ void read_slots(const gyre_ring_slot *slots, unsigned rounds, tally *out)
{
    const int lane = static_cast<int>(threadIdx.x), q = lane % 4;
    const unsigned group = 0xfU << (lane - q);
    unsigned last = 0;
    tally t = {};

    for (unsigned round = 0; round < rounds; round++) {
        const gyre_ring_quarter quarter = gyre_ring_load_quarter(&slots[lane / 4].quarter[q]);
        const bool whole = is_whole(quarter, q);
        const bool same = quarter.stamp == __shfl_sync(~0U, quarter.stamp, lane - q);
        const bool all_whole = (__ballot_sync(~0U, whole) & group) == group;
        const bool all_same = (__ballot_sync(~0U, same) & group) == group;

        t.reads++;
        t.overlaps += quarter.stamp != last;
        t.torn_quarters += !whole;
        t.mixed_slots += q == 0 && !all_same;
        t.torn_slots += q == 0 && all_same && !all_whole;
        last = quarter.stamp;
    }
    out[lane] = t;
}

__global__ void write_slots(gyre_ring_slot *slots, unsigned rounds)
{
    const int lane = static_cast<int>(threadIdx.x), q = lane % 4;

    for (unsigned stamp = 1; stamp <= rounds; stamp++)
        gyre_ring_store_quarter(&slots[lane / 4].quarter[q], quarter_of(stamp, q));
}

/* Ends the program when CUDA complains. */
void require(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "ring_litmus: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

bool still_running()
{
    const cudaError_t error = cudaStreamQuery(nullptr);

    if (error != cudaErrorNotReady)
        require(error, "the kernel");
    return error == cudaErrorNotReady;
}

void host_writes(gyre_ring_slot *slots)
{
    for (unsigned stamp = 1;;)
        for (unsigned i = 0; i < poll_every; i++, stamp++) {
            for (int s = 0; s < slot_count; s++)
                for (int q = 0; q < 4; q++)
                    gyre_ring_store_quarter(&slots[s].quarter[q], quarter_of(stamp, q));
            if (i == 0 && !still_running())
                return;
        }
}

tally host_reads(const gyre_ring_slot *slots)
{
    unsigned last[lanes] = {};
    tally t = {};

    do {
        for (unsigned i = 0; i < poll_every; i++)
            for (int s = 0; s < slot_count; s++) {
                bool all_whole = true, all_same = true;

                for (int q = 0; q < 4; q++) {
                    const gyre_ring_quarter quarter = gyre_ring_load_quarter(&slots[s].quarter[q]);
                    const bool whole = is_whole(quarter, q);

                    t.reads++;
                    t.overlaps += quarter.stamp != last[4 * s + q];
                    t.torn_quarters += !whole;
                    last[4 * s + q] = quarter.stamp;
                    all_whole = all_whole && whole;
                    all_same = all_same && last[4 * s + q] == last[4 * s];
                }
                t.mixed_slots += !all_same;
                t.torn_slots += all_same && !all_whole;
            }
    } while (still_running());
    return t;
}

/* Whether every quarter holds the last write. */
bool all_arrived(const gyre_ring_slot *slots, unsigned stamp)
{
    for (int s = 0; s < slot_count; s++)
        for (int q = 0; q < 4; q++) {
            const gyre_ring_quarter quarter = gyre_ring_load_quarter(&slots[s].quarter[q]);

            if (quarter.stamp != stamp || !is_whole(quarter, q))
                return false;
        }
    return true;
}

bool report(const char *name, const tally &t)
{
    std::printf("\"%s\": {\"reads\": %llu, \"overlaps\": %llu, \"torn_quarters\": %llu, "
                "\"mixed_slots\": %llu, \"torn_slots\": %llu}, ",
                name, t.reads, t.overlaps, t.torn_quarters, t.mixed_slots, t.torn_slots);
    return t.overlaps > 0 && t.torn_quarters == 0 && t.torn_slots == 0;
}

void *map_zeroed(size_t bytes)
{
    void *memory = nullptr;

    require(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped), "cudaHostAlloc");
    for (size_t i = 0; i < bytes; i++)
        static_cast<unsigned char *>(memory)[i] = 0;
    return memory;
}
} // namespace

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1000000;
    cudaDeviceProp device;
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 ||
        cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major < 7 ||
        !device.canMapHostMemory) {
        std::printf("{\"skipped\": \"there is no device of compute capability 7.0 with mapped host "
                    "memory\"}\n");
        return 77;
    }
    auto *const to_device = static_cast<gyre_ring_slot *>(map_zeroed(slot_count * 64));
    auto *const to_host = static_cast<gyre_ring_slot *>(map_zeroed(slot_count * 64));
    auto *const tallies = static_cast<tally *>(map_zeroed(lanes * sizeof(tally)));
    tally device_read = {};

    read_slots<<<1, lanes>>>(to_device, rounds, tallies);
    require(cudaGetLastError(), "read_slots");
    host_writes(to_device);
    for (int lane = 0; lane < lanes; lane++) {
        device_read.reads += tallies[lane].reads;
        device_read.overlaps += tallies[lane].overlaps;
        device_read.torn_quarters += tallies[lane].torn_quarters;
        device_read.mixed_slots += tallies[lane].mixed_slots;
        device_read.torn_slots += tallies[lane].torn_slots;
    }
    write_slots<<<1, lanes>>>(to_host, rounds);
    require(cudaGetLastError(), "write_slots");
    const tally host_read = host_reads(to_host);
    const bool arrived = all_arrived(to_host, rounds);

    std::printf("{\"device\": \"%s\", \"rounds\": %u, ", device.name, rounds);
    const bool down = report("host_to_device", device_read),
               up = report("device_to_host", host_read);
    const bool holds = down && up && arrived;

    std::printf("\"last_write_arrived\": %s, \"holds\": %s}\n", arrived ? "true" : "false",
                holds ? "true" : "false");
    cudaFreeHost(to_device);
    cudaFreeHost(to_host);
    cudaFreeHost(tallies);
    return holds ? 0 : 1;
}
