/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of actors at every size, and beside devices.
 */
#include "screen_actors.h"

#include <stdio.h>

#include "screen.h"
#include "test.h"

enum { MANY = 100 };

static gyre_device devices[GYRE_MONITOR_DEVICES];
static gyre_monitor_report reports[GYRE_MONITOR_DEVICES];
static actors_row rows[MANY];
static pen_line lines[SCREEN_ROWS_MOST];

static screen_view view_of(size_t device_count, size_t actor_count)
{
    memset(devices, 0, sizeof devices);
    memset(reports, 0, sizeof reports);
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < GYRE_MONITOR_DEVICES; i++) {
        snprintf(devices[i].name, sizeof devices[i].name, "cuda:%zu", i);
        memset(&reports[i].state, 0xff, sizeof reports[i].state);
        reports[i].device = &devices[i];
        reports[i].sample_count = 1;
    }
    for (size_t i = 0; i < MANY; i++) {
        gyre_board_row *const told = &rows[i].told;

        told->pid = 4711;
        told->status = GYRE_ACTOR_ACTIVE;
        told->seats = 4;
        told->processed = 1234567;
        told->waiting = 3;
        told->mean_ns = 312.5;
        rows[i].per_second = 12345.6;
        snprintf(told->program, sizeof told->program, "recommender");
        snprintf(told->actor, sizeof told->actor, "ranker-%zu", i);
        snprintf(told->behaviour, sizeof told->behaviour, "counter");
        snprintf(told->device, sizeof told->device, "cuda:0");
    }
    return (screen_view){.reports = reports,
                         .count = device_count,
                         .actors = rows,
                         .actor_count = actor_count,
                         .columns = 120,
                         .rows = 24,
                         .interval_s = 1,
                         .daytime = "12:34:56"};
}

static const char *line_with(size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i].text, what))
            return lines[i].text;
    return NULL;
}

static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++)
        if (*text == '\033')
            text = strchr(text, 'm');
        else
            width++;
    return width;
}

static void row_has_every_value(void)
{
    screen_view view = view_of(1, 1);
    size_t count = screen_draw(&view, lines);
    const char *const title = line_with(count, "behaviour"), *const row = line_with(count, "4711");

    CHECK(line_with(count, "actors"));
    REQUIRE(title && row);
    CHECK(strcmp(title, "   pid  program      actor     behaviour  device  status  seats  handled"
                        "  per s  waiting  failures       mean") == 0);
    CHECK(strcmp(row, "  4711  recommender  ranker-0  counter    cuda:0  active      4    1.23M"
                      "  12346        3         0  312.50 ns") == 0);
    view.rows = 0; /* no terminal breaks it */
    view.columns = 20;
    count = screen_draw(&view, lines);
    CHECK(line_with(count, "312.50 ns") && line_with(count, "counter"));
}

static void nobody_is_shown_when_there_is_nobody(void)
{
    const screen_view view = view_of(1, 0);

    CHECK(!line_with(screen_draw(&view, lines), "actors"));
}

static void every_size_is_kept_to(void)
{
    for (int coloured = 0; coloured < 2; coloured++)
        for (int height = 1; height < 60; height++)
            for (int columns = 1; columns < 250; columns += columns < 130 ? 1 : 31) {
                screen_view view =
                    view_of((size_t)height % 7, (size_t)(height * 7 + columns) % MANY);
                size_t count;

                view.rows = height;
                view.columns = columns;
                view.coloured = coloured;
                count = screen_draw(&view, lines);
                CHECK(count >= 1 && count <= (size_t)height);
                for (size_t i = 0; i < count; i++)
                    CHECK(width_of(lines[i].text) <= columns);
            }
}

static void narrow_screen_has_the_most_important_columns(void)
{
    screen_view view = view_of(1, 1);
    size_t count;
    const char *row;

    view.columns = 80;
    count = screen_draw(&view, lines);
    row = line_with(count, "4711");
    REQUIRE(row);
    CHECK(strstr(row, "ranker-0") && strstr(row, "active") && strstr(row, "12346"));
    CHECK(strstr(row, "312.50 ns") && !strstr(row, "counter"));
}

static void devices_leave_room_for_actors(void)
{
    screen_view view = view_of(4, 3); /* 4 blocks fill the screen */
    size_t count = screen_draw(&view, lines);

    CHECK(count <= 24 && line_with(count, "cuda:3  ") && line_with(count, "ranker-2"));
    view = view_of(4, 0);
    count = screen_draw(&view, lines);
    CHECK(line_with(count, "busy"));
}

static void actors_without_room_are_counted(void)
{
    screen_view view = view_of(1, MANY);
    size_t count = screen_draw(&view, lines);

    CHECK(count == 24 && strstr(lines[23].text, "  and ") && strstr(lines[23].text, " more"));
    CHECK(line_with(count, "ranker-0") && !line_with(count, "ranker-99"));
    view = view_of(1, 12);
    view.rows = 8;
    count = screen_draw(&view, lines);
    CHECK(count == 8 && strcmp(lines[7].text, "  and 10 more") == 0);
    view.rows = 5;
    count = screen_draw(&view, lines);
    CHECK(count == 3 && strcmp(lines[count - 1].text, "12 actors") == 0);
}

static void status_says_what_is_wrong(void)
{
    screen_view view = view_of(1, 2);
    size_t count;

    view.coloured = true;
    rows[0].silent = true;
    rows[0].per_second = -1;
    rows[1].told.status = GYRE_ACTOR_FAILED;
    rows[1].told.failed = 9;
    rows[1].told.mean_ns = 0;
    count = screen_draw(&view, lines);
    CHECK(line_with(count, "\033[33msilent\033[0m") && line_with(count, "\033[31mfailed\033[0m"));
    CHECK(line_with(count, "\033[33m9\033[0m"));
}

static void large_numbers_are_short(void)
{
    static const struct {
        uint64_t value;
        const char *text;
    } numbers[] = {{0, " 0 "},
                   {99999, " 99999 "},
                   {100000, " 100k "},
                   {999499, " 999k "},
                   {999500, " 1.00M "},
                   {12345678, " 12.3M "},
                   {123456789012, " 123G "},
                   {UINT64_MAX, " 18.4E "}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        screen_view view = view_of(0, 1);
        size_t count;

        rows[0].told.processed = numbers[i].value;
        rows[0].told.waiting = 1;
        rows[0].told.failed = 1;
        rows[0].per_second = 0.5;
        count = screen_draw(&view, lines);
        CHECK(line_with(count, numbers[i].text) && line_with(count, " 0.5 "));
    }
}

static void hostile_names_are_shown_plainly(void)
{
    screen_view view = view_of(1, 1);

    memset(rows[0].told.program, '\033', sizeof rows[0].told.program - 1);
    snprintf(rows[0].told.actor, sizeof rows[0].told.actor, "\r\n\x9b%%s");
    rows[0].told.device[0] = '\0';
    for (size_t i = 0, count = screen_draw(&view, lines); i < count; i++)
        CHECK(!strpbrk(lines[i].text, "\033\r\n\x9b"));
}

static const test_case cases[] = {
    TEST(row_has_every_value),
    TEST(nobody_is_shown_when_there_is_nobody),
    TEST(every_size_is_kept_to),
    TEST(narrow_screen_has_the_most_important_columns),
    TEST(devices_leave_room_for_actors),
    TEST(actors_without_room_are_counted),
    TEST(status_says_what_is_wrong),
    TEST(large_numbers_are_short),
    TEST(hostile_names_are_shown_plainly),
};
TEST_MAIN(cases)
