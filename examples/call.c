/* SPDX-License-Identifier: Apache-2.0
 *
 * call: a thread that squares numbers, and callers that wait for its answers.
 *
 *     cc -O2 call.c $(pkg-config --cflags --libs gyre) -o call && ./call
 */
#include <gyre/channel.h>
#include <gyre/clock.h>
#include <gyre/reply.h>
#include <gyre/thread.h>
#include <inttypes.h>
#include <stdio.h>

enum { MILLISECOND = 1000000 };

/* Answers until the channel is closed and empty. */
static void serve(void *arg)
{
    gyre_channel *const channel = arg;
    gyre_received received;
    uint64_t number;

    while (gyre_channel_receive(channel, &number, &received, GYRE_NEVER) == GYRE_OK) {
        const uint64_t square = number * number;

        /* GYRE_CANCELLED: the caller has given up meanwhile */
        (void)!gyre_reply_send(channel, received.reply, GYRE_OK, &square, sizeof square);
    }
}

static int ask(gyre_channel *channel)
{
    for (uint64_t number = 1; number <= 5; number++) {
        gyre_answer answer;
        uint64_t square = 0;

        if (gyre_call(channel, GYRE_PRIORITY_NORMAL, &number, sizeof number,
                      gyre_clock_after_ns(100 * MILLISECOND), &answer) != GYRE_OK) {
            fprintf(stderr, "call: no answer: %s\n", gyre_error_last()->text);
            return 1;
        }
        __builtin_memcpy(&square, answer.bytes, sizeof square);
        printf("%" PRIu64 " squared is %" PRIu64 "\n", number, square);
    }
    return 0;
}

int main(void)
{
    const gyre_channel_options options = {
        .struct_size = sizeof options,
        .name = "squares",
        .capacity = 64,
        .item_bytes = sizeof(uint64_t),
    };
    gyre_channel *channel = NULL;
    gyre_thread *server = NULL;
    int status = 1;

    if (gyre_channel_create(&options, &channel) == GYRE_OK &&
        gyre_thread_start(serve, channel, NULL, &server) == GYRE_OK)
        status = ask(channel);
    else
        fprintf(stderr, "call: %s\n", gyre_error_last()->text);
    if (channel)
        gyre_channel_close(channel); /* the server returns */
    gyre_thread_stop(server);
    gyre_channel_destroy(channel);
    return status;
}
