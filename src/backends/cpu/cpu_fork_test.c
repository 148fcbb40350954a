/* SPDX-License-Identifier: Apache-2.0
 *
 * A forked child may close what it inherited, whatever the workers were at.
 */
#include "backends/cpu/cpu_fake.h"
#include "child.h"

static rig forked;

static gyre_dev_stream *forked_stream;

static gyre_dev_event *forked_event;

static void close_all(void)
{
    const gyre_dev_options options = {.workers = 1};
    gyre_dev *dev;

    CHECK(cpu->open(0, &options, &dev) == GYRE_UNAVAILABLE);
    cpu->event_close(forked_event);
    cpu->stream_close(forked_stream);
    rig_close(&forked);
}

static void forked_child_may_close(void)
{
    gate g = {0};

    forked = rig_open(2);
    forked_stream = fake_stream(&forked);
    forked_event = fake_event(&forked, true);
    fake_hold(&forked, forked_stream, &g);
    CHECK(cpu->event_record(forked_event, forked_stream) == GYRE_OK);
    fake_await(&g.entered, 1);
    CHECK(passes_in_child(close_all));
    fake_open(&g);
    cpu->event_close(forked_event);
    cpu->stream_close(forked_stream);
    rig_close(&forked);
}

static const test_case cases[] = {
    TEST(forked_child_may_close),
};
TEST_MAIN(cases)
