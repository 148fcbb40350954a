/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU's table, driven directly: facts, memory, code, order, blocks, copies and fills.
 */
#include <inttypes.h>
#include <signal.h>

#include "backends/cpu/cpu_fake.h"
#include "chance.h"
#include "gyre/topology.h"

enum { MANY = 3 * GYRE_CPU_RING + 7 }; /* operations that do not fit a ring */

static void every_slot_is_filled(void)
{
    const void *const *slots = (const void *const *)(const void *)cpu;

    for (size_t i = 0; i < sizeof *cpu / sizeof(void *); i++)
        CHECK(slots[i] != NULL);
}

static void device_says_what_it_is(void)
{
    gyre_device device = {.struct_size = sizeof device};
    char text[64] = "";
    uint32_t count;

    CHECK(cpu->probe(&count, text, sizeof text) == GYRE_OK && count == 1);
    CHECK(strstr(text, "CPU") != NULL);
    CHECK(cpu->describe(0, &device) == GYRE_OK);
    CHECK(device.kind == GYRE_DEVICE_CPU && device.title[0] && device.trouble[0] == '\0');
    CHECK(device.units == gyre_topology_worker_count(NULL) && device.lanes == 1);
    CHECK(device.reach == 1 && device.memory_bytes > 0 && device.architecture[0]);
    CHECK(device.block_threads_most == 1024 && device.grid_most[0] == INT32_MAX);
    CHECK(cpu->describe(1, &device) == GYRE_INVALID);
}

/* Comes before every other look of this process. */
static void first_look_tells_of_no_time_before_it(void)
{
    gyre_device_state state;

    memset(&state, 0xff, sizeof state);
    CHECK(cpu->look(0, &state) == GYRE_OK && state.busy_percent == -1);
    usleep(50000); /* some ticks of the kernel */
    CHECK(cpu->look(0, &state) == GYRE_OK);
    CHECK(state.busy_percent >= 0 && state.busy_percent <= 100);
}

static void state_tells_the_memory_of_the_machine(void)
{
    gyre_device_state state;
    uint64_t room, total;

    memset(&state, 0xff, sizeof state);
    CHECK(cpu->look(0, &state) == GYRE_OK);
    CHECK(state.memory_total_bytes > 0 && state.memory_used_bytes <= state.memory_total_bytes);
    CHECK(state.busy_percent >= -1 && state.busy_percent <= 100 && state.temperature_c == -1);
    CHECK(cpu->look(1, &state) == GYRE_INVALID);
    CHECK(cpu->room(NULL, &room, &total) == GYRE_OK && room <= total && room > 0);
}

static void device_that_cannot_be_is_refused(void)
{
    int something;
    const gyre_dev_options fine = {.workers = 1}, none = {0};
    const gyre_dev_options adopting = {.workers = 1, .adopt = &something};
    gyre_dev *dev = NULL;

    CHECK(cpu->open(1, &fine, &dev) == GYRE_INVALID && !dev);
    CHECK(cpu->open(0, &none, &dev) == GYRE_INVALID && !dev);
    CHECK(cpu->open(0, &adopting, &dev) == GYRE_UNSUPPORTED && !dev);
}

static void memory_is_aligned_and_impossible_sizes_are_refused(void)
{
    static const size_t sizes[] = {1, 7, 64, 4095, 4097, 1 << 20};
    rig r = rig_open(1);
    void *block;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
            REQUIRE(cpu->take(r.dev, GYRE_DEV_MEMORY_DEVICE, sizes[i], alignment, &block) ==
                    GYRE_OK);
            CHECK((uintptr_t)block % alignment == 0);
            memset(block, 1, sizes[i]);
            cpu->give(r.dev, GYRE_DEV_MEMORY_DEVICE, block, sizes[i]);
        }
    }
    CHECK(cpu->take(r.dev, GYRE_DEV_MEMORY_PINNED, SIZE_MAX, 4096, &block) == GYRE_NO_MEMORY);
    CHECK(!block);
    CHECK(cpu->take(r.dev, GYRE_DEV_MEMORY_DEVICE, SIZE_MAX / 2, 64, &block) == GYRE_NO_MEMORY);
    CHECK(!block);
    rig_close(&r);
}

static void module_takes_functions_only(void)
{
    const gyre_dev_code image = {.image = "x", .image_bytes = 1};
    const gyre_dev_kernel_request absent = {.entry = "absent"};
    const gyre_dev_kernel_request large = {.entry = "nothing", .parameters_bytes = 4097};
    gyre_dev_kernel_facts facts;
    gyre_dev_kernel *kernel;
    gyre_dev_module *module;
    rig r = rig_open(1);

    CHECK(cpu->module_open(r.dev, &image, &module) == GYRE_UNSUPPORTED && !module);
    CHECK(cpu->kernel_open(r.module, &absent, &facts, &kernel) == GYRE_NOT_FOUND && !kernel);
    CHECK(strstr(gyre_error_last()->text, "absent") != NULL);
    CHECK(cpu->kernel_open(r.module, &large, &facts, &kernel) == GYRE_INVALID && !kernel);
    rig_close(&r);
}

/* What a worker says of itself. */
typedef struct self {
    char name[16];
    bool deaf;
} self;

static void introduce(const gyre_block *block, const void *parameters)
{
    self *const *who = parameters;
    sigset_t blocked;

    (void)block;
    CHECK(pthread_getname_np(pthread_self(), (*who)->name, sizeof(*who)->name) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0);
    (*who)->deaf = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR1);
}

static void worker_is_named_and_deaf_to_signals(void)
{
    static const gyre_entry functions[] = {{"introduce", introduce}, {NULL, NULL}};
    const gyre_dev_code code = {.functions = functions};
    rig r = rig_open(1), with = r;
    gyre_dev_stream *stream = fake_stream(&r);
    self someone = {{0}, false}, *who = &someone;

    REQUIRE(cpu->module_open(r.dev, &code, &with.module) == GYRE_OK);
    fake_submit(stream, fake_kernel(&with, "introduce", sizeof(void *)), &who);
    fake_drain(stream);
    CHECK(strcmp(someone.name, "gyre-cpu0") == 0 && someone.deaf);
    cpu->module_close(with.module);
    cpu->stream_close(stream);
    rig_close(&r);
}

static void stream_keeps_order(void)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        static uint32_t log[MANY];
        rig r = rig_open(workers);
        gyre_dev_stream *stream = fake_stream(&r);
        uint32_t count = 0;

        CHECK(cpu->poll(stream) == GYRE_OK);
        for (uint32_t i = 0; i < MANY; i++)
            fake_append(&r, stream, &(append_parameters){log, &count, i});
        fake_drain(stream);
        CHECK(count == MANY);
        for (uint32_t i = 0; i < MANY; i++)
            CHECK(log[i] == i);
        cpu->stream_close(stream);
        rig_close(&r);
    }
}

static void stream_that_had_nothing_to_do_goes_on(void)
{
    rig r = rig_open(2);
    gyre_dev_stream *stream = fake_stream(&r);
    uint32_t log[64], count = 0;

    for (uint32_t i = 0; i < COUNT(log); i++) {
        fake_append(&r, stream, &(append_parameters){log, &count, i});
        fake_drain(stream);
        CHECK(count == i + 1);
        if (i % 16 == 0)
            usleep(2000); /* until the worker sleeps */
    }
    cpu->stream_close(stream);
    rig_close(&r);
}

static void stream_that_is_opened_again_is_empty(void)
{
    rig r = rig_open(2);

    for (uint32_t i = 0; i < 20; i++) {
        gyre_dev_stream *stream = fake_stream(&r), *other = fake_stream(&r);
        uint32_t log[1], count = 0;

        CHECK(cpu->poll(stream) == GYRE_OK && stream != other);
        fake_append(&r, stream, &(append_parameters){log, &count, i});
        cpu->stream_close(stream); /* waits for it */
        CHECK(count == 1 && log[0] == i);
        cpu->stream_close(other);
    }
    rig_close(&r);
}

static void every_block_runs_once(void)
{
    const uint64_t seed = chance_seed();
    uint64_t random = seed;

    for (uint32_t workers = 1; workers <= 4; workers++) {
        rig r = rig_open(workers);
        gyre_dev_stream *stream = fake_stream(&r);

        for (int round = 0; round < 60; round++) {
            touch_parameters p = {.shared_bytes = (uint32_t)chance_below(&random, 3) * 40};
            gyre_dev_launch launch = fake_launch(r.touch, &p);
            uint32_t blocks = 1, wrong = 0, missed = 0;

            for (int d = 0; d < 3; d++) {
                static const uint32_t most[] = {200, 12, 5};

                p.grid[d] = launch.grid[d] = 1 + (uint32_t)chance_below(&random, most[d]);
                p.threads[d] = launch.block[d] = 1 + (uint32_t)chance_below(&random, 8);
                blocks *= p.grid[d];
            }
            launch.shared_bytes = p.shared_bytes;
            p.hits = calloc(blocks, sizeof *p.hits);
            p.wrong = &wrong;
            REQUIRE(p.hits != NULL);
            CHECK(cpu->launch(stream, &launch) == GYRE_OK);
            fake_drain(stream);
            for (uint32_t i = 0; i < blocks; i++)
                missed += p.hits[i] != 1;
            CHECK(missed == 0 && wrong == 0);
            if (missed > 0 || wrong > 0)
                fprintf(stderr, "seed %" PRIu64 "\n", seed);
            free(p.hits);
        }
        cpu->stream_close(stream);
        rig_close(&r);
    }
}

typedef struct linger_parameters {
    uint64_t us;
    uint64_t *first; /* the thread that came first */
    uint32_t *others;
} linger_parameters;

static void linger(const gyre_block *block, const void *parameters)
{
    const linger_parameters *p = parameters;
    uint64_t nobody = 0;
    const uint64_t thread = (uint64_t)(uintptr_t)pthread_self();

    (void)block;
    /* relaxed, all: read when the stream is drained */
    if (!__atomic_compare_exchange_n(p->first, &nobody, thread, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        nobody != thread)
        __atomic_fetch_add(p->others, 1, __ATOMIC_RELAXED);
    if (p->us > 0)
        usleep((useconds_t)p->us);
}

/* However short the launches before it were. */
static void long_launch_is_shared(void)
{
    static const gyre_entry functions[] = {{"linger", linger}, {NULL, NULL}};
    const gyre_dev_code code = {.functions = functions};
    rig r = rig_open(2), with = {.dev = r.dev};
    gyre_dev_stream *stream = fake_stream(&r);
    gyre_dev_launch launch;
    linger_parameters p;
    uint64_t first;
    uint32_t others = 0;

    REQUIRE(cpu->module_open(r.dev, &code, &with.module) == GYRE_OK);
    launch = fake_launch(fake_kernel(&with, "linger", sizeof p), &p);
    launch.grid[0] = 16;
    for (int i = 0; i < 300; i++) {
        first = others = 0;
        p = (linger_parameters){i < 299 ? 0 : 5000, &first, &others};
        CHECK(cpu->launch(stream, &launch) == GYRE_OK);
        fake_drain(stream);
    }
    CHECK(others > 0);
    cpu->module_close(with.module);
    cpu->stream_close(stream);
    rig_close(&r);
}

static void parameters_are_copied_by_the_launch(void)
{
    rig r = rig_open(1);
    gyre_dev_stream *stream = fake_stream(&r);
    wide_parameters p;
    uint64_t sum = 0;
    gate g = {0};

    fake_hold(&r, stream, &g);
    memset(&p, 3, sizeof p);
    p.sum = &sum;
    for (int i = 0; i < 5; i++)
        fake_submit(stream, r.wide, &p);
    memset(&p, 0, sizeof p);
    fake_submit(stream, r.nothing, NULL);
    fake_open(&g);
    fake_drain(stream);
    CHECK(sum == UINT64_C(5) * 3 * sizeof p.bytes);
    cpu->stream_close(stream);
    rig_close(&r);
}

static void largest_shared_memory_is_there(void)
{
    rig r = rig_open(2);
    gyre_dev_stream *stream = fake_stream(&r);
    uint32_t hits[4] = {0}, wrong = 0;
    const touch_parameters p = {hits, &wrong, {4, 1, 1}, {1024, 1, 1}, 1 << 20};
    gyre_dev_launch launch = fake_launch(r.touch, &p);

    launch.grid[0] = 4;
    launch.block[0] = 1024;
    launch.shared_bytes = 1 << 20;
    CHECK(cpu->launch(stream, &launch) == GYRE_OK);
    fake_drain(stream);
    CHECK(wrong == 0 && hits[0] == 1 && hits[1] == 1 && hits[2] == 1 && hits[3] == 1);
    cpu->stream_close(stream);
    rig_close(&r);
}

static void copies_move_rows_and_nothing_between(void)
{
    rig r = rig_open(1);
    gyre_dev_stream *stream = fake_stream(&r);
    unsigned char from[2][3][8], to[2][5][7];
    const gyre_dev_copy copy = {.to = to,
                                .from = from,
                                .width = 5,
                                .height = 3,
                                .depth = 2,
                                .to_pitch = 7,
                                .to_slice = sizeof to[0],
                                .from_pitch = 8,
                                .from_slice = sizeof from[0],
                                .from_dev = r.dev};

    for (size_t i = 0; i < sizeof from; i++)
        ((unsigned char *)from)[i] = (unsigned char)(i + 1);
    memset(to, 0, sizeof to);
    CHECK(cpu->copy(stream, &copy) == GYRE_OK);
    fake_drain(stream);
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 5; y++)
            for (size_t x = 0; x < 7; x++)
                CHECK(to[z][y][x] == (y < 3 && x < 5 ? from[z][y][x] : 0));
    cpu->stream_close(stream);
    rig_close(&r);
}

static void fills_repeat_their_pattern(void)
{
    static const size_t counts[] = {1, 2, 3, 511, 512, 513, 5000};
    static unsigned char bytes[8 * 5000 + 8];
    rig r = rig_open(1);
    gyre_dev_stream *stream = fake_stream(&r);

    for (size_t size = 1; size <= 8; size *= 2) {
        for (size_t i = 0; i < COUNT(counts); i++) {
            const gyre_dev_fill fill = {bytes, {1, 2, 3, 4, 5, 6, 7, 8}, size, counts[i]};
            size_t wrong = 0;

            memset(bytes, 99, sizeof bytes);
            CHECK(cpu->fill(stream, &fill) == GYRE_OK);
            fake_drain(stream);
            for (size_t b = 0; b < counts[i] * size; b++)
                wrong += bytes[b] != b % size + 1;
            CHECK(wrong == 0 && bytes[counts[i] * size] == 99);
        }
    }
    cpu->stream_close(stream);
    rig_close(&r);
}

typedef struct pusher {
    rig *r;
    gyre_dev_stream *stream;
    uint32_t log[MANY], count, submitted;
} pusher;

static void *push(void *arg)
{
    pusher *p = arg;

    for (uint32_t i = 0; i < MANY; i++) {
        fake_append(p->r, p->stream, &(append_parameters){p->log, &p->count, i});
        __atomic_store_n(&p->submitted, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void full_ring_lets_the_submitter_wait(void)
{
    rig r = rig_open(1);
    static pusher p;
    pthread_t thread;
    gate g = {0};

    p = (pusher){.r = &r, .stream = fake_stream(&r)};
    fake_hold(&r, p.stream, &g);
    REQUIRE(pthread_create(&thread, NULL, push, &p) == 0);
    fake_await(&p.submitted, GYRE_CPU_RING - 1);
    usleep(5000);
    CHECK(__atomic_load_n(&p.submitted, __ATOMIC_ACQUIRE) < GYRE_CPU_RING + 1);
    CHECK(cpu->poll(p.stream) == GYRE_AGAIN);
    fake_open(&g);
    pthread_join(thread, NULL);
    fake_drain(p.stream);
    CHECK(p.count == MANY);
    for (uint32_t i = 0; i < MANY; i++)
        CHECK(p.log[i] == i);
    cpu->stream_close(p.stream);
    rig_close(&r);
}

static void stream_of_others_is_not_adopted(void)
{
    rig r = rig_open(1);
    gyre_dev_stream *stream;

    CHECK(cpu->stream_open(r.dev, &r, 0, &stream) == GYRE_UNSUPPORTED && !stream);
    CHECK(cpu->native(r.dev, NULL) == NULL);
    rig_close(&r);
}

static const test_case cases[] = {
    TEST(every_slot_is_filled),
    TEST(device_says_what_it_is),
    TEST(first_look_tells_of_no_time_before_it),
    TEST(state_tells_the_memory_of_the_machine),
    TEST(device_that_cannot_be_is_refused),
    TEST(memory_is_aligned_and_impossible_sizes_are_refused),
    TEST(module_takes_functions_only),
    TEST(worker_is_named_and_deaf_to_signals),
    TEST(stream_keeps_order),
    TEST(stream_that_had_nothing_to_do_goes_on),
    TEST(stream_that_is_opened_again_is_empty),
    TEST(every_block_runs_once),
    TEST(long_launch_is_shared),
    TEST(parameters_are_copied_by_the_launch),
    TEST(largest_shared_memory_is_there),
    TEST(copies_move_rows_and_nothing_between),
    TEST(fills_repeat_their_pattern),
    TEST(full_ring_lets_the_submitter_wait),
    TEST(stream_of_others_is_not_adopted),
};
TEST_MAIN(cases)
