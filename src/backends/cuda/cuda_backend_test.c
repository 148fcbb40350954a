/* SPDX-License-Identifier: Apache-2.0
 *
 * The slots for devices, memory, streams and events, on a driver that computes nothing
 * (cuda_fake.h).
 */
#include "backends/cuda/cuda_fake_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"

/* What was abandoned stays with the driver; here it would be a leak of the test's. */
static void bury(void *context, void *queue)
{
    if (queue)
        CHECK(cu->cuStreamDestroy_v2(queue) == 0);
    CHECK(cu->cuCtxDestroy_v2(context) == 0);
}

static void no_slot_is_empty(void)
{
    void *slots[sizeof(gyre_backend) / sizeof(void *)];

    memcpy(slots, be, sizeof slots);
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        CHECK(slots[i] != NULL);
}

static void callers_context_stays_current(void)
{
    gyre_cu_context *theirs = NULL, *current = NULL;
    void *block;

    REQUIRE(start(FAKE));
    REQUIRE(cu->cuCtxCreate_v2(&theirs, 0, 1) == 0);
    CHECK(be->take(dev, GYRE_DEV_MEMORY_DEVICE, 100, 64, &block) == GYRE_OK);
    CHECK(be->poll(stream) == GYRE_OK);
    be->give(dev, GYRE_DEV_MEMORY_DEVICE, block, 100);
    CHECK(cu->cuCtxGetCurrent(&current) == 0 && current == theirs);
    REQUIRE(cu->cuCtxPopCurrent_v2(&current) == 0);
    CHECK(cu->cuCtxDestroy_v2(theirs) == 0);
    end();
}

static void lent_contexts_and_streams_are_not_destroyed(void)
{
    gyre_cu_context *theirs = NULL, *popped;
    gyre_cu_stream *queue = NULL;
    gyre_dev *lent = NULL;
    gyre_dev_stream *lent_stream = NULL;

    REQUIRE(start(FAKE));
    REQUIRE(cu->cuCtxCreate_v2(&theirs, 0, 1) == 0);
    REQUIRE(cu->cuStreamCreateWithPriority(&queue, 1, 0) == 0);
    REQUIRE(cu->cuCtxPopCurrent_v2(&popped) == 0);
    CHECK(be->open(0, &(gyre_dev_options){.adopt = theirs}, &lent) == GYRE_INVALID && !lent);
    CHECK(be->stream_open(dev, queue, 0, &lent_stream) == GYRE_INVALID && !lent_stream);
    REQUIRE(be->open(1, &(gyre_dev_options){.adopt = theirs}, &lent) == GYRE_OK);
    CHECK(be->native(lent, NULL) == theirs);
    REQUIRE(be->stream_open(lent, queue, 0, &lent_stream) == GYRE_OK);
    CHECK(be->native(lent, lent_stream) == queue);
    CHECK(be->poll(lent_stream) == GYRE_OK);
    be->stream_close(lent_stream);
    be->close(lent);
    CHECK(fake->contexts == 2 && fake->streams == 2);
    CHECK(cu->cuStreamDestroy_v2(queue) == 0 && cu->cuCtxDestroy_v2(theirs) == 0);
    end();
}

static void every_alignment_is_kept(void)
{
    static const gyre_dev_memory kinds[] = {GYRE_DEV_MEMORY_DEVICE, GYRE_DEV_MEMORY_PINNED};
    void *blocks[2][13];

    REQUIRE(start(FAKE));
    fake->misalign = 512;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 13; i++) {
            const size_t alignment = (size_t)1 << i;

            REQUIRE(be->take(dev, kinds[k], 100, alignment, &blocks[k][i]) == GYRE_OK);
            CHECK(((uintptr_t)blocks[k][i] & (alignment - 1)) == 0);
            memset(blocks[k][i], 1, 100);
        }
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 13; i++)
            be->give(dev, kinds[k], blocks[k][i], 100);
    CHECK(dev->odd == NULL);
    end();
}

static void windows_are_told_what_keeps_them_shut(void)
{
    gyre_dev_window window = {.size = 1};
    int pipes[2];

    REQUIRE(start(FAKE));
    gyre_cuda_gdrdrv_is("/dev/null", NULL);
    fake->range_result = 801;
    CHECK(be->window_open(dev, 4096, &window) == GYRE_UNSUPPORTED && window.size == 0);
    CHECK(strstr(gyre_error_last()->text,
                 "dma-buf: refused (801), gdrdrv: does not tell its version (") != NULL);
    fake->range_result = 0; /* it is not asked again */
    CHECK(be->window_open(dev, 4096, &window) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "(801)") != NULL);
    end();
    REQUIRE(start(FAKE));
    gyre_cuda_gdrdrv_is("/nowhere", NULL);
    REQUIRE(pipe(pipes) == 0); /* which no one maps */
    fake->range_fd = pipes[0];
    CHECK(be->window_open(dev, 4096, &window) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "dma-buf: mmap refused (") != NULL);
    CHECK(strstr(gyre_error_last()->text, ", gdrdrv: not there") != NULL);
    CHECK(close(pipes[0]) != 0 && close(pipes[1]) == 0); /* the one was closed */
    CHECK(be->window_open(dev, 64 << 20, &window) == GYRE_UNSUPPORTED);
    end();
    REQUIRE(start(FAKE_BARE));
    CHECK(be->window_open(dev, 4096, &window) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "the driver makes none") != NULL);
    end();
    gyre_cuda_gdrdrv_is(NULL, NULL);
}

/* GDRCopy's module, of version 2.6, by the numbers of its calls. */
static struct {
    uint32_t version, least;
    int pin_error;
    uint64_t handle, address, size;
} gdrdrv;

static int gdrdrv_answer(int fd, unsigned long request, void *arg)
{
    (void)fd;
    if (request == 0xc008daff) {
        memcpy(arg, &gdrdrv.version, 4);
        memcpy((char *)arg + 4, &gdrdrv.least, 4);
        return 0;
    }
    if (request != 0xc028da01 || gdrdrv.pin_error) {
        errno = request == 0xc028da01 ? gdrdrv.pin_error : ENOTTY;
        return -1;
    }
    memcpy(&gdrdrv.address, arg, 8);
    memcpy(&gdrdrv.size, (char *)arg + 8, 8);
    memcpy((char *)arg + 32, &gdrdrv.handle, 8);
    return 0;
}

/* Whether it is refused, with that reason. */
static bool gdrdrv_is_refused(const char *why)
{
    gyre_dev_window window = {.size = 1};
    bool refused;

    if (!start(FAKE))
        return false;
    fake->range_result = 801;
    refused = be->window_open(dev, 4096, &window) == GYRE_UNSUPPORTED && window.size == 0 &&
              strstr(gyre_error_last()->text, why) != NULL;
    end();
    return refused;
}

static void a_module_of_gdrcopy_may_refuse(void)
{
    gyre_cuda_gdrdrv_is("/dev/zero", gdrdrv_answer);
    gdrdrv.version = 1 << 16 | 3, gdrdrv.least = 2 << 16;
    CHECK(gdrdrv_is_refused("gdrdrv: of version 1.3, and 2 is known"));
    gdrdrv.version = 2 << 16 | 6, gdrdrv.least = 3 << 16;
    CHECK(gdrdrv_is_refused("gdrdrv: of version 2.6"));
    gdrdrv.least = 2 << 16, gdrdrv.pin_error = EINVAL;
    CHECK(gdrdrv_is_refused("gdrdrv: pins nothing (Invalid argument)"));
    gdrdrv.pin_error = 0, gdrdrv.handle = UINT64_MAX;
    CHECK(gdrdrv_is_refused("gdrdrv: mmap refused ("));
    gyre_cuda_gdrdrv_is("/", gdrdrv_answer);
    CHECK(gdrdrv_is_refused("gdrdrv: cannot be opened ("));
    gyre_cuda_gdrdrv_is(NULL, NULL);
}

/* A file stands for the module: what it pins begins at its second page. */
static void a_window_by_gdrcopy_is_written_through(void)
{
    char path[] = "/tmp/gyre-gdrdrv-XXXXXX", there[8] = "";
    const int fd = mkstemp(path);
    gyre_dev_window window;

    REQUIRE(fd >= 0 && ftruncate(fd, (2 << 20) + 65536) == 0 && start(FAKE));
    fake->range_result = 801;
    gyre_cuda_gdrdrv_is(path, gdrdrv_answer);
    gdrdrv.version = 2 << 16 | 6, gdrdrv.least = 2 << 16, gdrdrv.handle = 1;
    REQUIRE(be->window_open(dev, 4096, &window) == GYRE_OK);
    CHECK(strcmp(window.by, "gdrdrv") == 0 && window.fd >= 0);
    CHECK(gdrdrv.address == (uint64_t)(uintptr_t)window.device && gdrdrv.size == window.size);
    memcpy(window.host, "written", 8);
    CHECK(pread(fd, there, 8, sysconf(_SC_PAGESIZE)) == 8 && strcmp(there, "written") == 0);
    be->window_close(dev, &window);
    CHECK(fcntl(window.fd, F_GETFD) < 0); /* it was closed */
    gyre_cuda_gdrdrv_is(NULL, NULL);
    close(fd);
    unlink(path);
    end();
}

/* A file is mapped like a dma-buf: what the host writes is there. */
static void a_window_is_written_through(void)
{
    gyre_dev_window window;
    FILE *const file = tmpfile();
    char there[8] = "";

    REQUIRE(file && ftruncate(fileno(file), 2 << 20) == 0 && start(FAKE));
    fake->range_fd = dup(fileno(file));
    REQUIRE(be->window_open(dev, 4096, &window) == GYRE_OK);
    CHECK(window.host && window.device && window.host != window.device && window.size >= 4096);
    CHECK(strcmp(window.by, "dma-buf") == 0);
    memcpy(window.host, "written", 8);
    CHECK(fread(there, 1, 8, file) == 8 && strcmp(there, "written") == 0);
    be->window_close(dev, &window);
    fclose(file);
    end();
}

static void exhausted_memory_is_a_status(void)
{
    void *block = &block;
    uint64_t available, total;

    REQUIRE(start(FAKE));
    fake->alloc_result = 2;
    CHECK(be->take(dev, GYRE_DEV_MEMORY_DEVICE, 12345, 64, &block) == GYRE_NO_MEMORY && !block);
    CHECK(gyre_error_last()->native == 2);
    CHECK(strstr(gyre_error_last()->text, "12345") &&
          strstr(gyre_error_last()->text, "CUDA_ERROR_OUT_OF_MEMORY"));
    fake->alloc_result = 0;
    CHECK(be->take(dev, GYRE_DEV_MEMORY_DEVICE, SIZE_MAX - 100, 4096, &block) != GYRE_OK);
    CHECK(be->room(dev, &available, &total) == GYRE_OK && available < total);
    end();
}

static void busy_stream_says_again_and_writes_no_detail(void)
{
    REQUIRE(start(FAKE));
    fake->stream_result = 600;
    gyre_fail_clear();
    CHECK(be->poll(stream) == GYRE_AGAIN);
    CHECK(gyre_error_last()->status == GYRE_OK);
    fake->stream_result = 0;
    CHECK(be->poll(stream) == GYRE_OK);
    end();
}

static void sticky_fault_closes_the_device_for_good(void)
{
    gyre_dev *again = NULL, *other = NULL;
    void *context, *queue;

    REQUIRE(start(FAKE));
    context = be->native(dev, NULL);
    queue = be->native(dev, stream);
    fake->stream_result = 700;
    CHECK(be->poll(stream) == GYRE_DEVICE_LOST);
    CHECK(strstr(gyre_error_last()->text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK(be->open(0, &(gyre_dev_options){0}, &again) == GYRE_DEVICE_LOST && !again);
    CHECK(be->open(1, &(gyre_dev_options){0}, &other) == GYRE_OK);
    be->abandon(dev);
    be->stream_close(stream);
    be->close(dev);
    CHECK(fake->contexts == 2 && fake->streams == 1); /* left where they are */
    be->close(other);
    CHECK(fake->contexts == 1); /* the driver ended what ran: others are destroyed as ever */
    bury(context, queue);
}

static void after_a_hang_no_context_is_destroyed(void)
{
    gyre_dev *other = NULL;
    gyre_cu_context *popped;
    void *block, *context, *second, *third, *queue;

    REQUIRE(start(FAKE));
    REQUIRE(be->open(1, &(gyre_dev_options){0}, &other) == GYRE_OK);
    context = be->native(dev, NULL);
    queue = be->native(dev, stream);
    second = be->native(other, NULL);
    fake->misalign = 512;
    REQUIRE(be->take(dev, GYRE_DEV_MEMORY_DEVICE, 100, 4096, &block) == GYRE_OK);
    fake->stream_result = 600;
    CHECK(be->poll(stream) == GYRE_AGAIN);
    be->abandon(dev);
    be->give(dev, GYRE_DEV_MEMORY_DEVICE, block, 100);
    be->stream_close(stream);
    be->close(dev);
    be->close(other);
    CHECK(fake->contexts == 2 && fake->destroyed == 0 && fake->blocks == 1);
    /* a fresh one on the same device works beside it */
    REQUIRE(be->open(0, &(gyre_dev_options){0}, &dev) == GYRE_OK);
    third = be->native(dev, NULL);
    be->close(dev);
    CHECK(cu->cuCtxPushCurrent_v2(context) == 0);
    CHECK(cu->cuMemFree_v2((char *)block - (4096 - 512)) == 0); /* as the driver gave it */
    CHECK(cu->cuCtxPopCurrent_v2(&popped) == 0);
    bury(context, queue);
    bury(second, NULL);
    bury(third, NULL);
}

static void context_that_is_refused_is_a_status(void)
{
    gyre_dev *none = NULL;

    REQUIRE(start(FAKE));
    fake->create_result = 46;
    CHECK(be->open(1, &(gyre_dev_options){0}, &none) == GYRE_UNAVAILABLE && !none);
    fake->create_result = 999;
    CHECK(be->open(1, &(gyre_dev_options){0}, &none) == GYRE_UNAVAILABLE && !none);
    CHECK(!gyre_cuda_dead(1));
    fake->create_result = 2;
    CHECK(be->open(1, &(gyre_dev_options){0}, &none) == GYRE_NO_MEMORY && !none);
    end();
}

static void prohibited_device_is_in_trouble(void)
{
    gyre_device device;

    memset(&device, 0, sizeof device);
    REQUIRE(start(FAKE));
    fake->compute_mode = 2;
    CHECK(be->describe(0, &device) == GYRE_OK);
    CHECK(strstr(device.trouble, "compute mode"));
    end();
}

static void priorities_are_turned_round_and_bounded(void)
{
    static const int pairs[][2] = {{0, 0}, {1, -1}, {5, -5}, {99, -5}, {-1, 0}, {INT32_MIN, 0}};
    gyre_dev_stream *other;

    REQUIRE(start(FAKE));
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        REQUIRE(be->stream_open(dev, NULL, pairs[i][0], &other) == GYRE_OK);
        CHECK(fake->priority == pairs[i][1]);
        be->stream_close(other);
    }
    end();
}

static void events_are_reached_and_measured(void)
{
    gyre_dev_event *first = NULL, *second = NULL;
    double ns;

    REQUIRE(start(FAKE));
    REQUIRE(be->event_open(dev, true, &first) == GYRE_OK);
    REQUIRE(be->event_open(dev, false, &second) == GYRE_OK);
    CHECK(be->event_record(first, stream) == GYRE_OK);
    CHECK(be->event_poll(second) == GYRE_AGAIN);
    CHECK(be->event_between(first, second, &ns) == GYRE_AGAIN);
    CHECK(be->event_record(second, stream) == GYRE_OK && be->event_poll(second) == GYRE_OK);
    CHECK(be->event_between(first, second, &ns) == GYRE_OK && ns == 5e5);
    CHECK(be->event_wait(stream, first) == GYRE_OK);
    be->event_close(first);
    be->event_close(second);
    end();
}

static const test_case cases[] = {
    TEST(no_slot_is_empty),
    TEST(callers_context_stays_current),
    TEST(lent_contexts_and_streams_are_not_destroyed),
    TEST(every_alignment_is_kept),
    TEST(windows_are_told_what_keeps_them_shut),
    TEST(a_window_is_written_through),
    TEST(a_module_of_gdrcopy_may_refuse),
    TEST(a_window_by_gdrcopy_is_written_through),
    TEST(exhausted_memory_is_a_status),
    TEST(busy_stream_says_again_and_writes_no_detail),
    TEST(sticky_fault_closes_the_device_for_good),
    TEST(after_a_hang_no_context_is_destroyed),
    TEST(context_that_is_refused_is_a_status),
    TEST(prohibited_device_is_in_trouble),
    TEST(priorities_are_turned_round_and_bounded),
    TEST(events_are_reached_and_measured),
};
TEST_MAIN(cases)
