/* SPDX-License-Identifier: Apache-2.0
 *
 * message_abi.h and a table as devices get them. NVRTC's readers are looked at; OpenCL's are run on
 * a message that the host built, and say what the host reads.
 */
#include "device.h"
#include "msg/message_fake.h"
#include "test.h"

static const char *const headers[] = {"include/gyre/abi.h", "include/gyre/message_abi.h",
                                      "src/msg/message_fake.h", NULL};

static _Alignas(64) unsigned char buffer[4096];

/* What is read, in C, in CUDA C and in OpenCL C. */
enum { SAMPLE_WORDS = 22, ORDER_WORDS = 10 };
#define READERS                                                                                    \
    FUNCTION void read_sample(SHARED const void *bytes, SHARED double *out)                        \
    {                                                                                              \
        SHARED const sample *m = sample_trust(bytes);                                              \
        SHARED const path *way = sample_path(m);                                                   \
        SHARED const point *from = path_from(way);                                                 \
                                                                                                   \
        out[0] = sample_small(m);                                                                  \
        out[1] = (double)sample_large(m);                                                          \
        out[2] = sample_raw_count(m);                                                              \
        out[3] = sample_raw(m)[2];                                                                 \
        out[4] = sample_corner_count(m);                                                           \
        out[5] = sample_corner(m)[2];                                                              \
        out[6] = sample_has_ratio(m);                                                              \
        out[7] = sample_ratio(m);                                                                  \
        out[8] = sample_title_count(m);                                                            \
        out[9] = sample_title(m)[4];                                                               \
        out[10] = path_steps_count(way);                                                           \
        out[11] = path_steps(way)[1];                                                              \
        out[12] = path_closed(way);                                                                \
        out[13] = point_x(from);                                                                   \
        out[14] = point_y(from);                                                                   \
        out[15] = point_weight(from);                                                              \
        out[16] = point_label(from)[0];                                                            \
        out[17] = path_to(way) == 0;                                                               \
        out[18] = sample_centre(m) == 0;                                                           \
        out[19] = sample_reals(m)[sample_reals_count(m) - 1];                                      \
        out[20] = (double)sample_message(m)->id;                                                   \
        out[21] = gyre_message_expired(sample_message(m), 1000);                                   \
    }                                                                                              \
    FUNCTION void read_order(SHARED const void *bytes, SHARED double *out)                         \
    {                                                                                              \
        SHARED const order3 *m = order3_trust(bytes);                                              \
                                                                                                   \
        out[0] = (double)order3_number(m);                                                         \
        out[1] = order3_customer(m)[0];                                                            \
        out[2] = order3_urgent(m);                                                                 \
        out[3] = order3_discount(m);                                                               \
        out[4] = order3_items_count(m);                                                            \
        out[5] = order3_weight(m);                                                                 \
        out[6] = order3_place(m) == 0;                                                             \
        out[7] = order3_remark_count(m);                                                           \
        out[8] = order3_colour_count(m);                                                           \
        out[9] = order3_colour(m) == 0;                                                            \
    }
#define TEXT_OF(readers) #readers
#define TEXT(readers) TEXT_OF(readers)

#define FUNCTION static
#define SHARED
READERS
#undef FUNCTION
#undef SHARED

static const char cuda_kernel[] = "\n#define FUNCTION __device__\n#define SHARED\n" TEXT(
    READERS) "\nextern \"C\" __global__ void read_both(const void *sample, const void *order, "
             "double *out)\n"
             "{ read_sample(sample, out); read_order(order, out + 22); }\n"
             "extern \"C\" __global__ void read_one(const void *bytes, unsigned *out)\n"
             "{ *out = vector_add_a_count(vector_add_trust(bytes)); }\n";

static const char opencl_kernel[] = "\n#define FUNCTION static\n#define SHARED __global\n" TEXT(
    READERS) "\n__kernel void read_both(__global void *sample, __global void *order, __global "
             "double *out)\n"
             "{ read_sample(sample, out); read_order(order, out + 22); }\n";

static size_t build_sample(void)
{
    sample_builder b;
    path_builder way;
    point_builder spot;
    size_t size = 0;

    CHECK(sample_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    b.header.id = 77;
    b.header.deadline_ns = 1000;
    sample_set_small(&b, 250);
    sample_set_large(&b, -5);
    sample_copy_raw(&b, (const uint8_t *)"abc", 3);
    sample_set_corner(&b, (const uint32_t[]){1, 2, 3});
    sample_set_ratio(&b, 0.5f);
    sample_copy_title(&b, "hello", 5);
    sample_begin_path(&b, &way);
    path_copy_steps(&way, (const int16_t[]){4, -5, 6}, 3);
    path_begin_from(&way, &spot);
    point_set_x(&spot, 1.25);
    point_set_y(&spot, -1e300);
    point_copy_label(&spot, "from", 4);
    path_commit_from(&way, &spot);
    path_set_closed(&way, 1);
    sample_commit_path(&b, &way);
    memset(sample_add_reals(&b, 100), 0x40, 100 * sizeof(double));
    CHECK(sample_commit(&b, &size) == GYRE_OK);
    return size;
}

/* By an older table than the readers have. */
static size_t build_order(unsigned char *into, size_t room)
{
    order1_builder b;
    size_t size = 0;

    CHECK(order1_begin(&b, into, room) == GYRE_OK);
    order1_set_number(&b, 9);
    order1_copy_customer(&b, "c", 1);
    order1_set_urgent(&b, 1);
    CHECK(order1_commit(&b, &size) == GYRE_OK);
    return size;
}

static void nvrtc_compiles_a_reader_to_one_load(void)
{
    char *const source = device_source(headers, cuda_kernel);
    device_result result;
    int version = 0;
    char *ptx, *reader;

    REQUIRE(source);
    result = device_ptx(source, &ptx, &version);
    free(source);
    if (result == DEVICE_ABSENT)
        SKIP("there is no NVRTC");
    REQUIRE(ptx);
    reader = strstr(ptx, ".entry read_one");
    REQUIRE(reader);
    reader = strstr(reader, "ld.global.u32");
    CHECK(reader && !strstr(reader + 1, "ld.global")); /* it is the last of them */
    free(ptx);
}

static void opencl_reads_what_the_host_reads(void)
{
    static double host[SAMPLE_WORDS + ORDER_WORDS], device[SAMPLE_WORDS + ORDER_WORDS];
    const size_t sample_size = build_sample(), rest = sizeof buffer - sample_size;
    const size_t order_size = build_order(buffer + sample_size, rest);
    const device_argument arguments[DEVICE_ARGUMENTS] = {{buffer, sample_size, false},
                                                         {buffer + sample_size, order_size, false},
                                                         {device, sizeof device, false}};
    char *const source = device_source(headers, opencl_kernel);
    device_result result;

    REQUIRE(source);
    read_sample(buffer, host);
    read_order(buffer + sample_size, host + SAMPLE_WORDS);
    CHECK(host[1] == -5 && host[14] == -1e300 && host[SAMPLE_WORDS + 3] == -5);
    result = device_run(source, "read_both", arguments);
    free(source);
    if (result == DEVICE_ABSENT)
        SKIP("there is no OpenCL device");
    REQUIRE(result == DEVICE_DONE);
    for (int i = 0; i < SAMPLE_WORDS + ORDER_WORDS; i++)
        CHECK(host[i] == device[i]);
}

static const test_case cases[] = {
    TEST(nvrtc_compiles_a_reader_to_one_load),
    TEST(opencl_reads_what_the_host_reads),
};
TEST_MAIN(cases)
