/* SPDX-License-Identifier: Apache-2.0
 *
 * What is a reason and what is none, at the very edges; trends; the history; bad options; and the
 * null device as a whole.
 */
#include "child.h"
#include "exec/monitor_fake.h"

static bool has(const gyre_monitor_report *r, gyre_concern concern, gyre_level level)
{
    for (uint32_t i = 0; i < r->reason_count; i++)
        if (r->reasons[i].concern == concern && r->reasons[i].level == level)
            return true;
    return false;
}

/* The level that one value alone gives. */
static gyre_level level_of(gyre_monitor_options options, gyre_concern concern)
{
    gyre_monitor *monitor = fake_monitor(options, 1);
    gyre_monitor_report r;

    if (!monitor)
        return (gyre_level)-1;
    r = fake_sample(monitor);
    gyre_monitor_destroy(monitor);
    CHECK(r.reason_count == (r.level != GYRE_LEVEL_HEALTHY));
    CHECK(r.level == GYRE_LEVEL_HEALTHY || has(&r, concern, r.level));
    return r.level;
}

static gyre_level memory(int64_t used, gyre_monitor_options options)
{
    fake_reset();
    fake_states[0].memory_total_bytes = 1000;
    fake_states[0].memory_used_bytes = used;
    return level_of(options, GYRE_CONCERN_MEMORY);
}

static void memory_is_judged_at_its_edges(void)
{
    const gyre_monitor_options usual = {0};
    const gyre_monitor_options own = {.memory_warning_percent = 10, .memory_critical_percent = 20};
    const gyre_monitor_options never = {.memory_warning_percent = -1,
                                        .memory_critical_percent = -1};

    CHECK(memory(0, usual) == GYRE_LEVEL_HEALTHY);
    CHECK(memory(699, usual) == GYRE_LEVEL_HEALTHY);
    CHECK(memory(700, usual) == GYRE_LEVEL_WARNING);
    CHECK(memory(899, usual) == GYRE_LEVEL_WARNING);
    CHECK(memory(900, usual) == GYRE_LEVEL_CRITICAL);
    CHECK(memory(1000, usual) == GYRE_LEVEL_CRITICAL);
    CHECK(memory(99, own) == GYRE_LEVEL_HEALTHY && memory(100, own) == GYRE_LEVEL_WARNING);
    CHECK(memory(200, own) == GYRE_LEVEL_CRITICAL);
    CHECK(memory(1000, never) == GYRE_LEVEL_HEALTHY);
}

static gyre_level temperature(int32_t now, int32_t limit, gyre_monitor_options options)
{
    fake_reset();
    fake_states[0].temperature_c = now;
    fake_states[0].temperature_limit_c = limit;
    return level_of(options, GYRE_CONCERN_TEMPERATURE);
}

static void temperature_is_judged_by_the_devices_own_limit(void)
{
    const gyre_monitor_options usual = {0};
    const gyre_monitor_options own = {.temperature_warning_c = 50, .temperature_critical_c = 60};

    CHECK(temperature(81, 87, usual) == GYRE_LEVEL_HEALTHY);
    CHECK(temperature(82, 87, usual) == GYRE_LEVEL_WARNING);
    CHECK(temperature(86, 87, usual) == GYRE_LEVEL_WARNING);
    CHECK(temperature(87, 87, usual) == GYRE_LEVEL_CRITICAL);
    CHECK(temperature(84, -1, usual) == GYRE_LEVEL_HEALTHY);
    CHECK(temperature(85, -1, usual) == GYRE_LEVEL_WARNING);
    CHECK(temperature(95, -1, usual) == GYRE_LEVEL_CRITICAL);
    CHECK(temperature(49, 87, own) == GYRE_LEVEL_HEALTHY);
    CHECK(temperature(50, 87, own) == GYRE_LEVEL_WARNING);
    CHECK(temperature(60, 87, own) == GYRE_LEVEL_CRITICAL);
}

static gyre_level power(int32_t now, int32_t limit)
{
    fake_reset();
    fake_states[0].power_mw = now;
    fake_states[0].power_limit_mw = limit;
    return level_of((gyre_monitor_options){0}, GYRE_CONCERN_POWER);
}

static void power_is_warned_just_below_its_limit(void)
{
    CHECK(power(685999, 700000) == GYRE_LEVEL_HEALTHY);
    CHECK(power(686000, 700000) == GYRE_LEVEL_WARNING);
    CHECK(power(710000, 700000) == GYRE_LEVEL_WARNING);
    CHECK(power(710000, -1) == GYRE_LEVEL_HEALTHY);
    CHECK(power(INT32_MAX, INT32_MAX) == GYRE_LEVEL_WARNING);
}

static gyre_level throttle(int64_t bits)
{
    fake_reset();
    fake_states[0].throttle = bits;
    return level_of((gyre_monitor_options){0}, GYRE_CONCERN_THROTTLE);
}

static void throttling_is_judged_by_its_cause(void)
{
    CHECK(throttle(0) == GYRE_LEVEL_HEALTHY);
    CHECK(throttle(GYRE_THROTTLE_IDLE | GYRE_THROTTLE_SETTING | GYRE_THROTTLE_POWER |
                   GYRE_THROTTLE_OTHER) == GYRE_LEVEL_HEALTHY);
    CHECK(throttle(GYRE_THROTTLE_THERMAL) == GYRE_LEVEL_WARNING);
    CHECK(throttle(GYRE_THROTTLE_HARDWARE | GYRE_THROTTLE_IDLE) == GYRE_LEVEL_WARNING);
    CHECK(throttle(GYRE_THROTTLE_HARDWARE | GYRE_THROTTLE_THERMAL) == GYRE_LEVEL_CRITICAL);
}

static void faults_are_critical(void)
{
    const gyre_monitor_options usual = {0};

    fake_reset();
    fake_states[0].ecc_uncorrected = 0;
    fake_states[0].ecc_corrected = 1000000;
    fake_states[0].xid_count = 0;
    CHECK(level_of(usual, GYRE_CONCERN_ECC) == GYRE_LEVEL_HEALTHY);
    fake_states[0].ecc_uncorrected = 1;
    CHECK(level_of(usual, GYRE_CONCERN_ECC) == GYRE_LEVEL_CRITICAL);
    fake_reset();
    fake_states[0].xid = 79;
    fake_states[0].xid_count = 1;
    CHECK(level_of(usual, GYRE_CONCERN_XID) == GYRE_LEVEL_CRITICAL);
    fake_reset();
    fake_contexts[0].lost = true;
    CHECK(level_of(usual, GYRE_CONCERN_LOST) == GYRE_LEVEL_CRITICAL);
    fake_reset();
    fake_status[0] = GYRE_DEVICE_LOST;
    CHECK(level_of(usual, GYRE_CONCERN_LOST) == GYRE_LEVEL_CRITICAL);
    fake_status[0] = GYRE_IO;
    CHECK(level_of(usual, GYRE_CONCERN_LOST) == GYRE_LEVEL_WARNING);
    fake_status[0] = GYRE_UNSUPPORTED;
    CHECK(level_of(usual, GYRE_CONCERN_LOST) == GYRE_LEVEL_HEALTHY);
}

static gyre_level pending(uint64_t tickets, uint64_t oldest_ns, gyre_concern concern)
{
    fake_reset();
    fake_contexts[0].statistics.submitted = 1000 + tickets;
    fake_contexts[0].statistics.completed = 1000;
    fake_contexts[0].statistics.oldest_ns = oldest_ns;
    return level_of((gyre_monitor_options){0}, concern);
}

static void pending_tickets_are_warned_early(void)
{
    CHECK(pending(19, 0, GYRE_CONCERN_PENDING) == GYRE_LEVEL_HEALTHY);
    CHECK(pending(20, 0, GYRE_CONCERN_PENDING) == GYRE_LEVEL_WARNING);
    CHECK(pending(99, 0, GYRE_CONCERN_PENDING) == GYRE_LEVEL_WARNING);
    CHECK(pending(100, 0, GYRE_CONCERN_PENDING) == GYRE_LEVEL_CRITICAL);
}

/* The default of GYRE_SYNC_TIMEOUT is 2 s. */
static void old_tickets_are_judged_by_the_sync_timeout(void)
{
    CHECK(pending(1, 999999999, GYRE_CONCERN_AGE) == GYRE_LEVEL_HEALTHY);
    CHECK(pending(1, 1000000000, GYRE_CONCERN_AGE) == GYRE_LEVEL_WARNING);
    CHECK(pending(1, 1999999999, GYRE_CONCERN_AGE) == GYRE_LEVEL_WARNING);
    CHECK(pending(1, 2000000000, GYRE_CONCERN_AGE) == GYRE_LEVEL_CRITICAL);
    CHECK(pending(0, 2000000000, GYRE_CONCERN_AGE) == GYRE_LEVEL_HEALTHY);
}

/* A count that is read while others count may be behind. */
static void more_completed_than_submitted_is_nothing_pending(void)
{
    gyre_monitor *monitor;

    fake_reset();
    fake_contexts[0].statistics.completed = 3;
    monitor = fake_monitor((gyre_monitor_options){0}, 1);
    REQUIRE(monitor);
    CHECK(fake_sample(monitor).pending == 0);
    gyre_monitor_destroy(monitor);
}

static void what_is_not_told_is_no_reason(void)
{
    gyre_monitor *monitor;
    gyre_monitor_report r = {0};

    fake_reset();
    monitor = fake_monitor((gyre_monitor_options){0}, 0);
    REQUIRE(monitor);
    for (int i = 0; i < 2 * GYRE_MONITOR_TREND_SAMPLES; i++)
        r = fake_sample(monitor);
    CHECK(r.level == GYRE_LEVEL_HEALTHY && r.reason_count == 0);
    CHECK(r.pending == -1 && r.oldest_ns == -1 && r.timeouts == -1 && r.state.temperature_c == -1);
    CHECK(!r.memory.known && !r.temperature.known && !r.pending_trend.known);
    gyre_monitor_destroy(monitor);
}

/* Of a look that fails, what was filled in before is not believed. */
static void state_of_a_failed_look_is_unknown(void)
{
    gyre_monitor *monitor;
    gyre_monitor_report r;

    fake_reset();
    fake_states[0].temperature_c = 200;
    fake_status[0] = GYRE_DEVICE_LOST;
    monitor = fake_monitor((gyre_monitor_options){0}, 0);
    REQUIRE(monitor);
    r = fake_sample(monitor);
    CHECK(r.state.temperature_c == -1 && r.state.struct_size == sizeof r.state);
    CHECK(r.looked == GYRE_DEVICE_LOST && r.reason_count == 1);
    CHECK(strcmp(r.reasons[0].text, "the device is lost: fake trouble ?[31m of fake:0") == 0);
    gyre_monitor_destroy(monitor);
}

static void all_that_can_be_wrong_fits_the_worst_first(void)
{
    gyre_device_state *s = &fake_states[0];
    gyre_monitor *monitor;
    gyre_monitor_report r;

    fake_reset();
    *s = (gyre_device_state){.struct_size = sizeof *s,
                             .memory_total_bytes = 1000,
                             .memory_used_bytes = 750,
                             .temperature_c = 83,
                             .temperature_limit_c = 87,
                             .power_mw = 700000,
                             .power_limit_mw = 700000,
                             .throttle = GYRE_THROTTLE_THERMAL,
                             .ecc_uncorrected = 2,
                             .xid = 48,
                             .xid_count = 3};
    for (size_t i = 0; i < 3; i++) {
        fake_contexts[i].lost = i > 0;
        fake_contexts[i].statistics = (gyre_context_statistics){
            .submitted = 10, .oldest_ns = i * FAKE_SECOND, .strikes = (uint32_t)i, .timeouts = 1};
    }
    monitor = fake_monitor((gyre_monitor_options){0}, 3);
    REQUIRE(monitor);
    r = fake_sample(monitor);
    CHECK(r.level == GYRE_LEVEL_CRITICAL && r.reason_count == 9);
    for (uint32_t i = 1; i < r.reason_count; i++)
        CHECK(r.reasons[i].level <= r.reasons[i - 1].level);
    CHECK(r.pending == 30 && r.oldest_ns == 2LL * FAKE_SECOND && r.strikes == 2);
    CHECK(r.timeouts == 3 && r.context_count == 3 && r.lost_count == 2);
    CHECK(strcmp(r.reasons[0].text, "2 of 3 contexts are lost: kernel 'spin' never ended") == 0);
    CHECK(strcmp(r.reasons[1].text, "the driver reported 3 faults, Xid 48 the last") == 0);
    CHECK(strcmp(r.reasons[2].text, "2 uncorrected memory errors") == 0);
    CHECK(has(&r, GYRE_CONCERN_AGE, GYRE_LEVEL_CRITICAL));
    CHECK(has(&r, GYRE_CONCERN_MEMORY, GYRE_LEVEL_WARNING));
    gyre_monitor_destroy(monitor);
}

/* Memory grows by 1 % a second, from 41 %: after ten samples it has 40 s to 90 %. */
static void growing_memory_is_warned_before_it_is_full(void)
{
    gyre_monitor *monitor;
    gyre_monitor_report r = {0};

    fake_reset();
    fake_states[0].memory_total_bytes = 1000;
    monitor = fake_monitor((gyre_monitor_options){0}, 0);
    REQUIRE(monitor);
    for (int i = 0; i < GYRE_MONITOR_TREND_SAMPLES; i++) {
        CHECK(r.level == GYRE_LEVEL_HEALTHY);
        fake_states[0].memory_used_bytes = 410 + 10 * i;
        r = fake_sample(monitor);
    }
    REQUIRE(r.level == GYRE_LEVEL_WARNING && r.reason_count == 1);
    CHECK(r.reasons[0].early == 1 && r.reasons[0].concern == GYRE_CONCERN_MEMORY);
    CHECK(strcmp(r.reasons[0].text, "memory reaches 90 % in about 40 s") == 0);
    CHECK(r.memory.per_second > 9.99 && r.memory.per_second < 10.01);
    for (int i = 0; i < GYRE_MONITOR_TREND_SAMPLES; i++)
        r = fake_sample(monitor);
    CHECK(r.level == GYRE_LEVEL_HEALTHY);
    gyre_monitor_destroy(monitor);
}

static void trend_beyond_the_horizon_is_no_reason(void)
{
    const uint64_t horizons[] = {39 * UINT64_C(1000000000), 42 * UINT64_C(1000000000), UINT64_MAX};

    for (size_t k = 0; k < 3; k++) {
        gyre_monitor *monitor;
        gyre_monitor_report r = {0};

        fake_reset();
        fake_states[0].temperature_limit_c = 90;
        monitor = fake_monitor((gyre_monitor_options){.horizon_ns = horizons[k]}, 0);
        REQUIRE(monitor);
        for (int i = 0; i < GYRE_MONITOR_TREND_SAMPLES; i++) {
            fake_states[0].temperature_c = 40 + i;
            r = fake_sample(monitor);
        }
        CHECK(r.temperature.known && r.temperature.rising);
        CHECK(r.level == (k == 1 ? GYRE_LEVEL_WARNING : GYRE_LEVEL_HEALTHY));
        gyre_monitor_destroy(monitor);
    }
}

static void trend_needs_every_one_of_its_samples(void)
{
    gyre_monitor *monitor;
    gyre_monitor_report r = {0};

    fake_reset();
    monitor = fake_monitor((gyre_monitor_options){.history = 1}, 1);
    REQUIRE(monitor);
    for (int i = 0; i < GYRE_MONITOR_TREND_SAMPLES + 5; i++) {
        fake_states[0].temperature_c = i == 5 ? -1 : 30 + 5 * i;
        fake_contexts[0].statistics.submitted += 1;
        r = fake_sample(monitor);
        CHECK(r.temperature.known == 0);
        CHECK(r.pending_trend.known == (i >= GYRE_MONITOR_TREND_SAMPLES - 1));
    }
    CHECK(has(&r, GYRE_CONCERN_PENDING, GYRE_LEVEL_WARNING) == false);
    fake_states[0].temperature_c = 30 + 5 * 15;
    r = fake_sample(monitor);
    CHECK(r.temperature.known == 1);
    gyre_monitor_destroy(monitor);
}

static void history_keeps_the_newest_in_order(void)
{
    gyre_monitor_point points[20];
    gyre_monitor *monitor;

    fake_reset();
    monitor = fake_monitor((gyre_monitor_options){.history = 12}, 0);
    REQUIRE(monitor);
    CHECK(gyre_monitor_history(monitor, 0, points, 20) == 0);
    for (int i = 0; i < 30; i++) {
        fake_states[0].busy_percent = i;
        (void)fake_sample(monitor);
    }
    CHECK(gyre_monitor_history(monitor, 0, points, 20) == 12);
    CHECK(points[0].busy_percent == 18 && points[11].busy_percent == 29);
    CHECK(points[11].sampled_ns - points[0].sampled_ns == 11 * UINT64_C(1000000000));
    CHECK(points[0].temperature_c == -1 && points[0].pending == -1);
    CHECK(gyre_monitor_history(monitor, 0, points, 2) == 2 && points[1].busy_percent == 29);
    CHECK(gyre_monitor_history(monitor, 1, points, 20) == 0);
    gyre_monitor_destroy(monitor);
}

static void sixteen_devices_are_watched_apart(void)
{
    gyre_monitor_options options = {.struct_size = sizeof options,
                                    .devices = fake_list,
                                    .device_count = GYRE_MONITOR_DEVICES,
                                    .contexts = fake_context_list,
                                    .context_count = GYRE_MONITOR_CONTEXTS};
    gyre_monitor *monitor;

    fake_reset();
    for (size_t i = 0; i < GYRE_MONITOR_DEVICES; i++) {
        fake_states[i].temperature_c = 80 + (int32_t)i;
        fake_contexts[i].device = &fake_devices[15 - i];
        fake_contexts[i].statistics.submitted = i;
    }
    REQUIRE(gyre_monitor_create_over(&fake_source, &options, &monitor) == GYRE_OK);
    CHECK(gyre_monitor_count(monitor) == GYRE_MONITOR_DEVICES);
    CHECK(gyre_monitor_sample(monitor) == GYRE_OK);
    for (size_t i = 0; i < GYRE_MONITOR_DEVICES; i++) {
        gyre_monitor_report r = {.struct_size = sizeof r};

        REQUIRE(gyre_monitor_report_at(monitor, i, &r) == GYRE_OK);
        CHECK(r.device == &fake_devices[i] && r.pending == 15 - (int64_t)i);
        CHECK(r.level == (i >= 15  ? GYRE_LEVEL_CRITICAL
                          : i >= 5 ? GYRE_LEVEL_WARNING
                                   : GYRE_LEVEL_HEALTHY));
    }
    gyre_monitor_destroy(monitor);
    options.device_count = 17;
    CHECK(gyre_monitor_create_over(&fake_source, &options, &monitor) == GYRE_INVALID && !monitor);
    options.device_count = 16;
    options.context_count = 17;
    CHECK(gyre_monitor_create_over(&fake_source, &options, &monitor) == GYRE_INVALID && !monitor);
    options.context_count = 1;
    fake_contexts[0].device = &fake_devices[16];
    CHECK(gyre_monitor_create_over(&fake_source, &options, &monitor) == GYRE_INVALID && !monitor);
}

static void devices_of_contexts_are_watched_too(void)
{
    const gyre_monitor_options options = {
        .struct_size = sizeof options, .contexts = fake_context_list, .context_count = 3};
    gyre_monitor_report r = {.struct_size = sizeof r};
    gyre_monitor *monitor;

    fake_reset();
    fake_contexts[1].device = &fake_devices[4];
    REQUIRE(gyre_monitor_create_over(&fake_source, &options, &monitor) == GYRE_OK);
    REQUIRE(gyre_monitor_count(monitor) == 2 && gyre_monitor_sample(monitor) == GYRE_OK);
    CHECK(gyre_monitor_report_at(monitor, 0, &r) == GYRE_OK && r.context_count == 2);
    CHECK(gyre_monitor_report_at(monitor, 1, &r) == GYRE_OK && r.device == &fake_devices[4]);
    gyre_monitor_destroy(monitor);
}

static void wrong_options_are_refused(void)
{
    const gyre_device *twice[] = {&fake_devices[0], &fake_devices[0]}, *nothing[] = {NULL};
    gyre_context *same[] = {&fake_contexts[0], &fake_contexts[0]}, *none[] = {NULL};
    const size_t size = sizeof(gyre_monitor_options);
    const gyre_monitor_options wrong[] = {
        {.struct_size = 0},
        {.struct_size = size, .devices = twice, .device_count = 2},
        {.struct_size = size, .devices = nothing, .device_count = 1},
        {.struct_size = size, .device_count = 1},
        {.struct_size = size, .contexts = same, .context_count = 2},
        {.struct_size = size, .contexts = none, .context_count = 1},
        {.struct_size = size, .context_count = 1},
        {.struct_size = size, .memory_warning_percent = 95},
        {.struct_size = size, .pending_critical = 10},
        {.struct_size = size, .temperature_warning_c = 90, .temperature_critical_c = 80},
        {.struct_size = size, .age_warning_ns = INT64_MAX},
        {.struct_size = size, .history = GYRE_MONITOR_HISTORY_MOST + 1},
    };

    fake_reset();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        gyre_monitor *monitor = (gyre_monitor *)(void *)fake_states;

        CHECK(gyre_monitor_create_over(&fake_source, &wrong[i], &monitor) == GYRE_INVALID);
        CHECK(monitor == NULL);
    }
}

static void report_is_cut_to_its_readers_size(void)
{
    gyre_monitor_report r = {.struct_size = offsetof(gyre_monitor_report, sampled_ns)};
    gyre_monitor *monitor;

    fake_reset();
    monitor = fake_monitor((gyre_monitor_options){0}, 0);
    REQUIRE(monitor);
    (void)fake_sample(monitor);
    r.sampled_ns = 77;
    CHECK(gyre_monitor_report_at(monitor, 0, &r) == GYRE_OK);
    CHECK(r.device == &fake_devices[0] && r.sampled_ns == 77);
    r.struct_size = 0;
    CHECK(gyre_monitor_report_at(monitor, 0, &r) == GYRE_INVALID);
    r.struct_size = sizeof r;
    CHECK(gyre_monitor_report_at(monitor, 1, &r) == GYRE_INVALID);
    gyre_monitor_destroy(monitor);
}

static void names_are_words(void)
{
    CHECK(strcmp(gyre_level_name(GYRE_LEVEL_CRITICAL), "critical") == 0);
    CHECK(strcmp(gyre_level_name((gyre_level)3), "unknown") == 0);
    CHECK(strcmp(gyre_concern_name(GYRE_CONCERN_AGE), "age") == 0);
    CHECK(strcmp(gyre_concern_name((gyre_concern)0), "unknown") == 0);
    CHECK(strcmp(gyre_concern_name((gyre_concern)-1), "unknown") == 0);
}

static gyre_monitor *inherited;

static void use_inherited(void)
{
    gyre_monitor_report r = {.struct_size = sizeof r};
    gyre_monitor *another;

    CHECK(gyre_monitor_sample(inherited) == GYRE_UNAVAILABLE);
    CHECK(gyre_monitor_start(inherited) == GYRE_UNAVAILABLE);
    CHECK(gyre_monitor_stop(inherited) == GYRE_UNAVAILABLE);
    CHECK(gyre_monitor_report_at(inherited, 0, &r) == GYRE_UNAVAILABLE);
    CHECK(gyre_monitor_create(NULL, &another) == GYRE_UNAVAILABLE && !another);
    gyre_monitor_destroy(inherited);
}

static void forked_child_may_only_destroy(void)
{
    fake_reset();
    inherited = fake_monitor((gyre_monitor_options){.period_ns = UINT64_MAX / 2}, 1);
    REQUIRE(inherited && gyre_monitor_start(inherited) == GYRE_OK);
    CHECK(passes_in_child(use_inherited));
    CHECK(gyre_monitor_stop(inherited) == GYRE_OK);
    gyre_monitor_destroy(inherited);
}

static const test_case cases[] = {
    TEST(memory_is_judged_at_its_edges),
    TEST(temperature_is_judged_by_the_devices_own_limit),
    TEST(power_is_warned_just_below_its_limit),
    TEST(throttling_is_judged_by_its_cause),
    TEST(faults_are_critical),
    TEST(pending_tickets_are_warned_early),
    TEST(old_tickets_are_judged_by_the_sync_timeout),
    TEST(more_completed_than_submitted_is_nothing_pending),
    TEST(what_is_not_told_is_no_reason),
    TEST(state_of_a_failed_look_is_unknown),
    TEST(all_that_can_be_wrong_fits_the_worst_first),
    TEST(growing_memory_is_warned_before_it_is_full),
    TEST(trend_beyond_the_horizon_is_no_reason),
    TEST(trend_needs_every_one_of_its_samples),
    TEST(history_keeps_the_newest_in_order),
    TEST(sixteen_devices_are_watched_apart),
    TEST(devices_of_contexts_are_watched_too),
    TEST(wrong_options_are_refused),
    TEST(report_is_cut_to_its_readers_size),
    TEST(names_are_words),
    TEST(forked_child_may_only_destroy),
};
TEST_MAIN(cases)
