/* SPDX-License-Identifier: Apache-2.0
 *
 * timer: looks at its clock, and fails with what it is told to.
 */
#include "gyre/behaviour.h"

enum {
    TIMER_READ = 1, /* the clock, a thousand times by each lane */
    TIMER_FAIL = 2, /* with the code */
};

typedef struct timer_state {
    gyre_abi_u32 backwards; /* looks of all lanes that found it earlier than the one before */
} timer_state;

typedef struct timer_request {
    gyre_abi_u32 code;
} timer_request;

typedef struct timer_answer {
    gyre_abi_u64 first, last; /* of lane 0 */
    gyre_abi_u64 deadline;    /* as it sees it */
    gyre_abi_u32 backwards;
} timer_answer;

GYRE_BEHAVIOUR(timer, timer_state, GYRE_WIDTH_QUAD)
{
    const gyre_abi_u64 first = gyre_self_now(self);
    gyre_abi_u64 last = first;

    if (brief->type == TIMER_FAIL) {
        gyre_self_fail(self, GYRE_REQUEST(timer_request)->code);
        return;
    }
    for (gyre_abi_u32 i = 0; i < 1000; i++) {
        const gyre_abi_u64 now = gyre_self_now(self);

        if (now < last)
            gyre_atomic_add(&state->backwards, 1);
        last = now;
    }
    gyre_self_barrier(self);
    GYRE_ANSWER(timer_answer)->first = first;
    GYRE_ANSWER(timer_answer)->last = last;
    GYRE_ANSWER(timer_answer)->deadline = brief->body.reference.deadline_ns;
    GYRE_ANSWER(timer_answer)->backwards = gyre_atomic_load(&state->backwards);
}
