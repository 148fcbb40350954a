/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch_call: how a caller sends a command and reads its answer. See gyre/dispatch.h.
 *
 * Threads   any.
 * Owns      nothing: an answer's bytes are the caller's.
 * Not here  the dispatcher itself, which the caller need not know.
 */
#include <string.h>

#include "base/fail.h"
#include "exec/dispatch.h"

_Static_assert(sizeof(gyre_dispatch_answer) == GYRE_ANSWER_BYTES &&
                   offsetof(gyre_dispatch_answer, status) == 24 &&
                   offsetof(gyre_dispatch_answer, native) == 28 &&
                   offsetof(gyre_dispatch_answer, work_ns) == 32,
               "layout is public");

/* The status of an answer, with its sentence as this thread's detail. */
static gyre_status status_of(const gyre_dispatch_answer *answer)
{
    const gyre_status status = (gyre_status)answer->status;
    const gyre_bytes *const text = &answer->bytes;

    if (status == GYRE_OK || status == GYRE_AGAIN || status == GYRE_TIMEOUT)
        return status;
    return gyre_fail_native(status, answer->native, "%.*s", (int)text->size,
                            text->data ? (const char *)text->data : "");
}

gyre_status gyre_dispatch_read(const gyre_answer *answer, gyre_dispatch_answer *out_answer)
{
    memset(out_answer, 0, sizeof *out_answer);
    if (answer->size != sizeof *out_answer)
        return gyre_fail(GYRE_CORRUPT, "dispatch: an answer of %u bytes is none of a dispatcher",
                         answer->size);
    memcpy(out_answer, answer->bytes, sizeof *out_answer);
    return status_of(out_answer);
}

/* Waits for the answer, and gives the ticket up when it is late. */
static gyre_status wait(gyre_channel *channel, gyre_reply reply, uint64_t deadline_ns,
                        gyre_answer *out_answer)
{
    const gyre_status status = gyre_reply_wait(channel, reply, deadline_ns, out_answer);

    /* it may come at this very moment, and then holds something */
    if (status == GYRE_TIMEOUT && gyre_reply_give(channel, reply) == GYRE_AGAIN)
        return gyre_reply_wait(channel, reply, 0, out_answer);
    return status;
}

gyre_status gyre_dispatch_call(gyre_channel *channel, uint32_t priority, gyre_command *command,
                               uint64_t deadline_ns, gyre_dispatch_answer *out_answer)
{
    const size_t size = gyre_command_size(command);
    gyre_dispatch_answer own;
    gyre_answer answer;
    gyre_reply reply;
    gyre_status status;

    if (out_answer)
        memset(out_answer, 0, sizeof *out_answer);
    if (size == 0)
        return gyre_fail(GYRE_INVALID,
                         "dispatch: kind %u, with %u bytes of parameters, is no command",
                         command->kind, command->as.launch.parameters_size);
    status = gyre_call_begin(channel, priority, command, size, deadline_ns, &reply);
    if (status != GYRE_OK) {
        gyre_command_drop(NULL, command, size);
        return status;
    }
    status = wait(channel, reply, deadline_ns, &answer);
    if (status != GYRE_OK)
        return status;
    status = gyre_dispatch_read(&answer, &own);
    if (status != GYRE_OK || !out_answer)
        gyre_bytes_release(&own.bytes);
    if (out_answer)
        *out_answer = own;
    return status;
}
