/* SPDX-License-Identifier: Apache-2.0
 *
 * On the null device, whose time for each operation can be set: so what a span must be is known.
 */
#include "gyre/profile.h"

#include <stdlib.h>

#include "gyre/clock.h"
#include "gyre/stream.h"
#include "gyre/trace.h"
#include "test.h"

enum { SLOW_US = 300 };

static gyre_context *context;
static gyre_stream *stream;

static bool open_slow(void)
{
    const gyre_context_options options = {.struct_size = sizeof options, .faults = "slow=300"};

    return gyre_context_create(gyre_device_find("null"), &options, &context) == GYRE_OK &&
           gyre_stream_create(context, NULL, &stream) == GYRE_OK;
}

static void close_slow(void)
{
    gyre_stream_destroy(stream);
    gyre_context_destroy(context);
}

static bool fill_times(int times)
{
    static uint32_t word;

    for (int i = 0; i < times; i++)
        if (gyre_stream_fill(stream, &(gyre_fill){&word, {1, 2, 3, 4}, 4, 1}) != GYRE_OK)
            return false;
    return gyre_stream_sync(stream) == GYRE_OK;
}

static gyre_profile *start_every(uint32_t every, uint32_t spans)
{
    const gyre_profile_options options = {
        .struct_size = sizeof options, .device_every = every, .spans = spans};
    gyre_profile *profile = NULL;

    CHECK(gyre_profile_start(context, &options, &profile) == GYRE_OK);
    return profile;
}

typedef struct tally {
    uint32_t count;
    bool in_order, right_length, after_submit;
    uint64_t last_ns, last_ticket;
} tally;

static void look_at(void *user, const gyre_profile_span *span)
{
    tally *const t = user;

    t->count++;
    t->in_order = t->in_order && span->begin_ns >= t->last_ns && span->ticket > t->last_ticket;
    t->right_length = t->right_length && span->duration_ns >= SLOW_US * UINT64_C(990) &&
                      strcmp(span->name, "fill") == 0 && strcmp(span->stream, "stream") == 0;
    t->after_submit = t->after_submit && span->begin_ns + 1000000 >= span->submit_ns;
    t->last_ns = span->begin_ns;
    t->last_ticket = span->ticket;
}

static tally spans_of(gyre_profile *profile)
{
    tally t = {.in_order = true, .right_length = true, .after_submit = true};

    CHECK(gyre_profile_visit(profile, look_at, &t) == GYRE_OK);
    return t;
}

static void keep_row(void *user, const gyre_profile_row *row)
{
    *(gyre_profile_row *)user = *row;
}

static void every_submission_has_its_span(void)
{
    gyre_profile_totals totals = {.struct_size = sizeof totals};
    gyre_profile_row row = {0};
    gyre_profile *profile;
    tally t;

    REQUIRE(open_slow());
    profile = start_every(1, 0);
    REQUIRE(profile);
    CHECK(fill_times(20));
    CHECK(gyre_profile_visit(profile, look_at, &t) == GYRE_INVALID);
    CHECK(gyre_profile_stop(profile) == GYRE_OK && gyre_profile_stop(profile) == GYRE_OK);
    t = spans_of(profile);
    CHECK(t.count == 20 && t.in_order && t.right_length && t.after_submit);
    CHECK(gyre_profile_report(profile, keep_row, &row, &totals) == GYRE_OK);
    CHECK(row.count == 20 && row.spans == 20 && row.device_ns >= SLOW_US * UINT64_C(19800));
    CHECK(row.device_least_ns <= row.device_most_ns && row.submit_ns > 0);
    CHECK(totals.submissions == 20 && totals.spans == 20 && totals.dropped == 0);
    gyre_profile_destroy(profile);
    close_slow();
}

static void one_in_so_many_has_a_span(void)
{
    gyre_profile_row row = {0};
    gyre_profile *profile;

    REQUIRE(open_slow());
    profile = start_every(8, 0);
    REQUIRE(profile);
    CHECK(fill_times(33));
    CHECK(gyre_profile_stop(profile) == GYRE_OK);
    CHECK(spans_of(profile).count == 5);
    CHECK(gyre_profile_report(profile, keep_row, &row, NULL) == GYRE_OK);
    CHECK(row.count == 33 && row.spans == 5);
    gyre_profile_destroy(profile);
    profile = start_every(UINT32_MAX, 0);
    REQUIRE(profile);
    CHECK(fill_times(3) && gyre_profile_stop(profile) == GYRE_OK);
    CHECK(spans_of(profile).count == 0);
    CHECK(gyre_profile_report(profile, keep_row, &row, NULL) == GYRE_OK && row.count == 3);
    gyre_profile_destroy(profile);
    close_slow();
}

static void spans_without_room_are_counted(void)
{
    gyre_profile_totals totals = {.struct_size = sizeof totals};
    gyre_profile *profile;

    REQUIRE(open_slow());
    profile = start_every(1, 4);
    REQUIRE(profile);
    CHECK(fill_times(10) && gyre_profile_stop(profile) == GYRE_OK);
    CHECK(gyre_profile_report(profile, NULL, NULL, &totals) == GYRE_OK);
    CHECK(totals.spans == 4 && totals.dropped == 6 && totals.submissions == 10);
    gyre_profile_destroy(profile);
    close_slow();
}

static void a_context_has_one_profile(void)
{
    gyre_profile *profile, *second = NULL;

    REQUIRE(open_slow());
    profile = start_every(1, 0);
    REQUIRE(profile);
    CHECK(gyre_profile_start(context, NULL, &second) == GYRE_AGAIN && !second);
    CHECK(fill_times(2));
    gyre_profile_destroy(profile); /* stops it */
    CHECK(fill_times(2));
    CHECK(gyre_profile_start(context, NULL, &second) == GYRE_OK);
    gyre_profile_destroy(second);
    close_slow();
}

static void nonsense_is_refused(void)
{
    const gyre_profile_options huge = {.struct_size = sizeof huge, .spans = UINT32_MAX};
    const gyre_profile_options unsized = {.spans = 1};
    gyre_profile *profile = NULL;

    REQUIRE(open_slow());
    CHECK(gyre_profile_start(context, &huge, &profile) == GYRE_INVALID && !profile);
    CHECK(gyre_profile_start(context, &unsized, &profile) == GYRE_INVALID && !profile);
    gyre_profile_destroy(NULL);
    close_slow();
}

static void trace_has_host_and_device(void)
{
    gyre_profile *profile;
    char *text = NULL;
    size_t size = 0;
    FILE *file;

    REQUIRE(open_slow());
    REQUIRE(gyre_trace_start(NULL) == GYRE_OK);
    profile = start_every(1, 0);
    REQUIRE(profile);
    gyre_trace_begin("outer");
    CHECK(fill_times(3));
    gyre_trace_end("outer");
    file = open_memstream(&text, &size);
    REQUIRE(file);
    CHECK(gyre_profile_write((const gyre_profile *const[]){profile}, 1, file) == GYRE_INVALID);
    CHECK(gyre_profile_stop(profile) == GYRE_OK);
    gyre_trace_stop();
    CHECK(gyre_profile_write((const gyre_profile *const[]){profile}, 1, file) == GYRE_OK);
    fclose(file);
    REQUIRE(text);
    CHECK(strstr(text, "\"outer\"") && strstr(text, "\"ph\": \"X\"") && strstr(text, "\"host\""));
    CHECK(strstr(text, "\"null:0\"") && strstr(text, "\"wait\"") && strstr(text, "\"ticket\": 3"));
    free(text);
    gyre_profile_destroy(profile);
    close_slow();
}

static const test_case cases[] = {
    TEST(every_submission_has_its_span),
    TEST(one_in_so_many_has_a_span),
    TEST(spans_without_room_are_counted),
    TEST(a_context_has_one_profile),
    TEST(nonsense_is_refused),
    TEST(trace_has_host_and_device),
};
TEST_MAIN(cases)
