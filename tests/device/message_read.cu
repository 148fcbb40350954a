/* SPDX-License-Identifier: Apache-2.0
 *
 * message_read: whether a device reads in a message what its host put there and reads itself.
 *
 *   nvcc -O2 -arch=native -I include -I src tests/device/message_read.cu -L build/dev/lib -lgyre \
 *       -Xlinker -rpath=build/dev/lib -o message_read && ./message_read
 *
 * A message with every kind of field lies in mapped host memory, and one by an older table; the
 * host opens both validated. A warp adds the lists of a third, of two times 1000 floats. Prints one
 * JSON object. Exit status: 0 all is equal, 1 something is not, 77 there is no device for it.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

#include "msg/message_fake.h"

namespace
{
constexpr unsigned room = 1 << 16, numbers = 1000, lanes = 32, words = 24;

void require(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "message_read: %s\n", what);
        std::exit(1);
    }
}

/* What there is to read, on both sides. */
__host__ __device__ void read_all(const void *sample_bytes, const void *order_bytes, double *out)
{
    const sample *m = sample_trust(sample_bytes);
    const path *way = sample_path(m);
    const order3 *order = order3_trust(order_bytes);
    unsigned n = 0;

    out[n++] = sample_small(m);
    out[n++] = static_cast<double>(sample_large(m));
    out[n++] = sample_raw_count(m);
    out[n++] = sample_raw(m)[2];
    out[n++] = sample_corner(m)[2];
    out[n++] = sample_has_ratio(m) ? sample_ratio(m) : 0;
    out[n++] = sample_title_count(m);
    out[n++] = sample_title(m)[4];
    out[n++] = sample_note(m)[0]; /* empty */
    out[n++] = path_steps(way)[path_steps_count(way) - 1];
    out[n++] = point_x(path_from(way));
    out[n++] = point_weight(path_from(way));
    out[n++] = path_to(way) == nullptr;
    out[n++] = sample_reals(m)[sample_reals_count(m) - 1];
    out[n++] = static_cast<double>(sample_message(m)->id);
    out[n++] = gyre_message_expired(sample_message(m), 1000);
    out[n++] = static_cast<double>(order3_number(order));
    out[n++] = order3_customer(order)[0];
    out[n++] = order3_discount(order);
    out[n++] = order3_weight(order);
    out[n++] = order3_items_count(order);
    out[n++] = order3_place(order) == nullptr;
    out[n++] = order3_colour(order) == nullptr;
    out[n++] = order3_remark_count(order);
}

__global__ void read_on_device(const void *sample_bytes, const void *order_bytes, double *out)
{
    read_all(sample_bytes, order_bytes, out);
}

__global__ void add_on_device(const void *bytes, float *out)
{
    const vector_add *m = vector_add_trust(bytes);

    for (unsigned i = threadIdx.x; i < vector_add_a_count(m); i += blockDim.x)
        out[i] = vector_add_a(m)[i] + vector_add_b(m)[i];
}

size_t build_sample(void *bytes)
{
    static const uint32_t corner[] = {1, 2, 3};
    static const int16_t steps[] = {4, -5, 6};
    sample_builder b;
    path_builder way;
    point_builder spot;
    size_t size = 0;

    require(sample_begin(&b, bytes, room) == GYRE_OK, "a sample begins");
    b.header.id = 77;
    b.header.deadline_ns = 1000;
    sample_set_small(&b, 250);
    sample_set_large(&b, -5);
    sample_copy_raw(&b, reinterpret_cast<const uint8_t *>("abc"), 3);
    sample_set_corner(&b, corner);
    sample_set_ratio(&b, 0.5F);
    sample_copy_title(&b, "hello", 5);
    sample_begin_path(&b, &way);
    path_copy_steps(&way, steps, 3);
    path_begin_from(&way, &spot);
    point_set_x(&spot, 1.25);
    path_commit_from(&way, &spot);
    sample_commit_path(&b, &way);
    double *const reals = sample_add_reals(&b, 100);
    for (int i = 0; i < 100; i++)
        reals[i] = i / 3.0;
    require(sample_commit(&b, &size) == GYRE_OK, "a sample is built");
    return size;
}

size_t build_order(void *bytes)
{
    order1_builder b;
    size_t size = 0;

    require(order1_begin(&b, bytes, room) == GYRE_OK, "an order begins");
    order1_set_number(&b, 9);
    order1_copy_customer(&b, "c", 1);
    require(order1_commit(&b, &size) == GYRE_OK, "an order is built");
    return size;
}

size_t build_vectors(void *bytes)
{
    vector_add_builder b;
    size_t size = 0;

    require(vector_add_begin(&b, bytes, room) == GYRE_OK, "vectors begin");
    float *const first = vector_add_add_a(&b, numbers), *const second =
                                                            vector_add_add_b(&b, numbers);
    for (unsigned i = 0; i < numbers; i++) {
        first[i] = static_cast<float>(i);
        second[i] = 0.5F;
    }
    require(vector_add_commit(&b, &size) == GYRE_OK, "vectors are built");
    return size;
}

void *map(size_t bytes)
{
    void *memory = nullptr;

    require(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped) == cudaSuccess, "cudaHostAlloc");
    return memory;
}
} // namespace

int main()
{
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::printf("{\"skipped\": \"there is no CUDA device\"}\n");
        return 77;
    }
    void *const sample_bytes = map(room), *const order_bytes = map(room),
                *const vector_bytes = map(room);
    auto *const out = static_cast<double *>(map(words * sizeof(double)));
    auto *const sums = static_cast<float *>(map(numbers * sizeof(float)));
    double host[words];
    const sample *m;
    const order3 *order;
    const vector_add *vectors;
    bool equal = true;

    require(sample_open(sample_bytes, build_sample(sample_bytes), &m) == GYRE_OK, "sample opens");
    require(order3_open(order_bytes, build_order(order_bytes), &order) == GYRE_OK, "order opens");
    require(vector_add_open(vector_bytes, build_vectors(vector_bytes), &vectors) == GYRE_OK,
            "vectors open");
    read_all(sample_bytes, order_bytes, host);
    read_on_device<<<1, 1>>>(sample_bytes, order_bytes, out);
    add_on_device<<<1, lanes>>>(vector_bytes, sums);
    require(cudaDeviceSynchronize() == cudaSuccess, "the kernels end well");
    const bool fields = std::memcmp(host, out, sizeof host) == 0;
    for (unsigned i = 0; i < numbers; i++)
        equal = equal && sums[i] == vector_add_a(vectors)[i] + vector_add_b(vectors)[i];
    std::printf("{\"fields_equal\": %s, \"sums_equal\": %s}\n", fields ? "true" : "false",
                equal ? "true" : "false");
    return fields && equal ? 0 : 1;
}
