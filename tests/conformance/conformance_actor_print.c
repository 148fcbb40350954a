/* SPDX-License-Identifier: Apache-2.0
 *
 * What behaviours print reaches the host, whole, in order and once, or is counted as lost; and how
 * long messages took is counted for each of them.
 */
#include "conformance.h"

#include "gyre/actor.h"
#include "gyre/clock.h"
#include "gyre/histogram.h"
#include "gyre/port.h"

#include "behaviours/chatter.c" /* NOLINT(bugprone-suspicious-include): its types as well */
#include "behaviours/speaker.c" /* NOLINT(bugprone-suspicious-include): its types as well */

enum { ROOM = 20000 };

/* What was heard; by one thread at a time, as the library promises. */
static struct {
    size_t count;
    gyre_actor_print prints[ROOM]; /* whose texts are below */
    char texts[ROOM][32];
} heard;

static bool no_actors;
static gyre_actor *actor;
static gyre_port *port;

static uint64_t soon(void)
{
    return gyre_clock_after_ns(20000 * MS);
}

static void hear(void *arg, const gyre_actor_print *print)
{
    CHECK(arg == &heard && strcmp(print->actor, "voice") == 0 && strlen(print->text) <= 31);
    if (heard.count == ROOM)
        return;
    heard.prints[heard.count] = *print;
    snprintf(heard.texts[heard.count++], sizeof heard.texts[0], "%s", print->text);
}

static bool is_heard(size_t index, const char *text, uint64_t value)
{
    return index < heard.count && strcmp(heard.texts[index], text) == 0 &&
           heard.prints[index].value == value && !heard.prints[index].is_f32;
}

/* Launches it; what it printed before is forgotten. */
static bool launch(const gyre_actor_launch_options *options)
{
    heard.count = 0;
    port = NULL;
    return ok(gyre_actor_launch(actor, options)) && ok(gyre_port_open(actor, NULL, &port));
}

static bool begin(const gyre_behaviour *behaviour, const gyre_actor_launch_options *options)
{
    const gyre_actor_options own = {
        .struct_size = sizeof own, .name = "voice", .print = hear, .print_arg = &heard};
    const gyre_status status = gyre_actor_create(on.context, behaviour, &own, &actor);

    no_actors = status == GYRE_UNSUPPORTED;
    return !no_actors && ok(status) && launch(options);
}

#define NEED_ACTORS(begun)                                                                         \
    do {                                                                                           \
        const bool begun_ = (begun);                                                               \
        if (no_actors)                                                                             \
            SKIP("this device has no actors");                                                     \
        REQUIRE(begun_);                                                                           \
    } while (0)

static void end(void)
{
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    gyre_port_close(port);
    gyre_actor_destroy(actor);
}

static bool call(uint16_t type, uint32_t amount)
{
    const gyre_brief request = {.type = type, .body.words = {amount}};
    gyre_brief answer;

    return ok(gyre_port_call(port, &request, &answer, soon()));
}

static gyre_actor_statistics statistics(void)
{
    gyre_actor_statistics all = {.struct_size = sizeof all};

    CHECK(ok(gyre_actor_describe(actor, &all)));
    return all;
}

static void what_is_printed_is_heard_whole_and_in_order(void)
{
    NEED_ACTORS(begin(&speaker, NULL));
    CHECK(call(SPEAKER_SAY, 7) && call(SPEAKER_KINDS, 5) && call(SPEAKER_SAY, 9));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    CHECK(heard.count == 8);
    CHECK(is_heard(0, "amount", 7) && is_heard(1, "said", 1));
    CHECK(is_heard(2, "", 5));
    CHECK(is_heard(3, "31 characters are the most here", UINT64_C(5) << 32));
    CHECK(is_heard(4, "below?zero", (uint64_t)-5));
    CHECK(strcmp(heard.texts[5], "half") == 0 && heard.prints[5].is_f32);
    CHECK(heard.prints[5].f32 == 2.5f && heard.prints[5].seat == 0);
    CHECK(is_heard(6, "amount", 9) && is_heard(7, "said", 3));
    CHECK(statistics().printed == 8 && statistics().prints_lost == 0);
    end();
}

static void who_asks_how_it_is_hears(void)
{
    const uint64_t deadline_ns = soon();

    NEED_ACTORS(begin(&speaker, NULL));
    CHECK(call(SPEAKER_MANY, 10));
    while (statistics().printed < 10 && gyre_clock_now_ns() < deadline_ns)
        ;
    CHECK(heard.count == 10);
    for (size_t i = 0; i < 10; i++)
        CHECK(is_heard(i, "time", i));
    end();
}

static void what_finds_no_room_is_lost_and_counted(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .prints = 16};
    gyre_actor_statistics all;
    uint64_t last = 0;

    NEED_ACTORS(begin(&speaker, &options));
    CHECK(call(SPEAKER_MANY, ROOM));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    all = statistics();
    CHECK(all.printed == heard.count && all.printed >= 16);
    CHECK(all.printed + all.prints_lost == ROOM && all.prints_lost > 0);
    for (size_t i = 0; i < heard.count; i++) {
        CHECK(strcmp(heard.texts[i], "time") == 0);
        CHECK(i < 16 ? heard.prints[i].value == i : heard.prints[i].value > last);
        last = heard.prints[i].value;
    }
    end();
}

/* A ring of 16 goes round many times, and through parks. */
static void nothing_is_lost_while_somebody_reads(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .prints = 16};
    const uint64_t deadline_ns = soon();
    uint32_t said = 0;

    NEED_ACTORS(begin(&speaker, &options));
    for (uint32_t i = 0; i < 200; i++) {
        const uint32_t times = i % 16 + 1;

        REQUIRE(call(SPEAKER_MANY, times));
        said += times;
        if (i % 50 == 49)
            CHECK(ok(gyre_actor_park(actor, soon())) && ok(gyre_actor_resume(actor)));
        while (statistics().printed < said && gyre_clock_now_ns() < deadline_ns)
            ;
        REQUIRE(heard.count == said);
        for (uint32_t k = 0; k < times; k++)
            CHECK(is_heard(said - times + k, "time", k));
    }
    CHECK(ok(gyre_actor_drain(actor, soon())));
    CHECK(statistics().prints_lost == 0 && heard.count == said);
    end();
}

static void many_messages_print_at_once(void)
{
    enum { MESSAGES = 1000, SEATS = 3 };
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .seats = SEATS, .capacity = 64, .prints = 1024};
    static gyre_brief requests[MESSAGES], answers[MESSAGES];
    static uint8_t times[MESSAGES];
    uint32_t seats[SEATS] = {0};
    size_t wrong = 0;

    NEED_ACTORS(begin(&chatter, &options));
    memset(times, 0, sizeof times);
    for (uint32_t i = 0; i < MESSAGES; i++)
        requests[i] = (gyre_brief){.type = 1, .body.words = {i}};
    CHECK(ok(gyre_port_call_many(port, requests, answers, MESSAGES, soon())));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    CHECK(heard.count == MESSAGES && statistics().prints_lost == 0);
    for (size_t i = 0; i < heard.count; i++) {
        const gyre_actor_print *const print = &heard.prints[i];

        REQUIRE(print->value < MESSAGES && print->seat < SEATS);
        CHECK(strcmp(heard.texts[i], "chat") == 0);
        times[print->value]++;
        seats[print->seat]++;
    }
    for (size_t i = 0; i < MESSAGES; i++)
        wrong += times[i] != 1 || answers[i].body.words[0] != i;
    CHECK(wrong == 0);
    CHECK(seats[0] > 0 && seats[1] > 0 && seats[2] > 0);
    end();
}

static uint32_t reading_over;

/* Number 0 lets it print, the others read all the while. */
static void read_together(size_t number)
{
    if (number > 0) {
        while (!__atomic_load_n(&reading_over, __ATOMIC_ACQUIRE))
            (void)statistics();
        return;
    }
    for (int i = 0; i < 20; i++)
        CHECK(call(SPEAKER_MANY, 500));
    __atomic_store_n(&reading_over, 1, __ATOMIC_RELEASE);
}

static void readers_get_each_print_once(void)
{
    gyre_actor_statistics all;

    NEED_ACTORS(begin(&speaker, NULL));
    reading_over = 0;
    CHECK(together(3, read_together));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    all = statistics();
    CHECK(all.printed == heard.count && all.printed + all.prints_lost == 10000);
    /* what is told anew begins with less */
    for (size_t i = 1, begun = 1; i < heard.count; i++) {
        begun += heard.prints[i].value <= heard.prints[i - 1].value;
        CHECK(begun <= 20);
    }
    end();
}

static void a_launch_begins_anew(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .prints = 16};

    NEED_ACTORS(begin(&speaker, &options));
    for (int i = 0; i < 3; i++) {
        CHECK(call(SPEAKER_SAY, 3) && ok(gyre_actor_terminate(actor, soon())));
        CHECK(heard.count == 2 && is_heard(0, "amount", 3) && is_heard(1, "said", 1));
        CHECK(statistics().printed == 2);
        gyre_port_close(port);
        REQUIRE(launch(&options));
        CHECK(statistics().printed == 0 && statistics().prints_lost == 0);
    }
    end();
}

/* What the last words of an actor are is heard by who destroys it. */
static void an_end_is_heard(void)
{
    NEED_ACTORS(begin(&speaker, NULL));
    CHECK(call(SPEAKER_MANY, 20));
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    CHECK(heard.count == 20 && is_heard(19, "time", 19));
}

/* Whether this device keeps times at all. */
static bool times_exist(void)
{
    return strcmp(on.device->backend, "opencl") != 0;
}

static void a_device_without_a_clock_refuses_histograms(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .histogram = true};

    if (times_exist())
        SKIP("this device has a clock");
    no_actors = gyre_actor_create(on.context, &chatter, NULL, &actor) == GYRE_UNSUPPORTED;
    NEED_ACTORS(actor != NULL);
    CHECK(gyre_actor_launch(actor, &options) == GYRE_UNSUPPORTED);
    CHECK(strstr(gyre_error_last()->text, "clock") != NULL);
    gyre_actor_destroy(actor);
}

/* Every message that was handled is counted, between the shortest time and the longest; and all of
 * them together took what the buckets say, as far as they do. */
static void check_histogram(uint64_t messages)
{
    const gyre_actor_statistics all = statistics();
    gyre_histogram histogram = {.struct_size = sizeof histogram};
    uint32_t least = GYRE_HISTOGRAM_BUCKETS, most = 0;
    double shortest = 0, longest = 0, took;
    uint64_t sum = 0;

    CHECK(ok(gyre_actor_histogram(actor, &histogram)));
    for (uint32_t b = 0; b < GYRE_HISTOGRAM_BUCKETS; b++) {
        if (histogram.count[b] == 0)
            continue;
        least = b < least ? b : least;
        most = b;
        sum += histogram.count[b];
        shortest += (double)histogram.count[b] * (double)gyre_histogram_bound_ns(b);
        longest += (double)histogram.count[b] * (double)gyre_histogram_bound_ns(b + 1);
    }
    CHECK(sum == messages && histogram.total == messages && all.processed == messages);
    REQUIRE(least < GYRE_HISTOGRAM_BUCKETS);
    CHECK(gyre_histogram_bound_ns(least) <= all.min_ns);
    CHECK(all.min_ns < gyre_histogram_bound_ns(least + 1));
    CHECK(gyre_histogram_bound_ns(most) <= all.max_ns);
    CHECK(all.max_ns < gyre_histogram_bound_ns(most + 1));
    took = all.mean_ns * (double)all.processed;
    CHECK(took >= shortest - 1 && took <= longest + 1); /* a mean is rounded */
    CHECK(gyre_histogram_percentile_ns(&histogram, 100) >= all.max_ns);
    CHECK(gyre_histogram_percentile_ns(&histogram, 50) <=
          gyre_histogram_percentile_ns(&histogram, 99));
}

static void a_histogram_counts_every_message(void)
{
    enum { MESSAGES = 2000 };
    const gyre_actor_launch_options options = {
        .struct_size = sizeof options, .seats = 2, .histogram = true};
    static gyre_brief requests[MESSAGES], answers[MESSAGES];

    if (!times_exist())
        SKIP("this device has no clock");
    NEED_ACTORS(begin(&chatter, &options));
    CHECK(ok(gyre_port_call_many(port, requests, answers, MESSAGES, soon())));
    CHECK(ok(gyre_actor_park(actor, soon())));
    check_histogram(MESSAGES);
    CHECK(ok(gyre_actor_resume(actor)));
    for (int i = 0; i < 100; i++)
        CHECK(call(1, 0));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    check_histogram(MESSAGES + 100);
    end();
}

static void a_histogram_of_blocks_is_whole(void)
{
    const gyre_actor_launch_options options = {.struct_size = sizeof options, .histogram = true};

    if (!times_exist())
        SKIP("this device has no clock");
    NEED_ACTORS(begin(&speaker, &options));
    for (int i = 0; i < 300; i++)
        CHECK(call(SPEAKER_MANY, (uint32_t)i % 5));
    CHECK(ok(gyre_actor_drain(actor, soon())));
    check_histogram(300);
    end();
}

static void nonsense_is_refused(void)
{
    const gyre_actor_launch_options bad[] = {
        {.struct_size = sizeof *bad, .prints = 8},
        {.struct_size = sizeof *bad, .prints = 100},
        {.struct_size = sizeof *bad, .prints = 1 << 17},
        {.struct_size = sizeof *bad, .histogram = true, .no_telemetry = true},
    };
    gyre_histogram histogram = {.struct_size = sizeof histogram};

    NEED_ACTORS(begin(&chatter, NULL));
    CHECK(gyre_actor_histogram(actor, &histogram) == GYRE_INVALID);
    histogram.struct_size = 0;
    CHECK(gyre_actor_histogram(actor, &histogram) == GYRE_INVALID);
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    gyre_port_close(port);
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(gyre_actor_launch(actor, &bad[i]) == GYRE_INVALID);
    gyre_actor_destroy(actor);
}

static const test_case cases[] = {
    TEST(what_is_printed_is_heard_whole_and_in_order),
    TEST(who_asks_how_it_is_hears),
    TEST(what_finds_no_room_is_lost_and_counted),
    TEST(nothing_is_lost_while_somebody_reads),
    TEST(many_messages_print_at_once),
    TEST(readers_get_each_print_once),
    TEST(a_launch_begins_anew),
    TEST(an_end_is_heard),
    TEST(a_device_without_a_clock_refuses_histograms),
    TEST(a_histogram_counts_every_message),
    TEST(a_histogram_of_blocks_is_whole),
    TEST(nonsense_is_refused),
};
CONFORMANCE_MAIN(cases)
