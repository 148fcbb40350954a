/* SPDX-License-Identifier: Apache-2.0
 *
 * A dispatcher in a forked child: it has no thread there, and may only be stopped.
 */
#include "child.h"
#include "exec/dispatch_fake.h"

static fixture f;
static uint64_t buffer;

static void stop_in_child(void)
{
    gyre_dispatch_stop(f.dispatch);
}

static void calls_in_child(void)
{
    gyre_dispatch_statistics s = {.struct_size = sizeof s};
    gyre_dispatch *dispatch = (gyre_dispatch *)&dispatch;
    void *address = &address;
    uint64_t id = 1;

    CHECK(gyre_dispatch_start(f.context, f.channel, NULL, &dispatch) == GYRE_UNAVAILABLE);
    CHECK(dispatch == NULL);
    CHECK(gyre_dispatch_kernel(f.dispatch, NULL, &id) == GYRE_UNAVAILABLE && id == 0);
    CHECK(gyre_dispatch_allocate(f.dispatch, 8, GYRE_BUFFER_ANY, &id) == GYRE_UNAVAILABLE);
    CHECK(gyre_dispatch_address(f.dispatch, buffer, &address) == GYRE_UNAVAILABLE && !address);
    CHECK(gyre_dispatch_deallocate(f.dispatch, buffer) == GYRE_UNAVAILABLE);
    CHECK(gyre_dispatch_describe(f.dispatch, &s) == GYRE_UNAVAILABLE);
    CHECK(call(&f, synchronize(0), NULL) == GYRE_UNAVAILABLE);
}

static void child_may_only_stop(void)
{
    void *address;

    REQUIRE(begin(&f, "null", NULL, NULL));
    REQUIRE(make(&f, 8, &buffer, &address));
    CHECK(call(&f, launch(&f, address, 2, 1, 1), NULL) == GYRE_OK);
    CHECK(passes_in_child(calls_in_child));
    CHECK(passes_in_child(stop_in_child));
    CHECK(call(&f, launch(&f, address, 2, 1, 1), NULL) == GYRE_OK); /* the parent's goes on */
    end(&f);
}

static const test_case cases[] = {TEST(child_may_only_stop)};
TEST_MAIN(cases)
