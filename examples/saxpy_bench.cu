/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA kernel, benchmarked by the device's own clock: end to end, cold and hot.
 *
 *   nvcc -O2 saxpy_bench.cu $(pkg-config --cflags --libs gyrelab) -o saxpy_bench && ./saxpy_bench
 *
 * `run` hands the work in and does not wait; the clock below says how long it took on the device.
 */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <gyre/bench.h>

namespace
{
__global__ void saxpy(float a, const float *x, const float *y, float *out, size_t count)
{
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;

    if (i < count)
        out[i] = a * x[i] + y[i];
}

/* Keeps the stream busy until the host has handed in everything behind it, so that launching is not
 * timed as if it were the kernel. Gives up after about a second. */
__global__ void wait_for(const volatile int *open)
{
    const long long start = clock64();

    while (*open == 0 && clock64() - start < 2000000000LL)
        continue;
}

struct fixture {
    size_t count = 0;
    std::vector<float> x, y;
    float *device_x = nullptr, *device_y = nullptr, *device_out = nullptr, *scratch = nullptr;
    size_t scratch_bytes = 0; /* twice the second-level cache */
    volatile int *gate = nullptr;
    cudaEvent_t before = nullptr, after = nullptr;
};

constexpr float factor = 1.5F;
constexpr uint64_t queued = 256; /* launches that any driver lets us hand in at once */

gyre_status checked(cudaError_t error)
{
    return error == cudaSuccess
               ? GYRE_OK
               : gyre_bench_refuse(GYRE_DEVICE_LOST, "CUDA: %s", cudaGetErrorString(error));
}

void teardown(void *pointer)
{
    auto *f = static_cast<fixture *>(pointer);

    cudaFree(f->device_x);
    cudaFree(f->device_y);
    cudaFree(f->device_out);
    cudaFree(f->scratch);
    cudaFreeHost(const_cast<int *>(f->gate));
    if (f->before)
        cudaEventDestroy(f->before);
    if (f->after)
        cudaEventDestroy(f->after);
    delete f;
}

cudaError_t allocate(fixture *f, int cache_bytes)
{
    const size_t bytes = f->count * sizeof(float);
    cudaError_t error = cudaMalloc(&f->device_x, bytes);

    if (error == cudaSuccess)
        error = cudaMalloc(&f->device_y, bytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&f->device_out, bytes);
    f->scratch_bytes = 2 * static_cast<size_t>(cache_bytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&f->scratch, f->scratch_bytes);
    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&f->gate, sizeof(int), cudaHostAllocMapped);
    if (error == cudaSuccess)
        error = cudaEventCreate(&f->before);
    if (error == cudaSuccess)
        error = cudaEventCreate(&f->after);
    if (error == cudaSuccess)
        error = cudaMemcpy(f->device_x, f->x.data(), bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(f->device_y, f->y.data(), bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemset(f->device_out, 0xff, bytes); /* not a number, until it is written */
    return error;
}

gyre_status setup(const gyre_bench_case *c, void **out_fixture)
{
    int devices = 0, cache_bytes = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    fixture *f;

    if (error != cudaSuccess || devices == 0)
        return gyre_bench_refuse(GYRE_UNAVAILABLE, "no CUDA device: %s", cudaGetErrorString(error));
    cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, 0);
    f = new fixture;
    f->count = static_cast<size_t>(gyre_bench_axis(c, "count"));
    for (size_t i = 0; i < f->count; i++) {
        f->x.push_back(static_cast<float>(std::rand()) / RAND_MAX);
        f->y.push_back(static_cast<float>(std::rand()) / RAND_MAX);
    }
    error = allocate(f, cache_bytes);
    if (error != cudaSuccess) {
        teardown(f);
        return checked(error);
    }
    *out_fixture = f;
    return GYRE_OK;
}

void run(void *pointer, uint64_t iterations)
{
    auto *f = static_cast<fixture *>(pointer);
    const unsigned blocks = static_cast<unsigned>((f->count + 255) / 256);

    for (uint64_t i = 0; i < iterations; i++) {
        saxpy<<<blocks, 256>>>(factor, f->device_x, f->device_y, f->device_out, f->count);
        if (i == queued) /* a queue is finite, and a full one waits for what waits for us */
            *f->gate = 1;
    }
}

bool is_right(const void *pointer, uint64_t)
{
    const auto *f = static_cast<const fixture *>(pointer);
    std::vector<float> out(f->count);

    if (cudaMemcpy(out.data(), f->device_out, f->count * sizeof(float), cudaMemcpyDeviceToHost) !=
        cudaSuccess)
        return false;
    for (size_t i = 0; i < f->count; i++) /* the device fuses, the host may not */
        if (!(std::fabs(out[i] - (factor * f->x[i] + f->y[i])) <= 1e-6F))
            return false;
    return true;
}

uint64_t bytes(const gyre_bench_case *c)
{
    return 3 * sizeof(float) * static_cast<uint64_t>(gyre_bench_axis(c, "count"));
}

uint64_t operations(const gyre_bench_case *c)
{
    return 2 * static_cast<uint64_t>(gyre_bench_axis(c, "count"));
}

/* The clock */

gyre_status begin(void *pointer)
{
    auto *f = static_cast<fixture *>(pointer);

    *f->gate = 0;
    wait_for<<<1, 1>>>(const_cast<int *>(f->gate));
    return checked(cudaEventRecord(f->before));
}

gyre_status end(void *pointer)
{
    auto *f = static_cast<fixture *>(pointer);
    const cudaError_t error = cudaEventRecord(f->after);

    *f->gate = 1; /* everything is handed in: go */
    return checked(error);
}

gyre_status read(void *pointer, double *out_ns)
{
    auto *f = static_cast<fixture *>(pointer);
    float ms = 0;
    cudaError_t error = cudaEventSynchronize(f->after);

    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&ms, f->before, f->after);
    *out_ns = 1e6 * static_cast<double>(ms);
    return checked(error);
}

gyre_status flush(void *pointer)
{
    auto *f = static_cast<fixture *>(pointer);
    const cudaError_t error = cudaMemset(f->scratch, 1, f->scratch_bytes);

    return checked(error == cudaSuccess ? cudaDeviceSynchronize() : error);
}

/* The guard */

gyre_health healthy(char *why, size_t size)
{
    const cudaError_t error = cudaDeviceSynchronize();

    if (error == cudaSuccess || error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        return GYRE_HEALTH_GOOD; /* the set-up says what is missing */
    std::snprintf(why, size, "%s", cudaGetErrorString(error));
    return GYRE_HEALTH_CRITICAL;
}

gyre_status reset()
{
    return checked(cudaDeviceReset());
}

gyre_bench saxpy_bench()
{
    gyre_bench b = {};

    b.name = "saxpy/f32";
    b.axes[0] = GYRE_AXIS("count", 65536, 1048576, 16777216);
    b.t0 = "the host begins to hand in the kernel";
    b.t1 = "the host sees the event behind it";
    b.observer = "the host, which compares every element of the last output";
    b.setup = setup;
    b.run = run;
    b.check = is_right;
    b.teardown = teardown;
    b.bytes = bytes;
    b.operations = operations;
    b.tags = GYRE_TAG_GPU;
    return b;
}

const gyre_bench_clock device_clock = {"CUDA events", begin, end, read, flush};
const gyre_bench_guard device_guard = {healthy, reset};
} // namespace

int main(int argc, char **argv)
{
    const gyre_bench benches[] = {saxpy_bench()};
    const gyre_suite suite = GYRE_DEVICE_SUITE("saxpy", benches, &device_clock, &device_guard);
    const gyre_suite *const suites[] = {&suite, nullptr};

    return gyre_bench_main(argc, argv, suites);
}
