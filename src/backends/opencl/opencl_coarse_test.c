/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend on a device that must be told what it shares, which any device can play.
 */
#include "backends/opencl/opencl_fake.h"

static gyre_cl_api real;
static pthread_mutex_t *held; /* by the launch that is watched */
static int releases, releases_unheld;

static int32_t release_event_seen(cl_event *event)
{
    releases++;
    if (held && pthread_mutex_trylock(held) == 0) {
        releases_unheld++;
        pthread_mutex_unlock(held);
    }
    return real.clReleaseEvent(event);
}

/* A block that another thread gives back is freed after the stream's last: the launch that was told
 * of the block must be that before the lock is let go. */
static void launch_is_the_last_before_a_block_can_be_freed(void)
{
    static const gyre_dev_argument arguments[] = {{0, 8, true}};
    gyre_cl_found *found, before;
    gyre_dev_module *module;
    gyre_dev_kernel *kernel;
    gyre_dev_stream *stream;
    gyre_dev *dev;
    void *block;

    NEED_DEVICE();
    found = gyre_cl_found_at(device_index);
    before = *found;
    found->fine = found->atomics = found->host_reach = false;
    dev = open_device();
    REQUIRE(dev);
    module = build_text(dev, "__kernel void one(__global int *to) { *to = 1; }\n");
    REQUIRE(module);
    kernel = open_kernel(module, "one", arguments, 1);
    stream = open_stream(dev);
    block = take(dev, sizeof(int));
    CHECK(launch(stream, kernel, 1, 1, &block) == GYRE_OK);
    real = gyre_cl;
    releases = releases_unheld = 0;
    held = &dev->lock;
    gyre_cl.clReleaseEvent = release_event_seen;
    CHECK(launch(stream, kernel, 1, 1, &block) == GYRE_OK); /* instead of the first */
    gyre_cl = real;
    held = NULL;
    CHECK(releases == 1 && releases_unheld == 0);
    CHECK(drain(stream) == GYRE_OK);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, block, sizeof(int));
    cl->stream_close(stream);
    cl->module_close(module);
    cl->close(dev);
    *found = before;
}

static gyre_dev *strict_dev;
static int32_t (*real_fill)(cl_queue *, void *, const void *, size_t, size_t, uint32_t,
                            cl_event *const *, cl_event **);

/* As a driver does that shares blocks of its own only. */
/* NOLINTNEXTLINE(readability-function-size): as many parameters as the driver's */
static int32_t strict_fill(cl_queue *queue, void *to, const void *pattern, size_t pattern_size,
                           size_t size, uint32_t count, cl_event *const *waits, cl_event **event)
{
    if (!gyre_cl_owns(strict_dev, to))
        return -30; /* CL_INVALID_VALUE */
    return real_fill(queue, to, pattern, pattern_size, size, count, waits, event);
}

static void coarse_device_fills_pinned_memory_too(void)
{
    enum { WORDS = 50001, BYTES = 8 * (WORDS + 1) }; /* several pieces, and a part of one */
    gyre_dev_fill fill = {.pattern = {1, 2, 3, 4, 5, 6, 7, 8}, .pattern_size = 8, .count = WORDS};
    gyre_cl_found *found, before;
    gyre_dev_stream *stream;
    bool same = true;
    void *pinned = NULL;

    NEED_DEVICE();
    found = gyre_cl_found_at(device_index);
    before = *found;
    found->fine = found->atomics = found->host_reach = false;
    strict_dev = open_device();
    REQUIRE(strict_dev);
    stream = open_stream(strict_dev);
    CHECK(cl->take(strict_dev, GYRE_DEV_MEMORY_PINNED, BYTES, 64, &pinned) == GYRE_OK);
    REQUIRE(pinned);
    memset(pinned, 0xee, BYTES);
    real_fill = gyre_cl.clEnqueueSVMMemFill;
    gyre_cl.clEnqueueSVMMemFill = strict_fill;
    fill.to = pinned;
    CHECK(cl->fill(stream, &fill) == GYRE_OK && drain(stream) == GYRE_OK);
    gyre_cl.clEnqueueSVMMemFill = real_fill;
    for (size_t i = 0; i < (size_t)WORDS * 8; i++)
        same = same && ((unsigned char *)pinned)[i] == i % 8 + 1;
    CHECK(same && ((unsigned char *)pinned)[(size_t)WORDS * 8] == 0xee);
    CHECK(strict_dev->block_count == 1); /* the one that is never handed out */
    cl->give(strict_dev, GYRE_DEV_MEMORY_PINNED, pinned, BYTES);
    cl->stream_close(stream);
    cl->close(strict_dev);
    *found = before;
}

static const test_case cases[] = {
    TEST(launch_is_the_last_before_a_block_can_be_freed),
    TEST(coarse_device_fills_pinned_memory_too),
};
TEST_MAIN(cases)
