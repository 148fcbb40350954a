/* SPDX-License-Identifier: Apache-2.0
 *
 * The promise of fork: the child of a process that uses the library may destroy and nothing else.
 */
#include "base/process.h"

#include <unistd.h>

#include "child.h"
#include "gyre/clock.h"
#include "gyre/library.h"
#include "gyre/park.h"
#include "gyre/settings.h"
#include "gyre/thread.h"
#include "gyre/topology.h"
#include "gyre/trace.h"

static void nothing(void *unused)
{
    (void)unused;
}

static void works(void)
{
    gyre_thread *thread;

    CHECK(gyre_process_use() == GYRE_OK);
    CHECK(gyre_thread_start(nothing, NULL, NULL, &thread) == GYRE_OK);
    gyre_thread_stop(thread);
}

static void child_of_an_unused_library_may_use_it(void)
{
    /* first of the cases: this process has set something, but created nothing */
    CHECK(gyre_settings_set("GYRE_OUT", "x") == GYRE_OK);
    CHECK(passes_in_child(works));
}

static bool never(void *unused)
{
    (void)unused;
    return false;
}

static gyre_thread *parents_thread;
static gyre_topology *parents_topology;

static void refuses(void)
{
    gyre_thread *thread = (gyre_thread *)&thread;
    gyre_topology *topology = (gyre_topology *)&topology;
    gyre_clock_info info = {.struct_size = sizeof info};
    gyre_park park = {0, 0};
    const uint32_t cpu = 0;

    CHECK(gyre_process_check() == GYRE_UNAVAILABLE);
    CHECK(strstr(gyre_error_last()->text, "forked") != NULL);
    CHECK(gyre_prepare() == GYRE_UNAVAILABLE);
    CHECK(gyre_thread_start(nothing, NULL, NULL, &thread) == GYRE_UNAVAILABLE);
    CHECK(thread == NULL);
    CHECK(gyre_topology_create(NULL, &topology) == GYRE_UNAVAILABLE);
    CHECK(topology == NULL);
    CHECK(gyre_trace_start(NULL) == GYRE_UNAVAILABLE);
    CHECK(gyre_clock_describe(&info) == GYRE_UNAVAILABLE);
    CHECK(gyre_settings_check() == GYRE_UNAVAILABLE);
    CHECK(gyre_settings_set("GYRE_OUT", "x") == GYRE_UNAVAILABLE);
    CHECK(gyre_thread_pin_self(&cpu, 1) == GYRE_UNAVAILABLE);
    CHECK(gyre_park_wait(&park, NULL, never, NULL, GYRE_NEVER) == GYRE_UNAVAILABLE);
    gyre_thread_stop(parents_thread); /* does not wait for a thread that this process lacks */
    gyre_topology_destroy(parents_topology);
}

static void child_of_a_user_may_only_destroy(void)
{
    REQUIRE(gyre_thread_start(nothing, NULL, NULL, &parents_thread) == GYRE_OK);
    REQUIRE(gyre_topology_create(NULL, &parents_topology) == GYRE_OK);
    CHECK(passes_in_child(refuses));
    CHECK(gyre_process_check() == GYRE_OK); /* the parent goes on */
    gyre_thread_stop(parents_thread);
    gyre_topology_destroy(parents_topology);
}

static const test_case cases[] = {
    TEST(child_of_an_unused_library_may_use_it),
    TEST(child_of_a_user_may_only_destroy),
};
TEST_MAIN(cases)
