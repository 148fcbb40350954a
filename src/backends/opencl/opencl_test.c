/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend's devices, memory and streams, through its table.
 */
#include "backends/opencl/opencl_fake.h"
#include "child.h"
#include "gyre/atomic.h"
#include "gyre/thread.h"

/* First of all cases, because the first probe is for good. A loader may know other ways to its
 * platforms than the one that is taken from it here; then there are devices. */
static void probe_nowhere(void)
{
    uint32_t count = 1;
    char text[192];
    gyre_status status;

    setenv("OCL_ICD_VENDORS", "/nowhere", 1);
    status = cl->probe(&count, text, sizeof text);
    if (status == GYRE_OK)
        CHECK(count > 0);
    else
        CHECK(status == GYRE_UNAVAILABLE && count == 0 &&
              strstr(gyre_error_last()->text, "install"));
    if (status != GYRE_OK) /* and says it again */
        CHECK(cl->probe(&count, text, sizeof text) == GYRE_UNAVAILABLE &&
              strstr(gyre_error_last()->text, "install"));
}

static void missing_platform_is_told_with_what_to_do(void)
{
    CHECK(passes_in_child(probe_nowhere));
}

static void rows_say_what_a_device_can_do(void)
{
    uint32_t count = 0;
    char text[192];

    NEED_DEVICE();
    REQUIRE(cl->probe(&count, text, sizeof text) == GYRE_OK);
    CHECK(count > device_index && strncmp(text, "OpenCL ", 7) == 0);
    CHECK(device.title[0] && device.driver[0] && device.architecture[0]);
    CHECK(strspn(device.architecture, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
          strlen(device.architecture));
    CHECK(device.units > 0 && device.lanes > 0 && device.memory_bytes > 0);
    CHECK(device.block_threads_most > 0 && device.block_most[0] > 0 && device.grid_most[2] > 0);
    CHECK(device.shared_bytes_most > 0 && device.parameters_most >= 256);
    CHECK(device.reach == UINT64_C(1) << device_index && device.numa_node == -1);
    CHECK(cl->compiler(device_index, text, sizeof text) == GYRE_OK && text[0]);
    CHECK(cl->describe(count, &device) == GYRE_INVALID);
    CHECK(cl->compiler(count, text, sizeof text) == GYRE_INVALID);
}

static void no_slot_is_empty(void)
{
    void *slots[sizeof *cl / sizeof(void *)];

    memcpy(slots, cl, sizeof slots);
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        CHECK(slots[i]);
}

static void blocks_are_aligned_as_asked(void)
{
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    for (int kind = GYRE_DEV_MEMORY_DEVICE; kind <= GYRE_DEV_MEMORY_PINNED; kind++)
        for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
            void *blocks[3];

            for (int i = 0; i < 3; i++) {
                REQUIRE(cl->take(dev, (gyre_dev_memory)kind, 100, alignment, &blocks[i]) ==
                        GYRE_OK);
                CHECK((uintptr_t)blocks[i] % alignment == 0);
                if (kind == GYRE_DEV_MEMORY_PINNED ||
                    gyre_device_has(&device, GYRE_FEATURE_HOST_REACH))
                    memset(blocks[i], i, 100);
            }
            cl->give(dev, (gyre_dev_memory)kind, blocks[1], 100);
            cl->give(dev, (gyre_dev_memory)kind, blocks[0], 100);
            cl->give(dev, (gyre_dev_memory)kind, blocks[2], 100);
        }
    CHECK(dev->block_count == 0);
    cl->close(dev);
}

static void block_above_the_largest_is_refused(void)
{
    gyre_dev *dev;
    void *block = &dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    CHECK(cl->take(dev, GYRE_DEV_MEMORY_DEVICE, dev->found->block_bytes + 1, 64, &block) ==
          GYRE_NO_MEMORY);
    CHECK(!block && strstr(gyre_error_last()->text, "largest block"));
    CHECK(cl->take(dev, GYRE_DEV_MEMORY_DEVICE, SIZE_MAX, 4096, &block) == GYRE_NO_MEMORY);
    CHECK(cl->take(dev, GYRE_DEV_MEMORY_PINNED, SIZE_MAX, 4096, &block) == GYRE_NO_MEMORY);
    cl->close(dev);
}

static void free_memory_is_not_told(void)
{
    uint64_t room = 1, total = 1;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    CHECK(cl->room(dev, &room, &total) == GYRE_UNSUPPORTED && room == 0 && total == 0);
    cl->close(dev);
}

enum { SIDE = 40, BYTES = SIDE * SIDE };

static void copies_go_there_and_back(void)
{
    static unsigned char from[BYTES], to[BYTES];
    gyre_dev_stream *stream;
    unsigned char *block;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    block = take(dev, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 7);
    CHECK(copy(stream, block, from, BYTES) == GYRE_OK);
    CHECK(copy(stream, to + 1, block + 3, BYTES - 3) == GYRE_OK);
    CHECK(drain(stream) == GYRE_OK);
    CHECK(to[0] == 0 && memcmp(to + 1, from + 3, BYTES - 3) == 0 && to[BYTES - 2] == 0);
    cl->stream_close(stream);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, block, BYTES);
    cl->close(dev);
}

/* Boxes of rows and slices with something between them, compared with loops. */
static void boxes_leave_alone_what_is_between_rows(void)
{
    static unsigned char from[BYTES], to[BYTES], expected[BYTES];
    const gyre_dev_copy boxes[] = {
        {NULL, NULL, 5, 3, 4, 9, 40, 7, 30, NULL},   /* gaps everywhere */
        {NULL, NULL, 8, 5, 6, 8, 40, 8, 50, NULL},   /* rows are dense */
        {NULL, NULL, 8, 5, 6, 8, 40, 8, 40, NULL},   /* all is */
        {NULL, NULL, 16, 1, 9, 16, 16, 20, 20, NULL} /* slices of one row */
    };
    gyre_dev_stream *stream;
    unsigned char *block;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    block = take(dev, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(1 + i % 251);
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        gyre_dev_copy box = boxes[i];

        memset(expected, 0, BYTES);
        for (size_t z = 0; z < box.depth; z++)
            for (size_t y = 0; y < box.height; y++)
                memcpy(expected + z * box.to_slice + y * box.to_pitch,
                       from + z * box.from_slice + y * box.from_pitch, box.width);
        memset(to, 0, BYTES);
        CHECK(copy(stream, block, to, BYTES) == GYRE_OK);
        box.to = block;
        box.from = from;
        CHECK(cl->copy(stream, &box) == GYRE_OK);
        CHECK(copy(stream, to, block, BYTES) == GYRE_OK);
        CHECK(drain(stream) == GYRE_OK);
        CHECK(memcmp(to, expected, BYTES) == 0);
    }
    cl->stream_close(stream);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, block, BYTES);
    cl->close(dev);
}

static void fills_repeat_patterns_of_all_sizes(void)
{
    static unsigned char to[BYTES];
    gyre_dev_stream *stream;
    unsigned char *block;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    block = take(dev, BYTES);
    for (size_t size = 1; size <= 8; size *= 2) {
        const size_t count = 13;
        gyre_dev_fill fill = {block, {0}, 1, BYTES};

        CHECK(cl->fill(stream, &fill) == GYRE_OK);
        fill = (gyre_dev_fill){block + 16, {0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 7, 8}, size, count};
        CHECK(cl->fill(stream, &fill) == GYRE_OK);
        CHECK(copy(stream, to, block, BYTES) == GYRE_OK);
        CHECK(drain(stream) == GYRE_OK);
        CHECK(to[15] == 0 && to[16 + size * count] == 0);
        for (size_t i = 0; i < size * count; i++)
            CHECK(to[16 + i] == fill.pattern[i % size]);
    }
    cl->stream_close(stream);
    cl->give(dev, GYRE_DEV_MEMORY_DEVICE, block, BYTES);
    cl->close(dev);
}

static void stream_is_busy_until_its_work_is_done(void)
{
    static unsigned char from[BYTES] = {1, 2, 3}, to[BYTES];
    user_events user;
    gyre_dev_stream *stream;
    cl_event *gate;
    gyre_dev *dev;

    NEED_DEVICE();
    user = open_user_events();
    REQUIRE(user.create);
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    CHECK(cl->poll(stream) == GYRE_OK);
    gate = block_queue(&user, dev, stream->queue);
    CHECK(copy(stream, to, from, BYTES) == GYRE_OK);
    CHECK(cl->poll(stream) == GYRE_AGAIN && cl->poll(stream) == GYRE_AGAIN && to[0] == 0);
    CHECK(user.set(gate, CL_SUCCESS) == CL_SUCCESS);
    CHECK(drain(stream) == GYRE_OK && memcmp(to, from, BYTES) == 0);
    gyre_cl.clReleaseEvent(gate);
    cl->stream_close(stream);
    cl->close(dev);
}

/* PoCL aborts when a command fails, so the driver's answers are made up. */
static int32_t fake_state, fake_result;

static int32_t fake_event_info(cl_event *event, uint32_t what, size_t size, void *value,
                               size_t *out_size)
{
    (void)event, (void)what, (void)out_size;
    if (size == sizeof fake_state)
        memcpy(value, &fake_state, size);
    return fake_result;
}

static void command_that_fails_is_a_lost_device(void)
{
    static unsigned char from[BYTES], to[BYTES];
    gyre_dev_event *event = NULL;
    gyre_dev_stream *stream;
    gyre_cl_api before;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    REQUIRE(cl->event_open(dev, false, &event) == GYRE_OK);
    CHECK(copy(stream, to, from, BYTES) == GYRE_OK);
    CHECK(cl->event_record(event, stream) == GYRE_OK);
    CHECK(drain(stream) == GYRE_OK);
    before = gyre_cl;
    gyre_cl.clGetEventInfo = fake_event_info;
    fake_state = CL_OUT_OF_RESOURCES;
    CHECK(cl->poll(stream) == GYRE_DEVICE_LOST && gyre_error_last()->native == CL_OUT_OF_RESOURCES);
    CHECK(strstr(gyre_error_last()->text, "CL_OUT_OF_RESOURCES (-5)"));
    CHECK(cl->event_poll(event) == GYRE_DEVICE_LOST);
    fake_state = -9999; /* no code of OpenCL's */
    CHECK(cl->poll(stream) == GYRE_DEVICE_LOST && gyre_error_last()->native == -9999);
    fake_state = 3; /* queued */
    CHECK(cl->poll(stream) == GYRE_AGAIN && cl->event_poll(event) == GYRE_AGAIN);
    fake_result = CL_OUT_OF_HOST_MEMORY;
    CHECK(cl->poll(stream) == GYRE_NO_MEMORY);
    fake_result = CL_DEVICE_NOT_AVAILABLE;
    CHECK(cl->poll(stream) == GYRE_DEVICE_LOST);
    gyre_cl = before;
    fake_result = CL_SUCCESS;
    cl->event_close(event);
    cl->stream_close(stream);
    cl->close(dev);
}

/* Which events a marker or barrier was given to wait for, last. */
static int32_t (*real_marker)(cl_queue *, uint32_t, cl_event *const *, cl_event **);
static cl_event *fake_waits[2];
static uint32_t fake_count;

static int32_t fake_marker(cl_queue *queue, uint32_t count, cl_event *const *waits,
                           cl_event **out_event)
{
    fake_count = count;
    for (uint32_t i = 0; i < count && i < 2; i++)
        fake_waits[i] = waits[i];
    return real_marker(queue, count, waits, out_event);
}

static void failure_travels_to_the_last_event(void)
{
    static unsigned char from[BYTES], to[BYTES];
    gyre_dev_stream *stream, *other;
    gyre_dev_event *event = NULL;
    const cl_event *last, *marker;
    gyre_cl_api before;
    gyre_dev *dev;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    other = open_stream(dev);
    REQUIRE(cl->event_open(dev, false, &event) == GYRE_OK);
    before = gyre_cl;
    real_marker = gyre_cl.clEnqueueMarkerWithWaitList;
    gyre_cl.clEnqueueMarkerWithWaitList = fake_marker;
    CHECK(cl->event_record(event, stream) == GYRE_OK && fake_count == 0);
    CHECK(copy(stream, to, from, BYTES) == GYRE_OK);
    last = stream->last;
    CHECK(cl->event_record(event, stream) == GYRE_OK);
    CHECK(fake_count == 1 && fake_waits[0] == last && stream->last != last);
    marker = stream->last;
    CHECK(copy(other, to, from, BYTES) == GYRE_OK);
    last = other->last;
    real_marker = gyre_cl.clEnqueueBarrierWithWaitList;
    gyre_cl.clEnqueueBarrierWithWaitList = fake_marker;
    CHECK(cl->event_wait(other, event) == GYRE_OK);
    CHECK(fake_count == 2 && fake_waits[0] == marker && fake_waits[1] == last);
    gyre_cl = before;
    CHECK(drain(stream) == GYRE_OK && drain(other) == GYRE_OK);
    cl->event_close(event);
    cl->stream_close(stream);
    cl->stream_close(other);
    cl->close(dev);
}

static void abandoning_waits_for_nothing(void)
{
    static unsigned char from[BYTES], to[BYTES];
    user_events user;
    gyre_dev_stream *stream;
    cl_context *context;
    cl_queue *queue;
    cl_event *gate, *last;
    gyre_dev *dev;

    NEED_DEVICE();
    user = open_user_events();
    REQUIRE(user.create);
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    context = cl->native(dev, NULL);
    queue = cl->native(dev, stream);
    gate = block_queue(&user, dev, queue);
    CHECK(copy(stream, to, from, BYTES) == GYRE_OK);
    last = stream->last;
    cl->abandon(dev);
    cl->stream_close(stream);
    cl->close(dev);
    /* what was left there is the test's to tidy up */
    CHECK(user.set(gate, CL_SUCCESS) == CL_SUCCESS);
    while (gyre_cl_event_state(last) == GYRE_AGAIN)
        ;
    gyre_cl.clReleaseEvent(last);
    gyre_cl.clReleaseEvent(gate);
    gyre_cl.clReleaseCommandQueue(queue);
    gyre_cl.clReleaseContext(context);
}

static void owners_work_keeps_an_adopted_queue_busy(void)
{
    user_events user;
    gyre_dev_options options = {.faults = ""};
    gyre_dev_stream *stream, *other = NULL;
    gyre_dev *dev, *second = NULL;
    cl_event *gate;
    cl_queue *queue;
    int32_t code = 0;

    NEED_DEVICE();
    user = open_user_events();
    REQUIRE(user.create);
    dev = open_device();
    REQUIRE(dev);
    options.adopt = cl->native(dev, NULL);
    REQUIRE(cl->open(device_index, &options, &second) == GYRE_OK);
    CHECK(cl->native(second, NULL) == options.adopt);
    queue = gyre_cl.clCreateCommandQueueWithProperties(dev->context, dev->found->id, NULL, &code);
    REQUIRE(cl->stream_open(second, queue, 0, &stream) == GYRE_OK);
    CHECK(cl->native(second, stream) == queue && drain(stream) == GYRE_OK);

    gate = block_queue(&user, dev, queue);
    CHECK(cl->poll(stream) == GYRE_AGAIN && cl->poll(stream) == GYRE_AGAIN);
    CHECK(user.set(gate, CL_SUCCESS) == CL_SUCCESS);
    CHECK(drain(stream) == GYRE_OK);
    gyre_cl.clReleaseEvent(gate);
    cl->stream_close(stream);
    cl->close(second);

    /* both are still the owner's */
    CHECK(cl->stream_open(dev, queue, 0, &other) == GYRE_OK && drain(other) == GYRE_OK);
    cl->stream_close(other);
    gyre_cl.clReleaseCommandQueue(queue);
    cl->close(dev);
}

static void strangers_and_disorderly_queues_are_not_adopted(void)
{
    const uint64_t disorder[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER, 0};
    gyre_dev_stream *stream = NULL;
    gyre_dev *dev, *other;
    cl_queue *queue;
    int32_t code = 0;

    NEED_DEVICE();
    dev = open_device();
    other = open_device();
    REQUIRE(dev && other);
    queue = gyre_cl.clCreateCommandQueueWithProperties(other->context, dev->found->id, NULL, &code);
    CHECK(cl->stream_open(dev, queue, 0, &stream) == GYRE_INVALID && !stream);
    gyre_cl.clReleaseCommandQueue(queue);
    queue =
        gyre_cl.clCreateCommandQueueWithProperties(dev->context, dev->found->id, disorder, &code);
    if (queue) {
        CHECK(cl->stream_open(dev, queue, 0, &stream) == GYRE_INVALID && !stream);
        gyre_cl.clReleaseCommandQueue(queue);
    }
    cl->close(dev);
    cl->close(other);
}

typedef struct poller {
    gyre_dev_stream *stream;
    uint64_t ended; /* shared */
} poller;

static void poll_until_ended(void *arg)
{
    poller *const p = arg;

    /* relaxed: nothing is read that was written before it */
    while (gyre_load_relaxed(&p->ended) == 0) {
        const gyre_status status = cl->poll(p->stream);

        CHECK(status == GYRE_OK || status == GYRE_AGAIN);
    }
}

static void anyone_may_poll_while_another_submits(void)
{
    enum { COPIES = 300 };
    static unsigned char to[COPIES];
    unsigned char from[COPIES];
    gyre_thread *thread = NULL;
    poller p = {NULL, 0};
    cl_queue *queue;
    gyre_dev *dev;
    int32_t code = 0;

    NEED_DEVICE();
    dev = open_device();
    REQUIRE(dev);
    queue = gyre_cl.clCreateCommandQueueWithProperties(dev->context, dev->found->id, NULL, &code);
    for (int adopted = 0; adopted < 2; adopted++) {
        memset(to, 0, sizeof to);
        p.ended = 0;
        REQUIRE(cl->stream_open(dev, adopted ? queue : NULL, 0, &p.stream) == GYRE_OK);
        CHECK(gyre_thread_start(poll_until_ended, &p, NULL, &thread) == GYRE_OK);
        for (int i = 0; i < COPIES; i++) {
            from[i] = (unsigned char)(i + adopted + 1);
            CHECK(copy(p.stream, &to[i], &from[i], 1) == GYRE_OK);
        }
        CHECK(drain(p.stream) == GYRE_OK && memcmp(to, from, COPIES) == 0);
        gyre_add_relaxed(&p.ended, 1); /* relaxed: see above */
        gyre_thread_stop(thread);
        cl->stream_close(p.stream);
    }
    gyre_cl.clReleaseCommandQueue(queue);
    cl->close(dev);
}

static void event_holds_the_other_stream_back(void)
{
    static unsigned char from[BYTES] = {5}, to[BYTES];
    user_events user;
    gyre_dev_stream *first, *second;
    gyre_dev_event *event = NULL;
    cl_event *gate;
    gyre_dev *dev;

    NEED_DEVICE();
    user = open_user_events();
    REQUIRE(user.create);
    dev = open_device();
    REQUIRE(dev);
    first = open_stream(dev);
    second = open_stream(dev);
    REQUIRE(cl->event_open(dev, false, &event) == GYRE_OK);
    CHECK(cl->event_poll(event) == GYRE_INVALID && cl->event_wait(second, event) == GYRE_INVALID);
    gate = block_queue(&user, dev, first->queue);
    CHECK(cl->event_record(event, first) == GYRE_OK);
    CHECK(cl->event_wait(second, event) == GYRE_OK);
    CHECK(copy(second, to, from, BYTES) == GYRE_OK);
    CHECK(cl->event_poll(event) == GYRE_AGAIN && cl->poll(second) == GYRE_AGAIN && to[0] == 0);
    CHECK(user.set(gate, CL_SUCCESS) == CL_SUCCESS);
    CHECK(drain(second) == GYRE_OK && to[0] == 5);
    CHECK(cl->event_poll(event) == GYRE_OK && drain(first) == GYRE_OK);
    gyre_cl.clReleaseEvent(gate);
    cl->event_close(event);
    cl->stream_close(first);
    cl->stream_close(second);
    cl->close(dev);
}

static void time_between_events_goes_forward(void)
{
    static unsigned char from[BYTES], to[BYTES];
    gyre_dev_event *begin = NULL, *end = NULL;
    gyre_dev_stream *stream;
    double ns = -1;
    gyre_dev *dev;

    NEED_DEVICE();
    if (!gyre_device_has(&device, GYRE_FEATURE_TIMING))
        SKIP("the device tells no time");
    dev = open_device();
    REQUIRE(dev);
    stream = open_stream(dev);
    REQUIRE(cl->event_open(dev, true, &begin) == GYRE_OK);
    REQUIRE(cl->event_open(dev, true, &end) == GYRE_OK);
    CHECK(cl->event_between(begin, end, &ns) == GYRE_INVALID);
    for (int i = 0; i < 2; i++) { /* the second time they are recorded anew */
        CHECK(cl->event_record(begin, stream) == GYRE_OK);
        CHECK(copy(stream, to, from, BYTES) == GYRE_OK);
        CHECK(cl->event_record(end, stream) == GYRE_OK);
        CHECK(drain(stream) == GYRE_OK);
        CHECK(cl->event_between(begin, end, &ns) == GYRE_OK && ns > 0 && ns < 1e10);
        CHECK(cl->event_between(end, begin, &ns) == GYRE_OK && ns < 0);
    }
    cl->event_close(begin);
    cl->event_close(end);
    cl->stream_close(stream);
    cl->close(dev);
}

static const test_case cases[] = {
    TEST(missing_platform_is_told_with_what_to_do),
    TEST(rows_say_what_a_device_can_do),
    TEST(no_slot_is_empty),
    TEST(blocks_are_aligned_as_asked),
    TEST(block_above_the_largest_is_refused),
    TEST(free_memory_is_not_told),
    TEST(copies_go_there_and_back),
    TEST(boxes_leave_alone_what_is_between_rows),
    TEST(fills_repeat_patterns_of_all_sizes),
    TEST(stream_is_busy_until_its_work_is_done),
    TEST(command_that_fails_is_a_lost_device),
    TEST(failure_travels_to_the_last_event),
    TEST(abandoning_waits_for_nothing),
    TEST(owners_work_keeps_an_adopted_queue_busy),
    TEST(strangers_and_disorderly_queues_are_not_adopted),
    TEST(anyone_may_poll_while_another_submits),
    TEST(event_holds_the_other_stream_back),
    TEST(time_between_events_goes_forward),
};
TEST_MAIN(cases)
