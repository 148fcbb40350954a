/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices as they describe themselves, and that their limits are just that: what is at one works,
 * what is beyond is refused and nothing was submitted.
 */
#include "conformance.h"

static void a_device_tells_all_that_it_must(void)
{
    const gyre_device *const d = on.device;
    uint64_t product = 1;

    CHECK(d->struct_size >= sizeof(gyre_device));
    CHECK(d->kind >= GYRE_DEVICE_CPU && d->kind <= GYRE_DEVICE_NULL);
    CHECK(d->title[0] && d->driver[0] && d->architecture[0] && d->trouble[0] == '\0');
    CHECK(d->units > 0 && d->lanes > 0 && d->memory_bytes > 0);
    CHECK(d->block_threads_most > 0 && d->parameters_most >= 64);
    CHECK(d->numa_node >= -1);
    for (int i = 0; i < 3; i++) {
        CHECK(d->block_most[i] > 0 && d->grid_most[i] > 0);
        CHECK(d->block_most[i] <= d->block_threads_most);
        product *= d->block_most[i];
    }
    CHECK(product >= d->block_threads_most);
    CHECK(gyre_device_has(d, GYRE_FEATURE_FUNCTIONS) || gyre_device_has(d, GYRE_FEATURE_SOURCE) ||
          gyre_device_has(d, GYRE_FEATURE_IMAGES));
    CHECK(gyre_device_has(d, GYRE_FEATURE_FAULTS) == (d->kind == GYRE_DEVICE_NULL));
    CHECK(gyre_context_device(on.context) == d);
    CHECK(gyre_device_has(d, 0) && gyre_device_has(d, d->features));
}

static void devices_are_found_by_name(void)
{
    char name[64];

    snprintf(name, sizeof name, "%s:%u", on.device->backend, on.device->index);
    CHECK(strcmp(name, on.device->name) == 0);
    CHECK(gyre_device_find(name) == on.device);
    if (on.device->index == 0)
        CHECK(gyre_device_find(on.device->backend) == on.device);
    snprintf(name, sizeof name, "%s:99", on.device->backend);
    CHECK(gyre_device_find(name) == NULL);
    CHECK(strstr(gyre_error_last()->text, on.device->name) != NULL);
    CHECK(gyre_device_find("") == NULL && gyre_device_find(":") == NULL &&
          gyre_device_find("cpu:") == NULL && gyre_device_find("cpu:0x") == NULL &&
          gyre_device_find("cpu:-1") == NULL && gyre_device_find("cpux") == NULL &&
          gyre_device_find("cpu:4294967296") == NULL);
}

static void the_list_of_devices_adds_up(void)
{
    const size_t count = gyre_device_count();
    const gyre_driver *driver;
    size_t sum = 0;

    REQUIRE(count > 0);
    CHECK(strcmp(gyre_device_at(0)->backend, "cpu") == 0);
    CHECK(gyre_device_at(count) == NULL && gyre_device_at(SIZE_MAX) == NULL);
    for (size_t i = 0; (driver = gyre_driver_at(i)); i++) {
        CHECK(driver->text[0] != '\0');
        CHECK((driver->status == GYRE_OK) || driver->device_count == 0);
        sum += driver->device_count;
    }
    CHECK(sum == count && gyre_driver_at(SIZE_MAX) == NULL);
    for (size_t i = 0; i < count; i++) {
        const gyre_device *const other = gyre_device_at(i);

        CHECK(gyre_device_find(other->name) == other);
        if (strcmp(other->backend, on.device->backend) != 0)
            CHECK(!gyre_device_reaches(on.device, other) && !gyre_device_reaches(other, on.device));
    }
    CHECK(gyre_device_reaches(on.device, on.device));
}

static void looking_fills_in_no_more_than_asked(void)
{
    gyre_device_state state = {.struct_size = 0};
    gyre_status status;

    CHECK(gyre_device_look(on.device, &state) == GYRE_INVALID);
    memset(&state, 0x5a, sizeof state);
    state.struct_size = offsetof(gyre_device_state, busy_percent);
    status = gyre_device_look(on.device, &state);
    CHECK(status == GYRE_OK || status == GYRE_UNSUPPORTED);
    CHECK(state.busy_percent == 0x5a5a5a5a && state.xid_count == 0x5a5a5a5a5a5a5a5a);
    state.struct_size = sizeof state;
    if (gyre_device_look(on.device, &state) == GYRE_OK) {
        CHECK(state.memory_total_bytes >= -1 && state.memory_used_bytes >= -1);
        CHECK(state.memory_used_bytes <= state.memory_total_bytes ||
              state.memory_total_bytes == -1);
        CHECK(state.busy_percent >= -1 && state.busy_percent <= 100);
        CHECK(state.temperature_c != 0x5a5a5a5a && state.xid != 0x5a5a5a5a5a5a5a5a);
    }
}

/* Where the cases launch: nothing is counted beyond `cells`. */
static gyre_stream *stream;
static mark_parameters marks;

static bool begin(size_t cells)
{
    uint32_t *const zeros = host_take(cells * 4);
    bool done;

    stream = stream_new();
    marks.cells = take(GYRE_CONTEXT_DEVICE, cells * 4);
    done = zeros && stream && marks.cells && kernel_of(KERNEL_MARK) &&
           put(stream, marks.cells, zeros, cells * 4);
    host_give(zeros);
    CHECK(done);
    return done;
}

static void end(size_t cells)
{
    give(GYRE_CONTEXT_DEVICE, marks.cells, cells * 4);
    gyre_stream_destroy(stream);
}

static void refused(gyre_launch launch)
{
    const uint64_t before = submitted(stream);

    launch.parameters = &marks;
    launch.parameters_size = sizeof marks;
    CHECK(gyre_stream_launch(stream, kernel_of(KERNEL_MARK), &launch) == GYRE_INVALID);
    CHECK(gyre_error_last()->status == GYRE_INVALID && gyre_error_last()->text[0] != '\0');
    CHECK(submitted(stream) == before);
}

static void launches_beyond_a_limit_are_refused(void)
{
    const gyre_device *const d = on.device;

    if (!begin(64))
        return;
    refused((gyre_launch){.block = {d->block_threads_most + 1}});
    refused((gyre_launch){.block = {UINT32_MAX}});
    refused((gyre_launch){.block = {65536, 65536}}); /* 2^32: the product of 32 bits is 0 */
    refused((gyre_launch){.block = {1u << 22, 1u << 21, 1u << 21}}); /* and of 64 */
    refused((gyre_launch){.block = {d->block_threads_most, 2}});
    refused((gyre_launch){.block = {2, d->block_threads_most}});
    for (int i = 0; i < 3; i++) {
        gyre_launch launch = {.grid = {1}};

        if (d->block_most[i] < UINT32_MAX) {
            launch.block[i] = d->block_most[i] + 1;
            refused(launch);
            launch.block[i] = 0;
        }
        if (d->grid_most[i] < UINT32_MAX) {
            launch.grid[i] = d->grid_most[i] + 1;
            refused(launch);
            launch.grid[i] = UINT32_MAX;
            refused(launch);
        }
    }
    if (d->shared_bytes_most < UINT32_MAX) {
        refused((gyre_launch){.shared_bytes = d->shared_bytes_most + 1});
        refused((gyre_launch){.shared_bytes = UINT32_MAX});
    }
    CHECK(ok(gyre_stream_sync(stream)));
    end(64);
}

static void a_block_may_be_as_large_as_the_limit(void)
{
    gyre_kernel_facts facts = {.struct_size = sizeof facts};
    uint32_t most, *host;
    size_t bytes, right = 0;
    gyre_launch launch = {.parameters = &marks, .parameters_size = sizeof marks};

    REQUIRE(kernel_of(KERNEL_MARK));
    CHECK(ok(gyre_kernel_describe(kernel_of(KERNEL_MARK), &facts)));
    most = facts.block_threads_most ? facts.block_threads_most : on.device->block_threads_most;
    if (most > on.device->block_most[0])
        most = on.device->block_most[0];
    bytes = (size_t)most * 4;
    host = host_take(bytes);
    if (!host || !begin(most)) {
        host_give(host);
        return;
    }
    launch.block[0] = most;
    CHECK(ok(gyre_stream_launch(stream, kernel_of(KERNEL_MARK), &launch)));
    CHECK(put(stream, host, marks.cells, bytes));
    for (uint32_t i = 0; i < most; i++)
        right += host[i] == 1;
    CHECK(right == most);
    host_give(host);
    end(most);
}

static void a_block_may_have_all_shared_memory(void)
{
    enum { BLOCK = 64 };
    gyre_stream *const own = stream_new();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)BLOCK * 4);
    gyre_kernel_facts facts = {.struct_size = sizeof facts};
    const turn_parameters p = {data, BLOCK};
    gyre_launch launch = launch_of(1, BLOCK, &p, sizeof p);
    uint32_t host[BLOCK];
    size_t right = 0;

    REQUIRE(own && data && kernel_of(KERNEL_TURN));
    for (uint32_t i = 0; i < BLOCK; i++)
        host[i] = i;
    CHECK(ok(gyre_kernel_describe(kernel_of(KERNEL_TURN), &facts)));
    /* what the kernel's own, of which a driver may have a byte, leaves of it */
    launch.shared_bytes = (on.device->shared_bytes_most - facts.shared_bytes) & ~UINT32_C(15);
    CHECK(put(own, data, host, sizeof host));
    CHECK(ok(gyre_stream_launch(own, kernel_of(KERNEL_TURN), &launch)));
    CHECK(put(own, host, data, sizeof host));
    for (uint32_t i = 0; i < BLOCK; i++)
        right += host[i] == BLOCK - 1 - i;
    CHECK(right == BLOCK);
    give(GYRE_CONTEXT_DEVICE, data, (size_t)BLOCK * 4);
    gyre_stream_destroy(own);
}

static const test_case cases[] = {
    TEST(a_device_tells_all_that_it_must),     TEST(devices_are_found_by_name),
    TEST(the_list_of_devices_adds_up),         TEST(looking_fills_in_no_more_than_asked),
    TEST(launches_beyond_a_limit_are_refused), TEST(a_block_may_be_as_large_as_the_limit),
    TEST(a_block_may_have_all_shared_memory),
};
CONFORMANCE_MAIN(cases)
