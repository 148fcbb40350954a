/* SPDX-License-Identifier: Apache-2.0
 *
 * actor_sample: a program with an actor, which it calls about a thousand times a second.
 *
 *   actor_sample NAME [DEVICE]
 *
 * Says "resident" when the actor is. Takes words from its input, a line each: "fail" makes the next
 * call a failure, "end" ends the actor, and it says "ended". Ends with its input, leaving an actor
 * that lives as it is.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "gyre/clock.h"
#include "gyre/device.h"
#include "gyre/port.h"

#define SECOND_NS UINT64_C(1000000000)

enum { FAIL = 1 };

static void handle(gyre_self *self, void *state, const gyre_brief *brief)
{
    ++*(uint64_t *)state;
    if (brief->type == FAIL)
        gyre_self_fail(self, GYRE_ACTOR_OWN);
}

static const gyre_behaviour behaviour = {.struct_size = sizeof behaviour,
                                         .name = "tally",
                                         .width = GYRE_WIDTH_BLOCK,
                                         .state_bytes = sizeof(uint64_t),
                                         .handler = handle};

/* Calls it until there is something to read. */
static void work(gyre_port *port, uint16_t type)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};

    do {
        const gyre_brief message = {.type = type};
        gyre_brief answer;

        if (port)
            (void)!gyre_port_call(port, &message, &answer, gyre_clock_after_ns(SECOND_NS));
        type = 0;
    } while (poll(&input, 1, port ? 1 : -1) == 0);
}

static void say(const char *word)
{
    puts(word);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const gyre_device *const device = gyre_device_find(argc > 2 ? argv[2] : "cpu");
    const gyre_actor_options options = {.struct_size = sizeof options,
                                        .name = argc > 1 ? argv[1] : NULL};
    static gyre_context *context; /* these are left to the end of the process */
    static gyre_actor *actor;
    static gyre_port *port;
    uint16_t type = 0;
    char line[64];

    setvbuf(stdin, NULL, _IONBF, 0); /* or poll would not see what is read ahead */
    if (!device || gyre_context_create(device, NULL, &context) != GYRE_OK ||
        gyre_actor_create(context, &behaviour, &options, &actor) != GYRE_OK ||
        gyre_actor_launch(actor, NULL) != GYRE_OK ||
        gyre_port_open(actor, NULL, &port) != GYRE_OK) {
        fprintf(stderr, "actor_sample: %s\n", gyre_error_last()->text);
        return 3;
    }
    say("resident");
    for (;;) {
        work(port, type);
        if (!fgets(line, sizeof line, stdin))
            return 0;
        type = strcmp(line, "fail\n") == 0 ? FAIL : 0;
        if (strcmp(line, "end\n") == 0) {
            gyre_port_close(port);
            port = NULL;
            gyre_actor_destroy(actor);
            say("ended");
        }
    }
}
