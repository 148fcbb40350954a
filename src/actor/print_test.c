/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host makes of a print: a text that can be shown, whatever a slot holds, and a line.
 */
#include "actor/print.h"

#include "gyre/clock.h"
#include "gyre/device.h"
#include "gyre/log.h"
#include "gyre/settings.h"
#include "test.h"

static char said[8][128];
static int said_count;

static void hear(void *user, gyre_log_level level, const char *topic, const char *text)
{
    (void)user;
    if (!strstr(text, " seat ") || said_count == 8)
        return;
    CHECK(level == GYRE_LOG_INFO && strcmp(topic, "device") == 0);
    snprintf(said[said_count++], sizeof said[0], "%s", text);
}

static void handle(gyre_self *self, void *state, const gyre_brief *brief)
{
    (void)state;
    gyre_self_print(self, "hello", brief->body.words[0]);
    gyre_self_say(self, "this text has more than 31 characters", 37, GYRE_PRINT_WHOLE, 1);
}

static const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                         .name = "herald",
                                         .width = GYRE_WIDTH_BLOCK,
                                         .handler = handle};

/* The first case: settings are made before they are read. */
static void without_a_function_the_log_gets_it(void)
{
    const gyre_brief message = {.body.words = {42}};
    gyre_brief answer;
    gyre_context *context;
    gyre_actor *actor;
    gyre_port *port;

    REQUIRE(gyre_settings_set("GYRE_LOG", "warn,device:info") == GYRE_OK);
    gyre_log_set_sink(hear, NULL);
    REQUIRE(gyre_context_create(gyre_device_at(0), NULL, &context) == GYRE_OK);
    REQUIRE(gyre_actor_create(context, &behaviour, NULL, &actor) == GYRE_OK);
    REQUIRE(gyre_actor_launch(actor, NULL) == GYRE_OK);
    REQUIRE(gyre_port_open(actor, NULL, &port) == GYRE_OK);
    CHECK(gyre_port_call(port, &message, &answer, gyre_clock_after_ns(UINT64_C(10000000000))) ==
          GYRE_OK);
    gyre_port_close(port);
    gyre_actor_destroy(actor);
    gyre_context_destroy(context);
    gyre_log_set_sink(NULL, NULL);
    CHECK(said_count == 2);
    CHECK(strcmp(said[0], "actor 'herald' seat 0: hello 42") == 0);
    CHECK(strcmp(said[1], "actor 'herald' seat 0: this text has more than 31 char 1") == 0);
}

static void a_handler_called_by_hand_prints_nothing(void)
{
    gyre_self self = {.lanes = 1};
    const gyre_brief brief = {.type = 1};

    handle(&self, NULL, &brief);
    CHECK(said_count == 2);
}

static void any_bytes_are_a_text(void)
{
    gyre_brief slot = {.type = 77};
    char text[GYRE_PRINT_TEXT + 1];
    gyre_actor_print print;

    memset(&slot.body, 0xff, sizeof slot.body);
    gyre_print_read(&slot, text, &print);
    CHECK(print.text == text && strlen(text) == GYRE_PRINT_TEXT && text[0] == '?');
    CHECK(text[30] == '?' && print.value == UINT64_MAX && !print.is_f32);
    memset(&slot.body, 'a', sizeof slot.body);
    slot.body.bytes[1] = '\n';
    slot.body.bytes[2] = 0x7f;
    slot.body.bytes[3] = 0;
    gyre_print_read(&slot, text, &print);
    CHECK(strcmp(text, "a??") == 0);
}

static bool is_line(gyre_actor_print print, const char *line)
{
    char text[128];

    print.actor = "name";
    print.text = "text";
    print.seat = 3;
    gyre_print_line(&print, text, sizeof text);
    return strcmp(text, line) == 0;
}

static void a_line_shows_the_value_as_it_may_be_meant(void)
{
    char small[16];

    CHECK(is_line((gyre_actor_print){.value = 42}, "actor 'name' seat 3: text 42"));
    CHECK(is_line((gyre_actor_print){.value = (uint64_t)-2},
                  "actor 'name' seat 3: text 18446744073709551614 (-2)"));
    CHECK(is_line((gyre_actor_print){.is_f32 = true, .f32 = 0.1f},
                  "actor 'name' seat 3: text 0.100000001"));
    gyre_print_line(&(gyre_actor_print){.actor = "a", .text = "b"}, small, sizeof small);
    CHECK(strcmp(small, "actor 'a' seat ") == 0);
}

static const test_case cases[] = {
    TEST(without_a_function_the_log_gets_it),
    TEST(a_handler_called_by_hand_prints_nothing),
    TEST(any_bytes_are_a_text),
    TEST(a_line_shows_the_value_as_it_may_be_meant),
};
TEST_MAIN(cases)
