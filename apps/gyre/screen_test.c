/* SPDX-License-Identifier: Apache-2.0
 *
 * The screen of `gyre top` at every size, with all values, none, and hostile ones.
 */
#include "screen.h"

#include <stdio.h>

#include "test.h"

enum { DEVICES = GYRE_MONITOR_DEVICES };

static gyre_device devices[DEVICES];
static gyre_monitor_report reports[DEVICES];
static pen_line lines[SCREEN_ROWS_MOST];

/* Devices of which nothing is known. */
static screen_view blank_view(size_t count)
{
    memset(devices, 0, sizeof devices);
    memset(reports, 0, sizeof reports);
    for (size_t i = 0; i < DEVICES; i++) {
        snprintf(devices[i].name, sizeof devices[i].name, "cuda:%zu", i);
        snprintf(devices[i].title, sizeof devices[i].title, "NVIDIA H200");
        memset(&reports[i].state, 0xff, sizeof reports[i].state);
        reports[i].device = &devices[i];
        reports[i].sample_count = 1;
        reports[i].pending = reports[i].oldest_ns = reports[i].timeouts = -1;
    }
    return (screen_view){.reports = reports,
                         .count = count,
                         .columns = 80,
                         .rows = 24,
                         .interval_s = 1,
                         .daytime = "12:34:56"};
}

static screen_view full_view(size_t count)
{
    const screen_view view = blank_view(count);

    for (size_t i = 0; i < DEVICES; i++) {
        reports[i].state = (gyre_device_state){
            .struct_size = sizeof(gyre_device_state),
            .memory_total_bytes = INT64_C(150000000000),
            .memory_used_bytes = INT64_C(112500000000),
            .busy_percent = 20,
            .memory_busy_percent = 12,
            .temperature_c = 75,
            .temperature_limit_c = 87,
            .power_mw = 686000,
            .power_limit_mw = 700000,
            .clock_mhz = 1755,
            .clock_most_mhz = 1980,
            .memory_clock_mhz = 3201,
            .throttle = GYRE_THROTTLE_POWER | GYRE_THROTTLE_THERMAL,
        };
        reports[i].level = GYRE_LEVEL_WARNING;
        reports[i].reason_count = 1;
        reports[i].reasons[0] = (gyre_monitor_reason){.level = GYRE_LEVEL_WARNING,
                                                      .concern = GYRE_CONCERN_MEMORY,
                                                      .text = "memory is 75 % used"};
    }
    return view;
}

/* Columns that a line takes: sequences of colours take none. Anything else that drives a terminal
 * is a failure. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++) {
        if (*text == '\033') {
            CHECK(text[1] == '[');
            text += 2 + strspn(text + 2, "0123456789");
            CHECK(*text == 'm');
        } else {
            CHECK(*text >= ' ' && *text <= '~');
            width++;
        }
    }
    return width;
}

static const char *line_with(size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i].text, what))
            return lines[i].text;
    return NULL;
}

static void every_size_is_kept_to(void)
{
    for (int coloured = 0; coloured < 2; coloured++)
        for (int rows = 1; rows < 60; rows++)
            for (int columns = 1; columns < 300; columns += columns < 90 ? 1 : 31) {
                screen_view view = full_view((size_t)rows % (DEVICES + 1));
                size_t count;

                view.rows = rows;
                view.columns = columns;
                view.coloured = coloured;
                view.help = rows % 7 == 0;
                count = screen_draw(&view, lines);
                CHECK(count >= 1 && count <= (size_t)rows);
                for (size_t i = 0; i < count; i++)
                    CHECK(width_of(lines[i].text) <= columns);
            }
}

static void impossible_sizes_are_survived(void)
{
    screen_view view = full_view(DEVICES);

    view.columns = -5;
    view.rows = -1;
    CHECK(screen_draw(&view, lines) <= SCREEN_ROWS_MOST);
    view.columns = view.rows = 1 << 30;
    CHECK(screen_draw(&view, lines) <= SCREEN_ROWS_MOST);
    view.columns = 80;
    view.count = 0;
    CHECK(screen_draw(&view, lines) == 1);
}

static void block_has_every_value(void)
{
    const screen_view view = full_view(2);
    const size_t count = screen_draw(&view, lines);

    CHECK(count <= 24);
    CHECK(strncmp(lines[0].text, "gyre top  12:34:56  every 1 s", 29) == 0);
    CHECK(line_with(count, "cuda:1  NVIDIA H200  warning"));
    CHECK(line_with(count, "75 %  104.8 of 139.7 GiB"));
    CHECK(line_with(count, "20 %  its memory 12 %"));
    CHECK(line_with(count, "98 %  686 of 700 W"));
    CHECK(line_with(count, "75 C  limit 87 C"));
    CHECK(line_with(count, "1755 of 1980 MHz, memory 3201 MHz  throttle power+heat"));
    CHECK(line_with(count, "  warning: memory is 75 % used"));
}

static void bar_is_as_long_as_its_value(void)
{
    screen_view view = full_view(1);
    const char *line;
    size_t cells, filled;

    for (int percent = 0; percent <= 100; percent += 25) {
        reports[0].state.busy_percent = percent;
        line = line_with(screen_draw(&view, lines), "busy");
        REQUIRE(line && strchr(line, '[') && strchr(line, ']'));
        cells = (size_t)(strchr(line, ']') - strchr(line, '[')) - 1;
        filled = strspn(strchr(line, '[') + 1, "|");
        CHECK(filled == cells * (size_t)percent / 100);
    }
}

static void what_nobody_tells_is_a_dash(void)
{
    screen_view view = blank_view(1);
    size_t count;

    view.rows = 0;
    count = screen_draw(&view, lines);
    CHECK(count == 6 && strcmp(lines[0].text, "cuda:0  NVIDIA H200  -") == 0);
    for (size_t i = 1; i < count; i++) {
        CHECK(strpbrk(lines[i].text, "0123456789|") == NULL);
        CHECK(strstr(lines[i].text, " -"));
    }
    view.rows = 3; /* as a row, too */
    count = screen_draw(&view, lines);
    CHECK(count == 2 && strstr(lines[1].text, "mem     -  busy     -      -      - W"));
    CHECK(!strstr(lines[1].text, "healthy"));
}

static void cpu_without_sensors_is_three_lines(void)
{
    screen_view view = blank_view(1);

    view.rows = 0;
    devices[0].kind = GYRE_DEVICE_CPU;
    CHECK(screen_draw(&view, lines) == 3);
    reports[0].state.temperature_c = 50;
    CHECK(screen_draw(&view, lines) == 6);
}

static void many_devices_are_a_line_each(void)
{
    const screen_view view = full_view(DEVICES);
    const size_t count = screen_draw(&view, lines);

    CHECK(count == 1 + DEVICES);
    CHECK(
        strstr(lines[DEVICES].text, "cuda:15    warning   mem  75 %  busy  20 %   75 C    686 W"));
}

static void devices_without_room_are_counted(void)
{
    screen_view view = full_view(DEVICES);

    reports[15].level = GYRE_LEVEL_CRITICAL;
    view.rows = 6;
    CHECK(screen_draw(&view, lines) == 6);
    CHECK(strcmp(lines[5].text, "and 12 more, the worst of them critical") == 0);
    CHECK(strstr(lines[4].text, "cuda:3"));
}

static void hostile_names_are_shown_plainly(void)
{
    screen_view view = full_view(1);

    view.rows = 0;
    snprintf(devices[0].title, sizeof devices[0].title, "\033[2J\r\n\x9b\x07 H\xc3\xa9");
    snprintf(devices[0].trouble, sizeof devices[0].trouble, "\033]0;title\007");
    snprintf(reports[0].reasons[0].text, sizeof reports[0].reasons[0].text, "%%s\t\033c");
    for (size_t i = 0, count = screen_draw(&view, lines); i < count; i++)
        CHECK(!strpbrk(lines[i].text, "\033\r\n\t\x9b\007"));
}

static void late_samples_and_pauses_are_said(void)
{
    screen_view view = full_view(1);

    view.age_s = 4;
    CHECK(screen_draw(&view, lines) && !strstr(lines[0].text, "no answer"));
    view.age_s = 7;
    CHECK(screen_draw(&view, lines) && strstr(lines[0].text, "no answer for 7 s"));
    view.paused = true;
    CHECK(screen_draw(&view, lines) && strstr(lines[0].text, "paused"));
}

static void help_names_the_keys(void)
{
    screen_view view = full_view(1);
    size_t count;

    view.help = true;
    count = screen_draw(&view, lines);
    CHECK(line_with(count, "  q      quit") && !line_with(count, "cuda:0"));
}

static void colours_come_only_when_asked_for(void)
{
    screen_view view = full_view(2);
    size_t count = screen_draw(&view, lines);

    CHECK(!line_with(count, "\033"));
    view.coloured = true;
    count = screen_draw(&view, lines);
    CHECK(line_with(count, "\033[33mwarning\033[0m"));
}

static void first_sample_is_waited_for(void)
{
    screen_view view = blank_view(1);

    reports[0].sample_count = 0;
    view.rows = 0;
    CHECK(screen_draw(&view, lines) && strstr(lines[0].text, "looking"));
}

static const test_case cases[] = {
    TEST(every_size_is_kept_to),
    TEST(impossible_sizes_are_survived),
    TEST(block_has_every_value),
    TEST(bar_is_as_long_as_its_value),
    TEST(what_nobody_tells_is_a_dash),
    TEST(cpu_without_sensors_is_three_lines),
    TEST(many_devices_are_a_line_each),
    TEST(devices_without_room_are_counted),
    TEST(hostile_names_are_shown_plainly),
    TEST(late_samples_and_pauses_are_said),
    TEST(help_names_the_keys),
    TEST(colours_come_only_when_asked_for),
    TEST(first_sample_is_waited_for),
};
TEST_MAIN(cases)
