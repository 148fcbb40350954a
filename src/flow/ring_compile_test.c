/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_abi.h as devices get it. What NVRTC makes is looked at; what OpenCL makes is run, and its
 * slots are the host's.
 */
#include "device.h"
#include "flow/ring_abi.h"
#include "test.h"

static const char *const header[] = {"src/flow/ring_abi.h", NULL};

static const char cuda_kernel[] =
    "\nextern \"C\" __global__ void echo(gyre_ring_slot *slot, gyre_ring_wide_slot *wide,\n"
    "                                    gyre_ring_u64 sequence) {\n"
    "    const gyre_ring_u32 stamp = gyre_ring_stamp(sequence, gyre_ring_salt(1));\n"
    "    gyre_ring_payload payload;\n"
    "    if (gyre_ring_wide_read(wide, stamp, &payload) == GYRE_RING_READY)\n"
    "        gyre_ring_wide_write(wide + 1, stamp, &payload);\n"
    "#if GYRE_RING_HAS_QUARTERS\n"
    "    if (gyre_ring_read(slot, stamp, &payload) == GYRE_RING_READY)\n"
    "        gyre_ring_write(slot + 1, stamp, &payload);\n"
    "#endif\n"
    "}\n";

static void nvrtc_compiles_it_to_whole_accesses(void)
{
    char *const source = device_source(header, cuda_kernel);
    device_result result;
    int version = 0;
    char *ptx;

    REQUIRE(source);
    result = device_ptx(source, &ptx, &version);
    free(source);
    if (result == DEVICE_ABSENT)
        SKIP("there is no NVRTC");
    REQUIRE(ptx);
    CHECK(strstr(ptx, "ld.relaxed.sys.b64") && strstr(ptx, "st.relaxed.sys.b64"));
    if (version >= 1203)
        CHECK(strstr(ptx, "ld.relaxed.sys.b128") && strstr(ptx, "st.relaxed.sys.b128"));
    free(ptx);
}

static const char opencl_kernel[] =
    "\n__kernel void echo(__global gyre_ring_wide_slot *wide, __global gyre_ring_slot *slot,\n"
    "                     ulong sequence) {\n"
    "    const uint stamp = gyre_ring_stamp(sequence, gyre_ring_salt(1));\n"
    "    gyre_ring_payload payload;\n"
    "    if (gyre_ring_wide_read(wide, stamp, &payload) == GYRE_RING_READY) {\n"
    "        payload.eight[3]++;\n"
    "        gyre_ring_wide_write(wide + 1, stamp, &payload);\n"
    "    }\n"
    "#if GYRE_RING_HAS_QUARTERS\n"
    "    if (gyre_ring_read(slot, stamp, &payload) == GYRE_RING_READY) {\n"
    "        payload.eight[3]++;\n"
    "        gyre_ring_write(slot + 1, stamp, &payload);\n"
    "    }\n"
    "#else\n"
    "    slot[1] = slot[0];\n"
    "    slot[1].quarter[3].eight++;\n"
    "#endif\n"
    "}\n";

static void opencl_reads_and_writes_what_the_host_does(void)
{
    const gyre_ring_payload sent = {{1, 2, 3, 0xffffffff}, {4, 5, 6, 7}};
    gyre_ring_u64 sequence = 0x1234567800000009;
    const gyre_ring_u32 stamp = gyre_ring_stamp(sequence, gyre_ring_salt(1));
    gyre_ring_wide_slot wide[2] = {{{0}}, {{0}}};
    gyre_ring_slot slot[2] = {{{{0}}}, {{{0}}}};
    const device_argument arguments[DEVICE_ARGUMENTS] = {
        {wide, sizeof wide, false}, {slot, sizeof slot, false}, {&sequence, sizeof sequence, true}};
    char *const source = device_source(header, opencl_kernel);
    gyre_ring_payload got = {{0}, {0}};
    device_result result;

    REQUIRE(source);
    gyre_ring_wide_pack(&sent, stamp, &wide[0]);
    gyre_ring_pack(&sent, stamp, &slot[0]);
    result = device_run(source, "echo", arguments);
    free(source);
    if (result == DEVICE_ABSENT)
        SKIP("there is no OpenCL device");
    REQUIRE(result == DEVICE_DONE);
    CHECK(gyre_ring_wide_unpack(&wide[1], stamp, &got) == GYRE_RING_READY);
    CHECK(got.eight[3] == 0x100000000 && got.eight[0] == 1 && got.four[3] == 7);
    got = (gyre_ring_payload){{0}, {0}};
    CHECK(gyre_ring_unpack(&slot[1], stamp, &got) == GYRE_RING_READY);
    CHECK(got.eight[3] == 0x100000000 && got.eight[0] == 1 && got.four[3] == 7);
}

static const test_case cases[] = {
    TEST(nvrtc_compiles_it_to_whole_accesses),
    TEST(opencl_reads_and_writes_what_the_host_does),
};
TEST_MAIN(cases)
