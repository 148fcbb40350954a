// SPDX-License-Identifier: Apache-2.0
//
// cpp: the public headers, all of them, used and linked from C++17.
#include "gyre/abi.h"
#include "gyre/actor.h"
#include "gyre/actor_abi.h"
#include "gyre/alloc.h"
#include "gyre/atomic.h"
#include "gyre/behaviour.h"
#include "gyre/bench.h"
#include "gyre/buffers.h"
#include "gyre/channel.h"
#include "gyre/clock.h"
#include "gyre/common.h"
#include "gyre/cpu.h"
#include "gyre/histogram.h"
#include "gyre/hlc.h"
#include "gyre/layout.h"
#include "gyre/library.h"
#include "gyre/log.h"
#include "gyre/message.h"
#include "gyre/monitor.h"
#include "gyre/mpmc.h"
#include "gyre/park.h"
#include "gyre/pool.h"
#include "gyre/port.h"
#include "gyre/settings.h"
#include "gyre/slots.h"
#include "gyre/spsc.h"
#include "gyre/status.h"
#include "gyre/thread.h"
#include "gyre/topology.h"
#include "gyre/trace.h"

#include "test.h"

/* As C++ has compiled it: tests/conformance/behaviours/echo.c. */
extern "C" const gyre_behaviour echo;

static_assert(static_cast<int>(GYRE_MESSAGE_NORMAL) == static_cast<int>(GYRE_PRIORITY_NORMAL),
              "messages travel through channels");

#define GREETING_FIELDS(F, M)                                                                      \
    F(M, TEXT, char, words, 1, )                                                                   \
    F(M, LIST, u64, numbers, 1, )                                                                  \
    F(M, OPTIONAL, f32, warmth, 2, 0.5f)
GYRE_MESSAGE(greeting, 1, 2, GREETING_FIELDS);

#define LETTER_FIELDS(F, M)                                                                        \
    F(M, PART, greeting, greeting, 1, )                                                            \
    F(M, ARRAY, u8, code, 1, 4)
GYRE_MESSAGE(letter, 2, 1, LETTER_FIELDS);

static void library_calls_link(void)
{
    gyre_clock_info info = {};
    gyre_topology *topology = nullptr;

    CHECK(strcmp(gyre_status_name(GYRE_DEVICE_LOST), "device lost") == 0);
    CHECK(strcmp(gyre_version(), "") != 0);
    CHECK(gyre_settings_at(0) != nullptr);
    CHECK(gyre_cpu_describe() != nullptr);
    info.struct_size = sizeof info;
    CHECK(gyre_clock_describe(&info) == GYRE_OK);
    REQUIRE(gyre_topology_create(nullptr, &topology) == GYRE_OK);
    CHECK(gyre_topology_worker_count(topology) >= 1);
    gyre_topology_destroy(topology);
}

static void buffers_and_layouts_link(void)
{
    const gyre_layout *const control = gyre_layout_at(0);
    gyre_buffers *buffers = nullptr;
    uint64_t id = 0, read = 0;
    const uint64_t written = 7;

    CHECK(control->size == sizeof(gyre_control_block));
    CHECK(control->alignment == alignof(gyre_control_block));
    REQUIRE(gyre_buffers_create(nullptr, &buffers) == GYRE_OK);
    CHECK(gyre_buffer_allocate(buffers, 8, GYRE_BUFFER_ANY, &id) == GYRE_OK);
    CHECK(gyre_buffer_write(buffers, id, 0, &written, 8) == GYRE_OK);
    CHECK(gyre_buffer_read(buffers, id, 0, &read, 8) == GYRE_OK && read == 7);
    gyre_buffers_destroy(buffers);
}

static void inline_calls_link(void)
{
    uint64_t counter = 0;

    gyre_store_release(&counter, 7);
    CHECK(gyre_load_acquire(&counter) == 7);
    gyre_trace_begin("cpp");
    gyre_trace_end("cpp");
    gyre_bench_keep(&counter);
}

static void queues_link(void)
{
    alignas(64) static unsigned char storage[128];
    const uint64_t sent = 7;
    uint64_t got = 0;
    gyre_spsc spsc;
    gyre_mpmc mpmc;

    REQUIRE(gyre_spsc_init(&spsc, storage, sizeof sent, 4) == GYRE_OK);
    CHECK(gyre_spsc_push(&spsc, &sent, sizeof sent) && gyre_spsc_pop(&spsc, &got, sizeof got));
    REQUIRE(gyre_mpmc_init(&mpmc, storage, sizeof sent, 4) == GYRE_OK);
    CHECK(gyre_mpmc_push(&mpmc, &got, sizeof got) && gyre_mpmc_pop(&mpmc, &got, sizeof got));
    CHECK(got == sent);
}

static void pools_link(void)
{
    gyre_pool_options options = {};
    gyre_pool *pool = nullptr;
    void *first = nullptr, *again = nullptr;

    options.struct_size = sizeof options;
    options.track = GYRE_POOL_TRACK_OFF; /* so that the way in line is taken */
    REQUIRE(gyre_pool_create(&options, &pool) == GYRE_OK);
    CHECK(gyre_pool_take(pool, 100, &first) == GYRE_OK && first != nullptr);
    memset(first, 1, 100);
    gyre_pool_give(pool, first, 100);
    CHECK(gyre_pool_take(pool, 100, &again) == GYRE_OK && again != nullptr);
    gyre_pool_give(pool, again, 100);
    CHECK(gyre_pool_take_aligned(pool, 100, 4096, &first) == GYRE_OK);
    gyre_pool_give_aligned(pool, first, 100, 4096);
    gyre_pool_destroy(pool);
}

static void a_lambda_can_be_a_thread(void)
{
    gyre_thread *thread = nullptr;
    int ran = 0;

    REQUIRE(gyre_thread_start([](void *arg) { ++*static_cast<int *>(arg); }, &ran, nullptr,
                              &thread) == GYRE_OK);
    gyre_thread_stop(thread);
    CHECK(ran == 1);
}

static void messages_are_built_and_read(void)
{
    alignas(16) static unsigned char buffer[256];
    letter_builder b;
    greeting_builder inner;
    const letter *m = nullptr;
    size_t size = 0;

    REQUIRE(letter_begin(&b, buffer, sizeof buffer) == GYRE_OK);
    b.header.id = gyre_message_id_next();
    letter_begin_greeting(&b, &inner);
    greeting_copy_words(&inner, "hello", 5);
    greeting_add_numbers(&inner, 2)[1] = 7;
    letter_commit_greeting(&b, &inner);
    REQUIRE(letter_commit(&b, &size) == GYRE_OK);
    REQUIRE(letter_open(buffer, size, &m) == GYRE_OK);
    CHECK(strcmp(greeting_words(letter_greeting(m)), "hello") == 0);
    CHECK(greeting_numbers(letter_greeting(m))[1] == 7 && letter_code_count(m) == 4);
    CHECK(!greeting_has_warmth(letter_greeting(m)));
    CHECK(gyre_message_check(&letter_schema, buffer, size) == GYRE_OK);
}

static void behaviours_are_cpp_too(void)
{
    gyre_context *context = nullptr;
    gyre_actor *actor = nullptr;
    gyre_port *port = nullptr;
    gyre_brief message = {}, answer;

    REQUIRE(gyre_context_create(gyre_device_at(0), nullptr, &context) == GYRE_OK);
    REQUIRE(gyre_actor_create(context, &echo, nullptr, &actor) == GYRE_OK);
    REQUIRE(gyre_actor_launch(actor, nullptr) == GYRE_OK);
    REQUIRE(gyre_port_open(actor, nullptr, &port) == GYRE_OK);
    message.body.words[0] = 41;
    CHECK(gyre_port_call(port, &message, &answer, GYRE_NEVER) == GYRE_OK);
    CHECK(answer.body.words[0] == 42);
    CHECK(gyre_histogram_bound_ns(4) == 4);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
}

static const test_case cases[] = {TEST(library_calls_link),
                                  TEST(behaviours_are_cpp_too),
                                  TEST(buffers_and_layouts_link),
                                  TEST(inline_calls_link),
                                  TEST(queues_link),
                                  TEST(pools_link),
                                  TEST(messages_are_built_and_read),
                                  TEST(a_lambda_can_be_a_thread)};
TEST_MAIN(cases)
