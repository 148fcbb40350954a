/* SPDX-License-Identifier: Apache-2.0 */
#include "main/message.h"

#include <signal.h>
#include <unistd.h>

#include "test.h"

static char wire[4096];

/* What a sender of three messages puts on the wire. */
static size_t send_three(void)
{
    int ends[2];
    ssize_t length;

    if (pipe(ends) != 0)
        return 0;
    (void)!gyre_message_send(ends[1], GYRE_MESSAGE_BEGIN, 7, "", 0);
    (void)!gyre_message_send(ends[1], GYRE_MESSAGE_RESULT, UINT64_MAX, "{\n}\n", 4);
    (void)!gyre_message_send(ends[1], GYRE_MESSAGE_END, 0, "", 0);
    length = read(ends[0], wire, sizeof wire);
    close(ends[0]);
    close(ends[1]);
    return length > 0 ? (size_t)length : 0;
}

/* Whatever pieces it arrives in, what was sent is read. */
static void messages_survive_any_cut(void)
{
    const size_t length = send_three();

    REQUIRE(length > 0);
    for (size_t piece = 1; piece <= length; piece++) {
        static const char kinds[] = "bre";
        gyre_message_reader reader = {0};
        gyre_message message;
        size_t got = 0;

        for (size_t at = 0; at < length; at += piece) {
            const size_t now = length - at < piece ? length - at : piece;

            REQUIRE(gyre_message_feed(&reader, wire + at, now) == GYRE_OK);
            while (gyre_message_next(&reader, &message) == GYRE_OK) {
                REQUIRE(got < 3 && message.kind == (gyre_message_kind)kinds[got]);
                if (got == 0)
                    CHECK(message.number == 7 && message.length == 0);
                if (got == 1)
                    CHECK(message.number == UINT64_MAX && message.length == 4 &&
                          memcmp(message.text, "{\n}\n", 4) == 0);
                got++;
            }
        }
        CHECK(got == 3 && gyre_message_next(&reader, &message) == GYRE_AGAIN);
        gyre_message_reader_fini(&reader);
    }
}

static gyre_status first_of(const char *bytes)
{
    gyre_message_reader reader = {0};
    gyre_message message;
    gyre_status status = gyre_message_feed(&reader, bytes, strlen(bytes));

    if (status == GYRE_OK)
        status = gyre_message_next(&reader, &message);
    gyre_message_reader_fini(&reader);
    return status;
}

static void nonsense_is_refused(void)
{
    static const char *const bad[] = {"x 1 0\n",
                                      "b\n",
                                      "b 1\n",
                                      "b  1 0\n",
                                      "b 1 0 \n",
                                      "b -1 0\n",
                                      "b 1 -1\n",
                                      "hello world\n",
                                      "\n",
                                      "b 1 999999999999\n",
                                      "b 99999999999999999999 0\n"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(first_of(bad[i]) == GYRE_CORRUPT);
    CHECK(first_of("a line that is longer than any header could be and has no end to it at all") ==
          GYRE_CORRUPT);
    CHECK(first_of("b 1 0") == GYRE_AGAIN && first_of("r 1 5\nabcd") == GYRE_AGAIN);
}

static void reader_that_is_gone_is_an_error(void)
{
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    CHECK(gyre_message_send(ends[1], GYRE_MESSAGE_END, 0, "", 0) == GYRE_IO);
    close(ends[1]);
}

static const test_case cases[] = {
    TEST(messages_survive_any_cut),
    TEST(nonsense_is_refused),
    TEST(reader_that_is_gone_is_an_error),
};
TEST_MAIN(cases)
